/* SPDX-License-Identifier: Apache-2.0 */
/* The pass `integers`: integer arithmetic for operators between
 * DequantizeLinear and QuantizeLinear. Products are in integers_product.c; here
 * are operators that move elements unchanged (MaxPool, Concat), averages and,
 * in fixed-point mode, elementwise arithmetic:
 *
 *	a = DequantizeLinear (x, s)
 *	p = MaxPool (a)           ->     y = MaxPool (x)
 *	y = QuantizeLinear (p, s)
 *
 * Elementwise arithmetic and most averages between the two stay in float, as
 * ONNX specifies. In fixed-point mode (TFLite's) they become integer operators:
 *
 *	a = DequantizeLinear (x, sx)
 *	b = DequantizeLinear (w, sw)
 *	c = Add (a, b)            ->     y = tirc.Add (x, w)
 *	r = Relu (c)
 *	y = QuantizeLinear (r, sy) */
#include "integers.h"

/* -- pools -- */

static bool
is_unpadded(const struct node *n)
{
	const char *automatic = node_attr_string(n, "auto_pad", "NOTSET");
	const int64_t *pads;
	int count = node_attr_ints(n, "pads", &pads);

	for (int i = 0; i < count; i++) {
		if (pads[i] != 0) {
			return false;
		}
	}
	return strcmp(automatic, "NOTSET") == 0 &&
	       node_attr_int(n, "ceil_mode", 0) == 0;
}

/* Gives an average over the whole image the window of an average pool. */
static bool
set_global_window(struct graph *g, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t *size = arena_array(&g->module->arena, int64_t, x->ndim + 1);

	for (int d = 2; d < x->ndim; d++) {
		if (!expr_is_int(x->shape[d], &size[d - 2])) {
			return false;
		}
	}
	node_set_attr_ints(g, n, "kernel_shape", size, x->ndim - 2);
	return true;
}

static bool
has_constant_space(const struct tensor *x)
{
	int64_t size;

	for (int d = 2; d < x->ndim; d++) {
		if (!expr_is_int(x->shape[d], &size)) {
			return false;
		}
	}
	return x->ndim > 2;
}

/* Does ONNX's average in float32 round to the integer nearest to the exact
 * average, for all bytes and all orders of the sum? The average of an odd
 * number of integers is at least 1 / (2 count) from the middle of two integers.
 * Each term is at most 255 scales; its product with the scale, the sums and the
 * two divisions have a relative error of at most (count + 8) / 2^24 together
 * (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), so that the
 * result is off by 255 (count + 8) / 2^24. */
static bool
float_average_is_exact(const struct tensor *y, double scale, int64_t count)
{
	return y->type.kind == DT_F32 && scale > 1e-30 && scale < 1e30 &&
	       count % 2 == 1 && count < 4096 &&
	       255 * (count + 8) * 2 * count < (1 << 24) / 100 * 99;
}

/* Rewrites an average pool of bytes whose input and output have equal scales to
 * the average of the stored integers, rounded half away from zero: in ONNX mode
 * only for small odd counts, since with other counts ties are common, and the
 * float sum decides how they are rounded. Other pools are not changed. False
 * after a failure. */
static bool
fixed_average(struct graph *g, struct node *n)
{
	bool global = node_is(n, "GlobalAveragePool");
	struct quantization q;
	struct quantized_epilogue end;
	struct tensor *x = dequantized(g, n->inputs[0], &q);
	struct node *sum, *made;
	int64_t count;
	double scale = 1;

	if (!x || !is_byte(x) ||
	    !(global ? has_constant_space(x) : is_unpadded(n)) ||
	    !find_quantized_epilogue(g, n, &end) ||
	    !is_byte(end.quantize->outputs[0]) ||
	    !quantization_equal(&q, &end.q)) {
		return true;
	}
	count = pool_window_elems(n);
	if (!g->settings->fixed_point &&
	    !float_average_is_exact(n->outputs[0], q.scale[0], count)) {
		return true;
	}
	sum = insert_internal(g, n, "SumPool",
			      arena_printf(&g->module->arena, "%s.sum",
					   n->outputs[0]->name),
			      &x, 1);
	sum->name = n->name;
	node_copy_attrs(g, sum, n);
	if (global && !set_global_window(g, sum)) {
		return false;
	}
	if (!ops_infer_node(g, sum)) {
		return false;
	}
	made = insert_requantize(g, &end, sum->outputs[0], &scale, 1, 1);
	node_resize_inputs(made, 1);
	node_set_attr_string(g, made, "rounding", "average");
	node_set_attr_int(g, made, "count", count);
	/* TFLite rounds the average of the numbers as they are in the model:
	 * for numbers that the pass `signs` has moved by 128, halves would be
	 * rounded in the other direction. */
	node_set_attr_int(g, made, "offset", -x->stored_offset * count);
	node_set_attr_int(g, made, "zero", x->stored_offset);
	record_absorbed_dequantize(g, n->inputs[0], made);
	graph_share_origins(sum, made);
	return finish_quantized(g, n, &end, made);
}

/* -- operators that move elements -- */

static bool
integer_max_pool(struct graph *g, struct node *n)
{
	struct quantization q;
	struct quantized_epilogue end;
	struct tensor *x = dequantized(g, n->inputs[0], &q);
	struct node *made;

	if (!x || q.n != 1 || !is_byte_or_short(x) ||
	    !find_quantized_epilogue(g, n, &end) || end.n_bounds > 0 ||
	    !quantization_equal(&q, &end.q) ||
	    !dtype_equal(x->type, end.quantize->outputs[0]->type)) {
		return true;
	}
	made = insert_node(g, n, "MaxPool", n->outputs[0]->name, &x, 1);
	made->name = n->name;
	node_copy_attrs(g, made, n);
	record_absorbed_dequantize(g, n->inputs[0], made);
	return finish_quantized(g, n, &end, made);
}

/* A Concat of the stored integers, each input converted to the scale of the
 * result. */
static bool
integer_concat(struct graph *g, struct node *n)
{
	struct quantization q;
	struct quantized_epilogue end;
	struct tensor **in = arena_array(&g->module->arena, struct tensor *,
					 n->n_inputs + 1);
	struct node *made;

	if (!find_quantized_epilogue(g, n, &end) || end.n_bounds > 0) {
		return true;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		in[i] = dequantized(g, n->inputs[i], &q);
		if (!in[i] || q.n != 1 || !is_byte_or_short(in[i])) {
			return true;
		}
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *part[3] = { n->inputs[i],
					   end.quantize->inputs[1],
					   node_input(end.quantize, 2) };

		dequantized(g, n->inputs[i], &q);
		if (quantization_equal(&q, &end.q) &&
		    dtype_equal(in[i]->type, end.quantize->outputs[0]->type)) {
			continue;
		}
		made = insert_node(g, n, "QuantizeLinear", in[i]->name, part,
				   part[2] ? 3 : 2);
		node_copy_attrs(g, made, end.quantize);
		graph_share_origins(made, end.quantize);
		if (!ops_infer_node(g, made)) {
			return false;
		}
		in[i] = made->outputs[0];
	}
	made = insert_node(g, n, "Concat", n->outputs[0]->name, in,
			   n->n_inputs);
	made->name = n->name;
	node_copy_attrs(g, made, n);
	for (int i = 0; i < n->n_inputs; i++) {
		/* Applies only to inputs that are not requantized. */
		if (n->inputs[i]->producer->inputs[0] == in[i]) {
			record_absorbed_dequantize(g, n->inputs[i], made);
		}
	}
	return finish_quantized(g, n, &end, made);
}

/* -- TFLite's arithmetic element by element -- */

static void
set_fixed(struct graph *g, struct node *n, const char *which, double real)
{
	struct arena *a = &g->module->arena;
	int64_t multiplier, exponent;

	fixed_point(real, &multiplier, &exponent);
	node_set_attr_int(g, n, arena_printf(a, "%s_multiplier", which),
			  multiplier);
	node_set_attr_int(g, n, arena_printf(a, "%s_exponent", which),
			  exponent);
}

static bool
fixed_binary(struct graph *g, struct node *n)
{
	struct quantization a, b;
	struct quantized_epilogue end;
	struct tensor *in[2] = { dequantized(g, n->inputs[0], &a),
				 dequantized(g, n->inputs[1], &b) };
	struct node *made;
	double twice, y;
	int64_t multiplier, exponent;

	if (!in[0] || !in[1] || a.n != 1 || b.n != 1 || !is_byte(in[0]) ||
	    !is_byte(in[1]) || !find_quantized_epilogue(g, n, &end) ||
	    !is_byte(end.quantize->outputs[0])) {
		return true;
	}
	twice = 2 * (a.scale[0] > b.scale[0] ? a.scale[0] : b.scale[0]);
	y = node_is(n, "Mul") ? a.scale[0] * b.scale[0] / end.q.scale[0]
			      : twice / ((1 << 20) * end.q.scale[0]);
	if (!fixed_point(y, &multiplier, &exponent)) {
		return true;
	}
	made = insert_internal(g, end.quantize, n->op_type, n->outputs[0]->name,
			       in, 2);
	made->name = n->name;
	node_set_attr_int(g, made, "to",
			  end.quantize->outputs[0]->type.kind == DT_U8 ? 2 : 3);
	node_set_attr_int(g, made, "a_zero", (int64_t)a.zero[0]);
	node_set_attr_int(g, made, "b_zero", (int64_t)b.zero[0]);
	node_set_attr_int(g, made, "zero", (int64_t)end.q.zero[0]);
	node_set_attr_int(g, made, "low", end.low);
	node_set_attr_int(g, made, "high", end.high);
	if (!node_is(n, "Mul")) {
		set_fixed(g, made, "a", a.scale[0] / twice);
		set_fixed(g, made, "b", b.scale[0] / twice);
	}
	set_fixed(g, made, "y", y);
	record_absorbed_dequantize(g, n->inputs[0], made);
	record_absorbed_dequantize(g, n->inputs[1], made);
	return finish_quantized(g, n, &end, made);
}

/* Rewrites n, which converts a quantized tensor to another scale, to integer
 * arithmetic. False after a diagnostic. */
static bool
fixed_rescale(struct graph *g, struct node *n)
{
	struct quantization from;
	struct quantized_epilogue end = { .quantize = n };
	struct tensor *x = dequantized(g, n->inputs[0], &from);
	struct node *made;
	double scale;

	if (!x || from.n != 1 || !is_byte(x) || !is_byte(n->outputs[0]) ||
	    !quantization_of(g, n, &end.q) || end.q.n != 1 ||
	    (quantization_equal(&from, &end.q) &&
	     dtype_equal(x->type, n->outputs[0]->type))) {
		return true;
	}
	end.low = n->outputs[0]->type.kind == DT_U8 ? 0 : -128;
	end.high = end.low + 255;
	scale = from.scale[0] / end.q.scale[0];
	made = insert_requantize(g, &end, x, &scale, 1, 1);
	node_set_attr_int(g, made, "offset", -(int64_t)from.zero[0]);
	if (!ops_infer_node(g, made)) {
		return false;
	}
	record_absorbed_dequantize(g, n->inputs[0], made);
	graph_note(g, n, "integers", "computed with the stored integers");
	graph_absorb(made, n);
	graph_replace_uses(g, n->outputs[0], made->outputs[0]);
	graph_remove_node(g, n, "integers", "");
	return true;
}

static bool
visit(struct graph *g, struct node *n)
{
	if (node_is(n, "Conv") || node_is(n, "ConvTranspose") ||
	    node_is(n, "Gemm") || node_is(n, "MatMul")) {
		return integers_product(g, n);
	}
	if (node_is(n, "ConvInteger") || node_is(n, "MatMulInteger")) {
		return integers_sum(g, n);
	}
	if ((g->settings->fixed_point || g->settings->slow_floats) &&
	    (node_is(n, "AveragePool") || node_is(n, "GlobalAveragePool"))) {
		return fixed_average(g, n);
	}
	if (node_is(n, "MaxPool")) {
		return integer_max_pool(g, n);
	}
	if (node_is(n, "Concat")) {
		return integer_concat(g, n);
	}
	if (g->settings->fixed_point &&
	    (node_is(n, "Add") || node_is(n, "Mul"))) {
		return fixed_binary(g, n);
	}
	if (g->settings->fixed_point && node_is(n, "QuantizeLinear")) {
		return fixed_rescale(g, n);
	}
	return true;
}

bool
graph_integers(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		int before = g->edits;

		if (!visit(g, g->nodes.data[i])) {
			return false;
		}
		if (g->edits != before) {
			i = i > 0 ? i - 1 : 0;
		}
	}
	return true;
}
