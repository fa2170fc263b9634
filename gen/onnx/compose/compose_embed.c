/* SPDX-License-Identifier: Apache-2.0 */
/* GatherBlockQuantized of com.microsoft: rows of a table, dequantized. Each block of
 * elements has its own scale. */
#include "compose.h"

/* Expands x, with one number for each block of the last dimension, to one
 * number for each of its `size` elements; `block`: elements of a block. */
static struct tensor *
per_element(struct compose *c, const char *what, struct tensor *x,
	    int64_t block, const struct expr *size)
{
	const char *blocks = arena_printf(&c->imp->tmp, "%s_blocks", what);
	const char *all = arena_printf(&c->imp->tmp, "%s_all", what);
	const char *one = arena_printf(&c->imp->tmp, "%s_one", what);
	const struct expr *shape[ONNX_MAX_RANK + 1];
	const struct expr *last = compose_dim(c, x, -1);
	struct tensor *y = compose_unsqueeze(c, one, x, -1);
	int n = x->ndim;

	if (c->failed) {
		return c->stand_in;
	}
	for (int d = 0; d < n; d++) {
		shape[d] = x->shape[d];
	}
	shape[n] = expr_index(c->m, block);
	y = compose_2(c, blocks, "Expand", y,
		      compose_sizes(c, "blocks", n + 1, shape));
	shape[n - 1] = expr_mul(c->m, last, shape[n]);
	y = compose_reshape(c, all, y, n, shape);
	return compose_slice(c, what, y, n - 1, expr_index(c->m, 0), size);
}

/* The rows that the indices select, dequantized: (numbers - zero) * scale. */
bool
compose_gather_blocks(struct compose *c)
{
	static const char *const names[] = { "numbers", NULL, "row_scales",
					     "row_zeros" };
	const struct node *n = c->node;
	int64_t axis = node_attr_int(n, "gather_axis", 0), blocks, elems;
	int64_t along = node_attr_int(n, "quantize_axis", 1);
	int64_t size = node_attr_int(n, "block_size", 128);
	int64_t bits = node_attr_int(n, "bits", 4);
	const struct tensor *data = compose_input(c, 0);
	bool packed = dtype_bits(data->type) == 8 && bits < 8;
	struct tensor *rows[4] = { NULL }, *x, *scale, *zero;
	int last;

	axis += axis < 0 ? data->ndim : 0;
	along += along < 0 ? data->ndim : 0;
	if (dtype_is_float(data->type) || data->ndim < 2 ||
	    along != data->ndim - 1 || axis == along) {
		return compose_refuse(c, "numbers in blocks of another "
					 "dimension than the last one, or of a "
					 "floating type, are not supported");
	}
	if (size < 1 || (bits != 2 && bits != 4 && bits != 8)) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "its block_size is %lld and its bits are "
				     "%lld; correct the model",
				     (long long)size, (long long)bits);
	}
	for (int i = 0; i < 4; i++) {
		if (i != 1 && compose_input(c, i)) {
			compose_set_int(c, "axis", axis);
			rows[i] = compose_2(c, names[i], "Gather",
					    compose_input(c, i),
					    compose_input(c, 1));
		}
	}
	scale = rows[2];
	last = scale->ndim - 1;
	if (c->failed) {
		return false;
	}
	x = packed ? compose_unpack(c, rows[0], (int)bits) : rows[0];
	if (!compose_known_dim(c, scale, last, &blocks) ||
	    !compose_known_dim(c, x, last, &elems)) {
		return false;
	}
	size = size < elems ? size : elems;
	if (blocks != (elems + size - 1) / size) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "%lld scales are not one for each %lld of "
				     "%lld numbers; correct the model",
				     (long long)blocks, (long long)size,
				     (long long)elems);
	}
	x = compose_cast(c, "floats", x, scale->type);
	zero = rows[3];
	if (zero && packed) {
		zero = compose_slice(c, "zeros",
				     compose_unpack(c, zero, (int)bits), last,
				     expr_index(c->m, 0),
				     expr_index(c->m, blocks));
	}
	if (zero) {
		zero = compose_cast(c, "zero_floats", zero, scale->type);
		zero = per_element(c, "zero", zero, size, x->shape[last]);
	} else if (dtype_bits(data->type) == 8) {
		zero = compose_scalar(c, "zero", scale->type, 1 << (bits - 1));
	}
	x = zero ? compose_2(c, "centred", "Sub", x, zero) : x;
	scale = per_element(c, "scale", scale, size, x->shape[last]);
	compose_result(c, 0, compose_2(c, "rows", "Mul", x, scale));
	return true;
}
