/* SPDX-License-Identifier: Apache-2.0 */
/* Pad, which adds elements around a tensor, and CenterCropPad, which in each
 * dimension adds elements or takes the centered part. */
#include "dims.h"

/* The numbers of elements that are added before and after each dimension; a
 * negative number means that elements are removed there. */
struct widths {
	const struct expr **before, **after;
};

/* May the number e be positive? */
static bool
may_add(const struct expr *e)
{
	int64_t min, max;

	return !size_bounds(e, &min, &max) || max > 0;
}

/* Does e fit in 32 bits if it is a constant? True also for expressions that are
 * not constant. */
static bool
is_narrow(const struct expr *e)
{
	int64_t v;

	return !expr_is_int(e, &v) || v == (int32_t)v;
}

static bool
pad_widths(struct infer *c, const struct node *n, struct widths *w)
{
	struct module *m = c->module;
	int rank = n->inputs[0]->ndim, count, n_axes = rank;
	const int64_t *axes = NULL;
	const struct expr *const *pads;
	bool *seen = arena_array(&m->arena, bool, rank + 1);

	if (!input_elems(m, n, 1, &pads, &count)) {
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

		w->before[d] = pads[i];
		w->after[d] = pads[i + n_axes];
		if (!is_narrow(pads[i]) || !is_narrow(pads[i + n_axes])) {
			return infer_error(c, DIAG_TOO_LARGE,
					   "a pad of dimension %d exceeds "
					   "2^31; correct the model",
					   (int)d);
		}
	}
	return true;
}

/* e / 2, rounded toward 0. */
static const struct expr *
half(struct module *m, const struct expr *e)
{
	int64_t min, max, v;

	if (expr_is_int(e, &v)) {
		return expr_index(m, v / 2);
	}
	/* if e is not negative, floor division gives the same result as
	 * truncating division */
	if (size_bounds(e, &min, &max) && min >= 0) {
		return expr_floordiv(m, e, expr_i32(m, 2));
	}
	return expr_binary(m, EXPR_DIV, e, expr_int(m, e->type, 2));
}

/* Sets w so that the input is centered in the output, or the output in the
 * input: half of the difference between the two, rounded down, is added or
 * removed before each dimension. False after a diagnostic. */
static bool
center_widths(struct infer *c, const struct node *n, struct widths *w)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int rank = x->ndim, count, n_axes;
	const int64_t *axes;
	const struct expr *const *sizes, *more;
	bool *seen = arena_array(&m->arena, bool, rank + 1);

	if (!input_elems(m, n, 1, &sizes, &count)) {
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

		if (expr_is_int(sizes[i], &size) &&
		    (size < 0 || size > INT32_MAX)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "size %lld of dimension %d is out "
					   "of range; correct the model",
					   (long long)size, (int)d);
		}
		more = dim_sub(m, sizes[i], x->shape[d]);
		w->before[d] = half(m, more);
		w->after[d] = dim_sub(m, more, w->before[d]);
	}
	return true;
}

static bool
find_widths(struct infer *c, const struct node *n, struct widths *w)
{
	struct arena *a = &c->module->arena;
	int rank = n->inputs[0]->ndim;

	w->before = arena_exprs(a, rank + 1);
	w->after = arena_exprs(a, rank + 1);
	for (int d = 0; d < rank; d++) {
		w->before[d] = w->after[d] = expr_i32(c->module, 0);
	}
	return strcmp(n->op_type, "Pad") == 0 ? pad_widths(c, n, w)
					      : center_widths(c, n, w);
}

/* The size of dimension d of the result: the size of the input's dimension plus
 * the widths of the padding. */
static const struct expr *
padded(struct module *m, const struct node *n, const struct widths *w, int d)
{
	const struct expr *size = dim_add(m, n->inputs[0]->shape[d],
					  dim_add(m, w->before[d],
						  w->after[d]));
	int64_t v;

	return expr_is_int(w->before[d], &v) && expr_is_int(w->after[d], &v)
		       ? size
		       : dim_max(m, expr_i32(m, 0), dim_normal(m, size));
}

bool
infer_pad(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const char *mode = node_attr_string(n, "mode", "constant");
	struct widths w;
	const struct expr **shape = arena_exprs(&m->arena, x->ndim + 1);
	int64_t elems;

	if (node_input(n, 2) &&
	    (!dtype_equal(n->inputs[2]->type, x->type) ||
	     !tensor_const_elems(n->inputs[2], &elems) || elems != 1)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "its value must be one element of type "
				   "%s; correct the model",
				   dtype_name(x->type));
	}
	if (!find_widths(c, n, &w)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = padded(m, n, &w, d);
		if (strcmp(mode, "constant") != 0 &&
		    (may_add(w.before[d]) || may_add(w.after[d])) &&
		    !infer_can_fill(c, d, x->shape[d], shape[d])) {
			return false;
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* The position axis - before, which is at most `before` or `after` outside of
 * [0, size), reflected at the ends of the range; the elements at the ends are
 * not repeated. */
static const struct expr *
reflect(struct module *m, const struct expr *axis, const struct expr *size,
	const struct expr *before, const struct expr *after)
{
	const struct expr *i = expr_sub(m, axis, before);
	const struct expr *last = expr_sub(m, size, expr_i32(m, 1)), *twice;
	int64_t min, max, low, most[2];

	if (expr_is_value(size, 1)) {
		return expr_i32(m, 0);
	}
	if (size_bounds(size, &min, &max) &&
	    size_bounds(before, &low, &most[0]) && most[0] < min &&
	    size_bounds(after, &low, &most[1]) && most[1] < min) {
		const struct expr *end = dim_add(m, size, before);

		/* Uses conditions, so that the inner positions can get a loop
		 * of their own. */
		if (most[1] > 0) {
			twice = expr_sub(m, expr_mul(m, last, expr_i32(m, 2)),
					 i);
			i = expr_if(m, expr_lt(m, axis, end), i, twice);
		}
		return most[0] <= 0 ? i
				    : expr_if(m, expr_lt(m, axis, before),
					      expr_sub(m, before, axis), i);
	}
	twice = expr_max(m, dim_mul(m, last, expr_i32(m, 2)), expr_i32(m, 1));
	i = expr_floormod(m, i, twice);
	return expr_min(m, i, expr_sub(m, twice, i));
}

/* The position i - before modulo size: the tensor is repeated. */
static const struct expr *
wrap(struct module *m, const struct expr *i, const struct expr *size,
     const struct expr *before)
{
	int64_t n, most;

	if (expr_is_int(before, &most) && most > 0 && expr_is_int(size, &n)) {
		/* a multiple of the size is added, so that no negative number
		 * is divided */
		i = expr_add(m, i, expr_index(m, (most + n - 1) / n * n));
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
	struct widths w;

	if (!find_widths(&checked, n, &w)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		const struct expr *size = x->shape[d];

		at[d] = expr_sub(m, at[d], w.before[d]);
		if (!may_add(w.before[d]) && !may_add(w.after[d])) {
			continue;
		}
		if (mode[0] == 'r') {
			at[d] = reflect(m, axes[d].var->expr, size, w.before[d],
					w.after[d]);
		} else if (mode[0] == 'w') {
			at[d] = wrap(m, at[d], size, w.before[d]);
		} else if (mode[0] == 'e') {
			at[d] = expr_max(m, zero,
					 expr_min(m, at[d],
						  expr_sub(m, size,
							   expr_i32(m, 1))));
		} else {
			const struct expr *above = expr_bool(m, true);
			const struct expr *below = above;

			if (may_add(w.before[d])) {
				above = expr_le(m, w.before[d],
						axes[d].var->expr);
			}
			if (may_add(w.after[d])) {
				below = expr_lt(m, axes[d].var->expr,
						dim_add(m, size, w.before[d]));
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
