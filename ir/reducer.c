/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in reducers: one value each, with its neutral element. */
#include "expr.h"

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
	r->result = arena_array(a, const struct expr *, 1);
	r->identity = arena_array(a, const struct expr *, 1);
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

/* Neutral for every value, infinities included, where the type has them. */
static const struct expr *
extreme(struct module *m, struct dtype t, bool highest)
{
	double v = (double)INFINITY;

	if (dtype_is_float(t)) {
		if (dtype_bits(t) == 8) {
			v = dtype_highest(t);
		}
		return expr_float(m, t, highest ? v : -v);
	}
	return expr_int(m, t, highest ? (int64_t)dtype_max_int(t)
				      : dtype_min_int(t));
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
