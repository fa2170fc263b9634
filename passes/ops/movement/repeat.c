/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.Repeat: makes a tensor from a smaller tensor x, in which each element is
 * stored once.
 *
 *	y[i][j][k] = x[i][0][(k / runs[2]) % extent of x]
 *
 * Along a dimension d, each element of x is repeated runs[d] times in a row, as
 * by Resize with the nearest element, and the result is repeated as a whole, as
 * by Tile. With an extent of 1 in x, this is Expand. */
#include "define.h"

bool
infer_repeat(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct module *m = c->module;
	const struct expr **shape;
	const int64_t *sizes, *runs;
	bool fits = node_attr_ints(n, "shape", &sizes) == x->ndim &&
		    node_attr_ints(n, "runs", &runs) == x->ndim;
	int64_t extent;

	shape = arena_exprs(&m->arena, x->ndim + 1);
	for (int d = 0; fits && d < x->ndim; d++) {
		fits = expr_is_int(x->shape[d], &extent) && extent > 0 &&
		       sizes[d] > 0 && sizes[d] <= INT32_MAX && runs[d] > 0 &&
		       runs[d] <= INT32_MAX;
		shape[d] = fits ? expr_index(m, sizes[d]) : NULL;
	}
	if (!fits) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "shape and runs must be sizes from 1 to "
				   "2147483647, one for each dimension of "
				   "'%s'; correct the model",
				   x->name);
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

bool
define_repeat(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	const int64_t *sizes, *runs;
	int64_t extent;

	node_attr_ints(n, "shape", &sizes);
	node_attr_ints(n, "runs", &runs);
	for (int d = 0; d < y->ndim; d++) {
		struct dtype type = at[d]->type;

		expr_is_int(x->shape[d], &extent);
		if (extent == 1) {
			at[d] = expr_int(m, type, 0);
			continue;
		}
		if (runs[d] > 1) {
			at[d] = expr_floordiv(m, at[d],
					      expr_int(m, type, runs[d]));
		}
		if (extent < (sizes[d] + runs[d] - 1) / runs[d]) {
			at[d] = expr_floormod(m, at[d],
					      expr_int(m, type, extent));
		}
	}
	out[0] = define_stage(c, "repeat", "injective", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}
