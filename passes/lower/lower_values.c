/* SPDX-License-Identifier: Apache-2.0 */
/* Names values that one store uses more than once.
 *
 *   y[i] = (x[i] + b[i]) * sigmoid(x[i] + b[i])
 *   ->
 *   v = x[i] + b[i]
 *   y[i] = v * sigmoid(v)
 *
 * Expressions are shared nodes, so a value used twice is a node with two
 * edges; a limit by a number counts twice, since it is printed as a
 * comparison. What is only evaluated under a condition stays there: a guarded
 * load must not move in front of its guard. Index expressions are named by
 * lower_indices. */
#include "lower_passes.h"

struct use {
	const struct expr *e;
	int edges;
	bool always; /* evaluated whatever conditions say */
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

/* Printed as a comparison and a choice: its operand appears twice. */
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
	struct use fresh = { e, edges, always };

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
		bool below = always &&
			!((e->kind == EXPR_IF && i > 0) ||
			  ((e->kind == EXPR_AND || e->kind == EXPR_OR) &&
			   i > 0));

		count(v, e->args[i],
		      u != NULL ? 0 : repeats_operand(e, i) ? 2 : 1, below);
	}
}

/* Worth a name: some arithmetic, not a literal, a variable or a load. */
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
		return e->type.lanes == 1;
	case EXPR_CALL:
		return e->type.lanes == 1 && intrin_is_pure(e->u.intrin) &&
		       dtype_class(e->type) != DTC_HANDLE;
	default:
		return false;
	}
}

static const struct expr *
named(void *ctx, const struct expr *e)
{
	struct values *v = ctx;

	for (int i = 0; i < v->from.n; i++) {
		if (v->from.data[i] == e) {
			return v->to.data[i];
		}
	}
	return NULL;
}

static void
add_in_order(void *ctx, const struct expr *e)
{
	struct values *v = ctx;

	vec_push(&v->module->arena, &v->order, e);
}

static void
name_values(struct func *f, struct stmt *store)
{
	struct module *m = f->module;
	struct values v = { .func = f, .module = m };
	VEC(struct var *) vars = { 0 };
	VEC(const struct expr *) defs = { 0 };
	const struct expr *value;
	struct stmt *s;

	count(&v, store->args[0], 1, true);
	expr_visit(store->args[0], add_in_order, &v);
	/* A name may use the names of its parts. */
	for (int i = 0; i < v.order.n; i++) {
		const struct use *u = find_use(&v, v.order.data[i]);
		struct var *var;
		const struct expr *def;

		if (u == NULL || u->edges < 2 || !u->always ||
		    !is_value(u->e)) {
			continue;
		}
		var = var_new(m, "v", u->e->type);
		def = expr_rewrite(m, u->e, named, &v);
		vec_push(&m->arena, &v.from, u->e);
		vec_push(&m->arena, &v.to, var->expr);
		vec_push(&m->arena, &vars, var);
		vec_push(&m->arena, &defs, def);
	}
	if (vars.n == 0) {
		return;
	}
	value = expr_rewrite(m, store->args[0], named, &v);
	s = stmt_store(f, store->u.buffer, value, store->args + 1,
		       store->n_args - 1);
	for (int i = vars.n - 1; i >= 0; i--) {
		s = stmt_let(f, vars.data[i], defs.data[i], s);
	}
	stmt_replace(f, store, s);
}

static void
name_below(struct func *f, struct stmt *s)
{
	if (s->kind == STMT_STORE) {
		if (dtype_is_float(s->args[0]->type)) {
			name_values(f, s);
		}
		return;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL) {
			name_below(f, s->children[i]);
		}
	}
}

bool
lower_values(struct func *f)
{
	name_below(f, f->body);
	return true;
}
