/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes the reducer that a block's stores compute, and makes stores from a
 * reducer. */
#include "reduction_match.h"

#include "access.h"
#include "interp.h"
#include "iterate.h"

/* ---- reading */

struct matcher {
	struct func *f;
	struct module *m;
	const struct stmt *block;
	struct reducer *r;
	struct block_reduction *out;
	struct var_map lets; /* variables of LETs and their values */
	const char *why;
};

static bool
fail(struct matcher *x, const char *why)
{
	x->why = why;
	return false;
}

static int
store_count(const struct stmt *s)
{
	if (!s || (s->kind != STMT_STORE && s->kind != STMT_SEQ)) {
		return 0;
	}
	for (int i = 0; s->kind == STMT_SEQ && i < s->n_children; i++) {
		if (s->children[i]->kind != STMT_STORE) {
			return 0;
		}
	}
	return s->kind == STMT_STORE ? 1 : s->n_children;
}

static const struct stmt *
store_at(const struct stmt *s, int i)
{
	return s->kind == STMT_STORE ? s : s->children[i];
}

static bool
same_index(const struct stmt *store, const struct expr *const *index)
{
	for (int d = 1; d < store->n_args; d++) {
		if (store->args[d] != index[d - 1]) {
			return false;
		}
	}
	return true;
}

/* Reads the reducer's identities from the init, whose stores also define the
 * order of the values. False with the reason in x->why. */
static bool
match_init(struct matcher *x)
{
	struct arena *a = &x->m->arena;
	const struct stmt *init = x->block->children[1];
	int n = store_count(init);
	const struct expr **identity;

	if (n == 0) {
		return fail(x, "has no init that stores its initial values");
	}
	identity = arena_exprs(a, n);
	x->r->n = n;
	x->r->identity = identity;
	x->out->buffers = arena_array(a, const struct buffer *, n);
	x->out->index = store_at(init, 0)->args + 1;
	for (int k = 0; k < n; k++) {
		const struct stmt *s = store_at(init, k);
		enum expr_kind kind = s->args[0]->kind;

		x->out->buffers[k] = s->u.buffer;
		identity[k] = s->args[0];
		if (!same_index(s, x->out->index) ||
		    s->u.buffer->ndim != store_at(init, 0)->u.buffer->ndim ||
		    (kind != EXPR_INT && kind != EXPR_FLOAT)) {
			return fail(x, "does not initialize one element with "
				       "constants");
		}
		for (int i = 0; i < k; i++) {
			if (x->out->buffers[i] == s->u.buffer) {
				return fail(x, "initializes a value twice");
			}
		}
	}
	return true;
}

static int
value_of(const struct matcher *x, const struct buffer *b)
{
	for (int k = 0; k < x->r->n; k++) {
		if (x->out->buffers[k] == b) {
			return k;
		}
	}
	return -1;
}

/* Replaces loads of the accumulators by the reducer's left operands, and
 * variables of LETs by their values. */
static const struct expr *
as_combination(void *ctx, const struct expr *e)
{
	struct matcher *x = ctx;
	int k;

	if (e->kind == EXPR_VAR) {
		for (int i = 0; i < x->lets.n; i++) {
			if (x->lets.from[i] == e->u.var) {
				return x->lets.to[i];
			}
		}
	}
	if (e->kind != EXPR_LOAD || (k = value_of(x, e->u.buffer)) < 0) {
		return NULL;
	}
	for (int d = 0; d < e->n_args; d++) {
		if (e->args[d] != x->out->index[d]) {
			return NULL;
		}
	}
	return x->r->lhs[k]->expr;
}

static bool
uses_values(const struct matcher *x, const struct expr *e)
{
	for (int k = 0; k < x->r->n; k++) {
		if (expr_uses_buffer(e, x->out->buffers[k]) ||
		    expr_uses_var(e, x->r->lhs[k])) {
			return true;
		}
	}
	return false;
}

/* Does e use variables or loads other than the two arguments of r? */
static bool
uses_more(const struct expr *e, const struct reducer *r)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		bool own = e->kind != EXPR_VAR;

		for (int k = 0; !own && k < r->n; k++) {
			own = e->u.var == r->lhs[k] || e->u.var == r->rhs[k];
		}
		found |= !own || e->kind == EXPR_LOAD ||
			 (e->kind == EXPR_CALL && !intrin_is_pure(e->u.intrin));
	}
	return found;
}

/* Reads an update of the form C[v] = op(C[v], x); false if it has another
 * form. */
static bool
match_plain(struct matcher *x, const struct stmt *store)
{
	const struct expr *e = store->args[0];
	const struct expr *own = expr_load(x->m, store->u.buffer,
					   store->args + 1, store->n_args - 1);
	const struct expr *args[2];

	if (!expr_combines(e)) {
		return false;
	}
	for (int k = 0; k < 2; k++) {
		if (e->args[k] == own && !uses_values(x, e->args[1 - k])) {
			x->out->sources[0] = e->args[1 - k];
			args[k] = x->r->lhs[0]->expr;
			args[1 - k] = x->r->rhs[0]->expr;
			x->r->result[0] = expr_rebuild(x->m, e, args);
			return true;
		}
	}
	return false;
}

/* Enters the LETs around the stores: a value that does not read an accumulator
 * is a source of the reduction; any other value is a part of the result. Sets *n
 * to the number of sources. Returns the statement inside of the LETs. */
static const struct stmt *
enter_lets(struct matcher *x, const struct stmt *s, int *n_found)
{
	struct arena *a = &x->m->arena;
	int n = 0, n_sources = 0;

	for (const struct stmt *at = s; at->kind == STMT_LET;
	     at = at->children[0]) {
		n++;
	}
	x->lets.from = arena_array(a, struct var *, n + 1);
	x->lets.to = arena_exprs(a, n + 1);
	for (; s->kind == STMT_LET; s = s->children[0]) {
		const struct expr *value = expr_rewrite(x->m, s->args[0],
							as_combination, x);
		bool source = !uses_values(x, s->args[0]) &&
			      !uses_values(x, value);

		if (source && n_sources < x->r->n &&
		    dtype_equal(s->u.var->type, x->r->rhs[n_sources]->type)) {
			x->out->sources[n_sources] = s->args[0];
			value = x->r->rhs[n_sources++]->expr;
		}
		x->lets.from[x->lets.n] = s->u.var;
		x->lets.to[x->lets.n++] = value;
	}
	*n_found = n_sources;
	return s;
}

/* Does e use a left operand of the reducer? */
static bool
uses_left(const struct matcher *x, const struct expr *e)
{
	for (int k = 0; k < x->r->n; k++) {
		if (expr_uses_var(e, x->r->lhs[k])) {
			return true;
		}
	}
	return false;
}

/* Sets *found to the part of e, a result, that uses no left operand; conditions of
 * choices are no parts. False if there are two such parts, or one is a constant. */
static bool
find_source(const struct matcher *x, const struct expr *e,
	    const struct expr **found)
{
	bool chooses = e->kind == EXPR_SELECT || e->kind == EXPR_IF;

	if (!uses_left(x, e)) {
		if (e->n_args == 0 && e->kind != EXPR_VAR) {
			return false;
		}
		if (*found && *found != e) {
			return false;
		}
		*found = e;
		return true;
	}
	for (int i = chooses ? 1 : 0; i < e->n_args; i++) {
		if (!find_source(x, e->args[i], found)) {
			return false;
		}
	}
	return true;
}

struct renaming {
	const struct matcher *x;
	int k; /* the result that is renamed */
};

/* Replaces the sources of the reduction by the reducer's right operands. */
static const struct expr *
as_operand(void *ctx, const struct expr *e)
{
	const struct renaming *in = ctx;
	const struct matcher *x = in->x;

	if (e == x->out->sources[in->k]) {
		return x->r->rhs[in->k]->expr;
	}
	for (int k = 0; k < x->r->n; k++) {
		if (e == x->out->sources[k]) {
			return x->r->rhs[k]->expr;
		}
	}
	return NULL;
}

/* Finds the source of each result where no LET names it. */
static bool
find_sources(struct matcher *x)
{
	for (int k = 0; k < x->r->n; k++) {
		const struct expr *source = NULL;

		if (!find_source(x, x->r->result[k], &source) || !source ||
		    !dtype_equal(source->type, x->r->rhs[k]->type)) {
			return fail(x, "does not combine each of its values "
				       "with one other value");
		}
		x->out->sources[k] = source;
	}
	for (int k = 0; k < x->r->n; k++) {
		struct renaming in = { x, k };

		x->r->result[k] = expr_rewrite(x->m, x->r->result[k],
					       as_operand, &in);
	}
	return true;
}

/* Where all of several results are choices of the left operands by one condition, makes them
 * choices of the right operands, the form that reducer_takes_all() knows. */
static void
turn_choices(struct matcher *x)
{
	struct reducer *r = x->r;
	const struct expr *keep = r->result[0]->args[0];

	for (int k = 0; k < r->n; k++) {
		const struct expr *e = r->result[k];

		if (e->kind != EXPR_SELECT || e->args[0] != keep ||
		    e->args[1] != r->lhs[k]->expr ||
		    e->args[2] != r->rhs[k]->expr) {
			return;
		}
	}
	for (int k = 0; k < r->n; k++) {
		r->result[k] = expr_select(x->m, expr_not(x->m, keep),
					   r->rhs[k]->expr, r->lhs[k]->expr);
	}
}

static bool
match_update(struct matcher *x)
{
	const struct stmt *s = x->block->children[0];
	const struct expr *cond = NULL;
	int n = x->r->n, n_sources;

	if (n == 1 && s->kind == STMT_STORE && match_plain(x, s)) {
		return true;
	}
	s = enter_lets(x, s, &n_sources);
	if (s->kind == STMT_IF && !s->children[1]) {
		cond = expr_rewrite(x->m, s->args[0], as_combination, x);
		s = s->children[0];
	}
	if (store_count(s) != n) {
		return fail(x, "does not store each of its values once");
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *store = store_at(s, i);
		int k = value_of(x, store->u.buffer);
		const struct expr *value;

		if (k < 0 || x->r->result[k] ||
		    !same_index(store, x->out->index)) {
			return fail(x, "does not store each of its values "
				       "once");
		}
		/* An accumulator that an earlier store has changed is not a
		 * left operand. */
		for (int j = 0; j < i; j++) {
			if (expr_uses_buffer(store->args[0],
					     store_at(s, j)->u.buffer)) {
				return fail(x, "reads a value after it was "
					       "stored");
			}
		}
		value = expr_rewrite(x->m, store->args[0], as_combination, x);
		x->r->result[k] = cond ? expr_select(x->m, cond, value,
						     x->r->lhs[k]->expr)
				       : value;
	}
	if (n_sources != n && (n_sources > 0 || !find_sources(x))) {
		return fail(x, "does not combine each of its values with one "
			       "other value");
	}
	for (int k = 0; k < n; k++) {
		if (uses_more(x->r->result[k], x->r)) {
			return fail(x, "combines other values than its own "
				       "and the bound ones");
		}
	}
	if (n > 1) {
		turn_choices(x);
	}
	x->out->named = true;
	return true;
}

bool
match_reduction(struct func *f, const struct stmt *block,
		struct block_reduction *out, const char **why)
{
	struct arena *a = &f->module->arena;
	struct matcher x = {
		.f = f, .m = f->module, .block = block, .out = out
	};
	struct reducer *r = arena_new(a, struct reducer);

	memset(out, 0, sizeof *out);
	x.r = r;
	r->name = block->u.block->name;
	if (!match_init(&x)) {
		*why = x.why;
		return false;
	}
	r->lhs = arena_array(a, struct var *, r->n);
	r->rhs = arena_array(a, struct var *, r->n);
	r->result = arena_exprs(a, r->n);
	out->sources = arena_exprs(a, r->n);
	for (int k = 0; k < r->n; k++) {
		struct dtype t = out->buffers[k]->type;

		r->lhs[k] = var_new(x.m, arena_printf(a, "x%d", k), t);
		r->rhs[k] = var_new(x.m, arena_printf(a, "y%d", k), t);
	}
	if (!match_update(&x)) {
		*why = x.why;
		return false;
	}
	for (int k = 0; k < r->n * r->n; k++) {
		if (expr_uses_buffer(out->sources[k / r->n],
				     out->buffers[k % r->n])) {
			*why = "uses its result in its terms";
			return false;
		}
	}
	out->reducer = r;
	return true;
}

/* ---- trying */

enum { TRIES = 400, TRY_VALUES = 4 };

/* Fills the arguments of each trial, three tuples of small numbers of type t;
 * equal numbers are frequent. */
static void
fill(struct dtype t, void *data, uint32_t *state)
{
	for (size_t i = 0; i < TRIES; i++) {
		union number v = { .i = 0 };
		int value;

		*state = *state * 1664525u + 1013904223u;
		value = (int)(*state >> 24) % 4 - 1;
		if (dtype_is_float(t)) {
			v.f = value;
		} else if (dtype_class(t) == DTC_BOOL) {
			v.i = value > 0;
		} else {
			v.i = dtype_is_signed(t) ? value : value + 1;
		}
		number_store(t, data, i, number_round(t, v));
	}
}

const struct expr *
reducer_combine(struct module *m, const struct reducer *r, const struct expr *e,
		const struct expr *const *a, const struct expr *const *b)
{
	struct var_map map = { arena_array(&m->arena, struct var *, 2 * r->n),
			       arena_exprs(&m->arena, 2 * r->n), 2 * r->n };

	for (int k = 0; k < r->n; k++) {
		map.from[k] = r->lhs[k];
		map.to[k] = a[k];
		map.from[r->n + k] = r->rhs[k];
		map.to[r->n + k] = b[k];
	}
	return expr_substitute(m, e, &map);
}

static void
combine(struct module *m, const struct reducer *r, const struct expr *const *a,
	const struct expr *const *b, const struct expr **out)
{
	for (int k = 0; k < r->n; k++) {
		out[k] = reducer_combine(m, r, r->result[k], a, b);
	}
}

/* Makes a function that computes, for each property in struct reducer_facts,
 * whether the equation for this property holds in all trials. */
static struct func *
make_trial(struct module *m, const struct reducer *r)
{
	struct arena *arena = &m->arena;
	struct func *f = func_new(m, r->name);
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	const struct expr *extent = expr_i32(m, TRIES), *at = i->expr;
	const struct expr **t[3], **x, **y, **z;
	struct stmt *list[TRY_VALUES];
	struct buffer_spec spec = { .ndim = 1, .shape = &extent };

	x = arena_exprs(arena, r->n);
	y = x;
	z = arena_exprs(arena, r->n);
	for (int s = 0; s < 3; s++) {
		t[s] = arena_exprs(arena, r->n);
		for (int k = 0; k < r->n; k++) {
			const struct buffer *b;

			spec.name = "t";
			spec.type = r->lhs[k]->type;
			b = buffer_new(m, &spec);
			func_add_param(f, b->data, b);
			t[s][k] = expr_load(m, b, &at, 1);
		}
	}
	for (int c = 0; c < TRY_VALUES; c++) {
		const struct expr *same = expr_bool(m, true);
		const struct buffer *b;

		switch (c) {
		case 0:
			combine(m, r, r->identity, t[0], x);
			y = t[0];
			break;
		case 1:
			combine(m, r, t[0], r->identity, x);
			y = t[0];
			break;
		case 2:
			y = arena_exprs(arena, r->n);
			combine(m, r, t[0], t[1], x);
			combine(m, r, x, t[2], z);
			combine(m, r, t[1], t[2], y);
			combine(m, r, t[0], y, x);
			y = z;
			break;
		default:
			y = arena_exprs(arena, r->n);
			combine(m, r, t[0], t[1], x);
			combine(m, r, t[1], t[0], y);
			break;
		}
		for (int k = 0; k < r->n; k++) {
			same = expr_and(m, same, expr_eq(m, x[k], y[k]));
		}
		spec.name = "same";
		spec.type = dtype_of(DT_BOOL);
		b = buffer_new(m, &spec);
		func_add_param(f, b->data, b);
		list[c] = stmt_store(f, b, same, &at, 1);
	}
	f->body = stmt_for(f, i, expr_i32(m, 0), extent, FOR_SERIAL,
			   stmt_seq(f, list, TRY_VALUES));
	return f;
}

struct reducer_facts
reducer_try(struct module *m, const struct reducer *r)
{
	struct func *f = make_trial(m, r);
	struct run_arg *args = arena_array(&m->arena, struct run_arg,
					   f->params.n);
	bool holds[TRY_VALUES] = { false };
	uint32_t state = 1;

	for (int i = 0; i < f->params.n; i++) {
		struct dtype t = f->params.data[i].buffer->type;

		args[i].data = arena_alloc(&m->arena, TRIES * 8);
		fill(t, args[i].data, &state);
	}
	if (interp_run(f, args, f->params.n)) {
		for (int c = 0; c < TRY_VALUES; c++) {
			const unsigned char *same = args[3 * r->n + c].data;

			holds[c] = true;
			for (int i = 0; i < TRIES; i++) {
				holds[c] &= same[i] != 0;
			}
		}
	}
	return (struct reducer_facts){ holds[0] && holds[1], holds[2],
				       holds[3] };
}

/* ---- writing */

struct stmt *
reduction_init(struct func *f, const struct block_reduction *r,
	       const struct buffer *const *buffers,
	       const struct expr *const *index)
{
	int n = r->reducer->n;
	struct stmt **list = arena_array(&f->module->arena, struct stmt *, n);

	for (int k = 0; k < n; k++) {
		list[k] = stmt_store(f, buffers[k], r->reducer->identity[k],
				     index, buffers[k]->ndim);
	}
	return stmt_seq(f, list, n);
}

/* Does each result of the reducer use its own left operand alone? */
static bool
is_independent(const struct reducer *r)
{
	for (int k = 0; k < r->n; k++) {
		for (int i = 0; i < r->n; i++) {
			if (i != k && expr_uses_var(r->result[k], r->lhs[i])) {
				return false;
			}
		}
	}
	return true;
}

/* Returns statements that store the reducer's results to several buffers; all
 * values are computed before the first store, unless each uses its own buffer alone. */
static struct stmt *
store_simultaneously(struct func *f, const struct reducer *r,
		     const struct buffer *const *buffers,
		     const struct expr *const *index,
		     const struct expr **values)
{
	struct module *m = f->module;
	struct stmt **list = arena_array(&m->arena, struct stmt *, r->n);
	struct var **names = arena_array(&m->arena, struct var *, r->n);
	bool apart = is_independent(r);
	struct stmt *body;

	for (int k = 0; k < r->n; k++) {
		names[k] = var_new(m,
				   arena_printf(&m->arena, "v_%s",
						buffers[k]->name),
				   values[k]->type);
		list[k] = stmt_store(f, buffers[k],
				     apart ? values[k] : names[k]->expr, index,
				     buffers[k]->ndim);
	}
	body = stmt_seq(f, list, r->n);
	for (int k = r->n - 1; k >= 0 && !apart; k--) {
		body = stmt_let(f, names[k], values[k], body);
	}
	return body;
}

struct stmt *
reduction_update(struct func *f, const struct block_reduction *b,
		 const struct buffer *const *buffers,
		 const struct expr *const *index,
		 const struct expr *const *sources)
{
	const struct reducer *r = b->reducer;
	struct module *m = f->module;
	struct arena *a = &m->arena;
	const struct expr **old = arena_exprs(a, r->n);
	const struct expr **new = arena_exprs(a, r->n);
	const struct expr **values = arena_exprs(a, r->n);
	struct var **names = arena_array(a, struct var *, r->n);
	const struct expr *take = r->n > 1 ? reducer_takes_all(r) : NULL;
	struct stmt *body;

	for (int k = 0; k < r->n; k++) {
		old[k] = expr_load(m, buffers[k], index, buffers[k]->ndim);
		names[k] = var_new(m, arena_printf(a, "y%d", k),
				   sources[k]->type);
		new[k] = b->named ? names[k]->expr : sources[k];
	}
	if (take) {
		struct stmt **list = arena_array(a, struct stmt *, r->n);

		for (int k = 0; k < r->n; k++) {
			list[k] = stmt_store(f, buffers[k], new[k], index,
					     buffers[k]->ndim);
		}
		body = stmt_if(f, reducer_combine(m, r, take, old, new),
			       stmt_seq(f, list, r->n), NULL);
	} else {
		combine(m, r, old, new, values);
		body = store_simultaneously(f, r, buffers, index, values);
	}
	for (int k = r->n - 1; k >= 0 && b->named; k--) {
		body = stmt_let(f, names[k], sources[k], body);
	}
	return body;
}
