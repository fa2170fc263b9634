/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the test cases of a kernel: values for its inputs, and the results that
 * the interpreter computes from them. */
#include <math.h>

#include "interp.h"
#include "random.h"
#include "trial.h"
#include "verify_parts.h"

/* MOST_BYTES limits the bytes of the arrays of all cases together. A kernel of
 * more than MANY_OPERATIONS operations runs FEW_CASES cases. Any other kernel
 * runs one case of each mood (enum verify_mood) and then as many more as
 * MORE_OPERATIONS operations allow. */
enum {
	MOST_BYTES = 1 << 27,
	MANY_OPERATIONS = 8000000,
	FEW_CASES = 4,
	MORE_OPERATIONS = 1000000
};

/* The first and the largest exponent by which the largest numbers are made
 * smaller (struct filling). */
enum { FIRST_BELOW = 8, MOST_BELOW = 1000 };

const char *
verify_mood_name(enum verify_mood mood)
{
	static const char *const names[MOOD_COUNT] = {
		[MOOD_RANDOM] = "random numbers",
		[MOOD_WHOLE] = "small whole numbers",
		[MOOD_EXTREMES] = "largest and least numbers",
		[MOOD_SPECIAL] = "infinities and NaN",
		[MOOD_MOST] = "the largest number",
		[MOOD_LEAST] = "the least number",
		[MOOD_ZERO] = "zeros",
		[MOOD_TINY] = "tiny numbers",
		[MOOD_BITS] = "0 and 1",
	};

	return names[mood];
}

/* The numbers that the inputs of a case get. */
struct filling {
	enum verify_mood mood;
	/* the largest and the least float are those of the type, divided by
	 * 2^below */
	int below;
};

bool
verify_is_huge(enum verify_mood mood)
{
	return mood == MOOD_EXTREMES || mood == MOOD_MOST || mood == MOOD_LEAST;
}

/* The largest and the least float of a case. */
struct ends {
	double most, least;
};

static struct ends
ends_of(struct dtype t, struct filling how)
{
	return (struct ends){ ldexp(dtype_highest(t), -how.below),
			      ldexp(dtype_lowest(t), -how.below) };
}

static double
float_of(enum verify_mood mood, struct ends ends, uint64_t next)
{
	const uint64_t r = next >> 40;

	switch (mood) {
	case MOOD_WHOLE:
		return (double)(r % 7) - 3;
	case MOOD_EXTREMES:
		return r % 5 == 0   ? ends.most
		       : r % 5 == 1 ? ends.least
		       : r % 5 == 2 ? 0
		       : r % 5 == 3 ? 1
				    : -1;
	case MOOD_SPECIAL:
		return r % 61 == 0   ? INFINITY
		       : r % 61 == 1 ? -INFINITY
		       : r % 61 == 2 ? NAN
				     : random_fraction(next << 7);
	case MOOD_MOST:
		return ends.most;
	case MOOD_LEAST:
		return ends.least;
	case MOOD_ZERO:
		return 0;
	case MOOD_TINY:
		return ldexp(random_fraction(next), -100);
	case MOOD_BITS:
		return 0.625 + 0.375 * random_fraction(next);
	default:
		return random_fraction(next);
	}
}

static int64_t
integer_of(struct dtype t, enum verify_mood mood, uint64_t next)
{
	const uint64_t r = next >> 40;
	const int bits = dtype_bits(t);
	const int64_t least = dtype_min_int(t);
	const int64_t most = (int64_t)dtype_max_int(t);
	/* the amounts at which a shift ends: the number of bits and its
	 * neighbours */
	const int64_t amount = bits - 1 + (int64_t)(r % 3);
	const bool fits = (uint64_t)amount <= dtype_max_int(t);

	if (mood == MOOD_ZERO) {
		return 0;
	}
	if (mood == MOOD_BITS || dtype_class(t) == DTC_BOOL) {
		return mood == MOOD_MOST    ? 1
		       : mood == MOOD_LEAST ? 0
					    : (int64_t)(r & 1);
	}
	switch (mood) {
	case MOOD_EXTREMES:
		return r % 8 == 0          ? most
		       : r % 8 == 1        ? least
		       : r % 8 == 2        ? 0
		       : r % 8 == 3        ? 1
		       : r % 8 > 4 && fits ? amount
					   : most - 1;
	case MOOD_MOST:
		return most;
	case MOOD_LEAST:
		return least;
	case MOOD_WHOLE:
		break;
	default:
		if (bits <= 8) {
			return (int64_t)(r & ((1u << bits) - 1)) + least;
		}
	}
	return (int64_t)(r % 7) - (dtype_is_signed(t) && bits > 2 ? 3 : 0);
}

static void
fill(struct dtype t, struct filling how, uint64_t *state, void *data,
     int64_t elems)
{
	const bool floats = dtype_is_float(t);
	const struct ends ends = floats ? ends_of(t, how) : (struct ends){ 0 };

	for (int64_t i = 0; i < elems; i++) {
		uint64_t next = random_next(state);
		union number v;

		if (floats) {
			v.f = float_of(how.mood, ends, next);
		} else {
			v.i = integer_of(t, how.mood, next);
		}
		number_store(t, data, (size_t)i, v);
	}
}

/* Interprets k->plain on the arrays of one case. data: the array of each
 * parameter. overflow: NULL, or gets the overflows of the run. Returns false if
 * the interpreter reports an error, whose message is dropped. */
static bool
run(struct verify_kernel *k, const struct verify_cases *cases,
    void *const *data, struct run_overflow *overflow)
{
	struct func *f = k->plain;
	struct diags *diags = &f->module->diags;
	struct arena scratch;
	struct run_arg *args;
	int n_diags = diags->list.n;
	bool ok;

	arena_init(&scratch);
	args = arena_array(&scratch, struct run_arg, f->params.n + 1);
	for (int i = 0; i < f->params.n; i++) {
		args[i].scalar = cases->values[i];
		args[i].data = data[i];
		args[i].bytes = cases->bytes[i];
	}
	ok = overflow != NULL
		     ? run_func_overflow(f, args, f->params.n, overflow)
		     : run_func(f, args, f->params.n);
	diags_drop_errors(diags, n_diags, DIAG_COUNT);
	arena_release(&scratch);
	return ok;
}

/* What an array has before the call. An array that the kernel only writes gets
 * random numbers, so that an element that the kernel fails to write is
 * noticed. */
static struct filling
filling_of(const struct func *f, const struct buffer *b, struct filling how)
{
	return func_reads(f, b) || !func_writes(f, b)
		       ? how
		       : (struct filling){ .mood = MOOD_RANDOM };
}

/* Fills the arrays of case number c->n. data: gets the array of each parameter;
 * that of a result is c->want, which begins as the array before the call. */
static void
fill_case(const struct verify_kernel *k, const struct verify_cases *c,
	  struct filling how, uint64_t seed, void **data)
{
	const struct func *f = k->plain;
	uint64_t state = random_state(seed);

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		size_t at = (size_t)c->bytes[i] * (size_t)c->n;
		struct dtype t;

		if (b == NULL) {
			continue;
		}
		if (k->constants[i] != NULL) {
			data[i] = k->constants[i];
			continue;
		}
		t = dtype_of((enum dtype_kind)b->type.kind);
		fill(t, filling_of(f, b, how), &state, c->in[i] + at,
		     c->bytes[i] / dtype_bytes(t));
		data[i] = c->in[i] + at;
	}
	for (int i = 0; i < f->params.n; i++) {
		size_t at = (size_t)c->bytes[i] * (size_t)c->n;

		if (k->over[i] >= 0) {
			memcpy(c->in[i] + at, c->in[k->over[i]] + at,
			       (size_t)c->bytes[i]);
		}
		if (c->want[i] != NULL) {
			data[i] = c->want[i] + at;
			memcpy(data[i], c->in[i] + at, (size_t)c->bytes[i]);
		}
	}
}

/* Makes a case of huge numbers for a kernel whose products a compiler may fuse
 * into sums. A fused product does not overflow, so that 4 * x - 5 * y may be
 * an infinity as well as NaN: both are right. Therefore the largest numbers are
 * made smaller until no product that is added overflows. Returns false if no
 * such numbers are found. */
static bool
run_below_overflow(struct verify_kernel *k, struct verify_cases *c,
		   enum verify_mood mood, uint64_t seed, void **data)
{
	for (int below = 0; below <= MOST_BELOW; below += below + FIRST_BELOW) {
		struct filling how = { .mood = mood, .below = below };
		struct run_overflow overflow;

		fill_case(k, c, how, seed, data);
		if (!run(k, c, data, &overflow)) {
			return false;
		}
		if (!overflow.product || !overflow.sum) {
			return true;
		}
	}
	return false;
}

/* Makes case number c->n with values of the kind `mood`. Returns false if the
 * kernel is not defined for these values. */
static bool
add_case(struct verify_kernel *k, struct verify_cases *c, enum verify_mood mood,
	 uint64_t seed)
{
	struct arena scratch;
	void **data;
	bool ok;

	arena_init(&scratch);
	data = arena_array(&scratch, void *, k->plain->params.n + 1);
	if (k->contracts && verify_is_huge(mood)) {
		ok = run_below_overflow(k, c, mood, seed, data);
	} else {
		fill_case(k, c, (struct filling){ .mood = mood }, seed, data);
		ok = run(k, c, data, NULL);
	}
	arena_release(&scratch);
	return ok;
}

/* Sets out->bytes to the size in bytes of each array when the symbolic sizes
 * have their values number `size` (trial_values), and *all to the bytes of all
 * arrays of a case. Returns false if a size is unknown or the arrays are too
 * large. */
static bool
measure(struct arena *a, const struct verify_kernel *k, int size,
	struct verify_cases *out, int64_t *all)
{
	const struct func *f = k->plain;
	int64_t *values = arena_array(a, int64_t, f->params.n + 1);

	trial_values(f, size, values);
	out->values = values;
	out->bytes = arena_array(a, int64_t, f->params.n + 1);
	*all = 0;
	for (int i = 0; i < f->params.n; i++) {
		int64_t elems;

		if (f->params.data[i].buffer == NULL) {
			continue;
		}
		if (!trial_elems(f, i, values, &elems)) {
			return false;
		}
		out->bytes[i] = elems *
				dtype_bytes(f->params.data[i].buffer->type);
		*all = quota_plus(*all, quota_times(out->bytes[i], 3));
	}
	return *all < 8 * (int64_t)MOST_BYTES;
}

static int
most_cases(const struct verify_kernel *k, int64_t bytes)
{
	const double operations = k->kernel->flops + k->kernel->int_ops + 100;
	int64_t most = MOST_BYTES / (bytes + 1), wanted;

	wanted = operations > MANY_OPERATIONS
			 ? FEW_CASES
			 : MOOD_COUNT + (int64_t)(MORE_OPERATIONS / operations);
	wanted = wanted > VERIFY_CASES ? VERIFY_CASES : wanted;
	return most < 2 ? 2 : (int)(most < wanted ? most : wanted);
}

/* The mood of case number i: the first cases have one mood each, in the order
 * of the enum; the cases after these repeat the moods in `more`. */
static enum verify_mood
mood_of_case(int i)
{
	static const enum verify_mood more[] = { MOOD_RANDOM, MOOD_WHOLE,
						 MOOD_RANDOM, MOOD_EXTREMES };

	return i < MOOD_COUNT ? (enum verify_mood)i
			      : more[(i - MOOD_COUNT) % 4];
}

static bool
is_allowed(const struct verify_kernel *k, enum verify_mood mood)
{
	return !k->finite || (mood != MOOD_SPECIAL && !verify_is_huge(mood));
}

const char *
verify_cases_make(struct arena *a, struct verify_kernel *k, int size,
		  uint64_t seed, struct verify_cases *out)
{
	const struct func *f = k->plain;
	int64_t bytes;
	int most;

	*out = (struct verify_cases){ .n = 0 };
	if (!measure(a, k, size, out, &bytes)) {
		return "its arrays are too large";
	}
	for (int i = 0; i < f->params.n; i++) {
		if (k->over[i] >= 0 &&
		    out->bytes[k->over[i]] != out->bytes[i]) {
			return "it overwrites an input of another size";
		}
	}
	most = most_cases(k, bytes);
	out->in = arena_array(a, unsigned char *, f->params.n + 1);
	out->want = arena_array(a, unsigned char *, f->params.n + 1);
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		size_t n = (size_t)out->bytes[i] * (size_t)most + 1;

		if (b == NULL || k->constants[i] != NULL) {
			continue;
		}
		out->in[i] = arena_alloc(a, n);
		if (func_writes(f, b)) {
			out->want[i] = arena_alloc(a, n);
		}
	}
	for (int i = 0; i < most; i++) {
		enum verify_mood mood = mood_of_case(i);

		if (is_allowed(k, mood) &&
		    add_case(k, out, mood, seed + (uint64_t)i * 2 + 1)) {
			out->moods[out->n++] = mood;
		}
	}
	return out->n > 0 ? NULL
			  : "the interpreter cannot run it on random numbers";
}

/* -- runs on perturbed inputs -- */

bool
verify_perturbed(struct verify_kernel *k, const struct verify_cases *c,
		 int index, uint64_t *state, void *const *data)
{
	const struct func *f = k->plain;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		struct dtype t;

		if (b == NULL || k->constants[i] != NULL) {
			continue;
		}
		t = dtype_of((enum dtype_kind)b->type.kind);
		memcpy(data[i], c->in[i] + c->bytes[i] * index,
		       (size_t)c->bytes[i]);
		for (int64_t e = 0;
		     dtype_is_float(t) && e < c->bytes[i] / dtype_bytes(t);
		     e++) {
			union number v = number_load(t, data[i], (size_t)e);
			double by = random_fraction(random_next(state));

			v.f *= 1 + k->share * sqrt(3) * by;
			number_store(t, data[i], (size_t)e, v);
		}
	}
	return run(k, c, data, NULL);
}
