/* SPDX-License-Identifier: Apache-2.0 */
/* Guards: operands that are evaluated only under a condition, and expressions
 * that can be evaluated without a condition. */
#include "access.h"
#include "iterate.h"

bool
expr_is_lazy(const struct expr *e)
{
	return e->kind == EXPR_IF || e->kind == EXPR_AND || e->kind == EXPR_OR;
}

bool
expr_is_total(struct analyser *a, const struct expr *e)
{
	bool total = true;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		switch (e->kind) {
		case EXPR_LOAD:
			total = false;
			break;
		case EXPR_CALL:
			total &= intrin_is_pure(e->u.intrin);
			break;
		case EXPR_DIV:
		case EXPR_TRUNCMOD:
		case EXPR_FLOORDIV:
		case EXPR_FLOORMOD:
			total &= !dtype_is_int(e->type) ||
				 analyse_bounds(a, e->args[1]).min > 0;
			break;
		default:
			break;
		}
	}
	return total;
}
