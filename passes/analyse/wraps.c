/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that may wrap. Sizes, loop variables and values computed from them
 * are assumed to fit their types. Loaded values may have any value of their
 * types, and arithmetic on them wraps, in the interpreter and in emitted code:
 * bounds, order and quotients of their sums, computed as integers of unlimited
 * size, hold only if no operation in the sum may wrap. */
#include "iterate.h"
#include "linear.h"

bool
holds_data(struct analyser *a, const struct expr *e)
{
	const struct analyser_var *v;
	bool data = e->loads;
	struct expr_iter it;

	if (data || (e->var_bits & a->data_bits) == 0) {
		return data;
	}
	it = expr_each_of(e, EXPR_VAR);
	while (!data && (e = expr_next(&it)) != NULL) {
		v = analyser_find(a, e->u.var);
		data = v != NULL && v->data;
	}
	expr_stop(&it);
	return data;
}

/* The bounds of the type's values; for uint64, the upper bound is
 * BOUND_POS_INF. */
static struct bounds
values_of(struct dtype t)
{
	uint64_t most = dtype_max_int(t);

	return (struct bounds){ dtype_min_int(t), most < INT64_MAX
							  ? (int64_t)most
							  : BOUND_POS_INF };
}

/* Bounds of e, limited to the values of e's type; analyse_bounds would treat an
 * index as unlimited. */
static struct bounds
bounds_of_data(void *state, const struct expr *e)
{
	struct bounds b = analyse_bounds(state, e), all, from;

	if (!dtype_is_int(e->type)) {
		return b;
	}
	all = values_of(e->type);
	if (e->kind == EXPR_CAST && dtype_is_int(e->args[0]->type)) {
		from = bounds_of_data(state, e->args[0]);
		all = bounds_within(from, all) ? from : all;
	}
	return bounds_meet(b, all);
}

/* May the result of an operation leave the type t? b: the bounds of the result
 * as an unlimited integer. */
static bool
leaves_type(struct bounds b, struct dtype t)
{
	return !bounds_within(b, values_of(t)) ||
	       (dtype_bits(t) == 64 &&
		(b.min == BOUND_NEG_INF || b.max == BOUND_POS_INF));
}

/* May the quotient of x by d, of type t, be the least value divided by -1,
 * which wraps? */
static bool
negates_least(struct bounds x, struct bounds d, struct dtype t)
{
	return x.min == dtype_min_int(t) && d.min <= -1 && d.max >= -1;
}

static bool
operation_may_wrap(struct analyser *a, const struct expr *e)
{
	struct bounds x = bounds_of_data(a, e->args[0]);
	struct bounds y = bounds_of_data(a, e->args[1]);

	return e->kind == EXPR_DIV || e->kind == EXPR_FLOORDIV
		       ? negates_least(x, y, e->type)
		       : leaves_type(bounds_binary(e->kind, x, y), e->type);
}

static bool
cast_may_wrap(struct analyser *a, const struct expr *e)
{
	struct dtype from = e->args[0]->type;

	if (!dtype_is_int(from) || (dtype_is_signed(from) &&
				    dtype_bits(from) <= dtype_bits(e->type))) {
		return false;
	}
	return leaves_type(bounds_of_data(a, e->args[0]), e->type);
}

bool
may_wrap(struct analyser *a, const struct expr *e)
{
	if (!type_is_index(e->type)) {
		return false;
	}
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_FLOORDIV:
		return holds_data(a, e) && operation_may_wrap(a, e);
	case EXPR_CAST:
		return holds_data(a, e) && cast_may_wrap(a, e);
	default:
		return false;
	}
}

/* Is `part` in e? */
static bool
contains(const struct expr *e, const struct expr *part)
{
	struct expr_iter it = expr_each_of(e, part->kind);
	bool found = false;

	while (!found && (e = expr_next(&it)) != NULL) {
		found = e == part;
	}
	expr_stop(&it);
	return found;
}

bool
wraps_anew(struct analyser *a, const struct expr *e, const struct expr *x,
	   const struct expr *y)
{
	struct expr_iter it;
	bool anew = false;

	if (!holds_data(a, e)) {
		return false;
	}
	it = expr_each(e);
	while (!anew && (e = expr_next(&it)) != NULL) {
		anew = may_wrap(a, e) && !contains(x, e) &&
		       (y == NULL || !contains(y, e));
	}
	expr_stop(&it);
	return anew;
}
