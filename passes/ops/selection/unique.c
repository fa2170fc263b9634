/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.Unique with the attribute rows: finds the rows of a matrix that are
 * equal. The positions of the rows are sorted with a heap; after that equal
 * rows are adjacent, in the order of their positions.
 *
 *	order = 0, 1, …, n - 1, sorted by (row, position)
 *	count = 0
 *	for i: r = order[i]
 *		if i == 0 or row r differs from row order[i - 1]:
 *			first[count] = r; counts[count] = 0; count += 1
 *		counts[count - 1] += 1
 *		inverse[r] = count - 1
 *
 * Unless the attribute sorted is set, the rows are then numbered anew in the
 * order of their first positions. Among floats, NaN is the largest, and all
 * NaNs are equal.
 *
 * Results: the first position of each different row, the number of each row
 * (inverse), the count of each different row, and the number of different
 * rows. */
#include "steps.h"

enum { FIRST, INVERSE, COUNTS, NUMBER, ORDER, N_MADE };

bool
infer_unique_rows(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *one = expr_i32(c->module, 1);

	if (!infer_form(c, n, 0, TYPES_ANY, 2, 2)) {
		return false;
	}
	for (int k = FIRST; k <= COUNTS; k++) {
		infer_set(c, n->outputs[k], dtype_of(DT_I64), 1, x->shape);
	}
	infer_set(c, n->outputs[NUMBER], dtype_of(DT_I32), 1, &one);
	return true;
}

bool
define_unique_rows(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "first", "inverse", "counts",
					     "number", "order" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	struct dtype i64 = dtype_of(DT_I64);
	const struct expr *one = expr_i32(m, 1);
	struct te_tensor *made[N_MADE];
	struct steps s = steps_begin(c, "unique", "unique", names,
				     (struct dtype[]){ i64, i64, i64,
						       dtype_of(DT_I32), i64 },
				     (int[]){ 1, 1, 1, 1, 1 },
				     (const struct expr *const *[]){
					     x->shape, x->shape, x->shape, &one,
					     x->shape },
				     N_MADE, in, 1, made);

	steps_tensor(&s, "x", in[0]);
	steps_value(&s, "n", expr_cast(m, dtype_of(DT_I32), x->shape[0]));
	steps_value(&s, "columns", expr_cast(m, dtype_of(DT_I32), x->shape[1]));
	steps_flag(&s, "one_column", expr_is_value(x->shape[1], 1));
	steps_flag(&s, "is_sorted", node_attr_int(n, "sorted", 1) != 0);
	steps_order(&s, x->type);
	for (int k = 0; k < n->n_outputs; k++) {
		out[k] = made[k];
	}
	return steps_run(&s, "unique", NULL, 0);
}
