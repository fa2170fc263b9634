/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the results of an emitted program with those of the interpreter. If
 * a kernel has only integers, the results must be equal. If it computes with
 * floats, an element may differ by the tolerance of its type, and in addition
 * by as much as a small relative change of the inputs changes the element: the
 * order of the terms of a sum is not defined, and the effect of such a change
 * bounds that of another order. The interpreter runs up to RUNS times on
 * changed inputs to measure it. */
#include <math.h>

#include "trial.h"
#include "verify_parts.h"

enum { RUNS = 6 };

/* The comparison of one parameter in one case. */
struct comparing {
	struct arena *a;
	struct verify_kernel *k;
	const struct verify_cases *cases;
	int index, param;
	struct dtype type;
	const void *want, *got;
	int64_t elems;
	uint64_t seed; /* seed of the next run on changed inputs */
	int runs;      /* the number of runs on changed inputs so far */
	/* the arrays of the runs on changed inputs, by parameter; NULL before
	 * the first of these runs */
	void **data;
	/* For each element, its least and largest value in the case and in the
	 * interpreter's runs on changed inputs. */
	double *least, *most;
	/* the largest magnitude of the finite elements of the result */
	double largest;
};

static double
as_double(struct dtype t, const void *data, int64_t i)
{
	union number v = number_load(t, data, (size_t)i);

	return dtype_is_float(t)    ? v.f
	       : dtype_is_signed(t) ? (double)v.i
				    : (double)v.u;
}

const char *
verify_number_text(struct arena *a, struct dtype t, const void *data, int64_t i)
{
	union number v = number_load(t, data, (size_t)i);

	return dtype_is_float(t) ? arena_printf(a, "%.9g", v.f)
	       : dtype_is_signed(t)
		       ? arena_printf(a, "%lld", (long long)v.i)
		       : arena_printf(a, "%llu", (unsigned long long)v.u);
}

/* The text "case 3 (zeros): y[0][5] is 2, not 3" for a wrong element i. */
static const char *
element_text(const struct comparing *c, int64_t i)
{
	const struct func *f = c->k->plain;
	const struct buffer *b = f->params.data[c->param].buffer;
	int64_t *dims = arena_array(c->a, int64_t, b->ndim + 2);
	const char *at = "";
	int64_t rest = i;
	int ndim;

	if (!trial_shape(f, c->param, c->cases->values, dims, &ndim)) {
		ndim = 0;
	}
	for (int d = ndim - 1; d >= 0; d--) {
		at = arena_printf(c->a, "[%lld]%s", (long long)(rest % dims[d]),
				  at);
		rest /= dims[d];
	}
	return arena_printf(c->a, "case %d (%s): %s%s is %s, not %s",
			    c->index + 1,
			    verify_mood_name(c->cases->moods[c->index]),
			    b->name, at,
			    verify_number_text(c->a, c->type, c->got, i),
			    verify_number_text(c->a, c->type, c->want, i));
}

static struct comparing
begin(struct arena *a, struct verify_kernel *k,
      const struct verify_cases *cases, int index, int param,
      unsigned char *const *want, unsigned char *const *got)
{
	const struct buffer *b = k->plain->params.data[param].buffer;
	size_t at = (size_t)cases->bytes[param] * (size_t)index;
	struct dtype t = dtype_of((enum dtype_kind)b->type.kind);

	return (struct comparing){ .a = a,
				   .k = k,
				   .cases = cases,
				   .index = index,
				   .param = param,
				   .type = t,
				   .want = want[param] + at,
				   .got = got[param] + at,
				   .elems = cases->bytes[param] /
					    dtype_bytes(t) };
}

static bool
same_bits(const struct comparing *c, int64_t i)
{
	size_t n = (size_t)dtype_bytes(c->type);

	return memcmp((const char *)c->want + (size_t)i * n,
		      (const char *)c->got + (size_t)i * n, n) == 0;
}

static bool
both_nan(const struct comparing *c, int64_t i)
{
	return dtype_is_float(c->type) &&
	       isnan(as_double(c->type, c->want, i)) &&
	       isnan(as_double(c->type, c->got, i));
}

/* -- tolerance -- */

static void
widen(struct comparing *c, const void *data)
{
	for (int64_t i = 0; i < c->elems; i++) {
		double v = as_double(c->type, data, i);

		/* A NaN in one run shows that rounding errors may give the
		 * element any value. */
		c->least[i] = v < c->least[i] || isnan(v)
				      ? isnan(v) ? -INFINITY : v
				      : c->least[i];
		c->most[i] = v > c->most[i] || isnan(v)
				     ? isnan(v) ? INFINITY : v
				     : c->most[i];
	}
}

static void
begin_runs(struct comparing *c)
{
	const struct func *f = c->k->plain;

	c->data = arena_array(c->a, void *, f->params.n + 1);
	c->least = arena_array(c->a, double, c->elems + 1);
	c->most = arena_array(c->a, double, c->elems + 1);
	for (int64_t i = 0; i < c->elems; i++) {
		c->least[i] = c->most[i] = as_double(c->type, c->want, i);
	}
	for (int i = 0; i < f->params.n; i++) {
		c->data[i] = c->k->constants[i] != NULL
				     ? c->k->constants[i]
				     : arena_alloc(c->a,
						   (size_t)c->cases->bytes[i] +
							   1);
	}
}

/* Does `value` lie within the range of element i over the interpreter's runs on
 * changed inputs, or at most `allowed` plus `widths` times the width of the
 * range beyond it? A further run, which can widen the range, is made only while
 * the value is not within it, and at most RUNS in total. */
static bool
is_observed(struct comparing *c, int64_t i, double value, double allowed,
	    int widths)
{
	if (c->data == NULL) {
		begin_runs(c);
	}
	for (;;) {
		double more = allowed + widths * (c->most[i] - c->least[i]);

		if (value >= c->least[i] - more && value <= c->most[i] + more) {
			return true;
		}
		if (c->runs == RUNS) {
			return false;
		}
		c->runs++;
		if (verify_perturbed(c->k, c->cases, c->index, &c->seed,
				     c->data)) {
			widen(c, c->data[c->param]);
		}
	}
}

/* Is element i right? The cheap test for equal bits comes first, because it
 * decides most elements. */
static bool
is_right(struct comparing *c, int64_t i)
{
	const double a = as_double(c->type, c->got, i);
	const double b = as_double(c->type, c->want, i);
	double allowed;

	if (same_bits(c, i) || both_nan(c, i)) {
		return true;
	}
	if (!c->k->floats) {
		return false;
	}
	if (!dtype_is_float(c->type)) {
		/* Rounding errors may move a value that lies half-way between
		 * two integers to either of them. */
		if (dtype_bits(c->type) <= 8 && fabs(a - b) <= 1) {
			return true;
		}
		return is_observed(c, i, a, 0, 0);
	}
	/* Where a sum may overflow, the order of summation decides which
	 * elements overflow. */
	if (c->k->sums && verify_is_huge(c->cases->moods[c->index]) &&
	    (!isfinite(a) || !isfinite(b))) {
		return true;
	}
	if (a == b) {
		return true;
	}
	/* nothing finite is near an infinity */
	allowed = c->k->atol + (isfinite(b) ? c->k->rtol * fabs(b) : 0);
	if (fabs(a - b) <= allowed) {
		return true;
	}
	return is_observed(c, i, a, allowed, 1);
}

/* -- results -- */

/* |a - b| in units in the last place of b; 0 if a or b is not finite, or b is
 * 0. */
static double
ulp_between(struct dtype t, double a, double b)
{
	double unit;
	int exponent;

	if (!isfinite(a) || !isfinite(b) || b == 0) {
		return 0;
	}
	frexp(b, &exponent);
	unit = ldexp(dtype_epsilon(t), exponent - 1);
	return unit > 0 ? fabs(a - b) / unit : 0;
}

static void
compare(struct comparing *c, struct verify_result *out)
{
	out->elements += c->elems;
	if (memcmp(c->want, c->got, (size_t)c->cases->bytes[c->param]) == 0) {
		return;
	}
	for (int64_t i = 0; i < c->elems; i++) {
		if (same_bits(c, i) || both_nan(c, i)) {
			continue;
		}
		out->equal = false;
		if (!is_right(c, i)) {
			if (out->differs == NULL) {
				out->differs = element_text(c, i);
			}
			return;
		}
		if (dtype_is_float(c->type) &&
		    !verify_is_huge(c->cases->moods[c->index])) {
			out->max_ulp = fmax(out->max_ulp,
					    ulp_between(c->type,
							as_double(c->type,
								  c->got, i),
							as_double(c->type,
								  c->want, i)));
		}
	}
}

void
verify_compare(struct arena *a, struct verify_kernel *k,
	       const struct verify_cases *cases, uint64_t seed,
	       unsigned char *const *got, struct verify_result *out)
{
	out->cases += cases->n;
	for (int i = 0; i < cases->n; i++) {
		for (int p = 0; p < k->plain->params.n; p++) {
			struct comparing c;

			if (cases->want[p] != NULL) {
				c = begin(a, k, cases, i, p, cases->want, got);
				c.seed = seed;
				compare(&c, out);
			}
		}
	}
}

const char *
verify_bits(struct arena *a, const struct verify_kernel *k,
	    const struct verify_cases *cases, unsigned char *const *want,
	    unsigned char *const *got)
{
	for (int i = 0; i < cases->n; i++) {
		for (int p = 0; p < k->plain->params.n; p++) {
			struct verify_kernel copy = *k;
			struct comparing c;

			if (cases->want[p] == NULL) {
				continue;
			}
			c = begin(a, &copy, cases, i, p, want, got);
			for (int64_t e = 0; e < c.elems; e++) {
				if (!same_bits(&c, e) && !both_nan(&c, e)) {
					return element_text(&c, e);
				}
			}
		}
	}
	return NULL;
}
