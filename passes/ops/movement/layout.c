/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: transpose, concatenate, split, exchange
 * channels and pixels. */
#include "dims.h"

/* ---- Transpose ---- */

/* Sets perm[d] to the input's dimension that becomes the output's dimension
 * d. */
static bool
transpose_perm(struct infer *c, const struct node *n, int *perm)
{
	int ndim = n->inputs[0]->ndim;
	const int64_t *list;
	int count = node_attr_ints(n, "perm", &list);
	bool *seen = arena_array(&c->module->arena, bool, ndim + 1);

	for (int d = 0; d < ndim; d++) {
		perm[d] = ndim - 1 - d;
	}
	if (!node_attr(n, "perm")) {
		return true;
	}
	if (count != ndim) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "perm has %d entries for %d dimensions; "
				   "correct the model",
				   count, ndim);
	}
	if (!infer_axes_set(c, list, count, ndim, seen)) {
		return false;
	}
	for (int d = 0; d < ndim; d++) {
		if (list[d] < 0) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "perm[%d] is %lld; entries count "
					   "from 0",
					   d, (long long)list[d]);
		}
		perm[d] = (int)list[d];
	}
	return true;
}

bool
infer_transpose(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct arena *a = &c->module->arena;
	int *perm = arena_array(a, int, x->ndim + 1);
	const struct expr **shape = arena_exprs(a, x->ndim + 1);

	if (!transpose_perm(c, n, perm)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = x->shape[perm[d]];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

bool
define_transpose(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct infer checked = { c->graph, c->module, n };
	struct arena *a = &c->module->arena;
	int rank = n->inputs[0]->ndim;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = arena_exprs(a, rank + 1);
	int *perm = arena_array(a, int, rank + 1);

	if (!transpose_perm(&checked, n, perm)) {
		return false;
	}
	for (int d = 0; d < rank; d++) {
		at[perm[d]] = axes[d].var->expr;
	}
	out[0] = define_stage(c, "transpose", "injective", rank, axes,
			      te_at(c->module, in[0], at, rank));
	return true;
}

/* ---- Concat ---- */

/* Concat: the shape of the inputs, which must be equal except along the axis,
 * where the sizes are added. False after a diagnostic. */
bool
infer_concat(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	int rank = n->inputs[0]->ndim, axis;
	const struct expr **shape = arena_exprs(&m->arena, rank + 1);
	int64_t known;

	if (!infer_same_types(c, n) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), rank, &axis)) {
		return false;
	}
	for (int d = 0; d < rank; d++) {
		shape[d] = n->inputs[0]->shape[d];
	}
	for (int i = 1; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (!x || x->ndim != rank) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "input %d does not have the %d "
					   "dimensions of input 0; correct "
					   "the shapes",
					   i, rank);
		}
		for (int d = 0; d < rank; d++) {
			if (d == axis) {
				shape[d] = dim_add(m, shape[d], x->shape[d]);
			} else if (!dims_equal(c, shape[d], x->shape[d])) {
				return infer_error(
					c, DIAG_BAD_SHAPE,
					"dimension %d of input %d differs "
					"from that of earlier inputs; "
					"correct the shapes",
					d, i);
			} else if (!expr_is_int(shape[d], &known)) {
				shape[d] = x->shape[d];
			}
		}
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, rank, shape);
	return true;
}

/* x0[i] if i < n0, else x1[i - n0] if i < n0 + n1, else … */
bool
define_concat(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	const struct expr **end = arena_exprs(&m->arena, n->n_inputs + 1);
	const struct expr *body = NULL;
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? y->ndim : 0;
	for (int i = 0; i < n->n_inputs; i++) {
		const struct expr *size = n->inputs[i]->shape[axis];

		end[i] = i ? dim_add(m, end[i - 1], size) : size;
	}
	for (int i = n->n_inputs - 1; i >= 0; i--) {
		const struct expr *x, *position = axes[axis].var->expr;

		if (expr_is_value(n->inputs[i]->shape[axis], 0) &&
		    (body || i > 0)) {
			continue;
		}
		at[axis] = i ? expr_sub(m, position, end[i - 1]) : position;
		x = te_at(m, in[i], at, y->ndim);
		body = body ? expr_if(m, expr_lt(m, position, end[i]), x, body)
			    : x;
	}
	out[0] = define_stage(c, "concat", "injective", y->ndim, axes, body);
	return true;
}

/* ---- Split ---- */

/* Sets `sizes` to the sizes of the parts of a Split: those in input 1, or,
 * without it, equal sizes, of which the last may be smaller. False after a
 * diagnostic. */
static bool
split_sizes(struct infer *c, const struct node *n, int axis,
	    const struct expr **sizes)
{
	struct module *m = c->module;
	const struct expr *whole = n->inputs[0]->shape[axis], *part;
	const struct expr *rest = whole, *parts = expr_i32(m, n->n_outputs);
	const struct expr *const *list;
	int64_t asked = node_attr_int(n, "num_outputs", n->n_outputs);
	int count;

	if (node_input(n, 1)) {
		if (!input_elems(m, n, 1, &list, &count)) {
			return infer_needs_constant(c, n, 1);
		}
		if (count != n->n_outputs) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "there are %d sizes for %d "
					   "outputs; correct the model",
					   count, n->n_outputs);
		}
		for (int k = 0; k < count; k++) {
			sizes[k] = list[k];
		}
		return true;
	}
	if (asked != n->n_outputs) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "num_outputs is %lld and there are %d "
				   "outputs; correct the model",
				   (long long)asked, n->n_outputs);
	}
	part = dim_quotient(NULL, m, &whole, 1, &parts, 1);
	if (!part || part->kind == EXPR_FLOORDIV) {
		part = dim_ceil_div(m, whole, n->n_outputs);
	}
	for (int k = 0; k < n->n_outputs; k++) {
		sizes[k] = dim_min(m, part, rest);
		rest = dim_sub(m, rest, sizes[k]);
	}
	return true;
}

bool
infer_split(struct infer *c, struct node *n)
{
	struct arena *a = &c->module->arena;
	const struct tensor *x = n->inputs[0];
	const struct expr **sizes = arena_exprs(a, n->n_outputs + 1);
	const struct expr *sum = expr_i32(c->module, 0);
	int axis;

	if (!infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis) ||
	    !split_sizes(c, n, axis, sizes)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		const struct expr **shape = arena_copy(a, x->shape,
						       sizeof *shape *
							       (size_t)x->ndim);

		shape[axis] = sizes[k];
		sum = dim_add(c->module, sum, sizes[k]);
		infer_set(c, n->outputs[k], x->type, x->ndim, shape);
	}
	if (!dims_equal(c, sum, x->shape[axis])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the parts do not add up to dimension %d "
				   "of '%s'; correct the sizes",
				   axis, x->name);
	}
	return true;
}

bool
define_split(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct infer checked = { c->graph, m, n };
	int rank = n->inputs[0]->ndim, axis;
	const struct expr **sizes = arena_exprs(&m->arena, n->n_outputs + 1);
	const struct expr *start = expr_i32(m, 0);

	if (!infer_axis(&checked, node_attr_int(n, "axis", 0), rank, &axis) ||
	    !split_sizes(&checked, n, axis, sizes)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			struct iter_var *axes = define_axes(c, n->outputs[k]);
			const struct expr **at = axes_exprs(c, axes, rank);

			at[axis] = expr_add(m, at[axis], start);
			out[k] = define_stage(c, "part", "injective", rank,
					      axes, te_at(m, in[0], at, rank));
		}
		start = dim_add(m, start, sizes[k]);
	}
	return true;
}

/* ---- channels to pixels and back ---- */

/* The attribute blocksize; 0 after a diagnostic. */
static int64_t
block_size(struct infer *c, const struct node *n)
{
	int64_t block = node_attr_int(n, "blocksize", 0);

	if (block < 1 || block > 32768) {
		infer_error(c, DIAG_BAD_ATTRIBUTE,
			    "blocksize is %lld; it must be positive",
			    (long long)block);
		return 0;
	}
	if (n->inputs[0]->ndim != 4) {
		infer_error(c, DIAG_BAD_SHAPE,
			    "the input has %d dimensions; it must have 4: N, "
			    "C, H, W",
			    n->inputs[0]->ndim);
		return 0;
	}
	return block;
}

static bool
bad_block(struct infer *c, int64_t block)
{
	return infer_error(c, DIAG_BAD_SHAPE,
			   "the input's shape is not divisible by blocksize "
			   "%lld; correct the model",
			   (long long)block);
}

/* Are the channels in the order [h][w][c] of a block's pixels (DCR), and not
 * [c][h][w]? */
static bool
pixels_first(const struct node *n)
{
	return strcmp(node_attr_string(n, "mode", "DCR"), "DCR") == 0;
}

bool
infer_depth_to_space(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int64_t block = block_size(c, n);
	const struct expr *b = expr_index(m, block), *shape[4];
	const struct expr *area = expr_index(m, block * block);

	if (!block) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = dim_quotient(c, m, &x->shape[1], 1, &area, 1);
	shape[2] = dim_mul(m, x->shape[2], b);
	shape[3] = dim_mul(m, x->shape[3], b);
	if (!shape[1]) {
		return bad_block(c, block);
	}
	infer_set(c, n->outputs[0], x->type, 4, shape);
	return true;
}

bool
define_depth_to_space(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, 4);
	const struct expr *channels = n->outputs[0]->shape[1];
	int64_t block = node_attr_int(n, "blocksize", 1);
	const struct expr *b = expr_index(m, block);
	const struct expr *pixel =
		expr_add(m, expr_mul(m, expr_floormod(m, at[2], b), b),
			 expr_floormod(m, at[3], b));

	at[1] = pixels_first(n)
			? expr_add(m, expr_mul(m, pixel, channels), at[1])
			: expr_add(m,
				   expr_mul(m, at[1],
					    expr_index(m, block * block)),
				   pixel);
	at[2] = expr_floordiv(m, at[2], b);
	at[3] = expr_floordiv(m, at[3], b);
	out[0] = define_stage(c, "depth_to_space", "injective", 4, axes,
			      te_at(m, in[0], at, 4));
	return true;
}

bool
infer_space_to_depth(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int64_t block = block_size(c, n);
	const struct expr *b = expr_index(m, block), *shape[4];

	if (!block) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = dim_mul(m, x->shape[1], expr_index(m, block * block));
	shape[2] = dim_quotient(c, m, &x->shape[2], 1, &b, 1);
	shape[3] = dim_quotient(c, m, &x->shape[3], 1, &b, 1);
	if (!shape[2] || !shape[3]) {
		return bad_block(c, block);
	}
	infer_set(c, n->outputs[0], x->type, 4, shape);
	return true;
}

bool
define_space_to_depth(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	const struct expr **at = axes_exprs(c, axes, 4);
	const struct expr *channels = n->inputs[0]->shape[1], *pixel;
	int64_t block = node_attr_int(n, "blocksize", 1);
	const struct expr *b = expr_index(m, block);
	const struct expr *area = expr_index(m, block * block);

	if (pixels_first(n)) {
		pixel = expr_floordiv(m, at[1], channels);
		at[1] = expr_floormod(m, at[1], channels);
	} else {
		pixel = expr_floormod(m, at[1], area);
		at[1] = expr_floordiv(m, at[1], area);
	}
	at[2] = expr_add(m, expr_mul(m, at[2], b), expr_floordiv(m, pixel, b));
	at[3] = expr_add(m, expr_mul(m, at[3], b), expr_floormod(m, pixel, b));
	out[0] = define_stage(c, "space_to_depth", "injective", 4, axes,
			      te_at(m, in[0], at, 4));
	return true;
}
