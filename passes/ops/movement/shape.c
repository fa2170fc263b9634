/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that return a tensor's shape, views, and operators that make a
 * tensor from a shape. */
#include "fraction.h"

#include <math.h>

/* ---- Shape, Size ---- */

static void
set_elems(struct infer *c, struct tensor *t, const struct expr *const *elems,
	  int n)
{
	t->elems = arena_exprs(&c->module->arena, n + 1);
	t->n_elems = n;
	for (int i = 0; i < n; i++) {
		t->elems[i] = elems[i];
	}
}

/* The range of dimensions, [*start, *end), that Shape returns. */
static void
shape_range(const struct node *n, int *start, int *end)
{
	int64_t ndim = n->inputs[0]->ndim;
	int64_t from = node_attr_int(n, "start", 0);
	int64_t to = node_attr_int(n, "end", ndim);

	from += from < 0 ? ndim : 0;
	to += to < 0 ? ndim : 0;
	from = from < 0 ? 0 : from > ndim ? ndim : from;
	to = to < from ? from : to > ndim ? ndim : to;
	*start = (int)from;
	*end = (int)to;
}

bool
infer_shape(struct infer *c, struct node *n)
{
	int start, end;
	const struct expr *count;

	shape_range(n, &start, &end);
	count = expr_i32(c->module, end - start);
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 1, &count);
	set_elems(c, n->outputs[0], n->inputs[0]->shape + start, end - start);
	return true;
}

bool
define_shape(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr *body = expr_int(m, dtype_of(DT_I64), 0);
	int start, end;

	(void)in;
	shape_range(n, &start, &end);
	for (int d = end - 1; d >= start; d--) {
		const struct expr *dim = expr_cast(m, dtype_of(DT_I64),
						   n->inputs[0]->shape[d]);

		body = d == end - 1
			       ? dim
			       : expr_select(m,
					     expr_eq(m, axes[0].var->expr,
						     expr_i32(m, d - start)),
					     dim, body);
	}
	out[0] = define_stage(c, "shape", "injective", 1, axes, body);
	return true;
}

bool
infer_size(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *size = shape_elems(c->module, x->shape, 0, x->ndim);

	infer_set(c, n->outputs[0], dtype_of(DT_I64), 0, NULL);
	set_elems(c, n->outputs[0], &size, 1);
	return true;
}

bool
define_size(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	const struct tensor *x = n->inputs[0];

	(void)in;
	out[0] = define_stage(c, "size", "injective", 0, NULL,
			      expr_cast(c->module, dtype_of(DT_I64),
					shape_elems(c->module, x->shape, 0,
						    x->ndim)));
	return true;
}

/* ---- views: the input's bytes with another shape ---- */

bool
define_view(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = arena_exprs(&m->arena, x->ndim + 1);

	dims_reindex(m, y->shape, y->ndim, axes_exprs(c, axes, y->ndim),
		     x->shape, x->ndim, at);
	out[0] = define_stage(c, "view", "injective", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* Sets shape[free_dim], which is given as -1, to the number of x's elements
 * divided by the product of the other sizes in `shape`. False after a
 * diagnostic. */
static bool
fill_free_dim(struct infer *c, const struct tensor *x,
	      const struct expr **shape, int n, int free_dim)
{
	struct module *m = c->module;

	shape[free_dim] = expr_i32(m, 1);
	shape[free_dim] = dim_quotient(c, m, x->shape, x->ndim, shape, n);
	if (!shape[free_dim]) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the number of elements of '%s' is not "
				   "divisible by the given dimensions; "
				   "correct the shape",
				   x->name);
	}
	return true;
}

/* Dimension d of the new shape. The model gives the size `want`, which may be
 * known only when the model runs: 0 copies the dimension of x. */
static const struct expr *
size_or_copy(struct module *m, const struct expr *want, const struct tensor *x,
	     int d)
{
	int64_t min, max;

	if (d >= x->ndim || want == x->shape[d] ||
	    (size_bounds(want, &min, &max) && (min > 0 || max < 0))) {
		return want;
	}
	return expr_select(m, expr_eq(m, want, expr_int(m, want->type, 0)),
			   x->shape[d], want);
}

bool
infer_reshape(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	bool allow_zero = node_attr_int(n, "allowzero", 0) != 0;
	const struct expr *const *want, **shape;
	int count, free_dim = -1;
	int64_t v, before, after;

	if (!input_elems(m, n, 1, &want, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	shape = arena_exprs(&m->arena, count + 1);
	for (int d = 0; d < count; d++) {
		shape[d] = want[d];
		if (expr_is_value(want[d], -1)) {
			if (free_dim >= 0) {
				return infer_error(c, DIAG_BAD_SHAPE,
						   "the new shape contains "
						   "-1 twice; give one of "
						   "them as a number");
			}
			free_dim = d;
		} else if (expr_is_value(want[d], 0) && !allow_zero) {
			if (d >= x->ndim) {
				return infer_error(c, DIAG_BAD_SHAPE,
						   "the new shape copies "
						   "dimension %d, which the "
						   "input does not have; "
						   "correct the shape",
						   d);
			}
			shape[d] = x->shape[d];
		} else if (!allow_zero) {
			shape[d] = size_or_copy(m, want[d], x, d);
		}
	}
	if (free_dim >= 0 && !fill_free_dim(c, x, shape, count, free_dim)) {
		return false;
	}
	if (expr_is_int(shape_elems(m, shape, 0, count), &after) &&
	    expr_is_int(shape_elems(m, x->shape, 0, x->ndim), &before) &&
	    before != after) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "'%s' has %lld elements and the new shape "
				   "%lld; correct the shape",
				   x->name, (long long)before,
				   (long long)after);
	}
	if (free_dim < 0 && !dims_equal(c, shape_elems(m, shape, 0, count),
					shape_elems(m, x->shape, 0, x->ndim))) {
		return false;
	}
	for (int d = 0; d < count; d++) {
		if (expr_is_int(shape[d], &v)) {
			shape[d] = expr_index(m, v);
		}
	}
	infer_set(c, n->outputs[0], x->type, count, shape);
	return true;
}

bool
infer_flatten(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t axis = node_attr_int(n, "axis", 1);
	const struct expr *shape[2];

	if (axis < -x->ndim || axis > x->ndim) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "axis %lld is outside of [%d, %d]; correct "
				   "the model",
				   (long long)axis, -x->ndim, x->ndim);
	}
	axis += axis < 0 ? x->ndim : 0;
	shape[0] = shape_elems(c->module, x->shape, 0, (int)axis);
	shape[1] = shape_elems(c->module, x->shape, (int)axis, x->ndim);
	infer_set(c, n->outputs[0], x->type, 2, shape);
	return true;
}

bool
infer_squeeze(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	bool *gone = arena_array(&m->arena, bool, x->ndim + 1);
	const struct expr **shape = arena_exprs(&m->arena, x->ndim + 1);
	const int64_t *axes;
	int count, rank = 0;

	if (!node_input(n, 1)) {
		for (int d = 0; d < x->ndim; d++) {
			gone[d] = expr_is_value(x->shape[d], 1);
		}
	} else if (!input_ints(m, n, 1, &axes, &count)) {
		return infer_needs_constant(c, n, 1);
	} else if (!infer_axes_set(c, axes, count, x->ndim, gone)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (!gone[d]) {
			shape[rank++] = x->shape[d];
		} else if (!dims_equal(c, x->shape[d], expr_i32(m, 1))) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of '%s' is not 1 and "
					   "cannot be squeezed; correct the "
					   "axes",
					   d, x->name);
		}
	}
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
infer_unsqueeze(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr **shape;
	const int64_t *axes;
	int count, from = 0;
	bool *fresh;

	if (!input_ints(m, n, 1, &axes, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	fresh = arena_array(&m->arena, bool, x->ndim + count + 1);
	shape = arena_exprs(&m->arena, x->ndim + count + 1);
	if (!infer_axes_set(c, axes, count, x->ndim + count, fresh)) {
		return false;
	}
	for (int d = 0; d < x->ndim + count; d++) {
		shape[d] = fresh[d] ? expr_i32(m, 1) : x->shape[from++];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim + count, shape);
	return true;
}

/* ---- tensors made from a shape ---- */

bool
infer_constant_of_shape(struct infer *c, struct node *n)
{
	const struct attr *value = node_attr(n, "value");
	const struct expr *const *shape;
	struct dtype t = dtype_of(DT_F32);
	int count;

	if (!input_elems(c->module, n, 0, &shape, &count)) {
		return infer_needs_constant(c, n, 0);
	}
	if (value && (!value->tensor || value->tensor->elems != 1)) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "value is not a tensor of one element; "
				   "correct the model");
	}
	if (value) {
		t = value->tensor->type;
	}
	infer_set(c, n->outputs[0], t, count, shape);
	return true;
}

bool
define_constant_of_shape(struct define *c, const struct node *n,
			 struct te_tensor *const *in, struct te_tensor **out)
{
	const struct attr *value = node_attr(n, "value");
	const struct tensor *y = n->outputs[0];

	(void)in;
	out[0] = define_stage(c, "fill", "injective", y->ndim,
			      define_axes(c, y),
			      value ? value_literal(c->module, value->tensor, 0)
				    : expr_const(c->module, y->type, 0));
	return true;
}

/* The number of elements of a Range with constant inputs; -1 if an input is not
 * constant. */
static int64_t
range_count(struct infer *c, const struct node *n)
{
	double v[3], count;
	const int64_t *list;
	int64_t x[3];
	uint64_t span, step;
	int one;

	if (dtype_is_float(n->inputs[0]->type)) {
		for (int i = 0; i < 3; i++) {
			if (!input_scalar(n, i, &v[i])) {
				return -1;
			}
		}
		count = ceil((v[1] - v[0]) / v[2]);
		if (v[2] == 0 || !(count > 0)) {
			return 0;
		}
		return count < 9e15 ? (int64_t)count : INT64_MAX;
	}
	for (int i = 0; i < 3; i++) {
		if (!input_ints(c->module, n, i, &list, &one) || one != 1) {
			return -1;
		}
		x[i] = list[0];
	}
	if (x[2] == 0 || (x[2] > 0 ? x[0] >= x[1] : x[0] <= x[1])) {
		return 0;
	}
	/* Span and step are positive; the span may need 64 bits. */
	span = x[2] > 0 ? (uint64_t)x[1] - (uint64_t)x[0]
			: (uint64_t)x[0] - (uint64_t)x[1];
	step = x[2] > 0 ? (uint64_t)x[2] : 0 - (uint64_t)x[2];
	span = (span - 1) / step;
	return span < INT64_MAX ? (int64_t)span + 1 : INT64_MAX;
}

/* The number of elements, ceil((limit - start) / delta), at least 0, in exact
 * fractions. NULL if an input is not known as a fraction, or delta is not a
 * constant other than 0. */
static const struct expr *
range_size(struct module *m, const struct node *n)
{
	struct fraction x[3];
	const struct expr *start, *limit, *span;
	int64_t by;

	for (int i = 0; i < 3; i++) {
		struct tensor *t = n->inputs[i];

		if (!tensor_known(m, t) || t->n_elems != 1 ||
		    !fraction_of(m, t->elems[0], &x[i])) {
			return NULL;
		}
	}
	if (!expr_is_int(x[2].numerator, &by) || by == 0 || by == INT64_MIN) {
		return NULL;
	}
	/* Brings all three to one denominator, which cancels. */
	fraction_align(m, &x[0], &x[1]);
	fraction_align(m, &x[0], &x[2]);
	fraction_align(m, &x[1], &x[2]);
	expr_is_int(x[2].numerator, &by);
	start = by > 0 ? x[0].numerator : x[1].numerator;
	limit = by > 0 ? x[1].numerator : x[0].numerator;
	span = dim_sub(m, limit, start);
	return dim_max(m, expr_i32(m, 0),
		       dim_ceil_div(m, dim_normal(m, span), by > 0 ? by : -by));
}

bool
range_is_known(struct module *m, const struct node *n)
{
	struct infer c = { n->graph, m, n };

	return range_count(&c, n) >= 0 || range_size(m, n) != NULL;
}

bool
infer_range(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct expr *count;
	int64_t known;

	if (!infer_same_types(c, n)) {
		return false;
	}
	known = range_count(c, n);
	count = known >= 0 ? expr_index(m, known) : range_size(m, n);
	for (int i = 0; i < 3 && count == NULL; i++) {
		if (i == 2 || !tensor_known(m, n->inputs[i])) {
			return infer_needs_constant(c, n, i);
		}
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, 1, &count);
	return true;
}

bool
define_range_by(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out, int delta)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr *step = expr_mul(m,
					   expr_cast(m, y->type,
						     axes[0].var->expr),
					   define_scalar(c, n, in, delta));

	out[0] = define_stage(c, "range", "injective", 1, axes,
			      expr_add(m, define_scalar(c, n, in, 0), step));
	return true;
}

bool
define_range(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	return define_range_by(c, n, in, out, 2);
}

bool
infer_eye_like(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t number = node_attr_int(n, "dtype", 0);
	struct dtype t = x->type;

	if (x->ndim != 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "EyeLike needs a matrix, not %d "
				   "dimensions; correct the model",
				   x->ndim);
	}
	if (number && !dtype_from_onnx(number, &t)) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "type %lld is not known; correct the "
				   "model",
				   (long long)number);
	}
	infer_set(c, n->outputs[0], t, 2, x->shape);
	return true;
}

bool
define_eye_like(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr *k = dim_offset(m, node_attr_int(n, "k", 0),
					  y->shape[0], y->shape[1]);
	const struct expr *diagonal = expr_eq(m,
					      dim_shifted(m, axes[0].var->expr,
							  y->shape[0], k, k),
					      axes[1].var->expr);

	(void)in;
	out[0] = define_stage(c, "eye", "injective", 2, axes,
			      expr_select(m, diagonal,
					  expr_const(m, y->type, 1),
					  expr_const(m, y->type, 0)));
	return true;
}

/* ---- repetition ---- */

/* Expand: the shapes of x and of input 1 are broadcast together, as in NumPy.
 * False after a diagnostic. */
bool
infer_expand(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *want, **shape;
	int count, rank;

	if (!input_elems(m, n, 1, &want, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	rank = count > x->ndim ? count : x->ndim;
	shape = arena_exprs(&m->arena, rank + 1);
	for (int d = 0; d < rank; d++) {
		int in_x = d - (rank - x->ndim), in_want = d - (rank - count);

		shape[d] = in_x < 0 ? want[in_want]
			   : in_want < 0
				   ? x->shape[in_x]
				   : infer_broadcast_dim(c, m, x->shape[in_x],
							 want[in_want]);
		if (!shape[d]) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of '%s' cannot be "
					   "expanded to the requested size; "
					   "correct the shape",
					   in_x, x->name);
		}
	}
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
define_expand(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);

	out[0] = define_stage(c, "expand", "broadcast", y->ndim, axes,
			      define_broadcast(c, in[0],
					       axes_exprs(c, axes, y->ndim),
					       y->shape, y->ndim));
	return true;
}

bool
infer_tile(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *repeats, **shape;
	int count;

	if (!input_elems(m, n, 1, &repeats, &count)) {
		return infer_needs_constant(c, n, 1);
	}
	if (count != x->ndim) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "there are %d repeats for %d dimensions; "
				   "give one for each",
				   count, x->ndim);
	}
	shape = arena_exprs(&m->arena, count + 1);
	for (int d = 0; d < count; d++) {
		shape[d] = dim_mul(m, x->shape[d], repeats[d]);
	}
	infer_set(c, n->outputs[0], x->type, count, shape);
	return true;
}

bool
define_tile(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);

	for (int d = 0; d < y->ndim; d++) {
		if (expr_is_value(x->shape[d], 1)) {
			at[d] = expr_i32(m, 0);
		} else if (x->shape[d] != y->shape[d]) {
			at[d] = expr_floormod(m, at[d], x->shape[d]);
		}
	}
	out[0] = define_stage(c, "tile", "injective", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}
