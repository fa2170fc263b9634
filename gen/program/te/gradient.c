/* SPDX-License-Identifier: Apache-2.0 */
/* te.gradient(output, inputs, head): derivatives by reverse-mode
 * differentiation.
 *
 * The adjoint of a tensor T is d(output)/d(T) times head. The adjoint's shape
 * is that of head without the output's dimensions (the prefix), followed by the
 * shape of T. A stage that reads T contributes, for each load T[f(c, r)] in its
 * body, where c are its axes and r those of its reduction:
 *
 * adjoint(T)[p, t] += sum over c, r with f(c, r) == t:
 *  adjoint(stage)[p, c] * d(body)/d(load)
 *
 * If an axis is a term of an index, such as y in T[y + r], the sum does not run
 * over it: y is t - r, if this is a value of y. */
#include "memo.h"
#include "te_parts.h"

enum { MAX_TERMS = 64 };

struct adjoint {
	struct te_tensor *t;
	bool needed; /* t is an input, or is computed from one */
	/* the contributions of stages to the adjoint, which is their sum */
	VEC(struct te_tensor *) parts;
};

struct gradient {
	struct call *c;
	struct eval *ev;
	struct module *m;
	/* the tensors; each tensor comes after the tensors from which it is
	 * computed */
	VEC(struct adjoint) list;
	const struct expr **prefix; /* the sizes of the prefix */
	int n_prefix;
	/* for each expression: its derivative with respect to the load of
	 * derive_all() */
	struct memo derived;
};

/* -- the derivative of an expression with respect to the value of one load */

static const struct expr *derive(struct gradient *g, const struct expr *e,
				 const struct expr *load);

static const struct expr *
number(struct gradient *g, const struct expr *like, double v)
{
	return expr_const(g->m, like->type, v);
}

static bool
is_zero(const struct expr *e)
{
	return (e->kind == EXPR_FLOAT && e->u.fval == 0) || expr_is_value(e, 0);
}

/* The product a * d; 0 if d is 0. */
static const struct expr *
times(struct gradient *g, const struct expr *a, const struct expr *d)
{
	return is_zero(d) ? d : expr_mul(g->m, a, d);
}

/* The sum a + b or the difference a - b, without operands that are 0. */
static const struct expr *
together(struct gradient *g, enum expr_kind kind, const struct expr *a,
	 const struct expr *b)
{
	if (is_zero(b)) {
		return a;
	}
	if (is_zero(a)) {
		return kind == EXPR_ADD ? b : expr_neg(g->m, b);
	}
	return expr_binary(g->m, kind, a, b);
}

static const struct expr *
derive_quotient(struct gradient *g, const struct expr *e,
		const struct expr *load)
{
	struct module *m = g->m;
	const struct expr *a = e->args[0], *b = e->args[1];
	const struct expr *da = derive(g, a, load), *db = derive(g, b, load);
	const struct expr *left = da ? expr_div(m, da, b) : NULL;

	if (!da || !db || is_zero(db)) {
		return db ? left : NULL;
	}
	return expr_sub(m, left,
			expr_div(m, expr_mul(m, a, db), expr_mul(m, b, b)));
}

/* The derivative with respect to `load` of a choice between a and b by a
 * condition. guards: the value that is not chosen must not be evaluated. */
static const struct expr *
derive_choice(struct gradient *g, const struct expr *condition,
	      const struct expr *a, const struct expr *b, bool guards,
	      const struct expr *load)
{
	const struct expr *da = derive(g, a, load), *db = derive(g, b, load);

	if (!da || !db || (is_zero(da) && is_zero(db))) {
		return da && db ? da : NULL;
	}
	return guards ? expr_if(g->m, condition, da, db)
		      : expr_select(g->m, condition, da, db);
}

/* For a call e of a function of one argument, the factor by which d(argument)
 * is multiplied in d(e); NULL if the derivative of the function is unknown. */
static const struct expr *
outer_derivative(struct gradient *g, const struct expr *e)
{
	struct module *m = g->m;
	const struct expr *x = e->args[0], *one = number(g, e, 1);

	switch (e->u.intrin) {
	case INTRIN_EXP:
		return e;
	case INTRIN_LOG:
		return expr_div(m, one, x);
	case INTRIN_SQRT:
		return expr_div(m, number(g, e, 0.5), e);
	case INTRIN_SIN:
		return expr_call1(m, INTRIN_COS, x);
	case INTRIN_COS:
		return expr_neg(m, expr_call1(m, INTRIN_SIN, x));
	case INTRIN_TAN:
		return expr_add(m, one, expr_mul(m, e, e));
	case INTRIN_TANH:
		return expr_sub(m, one, expr_mul(m, e, e));
	case INTRIN_SIGMOID:
		return expr_mul(m, e, expr_sub(m, one, e));
	case INTRIN_SINH:
		return expr_call1(m, INTRIN_COSH, x);
	case INTRIN_COSH:
		return expr_call1(m, INTRIN_SINH, x);
	case INTRIN_ATAN:
		return expr_div(m, one, expr_add(m, one, expr_mul(m, x, x)));
	case INTRIN_ERF:
		return expr_mul(m, number(g, e, 1.1283791670955126),
				expr_call1(m, INTRIN_EXP,
					   expr_neg(m, expr_mul(m, x, x))));
	case INTRIN_ABS:
		return expr_select(m, expr_lt(m, x, number(g, e, 0)),
				   number(g, e, -1), one);
	case INTRIN_FLOOR:
	case INTRIN_CEIL:
	case INTRIN_ROUND:
	case INTRIN_NEARBYINT:
	case INTRIN_TRUNC:
		return number(g, e, 0);
	default:
		return NULL;
	}
}

static const struct expr *
derive_call(struct gradient *g, const struct expr *e, const struct expr *load)
{
	struct module *m = g->m;
	const struct expr *d[2] = { NULL, NULL }, *factor;
	bool used = false;

	for (int i = 0; i < e->n_args; i++) {
		const struct expr *one = derive(g, e->args[i], load);

		if (!one) {
			return NULL;
		}
		used |= !is_zero(one);
		d[i < 2 ? i : 1] = one;
	}
	if (!used) {
		return number(g, e, 0);
	}
	if (e->u.intrin == INTRIN_POW) {
		const struct expr *x = e->args[0], *y = e->args[1];
		const struct expr *less = expr_sub(m, y, number(g, e, 1));
		const struct expr *by_x = expr_mul(m, y,
						   expr_call2(m, INTRIN_POW, x,
							      less));
		const struct expr *by_y = expr_mul(m, e,
						   expr_call1(m, INTRIN_LOG,
							      x));

		return together(g, EXPR_ADD, times(g, by_x, d[0]),
				times(g, by_y, d[1]));
	}
	factor = e->n_args == 1 ? outer_derivative(g, e) : NULL;
	if (!factor) {
		call_error(g->c, 0, "the derivative of %s() is not known here",
			   intrin_name(e->u.intrin));
		return NULL;
	}
	return times(g, factor, d[0]);
}

static const struct expr *
derive_new(struct gradient *g, const struct expr *e, const struct expr *load)
{
	struct module *m = g->m;
	const struct expr *a, *b;

	if (!eval_tick(g->ev, g->c->span, 1)) {
		return NULL;
	}
	if (e == load) {
		return number(g, e, 1);
	}
	if (!dtype_is_float(e->type)) {
		return expr_const(m, e->type, 0);
	}
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
		a = derive(g, e->args[0], load);
		b = a ? derive(g, e->args[1], load) : NULL;
		return b ? together(g, e->kind, a, b) : NULL;
	case EXPR_MUL:
		a = derive(g, e->args[0], load);
		b = a ? derive(g, e->args[1], load) : NULL;
		return b ? together(g, EXPR_ADD, times(g, e->args[1], a),
				    times(g, e->args[0], b))
			 : NULL;
	case EXPR_DIV:
		return derive_quotient(g, e, load);
	case EXPR_MIN:
	case EXPR_MAX:
		a = expr_le(m, e->args[e->kind == EXPR_MAX],
			    e->args[e->kind == EXPR_MIN]);
		return derive_choice(g, a, e->args[0], e->args[1], false, load);
	case EXPR_SELECT:
	case EXPR_IF:
		return derive_choice(g, e->args[0], e->args[1], e->args[2],
				     e->kind == EXPR_IF, load);
	case EXPR_CAST:
		if (!dtype_is_float(e->args[0]->type)) {
			return number(g, e, 0);
		}
		a = derive(g, e->args[0], load);
		return a ? expr_cast(m, e->type, a) : NULL;
	case EXPR_CALL:
		return derive_call(g, e, load);
	default:
		return number(g, e, 0);
	}
}

/* The derivative of e with respect to the load, which is looked up if it is
 * known. Returns NULL after an error. */
static const struct expr *
derive(struct gradient *g, const struct expr *e, const struct expr *load)
{
	const struct memo_entry *known = memo_get(&g->derived, e);
	const struct expr *d;

	if (known) {
		return known->value;
	}
	d = derive_new(g, e, load);
	if (d) {
		memo_put(&g->derived, e, d);
	}
	return d;
}

/* The derivative of a whole expression with respect to the value of a load in
 * it. Returns NULL after an error. */
static const struct expr *
derive_all(struct gradient *g, const struct expr *e, const struct expr *load)
{
	const struct expr *d;

	memo_init(&g->derived);
	d = derive(g, e, load);
	memo_release(&g->derived);
	return d;
}

/* -- the axes of a stage as expressions of the index of the tensor that it
 * reads -- */

struct solving {
	struct gradient *g;
	/* the axes of the stage and of its reduction */
	const struct iter_var **axes;
	bool *known; /* for each axis: does `map` have a value for it? */
	int n;
	struct var_map map;
	/* under this condition the load reads the element; NULL: always */
	const struct expr *condition;
};

static void
require(struct solving *s, const struct expr *condition)
{
	if (!expr_is_value(condition, 1)) {
		s->condition = s->condition ? expr_and(s->g->m, s->condition,
						       condition)
					    : condition;
	}
}

/* Appends the terms of the sum e to terms[] from index n on, and sets less[i]
 * if term i is subtracted. Returns the number of terms, or -1 if there are too
 * many. */
static int
terms_of(const struct expr *e, bool minus, const struct expr **terms,
	 bool *less, int n)
{
	if (n >= 0 && (e->kind == EXPR_ADD || e->kind == EXPR_SUB)) {
		n = terms_of(e->args[0], minus, terms, less, n);
		return terms_of(e->args[1], minus ^ (e->kind == EXPR_SUB),
				terms, less, n);
	}
	if (n < 0 || n >= MAX_TERMS) {
		return -1;
	}
	terms[n] = e;
	less[n] = minus;
	return n + 1;
}

/* If term i is an axis that occurs in no other term and whose value is not
 * known yet: the index of this axis; else -1. */
static int
free_axis(const struct solving *s, const struct expr *const *terms,
	  const bool *less, int n, int i)
{
	if (terms[i]->kind != EXPR_VAR || less[i]) {
		return -1;
	}
	for (int k = 0; k < n; k++) {
		if (k != i && expr_uses_var(terms[k], terms[i]->u.var)) {
			return -1;
		}
	}
	for (int k = 0; k < s->n; k++) {
		if (s->axes[k]->var == terms[i]->u.var && !s->known[k]) {
			return k;
		}
	}
	return -1;
}

/* Sets the axis to `value`, and adds the condition that this is a value of the
 * axis. size: the extent of the dimension whose index gives the value. alone:
 * the axis is the whole index. */
static void
set_axis(struct solving *s, int axis, const struct expr *value,
	 const struct expr *size, bool alone)
{
	struct module *m = s->g->m;
	const struct iter_var *x = s->axes[axis];
	int64_t have, want;
	bool within = alone && expr_is_value(x->min, 0) &&
		      (x->extent == size ||
		       (expr_is_int(x->extent, &have) &&
			expr_is_int(size, &want) && have >= want));

	s->known[axis] = true;
	s->map.from[s->map.n] = x->var;
	s->map.to[s->map.n++] = value;
	for (int i = 0; i < s->map.n - 1; i++) {
		struct var *from[1] = { x->var };
		struct var_map one = { from, &value, 1 };

		s->map.to[i] = expr_substitute(m, s->map.to[i], &one);
	}
	if (!within) {
		require(s, expr_le(m, x->min, value));
		require(s, expr_lt(m, value, expr_add(m, x->min, x->extent)));
	}
}

/* Requires that e, the index of a dimension of the extent `size`, equals t:
 * solves the equation for an axis of the stage, or adds it as a condition. */
static void
solve(struct solving *s, const struct expr *e, const struct expr *t,
      const struct expr *size)
{
	struct module *m = s->g->m;
	const struct expr *terms[MAX_TERMS], *value = t;
	bool less[MAX_TERMS];
	int n, axis = -1, at = 0;

	e = expr_substitute(m, e, &s->map);
	n = terms_of(e, false, terms, less, 0);
	for (int i = 0; i < n && axis < 0; i++) {
		axis = free_axis(s, terms, less, n, i);
		at = i;
	}
	if (axis < 0) {
		require(s, expr_eq(m, e, t));
		return;
	}
	for (int i = 0; i < n; i++) {
		if (i != at) {
			value = less[i] ? expr_add(m, value, terms[i])
					: expr_sub(m, value, terms[i]);
		}
	}
	set_axis(s, axis, value, size, n == 1);
}

/* -- the contribution of a load to an adjoint -- */

static struct adjoint *
adjoint_of(struct gradient *g, const struct te_tensor *t)
{
	for (int i = 0; i < g->list.n; i++) {
		if (g->list.data[i].t == t) {
			return &g->list.data[i];
		}
	}
	return NULL;
}

/* New axes for an adjoint: the dimensions of the prefix, then those of t. */
static struct iter_var *
adjoint_axes(struct gradient *g, const struct te_tensor *t, int *n)
{
	const struct expr **shape;

	*n = g->n_prefix + t->buffer->ndim;
	shape = arena_exprs(g->ev->a, *n + 1);
	for (int i = 0; i < *n; i++) {
		shape[i] = i < g->n_prefix ? g->prefix[i]
					   : t->buffer->shape[i - g->n_prefix];
	}
	return te_axes(g->m, *n, shape, NULL);
}

static struct te_tensor *
make(struct gradient *g, const char *of, int n, struct iter_var *axes,
     const struct expr *body)
{
	VEC(struct te_tensor *) inputs = { 0 };
	struct exprs parts = { 0 };
	struct te_tensor *made;
	struct tree_iter it;
	const struct expr *e;
	int depth = 1;

	te_body_parts(g->ev->a, body, &parts);
	it = exprs_each(parts.list.data, parts.list.n);
	while ((e = tree_next(&it)) != NULL) {
		struct te_tensor *t = e->kind == EXPR_LOAD
					      ? te_tensor_of(g->ev, e->u.buffer)
					      : NULL;
		bool listed = t == NULL;

		for (int i = 0; i < inputs.n; i++) {
			listed |= inputs.data[i] == t;
		}
		if (!listed) {
			int deep = te_depth(g->ev, t) + 1;

			vec_push(g->ev->a, &inputs, t);
			depth = deep > depth ? deep : depth;
		}
	}
	made = te_compute(g->m, arena_printf(g->ev->a, "%s_grad", of), "", n,
			  axes, body, inputs.data, inputs.n);
	te_remember(g->ev, made, depth + 10);
	return made;
}

/* The value of an element of the stage; for a reduction, the value that is
 * reduced. *weight: for a maximum or minimum, a factor that is 1 for the chosen
 * value and 0 for all other values; for other stages NULL. Returns NULL after
 * an error. */
static const struct expr *
summand(struct gradient *g, const struct te_stage *st,
	const struct expr **weight)
{
	const struct expr *body = st->bodies[0], *result, *own;
	const struct expr **index;

	*weight = NULL;
	if (body->kind != EXPR_REDUCE) {
		return body;
	}
	result = body->u.reduce->reducer->result[0];
	if (body->u.reduce->init || body->u.reduce->reducer->n != 1 ||
	    (result->kind != EXPR_ADD && result->kind != EXPR_MAX &&
	     result->kind != EXPR_MIN)) {
		call_error(g->c, 0,
			   "%s is a reduction of another kind than sum, max "
			   "and min; its derivative is not known here",
			   st->name);
		return NULL;
	}
	if (result->kind == EXPR_ADD) {
		return body->args[0];
	}
	index = arena_exprs(g->ev->a, st->n_axes + 1);
	for (int i = 0; i < st->n_axes; i++) {
		index[i] = st->axes[i].var->expr;
	}
	own = te_at(g->m, st->out[0], index, st->n_axes);
	*weight = expr_select(g->m, expr_eq(g->m, body->args[0], own),
			      number(g, own, 1), number(g, own, 0));
	return body->args[0];
}

/* Sums e over the axes whose values are not known, with new reduction axes in
 * their place. */
static const struct expr *
sum_over_rest(struct solving *s, const struct expr *e)
{
	struct module *m = s->g->m;
	struct iter_var *over = arena_array(s->g->ev->a, struct iter_var,
					    s->n + 1);
	struct var_map fresh = { arena_array(s->g->ev->a, struct var *,
					     s->n + 1),
				 arena_exprs(s->g->ev->a, s->n + 1), 0 };

	for (int i = 0; i < s->n; i++) {
		const struct iter_var *x = s->axes[i];

		if (s->known[i]) {
			continue;
		}
		over[fresh.n] = te_reduce_axis(m, x->var->name, x->extent);
		fresh.from[fresh.n] = x->var;
		fresh.to[fresh.n] = expr_add(m, x->min,
					     over[fresh.n].var->expr);
		fresh.n++;
	}
	e = expr_substitute(m, e, &fresh);
	return fresh.n > 0 ? te_sum(m, e, over, fresh.n) : e;
}

static bool
add_load(struct gradient *g, const struct te_stage *st, struct te_tensor *own,
	 const struct expr *load, struct adjoint *to)
{
	struct module *m = g->m;
	struct arena *a = g->ev->a;
	const struct expr *body = st->bodies[0], *weight, *value, *d,
			  *index[EVAL_MAX_RANK];
	const struct reduction *r = body->kind == EXPR_REDUCE ? body->u.reduce
							      : NULL;
	struct solving s = { .g = g, .n = st->n_axes + (r ? r->n_axes : 0) };
	struct iter_var *axes;
	int n;

	value = summand(g, st, &weight);
	d = value ? derive_all(g, value, load) : NULL;
	if (!d || is_zero(d)) {
		return d != NULL;
	}
	s.axes = arena_array(a, const struct iter_var *, s.n + 1);
	s.known = arena_array(a, bool, s.n + 1);
	s.map.from = arena_array(a, struct var *, s.n + 1);
	s.map.to = arena_exprs(a, s.n + 1);
	for (int i = 0; i < s.n; i++) {
		s.axes[i] = i < st->n_axes ? &st->axes[i]
					   : &r->axes[i - st->n_axes];
	}
	axes = adjoint_axes(g, to->t, &n);
	for (int i = 0; i < to->t->buffer->ndim; i++) {
		solve(&s, load->args[i], axes[g->n_prefix + i].var->expr,
		      to->t->buffer->shape[i]);
	}
	for (int i = 0; i < g->n_prefix + st->n_axes; i++) {
		index[i] = i < g->n_prefix
				   ? axes[i].var->expr
				   : st->axes[i - g->n_prefix].var->expr;
	}
	d = expr_mul(m, te_at(m, own, index, g->n_prefix + st->n_axes), d);
	d = weight ? expr_mul(m, d, weight) : d;
	if (r && r->condition) {
		require(&s, r->condition);
	}
	if (s.condition) {
		d = expr_if(m, s.condition, d, number(g, d, 0));
	}
	d = sum_over_rest(&s, expr_substitute(m, d, &s.map));
	if (!eval_tick(g->ev, g->c->span, 100 + eval_expr_size(g->ev, d)) ||
	    !eval_expr_fits(g->ev, g->c->span, d, 1) ||
	    g->ev->n_tensors >= EVAL_MAX_TENSORS) {
		return g->ev->n_tensors < EVAL_MAX_TENSORS
			       ? false
			       : call_error(g->c, -1, "more than %d tensors",
					    EVAL_MAX_TENSORS);
	}
	vec_push(a, &to->parts,
		 make(g, to->t->buffer->name, n, axes,
		      expr_cast(m, to->t->buffer->type, d)));
	return true;
}

/* The adjoint of a tensor: the sum of the contributions of the stages that read
 * the tensor; NULL if no stage contributes. */
static struct te_tensor *
whole(struct gradient *g, const struct adjoint *x)
{
	const struct expr *sum = NULL, *index[EVAL_MAX_RANK];
	struct iter_var *axes;
	int n;

	if (x->parts.n <= 1) {
		return x->parts.n == 1 ? x->parts.data[0] : NULL;
	}
	axes = adjoint_axes(g, x->t, &n);
	for (int i = 0; i < n; i++) {
		index[i] = axes[i].var->expr;
	}
	for (int i = 0; i < x->parts.n; i++) {
		const struct expr *one = te_at(g->m, x->parts.data[i], index,
					       n);

		sum = sum ? expr_add(g->m, sum, one) : one;
	}
	return make(g, x->t->buffer->name, n, axes, sum);
}

/* -- the stages */

/* Adds t, and all tensors from which t is computed, to g->list; each comes
 * after the tensors from which it is computed. *needed: does t depend on one of
 * the n tensors `to`? The depth of tensors limits the recursion. */
static bool
collect(struct gradient *g, struct te_tensor *t, struct te_tensor *const *to,
	int n, bool *needed)
{
	struct adjoint *known = adjoint_of(g, t), x = { .t = t };

	if (known) {
		*needed = known->needed;
		return true;
	}
	for (int i = 0; i < n; i++) {
		x.needed |= to[i] == t;
	}
	for (int i = 0; t->stage && i < t->stage->n_inputs; i++) {
		bool below = false;

		if (!collect(g, t->stage->inputs[i], to, n, &below)) {
			return false;
		}
		x.needed |= below && dtype_is_float(t->buffer->type);
	}
	vec_push(g->ev->a, &g->list, x);
	*needed = x.needed;
	return eval_tick(g->ev, g->c->span, 1 + g->list.n / 16);
}

/* Adds the contributions of the stage that computes tensor number `at` to the
 * adjoints of the tensors that it reads. Returns false after an error. */
static bool
pass_on(struct gradient *g, int at)
{
	const struct te_tensor *t = g->list.data[at].t;
	const struct te_stage *st = t->stage;
	struct te_tensor *own = whole(g, &g->list.data[at]);
	bool ok = true;

	for (int i = 0; ok && own && st && i < st->n_inputs; i++) {
		struct adjoint *to = adjoint_of(g, st->inputs[i]);
		struct exprs parts = { 0 };
		struct tree_iter it;
		const struct expr *e;

		if (!to->needed) {
			continue;
		}
		if (st->kind != TE_COMPUTE || st->n_out != 1) {
			return call_error(
				g->c, 0,
				"%s is not a te.compute of one tensor; "
				"its derivative is not known here",
				st->name);
		}
		te_body_parts(g->ev->a, st->bodies[0], &parts);
		it = exprs_each(parts.list.data, parts.list.n);
		while (ok && (e = tree_next(&it)) != NULL) {
			if (e->kind == EXPR_LOAD &&
			    e->u.buffer == to->t->buffer) {
				ok = add_load(g, st, own, e, to);
			}
		}
		tree_stop(&it);
	}
	return ok;
}

/* Sets the adjoint of the output: head, or without head the tensor that is 1
 * where both indices are equal. Returns false after an error. */
static bool
start(struct gradient *g, struct te_tensor *output, struct te_tensor *head)
{
	int rank = output->buffer->ndim;
	const struct expr *same = expr_bool(g->m, true);
	struct iter_var *axes;
	struct te_tensor *first = head;
	int n;

	g->n_prefix = head ? head->buffer->ndim - rank : rank;
	if (g->n_prefix < 0) {
		return call_error(g->c, 2,
				  "the last dimensions of head must be those "
				  "of the output");
	}
	for (int i = 0; i < g->list.n; i++) {
		int all = g->n_prefix + g->list.data[i].t->buffer->ndim;

		if (g->list.data[i].needed && all > EVAL_MAX_RANK) {
			return call_error(g->c, -1,
					  "the derivative by %s has %d "
					  "dimensions; at most %d are read",
					  g->list.data[i].t->buffer->name, all,
					  EVAL_MAX_RANK);
		}
	}
	g->prefix = arena_exprs(g->ev->a, g->n_prefix + 1);
	for (int i = 0; i < g->n_prefix; i++) {
		g->prefix[i] = (head ? head : output)->buffer->shape[i];
	}
	if (!head) {
		axes = adjoint_axes(g, output, &n);
		for (int i = 0; i < rank; i++) {
			same = expr_and(g->m, same,
					expr_eq(g->m, axes[i].var->expr,
						axes[rank + i].var->expr));
		}
		first = make(g, output->buffer->name, n, axes,
			     expr_cast(g->m, output->buffer->type,
				       expr_select(g->m, same,
						   expr_i32(g->m, 1),
						   expr_i32(g->m, 0))));
	}
	vec_push(g->ev->a, &g->list.data[g->list.n - 1].parts, first);
	return true;
}

bool
te_gradient(struct call *c, struct pval *out)
{
	struct gradient g = { .c = c, .ev = c->ev, .m = c->ev->m };
	struct te_tensor *output, *head = NULL, **inputs;
	bool needed;
	int n;

	if (!arg_tensor(c, 0, &output) || !arg_tensors(c, 1, &inputs, &n) ||
	    (arg_given(c, 2) && !arg_tensor(c, 2, &head)) ||
	    !collect(&g, output, inputs, n, &needed) ||
	    !start(&g, output, head)) {
		return false;
	}
	for (int i = g.list.n - 1; i >= 0; i--) {
		if (g.list.data[i].needed && !pass_on(&g, i)) {
			return false;
		}
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		const struct adjoint *x = adjoint_of(&g, inputs[i]);
		struct adjoint none = { .t = inputs[i] };
		struct te_tensor *made = whole(&g, x ? x : &none);

		if (!made) {
			int rank;
			struct iter_var *axes = adjoint_axes(&g, inputs[i],
							     &rank);

			made = make(&g, inputs[i]->buffer->name, rank, axes,
				    expr_const(g.m, inputs[i]->buffer->type,
					       0));
		}
		vec_push(c->ev->a, out->u.list, pv_tensor(c->ev, made));
	}
	return true;
}
