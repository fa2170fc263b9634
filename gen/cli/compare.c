/* SPDX-License-Identifier: Apache-2.0 */
/* Two arrays that should be alike, and a line about it. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness.h"

struct comparison {
	double max_abs, max_rel, max_ulp, largest, allowed;
	int64_t bad;        /* elements beyond what is allowed */
	int64_t worst;      /* index of the largest error */
	bool same_shape;
};

/* What an implementation may differ by, by type, where nobody said. What
 * reals were quantized to may be off by one step: a sum half-way between two
 * steps goes to either, by the order in which it was taken. */
static void
tolerance(const struct cli *c, struct dtype t, bool quantized, double *rtol,
	  double *atol)
{
	*rtol = 1e-4;
	*atol = 1e-5;
	if (!dtype_is_float(t)) {
		*rtol = 0;
		*atol = quantized ? 1 : 0;
	} else if (dtype_bits(t) == 64) {
		*rtol = 1e-7;
		*atol = 1e-9;
	} else if (dtype_bits(t) == 16) {
		*rtol = 1e-2;
		*atol = 1e-3;
	} else if (dtype_bits(t) < 16) {
		*rtol = 1.25e-1;
		*atol = 1e-2;
	}
	if (c->rtol >= 0) {
		*rtol = c->rtol;
	}
	if (c->atol >= 0) {
		*atol = c->atol;
	}
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

static void
compare(const struct cli *c, const struct array *got, bool quantized,
	const struct array *want, struct comparison *out)
{
	double rtol, atol;

	memset(out, 0, sizeof *out);
	out->same_shape = got->ndim == want->ndim &&
			  dtype_equal(got->type, want->type);
	for (int d = 0; out->same_shape && d < got->ndim; d++) {
		out->same_shape = got->shape[d] == want->shape[d];
	}
	if (!out->same_shape) {
		return;
	}
	tolerance(c, got->type, quantized, &rtol, &atol);
	for (int64_t i = 0; i < want->elems; i++) {
		double b = fabs(as_double(want, i));

		if (isfinite(b) && b > out->largest) {
			out->largest = b;
		}
	}
	out->allowed = atol + rtol * out->largest;
	for (int64_t i = 0; i < want->elems; i++) {
		double a = as_double(got, i), b = as_double(want, i);
		double error = fabs(a - b);

		if (a == b || (isnan(a) && isnan(b))) {
			continue;
		}
		if (!isfinite(a) || !isfinite(b)) {
			error = INFINITY;
		}
		if (error > out->max_abs) {
			out->max_abs = error;
			out->worst = i;
		}
		if (b != 0 && error / fabs(b) > out->max_rel) {
			out->max_rel = error / fabs(b);
		}
		if (ulp_error(got->type, a, b) > out->max_ulp) {
			out->max_ulp = ulp_error(got->type, a, b);
		}
		out->bad += !(error <= out->allowed);
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
	printf("max abs %.3g, rel %.3g, %.3g ulp; allowed %.3g (largest %.4g)",
	       x.max_abs, x.max_rel, x.max_ulp, x.allowed, x.largest);
	if (!ok) {
		printf("; %lld of %lld beyond, worst at %lld: %.9g, expected "
		       "%.9g", (long long)x.bad, (long long)want->elems,
		       (long long)x.worst, as_double(got, x.worst),
		       as_double(want, x.worst));
	}
	printf("\n");
	return ok;
}
