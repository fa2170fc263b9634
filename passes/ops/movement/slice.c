/* SPDX-License-Identifier: Apache-2.0 */
/* Slice: a part of a tensor. */
#include "dims.h"

/* ---- Slice ---- */

/* The elements that are taken: index i of dimension d of the output is index
 * start[d] + i * step[d] of the input. */
struct slices {
	const struct expr **start, **count;
	int64_t *step;
};

/* An upper bound of the size of a dimension; INT32_MAX if no bound is known. */
static int64_t
most_elems(const struct expr *size)
{
	int64_t min, max;

	return size_bounds(size, &min, &max) ? max : INT32_MAX;
}

/* The bound v of a slice as a position: counted from the end if negative, and
 * clamped to [lowest, highest]. */
static const struct expr *
slice_bound(struct module *m, const struct expr *v, const struct expr *size,
	    const struct expr *lowest, const struct expr *highest)
{
	int64_t x, min, max;

	if (expr_is_int(v, &x)) {
		if (x >= most_elems(size)) {
			return highest;
		}
		if (x < -most_elems(size)) {
			return lowest;
		}
		v = x < 0 ? dim_sub(m, size, expr_index(m, -x)) : v;
	} else if (size_bounds(v, &min, &max) ? min < 0 : true) {
		const struct expr *zero = expr_int(m, v->type, 0);

		v = size_bounds(v, &min, &max) && max < 0
			    ? dim_add(m, size, v)
			    : expr_select(m, expr_lt(m, v, zero),
					  dim_add(m, size, v), v);
	}
	return dim_max(m, lowest, dim_min(m, v, highest));
}

static void
slice_one(struct module *m, struct slices *s, int d, const struct expr *size,
	  const struct expr *start, const struct expr *end, int64_t step)
{
	const struct expr *zero = expr_i32(m, 0), *one = expr_i32(m, 1);
	const struct expr *low = step > 0 ? zero : expr_i32(m, -1);
	const struct expr *high = step > 0 ? size : dim_sub(m, size, one);
	const struct expr *span;

	/* in an empty dimension, a slice that goes backward starts at -1, where
	 * it also ends */
	start = slice_bound(m, start, size,
			    step > 0 ? zero : dim_min(m, zero, high), high);
	end = slice_bound(m, end, size, low, high);
	span = step > 0 ? dim_sub(m, end, start) : dim_sub(m, start, end);
	s->start[d] = start;
	s->step[d] = step;
	s->count[d] = expr_is_value(size, 0)
			      ? zero
			      : dim_max(m, zero,
					dim_ceil_div(m, span,
						     step > 0 ? step : -step));
}

/* Sets the slices so that they take all of x. */
static void
slices_whole(struct module *m, const struct tensor *x, struct slices *s)
{
	s->start = arena_exprs(&m->arena, x->ndim + 1);
	s->count = arena_exprs(&m->arena, x->ndim + 1);
	s->step = arena_array(&m->arena, int64_t, x->ndim + 1);
	for (int d = 0; d < x->ndim; d++) {
		s->start[d] = expr_i32(m, 0);
		s->count[d] = x->shape[d];
		s->step[d] = 1;
	}
}

static bool
slice_all(struct infer *c, const struct node *n, struct slices *s)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *starts, *const *ends;
	const int64_t *axes = NULL, *steps = NULL;
	int count, others;

	slices_whole(m, x, s);
	if (!input_elems(m, n, 1, &starts, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	if (!input_elems(m, n, 2, &ends, &others)) {
		return infer_needs_constant(c, n, 2);
	}
	if (others == count && node_input(n, 3) &&
	    !input_ints(m, n, 3, &axes, &others)) {
		return infer_needs_constant(c, n, 3);
	}
	if (others == count && node_input(n, 4) &&
	    !input_ints(m, n, 4, &steps, &others)) {
		return infer_needs_constant(c, n, 4);
	}
	if (others != count || (!axes && count > x->ndim)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "starts, ends, axes and steps have "
				   "different lengths; correct the model");
	}
	for (int i = 0; i < count; i++) {
		int64_t step = steps ? steps[i] : 1;
		int d = i;

		if (axes && !infer_axis(c, axes[i], x->ndim, &d)) {
			return false;
		}
		if (step == 0) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "step %d is 0; correct the model",
					   i);
		}
		/* a step of INT64_MIN has the same effect as a step of
		 * -INT64_MAX */
		step = step == INT64_MIN ? -INT64_MAX : step;
		slice_one(m, s, d, x->shape[d], starts[i], ends[i], step);
	}
	return true;
}

bool
infer_slice(struct infer *c, struct node *n)
{
	struct slices s;

	if (!slice_all(c, n, &s)) {
		return false;
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, n->inputs[0]->ndim,
		  s.count);
	return true;
}

static struct te_tensor *
define_slices(struct define *c, const struct node *n, struct te_tensor *in,
	      const struct slices *s)
{
	struct module *m = c->module;
	int rank = n->inputs[0]->ndim;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, rank);

	for (int d = 0; d < rank; d++) {
		int64_t least, most;

		if (size_bounds(s->count[d], &least, &most) && most <= 1) {
			at[d] = s->start[d];
			continue;
		}
		at[d] = s->step[d] > 0
				? expr_add(m,
					   expr_mul(m, at[d],
						    expr_index(m, s->step[d])),
					   s->start[d])
				: expr_sub(m, s->start[d],
					   expr_mul(m, at[d],
						    expr_index(m,
							       -s->step[d])));
	}
	return define_stage(c, "slice", "injective", rank, axes,
			    te_at(m, in, at, rank));
}

bool
define_slice(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct infer checked = { c->graph, c->module, n };
	struct slices s;

	if (!slice_all(&checked, n, &s)) {
		return false;
	}
	out[0] = define_slices(c, n, in[0], &s);
	return true;
}

/* ---- Slice by bounds that are known only when the model runs ----
 *
 *	n = tirc.RunSize(tirc.SliceCount(starts, ends, Shape(x)))
 *	s = tirc.RunSize(tirc.SliceStart(starts, Shape(x)))
 *	y = tirc.Part(x, s, n)
 *
 * All three nodes have the attributes axes and steps, with a number for each
 * bound. */

/* Reads the attributes axes and steps, and checks that each has `count`
 * elements. False after a diagnostic. */
static bool
part_axes(struct infer *c, const struct node *n, int count,
	  const int64_t **axes, const int64_t **steps)
{
	return (node_attr_ints(n, "axes", axes) == count &&
		node_attr_ints(n, "steps", steps) == count) ||
	       infer_error(c, DIAG_BAD_ATTRIBUTE,
			   "it needs %d axes and steps; correct the model",
			   count);
}

bool
infer_slice_bound(struct infer *c, struct node *n)
{
	const struct tensor *starts = n->inputs[0];
	const int64_t *axes, *steps;
	const struct expr *const *sizes;
	int64_t count;
	int rank;

	if (starts->ndim != 1 || !tensor_const_elems(starts, &count) ||
	    !input_elems(c->module, n, n->n_inputs - 1, &sizes, &rank)) {
		return infer_needs_constant(c, n, n->n_inputs - 1);
	}
	if (!part_axes(c, n, (int)count, &axes, &steps) ||
	    !infer_form(c, n, 0, TYPES_INTEGER, 1, 1) ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 1, 1)) {
		return false;
	}
	if (n->n_inputs == 3 && !infer_size_of(c, n, 1, 0, count)) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		int d;

		if (steps[i] == 0 || steps[i] < -INT32_MAX ||
		    steps[i] > INT32_MAX) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "its steps must not be 0, and fit "
					   "32 bits; correct the model");
		}

		if (!infer_axis(c, axes[i], rank, &d)) {
			return false;
		}
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 1, starts->shape);
	return true;
}

/* The bound v, known only when the model runs, as a position: counted from the
 * end if negative, and clamped to [low, high]. */
static const struct expr *
read_bound(struct module *m, const struct expr *v, const struct expr *size,
	   const struct expr *low, const struct expr *high)
{
	v = expr_cast(m, dtype_of(DT_I64), v);
	v = expr_select(m, expr_lt(m, v, expr_int(m, v->type, 0)),
			expr_add(m, v, size), v);
	return expr_max(m, low, expr_min(m, v, high));
}

/* If `end` is NULL: the index of the first element of a slice along a dimension
 * of the given size. Else: the number of elements of the slice. */
static const struct expr *
slice_start_or_count(struct module *m, const struct expr *start,
		     const struct expr *end, const struct expr *size,
		     int64_t step)
{
	struct dtype t = dtype_of(DT_I64);
	const struct expr *zero = expr_int(m, t, 0), *one = expr_int(m, t, 1);
	const struct expr *low = step > 0 ? zero : expr_int(m, t, -1);
	const struct expr *high = step > 0 ? size : expr_sub(m, size, one);
	const struct expr *width = expr_int(m, t, step > 0 ? step : -step);
	const struct expr *span;

	start = read_bound(m, start, size, zero, high);
	if (end == NULL) {
		return start;
	}
	end = read_bound(m, end, size, low, high);
	span = step > 0 ? expr_sub(m, end, start) : expr_sub(m, start, end);
	span = expr_max(m, span, zero);
	if (!expr_is_value(width, 1)) {
		span = expr_floordiv(m,
				     expr_add(m, span, expr_sub(m, width, one)),
				     width);
	}
	return expr_min(m, span, size);
}

bool
define_slice_bound(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *vars = define_axes(c, n->outputs[0]);
	const struct expr *i = vars[0].var->expr, *body = NULL;
	const struct expr *const *sizes, *start, *end = NULL;
	const int64_t *axes, *steps;
	int count, rank;

	count = node_attr_ints(n, "axes", &axes);
	node_attr_ints(n, "steps", &steps);
	input_elems(m, n, n->n_inputs - 1, &sizes, &rank);
	start = te_at(m, in[0], &i, 1);
	if (n->n_inputs == 3) {
		end = te_at(m, in[1], &i, 1);
	}
	for (int k = count - 1; k >= 0; k--) {
		int64_t d = axes[k] < 0 ? axes[k] + rank : axes[k];
		const struct expr *e =
			slice_start_or_count(m, start, end,
					     expr_cast(m, dtype_of(DT_I64),
						       sizes[d]),
					     steps[k]);

		body = body == NULL
			       ? e
			       : expr_select(m, expr_eq(m, i, expr_i32(m, k)),
					     e, body);
	}
	out[0] = define_stage(c, n->n_inputs == 3 ? "count" : "start",
			      "injective", 1, vars, body);
	return true;
}

/* Sets s to the elements that a tirc.Part takes: element i of dimension d is
 * start[d] + i * step[d]. False after a diagnostic. */
static bool
part_slices(struct infer *c, const struct node *n, struct slices *s)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *starts, *const *counts;
	const int64_t *axes, *steps;
	int count, others;

	if (!input_elems(m, n, 1, &starts, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	if (!input_elems(m, n, 2, &counts, &others) || others != count) {
		return infer_needs_constant(c, n, 2);
	}
	if (!part_axes(c, n, count, &axes, &steps)) {
		return false;
	}
	slices_whole(m, x, s);
	for (int i = 0; i < count; i++) {
		int d;

		if (!infer_axis(c, axes[i], x->ndim, &d)) {
			return false;
		}
		s->start[d] = starts[i];
		s->count[d] = counts[i];
		s->step[d] = steps[i];
	}
	return true;
}

static bool
is_run_size(const struct tensor *t)
{
	return t->producer != NULL && node_run_sizes(t->producer) >= 0;
}

/* Are the first and the last element of the slice provably inside of x? They
 * are if starts and counts are constants that fit, or are computed by
 * tirc.SliceStart and tirc.SliceCount. */
static bool
part_is_inside(const struct node *n, const struct slices *s, int d)
{
	int64_t start, count, least, most, last;

	if (!expr_is_int(s->start[d], &start) ||
	    !expr_is_int(s->count[d], &count)) {
		return is_run_size(n->inputs[1]) || is_run_size(n->inputs[2]);
	}
	if (count <= 0) {
		return count == 0;
	}
	return size_bounds(n->inputs[0]->shape[d], &least, &most) &&
	       start >= 0 && start < least &&
	       !__builtin_mul_overflow(count - 1, s->step[d], &last) &&
	       !__builtin_add_overflow(last, start, &last) && last >= 0 &&
	       last < least;
}

bool
infer_part(struct infer *c, struct node *n)
{
	struct slices s;

	if (!part_slices(c, n, &s)) {
		return false;
	}
	for (int d = 0; d < n->inputs[0]->ndim; d++) {
		if (s.count[d] != n->inputs[0]->shape[d] &&
		    !part_is_inside(n, &s, d)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "its part of dimension %d is not "
					   "inside of the input; correct the "
					   "model",
					   d);
		}
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, n->inputs[0]->ndim,
		  s.count);
	return true;
}

bool
define_part(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	struct infer checked = { c->graph, c->module, n };
	struct slices s;

	if (!part_slices(&checked, n, &s)) {
		return false;
	}
	out[0] = define_slices(c, n, in[0], &s);
	return true;
}
