/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along axes: out = post(combine of pre(x)). The axes are a constant
 * input, or an attribute in old models. */
#include "define.h"

/* ---- axes ---- */

/* The dimensions of input 0 to reduce. False if they are not known, after a
 * diagnostic if c is not NULL (in inference). Definitions come later and cannot
 * fail. */
static bool
reduced_axes(struct infer *c, struct module *m, const struct node *n,
	     bool **set)
{
	int ndim = n->inputs[0]->ndim, count = 0;
	const int64_t *axes = NULL;
	bool *reduced = arena_array(&m->arena, bool, ndim + 1);

	if (node_input(n, 1)) {
		if (!input_ints(m, n, 1, &axes, &count)) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "the axes of %s are not constant; "
					   "make them an initializer",
					   n->op_type);
		}
	} else {
		count = node_attr_ints(n, "axes", &axes);
	}
	*set = reduced;
	if (count == 0) {
		bool all = !node_attr_int(n, "noop_with_empty_axes", 0);

		for (int d = 0; d < ndim; d++) {
			reduced[d] = all;
		}
		return true;
	}
	if (!c) {
		for (int i = 0; i < count; i++) {
			reduced[axes[i] < 0 ? axes[i] + ndim : axes[i]] = true;
		}
		return true;
	}
	return infer_axes_set(c, axes, count, ndim, reduced);
}

static void
infer_reduced(struct infer *c, struct node *n, const bool *reduced,
	      struct dtype type)
{
	const struct tensor *x = n->inputs[0];
	bool keep = node_attr_int(n, "keepdims", 1) != 0;
	const struct expr **shape = arena_exprs(&c->module->arena, x->ndim + 1);
	int ndim = 0;

	for (int d = 0; d < x->ndim; d++) {
		if (!reduced[d]) {
			shape[ndim++] = x->shape[d];
		} else if (keep) {
			shape[ndim++] = expr_i32(c->module, 1);
		}
	}
	infer_set(c, n->outputs[0], type, ndim, shape);
}

bool
infer_reduce(struct infer *c, struct node *n)
{
	bool *reduced;

	if (!reduced_axes(c, c->module, n, &reduced)) {
		return false;
	}
	infer_reduced(c, n, reduced, n->inputs[0]->type);
	return true;
}

/* ---- the operators ---- */

enum reduce_kind { REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN };

/* A reduction: `pre` is applied to each element, then a reducer, then `post` to
 * the result. */
struct reduce_form {
	enum reduce_kind kind;
	const struct expr *(*pre)(struct module *m, const struct expr *x);
	const struct expr *(*post)(struct define *c, const struct expr *y,
				   const struct expr *count);
	/* The type in which integers are reduced. Squares are summed in
	 * float64, because they soon exceed 64 bits. The sum of a LogSum is
	 * not, because terms that cancel would lose digits. */
	enum { IN_OWN, IN_FLOAT64, IN_64_BITS } integers;
};

static const struct expr *
pre_abs(struct module *m, const struct expr *x)
{
	return dtype_class(x->type) == DTC_UINT ? x
						: expr_call1(m, INTRIN_ABS, x);
}

static const struct expr *
pre_square(struct module *m, const struct expr *x)
{
	return expr_mul(m, x, x);
}

/* The mean of no integers is 0, like every integer divided by 0. */
static const struct expr *
post_mean(struct define *c, const struct expr *y, const struct expr *count)
{
	struct module *m = c->module;
	struct dtype t = y->type;

	if (dtype_is_int(t) && expr_is_value(count, 0)) {
		return y;
	}
	if (dtype_is_int(t) && dtype_bits(t) < dtype_bits(count->type)) {
		/* the sum or the count may exceed the range of t; their
		 * quotient does not */
		y = expr_div(m, expr_cast(m, count->type, y), count);
		return expr_cast(m, t, y);
	}
	return expr_div(m, y, define_count(c, t, count));
}

static const struct expr *
post_sqrt(struct define *c, const struct expr *y, const struct expr *count)
{
	(void)count;
	return expr_call1(c->module, INTRIN_SQRT, y);
}

static const struct expr *
post_log(struct define *c, const struct expr *y, const struct expr *count)
{
	(void)count;
	y = dtype_is_float(y->type) ? y
				    : expr_cast(c->module, dtype_of(DT_F64), y);
	return expr_call1(c->module, INTRIN_LOG, y);
}

static struct dtype
type_of_terms(const struct reduce_form *f, struct dtype type)
{
	enum dtype_class class = dtype_class(type);

	if (class == DTC_BOOL) {
		return dtype_of(DT_U8);
	}
	if (f->integers == IN_OWN || dtype_is_float(type)) {
		return accumulator_type(type);
	}
	return dtype_of(f->integers == IN_FLOAT64 ? DT_F64
			: class == DTC_UINT       ? DT_U64
						  : DT_I64);
}

static bool
define_reduction(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out,
		 const struct reduce_form *f)
{
	struct module *m = c->module;
	struct dtype type = n->inputs[0]->type, t = type_of_terms(f, type);
	bool keep = node_attr_int(n, "keepdims", 1) != 0, *reduced;
	const struct reducer *r = NULL;
	const struct expr *x;
	struct reduce_plan p;
	struct iter_var *axes;

	if (!reduced_axes(NULL, m, n, &reduced)) {
		return false;
	}
	p = reduce_plan(c, in[0], reduced, keep);
	x = expr_cast(m, t, te_at(m, in[0], p.at, in[0]->buffer->ndim));
	x = f->pre ? f->pre(m, x) : x;
	switch (f->kind) {
	case REDUCE_SUM:
		r = reducer_sum(m, t);
		break;
	case REDUCE_PROD:
		r = reducer_prod(m, t);
		break;
	case REDUCE_MAX:
	case REDUCE_MIN:
		r = reducer_extreme(m, t, f->kind == REDUCE_MAX);
		break;
	}
	if (p.n_over > 0) {
		static const char *const names[] = { "sum", "prod", "max",
						     "min" };

		out[0] = define_stage(c, names[f->kind], "reduce", p.n_axes,
				      p.axes,
				      te_reduce(m, r, x, p.over, p.n_over));
		if (!f->post && dtype_equal(t, type)) {
			return true;
		}
		axes = define_axes(c, n->outputs[0]);
		x = te_at(m, out[0], axes_exprs(c, axes, p.n_axes), p.n_axes);
	} else {
		axes = p.axes;
	}
	x = f->post ? f->post(c, x, p.count) : x;
	out[0] = define_stage(c, "reduced", "elementwise", p.n_axes, axes,
			      convert_to(c, type, x));
	return true;
}

#define REDUCTION(name, ...)                                                   \
	bool define_##name(struct define *c, const struct node *n,             \
			   struct te_tensor *const *in,                        \
			   struct te_tensor **out)                             \
	{                                                                      \
		static const struct reduce_form form = { __VA_ARGS__ };        \
		return define_reduction(c, n, in, out, &form);                 \
	}

REDUCTION(reduce_sum, .kind = REDUCE_SUM)
REDUCTION(reduce_prod, .kind = REDUCE_PROD)
REDUCTION(reduce_max, .kind = REDUCE_MAX)
REDUCTION(reduce_min, .kind = REDUCE_MIN)
REDUCTION(reduce_mean, .kind = REDUCE_SUM, .post = post_mean)
REDUCTION(reduce_l1, .kind = REDUCE_SUM, .pre = pre_abs)
REDUCTION(reduce_l2, .kind = REDUCE_SUM, .pre = pre_square, .post = post_sqrt,
	  .integers = IN_FLOAT64)
REDUCTION(reduce_sum_square, .kind = REDUCE_SUM, .pre = pre_square)
REDUCTION(reduce_log_sum, .kind = REDUCE_SUM, .post = post_log,
	  .integers = IN_64_BITS)

/* log(sum(exp(x - m))) + m with m = max(x), or 0 if that is infinite. */
bool
define_reduce_log_sum_exp(struct define *c, const struct node *n,
			  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct dtype type = n->inputs[0]->type, t = accumulator_type(type);
	bool keep = node_attr_int(n, "keepdims", 1) != 0, *reduced;
	struct te_tensor *max, *shift, *sum;
	const struct expr *x, *at_max;
	struct reduce_plan p;
	struct iter_var *axes;

	if (!reduced_axes(NULL, m, n, &reduced)) {
		return false;
	}
	t = dtype_is_float(t) ? t : dtype_of(DT_F64);
	p = reduce_plan(c, in[0], reduced, keep);
	x = expr_cast(m, t, te_at(m, in[0], p.at, in[0]->buffer->ndim));
	if (p.n_over == 0) {
		out[0] = define_stage(c, "reduced", "elementwise", p.n_axes,
				      p.axes, convert_to(c, type, x));
		return true;
	}
	max = define_stage(c, "max", "reduce", p.n_axes, p.axes,
			   te_reduce(m, reducer_extreme(m, t, true), x, p.over,
				     p.n_over));
	axes = define_axes(c, n->outputs[0]);
	at_max = te_at(m, max, axes_exprs(c, axes, p.n_axes), p.n_axes);
	shift = define_stage(c, "shift", "elementwise", p.n_axes, axes,
			     expr_select(m, expr_call1(m, INTRIN_ISINF, at_max),
					 like(c, at_max, 0), at_max));
	p = reduce_plan(c, in[0], reduced, keep);
	x = expr_cast(m, t, te_at(m, in[0], p.at, in[0]->buffer->ndim));
	x = expr_sub(m, x,
		     te_at(m, shift, axes_exprs(c, p.axes, p.n_axes),
			   p.n_axes));
	sum = define_stage(c, "sum", "reduce", p.n_axes, p.axes,
			   te_sum(m, expr_call1(m, INTRIN_EXP, x), p.over,
				  p.n_over));
	axes = define_axes(c, n->outputs[0]);
	x = te_at(m, sum, axes_exprs(c, axes, p.n_axes), p.n_axes);
	x = expr_add(m, expr_call1(m, INTRIN_LOG, x),
		     te_at(m, shift, axes_exprs(c, axes, p.n_axes), p.n_axes));
	out[0] = define_stage(c, "reduced", "elementwise", p.n_axes, axes,
			      convert_to(c, type, x));
	return true;
}

/* ---- ArgMax, ArgMin ---- */

enum { SHORT_ROW = 32 };

bool
infer_arg(struct infer *c, struct node *n)
{
	int ndim = n->inputs[0]->ndim, axis;
	bool *reduced = arena_array(&c->module->arena, bool, ndim + 1);

	if (!infer_axis(c, node_attr_int(n, "axis", 0), ndim, &axis)) {
		return false;
	}
	reduced[axis] = true;
	infer_reduced(c, n, reduced, dtype_of(DT_I64));
	return true;
}

/* The largest (smallest) element along the reduced axis, ignoring NaN; if
 * nan_first, NaN if the first element is NaN. */
static struct te_tensor *
define_best(struct define *c, struct te_tensor *x, const bool *reduced,
	    bool max, bool nan_first)
{
	struct module *m = c->module;
	struct dtype t = x->buffer->type;
	const struct reducer *r = reducer_extreme(m, t, max);
	struct reduce_plan p = reduce_plan(c, x, reduced, false);
	const struct expr *e = te_at(m, x, p.at, x->buffer->ndim);

	if (dtype_is_float(t)) {
		const struct expr *k = p.over[0].var->expr;
		const struct expr *out = expr_call1(m, INTRIN_ISNAN, e);

		if (nan_first) {
			out = expr_and(m,
				       expr_lt(m, expr_int(m, k->type, 0), k),
				       out);
		}
		e = expr_select(m, out, r->identity[0], e);
	}
	return define_stage(c, "best", "reduce", p.n_axes, p.axes,
			    te_reduce(m, r, e, p.over, p.n_over));
}

/* Is the first element of the row of x NaN? index: the index of the row,
 * without the reduced axis. */
static const struct expr *
first_is_nan(struct define *c, struct te_tensor *x,
	     const struct expr *const *index, const bool *reduced)
{
	struct module *m = c->module;
	int ndim = x->buffer->ndim, n = 0;
	const struct expr **at = arena_exprs(&m->arena, ndim + 1);

	for (int d = 0; d < ndim; d++) {
		at[d] = reduced[d] ? expr_i32(m, 0) : index[n++];
	}
	return expr_call1(m, INTRIN_ISNAN, te_at(m, x, at, ndim));
}

/* A reduction of pairs: of the best element and its position. */
static struct te_tensor *
define_pairs(struct define *c, const struct reducer *r, struct te_tensor *x,
	     const bool *reduced, bool keep)
{
	struct module *m = c->module;
	struct reduce_plan p = reduce_plan(c, x, reduced, keep);

	return define_arg_stage(c, r, te_at(m, x, p.at, x->buffer->ndim),
				expr_cast(m, dtype_of(DT_I64),
					  p.over[0].var->expr),
				p.axes, p.n_axes, p.over, 1, NULL);
}

/* Is each row known to have a first element? */
static bool
has_first(const struct te_tensor *x, const bool *reduced)
{
	bool has = true;

	for (int d = 0; d < x->buffer->ndim; d++) {
		int64_t size;

		has &= !reduced[d] ||
		       (expr_is_int(x->buffer->shape[d], &size) && size > 0);
	}
	return has;
}

/* Two reductions that lanes and threads can share: the best element, and the
 * first or last position of an element equal to it. If the first element is
 * NaN, the position is 0: a separate test of the first element finds this case;
 * if a row may be empty and so has no first element, the best element is NaN,
 * and no element equals it. */
static struct te_tensor *
define_parts(struct define *c, struct te_tensor *x, const bool *reduced,
	     bool keep, bool max, bool last)
{
	struct module *m = c->module;
	int ndim = x->buffer->ndim;
	bool looks = dtype_is_float(x->buffer->type) && has_first(x, reduced);
	struct te_tensor *best = define_best(c, x, reduced, max, !looks);
	struct te_tensor *place;
	struct reduce_plan p = reduce_plan(c, x, reduced, false);
	const struct expr *k = p.over[0].var->expr, *e, *first, **index;
	const struct reducer *r = reducer_extreme(m, k->type, last);
	const struct expr *none = r->identity[0];

	e = expr_eq(m, te_at(m, x, p.at, ndim),
		    te_at(m, best, axes_exprs(c, p.axes, p.n_axes), p.n_axes));
	place = define_stage(c, "place", "reduce", p.n_axes, p.axes,
			     te_reduce(m, r, expr_select(m, e, k, none), p.over,
				       p.n_over));
	p = reduce_plan(c, x, reduced, keep);
	index = axes_exprs(c, p.axes, p.n_axes);
	index = keep ? kept_exprs(c, index, reduced, ndim) : index;
	e = te_at(m, place, index, ndim - 1);
	first = looks ? first_is_nan(c, x, index, reduced)
		      : expr_eq(m, e, none);
	e = expr_select(m, first, expr_int(m, k->type, 0), e);
	return define_stage(c, max ? "argmax" : "argmin", "elementwise",
			    p.n_axes, p.axes,
			    expr_cast(m, dtype_of(DT_I64), e));
}

/* Is it better to reduce in one pass, because lanes gain nothing? So it is if
 * the target has no lanes, or rows are contiguous and have fewer than SHORT_ROW
 * elements. */
static bool
in_one_pass(struct define *c, const struct te_tensor *x, int64_t axis)
{
	int64_t size;

	return c->graph->settings->by_elements ||
	       (axis == x->buffer->ndim - 1 &&
		expr_is_int(x->buffer->shape[axis], &size) && size < SHORT_ROW);
}

static bool
define_arg(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out, bool max)
{
	int ndim = in[0]->buffer->ndim;
	int64_t axis = node_attr_int(n, "axis", 0);
	bool keep = node_attr_int(n, "keepdims", 1) != 0;
	bool last = node_attr_int(n, "select_last_index", 0) != 0;
	bool *reduced = arena_array(&c->module->arena, bool, ndim + 1);

	axis = axis < 0 ? axis + ndim : axis;
	reduced[axis] = true;
	out[0] = in_one_pass(c, in[0], axis)
			 ? define_pairs(c,
					reducer_arg(c->module,
						    in[0]->buffer->type,
						    dtype_of(DT_I64), max,
						    last),
					in[0], reduced, keep)
			 : define_parts(c, in[0], reduced, keep, max, last);
	return true;
}

bool
define_arg_max(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	return define_arg(c, n, in, out, true);
}

bool
define_arg_min(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	return define_arg(c, n, in, out, false);
}
