/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: a reduction over the taps of a window, or over all positions. */
#include "window.h"

#include "analyse.h"
#include "dims.h"

static bool
pool_window(struct infer *c, struct module *m, const struct node *n,
	    struct window *w)
{
	const char *wrong = window_of_node(m, n, NULL, false, w);

	return !wrong || infer_error(c, DIAG_BAD_ATTRIBUTE, "%s", wrong);
}

bool
infer_pool(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *shape[2 + WINDOW_MAX];
	struct window w;

	if (!pool_window(c, c->module, n, &w)) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = x->shape[1];
	for (int d = 0; d < w.n; d++) {
		shape[2 + d] = w.out[d];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	infer_set(c, node_output(n, 1), dtype_of(DT_I64), x->ndim, shape);
	return true;
}

/* ---- MaxPool ---- */

/* The row-major position in x of the element that a tap reads. */
static const struct expr *
flat_position(struct define *c, const struct node *n, const struct window *w,
	      const struct iter_var *axes, const struct iter_var *taps)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *at = expr_add(m,
					 expr_mul(m, axes[0].var->expr,
						  x->shape[1]),
					 axes[1].var->expr);

	for (int d = 0; d < w->n; d++) {
		at = expr_mul(m, at, w->in[d]);
		at = expr_add(m, at,
			      window_position(m, w, d, axes[2 + d].var->expr,
					      taps[d].var->expr));
	}
	return expr_cast(m, dtype_of(DT_I64), at);
}

/* Converts positions in row-major order to positions in storage_order 1, in
 * which the first spatial dimension varies fastest. Ties are still broken in
 * row-major order. */
static struct te_tensor *
column_major(struct define *c, const struct window *w, const struct tensor *y,
	     struct te_tensor *row_major)
{
	struct module *m = c->module;
	struct dtype i64 = dtype_of(DT_I64);
	struct iter_var *axes = window_axes(c, w, y, "c");
	const struct expr *in[WINDOW_MAX], *at[WINDOW_MAX];
	const struct expr *rest = te_at(m, row_major,
					axes_exprs(c, axes, y->ndim), y->ndim);

	for (int d = w->n - 1; d >= 0; d--) {
		in[d] = expr_cast(m, i64, w->in[d]);
		at[d] = expr_floormod(m, rest, in[d]);
		rest = expr_floordiv(m, rest, in[d]);
	}
	for (int d = w->n - 1; d >= 0; d--) {
		rest = expr_add(m, expr_mul(m, rest, in[d]), at[d]);
	}
	return define_stage(c, "column_major", "elementwise", y->ndim, axes,
			    rest);
}

static const struct expr *count_taps(struct module *m, const struct window *w,
				     int d, const struct expr *o,
				     bool with_padding);

/* The load of `in` at a tap of the window for an element of y; the value
 * `outside` if the tap is in the padding. Sets *axes and `taps`. */
static const struct expr *
covered(struct define *c, const struct window *w, struct te_tensor *in,
	const struct tensor *y, const struct expr *outside,
	struct iter_var **axes, struct iter_var *taps)
{
	*axes = window_axes(c, w, y, "c");
	window_taps(c, w, taps);
	return window_load(c, w, in, (*axes)[0].var->expr, (*axes)[1].var->expr,
			   *axes + 2, taps, outside);
}

/* Returns a stage with the elements of t, but `empty` where the condition
 * `none` holds; t itself if `none` never holds. */
static struct te_tensor *
fill_where(struct define *c, const struct tensor *y, struct iter_var *axes,
	   struct te_tensor *t, const struct expr *none,
	   const struct expr *empty)
{
	const struct expr *const *index;

	if (expr_is_value(none, 0)) {
		return t;
	}
	index = axes_exprs(c, axes, y->ndim);
	return define_stage(c, "filled", "elementwise", y->ndim, axes,
			    expr_select(c->module, none, empty,
					te_at(c->module, t, index, y->ndim)));
}

/* A stage with the elements of t, but with `empty` where the window contains no
 * element of the input; t itself if no window can be without one. */
static struct te_tensor *
fill_empty(struct define *c, const struct window *w, const struct tensor *y,
	   struct te_tensor *t, const struct expr *empty)
{
	struct module *m = c->module;
	struct iter_var *axes = window_axes(c, w, y, "c");
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr *none = expr_bool(m, false);

	for (int d = 0; d < w->n; d++) {
		if (window_may_miss(m, w, d)) {
			none = expr_or(m, none,
				       expr_le(m,
					       count_taps(m, w, d, index[2 + d],
							  false),
					       expr_i32(m, 0)));
		}
	}
	return fill_where(c, y, axes, t, none, empty);
}

bool
define_max_pool(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct reducer *r = reducer_largest(m, y->type);
	const struct expr *lowest = reducer_extreme(m, y->type, true)
					    ->identity[0],
			  *at;
	struct dtype i64 = dtype_of(DT_I64);
	struct iter_var *axes, taps[WINDOW_MAX];
	const struct expr *x;
	struct window w;

	if (!pool_window(NULL, m, n, &w)) {
		return false;
	}
	x = covered(c, &w, in[0], y, r->identity[0], &axes, taps);
	if (!node_output(n, 1)) {
		out[0] = define_stage(c, "max_pool", "pool", y->ndim, axes,
				      te_reduce(m, r, x, taps, w.n));
		out[0] = fill_empty(c, &w, y, out[0], lowest);
		return true;
	}
	r = reducer_first_largest(m, y->type, i64);
	at = flat_position(c, n, &w, axes, taps);
	if (x->kind == EXPR_IF) {
		at = expr_if(m, x->args[0], at, r->identity[1]);
	}
	out[1] = define_arg_stage(c, r, x, at, axes, y->ndim, taps, w.n,
				  &out[0]);
	if (node_attr_int(n, "storage_order", 0) != 0) {
		out[1] = column_major(c, &w, y, out[1]);
	}
	out[0] = fill_empty(c, &w, y, out[0], lowest);
	out[1] = fill_empty(c, &w, y, out[1], expr_int(m, i64, 0));
	return true;
}

/* ---- AveragePool ---- */

/* The number of taps of the window at o that count along d: the taps inside of
 * the input; or, if padding counts, all before the end of the padding. */
static const struct expr *
count_taps(struct module *m, const struct window *w, int d,
	   const struct expr *o, bool with_padding)
{
	const struct expr *zero = expr_i32(m, 0);
	const struct expr *dilation = expr_i32(m, w->dilation[d]);
	const struct expr *start = window_position(m, w, d, o, zero);
	const struct expr *first = zero, *count = expr_i32(m, w->kernel[d]);
	struct window padded = *w;

	padded.in[d] = with_padding ? dim_add(m, w->in[d], w->end[d])
				    : w->in[d];
	if (window_above(m, &padded, d)) {
		const struct expr *room = expr_sub(m, padded.in[d], start);

		room = expr_floordiv(m,
				     expr_add(m, room,
					      expr_i32(m, w->dilation[d] - 1)),
				     dilation);
		count = expr_min(m, count, room);
	}
	if (window_below(w, d) && !with_padding) {
		first = expr_floordiv(m,
				      expr_add(m, expr_sub(m, zero, start),
					       expr_i32(m, w->dilation[d] - 1)),
				      dilation);
		first = expr_max(m, first, zero);
	}
	return expr_sub(m, count, first);
}

/* For each element of y, a sum over the element's window, in type t: the sum of
 * the elements of `in`, or, if p is not NULL, the sum of their absolute values
 * to the power *p. */
static struct te_tensor *
window_sum(struct define *c, const struct window *w, struct te_tensor *in,
	   const struct tensor *y, struct dtype t, const double *p)
{
	struct module *m = c->module;
	struct iter_var *axes, taps[WINDOW_MAX];
	const struct expr *x = covered(c, w, in, y,
				       expr_const(m, in->buffer->type, 0),
				       &axes, taps);

	x = expr_cast(m, t, x);
	x = p != NULL ? power_of_abs(c, x, *p) : x;
	return define_stage(c, "sum", "pool", y->ndim, axes,
			    te_sum(m, x, taps, w->n));
}

bool
define_average_pool(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype t = accumulator_type(y->type);
	bool padding = node_attr_int(n, "count_include_pad", 0) != 0;
	const struct expr *e, **index, *count = expr_i32(m, 1);
	struct iter_var *axes;
	struct te_tensor *sum;
	struct window w;

	if (!pool_window(NULL, m, n, &w)) {
		return false;
	}
	sum = window_sum(c, &w, in[0], y, t, NULL);
	axes = window_axes(c, &w, y, "c");
	index = axes_exprs(c, axes, y->ndim);
	for (int d = 0; d < w.n; d++) {
		const struct expr *taps = count_taps(m, &w, d, index[2 + d],
						     padding);

		/* Beyond the input the difference of the ends is below 0. */
		if (!padding && window_may_miss(m, &w, d)) {
			taps = expr_max(m, taps, expr_i32(m, 0));
		}
		count = dim_mul(m, count, taps);
	}
	e = expr_div(m, te_at(m, sum, index, y->ndim),
		     define_count(c, t, count));
	out[0] = define_stage(c, "average_pool", "elementwise", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}

/* ---- SumPool: over windows without padding, in 32 bits ---- */

bool
infer_sum_pool(struct infer *c, struct node *n)
{
	if (!infer_pool(c, n)) {
		return false;
	}
	n->outputs[0]->type = dtype_of(DT_I32);
	return true;
}

bool
define_sum_pool(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct window w;

	if (!pool_window(NULL, c->module, n, &w)) {
		return false;
	}
	out[0] = window_sum(c, &w, in[0], y, y->type, NULL);
	return true;
}

/* ---- LpPool ---- */

/* The p-th root of the sum in the output's type. */
static struct te_tensor *
define_root(struct define *c, const struct tensor *y, struct te_tensor *sum,
	    double p)
{
	struct iter_var *axes;

	if (p == 1 && dtype_equal(sum->buffer->type, y->type)) {
		return sum;
	}
	axes = define_axes(c, y);
	return define_stage(c, "root", "elementwise", y->ndim, axes,
			    expr_cast(c->module, y->type,
				      root_of_sum(c,
						  te_at(c->module, sum,
							axes_exprs(c, axes,
								   y->ndim),
							y->ndim),
						  p)));
}

bool
define_lp_pool(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	double p = (double)node_attr_int(n, "p", 2);
	struct window w;

	if (!pool_window(NULL, c->module, n, &w)) {
		return false;
	}
	out[0] = window_sum(c, &w, in[0], y, accumulator_type(y->type), &p);
	out[0] = define_root(c, y, out[0], p);
	return true;
}

/* ---- over all positions ---- */

bool
infer_global_pool(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr **shape = arena_exprs(&c->module->arena, x->ndim + 1);

	if (x->ndim < 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the input has rank %d; %s needs batch and "
				   "channels",
				   x->ndim, n->op_type);
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = d < 2 ? x->shape[d] : expr_i32(c->module, 1);
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

static struct reduce_plan
global_plan(struct define *c, const struct te_tensor *x)
{
	bool *reduced = arena_array(&c->module->arena, bool,
				    x->buffer->ndim + 1);

	for (int d = 2; d < x->buffer->ndim; d++) {
		reduced[d] = true;
	}
	return reduce_plan(c, x, reduced, true);
}

bool
define_global_max_pool(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct reduce_plan p = global_plan(c, in[0]);
	const struct tensor *y = n->outputs[0];
	const struct expr *none = expr_bool(m, false);
	struct analyser a;

	out[0] = define_stage(c, "max", "reduce", p.n_axes, p.axes,
			      te_reduce(m,
					reducer_largest(m, in[0]->buffer->type),
					te_at(m, in[0], p.at, p.n_axes), p.over,
					p.n_over));
	analyser_init(&a, m);
	for (int d = 2; d < y->ndim; d++) {
		const struct expr *size = in[0]->buffer->shape[d];

		if (!prove(&a, expr_lt(m, expr_i32(m, 0), size))) {
			none = expr_or(m, none,
				       expr_le(m, size, expr_i32(m, 0)));
		}
	}
	out[0] = fill_where(c, y, define_axes(c, y), out[0], none,
			    reducer_extreme(m, y->type, true)->identity[0]);
	return true;
}

/* The stage that sums over all positions, in type t: the elements, or, if p is
 * not NULL, their absolute values to the power *p. */
static struct te_tensor *
global_sum(struct define *c, const struct reduce_plan *plan,
	   const struct te_tensor *in, struct dtype t, const double *p)
{
	struct module *m = c->module;
	const struct expr *x = expr_cast(m, t,
					 te_at(m, in, plan->at, plan->n_axes));

	x = p != NULL ? power_of_abs(c, x, *p) : x;
	return define_stage(c, "sum", "reduce", plan->n_axes, plan->axes,
			    te_sum(m, x, plan->over, plan->n_over));
}

bool
define_global_average_pool(struct define *c, const struct node *n,
			   struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype t = accumulator_type(y->type);
	struct reduce_plan p = global_plan(c, in[0]);
	struct iter_var *axes;
	struct te_tensor *sum = global_sum(c, &p, in[0], t, NULL);
	const struct expr *x;

	axes = define_axes(c, y);
	x = te_at(m, sum, axes_exprs(c, axes, y->ndim), y->ndim);
	x = expr_div(m, x, define_count(c, t, p.count));
	out[0] = define_stage(c, "mean", "elementwise", y->ndim, axes,
			      expr_cast(m, y->type, x));
	return true;
}

bool
define_global_lp_pool(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	double p = (double)node_attr_int(n, "p", 2);
	struct reduce_plan plan = global_plan(c, in[0]);

	out[0] = global_sum(c, &plan, in[0], accumulator_type(y->type), &p);
	out[0] = define_root(c, y, out[0], p);
	return true;
}
