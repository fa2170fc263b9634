/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft that read rows of tables.
 *
 *	before	y = com.microsoft.EmbedLayerNormalization(ids, , words, places,
 *			, gamma, beta)
 *	after	y_word = Gather(words, ids)
 *		y_positions = Slice(places, 0, n)
 *		y_placed = Add(y_word, y_positions)
 *		y = LayerNormalization(y_placed, gamma, beta) */
#include "compose.h"

/* -- embeddings of words, places and segments -- */

/* An embedding table: `table` is the number of its input. If scale >= 0, it is
 * quantized, and scale and zero are the numbers of the inputs with its scale
 * and zero point. */
struct table {
	const char *what, *rows;
	int table, scale, zero;
};

static struct tensor *
real(struct compose *c, const struct table *t, struct tensor *x)
{
	return t->scale < 0 ? x
			    : compose_node(c, t->what, "DequantizeLinear", 3, x,
					   compose_input(c, t->scale),
					   compose_input(c, t->zero));
}

static struct tensor *
rows_of(struct compose *c, const struct table *t, struct tensor *ids)
{
	compose_set_int(c, "axis", 0);
	return real(c, t,
		    compose_2(c, t->rows, "Gather", compose_input(c, t->table),
			      ids));
}

/* The position embeddings of positions 0, 1, …, one for each token. */
static struct tensor *
first_places(struct compose *c, const struct table *t, const struct tensor *ids)
{
	return real(c, t,
		    compose_slice(c, "positions", compose_input(c, t->table), 0,
				  expr_index(c->m, 0), ids->shape[1]));
}

/* For each row of the mask, the number of tokens that count; 0 without a
 * mask. */
static struct tensor *
mask_index(struct compose *c, const struct tensor *ids)
{
	struct tensor *mask = compose_input(c, 7);

	if (mask) {
		return compose_reduce(c, "mask_index", "ReduceSum", mask, 1,
				      false);
	}
	return compose_2(c, "mask_index", "Expand",
			 compose_scalar(c, "no_mask", ids->type, 0),
			 compose_sizes(c, "rows", 1, ids->shape));
}

enum { WORD, PLACE, SEGMENT, GAMMA, BETA, TABLES };

/* The sum of the word, position and segment embeddings, normalised. */
static bool
embed(struct compose *c, const struct table *tables, struct tensor *places)
{
	struct tensor *ids = compose_input(c, 0),
		      *segment = compose_input(c, 1);
	struct tensor *sum, *at, *gamma, *beta;

	if (ids->ndim != 2) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its tokens have %d dimensions; they need "
				     "2",
				     ids->ndim);
	}
	if (!segment != !compose_input(c, tables[SEGMENT].table)) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "segments and their table are given "
				     "together, or not at all");
	}
	sum = rows_of(c, &tables[WORD], ids);
	at = places ? rows_of(c, &tables[PLACE], places)
		    : first_places(c, &tables[PLACE], ids);
	sum = compose_2(c, "placed", "Add", sum, at);
	if (segment) {
		sum = compose_2(c, "embedded", "Add", sum,
				rows_of(c, &tables[SEGMENT], segment));
	}
	compose_result(c, 2, sum);
	if (compose_wants(c, 1)) {
		compose_result(c, 1, mask_index(c, ids));
	}
	gamma = real(c, &tables[GAMMA], compose_input(c, tables[GAMMA].table));
	beta = real(c, &tables[BETA], compose_input(c, tables[BETA].table));
	compose_set_int(c, "axis", -1);
	compose_set_float(c, "epsilon",
			  node_attr_float(c->node, "epsilon", 1e-12));
	compose_result(c, 0,
		       compose_node(c, "norm", "LayerNormalization", 3, sum,
				    gamma, beta));
	return true;
}

bool
compose_embed_layer_norm(struct compose *c)
{
	static const struct table tables[TABLES] = {
		{ "word", "word", 2, -1, -1 },
		{ "position", "position", 3, -1, -1 },
		{ "segment", "segment", 4, -1, -1 },
		{ "gamma", "gamma", 5, -1, -1 },
		{ "beta", "beta", 6, -1, -1 },
	};

	return compose_needs(c, 5, 0, 2, 3, 5, 6) &&
	       embed(c, tables, compose_input(c, 8));
}

bool
compose_quantized_embed(struct compose *c)
{
	static const struct table tables[TABLES] = {
		{ "word", "word_bytes", 2, 8, 13 },
		{ "position", "position_bytes", 3, 9, 14 },
		{ "segment", "segment_bytes", 4, 10, 15 },
		{ "gamma", "gamma_bytes", 5, 11, 16 },
		{ "beta", "beta_bytes", 6, 12, 17 },
	};

	return compose_needs(c, 13, 0, 2, 3, 5, 6, 8, 9, 11, 12, 13, 14, 16,
			     17) &&
	       (!compose_input(c, 1) || compose_needs(c, 2, 10, 15)) &&
	       embed(c, tables, NULL);
}

/* -- quantized rows: each block of elements has its own scale -- */

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
