/* SPDX-License-Identifier: Apache-2.0 */
/* The library of numpy: its names, and the functions for arrays. */
#include "numpy.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "numpy.def"
#undef NAME
};

const struct library numpy_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
};

static void
np_text(struct eval *ev, const struct pval *v, bool repr, struct strbuf *out)
{
	(void)ev;
	array_text(v->u.array, repr, out);
}

const struct kind_ops array_ops = {
	.text = np_text,
	.truth = np_truth,
	.length = np_length,
	.number = np_number,
	.operand = np_operand,
	.items = np_items,
	.subscript = np_subscript,
	.set_element = np_set_element,
	.binary = np_operator,
	.unary = np_negated,
	.product = np_product,
	.augment = np_augment,
};
