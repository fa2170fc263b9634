/* SPDX-License-Identifier: Apache-2.0 */
/* The attention operators of com.microsoft. They differ from Attention of
 * ai.onnx in how they pack query, key, value and the past keys and values, and
 * in their masks:
 *
 *	Attention                one input, multiplied by one matrix of weights
 *	QAttention               the same, quantized
 *	MultiHeadAttention       query, key and value, with one bias for all
 *
 * GroupQueryAttention is in compose_group_query.c. */
#include "compose_attention.h"

#include <math.h>

#include "ops.h"

static double
scale_of(struct compose *c, const struct tensor *q)
{
	double scale = node_attr_float(c->node, "scale", 0);
	int64_t size = 1;

	expr_is_int(q->shape[3], &size);
	return scale != 0 ? scale : 1 / sqrt((double)size);
}

/* The elements [from, to) of a dimension. */
static struct tensor *
part(struct compose *c, const char *what, struct tensor *x, int axis,
     int64_t from, int64_t to)
{
	return compose_slice(c, what, x, axis, expr_index(c->m, from),
			     expr_index(c->m, to));
}

/* Adds to a score: 0 where the mask is not 0, else the attribute
 * mask_filter_value. */
static struct tensor *
filter(struct compose *c, struct tensor *mask, struct dtype type)
{
	double value = node_attr_float(c->node, "mask_filter_value", -10000);
	struct tensor *kept = compose_with(c, "kept", "Equal", mask, 0);

	return compose_node(c, "filter", "Where", 3, kept,
			    compose_scalar(c, "filtered", type, value),
			    compose_scalar(c, "unfiltered", type, 0));
}

/* Converts a mask of keys to a tensor that is added to the scores. The mask is
 * [b][keys] or [b][queries][keys] with elements 0 and 1, or [b] with the number
 * of valid keys of each row. */
static bool
key_mask(struct compose *c, struct attention *a, struct tensor *mask)
{
	if (mask->ndim == 1) {
		const struct expr *shape[] = { mask->shape[0],
					       expr_index(c->m, 1) };
		const struct expr *keys = a->k->shape[2];
		struct tensor *at;

		if (mask->shape[0] != a->q->shape[0]) {
			return compose_refuse(c, "a mask that is no number of "
						 "keys for each row of the "
						 "batch is not supported");
		}
		at = compose_sizes(c, "keys_count", 1, &keys);
		at = compose_cast(c, "key", compose_squeeze(c, "keys", at, 0),
				  mask->type);
		at = compose_count(c, "key_at", at, mask->type);
		mask = compose_reshape(c, "lengths", mask, 2, shape);
		mask = compose_cast(c, "counts",
				    compose_2(c, "inside", "Less", at, mask),
				    dtype_of(DT_I32));
	}
	if (mask->ndim != 2 && mask->ndim != 3) {
		return compose_refuse(c,
				      "a mask of %d dimensions is not "
				      "supported",
				      mask->ndim);
	}
	mask = filter(c, mask, a->q->type);
	mask = compose_unsqueeze(c, "head_mask", mask, 1);
	if (mask->ndim == 3) {
		mask = compose_unsqueeze(c, "query_mask", mask, 1);
	}
	a->mask = a->mask ? compose_2(c, "mask", "Add", mask, a->mask) : mask;
	return true;
}

/* Appends the new keys and values to the past ones k and v. The position of the
 * first query is the number of past keys. */
static void
append(struct compose *c, struct attention *a, struct tensor *k,
       struct tensor *v)
{
	const struct expr *length = k->shape[2];

	a->start = compose_sizes(c, "past", 1, &length);
	a->k = compose_concat(c, "present_key", 2, k, a->k);
	a->v = compose_concat(c, "present_value", 2, v, a->v);
}

void
attention_finish(struct compose *c, struct attention *a)
{
	a->scale = scale_of(c, a->q);
	a->softmax_in = a->q->type;
	a->every_row = true;
	attention_scores(c, a);
	attention_probs(c, a);
	compose_result(c, 0, attention_join_heads(c, attention_values(c, a)));
}

/* -- Attention -- */

/* The widths of query, key and value, which are parts of the columns of the
 * weights. */
static bool
packed_widths(struct compose *c, const struct tensor *w, int64_t widths[3])
{
	const int64_t *given;
	int64_t all;

	if (!compose_known_dim(c, w, 1, &all)) {
		return false;
	}
	if (node_attr_ints(c->node, "qkv_hidden_sizes", &given) == 3) {
		for (int i = 0; i < 3; i++) {
			widths[i] = given[i];
		}
	} else {
		widths[0] = widths[1] = widths[2] = all / 3;
	}
	return widths[0] + widths[1] + widths[2] == all ||
	       compose_error(c, DIAG_BAD_SHAPE,
			     "the weights have %lld columns, which are not "
			     "those of query, key and value; correct the model",
			     (long long)all);
}

/* Appends the new keys and values to `past` and makes output 1 of them. Both
 * have the shape [2][b][heads][keys][size]: keys, then values. */
static void
packed_past(struct compose *c, struct attention *a, struct tensor *past)
{
	struct tensor *k, *v;

	if (past) {
		k = compose_squeeze(c, "past_key",
				    part(c, "past_keys", past, 0, 0, 1), 0);
		v = compose_squeeze(c, "past_value",
				    part(c, "past_values", past, 0, 1, 2), 0);
		append(c, a, k, v);
	}
	if (compose_wants(c, 1)) {
		k = compose_unsqueeze(c, "present_keys", a->k, 0);
		v = compose_unsqueeze(c, "present_values", a->v, 0);
		compose_result(c, 1, compose_concat(c, "present", 0, k, v));
	}
}

static bool
check_packed(struct compose *c)
{
	if (node_attr_int(c->node, "do_rotary", 0) != 0 ||
	    node_attr_int(c->node, "past_present_share_buffer", 0) != 0) {
		return compose_refuse(c, "do_rotary and a shared buffer are "
					 "not supported");
	}
	return (compose_input(c, 0)->ndim == 3 &&
		compose_input(c, 1)->ndim == 2) ||
	       compose_error(c, DIAG_BAD_SHAPE,
			     "its input needs 3 dimensions and the weights 2");
}

/* `all` has query, key and value side by side in its last dimension, the result
 * of one product. */
static bool
packed_attention(struct compose *c, struct attention *a, struct tensor *all,
		 struct tensor *mask, struct tensor *past)
{
	static const char *const whats[] = { "q", "k", "v" };
	struct tensor **parts[] = { &a->q, &a->k, &a->v };
	int64_t heads = node_attr_int(c->node, "num_heads", 0), from = 0;
	int64_t widths[3];

	if (!packed_widths(c, compose_input(c, 1), widths)) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		*parts[i] = part(c, whats[i], all, 2, from, from + widths[i]);
		from += widths[i];
		if (!attention_split_heads(c, whats[i], parts[i], heads)) {
			return false;
		}
	}
	packed_past(c, a, past);
	a->right = node_attr_int(c->node, "unidirectional", 0) != 0 ? 0 : -1;
	if (mask && !key_mask(c, a, mask)) {
		return false;
	}
	attention_finish(c, a);
	return true;
}

bool
compose_ms_attention(struct compose *c)
{
	struct attention a = { .left = -1, .right = -1 };
	struct tensor *all;

	if (!check_packed(c)) {
		return false;
	}
	all = compose_2(c, "product", "MatMul", compose_input(c, 0),
			compose_input(c, 1));
	if (compose_input(c, 2)) {
		all = compose_2(c, "packed", "Add", all, compose_input(c, 2));
	}
	a.mask = compose_input(c, 5);
	return packed_attention(c, &a, all, compose_input(c, 3),
				compose_input(c, 4));
}

bool
compose_quantized_attention(struct compose *c)
{
	struct attention a = { .left = -1, .right = -1 };
	struct tensor *all;

	if (!check_packed(c)) {
		return false;
	}
	all = compose_scaled_product(c, compose_input(c, 0),
				     compose_input(c, 1), compose_input(c, 6),
				     compose_input(c, 7), compose_input(c, 3),
				     compose_input(c, 4), compose_input(c, 2));
	return packed_attention(c, &a, all, compose_input(c, 5),
				compose_input(c, 8));
}

/* -- MultiHeadAttention -- */

/* x plus its part of the bias (input 3), which starts at `from`. */
static struct tensor *
add_bias(struct compose *c, struct tensor *x, int64_t from, int64_t width)
{
	struct tensor *bias = compose_input(c, 3);

	return bias ? compose_2(c, "sum", "Add", x,
				part(c, "bias", bias, 0, from, from + width))
		    : x;
}

/* Splits query, key and value into heads. The query is [b][s][heads * d]; key
 * and value are the same, or [b][heads][s][d] if an earlier attention made
 * them. */
static bool
read_parts(struct compose *c, struct attention *a, int64_t heads)
{
	static const char *const whats[] = { "q", "k", "v" };
	struct tensor **parts[] = { &a->q, &a->k, &a->v };
	int64_t from = 0, width;

	for (int i = 0; i < 3; i++) {
		struct tensor *x = compose_input(c, i);

		if (!x || (x->ndim != 3 && (i == 0 || x->ndim != 4))) {
			return compose_refuse(c, "query, key and value in one "
						 "tensor are not supported");
		}
		*parts[i] = x;
		if (x->ndim == 4) {
			continue;
		}
		if (!compose_known_dim(c, x, 2, &width)) {
			return false;
		}
		*parts[i] = add_bias(c, x, from, width);
		from += width;
		if (!attention_split_heads(c, whats[i], parts[i], heads)) {
			return false;
		}
	}
	return true;
}

bool
compose_multi_head(struct compose *c)
{
	struct attention a = { .left = -1, .right = -1 };
	struct tensor *mask = compose_input(c, 4);

	if (compose_input(c, 8) || compose_input(c, 9)) {
		return compose_refuse(c, "a cache of fixed length is not "
					 "supported");
	}
	if (!read_parts(c, &a, node_attr_int(c->node, "num_heads", 0))) {
		return false;
	}
	if (compose_input(c, 6) && compose_input(c, 7)) {
		append(c, &a, compose_input(c, 6), compose_input(c, 7));
	}
	compose_result(c, 1, a.k);
	compose_result(c, 2, a.v);
	a.right = node_attr_int(c->node, "unidirectional", 0) != 0 ? 0 : -1;
	a.mask = compose_input(c, 5);
	if (mask && !key_mask(c, &a, mask)) {
		return false;
	}
	attention_finish(c, &a);
	compose_result(c, 3, a.scores);
	return true;
}
