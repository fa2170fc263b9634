/* SPDX-License-Identifier: Apache-2.0 */
/* The recurrent part of LSTM, GRU and RNN in one direction: a loop over time
 * that updates the state. The inputs' part, x W^T plus biases, is computed for
 * all times before ("pre"); the importer makes these nodes of ONNX's (see
 * compose_recurrent.c).
 *
 *	for b, j: h[b, j] = h0[b, j], c[b, j] = c0[b, j]
 *	for t in order:
 *		for b, n, k: gates[b, n] += h[b, k] * R[k, n]
 *		for b, j:
 *			c[b, j] = f * c[b, j] + i * g
 *			h[b, j] = o * tanh(c[b, j])
 *			y[t, b, j] = h[b, j]
 *
 * where i, o, f and g are activations of pre[t, b, n] + gates[b, n]. In reverse
 * direction the last time comes first. Beyond the length of its sequence, which
 * is brought into [0, times], a row's state stays and y is 0. */
#include "define.h"

/* -- inference -- */

static bool
check_shape(struct infer *c, const struct node *n, int i, int rank,
	    const struct expr *const *shape)
{
	const struct tensor *t = node_input(n, i);
	bool fits = t == NULL || t->ndim == rank;

	for (int d = 0; t != NULL && fits && d < rank; d++) {
		fits = dims_equal(c, t->shape[d], shape[d]);
	}
	return fits || infer_error(c, DIAG_BAD_SHAPE,
				   "the shape of input %d contradicts those of "
				   "the inputs before; correct the model",
				   i);
}

/* `gates` times the hidden size in pre. Output 0 is the last state, 1, which
 * may be absent, the states of all times, 2 the last cell. */
static bool
infer_recurrent(struct infer *c, struct node *n, int gates)
{
	const struct tensor *pre = n->inputs[0], *r = n->inputs[1];
	const struct expr *shape[3];

	if (pre->ndim != 4 || r->ndim != 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "inputs of rank %d and %d are not 4 and 2",
				   pre->ndim, r->ndim);
	}
	for (int i = 0; i < 2; i++) {
		shape[i] = pre->shape[i];
	}
	shape[2] = r->shape[0];
	if (!expr_is_value(pre->shape[2], gates) ||
	    !dims_equal(c, pre->shape[3], shape[2])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the hidden sizes of weights and recurrence "
				   "weights differ; correct the model");
	}
	if (!check_shape(c, n, 2, 1, shape + 1) ||
	    !check_shape(c, n, 3, 2, shape + 1)) {
		return false;
	}
	infer_set(c, node_output(n, 0), pre->type, 2, shape + 1);
	infer_set(c, node_output(n, 1), pre->type, 3, shape);
	infer_set(c, node_output(n, 2), pre->type, 2, shape + 1);
	return true;
}

/* Has the input i the shape [rows, parts * hidden]? rows NULL: one dimension. */
static bool
check_parts(struct infer *c, const struct node *n, int i,
	    const struct expr *rows, int parts)
{
	struct module *m = c->module;
	const struct expr *hidden = n->inputs[1]->shape[0], *shape[2];
	int rank = rows != NULL;

	shape[0] = rows;
	shape[rank] = expr_mul(m, hidden, expr_int(m, hidden->type, parts));
	return check_shape(c, n, i, rank + 1, shape);
}

bool
infer_lstm(struct infer *c, struct node *n)
{
	const struct tensor *pre = n->inputs[0], *r = n->inputs[1];

	return infer_recurrent(c, n, 4) &&
	       check_parts(c, n, 1, r->shape[0], 4) &&
	       check_parts(c, n, 4, pre->shape[1], 1) &&
	       check_parts(c, n, 5, NULL, 3);
}

bool
infer_gru(struct infer *c, struct node *n)
{
	const struct tensor *r = n->inputs[1];

	return infer_recurrent(c, n, 3) &&
	       check_parts(c, n, 1, r->shape[0], node_input(n, 4) ? 2 : 3) &&
	       check_parts(c, n, 4, r->shape[0], 1) &&
	       check_parts(c, n, 5, NULL, 1);
}

bool
infer_rnn(struct infer *c, struct node *n)
{
	return infer_recurrent(c, n, 1) &&
	       check_parts(c, n, 1, n->inputs[1]->shape[0], 1);
}

/* -- activations -- */

/* The activation that the attribute `which` ("f", "g" or "h") names. */
static const struct expr *
activate(struct define *c, const char *which, const struct expr *x)
{
	struct module *m = c->module;
	const struct node *n = c->node;
	const char *name = node_attr_string(n, which, "Tanh");
	const char *a = arena_printf(&m->arena, "%s_alpha", which);
	const char *b = arena_printf(&m->arena, "%s_beta", which);
	const struct expr *alpha = like(c, x, node_attr_float(n, a, 0));
	const struct expr *beta = like(c, x, node_attr_float(n, b, 0));
	const struct expr *zero = like(c, x, 0), *one = like(c, x, 1);

	if (strcmp(name, "Sigmoid") == 0) {
		return expr_call1(m, INTRIN_SIGMOID, x);
	} else if (strcmp(name, "Relu") == 0) {
		return expr_max(m, x, zero);
	} else if (strcmp(name, "Affine") == 0) {
		return expr_add(m, expr_mul(m, alpha, x), beta);
	} else if (strcmp(name, "LeakyRelu") == 0) {
		return expr_select(m, expr_lt(m, x, zero),
				   expr_mul(m, alpha, x), x);
	} else if (strcmp(name, "ThresholdedRelu") == 0) {
		return expr_select(m, expr_lt(m, x, alpha), zero, x);
	} else if (strcmp(name, "ScaledTanh") == 0) {
		return expr_mul(m, alpha,
				expr_call1(m, INTRIN_TANH,
					   expr_mul(m, beta, x)));
	} else if (strcmp(name, "HardSigmoid") == 0) {
		x = expr_add(m, expr_mul(m, alpha, x), beta);
		return expr_max(m, zero, expr_min(m, one, x));
	} else if (strcmp(name, "Elu") == 0) {
		return define_elu(c, alpha, x);
	} else if (strcmp(name, "Softsign") == 0) {
		return expr_div(m, x,
				expr_add(m, one, expr_call1(m, INTRIN_ABS, x)));
	} else if (strcmp(name, "Softplus") == 0) {
		return define_softplus(c, x);
	}
	return expr_call1(m, INTRIN_TANH, x);
}

/* -- definition -- */

enum { MOST_BUFFERS = 5, MOST_PHASES = 4, MOST_STORES = 3 };

struct recurrent {
	struct define *c;
	struct module *m;
	const struct node *n;
	struct te_tensor *const *in;
	const struct expr *times, *rows, *hidden;
	struct dtype type, wide; /* of the states, and of sums */
	struct te_tensor *made[MOST_BUFFERS];
	int n_made;
	struct te_tensor *h, *cell, *y, *sums[3]; /* NULL: absent */
	struct te_phase phases[MOST_PHASES];
	int n_phases;
	struct iter_var time;
	/* of the phase in the making, for row b and element j */
	struct iter_var *axes;
	const struct expr *b, *j, *at, *inside;
	struct te_store stores[MOST_STORES];
	int n_stores;
};

static void
recurrent_init(struct recurrent *r, struct define *c, const struct node *n,
	       struct te_tensor *const *in)
{
	const struct tensor *pre = n->inputs[0];

	*r = (struct recurrent){
		.c = c,
		.m = c->module,
		.n = n,
		.in = in,
		.times = pre->shape[0],
		.rows = pre->shape[1],
		.hidden = n->inputs[1]->shape[0],
		.type = pre->type,
		.wide = accumulator_type(pre->type),
		.time = te_reduce_axis(c->module, "t", pre->shape[0]),
	};
	r->time.kind = ITER_SCAN;
}

/* Makes the buffers: the states h and, if with_cell, c; y, NULL if the node
 * lacks it; and sums, rows of the given sizes. */
static void
make_buffers(struct recurrent *r, bool with_cell,
	     const struct expr *const *sizes, const char *const *names,
	     int n_sums)
{
	const struct expr *shape[MOST_BUFFERS][3];
	const struct expr *const *shapes[MOST_BUFFERS];
	const char *name[MOST_BUFFERS];
	struct te_tensor **to[MOST_BUFFERS], *made[MOST_BUFFERS];
	struct dtype types[MOST_BUFFERS];
	int ndims[MOST_BUFFERS], n = 0;

	name[n] = "h";
	to[n++] = &r->h;
	if (with_cell) {
		name[n] = "c";
		to[n++] = &r->cell;
	}
	for (int i = 0; i < n_sums; i++) {
		name[n] = names[i];
		to[n++] = &r->sums[i];
	}
	for (int i = 0; i < n; i++) {
		int sum = i - 1 - with_cell;

		shape[i][0] = r->rows;
		shape[i][1] = sum < 0 ? r->hidden : sizes[sum];
		ndims[i] = 2;
		types[i] = sum < 0 ? r->type : r->wide;
		shapes[i] = shape[i];
	}
	if (node_output(r->n, 1)) {
		name[n] = "y";
		to[n] = &r->y;
		shape[n][0] = r->times;
		shape[n][1] = r->rows;
		shape[n][2] = r->hidden;
		ndims[n] = 3;
		types[n] = r->type;
		shapes[n] = shape[n];
		n++;
	}
	te_ordered(r->m, "steps", "recurrent", name, types, ndims, shapes, n,
		   made);
	for (int i = 0; i < n; i++) {
		*to[i] = made[i];
		r->made[i] = made[i];
	}
	r->n_made = n;
}

/* A state starts as input i of the node, or 0. */
static void
start_state(struct recurrent *r, struct te_tensor *state, int i)
{
	struct iter_var *axes = define_shape_axes(r->c, 2,
						  state->buffer->shape);
	const struct expr *value = expr_const(r->m, r->type, 0);

	if (node_input(r->n, i)) {
		value = te_at(r->m, r->in[i], axes_exprs(r->c, axes, 2), 2);
	}
	te_ordered_start(r->m, state, axes, value);
}

static const struct expr *
wide_at(struct recurrent *r, const struct te_tensor *t,
	const struct expr *const *index, int n)
{
	return expr_cast(r->m, r->wide, te_at(r->m, t, index, n));
}

/* sums[b, n] = from[b, k] * weights[k, n], summed over k */
static void
sum_phase(struct recurrent *r, struct te_tensor *sums,
	  const struct te_tensor *from, int weights)
{
	static const char *const names[] = { "b", "n" };
	struct iter_var *axes = te_axes(r->m, 2, sums->buffer->shape, names);
	struct iter_var over = te_reduce_axis(r->m, "k", r->hidden);
	const struct expr *b = axes[0].var->expr, *n = axes[1].var->expr;
	const struct expr *k = over.var->expr, *x, *w;

	x = wide_at(r, from, (const struct expr *const[]){ b, k }, 2);
	w = wide_at(r, r->in[weights], (const struct expr *const[]){ k, n }, 2);
	r->phases[r->n_phases++] =
		te_phase_sum(r->m, sums, sums->buffer->name, axes,
			     te_sum(r->m, expr_mul(r->m, x, w), &over, 1));
}

/* Begins a phase over the rows and elements of the state: sets b and j; `at`,
 * the time that is read and written; and `inside`, NULL or whether the row's
 * sequence is that long. */
static void
begin_phase(struct recurrent *r)
{
	const struct expr *shape[] = { r->rows, r->hidden };
	static const char *const names[] = { "b", "j" };
	bool reverse = node_attr_int(r->n, "reverse", 0) != 0;
	const struct expr *t = r->time.var->expr, *end = r->times;

	r->axes = te_axes(r->m, 2, shape, names);
	r->b = r->axes[0].var->expr;
	r->j = r->axes[1].var->expr;
	r->n_stores = 0;
	r->inside = NULL;
	r->at = t;
	if (node_input(r->n, 2)) {
		end = define_clamped(r->c, te_at(r->m, r->in[2], &r->b, 1),
				     expr_i32(r->m, 0), r->times);
		r->inside = expr_lt(r->m, t, end);
	}
	if (reverse) {
		r->at = expr_sub(r->m,
				 expr_sub(r->m, end,
					  expr_int(r->m, t->type, 1)),
				 t);
	}
	if (reverse && r->inside) {
		r->at = expr_select(r->m, r->inside, r->at, t);
	}
}

static void
end_phase(struct recurrent *r, const char *name)
{
	struct te_store *stores = arena_copy(&r->m->arena, r->stores,
					     sizeof *stores *
						     (size_t)r->n_stores);

	r->phases[r->n_phases++] = (struct te_phase){
		.name = name,
		.axes = r->axes,
		.n_axes = 2,
		.stores = stores,
		.n_stores = r->n_stores,
	};
}

static void
add_store(struct recurrent *r, const struct te_tensor *to,
	  const struct expr *time, const struct expr *value,
	  const struct expr *condition)
{
	const struct expr **at = arena_array(&r->m->arena, const struct expr *,
					     3);
	int n = 0;

	if (time) {
		at[n++] = time;
	}
	at[n++] = r->b;
	at[n++] = r->j;
	r->stores[r->n_stores++] = (struct te_store){
		.out = to->index,
		.at = at,
		.value = expr_cast(r->m, to->buffer->type, value),
		.condition = condition,
	};
}

/* Element [b, j] of a state or sum. */
static const struct expr *
state_at(struct recurrent *r, const struct te_tensor *t)
{
	return wide_at(r, t, (const struct expr *const[]){ r->b, r->j }, 2);
}

/* Element j of part `part` of the last dimension. */
static const struct expr *
in_part(struct recurrent *r, int part)
{
	return expr_add(r->m,
			expr_mul(r->m, r->hidden,
				 expr_int(r->m, r->hidden->type, part)),
			r->j);
}

/* pre[at, b, part, j] */
static const struct expr *
pre_at(struct recurrent *r, int part)
{
	return wide_at(r, r->in[0],
		       (const struct expr *const[]){
			       r->at, r->b, expr_i32(r->m, part), r->j },
		       4);
}

static const struct expr *
sum_at(struct recurrent *r, const struct te_tensor *sums, int part)
{
	return wide_at(r, sums,
		       (const struct expr *const[]){ r->b, in_part(r, part) },
		       2);
}

/* e between -clip and clip. */
static const struct expr *
clip(struct recurrent *r, const struct expr *e)
{
	double most = node_attr_float(r->n, "clip", 0);

	return most <= 0 ? e
			 : expr_max(r->m, like(r->c, e, -most),
				    expr_min(r->m, like(r->c, e, most), e));
}

/* The activation `which` of e, clipped. */
static const struct expr *
gate(struct recurrent *r, const char *which, const struct expr *e)
{
	return activate(r->c, which, clip(r, e));
}

/* y at this time is the state h, or 0 beyond the sequence. */
static void
store_y(struct recurrent *r)
{
	const struct expr *value;

	if (r->y) {
		value = state_at(r, r->h);
		if (r->inside) {
			value = expr_select(r->m, r->inside, value,
					    like(r->c, value, 0));
		}
		add_store(r, r->y, r->at, value, NULL);
	}
}

static bool
finish(struct recurrent *r, struct te_tensor **out)
{
	define_phases(r->c, r->made, r->n_made, &r->time, 1, r->phases,
		      r->n_phases);
	out[0] = r->h;
	if (r->y) {
		out[1] = r->y;
	}
	if (node_output(r->n, 2)) {
		out[2] = r->cell;
	}
	return true;
}

static const struct expr *
times_hidden(struct recurrent *r, int n)
{
	return expr_mul(r->m, r->hidden, expr_int(r->m, r->hidden->type, n));
}

bool
define_rnn(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "sums" };
	struct recurrent r;

	recurrent_init(&r, c, n, in);
	make_buffers(&r, false, &r.hidden, names, 1);
	start_state(&r, r.h, 3);
	sum_phase(&r, r.sums[0], r.h, 1);
	begin_phase(&r);
	add_store(&r, r.h, NULL,
		  gate(&r, "f",
		       expr_add(r.m, pre_at(&r, 0), sum_at(&r, r.sums[0], 0))),
		  r.inside);
	store_y(&r);
	end_phase(&r, "cell");
	return finish(&r, out);
}

/* -- LSTM: gates i, o, f and c in this order -- */

/* Gate `part`, plus weight `peephole` (-1: none) of input 5 times the cell. */
static const struct expr *
lstm_gate(struct recurrent *r, const char *which, int part, int peephole)
{
	const struct expr *e = expr_add(r->m, pre_at(r, part),
					sum_at(r, r->sums[0], part));

	if (peephole >= 0 && node_input(r->n, 5)) {
		const struct expr *at = in_part(r, peephole);
		const struct expr *p = wide_at(r, r->in[5], &at, 1);

		e = expr_add(r->m, e, expr_mul(r->m, p, state_at(r, r->cell)));
	}
	return gate(r, which, e);
}

bool
define_lstm(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	static const char *const names[] = { "gates" };
	const struct expr *size, *i, *f, *g, *o;
	struct recurrent r;

	recurrent_init(&r, c, n, in);
	size = times_hidden(&r, 4);
	make_buffers(&r, true, &size, names, 1);
	start_state(&r, r.h, 3);
	start_state(&r, r.cell, 4);
	sum_phase(&r, r.sums[0], r.h, 1);
	begin_phase(&r);
	i = lstm_gate(&r, "f", 0, 0);
	f = node_attr_int(n, "input_forget", 0)
		    ? expr_sub(r.m, like(c, i, 1), i)
		    : lstm_gate(&r, "f", 2, 2);
	g = lstm_gate(&r, "g", 3, -1);
	add_store(&r, r.cell, NULL,
		  expr_add(r.m, expr_mul(r.m, f, state_at(&r, r.cell)),
			   expr_mul(r.m, i, g)),
		  r.inside);
	o = lstm_gate(&r, "f", 1, 1);
	add_store(&r, r.h, NULL,
		  expr_mul(r.m, o, activate(c, "h", state_at(&r, r.cell))),
		  r.inside);
	store_y(&r);
	end_phase(&r, "cell");
	return finish(&r, out);
}

/* -- GRU: gates z, r and h in this order -- */

static const struct expr *
gru_gate(struct recurrent *r, int part)
{
	return gate(r, "f",
		    expr_add(r->m, pre_at(r, part),
			     sum_at(r, r->sums[0], part)));
}

/* h = (1 - z) * g(inner) + z * h */
static void
gru_cell(struct recurrent *r, const struct expr *inner)
{
	const struct expr *z = gru_gate(r, 0);
	const struct expr *old = expr_sub(r->m, like(r->c, z, 1), z);
	const struct expr *value =
		expr_add(r->m, expr_mul(r->m, old, gate(r, "g", inner)),
			 expr_mul(r->m, z, state_at(r, r->h)));

	add_store(r, r->h, NULL, value, r->inside);
	store_y(r);
	end_phase(r, "cell");
}

/* With linear_before_reset the reset gate multiplies a sum; else it multiplies
 * the state, which is summed then. */
bool
define_gru(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "gates", "reset", "inner" };
	bool linear = node_attr_int(n, "linear_before_reset", 0) != 0;
	const struct expr *sizes[3], *inner, *bias;
	struct recurrent r;

	recurrent_init(&r, c, n, in);
	sizes[0] = times_hidden(&r, linear ? 3 : 2);
	sizes[1] = sizes[2] = r.hidden;
	make_buffers(&r, false, sizes, names, linear ? 1 : 3);
	start_state(&r, r.h, 3);
	sum_phase(&r, r.sums[0], r.h, 1);
	begin_phase(&r);
	if (linear) {
		inner = sum_at(&r, r.sums[0], 2);
		if (node_input(n, 5)) {
			bias = wide_at(&r, in[5], &r.j, 1);
			inner = expr_add(r.m, inner, bias);
		}
		inner = expr_mul(r.m, gru_gate(&r, 1), inner);
	} else {
		add_store(&r, r.sums[1], NULL,
			  expr_mul(r.m, gru_gate(&r, 1), state_at(&r, r.h)),
			  NULL);
		end_phase(&r, "reset");
		sum_phase(&r, r.sums[2], r.sums[1], 4);
		begin_phase(&r);
		inner = sum_at(&r, r.sums[2], 0);
	}
	gru_cell(&r, expr_add(r.m, pre_at(&r, 2), inner));
	return finish(&r, out);
}
