/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of sizes, by arithmetic of intervals. Sums are normalized first, so
 * that equal terms cancel. */
#include "size_bounds.h"

#include "bounds.h"
#include "sum.h"

/* Reads a sum, a difference or a product of indices as *l, the sum of multiples
 * of other expressions. False if e is another operation, or has too many
 * terms. */
static bool
is_sum(const struct expr *e, struct sum *l)
{
	return (e->kind == EXPR_ADD || e->kind == EXPR_SUB ||
		e->kind == EXPR_MUL) &&
	       e->type.lanes == 1 && dtype_class(e->type) == DTC_INT &&
	       dtype_bits(e->type) >= 32 && sum_of(e, l) &&
	       !(l->n == 1 && l->atom[0] == e);
}

static struct bounds
range_of(void *state, const struct expr *e)
{
	struct bounds all;
	struct sum l;

	if (!is_sum(e, &l)) {
		return bounds_of_operation(e, range_of, state);
	}
	all = bounds_of_value(l.constant);
	for (int i = 0; i < l.n; i++) {
		all = bounds_add(all, bounds_scale(range_of(state, l.atom[i]),
						   l.coefficient[i]));
	}
	return all;
}

bool
size_bounds(const struct expr *e, int64_t *min, int64_t *max)
{
	struct bounds r = range_of(NULL, e);

	*min = r.min;
	*max = r.max;
	return expr_is_int(e, min)
		       ? expr_is_int(e, max)
		       : r.min != BOUND_NEG_INF && r.max != BOUND_POS_INF;
}

bool
size_max(const struct expr *e, int64_t *max)
{
	*max = range_of(NULL, e).max;
	return expr_is_int(e, max) || *max != BOUND_POS_INF;
}

bool
size_may_be_empty(const struct expr *e)
{
	int64_t min, max;

	return !size_bounds(e, &min, &max) || min <= 0;
}
