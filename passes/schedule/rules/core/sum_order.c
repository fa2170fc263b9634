/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the order of a summation may change. */
#include "iterate.h"
#include "kernel_blocks.h"
#include "rounding.h"

bool
rules_order_is_visible(const struct func *f, const struct expr *sum)
{
	bool whole = false;
	const struct expr *e;

	for (struct expr_iter it = expr_each_of(sum, EXPR_LOAD);
	     (e = expr_next(&it));) {
		whole |= !dtype_is_float(e->u.buffer->type);
	}
	return whole && dtype_is_float(sum->type) && func_rounds(f);
}
