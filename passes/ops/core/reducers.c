/* SPDX-License-Identifier: Apache-2.0 */
/* The reducers of operators, and the axes of a reduction. */
#include "dims.h"

#include <math.h>

struct dtype
accumulator_type(struct dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) < 32 ? dtype_of(DT_F32) : t;
}

const struct reducer *
reducer_extreme(struct module *m, struct dtype t, bool max)
{
	return max ? reducer_max(m, t) : reducer_min(m, t);
}

const struct reducer *
reducer_largest(struct module *m, struct dtype t)
{
	struct reducer *r;

	if (!dtype_is_float(t)) {
		return reducer_max(m, t);
	}
	r = arena_copy(&m->arena, reducer_max(m, t), sizeof *r);
	r->name = "largest";
	r->result = arena_exprs(&m->arena, 1);
	r->identity = arena_exprs(&m->arena, 1);
	r->result[0] = expr_call2(m, INTRIN_FMAX, r->lhs[0]->expr,
				  r->rhs[0]->expr);
	r->identity[0] = expr_float(m, t, (double)NAN);
	return r;
}

/* See define.h: sets the axes of the result, the reduced axes, and the index
 * into t. */
struct reduce_plan
reduce_plan(struct define *c, const struct te_tensor *t, const bool *reduced,
	    bool keep)
{
	struct module *m = c->module;
	struct arena *a = &m->arena;
	int ndim = t->buffer->ndim;
	struct reduce_plan p = {
		.axes = arena_array(a, struct iter_var, ndim + 1),
		.over = arena_array(a, struct iter_var, ndim + 1),
		.at = arena_exprs(a, ndim + 1),
		.count = expr_i32(m, 1),
	};

	for (int d = 0; d < ndim; d++) {
		struct iter_var axis = define_reduce_axis(c, t, d);

		p.at[d] = axis.var->expr;
		if (reduced[d]) {
			p.over[p.n_over++] = axis;
			p.count = dim_mul(m, p.count, axis.extent);
			if (!keep) {
				continue;
			}
			axis = te_reduce_axis(m, axis.var->name,
					      expr_i32(m, 1));
		}
		axis.kind = ITER_SPATIAL;
		p.axes[p.n_axes++] = axis;
	}
	return p;
}

/* ---- the largest or smallest value, and its index (argmax, argmin) ---- */

/* A reducer of (value, index) pairs with its variables; the caller sets the
 * reducer's results and neutral element. */
static struct reducer *
pair_reducer(struct module *m, const char *name, struct dtype t,
	     struct dtype index_type)
{
	struct arena *a = &m->arena;
	struct reducer *r = arena_new(a, struct reducer);

	r->name = name;
	r->n = 2;
	r->lhs = arena_array(a, struct var *, 2);
	r->rhs = arena_array(a, struct var *, 2);
	r->result = arena_exprs(a, 2);
	r->identity = arena_exprs(a, 2);
	r->lhs[0] = var_new(m, "best", t);
	r->lhs[1] = var_new(m, "best_index", index_type);
	r->rhs[0] = var_new(m, "value", t);
	r->rhs[1] = var_new(m, "index", index_type);
	return r;
}

static void
take_pair(struct module *m, struct reducer *r, const struct expr *take)
{
	for (int k = 0; k < 2; k++) {
		r->result[k] = expr_select(m, take, r->rhs[k]->expr,
					   r->lhs[k]->expr);
	}
}

/* The condition that `value` is better than `best` (larger if `max` is set,
 * else smaller), or that both are equal and `tie` holds. The condition is false
 * if one of them is NaN. Not written as `value > best || (value == best &&
 * tie)`: gcc 12 at -O3 with -fno-trapping-math compiles that form, in unrolled
 * loops, to code that is true for NaN. */
static const struct expr *
is_better(struct module *m, bool max, const struct expr *value,
	  const struct expr *best, const struct expr *tie)
{
	const struct expr *less = max ? best : value;
	const struct expr *more = max ? value : best;

	return expr_and(m, expr_le(m, less, more),
			expr_or(m, expr_lt(m, less, more), tie));
}

const struct reducer *
reducer_first_largest(struct module *m, struct dtype t, struct dtype index_type)
{
	struct reducer *r = pair_reducer(m, "first_largest", t, index_type);
	const struct expr *best = r->lhs[0]->expr, *value = r->rhs[0]->expr;
	const struct expr *first = expr_lt(m, r->rhs[1]->expr, r->lhs[1]->expr);
	const struct expr *take = is_better(m, true, value, best, first);

	if (dtype_is_float(t)) {
		const struct expr *number = expr_not(m,
						     expr_call1(m, INTRIN_ISNAN,
								value));

		take = expr_or(m, take,
			       expr_and(m, expr_call1(m, INTRIN_ISNAN, best),
					expr_or(m, number, first)));
	}
	take_pair(m, r, take);
	r->identity[0] = reducer_largest(m, t)->identity[0];
	r->identity[1] = expr_int(m, index_type,
				  (int64_t)dtype_max_int(index_type));
	return r;
}

/* Keeps the better value; of equal values, the one with the first (or last)
 * index. A NaN is taken only at index 0; no value is better than it. */
const struct reducer *
reducer_arg(struct module *m, struct dtype t, struct dtype index_type, bool max,
	    bool last)
{
	struct reducer *r = pair_reducer(m, max ? "argmax" : "argmin", t,
					 index_type);
	const struct expr *best = r->lhs[0]->expr, *value = r->rhs[0]->expr;
	const struct expr *index = r->rhs[1]->expr;
	const struct expr *tie = expr_binary(m, last ? EXPR_GT : EXPR_LT, index,
					     r->lhs[1]->expr);
	const struct expr *take = is_better(m, max, value, best, tie);

	if (dtype_is_float(t)) {
		take = expr_or(m, take,
			       expr_and(m,
					expr_eq(m, index,
						expr_int(m, index_type, 0)),
					expr_call1(m, INTRIN_ISNAN, value)));
	}
	take_pair(m, r, take);
	r->identity[0] = reducer_extreme(m, t, max)->identity[0];
	r->identity[1] = expr_int(m, index_type, 0);
	return r;
}

struct te_tensor *
define_arg_stage(struct define *c, const struct reducer *r,
		 const struct expr *value, const struct expr *index,
		 struct iter_var *axes, int n_axes, struct iter_var *over,
		 int n_over, struct te_tensor **best)
{
	static const char *const names[] = { "best", "best_index" };
	const struct expr *sources[2] = { value, index }, *bodies[2];
	struct reduction red = { .reducer = r, .axes = over, .n_axes = n_over };
	struct te_tensor *both[2];

	for (int k = 0; k < 2; k++) {
		red.index = k;
		bodies[k] = expr_reduce(c->module, &red, sources, 2);
	}
	define_stages(c, names, "reduce", n_axes, axes, bodies, 2, both);
	if (best) {
		*best = both[0];
	}
	return both[1];
}
