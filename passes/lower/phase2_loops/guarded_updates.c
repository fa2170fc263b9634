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

		while (a->kind == EXPR_CAST ||
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

/* Is e provably the identity element of the operation `kind` whenever cond is
 * false? */
static bool
is_identity_unless(enum expr_kind kind, const struct expr *e,
		   const struct expr *cond)
{
	const struct expr *otherwise = e;

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
		return is_literal(otherwise, -HUGE_VAL) ||
		       is_literal(otherwise,
				  dtype_is_float(e->type)
					  ? dtype_lowest(e->type)
					  : (double)dtype_min_int(e->type));
	case EXPR_CALL: /* fmax */
		return otherwise->kind == EXPR_FLOAT &&
		       isnan(otherwise->u.fval);
	case EXPR_MIN:
		return is_literal(otherwise, HUGE_VAL) ||
		       is_literal(otherwise,
				  dtype_is_float(e->type)
					  ? dtype_highest(e->type)
					  : (double)dtype_max_int(e->type));
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

/* Puts an IF with one condition around *top, the store s with the IFs that were
 * put around it before, and takes the condition out of the store's value. *top
 * becomes the new IF. False, with nothing changed, if no condition may be
 * taken out. */
static bool
guard_once(struct func *f, struct stmt *s, struct stmt **top)
{
	struct module *m = f->module;
	VEC(const struct expr *) conds = { 0 };
	const struct expr *e = s->args[0], *x;
	int k = update_load(s);

	if (k < 0) {
		return false;
	}
	for (struct expr_iter it = expr_each_of(e->args[1 - k], EXPR_IF);
	     (x = expr_next(&it));) {
		vec_push(&m->arena, &conds, x->args[0]);
	}
	for (int i = 0; i < conds.n; i++) {
		struct then_rewrite t = { m, conds.data[i] };
		struct stmt_place place = stmt_place_of(*top);
		const struct expr *args[2];

		if (!is_identity_unless(e->kind, e->args[1 - k], t.cond)) {
			continue;
		}
		args[k] = e->args[k];
		args[1 - k] = expr_rewrite(m, e->args[1 - k], take_then, &t);
		stmt_set_arg(f, s, 0, expr_rebuild(m, e, args));
		*top = stmt_if(f, t.cond, *top, NULL);
		stmt_put(f, place, *top);
		return true;
	}
	return false;
}

bool
lower_guarded_updates(struct func *f)
{
	struct stmt_list stores = stmts_of(&f->module->arena, f->body,
					   STMT_STORE);

	for (int i = 0; i < stores.list.n; i++) {
		struct stmt *top = stores.list.data[i];

		while (guard_once(f, stores.list.data[i], &top)) {
		}
	}
	return true;
}
