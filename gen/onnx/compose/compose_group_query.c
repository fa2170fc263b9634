/* SPDX-License-Identifier: Apache-2.0 */
/* GroupQueryAttention of com.microsoft: several query heads read the same keys,
 * which may be in a cache of fixed length; query and key may be normalised and
 * rotated first. Also com.microsoft's RotaryEmbedding.
 *
 *	before	y, keys, values = com.microsoft.GroupQueryAttention(q, k, v, cache_k,
 *						cache_v, last, total)
 *	after	keys = TensorScatter(cache_k, split k, last + 1 - queries)
 *		values = TensorScatter(cache_v, split v, last + 1 - queries)
 *		y = softmax(q keys' ...) values, joined
 */
#include "compose_attention.h"

#include "ops.h"

/* Elements [from, to) of the last dimension. */
static struct tensor *
part(struct compose *c, const char *what, struct tensor *x, int64_t from,
     int64_t to)
{
	return compose_slice(c, what, x, 2, expr_index(c->m, from),
			     expr_index(c->m, to));
}

/* Reads query, key and value, which are one packed tensor or three. */
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
		a->q = part(c, "query", q, 0, heads * size);
		a->k = part(c, "key", q, heads * size,
			    (heads + kv_heads) * size);
		a->v = part(c, "value", q, (heads + kv_heads) * size, width);
	}
	return attention_split_heads(c, "q", &a->q, heads) &&
	       attention_split_heads(c, "k", &a->k, kv_heads) &&
	       attention_split_heads(c, "v", &a->v, kv_heads);
}

/* [b] as [b][1] */
static struct tensor *
as_column(struct compose *c, const char *what, struct tensor *x)
{
	const struct expr *shape[] = { compose_dim(c, x, 0),
				       expr_index(c->m, 1) };

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
	expr_is_int(compose_dim(c, r.cos, -1), &half);
	r.turned = 2 * half;
	if (!r.positions) {
		r.positions = positions(c, start, compose_dim(c, a->q, 2));
	}
	a->q = rotate(c, &r, a->q);
	a->k = rotate(c, &r, a->k);
}

/* The cache with the new keys or values x written at position `start`; without
 * a cache, x. A cache with fewer than `total` positions is enlarged. */
static struct tensor *
write_cache(struct compose *c, const char *what, struct tensor *cache,
	    struct tensor *x, struct tensor *start, const struct expr *total)
{
	const char *room = arena_printf(&c->imp->tmp, "%s_room", what);
	const struct expr *pads[8], *kept;

	if (!cache) {
		return x;
	}
	for (int d = 0; d < 8; d++) {
		pads[d] = expr_index(c->m, 0);
	}
	kept = compose_dim(c, cache, 2);
	pads[6] = expr_sub(c->m, expr_max(c->m, total, kept), kept);
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
	if (!compose_input(c, 14) != !compose_input(c, 15)) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "the weights of the norms of query and "
				     "key are given together, or not at all");
	}
	for (int i = 12; i < c->node->n_inputs; i++) {
		if (compose_input(c, i) && i != 14 && i != 15) {
			return compose_refuse(c,
					      "its input %d is not supported",
					      i);
		}
	}
	for (int i = 0; i < 3; i++) {
		if (node_attr_int(c->node, flags[i], 0) > 0) {
			return compose_refuse(c, "%s is not supported",
					      flags[i]);
		}
	}
	return true;
}

/* x, each head normalised with the weights in input i, if it is present. */
static struct tensor *
norm_heads(struct compose *c, const char *what, struct tensor *x, int i,
	   const char *epsilon)
{
	double both = node_attr_float(c->node, "qk_norm_epsilon", 1e-6);

	if (!compose_input(c, i)) {
		return x;
	}
	compose_set_int(c, "axis", -1);
	compose_set_float(c, "epsilon",
			  node_attr_float(c->node, epsilon, both));
	return compose_2(c, what, "RMSNormalization", x, compose_input(c, i));
}

/* The sink: exp(sink) is added to the denominator of each head's softmax. NULL
 * if the node has none. */
static struct tensor *
sink_of(struct compose *c, const struct tensor *q)
{
	const struct expr *one = expr_index(c->m, 1);
	const struct expr *shape[] = { one, compose_dim(c, q, 1), one, one };
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
	a.q = norm_heads(c, "q_norm", a.q, 14, "q_norm_epsilon");
	a.k = norm_heads(c, "k_norm", a.k, 15, "k_norm_epsilon");
	queries = compose_dim(c, a.q, 2);
	total = past_k ? expr_add(c->m, compose_dim(c, past_k, 2), queries)
		       : queries;
	if (input_elems(c->m, n, 6, &known, &count) && count == 1) {
		total = known[0];
	}
	/* `last` becomes the index of each row's last key. The queries belong
	 * to the last keys; the first prompt may have fewer tokens than its
	 * tensor, so the first query's position is at least 0. */
	column[0] = compose_dim(c, a.q, 0);
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
	attention_finish(c, &a);
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
	const struct expr *tokens;

	if (node_attr_int(n, "is_packed_batching", 0) != 0 ||
	    (x->ndim != 3 && x->ndim != 4)) {
		return compose_refuse(c, "packed batches are not supported");
	}
	tokens = compose_dim(c, x, -2);
	expr_is_int(compose_dim(c, r.cos, -1), &half);
	if (flat && heads == 0 && half > 0) {
		expr_is_int(x->shape[2], &width);
		heads = width / (2 * half);
	}
	if (flat && !attention_split_heads(c, "heads", &x, heads)) {
		return false;
	}
	/* one number for each row: the position of its first token */
	if (at->ndim < 2) {
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
