/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft on quantized tensors become the operator on floats
 * between DequantizeLinear and QuantizeLinear. The pass "integers" converts
 * this form to integer arithmetic.
 *
 *	before	y = com.microsoft.QLinearAdd(a, sa, za, b, sb, zb, sy, zy)
 *	after	y_a = DequantizeLinear(a, sa, za)
 *		y_b = DequantizeLinear(b, sb, zb)
 *		y_sum = Add(y_a, y_b)
 *		y = QuantizeLinear(y_sum, sy, zy)
 */
#include "compose.h"

/* Input i, dequantized with its scale (input i + 1) and zero point (input i +
 * 2). */
static struct tensor *
real(struct compose *c, const char *what, int i)
{
	return compose_node(c, what, "DequantizeLinear", 3, compose_input(c, i),
			    compose_input(c, i + 1), compose_input(c, i + 2));
}

/* Makes y, quantized, result 0: with the scale in input `scale` and the zero
 * point in the input after it. Without a zero point, the result has the type of
 * input x. */
static void
quantize_like(struct compose *c, struct tensor *y, int scale, int x)
{
	struct tensor *zero = compose_input(c, scale + 1);

	if (!zero) {
		compose_set_int(c, "output_dtype",
				dtype_onnx_number(compose_input(c, x)->type));
	}
	compose_result(c, 0,
		       compose_node(c, "quantized", "QuantizeLinear", 3, y,
				    compose_input(c, scale), zero));
}

static void
quantize(struct compose *c, struct tensor *y, int scale)
{
	quantize_like(c, y, scale, 0);
}

static bool
binary(struct compose *c, const char *op_type)
{
	struct tensor *a;

	if (!compose_needs(c, 5, 0, 1, 3, 4, 6)) {
		return false;
	}
	a = real(c, "a", 0);
	quantize(c, compose_2(c, "real", op_type, a, real(c, "b", 3)), 6);
	return true;
}

bool
compose_qlinear_add(struct compose *c)
{
	return binary(c, "Add");
}

bool
compose_qlinear_mul(struct compose *c)
{
	return binary(c, "Mul");
}

bool
compose_qlinear_sigmoid(struct compose *c)
{
	if (!compose_needs(c, 3, 0, 1, 3)) {
		return false;
	}
	quantize(c, compose_1(c, "real", "Sigmoid", real(c, "x", 0)), 3);
	return true;
}

bool
compose_qlinear_leaky_relu(struct compose *c)
{
	struct tensor *x;

	if (!compose_needs(c, 3, 0, 1, 3)) {
		return false;
	}
	x = real(c, "x", 0);
	compose_keep_attrs(c, "alpha");
	quantize(c, compose_1(c, "real", "LeakyRelu", x), 3);
	return true;
}

/* Softmax. Before opset 13, it is over all dimensions from `axis` on
 * together. */
bool
compose_qlinear_softmax(struct compose *c)
{
	int64_t opset = node_attr_int(c->node, "opset", 13);
	int64_t axis = node_attr_int(c->node, "axis", opset < 13 ? 1 : -1);
	struct tensor *x;

	if (!compose_needs(c, 3, 0, 1, 3)) {
		return false;
	}
	x = real(c, "x", 0);
	axis += axis < 0 ? x->ndim : 0;
	if (opset < 13 && axis != x->ndim - 1) {
		return compose_refuse(c,
				      "softmax of opset %lld over several "
				      "dimensions is not supported",
				      (long long)opset);
	}
	compose_set_int(c, "axis", axis);
	quantize(c, compose_1(c, "real", "Softmax", x), 3);
	return true;
}

bool
compose_qlinear_where(struct compose *c)
{
	struct tensor *x, *y;

	if (!compose_needs(c, 6, 0, 1, 2, 4, 5, 7)) {
		return false;
	}
	x = real(c, "x", 1);
	y = real(c, "y", 4);
	quantize_like(c,
		      compose_node(c, "real", "Where", 3, compose_input(c, 0),
				   x, y),
		      7, 1);
	return true;
}

static bool
pool(struct compose *c, const char *op_type, const char *attrs)
{
	bool last = node_attr_int(c->node, "channels_last", 0) != 0;
	struct tensor *x;

	if (!compose_needs(c, 3, 0, 1, 3)) {
		return false;
	}
	x = real(c, "x", 0);
	if (last) {
		x = compose_channels(c, "nchw", x, false);
	}
	compose_keep_attrs(c, attrs);
	x = compose_1(c, "real", op_type, x);
	quantize(c, last ? compose_channels(c, "nhwc", x, true) : x, 3);
	return true;
}

bool
compose_qlinear_global_pool(struct compose *c)
{
	return pool(c, "GlobalAveragePool", "");
}

bool
compose_qlinear_average_pool(struct compose *c)
{
	return pool(c, "AveragePool",
		    "auto_pad ceil_mode count_include_pad kernel_shape pads "
		    "strides");
}

bool
compose_qlinear_reduce_mean(struct compose *c)
{
	const int64_t *given;
	int n = node_attr_ints(c->node, "axes", &given);
	struct tensor *x, *axes = NULL;

	if (!compose_needs(c, 3, 0, 1, 3)) {
		return false;
	}
	x = real(c, "x", 0);
	if (n > 0) {
		axes = compose_ints(c, "axes", n, given);
	}
	compose_keep_attrs(c, "keepdims");
	quantize(c, compose_2(c, "real", "ReduceMean", x, axes), 3);
	return true;
}

/* Inputs: scale and zero point of the result, then each operand with its scale
 * and zero point. */
bool
compose_qlinear_concat(struct compose *c)
{
	static const char *const what = "real";
	int n = c->node->n_inputs / 3; /* the last zero point may be absent */
	struct tensor **parts = arena_array(&c->imp->tmp, struct tensor *,
					    n + 1);
	struct tensor *joined;

	if (n < 1 || c->node->n_inputs % 3 == 0) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "each of its tensors needs a scale and a "
				     "zero point; correct the model");
	}
	for (int i = 0; i < n; i++) {
		if (!compose_needs(c, 3, 0, 2 + 3 * i, 3 + 3 * i)) {
			return false;
		}
		parts[i] = real(c, "part", 2 + 3 * i);
	}
	compose_keep_attrs(c, "axis");
	compose_nodes(c, "", "Concat", parts, n, &what, 1, &joined);
	quantize_like(c, joined, 0, 2);
	return true;
}

/* -- products -- */

struct tensor *
compose_scaled_product(struct compose *c, struct tensor *a, struct tensor *b,
		       struct tensor *a_zero, struct tensor *b_zero,
		       struct tensor *a_scale, struct tensor *b_scale,
		       struct tensor *bias)
{
	struct tensor *y = compose_node(c, "sums", "MatMulInteger", 4, a, b,
					a_zero, b_zero);

	y = compose_cast(c, "floats", y, a_scale->type);
	y = compose_2(c, "scaled", "Mul", y,
		      compose_2(c, "scale", "Mul", a_scale, b_scale));
	return bias ? compose_2(c, "biased", "Add", y, bias) : y;
}

bool
compose_integer_to_float(struct compose *c)
{
	compose_result(c, 0,
		       compose_scaled_product(c, compose_input(c, 0),
					      compose_input(c, 1),
					      compose_input(c, 4),
					      compose_input(c, 5),
					      compose_input(c, 2),
					      compose_input(c, 3),
					      compose_input(c, 6)));
	return true;
}

bool
compose_dynamic_matmul(struct compose *c)
{
	static const char *const whats[] = { "bytes", "a_scale", "a_zero" };
	struct tensor *a = compose_input(c, 0), *out[3];

	compose_nodes(c, "", "DynamicQuantizeLinear", &a, 1, whats, 3, out);
	compose_result(c, 0,
		       compose_scaled_product(c, out[0], compose_input(c, 1),
					      out[2], compose_input(c, 3),
					      out[1], compose_input(c, 2),
					      compose_input(c, 4)));
	return true;
}

/* alpha * a * b + c, where c is quantized with scale(a) * scale(b). */
bool
compose_qgemm(struct compose *c)
{
	double alpha = node_attr_float(c->node, "alpha", 1);
	struct tensor *a = compose_input(c, 0), *b = compose_input(c, 3);
	struct tensor *a_scale = compose_input(c, 1), *y, *scale;
	struct tensor *bias = compose_input(c, 6);

	if (node_attr_int(c->node, "transA", 0) != 0) {
		a = compose_swap(c, "a", a, 0, 1);
	}
	if (node_attr_int(c->node, "transB", 0) != 0) {
		b = compose_swap(c, "b", b, 0, 1);
	}
	y = compose_node(c, "sums", "MatMulInteger", 4, a, b,
			 compose_input(c, 2), compose_input(c, 5));
	if (bias) {
		y = compose_2(c, "biased", "Add", y, bias);
	}
	scale = compose_2(c, "scale", "Mul", a_scale, compose_input(c, 4));
	if (alpha != 1) {
		scale = compose_with(c, "alpha", "Mul", scale, alpha);
	}
	y = compose_2(c, "real", "Mul",
		      compose_cast(c, "floats", y, a_scale->type), scale);
	if (compose_input(c, 7)) {
		quantize(c, y, 7);
	} else {
		compose_result(c, 0, y);
	}
	return true;
}

/* -- weights of fewer than 8 bits -- */

struct tensor *
compose_unpack(struct compose *c, struct tensor *x, int bits)
{
	struct tensor *parts[8], *all;
	static const char *const what = "numbers";
	const struct expr *shape[ONNX_MAX_RANK];
	const struct expr *bytes = compose_dim(c, x, -1);
	int n = 8 / bits;

	if (c->failed) {
		return c->stand_in;
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = x->shape[d];
	}
	shape[x->ndim - 1] = expr_mul(c->m, bytes, expr_index(c->m, n));
	for (int i = 0; i < n; i++) {
		struct tensor *part = x;

		if (i > 0) {
			compose_set_string(c, "direction", "RIGHT");
			part = compose_with(c, "shifted", "BitShift", part,
					    i * bits);
		}
		part = compose_with(c, "number", "BitwiseAnd", part,
				    (1 << bits) - 1);
		parts[i] = compose_unsqueeze(c, "column", part, -1);
	}
	compose_set_int(c, "axis", -1);
	compose_nodes(c, "", "Concat", parts, n, &what, 1, &all);
	return compose_reshape(c, "unpacked", all, x->ndim, shape);
}

/* The zero points as floats, [rows][blocks]. Integers are packed in bytes, row
 * by row. Without zero points: the scalar 2^(bits - 1). */
static struct tensor *
zero_points(struct compose *c, int bits, int64_t rows, int64_t blocks,
	    struct dtype type)
{
	struct tensor *zero = compose_input(c, 3);
	int64_t per_row = (blocks * bits + 7) / 8;
	const struct expr *packed[] = { expr_index(c->m, rows),
					expr_index(c->m, per_row) };
	const struct expr *shape[] = { packed[0], expr_index(c->m, blocks) };

	if (!zero) {
		return compose_scalar(c, "zero", type, 1 << (bits - 1));
	}
	if (!dtype_is_float(zero->type)) {
		zero = compose_reshape(c, "zeros", zero, 2, packed);
		zero = bits < 8 ? compose_unpack(c, zero, bits) : zero;
		zero = compose_slice(c, "zero", zero, 1, expr_index(c->m, 0),
				     shape[1]);
		zero = compose_cast(c, "zero_float", zero, type);
	}
	zero = compose_reshape(c, "zero_rows", zero, 2, shape);
	return compose_unsqueeze(c, "zero_blocks", zero, -1);
}

/* a * w', where w is dequantized with a scale and zero point for each block of
 * a row: w = (numbers - zero) * scale. */
bool
compose_matmul_bits(struct compose *c)
{
	const struct node *n = c->node;
	int64_t rows = node_attr_int(n, "N", 0), k = node_attr_int(n, "K", 0);
	int64_t size = node_attr_int(n, "block_size", 0);
	int64_t bits = node_attr_int(n, "bits", 4), blocks;
	struct tensor *a = compose_input(c, 0), *w = compose_input(c, 1);
	struct tensor *scale = compose_input(c, 2), *zero, *y;
	const struct expr *shape[2];

	if ((bits != 2 && bits != 4 && bits != 8) || compose_input(c, 4)) {
		return compose_refuse(c,
				      "weights of %lld bits, or in groups "
				      "of their own, are not supported",
				      (long long)bits);
	}
	if (rows < 1 || k < 1 || size < 1 || w->ndim != 3) {
		return compose_error(
			c, DIAG_BAD_ATTRIBUTE,
			"its N, K or block_size is missing, or its "
			"weights have not 3 dimensions");
	}
	blocks = (k + size - 1) / size;
	shape[0] = expr_index(c->m, rows);
	shape[1] = expr_index(c->m, blocks);
	scale = compose_unsqueeze(c, "scales",
				  compose_reshape(c, "scale", scale, 2, shape),
				  -1);
	zero = zero_points(c, (int)bits, rows, blocks, scale->type);
	w = bits < 8 ? compose_unpack(c, w, (int)bits) : w;
	w = compose_cast(c, "weight_float", w, scale->type);
	w = compose_2(c, "weight", "Mul",
		      compose_2(c, "centred", "Sub", w, zero), scale);
	shape[1] = expr_index(c->m, blocks * size);
	w = compose_reshape(c, "weights", w, 2, shape);
	w = compose_slice(c, "used", w, 1, expr_index(c->m, 0),
			  expr_index(c->m, k));
	w = compose_cast(c, "used_cast", compose_swap(c, "columns", w, 0, 1),
			 a->type);
	y = compose_2(c, "product", "MatMul", a, w);
	compose_result(c, 0,
		       compose_input(c, 5) ? compose_2(c, "biased", "Add", y,
						       compose_input(c, 5))
					   : y);
	return true;
}
