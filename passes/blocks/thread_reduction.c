/* SPDX-License-Identifier: Apache-2.0 */
/* Legality of cross-thread reductions. */
#include "thread_reduction.h"

#include "access.h"

/* May every thread start from the initial value? A sum of 16 parts that each
 * start from 5 would be 75 too large; a minimum may take the value several
 * times. */
static bool
may_repeat(const struct expr *update, const struct expr *start)
{
	int64_t neutral = update->kind == EXPR_MUL;

	return expr_is_extreme(update) || expr_is_value(start, neutral) ||
	       (start->kind == EXPR_FLOAT && start->u.fval == (double)neutral);
}

const char *
cross_thread_refusal(const struct stmt *block, int *own)
{
	const struct stmt *store = block->children[0];
	const struct stmt *init = block->children[1];
	const struct expr *value;

	*own = -1;
	if (!init) {
		return "it has no init part; do not decompose it";
	}
	if (store->kind != STMT_STORE || init->kind != STMT_STORE ||
	    store->u.buffer != init->u.buffer) {
		return "it has several results, or its update is not a plain "
		       "store; bind a spatial loop";
	}
	if (expr_has_load(init->args[0])) {
		return "its init reads a buffer, which every thread would "
		       "add; combine the values afterwards";
	}
	value = store->args[0];
	if (expr_combines(value)) {
		for (int i = 0; i < 2; i++) {
			const struct expr *e = value->args[i];

			if (*own < 0 && e->kind == EXPR_LOAD &&
			    e->u.buffer == store->u.buffer) {
				*own = i;
			}
		}
	}
	if (*own < 0 ||
	    expr_uses_buffer(value->args[1 - *own], store->u.buffer)) {
		return "only sums, products, minima and maxima can be "
		       "reduced across threads";
	}
	if (!may_repeat(value, init->args[0])) {
		return value->kind == EXPR_MUL
			       ? "its init value is not 1; start from 1, and "
				 "combine the value afterwards"
			       : "its init value is not 0; start from 0, and "
				 "combine the value afterwards";
	}
	return NULL;
}
