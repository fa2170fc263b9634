/* SPDX-License-Identifier: Apache-2.0 */
/* The library te: its names (te.def and topi), and the functions for its kinds
 * of values, such as operators, calls, len and subscripts. */
#include "te_parts.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "te.def"
#undef NAME
};

const struct library te_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
	.find = topi_find,
	.list = topi_list,
};

static bool
tensor_length(const struct pval *v, int64_t *out)
{
	*out = v->u.tensor->buffer->ndim;
	return true;
}

const struct kind_ops tensor_ops = {
	.length = tensor_length,
	.call = te_call_tensor,
	.subscript = te_subscript,
	.binary = topi_binary,
	.unary = topi_unary,
};

const struct kind_ops tensor_part_ops = { .subscript = te_subscript };
const struct kind_ops reducer_ops = { .call = te_call_reducer };
const struct kind_ops te_schedule_ops = { .subscript = te_schedule_stage };
