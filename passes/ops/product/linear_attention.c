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
 * The last line is computed for each head g of the queries that reads h.
 * Without decay or beta, their lines are left out. Tensors of tokens have the
 * shape [b][t][heads * elements]. */
#include "steps.h"

#include <math.h>

enum { QUERY, KEY, VALUE, DECAY, BETA, PAST, N_INPUTS };

struct linear {
	struct steps s;
	const struct node *n;
	struct te_tensor *const *in;
	struct te_tensor *y, *state, *row;
	struct dtype wide;
	const struct expr *b, *h, *t;
	int64_t group, heads, key_size, value_size;
	double scale;
};

/* Is input i absent, or has it `size` or `other` numbers for each token of the
 * query? */
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

static struct var *
counter(struct linear *l, const char *name)
{
	return var_new(l->s.m, name, l->b->type);
}

static const struct expr *
index_of(struct linear *l, const struct expr *head, int64_t size,
	 const struct expr *at)
{
	struct module *m = l->s.m;

	return expr_add(m, expr_mul(m, head, expr_index(m, size)), at);
}

/* Element `at` of the current token, of head `head` with `size` elements, in
 * input i. */
static const struct expr *
token(struct linear *l, int i, const struct expr *head, int64_t size,
      const struct expr *at)
{
	const struct expr *index[] = { l->b, l->t,
				       index_of(l, head, size, at) };

	return expr_cast(l->s.m, l->wide, te_at(l->s.m, l->in[i], index, 3));
}

static const struct expr *
state_at(struct linear *l, const struct te_tensor *t, const struct expr *d,
	 const struct expr *v)
{
	const struct expr *index[] = { l->b, l->h, d, v };

	return te_at(l->s.m, t, index, 4);
}

static struct stmt *
set_state(struct linear *l, const struct expr *d, const struct expr *v,
	  const struct expr *value)
{
	const struct expr *index[] = { l->b, l->h, d, v };

	return stmt_store(l->s.f, l->state->buffer, value, index, 4);
}

static const struct expr *
row_at(struct linear *l, const struct expr *v)
{
	const struct expr *index[] = { l->b, l->h, v };

	return te_at(l->s.m, l->row, index, 3);
}

static struct stmt *
set_row(struct linear *l, const struct expr *v, const struct expr *value)
{
	const struct expr *index[] = { l->b, l->h, v };

	return stmt_store(l->s.f, l->row->buffer, value, index, 3);
}

/* The loop over the value's elements: for m (the variable v): body */
static struct stmt *
for_values(struct linear *l, struct var *v, struct stmt *body)
{
	return step_for(&l->s, v, expr_index(l->s.m, l->value_size), body);
}

/* The loops over the elements of the key (the variable d) and of the value (v),
 * as m above: for d: let factor = value: for m: body. factor: NULL for no
 * let. */
static struct stmt *
for_keys(struct linear *l, struct var *d, struct var *factor,
	 const struct expr *value, struct var *v, struct stmt *body)
{
	body = for_values(l, v, body);
	if (factor) {
		body = stmt_let(l->s.f, factor, value, body);
	}
	return step_for(&l->s, d, expr_index(l->s.m, l->key_size), body);
}

static struct stmt *
start(struct linear *l)
{
	struct var *d = counter(l, "d"), *v = counter(l, "m");
	const struct expr *value = expr_const(l->s.m, l->wide, 0);

	if (node_input(l->n, PAST)) {
		value = expr_cast(l->s.m, l->wide,
				  state_at(l, l->in[PAST], d->expr, v->expr));
	}
	return for_keys(l, d, NULL, NULL, v,
			set_state(l, d->expr, v->expr, value));
}

/* The decay of the state: S[d, m] = S[d, m] * exp(decay) */
static struct stmt *
decay(struct linear *l)
{
	struct module *m = l->s.m;
	struct var *d = counter(l, "d"), *v = counter(l, "m");
	struct var *keep = var_new(m, "keep", l->wide);
	const struct tensor *t = node_input(l->n, DECAY);
	bool per_head = t && expr_is_value(t->shape[2], l->heads / l->group);
	const struct expr *e, *s = state_at(l, l->state, d->expr, v->expr);

	if (!t) {
		return stmt_seq(l->s.f, NULL, 0);
	}
	e = per_head ? token(l, DECAY, l->h, 1, expr_index(m, 0))
		     : token(l, DECAY, l->h, l->key_size, d->expr);
	return for_keys(l, d, keep, expr_call1(m, INTRIN_EXP, e), v,
			set_state(l, d->expr, v->expr,
				  expr_mul(m, s, keep->expr)));
}

/* Computes what is added for the token: r[m] = v; with beta: r[m] = beta * (v -
 * the state's value for the key). */
static struct stmt *
new_value(struct linear *l)
{
	struct module *m = l->s.m;
	struct var *d = counter(l, "d"), *v = counter(l, "m");
	struct var *key = var_new(m, "key", l->wide), *by = counter(l, "m");
	struct var *first = counter(l, "m");
	const struct tensor *t = node_input(l->n, BETA);
	const struct expr *s = state_at(l, l->state, d->expr, v->expr), *beta;
	struct stmt *copy, *subtract, *scale;

	copy = for_values(l, first,
			  set_row(l, first->expr,
				  token(l, VALUE, l->h, l->value_size,
					first->expr)));
	if (!t) {
		return copy;
	}
	beta = token(l, BETA,
		     expr_is_value(t->shape[2], 1) ? expr_index(m, 0) : l->h, 1,
		     expr_index(m, 0));
	subtract = for_keys(l, d, key,
			    token(l, KEY, l->h, l->key_size, d->expr), v,
			    set_row(l, v->expr,
				    expr_sub(m, row_at(l, v->expr),
					     expr_mul(m, s, key->expr))));
	scale = for_values(l, by,
			   set_row(l, by->expr,
				   expr_mul(m, row_at(l, by->expr), beta)));
	return step_seq(&l->s, 3, copy, subtract, scale, NULL);
}

/* Adds the token to the state: S[d, m] = S[d, m] + key[d] * r[m] */
static struct stmt *
write_state(struct linear *l)
{
	struct module *m = l->s.m;
	struct var *d = counter(l, "d"), *v = counter(l, "m");
	struct var *key = var_new(m, "key", l->wide);
	const struct expr *s = state_at(l, l->state, d->expr, v->expr);

	return for_keys(l, d, key, token(l, KEY, l->h, l->key_size, d->expr), v,
			set_state(l, d->expr, v->expr,
				  expr_add(m, s,
					   expr_mul(m, key->expr,
						    row_at(l, v->expr)))));
}

static struct stmt *
put_result(struct linear *l, const struct expr *head, const struct expr *v,
	   const struct expr *more)
{
	struct module *m = l->s.m;
	const struct expr *index[] = { l->b, l->t,
				       index_of(l, head, l->value_size, v) };
	const struct expr *value = more;

	if (value) {
		value = expr_add(m, te_at(m, l->y, index, 3), value);
	} else {
		value = expr_const(m, l->wide, 0);
	}
	return stmt_store(l->s.f, l->y->buffer, value, index, 3);
}

/* Reads the state: y = scale * q S, for each head of the queries */
static struct stmt *
read_state(struct linear *l)
{
	struct module *m = l->s.m;
	struct var *g = counter(l, "g"), *first = counter(l, "m");
	struct var *d = counter(l, "d"), *v = counter(l, "m");
	struct var *query = var_new(m, "query", l->wide);
	const struct expr *head = index_of(l, l->h, l->group, g->expr), *q;
	struct stmt *zero, *add;

	q = expr_mul(m, token(l, QUERY, head, l->key_size, d->expr),
		     expr_const(m, l->wide, l->scale));
	zero = for_values(l, first, put_result(l, head, first->expr, NULL));
	add = for_keys(l, d, query, q, v,
		       put_result(l, head, v->expr,
				  expr_mul(m, query->expr,
					   state_at(l, l->state, d->expr,
						    v->expr))));
	return step_for(&l->s, g, expr_index(m, l->group),
			step_seq(&l->s, 2, zero, add, NULL, NULL));
}

static void
read_sizes(struct linear *l)
{
	const struct node *n = l->n;
	int64_t kv_heads = node_attr_int(n, "kv_num_heads", 1);

	l->heads = node_attr_int(n, "q_num_heads", 1);
	l->group = l->heads / kv_heads;
	expr_is_int(n->inputs[QUERY]->shape[2], &l->key_size);
	expr_is_int(n->inputs[VALUE]->shape[2], &l->value_size);
	l->key_size /= l->heads;
	l->value_size /= kv_heads;
	l->scale = node_attr_float(n, "scale", 0);
	if (l->scale == 0) {
		l->scale = 1 / sqrt((double)l->key_size);
	}
}

bool
define_linear_attention(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "read", "state", "row" };
	struct module *m = c->module;
	struct linear l = { .n = n, .in = in };
	const struct tensor *q = n->inputs[QUERY];
	const struct expr *state[4], *row[3];
	struct te_tensor *given[N_INPUTS], *made[3];
	struct iter_var *axes;
	struct var *t, *batch;
	struct stmt *token_steps, *body;
	/* the threads of a device get whole heads: then the rows that they
	 * write provably differ */
	bool devices = c->graph->settings->by_threads;
	int n_in = 0;

	read_sizes(&l);
	l.wide = accumulator_type(q->type);
	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i]) {
			given[n_in++] = in[i];
		}
	}
	state[0] = row[0] = q->shape[0];
	state[1] = row[1] = expr_index(m, l.heads / l.group);
	state[2] = expr_index(m, l.key_size);
	state[3] = row[2] = expr_index(m, l.value_size);
	l.s = steps_begin(c, "linear_attention", "scan", names,
			  (struct dtype[]){ l.wide, l.wide, l.wide },
			  (int[]){ 3, 4, 3 },
			  (const struct expr *const *[]){ n->outputs[0]->shape,
							  state, row },
			  3, given, n_in, made);
	l.y = made[0];
	l.state = made[1];
	l.row = made[2];
	axes = define_shape_axes(c, 2, state);
	batch = var_new(m, "b", axes[0].var->type);
	l.b = devices ? batch->expr : axes[0].var->expr;
	l.h = axes[1].var->expr;
	t = counter(&l, "t");
	l.t = t->expr;
	token_steps = step_seq(&l.s, 4, decay(&l), new_value(&l),
			       write_state(&l), read_state(&l));
	body = step_seq(&l.s, 2, start(&l),
			step_for(&l.s, t, q->shape[1], token_steps), NULL,
			NULL);
	if (devices) {
		steps_end(&l.s, axes + 1, 1,
			  step_for(&l.s, batch, q->shape[0], body));
	} else {
		steps_end(&l.s, axes, 2, body);
	}
	out[0] = made[0];
	if (n->n_outputs > 1) {
		out[1] = made[1];
	}
	return true;
}
