/* SPDX-License-Identifier: Apache-2.0 */
/* Slice (a part of a tensor), Pad (elements around it), and CenterCropPad
 * (either, by dimension). */
#include "dims.h"

/* ---- Slice ---- */

/* Element i of dimension d of the output is start[d] + i * step[d]. */
struct slices {
	const struct expr **start, **count;
	int64_t *step;
};

/* The bound v, counted from the end if negative, clamped to [lowest,
 * highest]. */
static const struct expr *
slice_bound(struct module *m, const struct expr *v, const struct expr *size,
	    const struct expr *lowest, const struct expr *highest)
{
	int64_t x, min, max;

	if (expr_is_int(v, &x)) {
		if (x >= INT32_MAX) {
			return highest;
		}
		if (x <= INT32_MIN) {
			return lowest;
		}
		v = x < 0 ? expr_sub(m, size, expr_index(m, -x)) : v;
	} else if (dim_bounds(v, &min, &max) ? min < 0 : true) {
		const struct expr *zero = expr_int(m, v->type, 0);

		v = dim_bounds(v, &min, &max) && max < 0
			    ? expr_add(m, size, v)
			    : expr_select(m, expr_lt(m, v, zero),
					  expr_add(m, size, v), v);
	}
	return dim_max(m, lowest, dim_min(m, v, highest));
}

static void
slice_one(struct module *m, struct slices *s, int d, const struct expr *size,
	  const struct expr *start, const struct expr *end, int64_t step)
{
	const struct expr *zero = expr_i32(m, 0), *one = expr_i32(m, 1);
	const struct expr *low = step > 0 ? zero : expr_i32(m, -1);
	const struct expr *high = step > 0 ? size : expr_sub(m, size, one);
	const struct expr *span;

	start = slice_bound(m, start, size, zero, high);
	end = slice_bound(m, end, size, low, high);
	span = step > 0 ? expr_sub(m, end, start) : expr_sub(m, start, end);
	s->start[d] = start;
	s->step[d] = step;
	s->count[d] = expr_is_value(size, 0)
			      ? zero
			      : dim_max(m, zero,
					dim_ceil_div(m, span,
						     step > 0 ? step : -step));
}

static bool
slice_all(struct infer *c, const struct node *n, struct slices *s)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *starts, *const *ends;
	const int64_t *axes = NULL, *steps = NULL;
	int count, others;

	s->start = arena_array(&m->arena, const struct expr *, x->ndim + 1);
	s->count = arena_array(&m->arena, const struct expr *, x->ndim + 1);
	s->step = arena_array(&m->arena, int64_t, x->ndim + 1);
	for (int d = 0; d < x->ndim; d++) {
		s->start[d] = expr_i32(m, 0);
		s->count[d] = x->shape[d];
		s->step[d] = 1;
	}
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
		step = step > INT32_MAX    ? INT32_MAX
		       : step < -INT32_MAX ? -INT32_MAX
					   : step;
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

bool
define_slice(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct infer checked = { c->graph, m, n };
	int rank = n->inputs[0]->ndim;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, rank);
	struct slices s;

	if (!slice_all(&checked, n, &s)) {
		return false;
	}
	for (int d = 0; d < rank; d++) {
		at[d] = s.step[d] > 0
				? expr_add(m,
					   expr_mul(m, at[d],
						    expr_index(m, s.step[d])),
					   s.start[d])
				: expr_sub(m, s.start[d],
					   expr_mul(m, at[d],
						    expr_index(m, -s.step[d])));
	}
	out[0] = define_stage(c, "slice", "injective", rank, axes,
			      te_at(m, in[0], at, rank));
	return true;
}

/* ---- Pad ---- */

/* before[d], after[d]: elements added to dimension d; negative: removed. */
static bool
pad_widths(struct infer *c, const struct node *n, int64_t *before,
	   int64_t *after)
{
	struct module *m = c->module;
	int rank = n->inputs[0]->ndim, count, n_axes = rank;
	const int64_t *pads, *axes = NULL;
	bool *seen = arena_array(&m->arena, bool, rank + 1);

	if (!input_ints(m, n, 1, &pads, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	if (node_input(n, 3)) {
		if (!input_ints(m, n, 3, &axes, &n_axes)) {
			return infer_needs_constant(c, n, 3);
		}
		if (!infer_axes_set(c, axes, n_axes, rank, seen)) {
			return false;
		}
	}
	if (count != 2 * n_axes) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "there are %d pads for %d dimensions; "
				   "give two for each",
				   count, n_axes);
	}
	for (int i = 0; i < n_axes; i++) {
		int64_t d = axes ? axes[i] < 0 ? axes[i] + rank : axes[i] : i;

		before[d] = pads[i];
		after[d] = pads[i + n_axes];
		if (before[d] != (int32_t)before[d] ||
		    after[d] != (int32_t)after[d]) {
			return infer_error(c, DIAG_TOO_LARGE,
					   "a pad of dimension %d exceeds "
					   "2^31; correct the model",
					   (int)d);
		}
	}
	return true;
}

/* Centers the input in the output, or the output in the input: half of the
 * difference, rounded down, is before. */
static bool
center_widths(struct infer *c, const struct node *n, int64_t *before,
	      int64_t *after)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int rank = x->ndim, count, n_axes;
	const int64_t *sizes, *axes;
	bool *seen = arena_array(&m->arena, bool, rank + 1);

	if (!input_ints(m, n, 1, &sizes, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	n_axes = node_attr_ints(n, "axes", &axes);
	if (n_axes > 0 && !infer_axes_set(c, axes, n_axes, rank, seen)) {
		return false;
	}
	n_axes = n_axes > 0 ? n_axes : rank;
	if (count != n_axes) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "there are %d sizes for %d dimensions; "
				   "give one for each",
				   count, n_axes);
	}
	for (int i = 0; i < n_axes; i++) {
		int64_t d = axes ? axes[i] < 0 ? axes[i] + rank : axes[i] : i;
		int64_t size;

		if (!expr_is_int(x->shape[d], &size)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "the size of dimension %d is not "
					   "known; give it by --dim or "
					   "--input-shape",
					   (int)d);
		}
		if (sizes[i] < 0 || sizes[i] > INT32_MAX) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "size %lld of dimension %d is out "
					   "of range; correct the model",
					   (long long)sizes[i], (int)d);
		}
		before[d] = (sizes[i] - size) / 2;
		after[d] = sizes[i] - size - before[d];
	}
	return true;
}

/* The elements that Pad or CenterCropPad adds before and after each dimension;
 * negative: removes. */
static bool
widths(struct infer *c, const struct node *n, int64_t *before, int64_t *after)
{
	return strcmp(n->op_type, "Pad") == 0
		       ? pad_widths(c, n, before, after)
		       : center_widths(c, n, before, after);
}

bool
infer_pad(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const char *mode = node_attr_string(n, "mode", "constant");
	int64_t *before = arena_array(&m->arena, int64_t, x->ndim + 1);
	int64_t *after = arena_array(&m->arena, int64_t, x->ndim + 1);
	const struct expr **shape = arena_array(&m->arena, const struct expr *,
						x->ndim + 1);
	int64_t elems;

	if (strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 &&
	    strcmp(mode, "edge") != 0 && strcmp(mode, "wrap") != 0) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "mode '%s' is not known; correct the "
				   "model",
				   mode);
	}
	if (node_input(n, 2) &&
	    (!dtype_equal(n->inputs[2]->type, x->type) ||
	     !tensor_const_elems(n->inputs[2], &elems) || elems != 1)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "its value must be one element of type "
				   "%s; correct the model",
				   dtype_name(x->type));
	}
	if (!widths(c, n, before, after)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = expr_add(m, x->shape[d],
				    expr_index(m, before[d] + after[d]));
		if (strcmp(mode, "constant") != 0 &&
		    expr_is_value(x->shape[d], 0) &&
		    !expr_is_value(shape[d], 0)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d is empty, so that "
					   "no element can pad it; correct "
					   "the model",
					   d);
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* Position axis - before, which lies outside of [0, size) by at most before or
 * after, reflected at the ends, which are not repeated. */
static const struct expr *
reflect(struct module *m, const struct expr *axis, const struct expr *size,
	int64_t before, int64_t after)
{
	const struct expr *i = expr_sub(m, axis, expr_index(m, before));
	const struct expr *last = expr_sub(m, size, expr_i32(m, 1)), *twice;
	int64_t min, max;

	if (expr_is_value(size, 1)) {
		return expr_i32(m, 0);
	}
	if (dim_bounds(size, &min, &max) && before < min && after < min) {
		if (before > 0) {
			i = expr_call1(m, INTRIN_ABS, i);
		}
		return after <= 0 ? i
				  : expr_sub(m, last,
					     expr_call1(m, INTRIN_ABS,
							expr_sub(m, last, i)));
	}
	twice = expr_max(m, expr_mul(m, last, expr_i32(m, 2)), expr_i32(m, 1));
	i = expr_floormod(m, i, twice);
	return expr_min(m, i, expr_sub(m, twice, i));
}

/* Position i modulo size. */
static const struct expr *
wrap(struct module *m, const struct expr *i, const struct expr *size,
     int64_t before)
{
	int64_t n;

	if (before > 0 && expr_is_int(size, &n)) {
		/* no division of a negative number */
		i = expr_add(m, i, expr_index(m, (before + n - 1) / n * n));
	}
	return expr_floormod(m, i, size);
}

bool
define_pad(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	struct module *m = c->module;
	struct infer checked = { c->graph, m, n };
	const struct tensor *x = n->inputs[0];
	const char *mode = node_attr_string(n, "mode", "constant");
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, x->ndim), *body;
	const struct expr *zero = expr_i32(m, 0), *inside = NULL;
	int64_t *before = arena_array(&m->arena, int64_t, x->ndim + 1);
	int64_t *after = arena_array(&m->arena, int64_t, x->ndim + 1);

	if (!widths(&checked, n, before, after)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		const struct expr *size = x->shape[d];

		at[d] = expr_sub(m, at[d], expr_index(m, before[d]));
		if (before[d] <= 0 && after[d] <= 0) {
			continue;
		}
		if (mode[0] == 'r') {
			at[d] = reflect(m, axes[d].var->expr, size, before[d],
					after[d]);
		} else if (mode[0] == 'w') {
			at[d] = wrap(m, at[d], size, before[d]);
		} else if (mode[0] == 'e') {
			at[d] = expr_max(m, zero,
					 expr_min(m, at[d],
						  expr_sub(m, size,
							   expr_i32(m, 1))));
		} else {
			const struct expr *above = expr_bool(m, true);
			const struct expr *below = above;

			if (before[d] > 0) {
				above = expr_le(m, expr_index(m, before[d]),
						axes[d].var->expr);
			}
			if (after[d] > 0) {
				below = expr_lt(
					m, axes[d].var->expr,
					expr_add(m, size,
						 expr_index(m, before[d])));
			}
			above = expr_and(m, above, below);
			inside = inside ? expr_and(m, inside, above) : above;
		}
	}
	body = te_at(m, in[0], at, x->ndim);
	if (inside) {
		body = expr_if(m, inside, body,
			       node_input(n, 2) ? define_scalar(c, n, in, 2)
						: expr_const(m, body->type, 0));
	}
	out[0] = define_stage(c, "pad", "injective", x->ndim, axes, body);
	return true;
}
