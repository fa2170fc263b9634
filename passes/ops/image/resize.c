/* SPDX-License-Identifier: Apache-2.0 */
/* Resize as tensor expressions. Nearest and linear interpolation read all
 * dimensions at once; cubic, antialiased and edge-normalised filters process
 * one dimension at a time with a small table of weights:
 *
 *	weight[i, k] = filter(k - fraction(x(i)))
 *	y[…, i, …] = sum over k: weight[i, k] * input[…, first(i) + k, …] */
#include "resize.h"

#include <math.h>

enum { RANK_MAX = 16 };

static bool
resize_mode(const struct node *n, const char *mode)
{
	return strcmp(node_attr_string(n, "mode", "nearest"), mode) == 0;
}

static bool
axes_of(struct infer *c, const struct node *n, struct resize_axis *axes)
{
	return *n->domain ? resize_run_axes(c, n, axes)
			  : resize_axes(c, n, axes);
}

bool
infer_resize(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct resize_axis axes[RANK_MAX];
	const struct expr *shape[RANK_MAX];

	if (x->ndim > RANK_MAX) {
		return infer_error(c, DIAG_UNSUPPORTED,
				   "Resize of more than %d dimensions is not "
				   "supported",
				   RANK_MAX);
	}
	if (!axes_of(c, n, axes)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = axes[d].result;
		if (axes[d].by_sizes && axes[d].resized &&
		    !infer_can_fill(c, d, x->shape[d], shape[d])) {
			return false;
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* The type in which the weights of a Resize are computed: float64 for float64
 * data, else float32. */
static struct dtype
weight_type(const struct node *n)
{
	return n->inputs[0]->type.kind == DT_F64 ? dtype_of(DT_F64)
						 : dtype_of(DT_F32);
}

/* Converts a weighted sum to the type of n's output; for integers it is
 * truncated, as by Cast. */
static const struct expr *
as_output(struct define *c, const struct node *n, const struct expr *e)
{
	struct dtype t = n->outputs[0]->type;

	return dtype_equal(t, e->type) ? e : convert_to(c, t, e);
}

/* The condition that the position x(i) is inside of the input; always true
 * unless the mode is tf_crop_and_resize. */
static const struct expr *
is_inside(struct module *m, const struct resize_axis *a, const struct expr *i)
{
	struct dtype t = dtype_of(DT_F32);
	const struct expr *x = resize_position(m, a, t, i);
	const struct expr *last = expr_sub(m, a->size, expr_i32(m, 1));

	if (!a->crops) {
		return expr_bool(m, true);
	}
	return expr_and(m, expr_le(m, expr_const(m, t, 0), x),
			expr_le(m, x, expr_cast(m, t, last)));
}

/* The value e where all positions are inside of the input; extrapolation_value
 * elsewhere. */
static const struct expr *
extrapolate(struct define *c, const struct node *n,
	    const struct resize_axis *axes, const struct expr *const *at,
	    const struct expr *e)
{
	struct module *m = c->module;
	const struct expr *inside = expr_bool(m, true);

	for (int d = 0; d < n->inputs[0]->ndim; d++) {
		const struct resize_axis *a = &axes[d];

		if (a->at) {
			inside = expr_and(m, inside, is_inside(m, a, at[d]));
			continue;
		}
		if (a->crops && a->inside_min > 0) {
			inside = expr_and(m, inside,
					  expr_le(m,
						  expr_index(m, a->inside_min),
						  at[d]));
		}
		if (a->crops && a->inside_end < a->virtual_result) {
			inside = expr_and(m, inside,
					  expr_lt(m, at[d],
						  expr_index(m,
							     a->inside_end)));
		}
	}
	return expr_if(m, inside, e,
		       like(c, e,
			    node_attr_float(n, "extrapolation_value", 0)));
}

/* ---- nearest and linear, all dimensions at once ---- */

static void
define_nearest(struct define *c, const struct node *n,
	       const struct resize_axis *axes, struct te_tensor *in,
	       struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *vars = define_axes(c, y);
	const struct expr **at = axes_exprs(c, vars, y->ndim);
	const struct expr **to = axes_exprs(c, vars, y->ndim);

	for (int d = 0; d < y->ndim; d++) {
		const struct resize_axis *a = &axes[d];

		if (a->p) {
			to[d] = resize_nearest_symbolic(c->module, n, a, at[d]);
		} else if (a->resized && (a->at || a->virtual_result > 0)) {
			to[d] = resize_nearest_index(c, n, a, at[d]);
		}
	}
	*out = define_stage(c, "resize", "injective", y->ndim, vars,
			    extrapolate(c, n, axes, at,
					te_at(c->module, in, to, y->ndim)));
}

/* Result index i reads between two elements of the input: sets tap[0] and
 * tap[1] to the indices of these elements, and *weight to the weight of tap[1],
 * from 0 to 1. If the axis is known to have several elements, tap[0] is less
 * than the last index, and tap[1] is tap[0] + 1; else tap[1] is limited to the
 * last index. */
static void
linear_taps(struct define *c, const struct node *n, const struct resize_axis *a,
	    const struct expr *i, const struct expr *tap[2],
	    const struct expr **weight)
{
	struct module *m = c->module;
	struct dtype t = weight_type(n);
	const struct expr *one = expr_i32(m, 1), *x;
	const struct expr *last = expr_sub(m, a->size, one);
	struct ratio f;
	int64_t size = 0, least, most;
	bool known = expr_is_int(a->size, &size);
	bool several = size_bounds(a->size, &least, &most) && least > 1;

	if (resize_ratio(a, &f)) {
		int64_t end = f.p * (a->virtual_result - 1) + f.q;
		int64_t high = end > f.q ? end : f.q;
		const struct expr *r = expr_index(m, f.r);

		x = expr_add(m, expr_mul(m, i, expr_index(m, f.p)),
			     expr_index(m, f.q));
		if (f.q < 0 || end < 0) {
			x = expr_max(m, x, expr_i32(m, 0));
		}
		if (!known || high > (size - 1) * f.r) {
			x = expr_min(m, x, expr_mul(m, last, r));
		}
		tap[0] = expr_floordiv(m, x, r);
		if (several && (!known || high >= (size - 1) * f.r)) {
			tap[0] = expr_min(m, tap[0], expr_sub(m, last, one));
		}
		x = expr_sub(m, x, expr_mul(m, tap[0], r));
		*weight = expr_mul(m, expr_cast(m, t, x),
				   expr_const(m, t, 1 / (double)f.r));
	} else {
		x = resize_position(m, a, t, i);
		x = expr_max(m, expr_const(m, t, 0),
			     expr_min(m, x, expr_cast(m, t, last)));
		tap[0] = expr_call(m, INTRIN_TO_INT, dtype_of(DT_I32), &x, 1);
		if (several) {
			tap[0] = expr_min(m, tap[0], expr_sub(m, last, one));
		}
		*weight = expr_sub(m, x, expr_cast(m, t, tap[0]));
	}
	tap[1] = expr_add(m, tap[0], one);
	if (!several) {
		tap[1] = expr_min(m, tap[1], last);
	}
}

/* Interpolates along dimensions d and above, at the given index. */
static const struct expr *
interpolate(struct define *c, const struct node *n,
	    const struct resize_axis *axes, struct te_tensor *in,
	    const struct expr **at, int d)
{
	struct module *m = c->module;
	int rank = n->inputs[0]->ndim;
	const struct expr *tap[2], *value[2], *weight, *i;

	while (d < rank && !axes[d].resized) {
		d++;
	}
	if (d == rank) {
		struct dtype t = weight_type(n);
		const struct expr *e = te_at(m, in, at, rank);

		return dtype_equal(e->type, t) ? e : expr_cast(m, t, e);
	}
	i = at[d];
	if (axes[d].p) {
		resize_taps_symbolic(m, &axes[d], weight_type(n), i, tap,
				     &weight);
	} else {
		linear_taps(c, n, &axes[d], i, tap, &weight);
	}
	for (int k = 0; k < 2; k++) {
		at[d] = tap[k];
		value[k] = interpolate(c, n, axes, in, at, d + 1);
	}
	at[d] = i;
	return expr_add(m,
			expr_mul(m, value[0],
				 expr_sub(m, like(c, weight, 1), weight)),
			expr_mul(m, value[1], weight));
}

static void
define_linear(struct define *c, const struct node *n,
	      const struct resize_axis *axes, struct te_tensor *in,
	      struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *vars = define_axes(c, y);
	const struct expr **at = axes_exprs(c, vars, y->ndim);
	const struct expr **to = axes_exprs(c, vars, y->ndim);
	const struct expr *e = interpolate(c, n, axes, in, to, 0);

	*out = define_stage(c, "resize", "injective", y->ndim, vars,
			    extrapolate(c, n, axes, at, as_output(c, n, e)));
}

/* ---- filters, one dimension at a time ---- */

/* A filter along one dimension: it reads input[first .. first + n_taps), and
 * tap k is at distance (k + offset - fraction) * shrink. */
struct filter {
	const struct resize_axis *axis;
	const struct expr *n_taps, *offset, *shrink;
	bool normalised;
};

/* For sizes known only when the model runs: returns shrink = min(1, scale), and
 * sets *reach to ceil(support / shrink). */
static const struct expr *
symbolic_shrink(struct module *m, const struct resize_axis *a, int support,
		struct dtype t, const struct expr **reach)
{
	const struct expr *shrink, *half = expr_i32(m, support);

	shrink = a->run_scale ? expr_cast(m, t, a->run_scale)
			      : expr_div(m, expr_cast(m, t, a->enlarged),
					 expr_cast(m, t, a->reduced));
	*reach = expr_floordiv(m,
			       expr_add(m, expr_mul(m, a->reduced, half),
					expr_sub(m, a->enlarged,
						 expr_i32(m, 1))),
			       a->enlarged);
	if (a->at) {
		/* the upper bound of the quotient, for the memory plan */
		*reach = expr_min(m, *reach, expr_mul(m, a->reduced, half));
	}
	*reach = dim_max(m, half, *reach);
	return expr_min(m, expr_const(m, t, 1), shrink);
}

static struct filter
filter_of(struct define *c, const struct node *n, const struct resize_axis *a,
	  struct dtype t)
{
	struct module *m = c->module;
	bool at_run = a->p || a->at;
	bool antialias = node_attr_int(n, "antialias", 0) &&
			 (at_run || a->scale < 1);
	int support = resize_mode(n, "cubic") ? 2 : 1;
	double shrink = antialias && !at_run ? a->scale : 1;
	const struct expr *reach = expr_i32(m, (int)ceil(support / shrink));
	struct filter f = {
		.axis = a,
		.shrink = expr_const(m, t, shrink),
		.normalised = antialias ||
			      node_attr_int(n, "exclude_outside", 0) != 0,
	};

	if (antialias && at_run) {
		f.shrink = symbolic_shrink(m, a, support, t, &reach);
	}
	f.offset = expr_sub(m, expr_i32(m, 1), reach);
	f.n_taps = expr_mul(m, reach, expr_i32(m, 2));
	return f;
}

/* Sets *whole to ceil(x(i)) - 1, and *fraction to x(i) minus that, which is in
 * (0, 1]. */
static void
split_source(struct define *c, const struct filter *f, struct dtype t,
	     const struct expr *i, const struct expr **whole,
	     const struct expr **fraction)
{
	struct module *m = c->module;
	struct dtype wide = dtype_of(f->axis->at ? DT_F32 : DT_F64);
	const struct expr *x, *r, *one = expr_i32(m, 1);
	struct ratio q;
	int64_t low, lift;

	if (f->axis->p) {
		resize_split_symbolic(m, f->axis, t, i, whole, fraction);
		return;
	}
	if (!resize_ratio(f->axis, &q)) {
		x = expr_call1(m, INTRIN_CEIL,
			       resize_position(m, f->axis, wide, i));
		*whole = expr_sub(m,
				  expr_call(m, INTRIN_TO_INT, dtype_of(DT_I32),
					    &x, 1),
				  one);
		x = expr_sub(m, resize_position(m, f->axis, wide, i),
			     expr_cast(m, wide, *whole));
		*fraction = expr_cast(m, t, x);
		return;
	}
	low = q.p < 0 ? q.p * (f->axis->virtual_result - 1) + q.q : q.q;
	lift = low < 1 ? (1 - low + q.r - 1) / q.r : 0;
	/* a multiple of the divisor is added, so that no dividend is
	 * negative */
	x = expr_add(m, expr_mul(m, i, expr_index(m, q.p)),
		     expr_index(m, q.q - 1 + lift * q.r));
	r = expr_index(m, q.r);
	*whole = expr_sub(m, expr_floordiv(m, x, r), expr_index(m, lift));
	x = expr_cast(m, t, expr_add(m, expr_floormod(m, x, r), one));
	*fraction = expr_mul(m, x, expr_const(m, t, 1 / (double)q.r));
}

/* The value of the filter at distance d >= 0. */
static const struct expr *
filter_at(struct define *c, const struct node *n, const struct expr *d)
{
	struct module *m = c->module;
	double a = node_attr_float(n, "cubic_coeff_a", -0.75);
	const struct expr *near, *far;

	if (!resize_mode(n, "cubic")) {
		return expr_max(m, like(c, d, 0),
				expr_sub(m, like(c, d, 1), d));
	}
	/* ((a + 2) d - (a + 3)) d d + 1; ((d - 5) d + 8) a d - 4 a */
	near = expr_sub(m, expr_mul(m, like(c, d, a + 2), d),
			like(c, d, a + 3));
	near = expr_add(m, expr_mul(m, expr_mul(m, near, d), d), like(c, d, 1));
	far = expr_add(m, expr_mul(m, expr_sub(m, d, like(c, d, 5)), d),
		       like(c, d, 8));
	far = expr_mul(m, expr_sub(m, expr_mul(m, far, d), like(c, d, 4)),
		       like(c, d, a));
	far = expr_select(m, expr_lt(m, d, like(c, d, 2)), far, like(c, d, 0));
	return expr_select(m, expr_le(m, d, like(c, d, 1)), near, far);
}

/* weight[i, k] */
static struct te_tensor *
filter_weights(struct define *c, const struct node *n, const struct filter *f,
	       const char *axis)
{
	struct module *m = c->module;
	struct dtype t = weight_type(n);
	const struct expr *shape[2] = { f->axis->result, f->n_taps };
	const char *names[2] = { axis, "k" };
	const struct expr *whole, *fraction, *d, *w, *at[2], *sum;
	struct iter_var *vars = te_axes(m, 2, shape, names), k;
	struct te_tensor *table, *sums;

	split_source(c, f, t, vars[0].var->expr, &whole, &fraction);
	d = expr_add(m, vars[1].var->expr, f->offset);
	whole = expr_add(m, whole, d);
	d = expr_sub(m, expr_cast(m, t, d), fraction);
	d = expr_mul(m, d, f->shrink);
	w = filter_at(c, n, expr_call1(m, INTRIN_ABS, d));
	if (node_attr_int(n, "exclude_outside", 0)) {
		w = expr_select(m,
				expr_and(m, expr_le(m, expr_i32(m, 0), whole),
					 expr_lt(m, whole, f->axis->size)),
				w, like(c, w, 0));
	}
	table = define_stage(c, arena_printf(&m->arena, "weight_%s", axis),
			     "injective", 2, vars, w);
	if (!f->normalised) {
		return table;
	}
	vars = te_axes(m, 1, shape, names);
	k = te_reduce_axis(m, "k", shape[1]);
	at[0] = vars[0].var->expr;
	at[1] = k.var->expr;
	sums = define_stage(c, arena_printf(&m->arena, "sum_%s", axis),
			    "reduce", 1, vars,
			    te_sum(m, te_at(m, table, at, 2), &k, 1));
	vars = te_axes(m, 2, shape, names);
	at[0] = vars[0].var->expr;
	at[1] = vars[1].var->expr;
	sum = te_at(m, sums, at, 1);
	sum = expr_select(m, expr_eq(m, sum, like(c, sum, 0)), like(c, sum, 1),
			  sum);
	return define_stage(c, arena_printf(&m->arena, "filter_%s", axis),
			    "injective", 2, vars,
			    expr_div(m, te_at(m, table, at, 2), sum));
}

/* The stages that resize dimension d of x by a filter. */
static struct te_tensor *
filter_axis(struct define *c, const struct node *n, const struct resize_axis *a,
	    struct te_tensor *x, int d)
{
	struct module *m = c->module;
	int rank = x->buffer->ndim;
	const char *name = axis_name(m, rank, d);
	const struct expr *shape[RANK_MAX], **at, *at_table[2], *whole, *e;
	const struct expr *fraction, *last;
	struct filter f = filter_of(c, n, a, weight_type(n));
	struct te_tensor *table = filter_weights(c, n, &f, name);
	struct iter_var *vars, k;

	for (int i = 0; i < rank; i++) {
		shape[i] = i == d ? a->result : x->buffer->shape[i];
	}
	vars = define_shape_axes(c, rank, shape);
	k = te_reduce_axis(m, "k", f.n_taps);
	at = axes_exprs(c, vars, rank);
	at_table[0] = at[d];
	at_table[1] = k.var->expr;
	split_source(c, &f, weight_type(n), at[d], &whole, &fraction);
	last = expr_sub(m, a->size, expr_i32(m, 1));
	whole = expr_add(m, whole, expr_add(m, k.var->expr, f.offset));
	at[d] = expr_max(m, expr_i32(m, 0), expr_min(m, whole, last));
	e = te_at(m, x, at, rank);
	if (!dtype_equal(e->type, weight_type(n))) {
		e = expr_cast(m, weight_type(n), e);
	}
	e = expr_mul(m, e, te_at(m, table, at_table, 2));
	return define_stage(c, arena_printf(&m->arena, "resize_%s", name),
			    "reduce", rank, vars, te_sum(m, e, &k, 1));
}

static void
define_filters(struct define *c, const struct node *n,
	       const struct resize_axis *axes, struct te_tensor *in,
	       struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *vars = define_axes(c, y);
	const struct expr **at = axes_exprs(c, vars, y->ndim), *e;
	struct te_tensor *x = in;
	bool crops = false;

	for (int d = 0; d < y->ndim; d++) {
		crops |= axes[d].crops;
		if (axes[d].resized) {
			x = filter_axis(c, n, &axes[d], x, d);
		}
	}
	if (x != in && !crops && dtype_equal(x->buffer->type, y->type)) {
		*out = x;
		return;
	}
	e = as_output(c, n, te_at(c->module, x, at, y->ndim));
	*out = define_stage(c, "resize", "injective", y->ndim, vars,
			    extrapolate(c, n, axes, at, e));
}

bool
define_resize(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct infer checked = { c->graph, c->module, n };
	struct resize_axis axes[RANK_MAX];
	int resized = 0;
	bool filtered = resize_mode(n, "cubic");

	if (!axes_of(&checked, n, axes)) {
		return false;
	}
	if (*n->domain) {
		resize_run_positions(c, n, in, axes);
	}
	for (int d = 0; d < n->inputs[0]->ndim; d++) {
		resized += axes[d].resized;
		filtered |= axes[d].resized &&
			    (axes[d].p || axes[d].at || axes[d].scale < 1) &&
			    node_attr_int(n, "antialias", 0);
	}
	if (resize_mode(n, "nearest")) {
		define_nearest(c, n, axes, in[0], &out[0]);
	} else if (filtered || resized > 3 ||
		   node_attr_int(n, "exclude_outside", 0)) {
		define_filters(c, n, axes, in[0], &out[0]);
	} else {
		define_linear(c, n, axes, in[0], &out[0]);
	}
	return true;
}
