/* SPDX-License-Identifier: Apache-2.0 */
/* Attentions of com.microsoft. They differ from that of ai.onnx in how query,
 * key, value and what was kept of them are packed, and in their masks:
 *
 *	Attention                one input and one matrix of weights for all
 *	QAttention               the same of bytes
 *	MultiHeadAttention       query, key, value, with one bias for all
 *	GroupQueryAttention      with rotation, in a cache of fixed length */
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

/* Elements [from, to) of a dimension, numbers. */
static struct tensor *
part(struct compose *c, const char *what, struct tensor *x, int axis,
     int64_t from, int64_t to)
{
	return compose_slice(c, what, x, axis, expr_index(c->m, from),
			     expr_index(c->m, to));
}

/* 0 where the mask has a number that is not 0, else the filter value. */
static struct tensor *
filter(struct compose *c, struct tensor *mask, struct dtype type)
{
	double value = node_attr_float(c->node, "mask_filter_value", -10000);
	struct tensor *kept = compose_with(c, "kept", "Equal", mask, 0);

	return compose_node(c, "filter", "Where", 3, kept,
			    compose_scalar(c, "filtered", type, value),
			    compose_scalar(c, "unfiltered", type, 0));
}

/* The mask of keys, [b][keys] or [b][queries][keys] of 0 and 1, or [b] numbers
 * of keys that count, as what is added to the scores. */
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

/* Appends the new keys and values; the new queries are after the old keys. */
static void
append(struct compose *c, struct attention *a, struct tensor *k,
       struct tensor *v)
{
	const struct expr *length = k->shape[2];

	a->start = compose_sizes(c, "past", 1, &length);
	a->k = compose_concat(c, "present_key", 2, k, a->k);
	a->v = compose_concat(c, "present_value", 2, v, a->v);
}

static void
finish(struct compose *c, struct attention *a)
{
	a->scale = scale_of(c, a->q);
	a->softmax_in = a->q->type;
	a->every_row = true;
	attention_scores(c, a);
	attention_probs(c, a);
	compose_result(c, 0, attention_join_heads(c, attention_values(c, a)));
}

/* -- Attention -- */

/* The widths of query, key and value in the product with the weights. */
static bool
packed_widths(struct compose *c, const struct tensor *w, int64_t widths[3])
{
	const int64_t *given;
	int64_t all;

	if (!compose_known_dim(c, w, 1, &all)) {
		return false;
	}
	if (node_attr_ints(c->node, "qkv_hidden_sizes", &given) == 3) {
		for (int i = 0; i < 3; ++i) {
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

/* past and present: [2][b][heads][keys][size] */
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

/* all: query, key and value, the columns of one product. */
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
	for (int i = 0; i < 3; ++i) {
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
	finish(c, a);
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

/* Part i of the bias for query, key and value. */
static struct tensor *
add_bias(struct compose *c, struct tensor *x, int64_t from, int64_t width)
{
	struct tensor *bias = compose_input(c, 3);

	return bias ? compose_2(c, "sum", "Add", x,
				part(c, "bias", bias, 0, from, from + width))
		    : x;
}

/* Query [b][s][heads * d]; key and value alike, or [b][heads][s][d] as another
 * node made them. */
static bool
read_parts(struct compose *c, struct attention *a, int64_t heads)
{
	static const char *const whats[] = { "q", "k", "v" };
	struct tensor **parts[] = { &a->q, &a->k, &a->v };
	int64_t from = 0, width;

	for (int i = 0; i < 3; ++i) {
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
	finish(c, &a);
	compose_result(c, 3, a.scores);
	return true;
}

/* -- GroupQueryAttention -- */

/* Query, key and value in one tensor, or three. */
static bool
read_groups(struct compose *c, struct attention *a, int64_t heads,
	    int64_t kv_heads)
{
	struct tensor *q = compose_input(c, 0);
	int64_t width, size;

	a->q = q;
	a->k = compose_input(c, 1);
	a->v = compose_input(c, 2);
	if (q->ndim != 3 || heads < 1 || kv_heads < 1) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its query needs 3 dimensions, and the "
				     "numbers of heads must be given");
	}
	if (!a->k) {
		if (!compose_known_dim(c, q, 2, &width)) {
			return false;
		}
		if (heads > width || kv_heads > width) {
			return compose_error(c, DIAG_BAD_SHAPE,
					     "its query has fewer elements "
					     "than heads; correct the numbers "
					     "of heads");
		}
		size = width / (heads + 2 * kv_heads);
		a->q = part(c, "query", q, 2, 0, heads * size);
		a->k = part(c, "key", q, 2, heads * size,
			    (heads + kv_heads) * size);
		a->v = part(c, "value", q, 2, (heads + kv_heads) * size, width);
	}
	return attention_split_heads(c, "q", &a->q, heads) &&
	       attention_split_heads(c, "k", &a->k, kv_heads) &&
	       attention_split_heads(c, "v", &a->v, kv_heads);
}

/* [b] as [b][1] */
static struct tensor *
as_column(struct compose *c, const char *what, struct tensor *x)
{
	const struct expr *shape[] = { x->shape[0], expr_index(c->m, 1) };

	return compose_reshape(c, what, x, 2, shape);
}

/* The position of each query: [b][queries] */
static struct tensor *
positions(struct compose *c, struct tensor *start, const struct expr *queries)
{
	struct tensor *n = compose_squeeze(c, "queries",
					   compose_sizes(c, "query_count", 1,
							 &queries),
					   0);

	return compose_2(c, "position", "Add", as_column(c, "starts", start),
			 compose_count(c, "query", n, n->type));
}

static void
rotate_both(struct compose *c, struct attention *a, struct tensor *start)
{
	struct rotation r = {
		.cos = compose_input(c, 7),
		.sin = compose_input(c, 8),
		.positions = compose_input(c, 9),
		.interleaved = node_attr_int(c->node, "rotary_interleaved",
					     0) != 0,
	};
	int64_t half = 0;

	if (!r.cos || !r.sin) {
		compose_error(c, DIAG_BAD_MODEL,
			      "do_rotary needs the caches of cosines and "
			      "sines");
		return;
	}
	expr_is_int(r.cos->shape[r.cos->ndim - 1], &half);
	r.turned = 2 * half;
	if (!r.positions) {
		r.positions = positions(c, start, a->q->shape[2]);
	}
	a->q = rotate(c, &r, a->q);
	a->k = rotate(c, &r, a->k);
}

/* The cache with the new keys or values from `start` on. */
static struct tensor *
write_cache(struct compose *c, const char *what, struct tensor *cache,
	    struct tensor *x, struct tensor *start, const struct expr *total)
{
	const char *room = arena_printf(&c->imp->tmp, "%s_room", what);
	const struct expr *pads[8];

	if (!cache) {
		return x;
	}
	for (int d = 0; d < 8; ++d) {
		pads[d] = expr_index(c->m, 0);
	}
	pads[6] = expr_sub(c->m, expr_max(c->m, total, cache->shape[2]),
			   cache->shape[2]);
	if (!expr_is_value(pads[6], 0)) {
		cache = compose_2(c, room, "Pad", cache,
				  compose_sizes(c, "pads", 8, pads));
	}
	compose_set_int(c, "axis", 2);
	return compose_node(c, what, "TensorScatter", 3, cache, x, start);
}

static bool
check_groups(struct compose *c)
{
	static const char *const flags[] = { "kv_cache_bit_width", "qk_output",
					     "sliding_window_cache" };

	if (!compose_needs(c, 3, 0, 5, 6)) {
		return false;
	}
	if (!compose_input(c, 1) != !compose_input(c, 2) ||
	    !compose_input(c, 3) != !compose_input(c, 4)) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "key and value, and what was kept of "
				     "them, are given together, or not at all");
	}
	for (int i = 12; i < c->node->n_inputs; ++i) {
		if (compose_input(c, i)) {
			return compose_refuse(c,
					      "its input %d is not supported",
					      i);
		}
	}
	for (int i = 0; i < 3; ++i) {
		if (node_attr_int(c->node, flags[i], 0) > 0) {
			return compose_refuse(c, "%s is not supported",
					      flags[i]);
		}
	}
	return true;
}

/* What each head adds to the sum of a softmax: exp(sink); NULL: nothing. */
static struct tensor *
sink_of(struct compose *c, const struct tensor *q)
{
	const struct expr *one = expr_index(c->m, 1);
	const struct expr *shape[] = { one, q->shape[1], one, one };
	struct tensor *sink = compose_input(c, 11);

	if (sink) {
		return compose_reshape(c, "sink", sink, 4, shape);
	}
	return node_attr_int(c->node, "smooth_softmax", 0) > 0
		       ? compose_scalar(c, "sink", q->type, 0)
		       : NULL;
}

bool
compose_group_query(struct compose *c)
{
	const struct node *n = c->node;
	struct attention a = { .left = -1, .right = 0 };
	int64_t window = node_attr_int(n, "local_window_size", -1);
	struct tensor *last = compose_input(c, 5), *start, *ones;
	struct tensor *past_k = compose_input(c, 3);
	const struct expr *const *known, *total, *column[4], *queries;
	int count;

	if (!check_groups(c) ||
	    !read_groups(c, &a, node_attr_int(n, "num_heads", 0),
			 node_attr_int(n, "kv_num_heads", 0))) {
		return false;
	}
	queries = a.q->shape[2];
	total = past_k ? expr_add(c->m, past_k->shape[2], queries) : queries;
	if (input_elems(c->m, n, 6, &known, &count) && count == 1) {
		total = known[0];
	}
	/* Each row's number of keys; the queries are the last of them, but a
	 * first prompt may be shorter than its tensor. */
	column[0] = a.q->shape[0];
	column[1] = column[2] = column[3] = expr_index(c->m, 1);
	last = compose_reshape(c, "last", last, 1, column);
	last = compose_cast(c, "last_key", last, dtype_of(DT_I64));
	ones = compose_with(c, "count", "Add", last, 1);
	start = compose_2(c, "start", "Sub", ones,
			  compose_sizes(c, "new", 1, &queries));
	start = compose_with(c, "first", "Max", start, 0);
	if (node_attr_int(n, "do_rotary", 0) != 0) {
		rotate_both(c, &a, start);
	}
	a.k = write_cache(c, "present_key", past_k, a.k, start, total);
	a.v = write_cache(c, "present_value", compose_input(c, 4), a.v, start,
			  total);
	compose_result(c, 1, a.k);
	compose_result(c, 2, a.v);
	a.start = compose_reshape(c, "start_rows", start, 4, column);
	a.left = window > 0 ? window - 1 : -1;
	a.mask = compose_input(c, 10);
	if (node_attr_int(n, "causal", 1) == 0) {
		a.right = -1;
		a.count = compose_reshape(c, "count_rows", ones, 4, column);
	}
	a.sink = sink_of(c, a.q);
	a.softcap = node_attr_float(n, "softcap", 0);
	finish(c, &a);
	return true;
}

/* -- RotaryEmbedding -- */

bool
compose_ms_rotary(struct compose *c)
{
	const struct node *n = c->node;
	struct tensor *x = compose_input(c, 0), *at = compose_input(c, 1);
	struct rotation r = {
		.cos = compose_input(c, 2),
		.sin = compose_input(c, 3),
		.positions = at,
		.interleaved = node_attr_int(n, "interleaved", 0) != 0,
		.turned = node_attr_int(n, "rotary_embedding_dim", 0),
	};
	int64_t heads = node_attr_int(n, "num_heads", 0), half = 0, width = 0;
	bool flat = x->ndim == 3;
	const struct expr *tokens = x->shape[x->ndim - 2];

	if (node_attr_int(n, "is_packed_batching", 0) != 0 ||
	    (x->ndim != 3 && x->ndim != 4)) {
		return compose_refuse(c, "packed batches are not supported");
	}
	expr_is_int(r.cos->shape[r.cos->ndim - 1], &half);
	if (flat && heads == 0 && half > 0) {
		expr_is_int(x->shape[2], &width);
		heads = width / (2 * half);
	}
	if (flat && !attention_split_heads(c, "heads", &x, heads)) {
		return false;
	}
	if (at->ndim < 2) { /* of the first token of each row */
		const struct expr *one = expr_index(c->m, 1);

		r.positions = positions(c,
					compose_reshape(c, "first", at, 1,
							&one),
					tokens);
	}
	x = rotate(c, &r, x);
	compose_result(c, 0, flat ? attention_join_heads(c, x) : x);
	return true;
}
