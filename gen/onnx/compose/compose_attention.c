/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as its two matrix products and the softmax between them.
 *
 *	before	y = Attention<is_causal=1>(q, k, v)   # [b, h, s, d]
 *	after	y_keys = Transpose<perm=[0, 1, 3, 2]>(k)
 *		y_dots = MatMul(q, y_keys)
 *		y_scores = Mul(y_dots, 1 / sqrt(d))
 *		y_seen = tirc.Band<right=0>(y_scores)
 *		y_probs = Softmax(y_seen)
 *		y = MatMul(y_probs, v)
 *
 * If several heads share their keys, the queries of these heads are the rows of
 * one product: [b, h, s, d] is reshaped to [b, kv, h / kv * s, d], without a
 * copy. */
#include "compose_attention.h"

#include <math.h>

#include "ops.h"

bool
attention_split_heads(struct compose *c, const char *what, struct tensor **x,
		      int64_t heads)
{
	static const int64_t perm[] = { 0, 2, 1, 3 };
	const char *split = arena_printf(&c->imp->tmp, "%s_split", what);
	const struct tensor *t = *x;
	const struct expr *shape[4];
	int64_t hidden;

	if (!compose_known_dim(c, t, 2, &hidden)) {
		return false;
	}
	if (heads < 1 || hidden % heads != 0) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "the %lld elements of '%s' cannot be "
				     "split into %lld heads; correct the "
				     "number of heads",
				     (long long)hidden, t->name,
				     (long long)heads);
	}
	shape[0] = compose_dim(c, t, 0);
	shape[1] = compose_dim(c, t, 1);
	shape[2] = expr_index(c->m, heads);
	shape[3] = expr_index(c->m, hidden / heads);
	*x = compose_transpose(c, what, compose_reshape(c, split, *x, 4, shape),
			       perm);
	return true;
}

struct tensor *
attention_join_heads(struct compose *c, struct tensor *x)
{
	static const int64_t perm[] = { 0, 2, 1, 3 };
	struct tensor *rows = compose_transpose(c, "rows", x, perm);
	const struct expr *shape[] = { rows->shape[0], rows->shape[1],
				       expr_mul(c->m, rows->shape[2],
						rows->shape[3]) };

	return compose_reshape(c, "joined", rows, 3, shape);
}

/* Reshapes [b][heads][n][d] to [b][kv heads][heads / kv heads * n][d], or
 * back. */
static struct tensor *
regroup(struct compose *c, const char *what, struct tensor *x,
	const struct expr *heads)
{
	int64_t from = 1, to = 1;
	const struct expr *shape[4];

	if (x->shape[1] == heads) {
		return x;
	}
	expr_is_int(x->shape[1], &from);
	expr_is_int(heads, &to);
	for (int d = 0; d < 4; d++) {
		shape[d] = x->shape[d];
	}
	shape[1] = heads;
	shape[2] = from > to ? expr_mul(c->m, expr_index(c->m, from / to),
					x->shape[2])
			     : expr_floordiv(c->m, x->shape[2],
					     expr_index(c->m, to / from));
	return compose_reshape(c, what, x, 4, shape);
}

void
attention_scores(struct compose *c, struct attention *a)
{
	struct tensor *keys = compose_swap(c, "keys", a->k, -1, -2);
	struct tensor *q = a->q;
	bool is_short = dtype_bits(q->type) < 32;

	/* Products of 16-bit floats may overflow before they are scaled: the
	 * query is scaled first. */
	if (is_short && a->scale != 1) {
		q = compose_with(c, "scaled", "Mul", q, a->scale);
	}
	q = regroup(c, "queries", q, a->k->shape[1]);
	a->scores = regroup(c, "head_dots",
			    compose_2(c, "dots", "MatMul", q, keys),
			    a->q->shape[1]);
	if (!is_short && a->scale != 1) {
		a->scores = compose_with(c, "scores", "Mul", a->scores,
					 a->scale);
	}
}

static struct tensor *
apply_band(struct compose *c, const struct attention *a, const char *what,
	   struct tensor *x)
{
	struct tensor *in[] = { x, a->start, a->count };
	struct tensor *out;

	compose_set_int(c, "left", a->left);
	compose_set_int(c, "right", a->right);
	compose_nodes(c, "tirc", "Band", in,
		      a->count   ? 3
		      : a->start ? 2
				 : 1,
		      &what, 1, &out);
	return out;
}

/* The mask, padded along its last dimension to the number of keys; the added
 * keys are masked out. */
static struct tensor *
pad_mask(struct compose *c, const struct attention *a)
{
	struct tensor *mask = a->mask;
	int rank = mask->ndim, last = rank - 1;
	const struct expr **pads = arena_array(&c->imp->tmp,
					       const struct expr *, 2 * rank);
	const struct expr *keys = a->k->shape[2];
	bool is_bool = dtype_class(mask->type) == DTC_BOOL;
	struct tensor *fill;

	if (rank == 0 || mask->shape[last] == keys) {
		return mask;
	}
	for (int d = 0; d < 2 * rank; d++) {
		pads[d] = expr_index(c->m, 0);
	}
	pads[2 * rank - 1] = expr_sub(c->m, keys, mask->shape[last]);
	fill = compose_scalar(c, "masked", mask->type, is_bool ? 0 : -INFINITY);
	return compose_node(c, "mask", "Pad", 3, mask,
			    compose_sizes(c, "pads", 2 * rank, pads), fill);
}

/* The tensor that is added to the scores, of at least two dimensions; it is
 * -infinity for keys that are masked out. */
static struct tensor *
make_bias(struct compose *c, const struct attention *a)
{
	struct dtype type = a->scores->type;
	struct tensor *bias = a->mask ? pad_mask(c, a)
				      : compose_scalar(c, "zero", type, 0);

	if (dtype_class(bias->type) == DTC_BOOL) {
		bias = compose_node(c, "mask_bias", "Where", 3, bias,
				    compose_scalar(c, "kept", type, 0),
				    compose_scalar(c, "masked", type,
						   -INFINITY));
	}
	if (a->left >= 0 || a->right >= 0 || a->count) {
		const struct expr *shape[] = { a->q->shape[2], a->k->shape[2] };

		/* Expand also broadcasts the other way: a larger dimension of
		 * the input stays. */
		bias = compose_2(c, "band_bias", "Expand", bias,
				 compose_sizes(c, "band_shape", 2, shape));
		bias = apply_band(c, a, "bias", bias);
	}
	return compose_cast(c, "bias_cast", bias, type);
}

/* Sets the probabilities to 0 for queries whose keys are all masked out;
 * without it they would be NaN. */
static struct tensor *
guard_rows(struct compose *c, struct tensor *bias, struct tensor *probs)
{
	struct tensor *best, *empty;

	best = compose_reduce(c, "best", "ReduceMax", bias, -1, true);
	empty = compose_with(c, "empty", "Equal", best, -INFINITY);
	return compose_node(c, "guarded", "Where", 3, empty,
			    compose_scalar(c, "nothing", probs->type, 0),
			    probs);
}

/* The softmax over the scores and, if there is one, the sink after them;
 * without the sink's probability. */
static struct tensor *
softmax(struct compose *c, const struct attention *a, struct tensor *x)
{
	const struct expr *keys = x->shape[3];
	const struct expr *shape[] = { x->shape[0], x->shape[1], x->shape[2],
				       expr_index(c->m, 1) };
	struct tensor *sink;

	if (a->sink) {
		sink = compose_cast(c, "sink_cast", a->sink, x->type);
		sink = compose_2(c, "sinks", "Expand", sink,
				 compose_sizes(c, "sink_shape", 4, shape));
		x = compose_concat(c, "scores_and_sink", 3, x, sink);
	}
	compose_set_int(c, "axis", -1);
	x = compose_1(c, "softmax", "Softmax", x);
	return a->sink ? compose_slice(c, "without_sink", x, 3,
				       expr_index(c->m, 0), keys)
		       : x;
}

void
attention_probs(struct compose *c, struct attention *a)
{
	struct tensor *x = a->scores, *bias = NULL;
	bool band = a->left >= 0 || a->right >= 0 || a->count;

	if (a->softcap > 0) {
		x = compose_with(c, "over_cap", "Div", x, a->softcap);
		x = compose_1(c, "tanh", "Tanh", x);
		x = compose_with(c, "capped", "Mul", x, a->softcap);
	}
	a->capped = x;
	if (a->mask || (band && !a->every_row)) {
		bias = make_bias(c, a);
		x = compose_2(c, "biased", "Add", x, bias);
	} else if (band) {
		x = apply_band(c, a, "seen", x);
	}
	a->biased = x;
	x = compose_cast(c, "precise", x, a->softmax_in);
	x = softmax(c, a, x);
	x = compose_cast(c, "probs", x, a->scores->type);
	a->probs = bias ? guard_rows(c, bias, x) : x;
}

struct tensor *
attention_values(struct compose *c, struct attention *a)
{
	struct tensor *p = regroup(c, "rows_of_keys", a->probs, a->v->shape[1]);

	return regroup(c, "heads", compose_2(c, "values", "MatMul", p, a->v),
		       a->q->shape[1]);
}

/* -- Attention of ai.onnx -- */

static bool
read_heads(struct compose *c, struct attention *a)
{
	int64_t heads = node_attr_int(c->node, "q_num_heads", 0);
	int64_t kv_heads = node_attr_int(c->node, "kv_num_heads", 0);

	if (a->q->ndim != a->k->ndim || a->q->ndim != a->v->ndim ||
	    (a->q->ndim != 3 && a->q->ndim != 4)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "query, key and value have %d, %d and %d "
				     "dimensions; they need 3 or 4 each",
				     a->q->ndim, a->k->ndim, a->v->ndim);
	}
	return a->q->ndim == 4 ||
	       (attention_split_heads(c, "q", &a->q, heads) &&
		attention_split_heads(c, "k", &a->k, kv_heads) &&
		attention_split_heads(c, "v", &a->v, kv_heads));
}

static bool
check_heads(struct compose *c, const struct attention *a)
{
	int64_t heads, kv_heads;

	if (!compose_known_dim(c, a->q, 1, &heads) ||
	    !compose_known_dim(c, a->k, 1, &kv_heads)) {
		return false;
	}
	return (kv_heads > 0 && heads % kv_heads == 0) ||
	       compose_error(c, DIAG_BAD_SHAPE,
			     "there are %lld heads of the query and %lld of "
			     "the key; the first must be a multiple",
			     (long long)heads, (long long)kv_heads);
}

/* Appends k and v to the keys and values of earlier calls, if the node has
 * them. */
static bool
read_past(struct compose *c, struct attention *a)
{
	struct tensor *k = compose_input(c, 4), *v = compose_input(c, 5);

	if (!k != !v) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "past_key and past_value are given "
				     "together, or not at all");
	}
	if (k) {
		const struct expr *length = k->shape[2];

		a->start = compose_sizes(c, "past", 1, &length);
		a->k = compose_concat(c, "present_key", 2, k, a->k);
		a->v = compose_concat(c, "present_value", 2, v, a->v);
	}
	compose_result(c, 1, a->k);
	compose_result(c, 2, a->v);
	return true;
}

/* [batch] as [batch][1][1][1] */
static struct tensor *
per_batch(struct compose *c, const char *what, struct tensor *x)
{
	const struct expr *shape[] = { x->shape[0], expr_index(c->m, 1),
				       expr_index(c->m, 1),
				       expr_index(c->m, 1) };

	return compose_reshape(c, what, x, 4, shape);
}

/* Reads nonpad_kv_seqlen, the number of valid keys of each batch element; later
 * keys are masked out. Without past keys, the queries belong to the last valid
 * keys. */
static void
read_count(struct compose *c, struct attention *a)
{
	struct tensor *count = compose_input(c, 6);
	const struct expr *queries = a->q->shape[2];

	if (count) {
		a->count = per_batch(c, "count", count);
		a->start = a->start ? a->start
				    : compose_2(c, "start", "Sub", a->count,
						compose_sizes(c, "queries", 1,
							      &queries));
	}
}

/* Is there a key for each query that is not masked out? `fresh`: the number of
 * keys that are not past keys. */
static bool
sees_a_key(const struct attention *a, const struct expr *fresh)
{
	int64_t queries, keys, last;

	if (a->count) {
		return false;
	}
	if (a->q->shape[2] == fresh) {
		return true; /* each query sees its own key */
	}
	if (a->left < 0 && !expr_is_value(a->k->shape[2], 0)) {
		return true; /* each query sees the first key */
	}
	if (!expr_is_int(a->q->shape[2], &queries) ||
	    !expr_is_int(a->k->shape[2], &keys) || a->start) {
		return false;
	}
	last = queries - 1 - a->left;
	return last < keys;
}

static bool
read_precision(struct compose *c, struct attention *a)
{
	int64_t number = node_attr_int(c->node, "softmax_precision", 0);

	a->softmax_in = a->q->type;
	return number == 0 ||
	       (dtype_from_onnx(number, &a->softmax_in) &&
		dtype_is_float(a->softmax_in)) ||
	       compose_error(c, DIAG_BAD_ATTRIBUTE,
			     "its softmax_precision %lld is no type of floats; "
			     "correct the model",
			     (long long)number);
}

/* The scale; its default has double precision, while the attribute is a
 * float32. */
static double
attention_scale(const struct node *n, const struct tensor *q)
{
	int64_t size = 1;

	if (node_attr(n, "scale")) {
		return node_attr_float(n, "scale", 1);
	}
	expr_is_int(q->shape[q->ndim - 1], &size);
	return 1 / sqrt((double)size);
}

static bool
read_attributes(struct compose *c, struct attention *a)
{
	const struct node *n = c->node;
	int64_t size;

	a->left = node_attr_int(n, "left_window_size", -1);
	a->right = node_attr_int(n, "right_window_size", -1);
	if (node_attr_int(n, "is_causal", 0) != 0) {
		a->right = 0;
	}
	a->softcap = node_attr_float(n, "softcap", 0);
	a->mask = compose_input(c, 3);
	if (!compose_known_dim(c, a->q, 3, &size)) {
		return false;
	}
	a->scale = attention_scale(n, a->q);
	return read_precision(c, a);
}

bool
compose_attention(struct compose *c)
{
	struct attention a = {
		.q = compose_input(c, 0),
		.k = compose_input(c, 1),
		.v = compose_input(c, 2),
	};
	bool flat = a.q->ndim == 3;
	int64_t mode = node_attr_int(c->node, "qk_matmul_output_mode", 0);
	const struct expr *fresh;
	struct tensor *y;

	if (!read_heads(c, &a)) {
		return false;
	}
	fresh = a.k->shape[2];
	if (!read_past(c, &a) || !check_heads(c, &a) ||
	    !read_attributes(c, &a)) {
		return false;
	}
	read_count(c, &a);
	if (!a.count && expr_is_value(a.q->shape[2], 1) &&
	    expr_is_value(fresh, 1)) {
		a.right = -1; /* there are no keys after the last query */
	}
	a.every_row = sees_a_key(&a, fresh);
	attention_scores(c, &a);
	attention_probs(c, &a);
	y = attention_values(c, &a);
	compose_result(c, 0, flat ? attention_join_heads(c, y) : y);
	compose_result(c, 3,
		       mode == 1   ? a.capped
		       : mode == 2 ? a.biased
		       : mode == 3 ? a.probs
				   : a.scores);
	return true;
}

/* -- the parts of FlexAttention -- */

/* The type of the scores: at least float32. */
static bool
flex_type(struct compose *c, struct dtype given, struct dtype *type)
{
	int64_t number = node_attr_int(c->node, "softmax_precision", 0);

	*type = dtype_bits(given) < 32 ? dtype_of(DT_F32) : given;
	return number == 0 ||
	       (dtype_from_onnx(number, type) && dtype_is_float(*type)) ||
	       compose_error(c, DIAG_BAD_ATTRIBUTE,
			     "its softmax_precision %lld is no type of floats; "
			     "correct the model",
			     (long long)number);
}

static bool
check_flex(struct compose *c)
{
	const struct tensor *a = compose_input(c, 0), *b = compose_input(c, 1);

	return (a->ndim == 4 && b->ndim == 4) ||
	       compose_error(c, DIAG_BAD_SHAPE,
			     "FlexAttention needs tensors of 4 dimensions; "
			     "correct the model");
}

bool
compose_flex_scores(struct compose *c)
{
	struct attention a = { .q = compose_input(c, 0),
			       .k = compose_input(c, 1) };
	struct dtype type;
	int64_t size;

	if (!check_flex(c) || !check_heads(c, &a) ||
	    !compose_known_dim(c, a.q, 3, &size) ||
	    !flex_type(c, a.q->type, &type)) {
		return false;
	}
	a.scale = attention_scale(c->node, a.q);
	attention_scores(c, &a);
	compose_result(c, 0, compose_cast(c, "precise", a.scores, type));
	return true;
}

/* Probabilities times values; the probabilities have as many heads as the
 * query. */
bool
compose_flex_values(struct compose *c)
{
	struct attention a = { .q = compose_input(c, 0),
			       .k = compose_input(c, 1) };
	struct dtype type = compose_input(c, 1)->type;

	if (!check_flex(c) || !check_heads(c, &a)) {
		return false;
	}
	a.probs = a.q;
	a.v = compose_cast(c, "value", a.k, a.q->type);
	compose_result(c, 0,
		       compose_cast(c, "cast", attention_values(c, &a), type));
	return true;
}
