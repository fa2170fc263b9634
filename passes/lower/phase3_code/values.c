/* SPDX-License-Identifier: Apache-2.0 */
/* Common subexpression elimination within a store; also splits long nested
 * expressions into steps with names.
 *
 *   y[i] = (x[i] + b[i]) * sigmoid(x[i] + b[i])
 *   z[i] = cast(max(nearbyint((x[i] + b[i]) * scale[i] / 0.05), -128.0))
 *   ->
 *   v = x[i] + b[i]
 *   y[i] = v * sigmoid(v)
 *   rounded = nearbyint((x[i] + b[i]) * scale[i] / 0.05)
 *   z[i] = cast(max(rounded, -128.0))
 *
 * Expressions are hash-consed, so a value used twice is a node with two edges;
 * an operand of min and max with a literal counts as used twice, because they
 * are printed as a comparison and a choice. Conditionally evaluated operands
 * stay in place: a guarded load must not move before its guard. Only whole
 * operands of functions are split off: a product and its sum stay one
 * expression, which compilers may contract to a fused multiply-add. A LET is
 * put outside of loops whose only statement is the store, if its value is
 * invariant in these loops. Index expressions are handled by the pass
 * `indices`. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"

/* Limits of the widths of printed texts, in characters, in this order: of a
 * function call with its operands; of a store with its target; of a nested
 * choice; the smallest width of an expression that gets a name; and the width
 * at which measuring stops. */
enum {
	MOST_FUNCTION = 56,
	MOST_STORE = 72,
	MOST_CHOICE = 30,
	LEAST = 20,
	WIDE = 400
};

struct use {
	const struct expr *e;
	int edges;
	bool always; /* evaluated unconditionally */
	/* the name that the value gets; NULL: it has no name yet */
	const char *name;
};

struct values {
	struct func *func;
	struct module *module;
	VEC(struct use) uses;
	VEC(const struct expr *) order; /* children first */
	VEC(const struct expr *) from;
	VEC(const struct expr *) to;
};

static struct use *
find_use(struct values *v, const struct expr *e)
{
	for (int i = 0; i < v->uses.n; i++) {
		if (v->uses.data[i].e == e) {
			return &v->uses.data[i];
		}
	}
	return NULL;
}

static bool
is_literal(const struct expr *e)
{
	return e->kind == EXPR_INT || e->kind == EXPR_FLOAT;
}

/* Is e printed as a comparison and a choice, so that operand i appears
 * twice? */
static bool
repeats_operand(const struct expr *e, int i)
{
	return (e->kind == EXPR_MIN || e->kind == EXPR_MAX) &&
	       dtype_is_float(e->type) && is_literal(e->args[1 - i]);
}

static void
count(struct values *v, const struct expr *e, int edges, bool always)
{
	struct use *u = find_use(v, e);
	struct use fresh = { e, edges, always, NULL };

	if (u != NULL) {
		bool again = always && !u->always;

		u->edges += edges;
		u->always |= always;
		if (!again) {
			return;
		}
	} else {
		vec_push(&v->module->arena, &v->uses, fresh);
	}
	if (e->kind == EXPR_LOAD) {
		return;
	}
	for (int i = 0; i < e->n_args; i++) {
		bool below = always && (i == 0 || !expr_is_lazy(e));

		count(v, e->args[i],
		      u != NULL               ? 0
		      : repeats_operand(e, i) ? 2
					      : 1,
		      below);
	}
}

/* Can e get a name? Operations can; literals, variables and loads do not. */
static bool
is_value(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_MIN:
	case EXPR_MAX:
	case EXPR_SELECT:
	case EXPR_IF:
	case EXPR_CAST:
		return true;
	case EXPR_CALL:
		return intrin_is_pure(e->u.intrin) &&
		       dtype_class(e->type) != DTC_HANDLE;
	default:
		return false;
	}
}

/* -- text width -- */

static bool
is_number(const struct expr *e)
{
	return is_literal(e->kind == EXPR_BROADCAST ? e->args[0] : e);
}

static bool
is_arithmetic(const struct expr *e)
{
	return e->kind == EXPR_ADD || e->kind == EXPR_SUB ||
	       e->kind == EXPR_MUL || e->kind == EXPR_DIV;
}

static bool
is_extreme(const struct expr *e)
{
	return e->kind == EXPR_MIN || e->kind == EXPR_MAX;
}

/* Is e a sum of integer data? Such a sum may overflow, so it is printed as a
 * call of a wrapping function. */
static bool
is_sum_of_data(const struct expr *e)
{
	return e->kind == EXPR_ADD && dtype_is_int(e->type) &&
	       !is_number(e->args[0]) && !is_number(e->args[1]) &&
	       expr_has_load(e);
}

/* Is e printed as a function call? */
static bool
is_function(const struct expr *e)
{
	return is_extreme(e) || is_sum_of_data(e) ||
	       (e->kind == EXPR_CALL && is_value(e)) ||
	       (e->kind == EXPR_CAST &&
		(e->type.lanes > 1 ||
		 (dtype_is_float(e->args[0]->type) && dtype_is_int(e->type))));
}

/* The width of the node's text without its operands: name, parentheses,
 * types. */
static int
own_width(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_INT:
		return 3;
	case EXPR_FLOAT:
		return 11;
	case EXPR_VAR:
		return (int)strlen(e->u.var->name);
	case EXPR_LOAD:
		return (int)strlen(e->u.buffer->name) + 2 * e->n_args +
		       (e->type.lanes > e->u.buffer->type.lanes ? 24 : 0);
	case EXPR_CALL:
		return (int)strlen(intrin_name(e->u.intrin)) + 6 +
		       2 * e->n_args;
	case EXPR_CAST:
		return e->type.lanes > 1 ? 18 : 9;
	case EXPR_BROADCAST:
		return dtype_is_int(e->type) ? 12 : 0;
	case EXPR_MIN:
	case EXPR_MAX:
		return e->type.lanes > 1 ? 14 : 11;
	default:
		return is_sum_of_data(e) ? 16 : 3 * (e->n_args - 1);
	}
}

static int
width(struct values *v, const struct expr *e, int most)
{
	const struct use *u = find_use(v, e);
	int n = u != NULL && u->name != NULL ? (int)strlen(u->name)
					     : own_width(e);

	if (u != NULL && u->name != NULL) {
		return n;
	}
	for (int i = 0; i < e->n_args && n < most; i++) {
		n += width(v, e->args[i], most - n);
	}
	return n;
}

/* -- steps to split off -- */

/* A name for the result of a step. */
static const char *
noun(struct values *v, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_ADD:
		return "sum";
	case EXPR_SUB:
		return "difference";
	case EXPR_MUL:
		return "product";
	case EXPR_DIV:
		return "quotient";
	case EXPR_MIN:
	case EXPR_MAX:
		return is_number(e->args[1]) ? "clipped" : "v";
	case EXPR_SELECT:
	case EXPR_IF:
	case EXPR_CAST:
		e = e->args[e->kind == EXPR_CAST ? 0 : 1];
		return e->kind == EXPR_LOAD
			       ? arena_printf(&v->module->arena, "%s_v",
					      e->u.buffer->name)
			       : "v";
	default:
		break;
	}
	switch (e->u.intrin) {
	case INTRIN_MUL_HIGH:
	case INTRIN_SCALE_FIXED:
	case INTRIN_SCALE_NEAREST:
		return "scaled";
	case INTRIN_SHL:
		return "shifted";
	case INTRIN_NEARBYINT:
	case INTRIN_ROUND:
	case INTRIN_FLOOR:
	case INTRIN_CEIL:
	case INTRIN_TRUNC:
		return "rounded";
	default:
		return "v";
	}
}

static bool
may_name(struct values *v, const struct expr *e)
{
	const struct use *u = find_use(v, e);
	const struct expr *of = e->kind == EXPR_CAST ? e->args[0] : NULL;

	return u != NULL && u->always && u->name == NULL && is_value(e) &&
	       !(of != NULL && !is_function(e) && !is_value(of)) &&
	       width(v, e, WIDE) >= LEAST;
}

/* The operand of e if e only adds a constant to it, clips it, scales it by a
 * constant or casts it; NULL otherwise. */
static const struct expr *
inner(const struct expr *e)
{
	if (e->kind == EXPR_CAST && !is_function(e)) {
		return e->args[0];
	}
	if ((is_arithmetic(e) || is_extreme(e)) &&
	    is_number(e->args[0]) != is_number(e->args[1])) {
		return e->args[is_number(e->args[0])];
	}
	return NULL;
}

/* The step to split off from e, an operand of `outer`: the innermost function
 * below additions of constants and clips (two nested clips are one step); or,
 * if `outer` is a function, e as a whole. NULL if there is no step to split
 * off. */
static const struct expr *
step_of(struct values *v, const struct expr *outer, const struct expr *e)
{
	const struct expr *best = NULL;
	bool whole = is_function(outer);

	for (const struct expr *at = e; at != NULL; at = inner(at)) {
		bool second = is_extreme(at) && is_extreme(outer) &&
			      inner(outer) == at;

		if (is_function(at) && !second && may_name(v, at)) {
			best = at;
		}
		if (second && at == e) {
			e = inner(at);
		}
		outer = at;
	}
	return best != NULL                           ? best
	       : whole && e != NULL && may_name(v, e) ? e
						      : NULL;
}

/* The widest step (see step_of) that can be split off from e's operands or, in
 * a sum of integer data, from the factors of products among the operands; NULL
 * if there is none. */
static const struct expr *
widest_step(struct values *v, const struct expr *e)
{
	const struct expr *best = NULL;

	for (int i = 0; i < e->n_args; i++) {
		bool product = is_sum_of_data(e) &&
			       e->args[i]->kind == EXPR_MUL;
		const struct expr *outer = product ? e->args[i] : e;

		for (int k = 0; k < (product ? 2 : 1); k++) {
			const struct expr *step =
				step_of(v, outer, outer->args[product ? k : i]);

			if (step != NULL &&
			    (best == NULL ||
			     width(v, step, WIDE) > width(v, best, WIDE))) {
				best = step;
			}
		}
	}
	return best;
}

static void
split_steps(struct values *v, const struct expr *e, int most)
{
	while (width(v, e, most + 1) > most) {
		const struct expr *step = widest_step(v, e);

		if (step == NULL) {
			return;
		}
		find_use(v, step)->name = noun(v, step);
	}
}

/* Chooses the steps to split off, operands first. */
static void
find_steps(struct values *v, const struct stmt *store)
{
	const struct expr *value = store->args[0];
	int target = (int)strlen(store->u.buffer->name);

	for (int i = 0; i < v->order.n; i++) {
		const struct expr *e = v->order.data[i];
		struct use *u = find_use(v, e);

		if (u == NULL || !u->always || u->name != NULL) {
			continue;
		}
		if (is_function(e)) {
			split_steps(v, e, MOST_FUNCTION);
		} else if ((e->kind == EXPR_IF || e->kind == EXPR_SELECT) &&
			   e != value && may_name(v, e) &&
			   width(v, e, WIDE) > MOST_CHOICE) {
			u->name = noun(v, e);
		}
	}
	if (!is_function(value) && inner(value) == NULL) {
		return;
	}
	for (int i = 1; i < store->n_args; i++) {
		target += 2 + width(v, store->args[i], WIDE);
	}
	split_steps(v, value,
		    MOST_STORE - target > LEAST ? MOST_STORE - target : LEAST);
}

/* -- names -- */

/* The outermost loop around s such that this loop, and each loop between it and
 * s, has no statement but s, and e does not depend on these loops; s itself if
 * there is no such loop. */
static struct stmt *
outermost(struct stmt *s, const struct buffer *stored, const struct expr *e)
{
	while (s->parent != NULL && !expr_uses_buffer(e, stored)) {
		struct stmt *p = s->parent;
		int64_t n;
		bool loop = p->kind == STMT_FOR &&
			    (p->u.loop.kind == FOR_SERIAL ||
			     p->u.loop.kind == FOR_UNROLLED ||
			     p->u.loop.kind == FOR_VECTORIZED) &&
			    expr_is_int(p->args[1], &n) && n > 0;

		if ((!loop || expr_uses_var(e, p->u.loop.var)) &&
		    (p->kind != STMT_LET || expr_uses_var(e, p->u.var))) {
			break;
		}
		s = p;
	}
	return s;
}

static void
name_values(struct func *f, struct stmt *store)
{
	struct module *m = f->module;
	struct values v = { .func = f, .module = m };
	struct expr_iter it = expr_each(store->args[0]);
	const struct expr *e;

	count(&v, store->args[0], 1, true);
	while ((e = expr_next(&it)) != NULL) {
		vec_push(&m->arena, &v.order, e);
	}
	for (int i = 0; i < v.uses.n; i++) {
		struct use *u = &v.uses.data[i];

		if (u->edges >= 2 && u->always && is_value(u->e) &&
		    u->e->type.lanes == 1) {
			u->name = "v";
		}
	}
	find_steps(&v, store);
	/* Operands come before the expressions that use them: the LET of an
	 * expression may use the variables of its operands. */
	for (int i = 0; i < v.order.n; i++) {
		const struct use *u = find_use(&v, v.order.data[i]);
		const struct expr *def;
		struct stmt_place place;
		struct stmt *at;
		struct var *var;

		if (u == NULL || u->name == NULL) {
			continue;
		}
		var = var_new(m, u->name, u->e->type);
		def = expr_replace(m, u->e, v.from.data, v.to.data, v.from.n);
		at = outermost(store, store->u.buffer, def);
		place = stmt_place_of(at);
		stmt_put(f, place, stmt_let(f, var, def, at));
		vec_push(&m->arena, &v.from, u->e);
		vec_push(&m->arena, &v.to, var->expr);
	}
	if (v.from.n > 0) {
		stmt_set_arg(f, store, 0,
			     expr_replace(m, store->args[0], v.from.data,
					  v.to.data, v.from.n));
	}
}

bool
lower_values(struct func *f)
{
	struct stmt_list stores = stmts_of(&f->module->arena, f->body,
					   STMT_STORE);

	for (int i = 0; i < stores.list.n; i++) {
		struct stmt *s = stores.list.data[i];

		if (dtype_is_float(s->args[0]->type) ||
		    dtype_is_int(s->args[0]->type)) {
			name_values(f, s);
		}
	}
	return true;
}
