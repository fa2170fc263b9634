/* SPDX-License-Identifier: Apache-2.0 */
/* The recurrent part of LSTM, GRU and RNN in one direction: a loop over time
 * that updates the state. The part of the inputs, x W^T plus biases, is
 * computed before the loop, for all times ("pre"); the importer makes these
 * nodes from ONNX's (see compose_recurrent.c).
 *
 *	for b, j: h[b, j] = h0[b, j], c[b, j] = c0[b, j]
 *	for t in order:
 *		for b, n, k: gates[b, n] += h[b, k] * R[k, n]
 *		for b, j:
 *			c[b, j] = f * c[b, j] + i * g
 *			h[b, j] = o * tanh(c[b, j])
 *			y[t, b, j] = h[b, j]
 *
 * where i, o, f and g are activations of pre[t, b, n] + gates[b, n]. In the
 * reverse direction, the loop starts with the last time. At times beyond the
 * length of a row's sequence (clamped to [0, times]), the row's state does not
 * change, and y is 0.
 *
 * The recurrence weights of LSTM may be bytes with scales and zero points. Then
 * each step quantizes h as DynamicQuantizeLinear does, for all rows together,
 * and sums products of integers:
 *
 *	low, high = min(0, h), max(0, h)
 *	scale = (high - low) / 255, zero = round(-low / scale)
 *	for b, k: bytes[b, k] = clamp(round(h[b, k] / scale) + zero) - zero
 *	for b, n, k: gates[b, n] += bytes[b, k] * (R[k, n] - R_zero[n])
 *
 * Then a gate reads gates[b, n] * (scale * R_scale[n]). The state of a row
 * whose sequence has ended counts as zeros. */
#include "dims.h"

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

/* Infers the outputs from input 0, pre [time][batch][gates][hidden]: output 0
 * is the last state, output 1, which may be absent, the states of all times,
 * output 2 the last cell. False after a diagnostic. */
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

/* Checks that input i, if present, has the shape [rows, parts * hidden], or
 * [parts * hidden] if rows is NULL; false after a diagnostic. */
static bool
check_parts(struct infer *c, const struct node *n, int i,
	    const struct expr *rows, int parts)
{
	struct module *m = c->module;
	const struct expr *hidden = n->inputs[1]->shape[0], *shape[2];
	int rank = rows != NULL;

	shape[0] = rows;
	shape[rank] = dim_mul(m, hidden, expr_int(m, hidden->type, parts));
	return check_shape(c, n, i, rank + 1, shape);
}

/* Checks that the recurrence weights are bytes if, and only if, they have a
 * scale, and that scale and zero point are one number, or one for each column.
 * False after a diagnostic. */
static bool
check_scales(struct infer *c, const struct node *n)
{
	const struct tensor *r = n->inputs[1], *zero = node_input(n, 7);
	const struct tensor *scale = node_input(n, 6);

	if (!scale != dtype_is_float(r->type) || (zero && !scale) ||
	    (scale && (dtype_bits(r->type) != 8 ||
		       !dtype_equal(scale->type, n->inputs[0]->type))) ||
	    (zero && !dtype_equal(zero->type, r->type))) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the recurrence weights need the type of "
				   "input 0, or bytes with a scale and a zero "
				   "point of their type; correct the model");
	}
	for (int i = 6; i < 8; i++) {
		if (node_input(n, i) && node_input(n, i)->ndim > 0 &&
		    !check_parts(c, n, i, NULL, 4)) {
			return false;
		}
	}
	return true;
}

bool
infer_lstm(struct infer *c, struct node *n)
{
	const struct tensor *pre = n->inputs[0], *r = n->inputs[1];

	return infer_recurrent(c, n, 4) && check_scales(c, n) &&
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

enum { MOST_BUFFERS = 10, MOST_PHASES = 6, MOST_STORES = 4 };

struct recurrent {
	struct define *c;
	struct module *m;
	const struct node *n;
	struct te_tensor *const *in;
	const struct expr *times, *rows, *hidden;
	struct dtype type, wide; /* type: the type of the states; wide: the type
				  * of sums */
	struct te_tensor *made[MOST_BUFFERS];
	int n_made;
	/* the tensors of the node's buffers; NULL if the node does not need the
	 * buffer */
	struct te_tensor *h, *cell, *y, *sums[3];
	/* with quantized weights: h with zeros for sequences that have ended
	 * (seen); low, high, scale and zero of one element; the bytes of the
	 * state */
	struct te_tensor *seen, *low, *high, *scale, *zero, *bytes;
	struct te_phase phases[MOST_PHASES];
	int n_phases;
	struct iter_var time;
	/* the axes of the phase that is being made; its stores are for row b
	 * and element j */
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

/* The buffers that make_buffers will make. */
struct buffers {
	const char *name[MOST_BUFFERS];
	struct te_tensor **to[MOST_BUFFERS];
	struct dtype types[MOST_BUFFERS];
	const struct expr *shape[MOST_BUFFERS][3];
	int ndims[MOST_BUFFERS], n;
};

/* Adds a buffer [rows][size], or [size] if rows is NULL, to the list b.
 * make_buffers later sets *to to the buffer's tensor. */
static void
add_buffer(struct buffers *b, const char *name, struct te_tensor **to,
	   struct dtype type, const struct expr *rows, const struct expr *size)
{
	int n = b->n++, d = 0;

	b->name[n] = name;
	b->to[n] = to;
	b->types[n] = type;
	if (rows) {
		b->shape[n][d++] = rows;
	}
	b->shape[n][d++] = size;
	b->ndims[n] = d;
}

/* Adds the buffers of a step that quantizes the state. */
static void
add_quantized(struct recurrent *r, struct buffers *b)
{
	const struct expr *one = expr_index(r->m, 1);

	if (node_input(r->n, 2)) {
		add_buffer(b, "seen", &r->seen, r->type, r->rows, r->hidden);
	}
	add_buffer(b, "low", &r->low, r->type, NULL, one);
	add_buffer(b, "high", &r->high, r->type, NULL, one);
	add_buffer(b, "scale", &r->scale, r->type, NULL, one);
	add_buffer(b, "zero", &r->zero, r->type, NULL, one);
	add_buffer(b, "bytes", &r->bytes, dtype_of(DT_I16), r->rows, r->hidden);
}

static bool
is_quantized(const struct recurrent *r)
{
	return node_input(r->n, 6) != NULL;
}

/* Makes the buffers: the states h and, if with_cell, c; y, NULL if the node
 * lacks it; and the sums, whose rows have the given sizes. */
static void
make_buffers(struct recurrent *r, bool with_cell,
	     const struct expr *const *sizes, const char *const *names,
	     int n_sums)
{
	struct dtype sum = is_quantized(r) ? dtype_of(DT_I32) : r->wide;
	const struct expr *const *shapes[MOST_BUFFERS];
	struct te_tensor *made[MOST_BUFFERS];
	struct buffers b = { .n = 0 };

	add_buffer(&b, "h", &r->h, r->type, r->rows, r->hidden);
	if (with_cell) {
		add_buffer(&b, "c", &r->cell, r->type, r->rows, r->hidden);
	}
	for (int i = 0; i < n_sums; i++) {
		add_buffer(&b, names[i], &r->sums[i], sum, r->rows, sizes[i]);
	}
	if (is_quantized(r)) {
		add_quantized(r, &b);
	}
	if (node_output(r->n, 1)) {
		add_buffer(&b, "y", &r->y, r->type, r->times, r->rows);
		b.shape[b.n - 1][b.ndims[b.n - 1]++] = r->hidden;
	}
	for (int i = 0; i < b.n; i++) {
		shapes[i] = b.shape[i];
	}
	te_ordered(r->m, "steps", "recurrent", b.name, b.types, b.ndims, shapes,
		   b.n, made);
	for (int i = 0; i < b.n; i++) {
		*b.to[i] = made[i];
		r->made[i] = made[i];
	}
	r->n_made = b.n;
}

/* Makes the phase that sets `state` to input i of the node, or to 0 if input i
 * is absent. */
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

/* sums[b, n] = sum over k of from[b, k] * weights[k, n] */
static void
sum_phase(struct recurrent *r, struct te_tensor *sums,
	  const struct te_tensor *from, int weights)
{
	static const char *const names[] = { "b", "n" };
	struct iter_var *axes = te_axes(r->m, 2, sums->buffer->shape, names);
	struct iter_var over = te_reduce_axis(r->m, "k", r->hidden);
	const struct expr *b = axes[0].var->expr, *n = axes[1].var->expr;
	const struct expr *k = over.var->expr, *x, *w;
	struct dtype type = sums->buffer->type;

	x = te_at(r->m, from, (const struct expr *const[]){ b, k }, 2);
	w = te_at(r->m, r->in[weights], (const struct expr *const[]){ k, n },
		  2);
	x = expr_cast(r->m, type, x);
	w = expr_cast(r->m, type, w);
	if (is_quantized(r)) {
		w = expr_sub(r->m, w,
			     expr_cast(r->m, type,
				       define_param(r->c, r->n, 7, r->in, n,
						    type)));
	}
	r->phases[r->n_phases++] =
		te_phase_sum(r->m, sums, sums->buffer->name, axes,
			     te_sum(r->m, expr_mul(r->m, x, w), &over, 1));
}

/* Begins a phase over the rows and elements of the state. Sets r's b and j, the
 * row and the element; `at`, the time that the step reads and writes; and
 * `inside`, the condition that the row's sequence has not ended, or NULL if the
 * node has no lengths of sequences. */
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

/* Ends a phase named `name`, which executes the stores made since its begin,
 * over the first n axes. */
static void
end_phase_of(struct recurrent *r, const char *name, int n)
{
	struct te_store *stores = arena_copy(&r->m->arena, r->stores,
					     sizeof *stores *
						     (size_t)r->n_stores);

	r->phases[r->n_phases++] = (struct te_phase){
		.name = name,
		.axes = r->axes,
		.n_axes = n,
		.stores = stores,
		.n_stores = r->n_stores,
	};
}

static void
end_phase(struct recurrent *r, const char *name)
{
	end_phase_of(r, name, 2);
}

static void
add_store(struct recurrent *r, const struct te_tensor *to,
	  const struct expr *time, const struct expr *value,
	  const struct expr *condition)
{
	const struct expr **at = arena_exprs(&r->m->arena, 3);
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

/* The index of element j of gate `part` in the last dimension, which holds the
 * elements of all gates, one gate after the other. */
static const struct expr *
in_part(struct recurrent *r, int part)
{
	return expr_add(r->m,
			dim_mul(r->m, r->hidden,
				expr_int(r->m, r->hidden->type, part)),
			r->j);
}

/* The element pre[at, b, part, j] of input 0. */
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

/* e limited to -clip … clip, if the node has the attribute clip. */
static const struct expr *
clip(struct recurrent *r, const struct expr *e)
{
	double most = node_attr_float(r->n, "clip", 0);

	return most <= 0 ? e
			 : expr_max(r->m, like(r->c, e, -most),
				    expr_min(r->m, like(r->c, e, most), e));
}

/* Applies the activation that `which` names to e, which is clipped first. */
static const struct expr *
gate(struct recurrent *r, const char *which, const struct expr *e)
{
	return activate(r->c, which, clip(r, e));
}

/* Stores the state h, or 0 at a time beyond the sequence, to y at the current
 * time, and to `seen`, which the next step quantizes. */
static void
store_y(struct recurrent *r)
{
	const struct expr *value = state_at(r, r->h);

	if (r->inside) {
		value = expr_select(r->m, r->inside, value,
				    like(r->c, value, 0));
	}
	if (r->y) {
		add_store(r, r->y, r->at, value, NULL);
	}
	if (r->seen && r->seen != r->h) {
		add_store(r, r->seen, NULL, value, NULL);
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
	return dim_mul(r->m, r->hidden, expr_int(r->m, r->hidden->type, n));
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

/* -- a state as bytes -- */

/* The only element of the buffer t. */
static const struct expr *
only(struct recurrent *r, const struct te_tensor *t)
{
	const struct expr *zero = expr_i32(r->m, 0);

	return te_at(r->m, t, &zero, 1);
}

static struct iter_var *
one_axis(struct recurrent *r, const struct te_tensor *t)
{
	static const char *const one[] = { "one" };

	return te_axes(r->m, 1, t->buffer->shape, one);
}

/* Makes the phase that sets extreme[0] to the largest (if `max`) or the
 * smallest element of the state, where a sequence that has ended counts as
 * 0. */
static void
extreme_phase(struct recurrent *r, struct te_tensor *extreme, bool max)
{
	struct module *m = r->m;
	struct iter_var over[] = { te_reduce_axis(m, "b", r->rows),
				   te_reduce_axis(m, "j", r->hidden) };
	const struct expr *at[] = { over[0].var->expr, over[1].var->expr };

	r->phases[r->n_phases++] =
		te_phase_sum(m, extreme, extreme->buffer->name,
			     one_axis(r, extreme),
			     te_reduce(m, reducer_extreme(m, r->type, max),
				       te_at(m, r->seen, at, 2), over, 2));
}

static void
add_store_to_only(struct recurrent *r, const struct te_tensor *to,
		  const struct expr *value)
{
	const struct expr **at = arena_exprs(&r->m->arena, 1);

	at[0] = r->axes[0].var->expr;
	r->stores[r->n_stores++] = (struct te_store){ .out = to->index,
						      .at = at,
						      .value = value };
}

/* Makes the phase that computes the scale and the zero point: the range of the
 * state, extended to contain 0, is mapped to 0…255. */
static void
scale_phase(struct recurrent *r)
{
	struct module *m = r->m;
	const struct expr *high = only(r, r->high), *low = only(r, r->low);
	const struct expr *zero = like(r->c, low, 0), *range, *scale;

	high = expr_max(m, high, zero);
	low = expr_min(m, low, zero);
	range = expr_sub(m, high, low);
	r->axes = one_axis(r, r->scale);
	r->n_stores = 0;
	add_store_to_only(r, r->scale,
			  expr_select(m, expr_eq(m, range, zero),
				      like(r->c, range, 1),
				      expr_div(m, range,
					       like(r->c, range, 255))));
	scale = only(r, r->scale);
	add_store_to_only(r, r->zero,
			  expr_call1(m, INTRIN_NEARBYINT,
				     expr_div(m, expr_sub(m, zero, low),
					      scale)));
	end_phase_of(r, "range", 1);
}

/* Makes the phase that computes the bytes of the quantized state, minus the
 * zero point. */
static void
bytes_phase(struct recurrent *r)
{
	struct module *m = r->m;
	const struct expr *at[2], *zero = only(r, r->zero), *e;
	struct dtype u8 = dtype_of(DT_U8), type = r->bytes->buffer->type;

	begin_phase(r);
	at[0] = r->b;
	at[1] = r->j;
	e = expr_div(m, te_at(m, r->seen, at, 2), only(r, r->scale));
	e = expr_add(m, expr_call1(m, INTRIN_NEARBYINT, e), zero);
	e = expr_cast(m, type, expr_call(m, INTRIN_TO_INT, u8, &e, 1));
	zero = expr_call(m, INTRIN_TO_INT, u8, &zero, 1);
	add_store(r, r->bytes, NULL, expr_sub(m, e, expr_cast(m, type, zero)),
		  NULL);
	end_phase(r, "bytes");
}

/* Makes the phase that computes the gates' sums: h times the recurrence
 * weights, input 1. */
static void
gates_phase(struct recurrent *r)
{
	if (is_quantized(r)) {
		extreme_phase(r, r->low, false);
		extreme_phase(r, r->high, true);
		scale_phase(r);
		bytes_phase(r);
	}
	sum_phase(r, r->sums[0], is_quantized(r) ? r->bytes : r->h, 1);
}

const char *
op_gates(const struct node *n)
{
	if (strcmp(n->domain, "tirc") != 0) {
		return NULL;
	}
	if (strcmp(n->op_type, "LSTM") == 0) {
		return node_input(n, 5) != NULL
			       ? "i (input), o (output), f (forget), c (cell), in "
				 "this order in x, which has the sums of W and B, "
				 "and in r, ONNX's R; i, o, f in peepholes"
			       : "i (input), o (output), f (forget), c (cell), in "
				 "this order in x, which has the sums of W and B, "
				 "and in r, ONNX's R";
	}
	if (strcmp(n->op_type, "GRU") == 0) {
		return node_input(n, 4) != NULL
			       ? "z (update), r (reset), h (hidden), in this "
				 "order in x, which has the sums of W and B; z "
				 "and r in r, h in inner_r, both ONNX's R"
			       : "z (update), r (reset), h (hidden), in this "
				 "order in x, which has the sums of W and B, and "
				 "in r, ONNX's R";
	}
	return NULL;
}

/* -- LSTM: gates i, o, f and c in this order -- */

/* The sum of gate `part` as a real number. */
static const struct expr *
gate_sum(struct recurrent *r, int part)
{
	const struct expr *sum = sum_at(r, r->sums[0], part), *scale;

	if (!is_quantized(r)) {
		return sum;
	}
	scale = define_param(r->c, r->n, 6, r->in, in_part(r, part), r->type);
	return expr_mul(r->m, sum, expr_mul(r->m, only(r, r->scale), scale));
}

/* The value of gate `part`; its sum includes peephole weight number `peephole`
 * of input 5 times the cell, unless that is -1. */
static const struct expr *
lstm_gate(struct recurrent *r, const char *which, int part, int peephole)
{
	const struct expr *e = expr_add(r->m, pre_at(r, part),
					gate_sum(r, part));

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
	if (r.seen) {
		start_state(&r, r.seen, 3);
	} else if (is_quantized(&r)) {
		r.seen = r.h;
	}
	gates_phase(&r);
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

/* With linear_before_reset, the reset gate multiplies the sum over the state;
 * else it multiplies the state before that sum is computed. */
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
