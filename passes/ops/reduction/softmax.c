/* SPDX-License-Identifier: Apache-2.0 */
/* The softmax family along one axis: Softmax consists of the stages max, exp,
 * sum, the inverse of the sum, and products with this inverse, which take less
 * time than a division for each element. The sum is at least 1, so that its
 * inverse does not overflow; the result is rounded once more.
 *
 * Along an axis of one element x the stages give exp(x - x) / exp(x - x), which is 1,
 * and NaN for an infinity or NaN: x - x + 1, without any stage. */
#include "define.h"

bool
infer_softmax(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int axis;

	if (!infer_axis(c, node_attr_int(n, "axis", -1), x->ndim, &axis)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

static bool *
softmax_axis(struct define *c, const struct node *n)
{
	int ndim = n->inputs[0]->ndim;
	int64_t axis = node_attr_int(n, "axis", -1);
	bool *reduced = arena_array(&c->module->arena, bool, ndim + 1);

	reduced[axis < 0 ? axis + ndim : axis] = true;
	return reduced;
}

/* Has the axis one element? */
static bool
is_of_one(const struct node *n, const bool *reduced)
{
	int axis = 0;

	while (!reduced[axis]) {
		axis++;
	}
	return expr_is_value(n->inputs[0]->shape[axis], 1);
}

/* The softmax along an axis of one element, or, with log set, its logarithm. */
static struct te_tensor *
define_of_one(struct define *c, const struct node *n, struct te_tensor *x,
	      bool log)
{
	struct module *m = c->module;
	struct dtype type = x->buffer->type, t = accumulator_type(type);
	int ndim = x->buffer->ndim;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr *e = expr_cast(m, t,
					 te_at(m, x, axes_exprs(c, axes, ndim),
					       ndim));

	e = expr_sub(m, e, e);
	if (!log) {
		e = expr_add(m, e, expr_const(m, t, 1));
	}
	return define_stage(c, log ? "log_softmax" : "softmax", "elementwise",
			    ndim, axes, expr_cast(m, type, e));
}

static struct te_tensor *
define_max(struct define *c, struct te_tensor *x, struct dtype t,
	   const bool *reduced)
{
	struct reduce_plan p = reduce_plan(c, x, reduced, false);
	const struct expr *e = te_at(c->module, x, p.at, x->buffer->ndim);

	return define_stage(c, "max", "reduce", p.n_axes, p.axes,
			    te_reduce(c->module,
				      reducer_extreme(c->module, t, true),
				      expr_cast(c->module, t, e), p.over,
				      p.n_over));
}

/* The element x - max at an index of x. */
static const struct expr *
shifted(struct define *c, const struct te_tensor *x,
	const struct te_tensor *max, const bool *reduced,
	const struct expr *const *index)
{
	int ndim = x->buffer->ndim;

	return expr_sub(c->module,
			expr_cast(c->module, max->buffer->type,
				  te_at(c->module, x, index, ndim)),
			te_at(c->module, max,
			      kept_exprs(c, index, reduced, ndim), ndim - 1));
}

bool
define_softmax(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const bool *reduced = softmax_axis(c, n);
	int ndim = in[0]->buffer->ndim;
	struct dtype type = in[0]->buffer->type, t = accumulator_type(type);
	struct te_tensor *max, *exp, *sum, *inverse;
	struct iter_var *axes;
	const struct expr **index, *e;
	struct reduce_plan p;

	if (is_of_one(n, reduced)) {
		out[0] = define_of_one(c, n, in[0], false);
		return true;
	}
	max = define_max(c, in[0], t, reduced);
	axes = define_axes(c, n->outputs[0]);
	index = axes_exprs(c, axes, ndim);
	exp = define_stage(c, "exp", "broadcast", ndim, axes,
			   expr_call1(m, INTRIN_EXP,
				      shifted(c, in[0], max, reduced, index)));
	p = reduce_plan(c, exp, reduced, false);
	sum = define_stage(c, "sum", "reduce", p.n_axes, p.axes,
			   te_sum(m, te_at(m, exp, p.at, ndim), p.over,
				  p.n_over));
	p = reduce_plan(c, exp, reduced, false);
	e = te_at(m, sum, axes_exprs(c, p.axes, p.n_axes), p.n_axes);
	inverse = define_stage(c, "inverse", "elementwise", p.n_axes, p.axes,
			       expr_div(m, expr_const(m, t, 1), e));
	axes = define_axes(c, n->outputs[0]);
	index = axes_exprs(c, axes, ndim);
	e = expr_mul(m, te_at(m, exp, index, ndim),
		     te_at(m, inverse, kept_exprs(c, index, reduced, ndim),
			   ndim - 1));
	out[0] = define_stage(c, "softmax", "broadcast", ndim, axes,
			      expr_cast(m, type, e));
	return true;
}

bool
define_log_softmax(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const bool *reduced = softmax_axis(c, n);
	int ndim = in[0]->buffer->ndim;
	struct dtype type = in[0]->buffer->type, t = accumulator_type(type);
	struct te_tensor *max, *sum, *log;
	struct reduce_plan p;
	struct iter_var *axes;
	const struct expr **index, *e;

	if (is_of_one(n, reduced)) {
		out[0] = define_of_one(c, n, in[0], true);
		return true;
	}
	max = define_max(c, in[0], t, reduced);
	p = reduce_plan(c, in[0], reduced, false);
	e = expr_call1(m, INTRIN_EXP, shifted(c, in[0], max, reduced, p.at));
	sum = define_stage(c, "sum", "reduce", p.n_axes, p.axes,
			   te_sum(m, e, p.over, p.n_over));
	p = reduce_plan(c, in[0], reduced, false);
	e = te_at(m, sum, axes_exprs(c, p.axes, p.n_axes), p.n_axes);
	log = define_stage(c, "log_sum", "elementwise", p.n_axes, p.axes,
			   expr_call1(m, INTRIN_LOG, e));
	axes = define_axes(c, n->outputs[0]);
	index = axes_exprs(c, axes, ndim);
	e = expr_sub(m, shifted(c, in[0], max, reduced, index),
		     te_at(m, log, kept_exprs(c, index, reduced, ndim),
			   ndim - 1));
	out[0] = define_stage(c, "log_softmax", "broadcast", ndim, axes,
			      expr_cast(m, type, e));
	return true;
}

/* Hardmax: 1 at the position of the first maximum along the axis, 0
 * elsewhere. */
bool
define_hardmax(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const bool *reduced = softmax_axis(c, n);
	int ndim = in[0]->buffer->ndim, axis = 0;
	struct dtype type = in[0]->buffer->type, i32 = dtype_of(DT_I32);
	struct reduce_plan p = reduce_plan(c, in[0], reduced, false);
	struct te_tensor *best =
		define_arg_stage(c, reducer_arg(m, type, i32, true, false),
				 te_at(m, in[0], p.at, ndim),
				 expr_cast(m, i32, p.over[0].var->expr), p.axes,
				 p.n_axes, p.over, 1, NULL);
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **index = axes_exprs(c, axes, ndim), *hit;

	while (!reduced[axis]) {
		axis++;
	}
	hit = expr_eq(m, expr_cast(m, i32, index[axis]),
		      te_at(m, best, kept_exprs(c, index, reduced, ndim),
			    ndim - 1));
	out[0] = define_stage(c, "hardmax", "broadcast", ndim, axes,
			      expr_select(m, hit, expr_const(m, type, 1),
					  expr_const(m, type, 0)));
	return true;
}
