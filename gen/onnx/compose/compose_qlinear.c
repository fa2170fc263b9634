/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft on quantized tensors that have any number of
 * inputs, or weights of fewer than 8 bits; others are in
 * compositions/qlinear.onnxtxt. */
#include "compose.h"

/* Input i, dequantized with its scale (input i + 1) and zero point (input i +
 * 2). */
static struct tensor *
real(struct compose *c, const char *what, int i)
{
	return compose_node(c, what, "DequantizeLinear", 3, compose_input(c, i),
			    compose_input(c, i + 1), compose_input(c, i + 2));
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
	struct tensor *joined, *y, *in[4];

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
	in[0] = joined;
	in[1] = compose_input(c, 0);
	in[2] = compose_input(c, 1);
	in[3] = compose_input(c, 2);
	compose_piece(c, "QuantizeAs", in, 4, &y, 1);
	compose_result(c, 0, y);
	return true;
}

struct tensor *
compose_scaled_product(struct compose *c, struct tensor *a, struct tensor *b,
		       struct tensor *a_zero, struct tensor *b_zero,
		       struct tensor *a_scale, struct tensor *b_scale,
		       struct tensor *bias)
{
	struct tensor *in[] = { a, b, a_zero, b_zero, a_scale, b_scale, bias };
	struct tensor *y;

	compose_piece(c, "ScaledProduct", in, 7, &y, 1);
	return y;
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
