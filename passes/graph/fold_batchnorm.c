/* SPDX-License-Identifier: Apache-2.0 */
/* A BatchNormalization with constant parameters becomes a multiplication and a
 * sum for each channel, which fold_scale folds into weights.
 *
 *	y = BatchNormalization (x, scale, bias, mean, var)
 *   ->
 *	a = Mul (x, s)      s = scale / sqrt(var + epsilon)
 *	y = Add (a, t)      t = bias - mean * s
 *   or
 *	c = Sub (x, mean)
 *	a = Mul (c, s)
 *	y = Add (a, bias)
 *
 * The second form is exact: it is the operator's definition, and rounds s as
 * the definition does. The second form is used if the graph has the setting
 * exact_rewrites, or if a later operator makes the difference visible
 * (visible.c).
 *
 * The first form is within rounding if no channel cancels: x * s and t are up
 * to |mean * s| larger than the result, whose standard deviation is |scale| and
 * whose mean is bias. It is taken if |mean * s| is at most 64 standard
 * deviations: the error, 64 times a half unit in the last place, is 4e-6 of the
 * result's deviation in float32. Means of ResNet-50, Inception v2 and
 * DenseNet-121, as they were trained, are up to 13 standard deviations. Or
 * |mean * s| is at most 2 |bias|: the error is that of the sum with the bias. s
 * and t must be finite and not subnormal; but t may underflow if it is at most
 * 2^-64 of the larger of deviation and bias. Then scales and shifts after the
 * normalization become parts of s and t, too:
 *
 *	y = BatchNormalization (x, scale, bias, mean, var)
 *	z = Mul (y, u)
 *   ->
 *	a = Mul (x, s * u)
 *	z = Add (a, t * u)
 *
 * under the same condition, which must also hold with the bias before and the
 * mean after them. A shift is at most 4096 times the larger of deviation and
 * mean before it: a larger one may round on purpose, and be subtracted again.
 * For the same reason a shift has the sign of the mean, or one of the two is at
 * most 16 deviations. The scales and s must be between 2^-64 and 2^64: a result
 * that overflows before a scale below 1 is in range after the rewrite, but then
 * its element is beyond 2^60.
 *
 * Floats of fewer than 32 bits are computed in float32, with constants of
 * float32, as the operator's definition does. */
#include "affine.h"
#include "visible.h"

#include <math.h>

#define DEVIATIONS_MAX 64.0
#define MEANS_MAX 2.0
#define SHIFT_MAX 4096.0
#define OPPOSED_MAX 16.0
#define UNDERFLOW_MAX 0x1p-64

enum { SCALE, BIAS, MEAN, VARIANCE, N_PARAMETERS };

struct norm {
	struct node *node;
	struct dtype type; /* the type in which the normalization is computed */
	int64_t channels;
	double *parameters[N_PARAMETERS];
	/* by channel: the factor s, with each operation rounded to the type */
	double *rounded;
	double epsilon;
	/* For the first form: the map made of s, t and the links after them;
	 * the standard deviation and the mean of the result, by channel. */
	struct affine map;
	double *deviation, *mean;
	/* the last node of the chain of links: the map computes its result */
	struct node *last;
};

static double
rounded_to(struct dtype t, double v)
{
	return number_round(t, (union number){ .f = v }).f;
}

static bool
read_parameters(struct graph *g, struct norm *b)
{
	const struct node *n = b->node;

	for (int i = 0; i < N_PARAMETERS; i++) {
		struct tensor *t = node_input(n, i + 1);
		int64_t count;

		if (!t || !tensor_is_constant(t)) {
			return false;
		}
		b->parameters[i] = constant_doubles(g, t, &count);
		if (!b->parameters[i] || (i > 0 && count != b->channels)) {
			return false;
		}
		for (int64_t c = 0; c < count; c++) {
			b->parameters[i][c] = rounded_to(b->type,
							 b->parameters[i][c]);
		}
		b->channels = count;
	}
	return true;
}

static struct tensor *
described(struct graph *g, const struct norm *b, const char *form)
{
	return graph_describe(g, form, b->node, b->node->inputs + 1,
			      N_PARAMETERS);
}

static void
compute_factors(struct graph *g, struct norm *b)
{
	struct arena *a = &g->module->arena;
	struct affine *map = &b->map;

	*map = (struct affine){
		.axis = b->node->inputs[0]->ndim - 2,
		.n = b->channels,
	};
	map->scale = arena_array(a, double, b->channels + 1);
	map->shift = arena_array(a, double, b->channels + 1);
	map->scale_of = described(g, b,
				  arena_printf(a, "$0 / sqrt($3 + %g)",
					       b->epsilon));
	map->shift_of = described(g, b,
				  arena_printf(a,
					       "$1 - $2 * $0 / sqrt($3 + %g)",
					       b->epsilon));
	b->rounded = arena_array(a, double, b->channels + 1);
	b->deviation = arena_array(a, double, b->channels + 1);
	b->mean = b->parameters[BIAS];
	b->last = b->node;
	for (int64_t c = 0; c < b->channels; c++) {
		double scale = b->parameters[SCALE][c];
		double variance = b->parameters[VARIANCE][c];
		double sum = rounded_to(b->type, variance + b->epsilon);

		map->scale[c] = scale / sqrt(variance + b->epsilon);
		map->shift[c] = b->parameters[BIAS][c] -
				b->parameters[MEAN][c] * map->scale[c];
		b->deviation[c] = fabs(scale);
		b->rounded[c] = rounded_to(b->type,
					   scale / rounded_to(b->type,
							      sqrt(sum)));
	}
}

/* May `shift` be rounded to type t: is it finite and normal, or so small
 * compared with `magnitude`, the magnitude of the results, that it may
 * underflow? */
static bool
shift_fits(struct dtype t, double shift, double magnitude)
{
	return affine_constant_fits(t, shift) ||
	       fabs(shift) <= UNDERFLOW_MAX * magnitude;
}

/* Is the magnitude of a term at most 64 times the standard deviation of the
 * result, or 2 times its mean? Then adding the term costs little accuracy. */
static bool
is_of_magnitude(double term, double deviation, double mean)
{
	return fabs(term) <=
	       fmax(DEVIATIONS_MAX * deviation, MEANS_MAX * fabs(mean));
}

/* Can the first form be used for each channel: are x * s and t not much larger
 * than the result, and can the type represent s and t? */
static bool
cancels_little(const struct norm *b)
{
	for (int64_t c = 0; c < b->channels; c++) {
		double moved = b->parameters[MEAN][c] * b->map.scale[c];
		double magnitude = fmax(b->deviation[c], fabs(b->mean[c]));

		if (!is_of_magnitude(moved, b->deviation[c], b->mean[c]) ||
		    !affine_constant_fits(b->type, b->map.scale[c]) ||
		    !shift_fits(b->type, b->map.shift[c], magnitude)) {
			return false;
		}
	}
	return true;
}

/* Do mean and shift have different signs, and are both larger than 16 standard
 * deviations? Then the shift may round on purpose. */
static bool
is_opposed(double mean, double shift, double deviation)
{
	return (mean > 0 ? shift < 0 : mean < 0 && shift > 0) &&
	       fmin(fabs(mean), fabs(shift)) > OPPOSED_MAX * deviation;
}

/* Adds one more link after the normalization to its map; false, with b
 * unchanged, if the link must stay. */
static bool
take_link(struct graph *g, struct norm *b, const struct affine_link *link)
{
	struct arena *a = &g->module->arena;
	struct norm with = *b;

	if ((link->map.axis >= 0 &&
	     (link->map.axis != b->map.axis || link->map.n != b->channels)) ||
	    !affine_compose(g, &with.map, &link->map)) {
		return false;
	}
	with.deviation = arena_array(a, double, b->channels + 1);
	with.mean = arena_array(a, double, b->channels + 1);
	with.last = link->node;
	for (int64_t c = 0; c < b->channels; c++) {
		int64_t i = link->map.axis >= 0 ? c : 0;
		double scale = link->map.scale[i];
		double moved = b->mean[c] * scale;
		double magnitude = fmax(b->deviation[c], fabs(b->mean[c]));

		with.deviation[c] = b->deviation[c] * fabs(scale);
		with.mean[c] = moved + link->map.shift[i];
		if (!affine_scale_is_moderate(scale) ||
		    !affine_scale_is_moderate(b->map.scale[c]) ||
		    is_opposed(moved, link->map.shift[i], with.deviation[c]) ||
		    fabs(link->map.shift[i]) > SHIFT_MAX * magnitude ||
		    !is_of_magnitude(moved, with.deviation[c], with.mean[c])) {
			return false;
		}
	}
	if (!cancels_little(&with)) {
		return false;
	}
	*b = with;
	return true;
}

static void
take_links(struct graph *g, struct norm *b)
{
	struct affine_link link;
	struct node *next = sole_user(b->node->outputs[0]);

	while (next && affine_link_read(g, next, &link) &&
	       dtype_equal(next->outputs[0]->type, b->type) &&
	       take_link(g, b, &link)) {
		next = sole_user(next->outputs[0]);
	}
}

/* A constant of `values`, one for each channel, in a shape that broadcasts
 * along axis 1: [C, 1, 1] for a tensor of rank 4. */
static struct tensor *
per_channel(struct graph *g, const struct norm *b, const char *suffix,
	    const double *values, struct tensor *of)
{
	const char *base = arena_printf(&g->module->arena, "%s.%s",
					b->last->outputs[0]->name, suffix);

	return graph_made_of(g,
			     affine_along(g, base, b->type,
					  b->node->inputs[0]->ndim - 1, 0,
					  b->channels, values),
			     "$0", b->node, &of, 1);
}

/* Inserts a node before the normalization and returns its result; NULL after a
 * diagnostic. */
static struct tensor *
insert_step(struct graph *g, const struct norm *b, const char *op_type,
	    const char *suffix, struct tensor *x, struct tensor *c)
{
	struct tensor *in[2] = { x, c };
	struct node *n = insert_node(g, b->node, op_type,
				     arena_printf(&g->module->arena, "%s.%s",
						  b->last->outputs[0]->name,
						  suffix),
				     in, c != NULL ? 2 : 1);

	n->name = b->node->name;
	if (c == NULL) {
		struct dtype to = dtype_equal(x->type, b->type)
					  ? b->node->outputs[0]->type
					  : b->type;

		node_set_attr_int(g, n, "to", dtype_onnx_number(to));
	}
	return ops_infer_node(g, n) ? n->outputs[0] : NULL;
}

static struct tensor *
insert_steps(struct graph *g, const struct norm *b, bool within_rounding)
{
	bool narrow = !dtype_equal(b->type, b->node->inputs[0]->type);
	struct tensor *y = b->node->inputs[0], *c;

	if (narrow) {
		y = insert_step(g, b, "Cast", "wide", y, NULL);
	}
	if (y && !within_rounding) {
		c = per_channel(g, b, "mean", b->parameters[MEAN],
				described(g, b, "$2"));
		y = insert_step(g, b, "Sub", "centred", y, c);
	}
	if (y) {
		c = per_channel(g, b, "scale",
				within_rounding ? b->map.scale : b->rounded,
				b->map.scale_of);
		y = insert_step(g, b, "Mul", "scaled", y, c);
	}
	if (y) {
		c = within_rounding
			    ? per_channel(g, b, "shift", b->map.shift,
					  b->map.shift_of)
			    : per_channel(g, b, "bias", b->parameters[BIAS],
					  described(g, b, "$1"));
		y = insert_step(g, b, "Add", "shifted", y, c);
	}
	return y && narrow ? insert_step(g, b, "Cast", "narrow", y, NULL) : y;
}

/* Makes readers of the result read y, and removes the normalization and the
 * links after it. */
static void
replace(struct graph *g, struct norm *b, struct tensor *y, const char *why)
{
	struct node *n = b->last;

	graph_note(g, b->node, "fold_batchnorm", why);
	graph_replace_uses(g, n->outputs[0], y);
	while (n != b->node) {
		struct node *link = n;

		n = n->inputs[only_variable_input(n)]->producer;
		graph_note(g, link, "fold_batchnorm",
			   fate_of(g, "in the scale and the shift of %s",
				   b->node));
		graph_absorb(y->producer, link);
		graph_remove_node(g, link, NULL, "");
	}
	graph_absorb(y->producer, n);
	graph_remove_node(g, n, "fold_batchnorm", "");
}

static bool
fold_node(struct graph *g, struct visible *visible, struct node *n)
{
	struct norm b = {
		.node = n,
		.epsilon = node_attr_float(n, "epsilon", 1e-5),
	};
	struct tensor *y;
	bool within_rounding;

	if (n->n_outputs != 1 || n->inputs[0]->ndim < 2 ||
	    !dtype_is_float(n->inputs[0]->type) ||
	    !dtype_equal(n->inputs[0]->type, n->outputs[0]->type)) {
		return true;
	}
	b.type = dtype_bits(n->inputs[0]->type) < 32 ? dtype_of(DT_F32)
						     : n->inputs[0]->type;
	if (!read_parameters(g, &b)) {
		return true;
	}
	compute_factors(g, &b);
	within_rounding = !g->settings->exact_rewrites && cancels_little(&b) &&
			  !visible_at(visible, n->outputs[0]);
	if (within_rounding) {
		take_links(g, &b);
	}
	y = insert_steps(g, &b, within_rounding);
	if (!y) {
		return false;
	}
	replace(g, &b, y,
		within_rounding ? "a scale and a shift by constants"
				: "the mean, a scale and a shift by constants");
	return true;
}

bool
graph_fold_batchnorm(struct graph *g)
{
	struct visible visible = { .graph = g };

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (node_is(n, "BatchNormalization") &&
		    !fold_node(g, &visible, n)) {
			return false;
		}
	}
	return true;
}
