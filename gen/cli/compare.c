/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two arrays within a tolerance and prints the result. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <string.h>

#include "compare.h"

struct comparison {
	double max_abs, max_rel, max_ulp;
	double largest; /* the largest tolerance for terms */
	int64_t bad;    /* elements beyond their tolerance */
	/* index of the element with the largest error in units of its
	 * tolerance */
	int64_t worst;
	bool same_shape;
};

/* The tolerance: the user's, or the type's default (tolerance.def). rtol is for
 * errors relative to the element. If terms of a sum cancel, its error is
 * relative to the terms of this element; a large other element must not excuse
 * it. A quantized value may differ by one step, also where it is dequantized: a
 * sum half-way between two steps rounds to either, depending on the order of
 * summation. */
struct tolerance
compare_tolerance(const struct cli *c, struct dtype t, double step)
{
	struct tolerance x = { 0 };

	switch (t.kind) {
#define TOLERANCE(type, rtol, atol, terms)                                     \
	case DT_##type:                                                        \
		x = (struct tolerance){ rtol, atol, terms };                   \
		break;
#define TOLERANCE_OF_BYTES(atol, terms)                                        \
	default:                                                               \
		if (dtype_is_float(t)) {                                       \
			x = (struct tolerance){ dtype_epsilon(t), atol,        \
						terms };                       \
		}                                                              \
		break;
#include "tolerance.def"
#undef TOLERANCE
#undef TOLERANCE_OF_BYTES
	}
	x.atol += step;
	if (c->rtol >= 0) {
		x.rtol = c->rtol;
	}
	if (c->atol >= 0) {
		x.atol = c->atol;
		x.terms = 0;
	}
	return x;
}

/* Distance in units in the last place of b, for floats of 16 bits and more;
 * else 0. */
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

static double
as_double(const struct array *a, int64_t i)
{
	union number v = number_load(a->type, a->data, (size_t)i);

	if (dtype_is_float(a->type)) {
		return v.f;
	}
	return dtype_is_signed(a->type) ? (double)v.i : (double)v.u;
}

/* |a - b| of element i; 0 only if they are equal: large integers that round to
 * the same double may differ. NaN equals NaN, an infinity itself. */
static double
error_at(const struct array *got, const struct array *want, int64_t i)
{
	union number x = number_load(got->type, got->data, (size_t)i);
	union number y = number_load(want->type, want->data, (size_t)i);
	double a = as_double(got, i), b = as_double(want, i);

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

static void
compare(const struct cli *c, const struct pair *x, struct comparison *out)
{
	const struct array *got = x->got, *want = x->want;
	struct tolerance t = compare_tolerance(c, got->type, x->step);
	double worst = 0;

	memset(out, 0, sizeof *out);
	out->same_shape = same_shape(got, want);
	if (!out->same_shape) {
		return;
	}
	for (int64_t i = 0; i < want->elems; i++) {
		double b = fabs(as_double(want, i));
		double error = error_at(got, want, i);
		double terms = x->terms != NULL ? t.terms * fmax(x->terms[i], 0)
						: 0;
		double allowed = t.atol + terms +
				 (isfinite(b) ? t.rtol * b : 0);

		if (error == 0) {
			continue;
		}
		/* The error in units of the tolerance, which can be 0. */
		if (error / (allowed + DBL_MIN) > worst) {
			worst = error / (allowed + DBL_MIN);
			out->worst = i;
		}
		out->max_abs = fmax(out->max_abs, error);
		if (b != 0 && !isnan(b)) {
			out->max_rel = fmax(out->max_rel, error / b);
		}
		out->max_ulp = fmax(out->max_ulp,
				    ulp_error(got->type, as_double(got, i),
					      as_double(want, i)));
		out->largest = fmax(out->largest, terms);
		out->bad += !(error <= allowed);
	}
}

bool
pair_near(const struct cli *c, const struct pair *x)
{
	struct comparison found;

	compare(c, x, &found);
	return found.same_shape && found.bad == 0;
}

static void
print_shape(const struct array *a)
{
	say(stdout, "%s [", dtype_name(a->type));
	for (int d = 0; d < a->ndim; d++) {
		say(stdout, "%s%lld", d > 0 ? "," : "", (long long)a->shape[d]);
	}
	say(stdout, "]");
}

bool
pair_report(const struct cli *c, const struct pair *x)
{
	const struct array *got = x->got, *want = x->want;
	struct tolerance t = compare_tolerance(c, got->type, x->step);
	struct comparison f;
	bool ok;

	compare(c, x, &f);
	ok = f.same_shape && f.bad == 0;
	if (c->quiet && ok) {
		return true;
	}
	style_word(stdout, ok ? STYLE_GREEN : STYLE_RED, ok ? "ok  " : "FAIL");
	say(stdout, "  %s  %s  ", x->where, got->name);
	if (!f.same_shape) {
		say(stdout, "type or shape differs: ");
		print_shape(got);
		say(stdout, ", expected ");
		print_shape(want);
		say(stdout, "\n");
		return false;
	}
	say(stdout, "max abs %.3g, rel %.3g, %.3g ulp; allowed %.3g|b| + %.3g",
	    f.max_abs, f.max_rel, f.max_ulp, t.rtol, t.atol);
	if (x->terms != NULL) {
		say(stdout, " + %.3g of the terms (at most %.3g)", t.terms,
		    f.largest);
	}
	if (!ok) {
		say(stdout,
		    "; %lld of %lld beyond, worst at %lld: %.9g, expected "
		    "%.9g",
		    (long long)f.bad, (long long)want->elems,
		    (long long)f.worst, as_double(got, f.worst),
		    as_double(want, f.worst));
	}
	say(stdout, "\n");
	return ok;
}
