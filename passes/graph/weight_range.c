/* SPDX-License-Identifier: Apache-2.0 */
/* The range of a product's weights. Weights with a recipe are evaluated if they
 * are small. If large weights are a scaled, transposed or reshaped copy of
 * stored weights, their range is computed from the stored weights. */
#include "weight_range.h"

#include "rewrite.h"

#include <math.h>

#define EVALUATED_BYTES_MAX (4 * 1024 * 1024)

static int64_t
extent_of(const struct tensor *t, int axis)
{
	int64_t extent;

	return expr_is_int(t->shape[axis], &extent) ? extent : -1;
}

static void
see_weight(struct weight_range *r, int64_t channel, double w)
{
	w = fabs(w);
	if (w == 0) {
		return;
	}
	r->channel_total[channel] += w;
	/* The condition is written so that it also holds if the weight is NaN:
	 * then the largest becomes NaN. */
	if (!(w <= r->channel_largest[channel])) {
		r->channel_largest[channel] = w;
	}
	if (w < r->channel_least[channel]) {
		r->channel_least[channel] = w;
	}
}

static double
element(const struct value *v, int64_t i)
{
	float f;

	if (v->data != NULL && v->type.kind == DT_F32) {
		memcpy(&f, (const char *)v->data + (size_t)i * sizeof f,
		       sizeof f);
		return f;
	}
	return v->data ? number_load(v->type, v->data, (size_t)i).f : v->fill.f;
}

/* Counts, for each channel, the weights that are not 0 and not negligible
 * beside the largest: not smaller than half of the epsilon of the type times
 * the largest. A NaN is counted. */
static void
count_terms(struct weight_range *r, const struct value *v, int64_t rest,
	    int64_t channels)
{
	double share = dtype_epsilon(v->type) / 2;

	for (int64_t at = 0; at < v->elems;) {
		int64_t channel = at / rest % channels;
		double least = r->channel_largest[channel] * share;

		for (int64_t i = 0; i < rest; i++, at++) {
			double w = fabs(element(v, at));

			r->channel_terms[channel] += w != 0 && !(w < least);
		}
	}
}

static void
see_weights(struct weight_range *r, const struct tensor *w,
	    const struct value *v, int axis, int64_t channels)
{
	int64_t rest = 1, at = 0;

	for (int d = axis + 1; d < w->ndim; d++) {
		rest *= extent_of(w, d);
	}
	while (at < v->elems) {
		int64_t channel = at / rest % channels;

		for (int64_t i = 0; i < rest; i++, at++) {
			see_weight(r, channel, element(v, at));
		}
	}
	count_terms(r, v, rest, channels);
}

static void
find_largest(struct weight_range *r, int64_t channels)
{
	r->largest = 0;
	for (int64_t i = 0; i < channels; i++) {
		if (!(r->channel_largest[i] <= r->largest)) {
			r->largest = r->channel_largest[i];
		}
	}
}

/* The scales of the channels if the weights w are a product that scale_weight
 * (affine_host.c) made; else NULL. */
double *
weight_scales(struct graph *g, const struct tensor *w, int axis,
	      int64_t channels)
{
	const struct node *made = w->recipe;
	int64_t count;
	double *before;

	if (!made || !node_is(made, "Mul") || !made->inputs[1]->value ||
	    made->inputs[1]->ndim != w->ndim ||
	    !tensor_same_shape(made->inputs[0], w)) {
		return NULL;
	}
	before = constant_doubles(g, made->inputs[1], &count);
	return before && count == channels &&
			       extent_of(made->inputs[1], axis) == channels
		       ? before
		       : NULL;
}

static bool
range_of_product(struct graph *g, const struct tensor *w, int axis,
		 int64_t channels, const double *scale, struct weight_range *r)
{
	if (!weight_range_find(g, w->recipe->inputs[0], axis, channels, r)) {
		return false;
	}
	for (int64_t i = 0; i < channels; i++) {
		r->channel_total[i] *= fabs(scale[i]);
		r->channel_largest[i] *= fabs(scale[i]);
		r->channel_least[i] *= scale[i] != 0 ? fabs(scale[i]) : 1;
	}
	find_largest(r, channels);
	return true;
}

/* Has the result of the node the floats of its input in the same order,
 * unchanged or in a wider type? */
static bool
keeps_order(const struct node *made)
{
	static const char *const views[] = { "Reshape",  "Squeeze", "Unsqueeze",
					     "Identity", "Flatten", "Cast" };
	struct dtype from = made->inputs[0]->type;

	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		if (node_is(made, views[i])) {
			return dtype_is_float(from) &&
			       dtype_bits(from) <=
				       dtype_bits(made->outputs[0]->type);
		}
	}
	return false;
}

/* The values of large weights without computing them, in the order of the
 * elements: the stored value, or that of the tensor of which the weights are a
 * copy. NULL if the values must be computed. */
static const struct value *
values_at_hand(const struct tensor *w)
{
	while (w->value == NULL && w->recipe && keeps_order(w->recipe)) {
		w = w->recipe->inputs[0];
	}
	return w->value;
}

/* The axis of the input of a Transpose that becomes axis number `axis` of its
 * result. */
static int
axis_before(const struct node *transpose, int axis)
{
	const int64_t *perm;
	int count = node_attr_ints(transpose, "perm", &perm);

	return count > 0 ? (int)perm[axis]
			 : transpose->inputs[0]->ndim - 1 - axis;
}

bool
weight_range_find(struct graph *g, struct tensor *w, int axis, int64_t channels,
		  struct weight_range *r)
{
	struct arena *a = &g->module->arena;
	const double *before = weight_scales(g, w, axis, channels);
	const struct value *v = w->value;

	if (before != NULL) {
		return range_of_product(g, w, axis, channels, before, r);
	}
	if (v == NULL && tensor_bytes_max(w) <= EVALUATED_BYTES_MAX) {
		v = tensor_value(g, w);
	}
	if (v == NULL && w->recipe && node_is(w->recipe, "Transpose")) {
		return weight_range_find(g, w->recipe->inputs[0],
					 axis_before(w->recipe, axis), channels,
					 r);
	}
	v = v != NULL ? v : values_at_hand(w);
	if (v == NULL) {
		return false;
	}
	r->channel_total = arena_array(a, double, channels);
	r->channel_terms = arena_array(a, int64_t, channels);
	r->channel_largest = arena_array(a, double, channels);
	r->channel_least = arena_array(a, double, channels);
	for (int64_t i = 0; i < channels; i++) {
		r->channel_least[i] = INFINITY;
	}
	see_weights(r, w, v, axis, channels);
	find_largest(r, channels);
	return true;
}
