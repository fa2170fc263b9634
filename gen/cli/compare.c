/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two arrays: each element must be within its tolerance. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compare.h"

#include "tolerance.h"

/* The tolerance of elements of type t: the user's, or the default
 * (tolerance.def). rtol covers an error that is relative to the element. If the
 * terms of a sum cancel, the error is relative to the terms, which are larger
 * than the sum; such an error is covered by runs on perturbed inputs, and not
 * by a larger rtol, which would hide wrong elements. */
struct tolerance
compare_tolerance(const struct cli *c, struct dtype t, const char *arithmetic,
		  double step)
{
	struct tolerance x = { 0 };
	struct type_tolerance of_type;

	if (arithmetic != NULL) {
		dtype_from_name(arithmetic, &t);
	}
	of_type = tolerance_of_type(t);
	x.rtol = of_type.rtol;
	x.atol = of_type.atol;
	x.inputs = of_type.inputs;
	x.step = step;
	if (c->rtol >= 0) {
		x.rtol = c->rtol;
	}
	if (c->atol >= 0) {
		x.atol = c->atol;
		x.inputs = 0;
		x.step = 0;
	}
	return x;
}

struct tolerance
pair_tolerance(const struct cli *c, const struct pair *x)
{
	return compare_tolerance(c, x->got->type, x->arithmetic, x->step);
}

/* The distance of a and b in units in the last place of b, if t is a float of
 * at least 16 bits; else 0. */
static double
ulp_error(struct dtype t, double a, double b)
{
	static const int least_exponent[DT_COUNT] = {
		[DT_F16] = -14,
		[DT_BF16] = -126,
		[DT_F32] = -126,
		[DT_F64] = -1022,
	};
	int exponent;

	if (least_exponent[t.kind] == 0 || !isfinite(a) || !isfinite(b)) {
		return 0;
	}
	frexp(b, &exponent);
	exponent = b == 0 || exponent - 1 < least_exponent[t.kind]
			   ? least_exponent[t.kind]
			   : exponent - 1;
	return fabs(a - b) / ldexp(dtype_epsilon(t), exponent);
}

double
array_double(const struct array *a, int64_t i)
{
	union number v = number_load(a->type, a->data, (size_t)i);

	if (dtype_is_float(a->type)) {
		return v.f;
	}
	return dtype_is_signed(a->type) ? (double)v.i : (double)v.u;
}

/* The absolute error |a - b| of element i. It is 0 only if the elements are
 * equal: for unequal integers it is at least 1, even if both round to the same
 * double. NaN equals NaN, and an infinity equals itself. */
static double
error_at(const struct array *got, const struct array *want, int64_t i)
{
	union number x = number_load(got->type, got->data, (size_t)i);
	union number y = number_load(want->type, want->data, (size_t)i);
	double a = array_double(got, i), b = array_double(want, i);

	if (!dtype_is_float(got->type)) {
		return x.u == y.u ? 0 : fmax(1, fabs(a - b));
	}
	if (a == b || (isnan(a) && isnan(b))) {
		return 0;
	}
	return isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
}

static bool
same_shape(const struct array *a, const struct array *b)
{
	bool same = a->ndim == b->ndim && dtype_equal(a->type, b->type);

	for (int d = 0; same && d < a->ndim; d++) {
		same = a->shape[d] == b->shape[d];
	}
	return same;
}

/* -- steps -- */

/* The perturbed runs in which the value of element i and its value in x->got
 * are on different sides of a step (struct element): bit r stands for run r. */
static unsigned
runs_across(const struct pair *x, const struct element *e, int64_t i)
{
	const struct observed *o = x->observed;
	double got = array_double(x->got, i);
	unsigned runs = 0;

	for (int r = 0; r < o->n; r++) {
		runs |= (unsigned)element_steps(e, got,
						array_double(&o->runs[r], i))
			<< r;
	}
	return runs;
}

/* Does the value of element i in x->got lie in the range of the values of the
 * perturbed runs, or at most `allowed` beyond it? If not, rounding errors do
 * not explain the value, and the program is wrong. */
static bool
is_among_runs(const struct pair *x, const struct element *e, int64_t i,
	      double allowed)
{
	double got = array_double(x->got, i);

	return got >= e->values[0] - allowed &&
	       got <= e->values[e->n - 1] + allowed;
}

/* In some perturbed run, is the value of element i at most `allowed` from the
 * expected value, but separated by a step from its value in x->got? Then a
 * rounding error near the step explains the difference. If another program made
 * the runs (twin), x->got must also lie in the range of these runs. step: the
 * step of a quantized result, else 0. */
static bool
is_other_side(const struct pair *x, const struct element *e, int64_t i,
	      double allowed, double step)
{
	const struct observed *o = x->observed;
	unsigned runs = runs_across(x, e, i);

	if (o->twin && !is_among_runs(x, e, i, allowed + step)) {
		return false;
	}

	for (int r = 0; r < o->n; r++) {
		if ((runs >> r & 1) != 0 &&
		    error_at(&o->runs[r], x->want, i) <= allowed) {
			return true;
		}
	}
	return false;
}

/* Estimates the probability that rounding errors move an element to the other
 * side of its step, from the number of perturbed runs in which it moved (rule
 * of succession). It is at most 0.5, since errors go in both directions. */
static double
chance(unsigned runs, int n)
{
	int hits = 0;

	for (int r = 0; r < n; r++) {
		hits += (int)(runs >> r & 1);
	}
	return fmin((hits + 1.0) / (n + 2.0), 0.5);
}

/* Are more elements on the other side of a step than rounding errors explain?
 * The test catches a wrong output, some of whose elements also lie near steps.
 * Elements that step in the same runs share one step and are counted once.
 * other: for each element, whether it is on the other side. */
static bool
too_many_steps(const struct pair *x, const bool *other, int64_t n_other)
{
	enum { PATTERNS = 1 << OBSERVED_RUNS };
	int64_t all[PATTERNS] = { 0 }, there[PATTERNS] = { 0 };
	double expected = 0, variance = 0;
	int took = 0;

	for (int64_t i = 0; i < x->got->elems; i++) {
		struct element e;
		unsigned runs;

		observed_element(x->observed, x->got, i, &e);
		runs = runs_across(x, &e, i);
		all[runs]++;
		there[runs] += other[i];
	}
	for (unsigned runs = 1; runs < PATTERNS; runs++) {
		double p = chance(runs, x->observed->n);

		if (all[runs] > 0) {
			expected += p;
			variance += p * (1 - p);
			took += 2 * there[runs] > all[runs];
		}
	}
	return (took > 2 && 2 * n_other > x->got->elems) ||
	       took > 2 + expected + 2 * sqrt(variance);
}

/* -- elements -- */

enum verdict { NEAR, STEPPED, OTHER_SIDE, FAR };

/* Decides whether element i with this error is right. *allowed: its tolerance,
 * to which this function adds the width of the element's values in the
 * perturbed runs. */
static enum verdict
judge(const struct pair *x, const struct tolerance *t, int64_t i, double error,
      double *allowed)
{
	struct element e = { .n = 0 };

	if (error <= *allowed) {
		return NEAR;
	}
	if (x->observed != NULL && x->observed->n > 0) {
		observed_element(x->observed, x->got, i, &e);
		if (dtype_is_float(x->got->type)) {
			*allowed += element_width(&e, x->observed, t);
			if (error <= *allowed) {
				return NEAR;
			}
		}
	}
	if (error <= *allowed + t->step) {
		return STEPPED;
	}
	if (e.n > 0 && (is_other_side(x, &e, i, *allowed, t->step) ||
			(!dtype_is_float(x->got->type) && error <= e.width))) {
		return OTHER_SIDE;
	}
	return FAR;
}

static void
note_error(const struct pair *x, int64_t i, double error,
	   struct comparison *out)
{
	double b = fabs(array_double(x->want, i));

	out->max_abs = fmax(out->max_abs, error);
	if (b != 0 && !isnan(b)) {
		out->max_rel = fmax(out->max_rel, error / b);
	}
	out->max_ulp = fmax(out->max_ulp,
			    ulp_error(x->got->type, array_double(x->got, i),
				      array_double(x->want, i)));
}

/* Records element i in *out if its error is the largest so far. units: the
 * error divided by the tolerance. far: the error exceeds the tolerance; such an
 * element replaces any element within its tolerance. */
static void
note_worst(struct comparison *out, int64_t i, bool far, double units)
{
	if (far && out->bad == 0) {
		out->worst_units = 0;
	}
	if ((far || out->bad == 0) && units > out->worst_units) {
		out->worst_units = units;
		out->worst = i;
	}
	out->bad += far;
}

/* Compares arrays of strings, each of which is a row of bytes. */
static void
compare_strings(const struct pair *x, struct comparison *out)
{
	const struct array *want = x->want;
	int64_t bytes = want->shape[want->ndim - 1];
	const char *a = x->got->data, *b = want->data;

	for (int64_t i = 0; i < want->elems / (bytes > 0 ? bytes : 1); i++) {
		if (memcmp(a + i * bytes, b + i * bytes, (size_t)bytes) != 0) {
			out->worst = out->bad == 0 ? i : out->worst;
			out->bad++;
		}
	}
}

void
pair_compare(const struct cli *c, const struct pair *x, struct comparison *out)
{
	const struct array *want = x->want;
	struct tolerance t = pair_tolerance(c, x);
	bool *other = NULL;
	struct arena a;

	memset(out, 0, sizeof *out);
	out->same_shape = same_shape(x->got, want);
	if (!out->same_shape) {
		return;
	}
	if (want->is_string) {
		compare_strings(x, out);
		return;
	}
	arena_init(&a);
	for (int64_t i = 0; i < want->elems; i++) {
		double b = fabs(array_double(want, i));
		double error = error_at(x->got, want, i);
		double plain = t.atol + (isfinite(b) ? t.rtol * b : 0);
		double allowed = plain;
		enum verdict v;

		if (error == 0) {
			continue;
		}
		note_error(x, i, error, out);
		v = judge(x, &t, i, error, &allowed);
		out->most_width = fmax(out->most_width, allowed - plain);
		out->stepped += v == STEPPED;
		if (v == OTHER_SIDE) {
			if (other == NULL) {
				other = arena_array(&a, bool, want->elems);
			}
			other[i] = true;
			out->other_side++;
		}
		note_worst(out, i, v == FAR, error / (allowed + DBL_MIN));
	}
	out->too_many = (out->stepped > 2 && 2 * out->stepped > want->elems) ||
			(other != NULL &&
			 too_many_steps(x, other, out->other_side));
	arena_release(&a);
}

bool
pair_near(const struct cli *c, const struct pair *x)
{
	struct comparison found;

	pair_compare(c, x, &found);
	return found.same_shape && found.bad == 0 && !found.too_many;
}
