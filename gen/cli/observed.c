/* SPDX-License-Identifier: Apache-2.0 */
/* How far rounding errors may move an output's element. For y = a - b the error
 * depends on a and b, but the output is only y. If each input element changes by
 * a small random part of itself, y moves as it does for rounding errors of that
 * size. Where the model rounds, compares or chooses, an element moves by a whole
 * step, however small the change is: that is told from a slope by the gaps
 * between the values of several runs.
 *
 *	a slope: values     3.9998 3.9999 4.0000 4.0001 4.0003
 *	a step, floor(x):   3      3      4      4      4
 *
 * All gaps of a slope are of similar width; at a step a few gaps are wide and
 * the others nearly zero. So the median gap times the number of gaps is the
 * width of the slope, with or without a step. */
#include <math.h>
#include <string.h>

#include "compare.h"

/* Operands rounded to tf32 show no smaller changes. */
#define TF32_EPSILON 0x1p-10
#define SQRT_3 1.7320508075688772
/* A gap of so many widths is a step. The widest of eight gaps between random
 * values is a few times as wide as the median one, half a width at most. */
enum { STEP_WIDTHS = 4 };

double
observed_share(const struct cli *c, const struct array *inputs, int n,
	       const struct tolerance *t, int n_results)
{
	double most = 0;

	for (int i = 0; i < n; i++) {
		if (dtype_is_float(inputs[i].type)) {
			struct tolerance own = compare_tolerance(c,
								 inputs[i].type,
								 0);

			most = fmax(most, fmax(dtype_epsilon(inputs[i].type),
					       own.inputs));
		}
	}
	for (int i = 0; most > 0 && i < n_results; i++) {
		most = fmax(most, t[i].inputs);
	}
	return most;
}

struct array
observed_moved(struct arena *a, const struct array *x, double share,
	       uint64_t *state)
{
	struct array y = *x;
	size_t bytes = (size_t)x->elems * (size_t)dtype_bytes(x->type);

	if (!dtype_is_float(x->type)) {
		return y;
	}
	y.data = arena_copy(a, x->data, bytes);
	for (int64_t i = 0; i < x->elems; i++) {
		union number v = number_load(x->type, x->data, (size_t)i);
		double u;

		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		u = (double)(*state >> 40) / 0x1p23 - 1;
		v.f *= 1 + share * SQRT_3 * u;
		number_store(x->type, y.data, (size_t)i, v);
	}
	return y;
}

static void
insert(double *list, int n, double v)
{
	while (n > 0 && list[n - 1] > v) {
		list[n] = list[n - 1];
		n--;
	}
	list[n] = v;
}

void
observed_element(const struct observed *o, const struct array *got, int64_t i,
		 struct element *out)
{
	double gaps[OBSERVED_RUNS];
	double v = array_double(got, i);

	out->n = 0;
	out->width = 0;
	if (isfinite(v)) {
		insert(out->values, out->n++, v);
	}
	for (int run = 0; run < o->n; run++) {
		v = array_double(&o->runs[run], i);
		if (isfinite(v)) {
			insert(out->values, out->n++, v);
		}
	}
	for (int k = 1; k < out->n; k++) {
		insert(gaps, k - 1, out->values[k] - out->values[k - 1]);
	}
	if (out->n > 1 && (o->random == NULL || !o->random[i])) {
		out->width = (out->n - 1) * gaps[(out->n - 2) / 2];
	}
}

bool
element_steps(const struct element *e, double a, double b)
{
	double low = fmin(a, b), high = fmax(a, b);

	for (int k = 1; k < e->n; k++) {
		if (e->values[k - 1] >= low && e->values[k] <= high &&
		    e->values[k] - e->values[k - 1] > STEP_WIDTHS * e->width) {
			return true;
		}
	}
	return false;
}

double
element_width(const struct element *e, const struct observed *o,
	      const struct tolerance *t)
{
	return e->width * fmin(1, t->inputs / o->share);
}

/* -- runs -- */

/* The elements that differ between two runs on the same inputs: that is no
 * rounding error. NULL: none does. */
static const bool *
find_random(struct arena *a, const struct array *again, const struct array *was)
{
	size_t bytes = (size_t)dtype_bytes(was->type);
	bool *random;

	if (again->elems != was->elems ||
	    memcmp(again->data, was->data, (size_t)was->elems * bytes) == 0) {
		return NULL;
	}
	random = arena_array(a, bool, was->elems + 1);
	for (int64_t i = 0; i < was->elems; i++) {
		random[i] = memcmp((const char *)again->data +
					   (size_t)i * bytes,
				   (const char *)was->data + (size_t)i * bytes,
				   bytes) != 0;
	}
	return random;
}

/* Is every output near enough with its runs so far, without an element on the
 * other side of a step, for whose share more runs are needed? */
static bool
all_near(struct cli *c, const struct pair *pairs, int n)
{
	bool near = true;

	for (int i = 0; near && i < n; i++) {
		struct comparison found;

		pair_compare(c, &pairs[i], &found);
		near = found.same_shape && found.bad == 0 && !found.too_many &&
		       found.other_side == 0;
	}
	return near;
}

static void
observe(struct harness *h, const struct array *inputs, double share,
	struct pair *pairs, struct observed **seen, int n)
{
	struct arena *a = &h->m->arena;
	int n_in = tirc_input_count(h->t);
	struct array *given = arena_array(a, struct array, n_in + 1);
	struct array *now = arena_array(a, struct array,
					harness_results(h) + 1);
	uint64_t state = 0x9e3779b97f4a7c15u;

	if (!harness_run(h, inputs, now)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (seen[i] != NULL) {
			seen[i]->random = find_random(a, &now[pairs[i].result],
						      pairs[i].got);
			pairs[i].observed = seen[i];
		}
	}
	for (int run = 0; run < OBSERVED_RUNS; run++) {
		for (int i = 0; i < n_in; i++) {
			given[i] = observed_moved(a, &inputs[i], share, &state);
		}
		if (!harness_run(h, given, now)) {
			return;
		}
		for (int i = 0; i < n; i++) {
			const struct array *y = &now[pairs[i].result];

			/* a size may depend on values */
			if (seen[i] != NULL &&
			    y->elems == pairs[i].got->elems) {
				seen[i]->runs[seen[i]->n++] = *y;
			}
		}
		if (run + 1 >= OBSERVED_LEAST && all_near(h->cli, pairs, n)) {
			return;
		}
	}
}

void
harness_observe(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	struct arena *a = &h->m->arena;
	struct observed **seen = arena_array(a, struct observed *, n + 1);
	struct tolerance *t = arena_array(a, struct tolerance, n + 1);
	double share;
	int n_far = 0;

	for (int i = 0; i < n; i++) {
		if (h->cli->atol < 0 &&
		    pairs[i].got->elems == pairs[i].want->elems &&
		    !pair_near(h->cli, &pairs[i])) {
			seen[i] = arena_new(a, struct observed);
			t[n_far++] = compare_tolerance(h->cli,
						       pairs[i].got->type, 0);
		}
	}
	share = observed_share(h->cli, inputs, tirc_input_count(h->t), t,
			       n_far);
	if (n_far == 0 || share == 0) {
		return;
	}
	if (tirc_summary(h->t).tf32) {
		share = fmax(share, TF32_EPSILON);
	}
	for (int i = 0; i < n; i++) {
		if (seen[i] != NULL) {
			seen[i]->share = share;
		}
	}
	observe(h, inputs, share, pairs, seen, n);
}

bool
harness_compare(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	bool ok = true;

	harness_observe(h, inputs, pairs, n);
	for (int i = 0; i < n; i++) {
		ok = pair_report(h->cli, &pairs[i]) && ok;
	}
	return ok;
}
