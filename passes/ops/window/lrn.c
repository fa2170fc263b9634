/* SPDX-License-Identifier: Apache-2.0 */
/* Division by a norm: over neighbouring channels (LRN), or along an axis
 * (LpNormalization). */
#include "define.h"

/* ---- LRN ---- */

bool
infer_lrn(struct infer *c, struct node *n)
{
	if (node_attr_int(n, "size", 0) < 1) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "size is missing or not positive; correct "
				   "the attribute");
	}
	if (n->inputs[0]->ndim < 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the input has rank %d; LRN needs batch "
				   "and channels",
				   n->inputs[0]->ndim);
	}
	infer_like_input(c, n);
	return true;
}

/* e^beta. If beta is 0.5, or 0.75 and e is positive, it is computed with
 * square roots, which are faster than powers. */
static const struct expr *
raised(struct define *c, const struct expr *e, double beta, bool positive)
{
	struct module *m = c->module;
	const struct expr *root = expr_call1(m, INTRIN_SQRT, e);

	if (beta == 1) {
		return e;
	}
	if (beta == 0.5) {
		return root;
	}
	if (beta == 0.75 && positive) {
		return expr_mul(m, root, expr_call1(m, INTRIN_SQRT, root));
	}
	return expr_call2(m, INTRIN_POW, e, like(c, e, beta));
}

/* x / (bias + alpha / size * sum of squares of the nearest channels)^beta */
bool
define_lrn(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype t = accumulator_type(y->type);
	int64_t size = node_attr_int(n, "size", 1);
	double alpha = node_attr_float(n, "alpha", 0.0001);
	double beta = node_attr_float(n, "beta", 0.75);
	double bias = node_attr_float(n, "bias", 1);
	struct iter_var *axes = define_axes(c, y);
	struct iter_var near = te_reduce_axis(m, "r", expr_index(m, size));
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr *channel = expr_add(m, index[1],
					      expr_sub(m, near.var->expr,
						       expr_index(m, (size -
								      1) / 2)));
	const struct expr *inside = expr_and(m,
					     expr_le(m, expr_i32(m, 0),
						     channel),
					     expr_lt(m, channel, y->shape[1])),
			  *e;
	struct te_tensor *sum;

	index[1] = channel;
	e = expr_cast(m, t, te_at(m, in[0], index, y->ndim));
	e = expr_if(m, size > 1 ? inside : expr_bool(m, true), e,
		    like(c, e, 0));
	sum = define_stage(c, "square_sum", "reduce", y->ndim, axes,
			   te_sum(m, expr_mul(m, e, e), &near, 1));
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	e = te_at(m, sum, index, y->ndim);
	e = expr_add(m, expr_mul(m, e, like(c, e, alpha / (double)size)),
		     like(c, e, bias));
	e = raised(c, e, beta, alpha >= 0 && bias > 0);
	e = expr_div(m, expr_cast(m, t, te_at(m, in[0], index, y->ndim)), e);
	out[0] = define_stage(c, "lrn", "elementwise", y->ndim, axes,
			      convert_to(c, y->type, e));
	return true;
}

/* ---- LpNormalization ---- */

bool
infer_lp_norm(struct infer *c, struct node *n)
{
	int axis;

	if (!infer_axis(c, node_attr_int(n, "axis", -1), n->inputs[0]->ndim,
			&axis)) {
		return false;
	}
	infer_like_input(c, n);
	return true;
}

/* x / norm, or 0 if the norm is 0. */
bool
define_lp_norm(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	int64_t axis = node_attr_int(n, "axis", -1);
	double p = (double)node_attr_int(n, "p", 2);
	struct dtype t = accumulator_type(y->type);
	bool *reduced = arena_array(&m->arena, bool, y->ndim + 1);
	struct reduce_plan r;
	struct te_tensor *norm;
	struct iter_var *axes;
	const struct expr **index, *e, *x, *zero;

	axis = axis < 0 ? axis + y->ndim : axis;
	reduced[axis] = true;
	r = reduce_plan(c, in[0], reduced, false);
	e = expr_cast(m, t, te_at(m, in[0], r.at, y->ndim));
	norm = define_stage(c, "sum", "reduce", r.n_axes, r.axes,
			    te_sum(m, power_of_abs(c, e, p), r.over, r.n_over));
	r = reduce_plan(c, in[0], reduced, false);
	e = te_at(m, norm, axes_exprs(c, r.axes, r.n_axes), r.n_axes);
	norm = define_stage(c, "norm", "elementwise", r.n_axes, r.axes,
			    root_of_sum(c, e, p));
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	x = expr_cast(m, t, te_at(m, in[0], index, y->ndim));
	e = te_at(m, norm, kept_exprs(c, index, reduced, y->ndim), r.n_axes);
	zero = like(c, e, 0);
	e = expr_select(m, expr_eq(m, e, zero), zero, expr_div(m, x, e));
	out[0] = define_stage(c, "lp_norm", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}
