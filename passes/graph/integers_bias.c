/* SPDX-License-Identifier: Apache-2.0 */
/* The bias of a product of quantized tensors as a number of units of the
 * integer sum, sx * sw:
 *
 *	c = DequantizeLinear (b, sb)   ->   b units, if sb is sx * sw
 *	c                              ->   round (c / (sx * sw)) units
 *
 * c must be an integer times the unit, rounded to a float. Unless the graph has
 * the setting exact_rewrites, c or sb may be less accurate, as converters
 * compute them, if the error is much smaller than a step of the result. */
#include "integers.h"

#include <float.h>
#include <math.h>

/* The largest errors of a bias that a converter has computed: BIAS_ROUNDING:
 * relative to the bias; BIAS_OFF_MAX: relative to a step of the result; the
 * last: for errors of the scale, relative to a step of the result. */
#define BIAS_ROUNDING 0x1p-22
#define BIAS_OFF_MAX 0x1p-12
#define BIAS_SCALED_OFF_MAX 0x1p-8

/* Is the float `real` equal to n * scale, either with each operation rounded to
 * float, or with only the last operation rounded? */
static bool
is_multiple(float real, double n, double scale)
{
	return real == (float)(n * scale) || real == (float)(n * (float)scale);
}

/* Is the bias n units of the sum, exactly or with an allowed error? step: the
 * size of a step of the result. */
static bool
is_whole(const struct graph *g, float bias, double n, double unit, double step)
{
	double off = fabs((double)bias - n * unit);

	return is_multiple(bias, n, unit) ||
	       (!g->settings->exact_rewrites &&
		off <= BIAS_ROUNDING * fabs((double)bias) &&
		off <= BIAS_OFF_MAX * step);
}

/* Is the scale of a stored bias equal to that of the sum, up to the rounding of
 * floats? TFLite's converters round more often. */
static bool
is_scale_of_sum(const struct graph *g, double scale, double n, double unit,
		double step)
{
	double off = fabs(scale - unit);

	if (g->settings->fixed_point) {
		return off <= 1e-6 * unit;
	}
	return off == 0 ||
	       (!g->settings->exact_rewrites && off <= FLT_EPSILON * unit &&
		off * fabs(n) <= BIAS_SCALED_OFF_MAX * step);
}

/* Has t `channels` elements along its last axis, one for each channel of a
 * Gemm's result, and extent 1 along all other axes? */
static bool
is_by_channels(const struct tensor *t, int64_t channels)
{
	int64_t elems;

	return tensor_const_elems(t, &elems) && elems == channels &&
	       t->ndim > 0 && expr_is_value(t->shape[t->ndim - 1], channels);
}

bool
read_product_bias(struct graph *g, struct tensor *t, int64_t channels,
		  const double *unit, double step, struct product_bias *bias)
{
	struct quantization q;
	struct tensor *stored = t ? dequantized(g, t, &q) : NULL;
	int64_t elems;
	double *v;

	if (!t) {
		return true;
	}
	bias->dequantize = stored ? t->producer : NULL;
	t = stored ? stored : t;
	if ((stored &&
	     (stored->type.kind != DT_I32 || (q.n != 1 && q.n != channels))) ||
	    !tensor_is_constant(t) || !is_by_channels(t, channels)) {
		return false;
	}
	v = constant_doubles(g, t, &elems);
	for (int64_t i = 0; v && i < channels; i++) {
		int64_t k = stored && q.n > 1 ? i : 0;
		double units;
		float real;

		if (stored && q.zero[k] != 0) {
			return false;
		}
		if (stored &&
		    is_scale_of_sum(g, q.scale[k], v[i], unit[i], step)) {
			continue;
		}
		real = stored ? (float)v[i] * (float)q.scale[k] : (float)v[i];
		units = stored && is_multiple(real, v[i], unit[i])
				? v[i]
				: nearbyint((double)real / unit[i]);
		if (!is_whole(g, real, units, unit[i], step)) {
			return false;
		}
		bias->rescaled |= units != v[i];
		v[i] = units;
	}
	bias->units = v;
	return v != NULL;
}
