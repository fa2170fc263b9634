/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and products of quantized tensors:
 *
 *	a = DequantizeLinear (x, sx, zx)
 *	k = DequantizeLinear (w, sw, zw)      w2 = w - zw
 *	c = DequantizeLinear (b, sx * sw)     b2 = b - zx * (sum of w2)
 *	s = Conv (a, k, c)               ->   s = tirc.Conv (x, w2, b2)
 *	r = Relu (s)                          y = tirc.Requantize (s, scale)
 *	y = QuantizeLinear (r, sy, zy)        scale = sx * sw / sy
 *
 * x and y have 8 or 16 bits. The sum is over stored integers; the padding's
 * value is zx (attribute "outside"). A ConvTranspose has no such value: each
 * output sums the weights that its position chooses, so that its sum is over x
 * - zx (attribute "x_zero") and b2 = b. Exact, except that the float sum would
 * be rounded and the integer sum is not. Conditions: scales are positive, int32
 * holds every partial sum, and c is an integer times sx * sw (integers_bias.c).
 * ConvInteger and MatMulInteger with constant weights become only the sum. If
 * their zero point is known only at run time, nodes after the sum subtract its
 * product with the sums of the weights, and a Pad before the sum pads the image
 * with it. If unsigned weights minus their zero point do not all fit in signed
 * bytes, 128 is subtracted from them instead of the zero point. The sum of x's
 * elements, times 128 - zw, corrects the result; it is computed once for all
 * output channels, by a product with ones:
 *
 *	s = tirc.Conv (x, w - 128, b2) + (128 - zw) * tirc.Conv (x, ones) */
#include "integers.h"

#include <math.h>

/* The middle of the range of unsigned bytes. */
enum { HALF = 128 };

struct product {
	struct tensor *x, *w; /* the tensors of stored integers */
	struct product_bias bias;
	struct quantization qx, qw;
	struct quantized_epilogue end;
	/* is_conv: a convolution; by_rows: w has a row for each output
	 * channel */
	bool is_conv, by_rows;
	/* n is a ConvTranspose, whose w has the shape [ic, oc / group, k…] */
	bool transposed;
	/* of a ConvTranspose: the attribute `group`, and the number of elements
	 * of the kernel's window */
	int64_t group, taps;
	/* the number of output channels, and the number of elements of w for
	 * each output channel */
	int64_t channels, depth;
	/* by output channel: the sum of its weights minus their zero point,
	 * zw */
	int64_t *weights_sum;
	/* by output channel: bounds of the sum of the channel's negative
	 * products (least), and of the sum of its positive products (most) */
	int64_t *least, *most;
	double *real; /* by output channel: sx * sw */
	/* the nodes that dequantize x and w */
	const struct node *dx, *dw;
	/* w2 and w are different tensors: the weights were changed */
	bool moved;
	bool by_halves;                    /* w2 is w - 128, not w - zw */
	int64_t least_weight, most_weight; /* of w2 */
	/* the indices of those inputs of dx and dw that are the zero points */
	int x_zero, w_zero;
};

/* Input i of a DequantizeLinear (its scale or zero point), for a description to
 * the user. */
static struct tensor *
parameter_of(struct graph *g, const struct node *dequantize, int i)
{
	struct tensor *t = node_input(dequantize, i);

	return t != NULL ? graph_describe(g, "$0", dequantize, &t, 1)
			 : graph_describe(g, "0", dequantize, NULL, 0);
}

/* -- reading -- */

/* Sets p's channels, depth and taps from the weights' shape. False unless the
 * weights are a constant of 8 or 4 bits, of 2 dimensions for a product, and
 * their scale is one number or one for each output channel (of a ConvTranspose:
 * one for each channel of a group, the same for all groups). */
static bool
weights_fit(struct product *p)
{
	int64_t elems, in_group, rows;
	int axis = p->by_rows ? 0 : 1;

	if (!tensor_is_constant(p->w) || !(is_byte(p->w) || is_nibble(p->w)) ||
	    p->w->ndim < 2 || (!p->is_conv && p->w->ndim != 2) ||
	    !tensor_const_elems(p->w, &elems) ||
	    !expr_is_int(p->w->shape[axis], &in_group) || in_group < 1) {
		return false;
	}
	p->channels = p->transposed ? in_group * p->group : in_group;
	p->depth = elems / p->channels;
	p->taps = expr_is_int(p->w->shape[0], &rows) && rows > 0
			  ? elems / rows / in_group
			  : 0;
	return p->qw.n == 1 || (p->qw.n == in_group && p->qw.axis == axis);
}

static bool
is_plain_gemm(const struct node *n)
{
	return node_attr_int(n, "transA", 0) == 0 &&
	       node_attr_float(n, "alpha", 1) == 1 &&
	       node_attr_float(n, "beta", 1) == 1;
}

static double
weight_scale(const struct product *p, int64_t channel)
{
	return p->qw.scale[channel % p->qw.n];
}

static int64_t
weight_zero(const struct product *p, int64_t channel)
{
	return (int64_t)p->qw.zero[channel % p->qw.n];
}

/* The zero point of x if it is folded into the bias; 0 if the product itself
 * subtracts it. */
static int64_t
folded_zero(const struct product *p)
{
	return p->transposed ? 0 : (int64_t)p->qx.zero[0];
}

/* For each output channel, the real value of 1 in the sum of integers: the
 * scale of x times that of w. */
static double *
units_of(struct graph *g, const struct product *p)
{
	double *units = arena_array(&g->module->arena, double, p->channels);

	for (int64_t i = 0; i < p->channels; i++) {
		units[i] = p->qx.scale[0] * weight_scale(p, i);
	}
	return units;
}

/* Can tirc round the result as the graph's settings require? ONNX's rounding is
 * always possible. TFLite's is implemented only for bytes, since TFLite's
 * 16-bit kernels round in another way. */
static bool
has_rounding(const struct graph *g, const struct product *p)
{
	return !g->settings->fixed_point ||
	       (is_byte(p->x) && is_byte(p->end.quantize->outputs[0]));
}

static bool
read_product(struct graph *g, const struct node *n, struct product *p)
{
	*p = (struct product){ .transposed = node_is(n, "ConvTranspose"),
			       .group = node_attr_int(n, "group", 1),
			       .x_zero = 2,
			       .w_zero = 2 };
	p->is_conv = p->transposed || node_is(n, "Conv");
	p->by_rows = node_is(n, "Conv") || node_attr_int(n, "transB", 0) != 0;
	p->x = dequantized(g, n->inputs[0], &p->qx);
	p->w = dequantized(g, n->inputs[1], &p->qw);
	p->dx = n->inputs[0]->producer;
	p->dw = n->inputs[1]->producer;
	return p->x && p->w && is_byte_or_short(p->x) && p->qx.n == 1 &&
	       (!node_is(n, "Gemm") || is_plain_gemm(n)) && weights_fit(p) &&
	       p->x->ndim > 1 && find_quantized_epilogue(g, n, &p->end) &&
	       has_rounding(g, p) &&
	       read_product_bias(g, node_input(n, 2), p->channels,
				 units_of(g, p), p->end.q.scale[0], &p->bias);
}

/* -- constants -- */

static int64_t
element(const struct value *v, int64_t i)
{
	return v->data ? number_load(v->type, v->data, (size_t)i).i : v->fill.i;
}

static int64_t
channel_of(const struct product *p, int64_t i)
{
	int64_t in_group, group;

	if (!p->transposed) {
		return p->by_rows ? i / p->depth : i % p->channels;
	}
	in_group = p->channels / p->group;
	group = i / (in_group * p->depth);
	return group * in_group + i / p->taps % in_group;
}

/* The narrowest signed type that holds the numbers from `least` to `most`; a
 * 4-bit type only if w has 4 bits. */
static struct dtype
type_between(const struct tensor *w, int64_t least, int64_t most)
{
	if (is_nibble(w) && least >= -8 && most <= 7) {
		return dtype_of(DT_I4);
	}
	return dtype_of(least < -128 || most > 127 ? DT_I16 : DT_I8);
}

/* Adds the products of the weight w of channel c with all elements of x to the
 * bounds of the channel. The zero point is subtracted from x if it is not
 * folded into the bias. */
static void
add_products(struct product *p, int64_t c, int64_t w)
{
	int64_t zero = p->transposed ? (int64_t)p->qx.zero[0] : 0;
	int64_t low = w * (dtype_min_int(p->x->type) - zero);
	int64_t high = w * (dtype_max_int(p->x->type) - zero);
	int64_t least = low < high ? low : high;
	int64_t most = low < high ? high : low;

	p->least[c] += least < 0 ? least : 0;
	p->most[c] += most > 0 ? most : 0;
}

/* The bias of channel c after the products of the weights with x's zero point
 * are folded into it. */
static double
moved_bias(const struct product *p, int64_t c)
{
	return (p->bias.units ? p->bias.units[c] : 0) -
	       (double)folded_zero(p) * (double)p->weights_sum[c];
}

/* Do all partial sums of each channel fit in int32, in any order of the terms
 * and the bias? */
static bool
sums_fit(const struct product *p)
{
	for (int64_t c = 0; c < p->channels; c++) {
		double bias = moved_bias(p, c);

		if ((double)p->least[c] + fmin(bias, 0) < INT32_MIN ||
		    (double)p->most[c] + fmax(bias, 0) > INT32_MAX) {
			return false;
		}
	}
	return true;
}

/* Sums the weights minus their zero points, for each channel. */
static bool
read_weights(struct graph *g, struct product *p)
{
	struct arena *a = &g->module->arena;
	const struct value *v = tensor_value(g, p->w);
	int64_t elems = p->channels * p->depth;

	if (!v) {
		return false;
	}
	p->moved = p->w->type.kind == DT_U8;
	p->weights_sum = arena_array(a, int64_t, p->channels);
	p->least = arena_array(a, int64_t, p->channels);
	p->most = arena_array(a, int64_t, p->channels);
	for (int64_t i = 0; i < elems; i++) {
		int64_t c = channel_of(p, i);
		int64_t zero = weight_zero(p, c);
		int64_t w = element(v, i) - zero;

		p->weights_sum[c] += w;
		add_products(p, c, w);
		p->least_weight = w < p->least_weight ? w : p->least_weight;
		p->most_weight = w > p->most_weight ? w : p->most_weight;
		p->moved |= zero != 0;
	}
	return true;
}

/* Replaces the weights by the weights minus their zero points: these are signed
 * bytes, or have 16 bits if bytes do not suffice; 4-bit weights stay 4-bit if
 * possible. */
static void
move_weights(struct graph *g, struct product *p)
{
	struct arena *a = &g->module->arena;
	const struct value *v = tensor_value(g, p->w);
	int64_t *shape = arena_array(a, int64_t, p->w->ndim + 1);
	int64_t elems = p->channels * p->depth;
	struct tensor *of[2];
	struct dtype type;
	void *data;

	if (!p->moved) {
		return;
	}
	type = p->by_halves
		       ? dtype_of(DT_I8)
		       : type_between(p->w, p->least_weight, p->most_weight);
	data = arena_alloc(a, (size_t)elems * (size_t)dtype_bytes(type) + 1);
	for (int64_t i = 0; i < elems; i++) {
		int64_t c = channel_of(p, i);
		int64_t zero = p->by_halves ? HALF : weight_zero(p, c);

		number_store(type, data, (size_t)i,
			     (union number){ .i = element(v, i) - zero });
	}
	for (int d = 0; d < p->w->ndim; d++) {
		expr_is_int(p->w->shape[d], &shape[d]);
	}
	of[0] = p->w;
	of[1] = parameter_of(g, p->dw, p->w_zero);
	p->w = graph_made_of(g,
			     graph_constant(g, p->w->name, type, p->w->ndim,
					    shape, data),
			     p->by_halves                   ? "$0 - 128"
			     : node_input(p->dw, p->w_zero) ? "$0 - $1"
							    : "$0",
			     p->dw, of, 2);
}

/* Describes for the user how the bias was computed: from the stored bias, or
 * the bias b in units of the sum, plus the products of x's zero point. */
static struct tensor *
describe_bias(struct graph *g, const struct node *n, const struct product *p,
	      struct tensor *t)
{
	const char *scaled = "round($0 / ($1 * $2))";
	const char *form = folded_zero(p) == 0 ? "$0" : "$0 - $1 * sum($2)";
	struct tensor *in[3] = { node_input(n, 2), parameter_of(g, p->dx, 1),
				 parameter_of(g, p->dw, 1) };

	if (!p->bias.units) {
		form = folded_zero(p) == 0 ? "0" : "-$1 * sum($2)";
	} else if (p->bias.dequantize && !p->bias.rescaled) {
		in[0] = parameter_of(g, p->bias.dequantize, 0);
	} else {
		in[0] = graph_describe(g, scaled, NULL, in, 3);
	}
	in[1] = parameter_of(g, p->dx, p->x_zero);
	in[2] = p->w;
	return graph_made_of(g, t, form, NULL, in, 3);
}

static struct tensor *
make_bias(struct graph *g, const struct node *n, const struct product *p)
{
	struct arena *a = &g->module->arena;
	int32_t *data = arena_array(a, int32_t, p->channels);
	const char *base = arena_printf(a, "%s.bias", n->outputs[0]->name);

	for (int64_t i = 0; i < p->channels; i++) {
		/* sums of ConvInteger and MatMulInteger wrap */
		data[i] = (int32_t)(uint32_t)(int64_t)moved_bias(p, i);
	}
	return describe_bias(g, n, p,
			     graph_constant(g, base, dtype_of(DT_I32), 1,
					    &p->channels, data));
}

/* By output channel: the factor by which the sum becomes the result, sx * sw /
 * sy. TFLite multiplies the scales of fully connected layers in float. */
static double *
make_scale(struct graph *g, const struct product *p)
{
	double *scale = arena_array(&g->module->arena, double, p->channels);
	double sx = p->qx.scale[0], sy = p->end.q.scale[0];

	for (int64_t i = 0; i < p->channels; i++) {
		double sw = weight_scale(p, i);

		scale[i] = (g->settings->fixed_point && !p->is_conv
				    ? (double)(float)(sx * sw)
				    : sx * sw) /
			   sy;
	}
	return scale;
}

static void
describe_factors(struct graph *g, const struct product *p,
		 const struct node *requantize)
{
	static const char *const forms[] = {
		"$0 * $1 / $2",
		"multiplier($0 * $1 / $2)",
		"exponent($0 * $1 / $2)",
	};
	struct tensor *in[3] = { parameter_of(g, p->dx, 1),
				 parameter_of(g, p->dw, 1),
				 parameter_of(g, p->end.quantize, 1) };

	for (int i = 1; i < requantize->n_inputs; i++) {
		graph_made_of(g, requantize->inputs[i],
			      forms[g->settings->fixed_point ? i : 0], NULL, in,
			      3);
	}
}

/* The constant w, [n][k], transposed to [k][n]. */
static struct tensor *
transposed(struct graph *g, struct tensor *w)
{
	struct node *n = insert_node(g, NULL, "Transpose", w->name, &w, 1);

	return finish_constant(g, n);
}

/* -- first layers: few channels -- */

enum { FEW_CHANNELS = 16 };

/* The number of channels to add so that dot products are full. 0 if adding them
 * would cost time. It costs no time if the node that quantizes the input does
 * so for n alone. */
static int64_t
missing_channels(const struct graph *g, const struct node *n,
		 const struct product *p)
{
	const struct node *q = p->x->producer;
	int depth = g->settings->byte_depth;
	int64_t channels;

	if (depth == 0 || !node_is(n, "Conv") || p->x->ndim != 4 ||
	    !dtype_equal(p->x->type, dtype_of(g->settings->byte_type)) ||
	    p->x->type.kind != DT_U8 || p->w->type.kind != DT_I8 ||
	    node_attr_int(n, "group", 1) != 1 || !q ||
	    !node_is(q, "QuantizeLinear") || !sole_user(p->x) ||
	    !sole_user(n->inputs[0]) || q->inputs[1]->ndim > 0 ||
	    !expr_is_int(p->x->shape[1], &channels) ||
	    channels >= FEW_CHANNELS) {
		return 0;
	}
	return (depth - channels % depth) % depth;
}

/* The weights with zero weights for `more` input channels added. */
static struct tensor *
pad_weights(struct graph *g, const struct product *p, int64_t more)
{
	const struct value *v = tensor_value(g, p->w);
	int64_t shape[4], old, new;
	int8_t *data;

	for (int d = 0; v && d < 4; d++) {
		expr_is_int(p->w->shape[d], &shape[d]);
	}
	if (!v) {
		return NULL;
	}
	old = shape[1] * shape[2] * shape[3];
	shape[1] += more;
	new = shape[1] * shape[2] * shape[3];
	data = arena_array(&g->module->arena, int8_t, shape[0] * new);
	for (int64_t i = 0; i < shape[0] * old; i++) {
		data[i / old * new + i % old] = (int8_t)element(v, i);
	}
	return graph_made_of(g,
			     graph_constant(g, p->w->name, p->w->type, 4, shape,
					    data),
			     "$0, channels of zeros behind", NULL, &p->w, 1);
}

/* Pads the float tensor that is quantized to x by `more` channels of zeros, and
 * the weights accordingly. False after a diagnostic. */
static bool
pad_channels(struct graph *g, struct product *p, int64_t more)
{
	const int64_t pads[8] = { [5] = more };
	struct node *q = p->x->producer;
	struct tensor *x = insert_pad(g, q, q->inputs[0], pads, NULL);

	p->w = pad_weights(g, p, more);
	if (!p->w || !x) {
		return false;
	}
	node_set_input(q, 0, x);
	return ops_infer_node(g, q);
}

static bool
is_conv_attr(const char *name)
{
	return strcmp(name, "transB") != 0 && strcmp(name, "transA") != 0 &&
	       strcmp(name, "alpha") != 0 && strcmp(name, "beta") != 0;
}

bool
integers_product(struct graph *g, struct node *n)
{
	struct product p;
	struct tensor *in[3];
	struct node *sum, *made;

	if (!read_product(g, n, &p)) {
		return g->module->diags.n_errors == 0;
	}
	if (!read_weights(g, &p)) {
		return false;
	}
	if (!sums_fit(&p)) {
		/* the bias is not a whole number of units, so it needs a
		 * float */
		return true;
	}
	move_weights(g, &p);
	if (missing_channels(g, n, &p) > 0 &&
	    !pad_channels(g, &p, missing_channels(g, n, &p))) {
		return false;
	}
	in[0] = p.x;
	in[1] = p.w;
	in[2] = make_bias(g, n, &p);
	if (!p.is_conv && p.by_rows) {
		in[1] = transposed(g, p.w);
	}
	if (!in[1]) {
		return false;
	}
	sum = insert_internal(g, n, p.is_conv ? n->op_type : "MatMul",
			      arena_printf(&g->module->arena, "%s.sum",
					   n->outputs[0]->name),
			      in, 3);
	sum->name = n->name;
	for (int i = 0; i < n->attrs.n; i++) {
		if (is_conv_attr(n->attrs.data[i].name)) {
			node_set_attr(g, sum, &n->attrs.data[i]);
		}
	}
	if (p.is_conv) {
		node_set_attr_int(g, sum, p.transposed ? "x_zero" : "outside",
				  (int64_t)p.qx.zero[0]);
	}
	if (!ops_infer_node(g, sum)) {
		return false;
	}
	made = insert_requantize(g, &p.end, sum->outputs[0], make_scale(g, &p),
				 p.channels,
				 p.is_conv ? 1 : n->outputs[0]->ndim - 1);
	describe_factors(g, &p, made);
	record_absorbed_dequantize(g, n->inputs[0], sum);
	record_absorbed_dequantize(g, n->inputs[1], NULL);
	if (p.bias.dequantize) {
		record_absorbed_dequantize(g, n->inputs[2], NULL);
	}
	return finish_quantized(g, n, &p.end, made);
}

/* -- sums without scales: ConvInteger, MatMulInteger -- */

/* Sets *q to the zero points in input i of n, where input 2 has those of x and
 * input 3 those of the weights. The zero points are 0 if the input is absent,
 * or if i is 2 and the input is not constant. False if an input that is not
 * constant is not a scalar, or if a constant has more than one dimension or is
 * large. The zero points of the weights must be constant. */
static bool
read_zero(struct graph *g, const struct node *n, int i, struct quantization *q)
{
	struct tensor *t = node_input(n, i);

	*q = (struct quantization){ .n = 1, .axis = n->inputs[1]->ndim == 2 };
	q->zero = arena_array(&g->module->arena, double, 1);
	if (!t || (i == 2 && !tensor_is_constant(t))) {
		return !t || t->ndim == 0;
	}
	q->zero = t->ndim <= 1 ? constant_doubles(g, t, &q->n) : NULL;
	return q->zero != NULL;
}

/* Do the weights minus their zero points fit in signed bytes? */
static bool
weights_are_signed(const struct value *v, const struct product *p)
{
	for (int64_t i = 0; i < p->channels * p->depth; i++) {
		int64_t w = element(v, i) - weight_zero(p, channel_of(p, i));

		if (w < -128 || w > 127) {
			return false;
		}
	}
	return true;
}

/* Is it correct and worthwhile to subtract 128 from unsigned weights? The
 * target has to multiply x's type by signed bytes; all partial sums of both
 * products have to fit in int32; there must be only one group, because each
 * group would need a separate sum of x; and there must be enough output
 * channels, because for few channels the sum of x takes as long as the
 * product. */
static bool
halves_fit(const struct graph *g, const struct node *n, const struct product *p)
{
	if (g->settings->byte_depth == 0 ||
	    p->x->type.kind != g->settings->byte_type) {
		return false;
	}
	return p->w->type.kind == DT_U8 && p->channels >= 8 &&
	       node_attr_int(n, "group", 1) == 1 &&
	       p->depth < INT32_MAX / (2 * 255 * 255);
}

/* Can the weights become signed bytes? Sets p->by_halves if 128 is subtracted,
 * not their zero points. Other weights are not changed: the target may have an
 * instruction for products of unsigned bytes. */
static bool
choose_signed(struct graph *g, const struct node *n, struct product *p)
{
	const struct value *v = tensor_value(g, p->w);

	if (v == NULL) {
		return false;
	}
	p->by_halves = !weights_are_signed(v, p);
	return !p->by_halves || halves_fit(g, n, p);
}

/* Is the zero point of x known only at run time? Then it cannot be folded into
 * constants. */
static bool
moves_zero(const struct node *n)
{
	return node_input(n, 2) && !tensor_is_constant(n->inputs[2]);
}

static bool
read_sum(struct graph *g, const struct node *n, struct product *p)
{
	bool conv = node_is(n, "ConvInteger");

	*p = (struct product){ .is_conv = conv,
			       .by_rows = conv,
			       .x = n->inputs[0],
			       .w = n->inputs[1],
			       .dx = n,
			       .dw = n,
			       .x_zero = 2,
			       .w_zero = 3 };
	if (conv && moves_zero(n) &&
	    strcmp(node_attr_string(n, "auto_pad", "NOTSET"), "NOTSET") != 0) {
		return false;
	}
	return is_byte(p->x) && p->x->ndim > 1 && read_zero(g, n, 2, &p->qx) &&
	       p->qx.n == 1 && read_zero(g, n, 3, &p->qw) && weights_fit(p) &&
	       choose_signed(g, n, p);
}

/* Inserts a Pad of x with its zero point, which is known only at run time, in
 * place of n's padding. */
static struct tensor *
pad_with_zero(struct graph *g, const struct node *n, struct tensor *x)
{
	const int64_t *pads;
	int count = node_attr_ints(n, "pads", &pads), rank = x->ndim;
	int64_t *all = arena_array(&g->module->arena, int64_t, 2 * rank);

	for (int i = 0; i < count; i++) {
		all[i < count / 2 ? 2 + i : 4 + i] = pads[i];
	}
	return insert_pad(g, n, x, all, n->inputs[2]);
}

/* Inserts nodes that compute -zero * (the sums of the weights), for a zero
 * point of x that is known only at run time. Returns the result; NULL after a
 * diagnostic. */
static struct tensor *
make_moving_bias(struct graph *g, const struct node *n, const struct product *p)
{
	struct arena *a = &g->module->arena;
	int32_t *sums = arena_array(a, int32_t, p->channels);
	struct tensor *in[2], *of[1] = { p->w };
	struct node *cast = insert_node(g, n, "Cast", n->inputs[2]->name,
					&n->inputs[2], 1),
		    *mul;

	for (int64_t i = 0; i < p->channels; i++) {
		sums[i] = (int32_t)(uint32_t)-p->weights_sum[i];
	}
	node_set_attr_int(g, cast, "to", dtype_onnx_number(dtype_of(DT_I32)));
	in[0] = cast->outputs[0];
	in[1] = graph_made_of(g,
			      graph_constant(g, "sums", dtype_of(DT_I32), 1,
					     &p->channels, sums),
			      "-sum($0)", NULL, of, 1);
	mul = insert_node(g, n, "Mul",
			  arena_printf(a, "%s.bias", n->outputs[0]->name), in,
			  2);
	return ops_infer_node(g, cast) && ops_infer_node(g, mul)
		       ? mul->outputs[0]
		       : NULL;
}

/* For weights from which HALF has been subtracted: inserts a product of x with
 * ones, whose result is the sums of x's elements, and multiplies these sums by
 * HALF - zw. Returns the result of the node `sum` plus these products; NULL
 * after a diagnostic. */
static struct tensor *
add_rest(struct graph *g, const struct node *n, const struct product *p,
	 const struct node *sum)
{
	struct arena *a = &g->module->arena;
	int64_t *shape = arena_array(a, int64_t, p->w->ndim + 1), none = 1;
	int8_t *ones = arena_array(a, int8_t, p->depth);
	int32_t *rest = arena_array(a, int32_t, p->channels);
	int32_t *zero = arena_array(a, int32_t, 1);
	int64_t *dims = arena_array(a, int64_t, p->w->ndim + 1);
	struct tensor *in[3] = { sum->inputs[0] }, *two[2];
	struct node *of_ones, *product, *added;

	memset(ones, 1, (size_t)p->depth);
	for (int d = 0; d < p->w->ndim; d++) {
		expr_is_int(p->w->shape[d], &shape[d]);
		dims[d] = 1;
	}
	shape[p->is_conv ? 0 : 1] = 1;
	for (int64_t c = 0; c < p->channels; c++) {
		rest[c] = (int32_t)(HALF - weight_zero(p, c));
	}
	in[1] = graph_constant(g, "ones", dtype_of(DT_I8), p->w->ndim, shape,
			       ones);
	in[2] = graph_constant(g, "no_bias", dtype_of(DT_I32), 1, &none, zero);
	of_ones = insert_internal(g, n, sum->op_type,
				  arena_printf(a, "%s.ones",
					       n->outputs[0]->name),
				  in, 3);
	for (int i = 0; i < sum->attrs.n; i++) {
		node_set_attr(g, of_ones, &sum->attrs.data[i]);
	}
	dims[p->is_conv ? 0 : 1] = p->channels;
	two[0] = of_ones->outputs[0];
	two[1] = graph_constant(g, "rest", dtype_of(DT_I32),
				p->is_conv ? p->w->ndim - 1 : 1,
				p->is_conv ? dims : &p->channels, rest);
	product = insert_node(g, n, "Mul",
			      arena_printf(a, "%s.rest", n->outputs[0]->name),
			      two, 2);
	two[0] = sum->outputs[0];
	two[1] = product->outputs[0];
	added = insert_node(g, n, "Add", n->outputs[0]->name, two, 2);
	return ops_infer_node(g, of_ones) && ops_infer_node(g, product) &&
			       ops_infer_node(g, added)
		       ? added->outputs[0]
		       : NULL;
}

bool
integers_sum(struct graph *g, struct node *n)
{
	bool moves = moves_zero(n);
	struct product p;
	struct tensor *in[3], *result;
	struct node *sum;
	const int64_t *pads;

	if (!read_sum(g, n, &p)) {
		return g->module->diags.n_errors == 0;
	}
	if (!read_weights(g, &p)) {
		return false;
	}
	move_weights(g, &p);
	in[0] = moves && node_attr_ints(n, "pads", &pads) > 0
			? pad_with_zero(g, n, p.x)
			: p.x;
	in[1] = p.w;
	in[2] = moves ? make_moving_bias(g, n, &p) : make_bias(g, n, &p);
	if (!in[0] || !in[2]) {
		return false;
	}
	sum = insert_internal(g, n, p.is_conv ? "Conv" : "MatMul",
			      n->outputs[0]->name, in, 3);
	sum->name = n->name;
	for (int i = 0; i < n->attrs.n; i++) {
		if (!moves || strcmp(n->attrs.data[i].name, "pads") != 0) {
			node_set_attr(g, sum, &n->attrs.data[i]);
		}
	}
	if (p.is_conv) {
		node_set_attr_int(g, sum, "outside", (int64_t)p.qx.zero[0]);
	}
	if (!ops_infer_node(g, sum)) {
		return false;
	}
	result = p.by_halves ? add_rest(g, n, &p, sum) : sum->outputs[0];
	if (result == NULL) {
		return false;
	}
	graph_note(g, n, "integers", "zero points are in its constants");
	graph_absorb(sum, n);
	graph_replace_uses(g, n->outputs[0], result);
	graph_remove_node(g, n, "integers", "");
	return true;
}
