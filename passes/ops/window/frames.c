/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: overlapping parts of a signal. Each frame has `length` elements and
 * begins `step` elements after the frame before it: y[n, f, i, p] = x[n, step f
 * + i, p]. */
#include "dims.h"

bool
infer_frames(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct module *m = c->module;
	int64_t step = node_attr_int(n, "step", 1), size;
	int64_t length = node_attr_int(n, "length", 1);
	const struct expr *shape[4];

	if (step < 1 || step > INT32_MAX || length < 1 || length > INT32_MAX) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "step and length must be from 1 to "
				   "2147483647; correct the model");
	}
	if (x->ndim != 3 ||
	    (expr_is_int(x->shape[1], &size) && size < length)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the signal is shorter than a frame of "
				   "%lld elements; correct the model",
				   (long long)length);
	}
	shape[0] = x->shape[0];
	shape[1] = dim_add(m,
			   dim_div(m,
				   dim_sub(m, x->shape[1],
					   expr_index(m, length)),
				   step),
			   expr_index(m, 1));
	shape[1] = dim_normal(m, shape[1]);
	shape[2] = expr_index(m, length);
	shape[3] = x->shape[2];
	infer_set(c, n->outputs[0], x->type, 4, shape);
	return true;
}

bool
define_frames(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, 4), *index[3];

	index[0] = at[0];
	index[1] = expr_add(m,
			    expr_mul(m, at[1],
				     expr_int(m, at[1]->type,
					      node_attr_int(n, "step", 1))),
			    at[2]);
	index[2] = at[3];
	out[0] = define_stage(c, "frames", "injective", 4, axes,
			      te_at(m, in[0], index, 3));
	return true;
}
