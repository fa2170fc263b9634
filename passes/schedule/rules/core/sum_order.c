/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the order of a summation may change. */
#include "kernel_blocks.h"
#include "rounding.h"

static void
see_whole_load(void *ctx, const struct expr *e)
{
	*(bool *)ctx |= e->kind == EXPR_LOAD &&
			!dtype_is_float(e->u.buffer->type);
}

bool
rules_order_is_visible(const struct func *f, const struct expr *sum)
{
	bool whole = false;

	expr_visit(sum, see_whole_load, &whole);
	return whole && dtype_is_float(sum->type) && func_rounds(f);
}
