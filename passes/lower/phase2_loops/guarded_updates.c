/* SPDX-License-Identifier: Apache-2.0 */
/* Guards updates whose operand is the identity element if a condition fails.
 *
 *   acc = acc + if_then_else(0 <= h, x[h] * w, 0)
 * becomes
 *   if 0 <= h:
 *       acc = acc + x[h] * w
 *
 * The condition may be deeper in the operand, as in if_then_else(0 <= h, x, 0)
 * * w: if it does not hold, the operand as a whole must be the identity element
 * of the update's operation (0 times a weight counts as 0). */
#include "lower_passes.h"

#include <math.h>

#include "access.h"
#include "iterate.h"

static bool
is_literal(const struct expr *e, double v)
{
	while (e->kind == EXPR_BROADCAST || e->kind == EXPR_CAST) {
		e = e->args[0];
	}
	if (e->kind == EXPR_FLOAT) {
		return e->u.fval == v;
	}
	return e->kind == EXPR_INT && (double)e->u.ival == v;
}

/* Is e a cast to a wider type of the same class? */
static bool
keeps_value(const struct expr *e)
{
	struct dtype from;

	if (e->kind != EXPR_CAST) {
		return false;
	}
	from = e->args[0]->type;
	return dtype_class(from) == dtype_class(e->type) &&
	       dtype_bits(from) <= dtype_bits(e->type);
}

/* Is e provably zero whenever cond is false? */
static bool
is_zero_unless(const struct expr *e, const struct expr *cond)
{
	switch (e->kind) {
	case EXPR_IF:
	case EXPR_SELECT:
		if (e->args[0] == cond) {
			return is_zero_unless(e->args[2], cond);
		}
		return is_zero_unless(e->args[1], cond) &&
		       is_zero_unless(e->args[2], cond);
	case EXPR_MUL:
		return is_zero_unless(e->args[0], cond) ||
		       is_zero_unless(e->args[1], cond);
	case EXPR_ADD:
		return is_zero_unless(e->args[0], cond) &&
		       is_zero_unless(e->args[1], cond);
	case EXPR_SUB: {
		const struct expr *a = e->args[0];

		while (keeps_value(a) ||
		       (a->kind == EXPR_IF && a->args[0] == cond)) {
			a = a->kind == EXPR_IF ? a->args[2] : a->args[0];
		}
		return (a == e->args[1] && !expr_has_load(a)) ||
		       (is_zero_unless(e->args[0], cond) &&
			is_zero_unless(e->args[1], cond));
	}
	case EXPR_DIV:
		return is_zero_unless(e->args[0], cond);
	case EXPR_CAST:
	case EXPR_BROADCAST:
		return is_zero_unless(e->args[0], cond);
	default:
		return is_literal(e, 0);
	}
}

/* Are all elements of the local array b finite from the start: is each store that is no
 * update one of a finite number? */
static bool
starts_finite(const struct func *f, const struct buffer *b)
{
	struct stmt *s;
	bool finite = !func_has_param(f, b);

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_STORE);
	     (s = stmt_next(&it));) {
		const struct expr *e = s->args[0];

		while (e->kind == EXPR_BROADCAST) {
			e = e->args[0];
		}
		if (s->u.buffer == b && access_own_operand(s) < 0) {
			finite &= e->kind == EXPR_FLOAT && isfinite(e->u.fval);
		}
	}
	return finite;
}

/* Is e the identity element of max or min: no element of the buffer is less, or
 * greater? */
static bool
is_extreme(const struct func *f, const struct buffer *b, bool of_max,
	   const struct expr *e)
{
	struct dtype t = b->type;

	if (dtype_is_float(t)) {
		return is_literal(e, of_max ? -HUGE_VAL : HUGE_VAL) ||
		       (is_literal(e, of_max ? dtype_lowest(t)
					     : dtype_highest(t)) &&
			starts_finite(f, b));
	}
	while (e->kind == EXPR_BROADCAST || e->kind == EXPR_CAST) {
		e = e->args[0];
	}
	return e->kind == EXPR_INT && dtype_is_int(t) &&
	       (of_max ? e->u.ival == dtype_min_int(t)
		       : (uint64_t)e->u.ival == dtype_max_int(t));
}

/* Is operand 1 - k of the store's value provably the identity element of its operation
 * whenever cond is false? */
static bool
is_identity_unless(const struct func *f, const struct stmt *store, int k,
		   const struct expr *cond)
{
	enum expr_kind kind = store->args[0]->kind;
	const struct expr *e = store->args[0]->args[1 - k], *otherwise = e;

	if (kind == EXPR_ADD) {
		return is_zero_unless(e, cond);
	}
	while (otherwise->kind == EXPR_CAST ||
	       (otherwise->kind == EXPR_IF && otherwise->args[0] == cond)) {
		otherwise = otherwise->kind == EXPR_IF ? otherwise->args[2]
						       : otherwise->args[0];
	}
	switch (kind) {
	case EXPR_MUL:
		return is_literal(otherwise, 1);
	case EXPR_MAX:
	case EXPR_MIN:
		return is_extreme(f, store->u.buffer, kind == EXPR_MAX,
				  otherwise);
	case EXPR_CALL: /* fmax */
		return otherwise->kind == EXPR_FLOAT &&
		       isnan(otherwise->u.fval);
	default:
		return false;
	}
}

struct then_rewrite {
	struct module *module;
	const struct expr *cond;
};

static const struct expr *
take_then(void *ctx, const struct expr *e)
{
	struct then_rewrite *t = ctx;

	if ((e->kind == EXPR_IF || e->kind == EXPR_SELECT) &&
	    e->args[0] == t->cond) {
		return expr_rewrite(t->module, e->args[1], take_then, t);
	}
	return NULL;
}

/* The number, 0 or 1, of the operand b[i] in STORE b[i] = b[i] op value, where
 * op is +, *, min or max; -1 if the store has another form. */
static int
update_load(const struct stmt *s)
{
	return expr_combines(s->args[0]) ? access_own_operand(s) : -1;
}

/* -- one store */

struct guarding {
	struct func *func;
	struct stmt *store;
	/* the store with the IFs of this round around it */
	struct stmt *top;
	/* conditions that can be evaluated before the store's value, in the
	 * order of expr_each */
	VEC(const struct expr *) conds;
};

/* Collects the nodes that are always evaluated with e: nodes that are not in an
 * operand that depends on a condition. */
static void
collect_certain(struct arena *arena, const struct expr *e, struct memo *certain)
{
	VEC(const struct expr *) left = { 0 };

	vec_push(arena, &left, e);
	while (left.n > 0) {
		e = left.data[--left.n];
		if (memo_add(certain, e)) {
			for (int i = 0; i < e->n_args; i++) {
				if (i == 0 || !expr_is_lazy(e)) {
					vec_push(arena, &left, e->args[i]);
				}
			}
		}
	}
}

/* Lists in g->conds the conditions of the choices in the operand `value` that
 * may be evaluated first. A condition inside of a choice by another condition
 * is listed only if that condition guards nothing in it. */
static void
list_conditions(struct guarding *g, const struct expr *value)
{
	struct arena *arena = &g->func->module->arena;
	const struct expr *x;
	struct memo certain;
	struct analyser a;

	g->conds.n = 0;
	memo_init(&certain);
	collect_certain(arena, value, &certain);
	analyser_at(&a, g->func->module, g->store);
	for (struct expr_iter it = expr_each_of(value, EXPR_IF);
	     (x = expr_next(&it));) {
		if (memo_get(&certain, x) != NULL ||
		    expr_is_total(&a, x->args[0])) {
			vec_push(arena, &g->conds, x->args[0]);
		}
	}
	memo_release(&certain);
}

static bool
has_choice(const struct expr *e, const struct expr *cond)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_IF);
	     (e = expr_next(&it));) {
		found |= e->args[0] == cond;
	}
	return found;
}

/* Removes the condition from operand 1 - k of the store's value, and puts an IF
 * with this condition around g->top; g->top becomes the new IF. False, with
 * nothing changed, if the condition must stay. */
static bool
take_out(struct guarding *g, const struct expr *cond, int k)
{
	struct func *f = g->func;
	struct module *m = f->module;
	const struct expr *e = g->store->args[0], *args[2];
	struct then_rewrite t = { m, cond };
	struct stmt_place place = stmt_place_of(g->top);

	if (!has_choice(e->args[1 - k], cond) ||
	    !is_identity_unless(f, g->store, k, cond)) {
		return false;
	}
	args[k] = e->args[k];
	args[1 - k] = expr_rewrite(m, e->args[1 - k], take_then, &t);
	stmt_set_arg(f, g->store, 0, expr_rebuild(m, e, args));
	g->top = stmt_if(f, cond, g->top, NULL);
	stmt_put(f, place, g->top);
	return true;
}

/* Puts all conditions that can be evaluated before the store's value around the
 * store, inside of the IFs that earlier rounds have put there and that may
 * guard these conditions. False if there was no such condition. */
static bool
guard_round(struct func *f, struct stmt *store)
{
	struct guarding g = { .func = f, .store = store, .top = store };
	bool any = false, again = true;
	int k = update_load(store);

	if (k < 0) {
		return false;
	}
	list_conditions(&g, store->args[0]->args[1 - k]);
	while (again) {
		again = false;
		for (int i = 0; i < g.conds.n && k >= 0; i++) {
			if (take_out(&g, g.conds.data[i], k)) {
				any = again = true;
				k = update_load(store);
			}
		}
	}
	return any;
}

bool
lower_guarded_updates(struct func *f)
{
	struct stmt_list stores = stmts_of(&f->module->arena, f->body,
					   STMT_STORE);

	for (int i = 0; i < stores.list.n; i++) {
		while (guard_round(f, stores.list.data[i])) {
		}
	}
	return true;
}
