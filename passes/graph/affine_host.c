/* SPDX-License-Identifier: Apache-2.0 */
/* Folds an affine map of a product's result into the product's weights and
 * bias:
 *
 * 	a = Conv (x, w, b)
 * 	c = Mul (a, s)          ->     y = Conv (x, w * s, b * s + t)
 * 	y = Add (c, t)
 *
 * The result is the same up to rounding, under these conditions; it is never
 * exact.
 *
 * - The weights are float32 or float64. A merged weight of a narrower float
 *   would be rounded much more coarsely than the sum, which is computed in
 *   float32.
 * - Merged constants are finite and not subnormal. A weight, or a bias, may
 *   underflow if it is at most 2^-64 of the largest weight of its channel.
 * - Scales are between 2^-64 and 2^64, and weights that are scaled at most 2^64.
 *   A sum that overflows before a scale below 1 is in range after the rewrite;
 *   but then its elements, or their number, are beyond 2^60.
 * - No shift is much larger than the result of the product itself. A sum of
 *   products has rounding errors in proportion to the sum of |w| * |x|. A shift
 *   in the sum, or a shift that is multiplied, adds an error in proportion to
 *   itself: less, if it is at most the channel's sum of |w| times the magnitude
 *   of x, assumed to be 256: pixels are up to 255, and values inside of a
 *   network are smaller. So a bias of a trained model is folded; a time stamp,
 *   1.7e9 seconds after a weight of 1, is not. A channel without weights has
 *   nothing that a shift could cancel.
 * - A shift and the bias before it have the same sign, or one of them is at
 * most
 *   the channel's sum of |w|. Two large ones may round on purpose between them:
 *   (x * w + 1e6) - 1e6 has the product's first bits alone.
 *
 * The caller checks whether a later operator makes the difference visible. */
#include "affine.h"

#include <math.h>

#define SHIFT_MAX 256.0
#define SCALE_MAX 0x1p64
#define UNDERFLOW_MAX 0x1p-64

static int64_t
extent_of(const struct tensor *t, int axis)
{
	int64_t extent;

	return expr_is_int(t->shape[axis], &extent) ? extent : -1;
}

/* Sets *h from n's operator and types; false if n is not a host. */
static bool
host_of(struct node *n, struct affine_host *h)
{
	const struct tensor *y = n->outputs[0];
	const struct tensor *w = node_input(n, 1);

	*h = (struct affine_host){
		.node = n, .has_bias = true, .alpha = 1, .beta = 1
	};
	if (!w || w->ndim < 2 || !tensor_is_constant(w) ||
	    !dtype_is_float(w->type) || !dtype_equal(w->type, y->type)) {
		return false;
	}
	if (node_is(n, "Conv")) {
		h->axis = y->ndim - 2;
		h->weight_axis = 0;
	} else if (node_is(n, "ConvTranspose") &&
		   node_attr_int(n, "group", 1) == 1) {
		h->axis = y->ndim - 2;
		h->weight_axis = 1;
	} else if (node_is(n, "Gemm")) {
		h->weight_axis = node_attr_int(n, "transB", 0) ? 0 : 1;
		h->alpha = node_attr_float(n, "alpha", 1);
		h->beta = node_attr_float(n, "beta", 1);
	} else if (node_is(n, "MatMul")) {
		h->weight_axis = w->ndim - 1;
		h->has_bias = false;
	} else {
		return false;
	}
	h->channels = extent_of(w, h->weight_axis);
	return h->channels > 0 && h->channels <= AFFINE_CHANNELS_MAX;
}

bool
affine_is_host(struct node *n)
{
	struct affine_host h;

	return host_of(n, &h);
}

static double *
spread(struct graph *g, const struct affine *a, const double *values, int64_t n)
{
	double *out = arena_array(&g->module->arena, double, n);

	for (int64_t i = 0; i < n; i++) {
		out[i] = values[a->axis >= 0 ? i : 0];
	}
	return out;
}

bool
affine_host_read(struct graph *g, struct node *n, struct affine_host *h)
{
	struct tensor *bias;
	struct affine own;

	if (!host_of(n, h)) {
		return false;
	}
	bias = h->has_bias ? node_input(n, 2) : NULL;
	if (bias != NULL) {
		/* The bias must be a constant with a number for each
		 * channel. */
		if (!tensor_is_constant(bias) ||
		    !affine_read(g, bias, n->outputs[0]->ndim, true, &own) ||
		    own.axis > 0 || (own.axis == 0 && own.n != h->channels)) {
			return false;
		}
		h->bias = spread(g, &own, own.shift, h->channels);
		for (int64_t i = 0; i < h->channels; i++) {
			h->bias[i] *= h->beta;
		}
	}
	return weight_range_find(g, n->inputs[1], h->weight_axis, h->channels,
				 &h->weights) &&
	       isfinite(h->weights.largest);
}

/* The bias that the channel gets if the map a is folded into the product: the
 * product's bias (0 if it has none) times the scale, plus the shift. */
static double
bias_behind(const struct affine_host *h, const struct affine *a,
	    int64_t channel)
{
	int64_t i = a->axis >= 0 ? channel : 0;

	return (h->bias ? h->bias[channel] * a->scale[i] : 0) + a->shift[i];
}

/* Can the map a be applied by channels: has it no axis, or the axis of the
 * host's channels? */
static bool
has_axis(const struct affine_host *h, const struct affine *a)
{
	return a->axis < 0 || (a->axis == h->axis && a->n == h->channels);
}

bool
affine_host_bears(const struct affine_host *h, const struct affine *a)
{
	if (!has_axis(h, a)) {
		return false;
	}
	for (int64_t i = 0; i < h->channels; i++) {
		double scale = fabs(h->alpha * a->scale[a->axis >= 0 ? i : 0]);
		double total = h->weights.channel_total[i];

		if (!(fabs(bias_behind(h, a, i)) <=
		      SHIFT_MAX * total * scale) &&
		    scale != 0 && total != 0) {
			return false;
		}
	}
	return true;
}

bool
affine_host_opposes(const struct affine_host *h, const struct affine *before,
		    const struct affine_link *link)
{
	const struct affine *a = &link->map;

	if (!has_axis(h, before) || !has_axis(h, a)) {
		return false;
	}
	for (int64_t i = 0; i < h->channels; i++) {
		double scale = before->scale[before->axis >= 0 ? i : 0];
		double total = h->weights.channel_total[i] *
			       fabs(h->alpha * scale);
		double bias = bias_behind(h, before, i);
		double shift = a->shift[a->axis >= 0 ? i : 0];

		if (total > 0 &&
		    (bias > 0 ? shift < 0 : bias < 0 && shift > 0) &&
		    fmin(fabs(bias), fabs(shift)) > total) {
			return true;
		}
	}
	return false;
}

/* Is `merged`, the new bias of a channel, a finite and normal number, or so
 * small compared with the weights times `scale` that it may underflow? */
static bool
takes_bias(const struct affine_host *h, int64_t channel, double scale,
	   double merged)
{
	double largest = h->weights.channel_largest[channel];

	return affine_constant_fits(h->node->outputs[0]->type, merged) ||
	       fabs(merged) <= UNDERFLOW_MAX * largest * fabs(scale);
}

/* May the weights of a channel be multiplied by the scale: do all stay finite,
 * and normal or negligible? */
static bool
takes_scale(const struct affine_host *h, int64_t channel, double scale)
{
	struct dtype t = h->node->inputs[1]->type;
	double largest = h->weights.channel_largest[channel];
	double least = h->weights.channel_least[channel];

	scale = fabs(scale);
	if (!affine_scale_is_moderate(scale) || largest > SCALE_MAX) {
		return false;
	}
	return scale == 0 || largest == 0 ||
	       (affine_constant_fits(t, largest * scale) &&
		(affine_constant_fits(t, least * scale) ||
		 affine_constant_fits(t, largest * scale * UNDERFLOW_MAX)));
}

bool
affine_host_takes(const struct affine_host *h, const struct affine *a)
{
	struct dtype t = h->node->outputs[0]->type;
	bool scales = !affine_is_neutral(a, true);

	if (!has_axis(h, a) || (!scales && !h->has_bias)) {
		return false;
	}
	if (dtype_bits(t) < 32 && (scales || h->bias != NULL)) {
		return false;
	}
	for (int64_t i = 0; i < h->channels; i++) {
		double scale = a->scale[a->axis >= 0 ? i : 0];
		double merged = h->has_bias ? bias_behind(h, a, i)
					    : a->shift[a->axis >= 0 ? i : 0];

		if ((scales && !takes_scale(h, i, scale)) ||
		    !takes_bias(h, i, scale, merged)) {
			return false;
		}
	}
	return true;
}

/* -- the new weights and bias -- */

/* The constant w * s, with s along the channels. If w itself is the product of
 * a constant and scales, these scales are merged with s, so that the recipe has
 * only one multiplication. */
static struct tensor *
scale_weight(struct graph *g, const struct affine_host *h,
	     const struct affine *a)
{
	struct tensor *w = h->node->inputs[1], *s, *of = a->scale_of;
	double *values = spread(g, a, a->scale, h->channels);
	const double *before = weight_scales(g, w, h->weight_axis, h->channels);
	const char *base;

	if (before != NULL) {
		for (int64_t i = 0; i < h->channels; i++) {
			values[i] *= before[i];
		}
		of = affine_described_product(g, w->recipe->inputs[1], of);
		w = w->recipe->inputs[0];
	}
	base = arena_printf(&g->module->arena, "%s.scale", w->name);
	s = affine_along(g, base, w->type, w->ndim, h->weight_axis, h->channels,
			 values);
	if (of != NULL) {
		graph_made_of(g, s, "$0", NULL, &of, 1);
	}
	base = arena_printf(&g->module->arena, "%s.scaled", w->name);
	return constant_binary(g, "Mul", base, w, s);
}

static void
set_bias(struct graph *g, const struct affine_host *h, const struct affine *a)
{
	struct arena *arena = &g->module->arena;
	struct node *n = h->node;
	struct tensor *old = node_input(n, 2), *bias, *of = old;
	double *values = arena_array(arena, double, h->channels);
	const char *base = arena_printf(arena, "%s.bias",
					old ? old->name : n->outputs[0]->name);

	for (int64_t i = 0; i < h->channels; i++) {
		values[i] = bias_behind(h, a, i);
	}
	if (n->n_inputs < 3) {
		node_resize_inputs(n, 3);
	}
	bias = affine_along(g, base, n->outputs[0]->type, 1, 0, h->channels,
			    values);
	if (old && h->beta != 1) {
		of = graph_describe(g, arena_printf(arena, "$0 * %g", h->beta),
				    NULL, &old, 1);
	}
	of = affine_described_map(g, of, a);
	if (of != NULL) {
		graph_made_of(g, bias, "$0", NULL, &of, 1);
	}
	node_set_input(n, 2, bias);
	if (h->beta != 1) {
		node_set_attr_float(g, n, "beta", 1);
	}
}

bool
affine_host_absorb(struct graph *g, const struct affine_host *h,
		   struct affine *a)
{
	struct node *n = h->node;
	struct tensor *w;

	if (h->has_bias && (node_input(n, 2) || !affine_is_neutral(a, false))) {
		set_bias(g, h, a);
	}
	if (!affine_is_neutral(a, true)) {
		w = scale_weight(g, h, a);
		if (!w) {
			return false;
		}
		node_set_input(n, 1, w);
	}
	/* The result is not a tensor of the model any more. (If the whole map
	 * was absorbed, it replaces the map's result.) */
	n->outputs[0]->model_name = NULL;
	a->scale_of = NULL;
	a->shift_of = h->has_bias ? NULL : a->shift_of;
	for (int64_t i = 0; i < a->n; i++) {
		a->scale[i] = 1;
		if (h->has_bias) {
			a->shift[i] = 0;
		}
	}
	return true;
}
