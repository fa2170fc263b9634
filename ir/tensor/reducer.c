/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in reducers, of one value each, and user-defined reducers. */
#include "iterate.h"
#include "te.h"

#include <math.h>

static const struct reducer *
reducer_new(struct module *m, const char *name, enum expr_kind op,
	    struct dtype t, const struct expr *identity)
{
	struct arena *a = &m->arena;
	struct reducer *r = arena_new(a, struct reducer);

	r->name = name;
	r->n = 1;
	r->lhs = arena_array(a, struct var *, 1);
	r->rhs = arena_array(a, struct var *, 1);
	r->result = arena_exprs(a, 1);
	r->identity = arena_exprs(a, 1);
	r->lhs[0] = var_new(m, "x", t);
	r->rhs[0] = var_new(m, "y", t);
	r->result[0] = expr_binary(m, op, r->lhs[0]->expr, r->rhs[0]->expr);
	r->identity[0] = identity;
	return r;
}

const struct reducer *
reducer_sum(struct module *m, struct dtype t)
{
	return reducer_new(m, "sum", EXPR_ADD, t, expr_const(m, t, 0));
}

const struct reducer *
reducer_prod(struct module *m, struct dtype t)
{
	return reducer_new(m, "prod", EXPR_MUL, t, expr_const(m, t, 1));
}

/* The identity of min (`highest`) or max. For integers the largest or smallest
 * value of the type; for floats an infinity or, if the type has none, the
 * largest or smallest finite value. */
static const struct expr *
extreme(struct module *m, struct dtype t, bool highest)
{
	if (dtype_is_float(t)) {
		bool infinite = dtype_float_form(t).specials == SPECIALS_IEEE;
		double v = infinite ? (double)INFINITY : dtype_highest(t);

		return expr_float(m, t, highest ? v : -v);
	}
	return expr_int(m, t,
			highest ? (int64_t)dtype_max_int(t) : dtype_min_int(t));
}

const struct reducer *
reducer_max(struct module *m, struct dtype t)
{
	return reducer_new(m, "max", EXPR_MAX, t, extreme(m, t, false));
}

const struct reducer *
reducer_min(struct module *m, struct dtype t)
{
	return reducer_new(m, "min", EXPR_MIN, t, extreme(m, t, true));
}

/* ---- user-defined reducers */

struct reducer *
te_reducer_declare(struct module *m, const char *name, int n,
		   const struct dtype *types)
{
	struct arena *a = &m->arena;
	struct reducer *r = arena_new(a, struct reducer);

	r->name = arena_strdup(a, name);
	r->n = n;
	r->lhs = arena_array(a, struct var *, n);
	r->rhs = arena_array(a, struct var *, n);
	for (int k = 0; k < n; k++) {
		r->lhs[k] = var_new(m, n > 1 ? arena_printf(a, "x%d", k) : "x",
				    types[k]);
		r->rhs[k] = var_new(m, n > 1 ? arena_printf(a, "y%d", k) : "y",
				    types[k]);
	}
	return r;
}

/* The name of a variable or buffer in e that is not a variable of r (r NULL: of
 * any variable or buffer); NULL if e has no such name. */
static const char *
foreign_name(const struct expr *e, const struct reducer *r)
{
	const char *found = NULL;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		bool own = false;

		if (e->kind == EXPR_LOAD) {
			found = e->u.buffer->name;
		}
		if (e->kind != EXPR_VAR) {
			continue;
		}
		for (int k = 0; r && k < r->n; k++) {
			own |= e->u.var == r->lhs[k] || e->u.var == r->rhs[k];
		}
		if (!own) {
			found = e->u.var->name;
		}
	}
	return found;
}

bool
te_reducer_define(struct module *m, struct reducer *r,
		  const struct expr *const *result,
		  const struct expr *const *identity, const char **why)
{
	for (int k = 0; k < r->n; k++) {
		struct dtype t = r->lhs[k]->type;
		const char *foreign;

		if (!dtype_equal(result[k]->type, t) ||
		    !dtype_equal(identity[k]->type, t)) {
			*why = arena_printf(&m->arena,
					    "value %d of the reducer '%s' is "
					    "%s but its %s is %s; cast it",
					    k, r->name, dtype_name(t),
					    dtype_equal(result[k]->type, t)
						    ? "identity"
						    : "combination",
					    dtype_name(
						    dtype_equal(result[k]->type,
								t)
							    ? identity[k]->type
							    : result[k]->type));
			return false;
		}
		foreign = foreign_name(result[k], r);
		if (!foreign) {
			foreign = foreign_name(identity[k], NULL);
		}
		if (foreign) {
			*why = arena_printf(
				&m->arena,
				"the reducer '%s' depends on '%s'; "
				"it combines its two arguments and nothing "
				"else",
				r->name, foreign);
			return false;
		}
	}
	r->result = arena_copy(&m->arena, result,
			       sizeof(*result) * (size_t)r->n);
	r->identity = arena_copy(&m->arena, identity,
				 sizeof(*identity) * (size_t)r->n);
	return true;
}

const struct expr *
reducer_takes_all(const struct reducer *r)
{
	for (int k = 0; k < r->n; k++) {
		const struct expr *e = r->result[k];

		if (e->kind != EXPR_SELECT ||
		    e->args[0] != r->result[0]->args[0] ||
		    e->args[1] != r->rhs[k]->expr ||
		    e->args[2] != r->lhs[k]->expr) {
			return NULL;
		}
	}
	return r->result[0]->args[0];
}
