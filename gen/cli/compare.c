/* SPDX-License-Identifier: Apache-2.0 */
/* Two arrays that should be alike, and a line about it. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness.h"

struct comparison {
	double max_abs, max_rel, max_ulp, floor, typical;
	int64_t bad;        /* elements beyond what is allowed */
	int64_t worst;      /* index of the one furthest beyond, or off */
	bool same_shape;
};

/* What an element may differ by: atol + rtol |b| + floor * typical, where
 * `typical` is the mean of all |b| that are finite. */
struct tolerance {
	double rtol, atol, floor;
};

/* The distance between 1 and the next number of a type of floats. */
static double
epsilon(struct dtype t)
{
	return dtype_bits(t) == 64 ? DBL_EPSILON
	       : dtype_bits(t) == 32 ? (double)FLT_EPSILON
	       : ldexp(1, -dtype_float_form(t).frac_bits);
}

/* What an implementation may differ by, by type, where nobody said. The
 * relative part is for errors that grow with their element. A sum whose terms
 * cancel has the error of its terms, which are as large as other elements are:
 * that is the floor, and the mean tells the scale, because one large element
 * must not excuse the small ones. What reals were quantized to may be off by
 * one step: a sum half-way between two steps goes to either, by the order in
 * which it was taken. */
static struct tolerance
tolerance(const struct cli *c, struct dtype t, bool quantized)
{
	struct tolerance x = { .rtol = 1e-4, .atol = 1e-7, .floor = 1e-5 };

	if (!dtype_is_float(t)) {
		x = (struct tolerance){ .atol = quantized ? 1 : 0 };
	} else if (dtype_bits(t) == 64) {
		x = (struct tolerance){ 1e-7, 1e-14, 1e-9 };
	} else if (dtype_bits(t) <= 16) {
		x.rtol = fmax(1e-2, epsilon(t) * (dtype_bits(t) < 16 ? 1 : 2));
		x.floor = fmin(epsilon(t), 1e-2);
	}
	if (c->rtol >= 0) {
		x.rtol = c->rtol;
	}
	if (c->atol >= 0) {
		x.atol = c->atol;
		x.floor = 0;
	}
	return x;
}

/* Distance in units of the last place of b, for f32; else 0. */
static double
ulp_error(struct dtype t, double a, double b)
{
	float fb = (float)fabs(b);
	double unit;

	if (t.kind != DT_F32 || !isfinite(a) || !isfinite(b)) {
		return 0;
	}
	unit = (double)nextafterf(fb < FLT_MIN ? FLT_MIN : fb, INFINITY) -
	       (fb < FLT_MIN ? (double)FLT_MIN : (double)fb);
	return fabs(a - b) / unit;
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

/* |a - b| of element i; 0 only where they are equal, and large integers that
 * round to the same double are not. NaN equals NaN, an infinity itself. */
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

/* The mean of |b| over the finite elements; 0 if no element is finite. */
static double
typical_size(const struct array *want)
{
	double sum = 0;
	int64_t n = 0;

	for (int64_t i = 0; i < want->elems; i++) {
		double b = fabs(as_double(want, i));

		if (isfinite(b)) {
			sum += (b - sum) / (double)++n;
		}
	}
	return sum;
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
compare(const struct cli *c, const struct array *got, bool quantized,
	const struct array *want, struct comparison *out)
{
	struct tolerance t = tolerance(c, got->type, quantized);
	double worst = 0;

	memset(out, 0, sizeof *out);
	out->same_shape = same_shape(got, want);
	if (!out->same_shape) {
		return;
	}
	out->typical = typical_size(want);
	out->floor = t.atol + t.floor * out->typical;
	for (int64_t i = 0; i < want->elems; i++) {
		double b = fabs(as_double(want, i));
		double error = error_at(got, want, i);
		double allowed = out->floor + (isfinite(b) ? t.rtol * b : 0);

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
		out->max_ulp = fmax(out->max_ulp, ulp_error(
			got->type, as_double(got, i), as_double(want, i)));
		out->bad += !(error <= allowed);
	}
}

bool
harness_compare(const struct cli *c, const char *where,
		const struct array *got, bool quantized,
		const struct array *want)
{
	struct comparison x;
	bool ok;

	compare(c, got, quantized, want, &x);
	ok = x.same_shape && x.bad == 0;
	if (c->quiet && ok) {
		return true;
	}
	printf("%s%s%s  %s  %s  ", ok ? style_green(stdout)
	       : style_red(stdout), ok ? "ok  " : "FAIL",
	       style_reset(stdout), where, got->name);
	if (!x.same_shape) {
		printf("type or shape differs: %s [", dtype_name(got->type));
		for (int d = 0; d < got->ndim; d++) {
			printf("%s%lld", d > 0 ? "," : "",
			       (long long)got->shape[d]);
		}
		printf("], expected %s [", dtype_name(want->type));
		for (int d = 0; d < want->ndim; d++) {
			printf("%s%lld", d > 0 ? "," : "",
			       (long long)want->shape[d]);
		}
		printf("]\n");
		return false;
	}
	printf("max abs %.3g, rel %.3g, %.3g ulp; allowed %.3g|b| + %.3g "
	       "(mean %.4g)", x.max_abs, x.max_rel, x.max_ulp,
	       tolerance(c, got->type, quantized).rtol, x.floor, x.typical);
	if (!ok) {
		printf("; %lld of %lld beyond, worst at %lld: %.9g, expected "
		       "%.9g", (long long)x.bad, (long long)want->elems,
		       (long long)x.worst, as_double(got, x.worst),
		       as_double(want, x.worst));
	}
	printf("\n");
	return ok;
}
