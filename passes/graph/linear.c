/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites quantized products with constant parameters to the form with
 * QuantizeLinear and DequantizeLinear that the passes `signs` and `integers`
 * expect:
 *
 *	                                      a = DequantizeLinear (x, sx, zx)
 *	                                      k = DequantizeLinear (w, sw, zw)
 *	y = QLinearConv (x, sx, zx,     ->    c = DequantizeLinear (b, sx * sw)
 *	    w, sw, zw, sy, zy, b)             s = Conv (a, k, c)
 *	                                      y = QuantizeLinear (s, sy, zy)
 *
 * QLinearMatMul is rewritten in the same way. Products whose parameters are not
 * constant are not changed: the later pass `integers` could not rewrite them,
 * so that they would be computed in floats. */
#include "quantization.h"

#include <math.h>

#define BIAS_MAX 0x1p24

/* Indices of inputs: x, its scale and its zero point from X on; w with its
 * scale and zero point from W on; the scale and the zero point of y from
 * Y_SCALE on; the bias. */
enum { X = 0, W = 3, Y_SCALE = 6, BIAS = 8 };

static bool
is_parameter(struct graph *g, struct tensor *t, int64_t *n)
{
	const double *v;

	if (!t || !tensor_is_constant(t) || t->ndim > 1) {
		return false;
	}
	v = constant_doubles(g, t, n);
	return v != NULL;
}

/* Are the scale, input i, and the zero point after it constants with the same
 * number of elements, 1 or `channels`, and are the scales float32 and plain
 * (scales_are_plain)? */
static bool
has_parameters(struct graph *g, const struct node *n, int i, int64_t channels)
{
	int64_t scales, zeros;

	return is_parameter(g, n->inputs[i], &scales) &&
	       scales_are_plain(constant_doubles(g, n->inputs[i], &scales),
				scales) &&
	       is_parameter(g, n->inputs[i + 1], &zeros) &&
	       n->inputs[i]->type.kind == DT_F32 && scales == zeros &&
	       (scales == 1 || scales == channels);
}

/* sx * sw for each output channel. */
static double *
bias_scales(struct graph *g, const struct node *n, int64_t *count)
{
	const double *x = constant_doubles(g, n->inputs[X + 1], count);
	double *w = constant_doubles(g, n->inputs[W + 1], count);

	for (int64_t i = 0; i < *count; i++) {
		w[i] *= x[0];
	}
	return w;
}

/* Has n no bias, or a constant one for which floats represent the bias and its
 * scales exactly? QLinearConv adds a larger bias to the integer sum, without
 * rounding. */
static bool
has_bias(struct graph *g, const struct node *n)
{
	struct tensor *bias = node_input(n, BIAS);
	int64_t count;
	const double *scale, *units;

	if (!bias) {
		return true;
	}
	units = tensor_is_constant(bias) ? constant_doubles(g, bias, &count)
					 : NULL;
	if (!units) {
		return false;
	}
	for (int64_t i = 0; i < count; i++) {
		if (fabs(units[i]) > BIAS_MAX) {
			return false;
		}
	}
	scale = bias_scales(g, n, &count);
	for (int64_t i = 0; i < count; i++) {
		if (!(scale[i] > 1e-30 && scale[i] < 1e30)) {
			return false;
		}
	}
	return true;
}

static bool
becomes_integers(struct graph *g, const struct node *n)
{
	bool conv = node_is(n, "QLinearConv");
	const struct tensor *x, *w;
	int64_t channels, size;

	if ((!conv && !node_is(n, "QLinearMatMul")) || n->match) {
		return false;
	}
	x = n->inputs[X];
	w = n->inputs[W];
	if (!is_byte(x) || !is_byte(w) || !is_byte(n->outputs[0]) ||
	    !tensor_is_constant(w) || x->ndim < 2 ||
	    (conv ? w->ndim < 3 : w->ndim != 2) ||
	    !expr_is_int(w->shape[conv ? 0 : 1], &channels) || channels < 1) {
		return false;
	}
	for (int d = 0; d < w->ndim; d++) {
		if (!expr_is_int(w->shape[d], &size) || size < 1) {
			return false;
		}
	}
	return has_parameters(g, n, X + 1, 1) &&
	       has_parameters(g, n, W + 1, channels) &&
	       has_parameters(g, n, Y_SCALE, 1) && has_bias(g, n);
}

static struct tensor *
dequantize(struct graph *g, const struct node *n, struct tensor *const *in,
	   int n_in, int axis)
{
	struct node *made = insert_node(g, n, "DequantizeLinear",
					arena_printf(&g->module->arena,
						     "%s.real", in[0]->name),
					in, n_in);

	node_set_attr_int(g, made, "axis", axis);
	return ops_infer_node(g, made) ? made->outputs[0] : NULL;
}

static struct tensor *
dequantize_bias(struct graph *g, const struct node *n)
{
	int64_t count;
	const double *scale = bias_scales(g, n, &count);
	struct tensor *in[2] = { n->inputs[BIAS], NULL };

	in[1] = constant_floats(g, "bias_scale", dtype_of(DT_F32),
				n->inputs[W + 1]->ndim, &count, scale);
	return dequantize(g, n, in, 2, 0);
}

/* Replaces n by a product of floats and a node that quantizes the product's
 * result. */
static bool
replace(struct graph *g, struct node *n)
{
	bool conv = node_is(n, "QLinearConv");
	bool biased = node_input(n, BIAS) != NULL;
	struct tensor *in[3], *result[3];
	struct node *product, *quantize;

	in[0] = dequantize(g, n, n->inputs + X, 3, 0);
	in[1] = dequantize(g, n, n->inputs + W, 3, conv ? 0 : 1);
	in[2] = biased ? dequantize_bias(g, n) : NULL;
	if (!in[0] || !in[1] || (biased && !in[2])) {
		return false;
	}
	product = insert_node(g, n, conv ? "Conv" : "MatMul",
			      arena_printf(&g->module->arena, "%s.real",
					   n->outputs[0]->name),
			      in, biased ? 3 : 2);
	product->name = n->name;
	node_copy_attrs(g, product, n);
	result[0] = product->outputs[0];
	result[1] = n->inputs[Y_SCALE];
	result[2] = n->inputs[Y_SCALE + 1];
	quantize = insert_node(g, n, "QuantizeLinear", n->outputs[0]->name,
			       result, 3);
	if (!ops_infer_node(g, product) || !ops_infer_node(g, quantize)) {
		return false;
	}
	graph_absorb(quantize, n);
	graph_replace_uses(g, n->outputs[0], quantize->outputs[0]);
	graph_remove_node(g, n, "linear", "");
	return true;
}

bool
graph_linear(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (becomes_integers(g, n) && !replace(g, n)) {
			return false;
		}
	}
	return true;
}
