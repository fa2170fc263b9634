/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.LinearAttention: an attention that sums its keys and values in a matrix
 * for each head, the state; each token updates and reads the state.
 *
 *	for b, h:                        (h: a head of keys and values)
 *		S[d, m] = past[b, h, d, m], or 0
 *		for t:
 *			S[d, m] = S[d, m] * exp(decay[b, t, h, d])
 *			r[m] = v[b, t, h, m]
 *			r[m] = beta[b, t, h] * (r[m] - sum over d of
 *						       S[d, m] * k[b, t, h, d])
 *			S[d, m] = S[d, m] + k[b, t, h, d] * r[m]
 *			y[b, t, g, m] = scale * sum over d of
 *						       q[b, t, g, d] * S[d, m]
 *
 * The last line is computed for each head g of the queries that reads head h.
 * If the input decay or beta is absent, the line with it is left out. Tensors
 * of tokens have the shape [b][t][heads * elements]. */
#include "steps.h"

#include <math.h>

enum { QUERY, KEY, VALUE, DECAY, BETA, PAST, N_INPUTS };

/* Is input i absent, or has it for each token of the query `size` numbers, or
 * `other` numbers? */
static bool
fits_tokens(struct infer *c, const struct node *n, int i, int64_t size,
	    int64_t other)
{
	const struct tensor *t = node_input(n, i), *q = n->inputs[QUERY];

	return t == NULL || (dims_equal(c, t->shape[0], q->shape[0]) &&
			     dims_equal(c, t->shape[1], q->shape[1]) &&
			     (expr_is_value(t->shape[2], size) ||
			      expr_is_value(t->shape[2], other)));
}

/* Checks that the inputs have the sizes that follow from `state`, the shape of
 * the state: [batch][head][key][value]. False after a diagnostic. */
static bool
fits_heads(struct infer *c, const struct node *n, const struct expr **state)
{
	const struct tensor *past = node_input(n, PAST);
	int64_t heads, key, value;
	bool fits;

	expr_is_int(state[1], &heads);
	expr_is_int(state[2], &key);
	expr_is_int(state[3], &value);
	fits = fits_tokens(c, n, KEY, heads * key, heads * key) &&
	       fits_tokens(c, n, VALUE, heads * value, heads * value) &&
	       fits_tokens(c, n, DECAY, heads * key, heads) &&
	       fits_tokens(c, n, BETA, 1, heads);
	for (int d = 0; fits && past && d < 4; d++) {
		fits = dims_equal(c, past->shape[d], state[d]);
	}
	return fits || infer_error(c, DIAG_BAD_SHAPE,
				   "its inputs do not have the sizes of the "
				   "query and of the heads; correct their "
				   "shapes");
}

bool
infer_linear_attention(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *q = n->inputs[QUERY];
	int64_t heads = node_attr_int(n, "q_num_heads", 1);
	int64_t kv_heads = node_attr_int(n, "kv_num_heads", 1);
	struct dtype wide = accumulator_type(q->type);
	const struct expr *shape[4];
	int64_t width, values;

	/* A partition may have invalid nodes of this operator. */
	if (!infer_form(c, n, QUERY, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, KEY, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, VALUE, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, DECAY, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, BETA, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, PAST, TYPES_FLOAT, 4, 4)) {
		return false;
	}
	if (!expr_is_int(q->shape[2], &width) ||
	    !expr_is_int(n->inputs[VALUE]->shape[2], &values)) {
		return infer_error(c, DIAG_UNKNOWN_SHAPE,
				   "the sizes of the heads must be known when "
				   "the code is generated");
	}
	if (heads < 1 || heads > INT32_MAX || kv_heads < 1 ||
	    heads % kv_heads != 0 || width % heads != 0 ||
	    values % kv_heads != 0) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "the heads do not divide the sizes; correct "
				   "q_num_heads and kv_num_heads");
	}
	shape[0] = q->shape[0];
	shape[1] = q->shape[1];
	shape[2] = expr_index(m, values / kv_heads * heads);
	infer_set(c, n->outputs[0], wide, 3, shape);
	shape[1] = expr_index(m, kv_heads);
	shape[2] = expr_index(m, width / heads);
	shape[3] = expr_index(m, values / kv_heads);
	infer_set(c, node_output(n, 1), wide, 4, shape);
	return fits_heads(c, n, shape);
}

/* Is input i present, and is the size of its last dimension `size`? */
static bool
has_size(const struct node *n, int i, int64_t size)
{
	const struct tensor *t = node_input(n, i);

	return t && expr_is_value(t->shape[2], size);
}

bool
define_linear_attention(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "read", "state", "row" };
	static const char *const inputs[] = { "queries", "keys",  "values",
					      "decays",  "betas", "past" };
	static const char *const has[] = {
		NULL, NULL, NULL, "has_decay", "has_beta", "has_past"
	};
	struct module *m = c->module;
	const struct tensor *q = n->inputs[QUERY];
	struct dtype wide = accumulator_type(q->type);
	int64_t kv_heads = node_attr_int(n, "kv_num_heads", 1), keys, values;
	int64_t group = node_attr_int(n, "q_num_heads", 1) / kv_heads;
	double scale = node_attr_float(n, "scale", 0);
	bool by_threads = c->graph->settings->by_threads;
	const struct expr *shape[4], *row[3];
	struct te_tensor *given[N_INPUTS], *made[3];
	struct iter_var *axes;
	struct steps s;
	int n_in = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i]) {
			given[n_in++] = in[i];
		}
	}
	expr_is_int(q->shape[2], &keys);
	expr_is_int(n->inputs[VALUE]->shape[2], &values);
	keys /= group * kv_heads;
	values /= kv_heads;
	shape[0] = row[0] = q->shape[0];
	shape[1] = row[1] = expr_index(m, kv_heads);
	shape[2] = expr_index(m, keys);
	shape[3] = row[2] = expr_index(m, values);
	s = steps_begin(c, "linear_attention", "scan", names,
			(struct dtype[]){ wide, wide, wide },
			(int[]){ 3, 4, 3 },
			(const struct expr *const *[]){ n->outputs[0]->shape,
							shape, row },
			3, given, n_in, made);
	axes = define_shape_axes(c, 2, shape);
	for (int i = 0; i < N_INPUTS; i++) {
		if (node_input(n, i)) {
			steps_tensor(&s, inputs[i], in[i]);
		}
		if (has[i]) {
			steps_flag(&s, has[i], node_input(n, i) != NULL);
		}
	}
	steps_value(&s, "b", axes[0].var->expr);
	steps_value(&s, "h", axes[1].var->expr);
	steps_value(&s, "tokens", q->shape[1]);
	steps_number(&s, "group", group);
	steps_number(&s, "key_size", keys);
	steps_number(&s, "value_size", values);
	steps_value(&s, "scale",
		    expr_const(m, wide,
			       scale == 0 ? 1 / sqrt((double)keys) : scale));
	steps_flag(&s, "one_decay", has_size(n, DECAY, kv_heads));
	steps_flag(&s, "one_beta", has_size(n, BETA, 1));
	steps_flag(&s, "by_threads", by_threads);
	steps_type(&s, "wide", wide);
	out[0] = made[0];
	if (n->n_outputs > 1) {
		out[1] = made[1];
	}
	return steps_run(&s, "linear_attention", axes + by_threads,
			 2 - by_threads);
}
