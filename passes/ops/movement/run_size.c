/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that are known only when the model runs, and operators whose results
 * have such sizes. The importer adds nodes before these that count
 * (gen/onnx/sizes/sizes.c):
 *
 *	y = NonZero (x)     ->     c = tirc.CountNonZero (x)    int32[1]
 *	                           n = tirc.RunSize (c)         n[0] is y_count
 *	                           y = tirc.NonZero (x, n)      int64[rank, y_count] */
#include "dims.h"

/* The elements of the result are size variables, which the entry function reads
 * at run time. */
bool
infer_run_size(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct tensor *y = n->outputs[0];
	int first = node_run_sizes(n);
	int64_t count;

	infer_set(c, y, x->type, x->ndim, x->shape);
	if (x->ndim != 1 || !tensor_const_elems(x, &count) || first < 0 ||
	    first + count > c->graph->run_sizes.n) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "sizes must be a vector of known length; "
				   "correct the model");
	}
	y->n_elems = (int)count;
	y->elems = arena_exprs(&c->module->arena, count + 1);
	for (int i = 0; i < count; i++) {
		y->elems[i] = c->graph->run_sizes.data[first + i].var->expr;
	}
	return true;
}

/* ---- Range by a number of elements: inputs start, delta, [count] ---- */

bool
infer_range_of_size(struct infer *c, struct node *n)
{
	const struct expr *const *size;
	int count;

	if (!input_elems(c->module, n, 2, &size, &count) || count != 1) {
		return infer_needs_constant(c, n, 2);
	}
	if (!dtype_equal(n->inputs[0]->type, n->inputs[1]->type) ||
	    !infer_param(c, n, 0, TYPES_NUMBER, NULL) ||
	    !infer_param(c, n, 1, TYPES_NUMBER, NULL)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "start and delta must be one number each, "
				   "of the same type; correct the model");
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, 1, size);
	return true;
}

bool
define_range_of_size(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	return define_range_by(c, n, in, out, 1);
}

/* ---- CountNonZero: how many elements are not 0, a vector of one element
 * ---- */

bool
infer_count_nonzero(struct infer *c, struct node *n)
{
	const struct expr *one = expr_i32(c->module, 1);
	int64_t most;

	if (!tensor_max_elems(n->inputs[0], &most) || most > INT32_MAX) {
		return infer_error(c, DIAG_TOO_LARGE,
				   "'%s' has more than 2^31 elements, of which "
				   "the number is asked; split it",
				   n->inputs[0]->name);
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I32), 1, &one);
	return true;
}

bool
define_count_nonzero(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	struct iter_var *over = arena_array(&m->arena, struct iter_var,
					    x->ndim + 1);
	const struct expr *e;

	for (int d = 0; d < x->ndim; d++) {
		over[d] = define_reduce_axis(c, in[0], d);
	}
	e = te_at(m, in[0], axes_exprs(c, over, x->ndim), x->ndim);
	e = expr_cast(m, dtype_of(DT_I32), convert_to(c, dtype_of(DT_BOOL), e));
	if (x->ndim > 0) {
		e = te_sum(m, e, over, x->ndim);
	}
	out[0] = define_stage(c, "count", "reduce", 1,
			      define_axes(c, n->outputs[0]), e);
	return true;
}

/* ---- NonZero: the indices of elements, in order ---- */

bool
infer_nonzero(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *const *size, *shape[2];
	int count;

	if (!input_elems(c->module, n, 1, &size, &count) || count != 1) {
		return infer_needs_constant(c, n, 1);
	}
	shape[0] = expr_i32(c->module, x->ndim);
	shape[1] = size[0];
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 2, shape);
	return true;
}

/* Is the number of columns of n's result what a CountNonZero of n's own input
 * counts? */
static bool
is_counted(const struct node *n)
{
	const struct node *size = n->inputs[1]->producer, *count;

	if (size == NULL || size->op != op_find("tirc", "RunSize")) {
		return false;
	}
	count = size->inputs[0]->producer;
	return count != NULL && count->op == op_find("tirc", "CountNonZero") &&
	       count->inputs[0] == n->inputs[0];
}

/*	for i, j in order:
 *		if x[i, j] != 0 and found < count:
 *			y[0, found] = i
 *			y[1, found] = j
 *			found = found + 1
 *
 * With the operator's own count, `found < count` always holds and is left out.
 * If the count comes from elsewhere, it may be larger: then the columns beyond
 * the elements found are 0. */
bool
define_nonzero(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, x);
	const struct expr **at = axes_exprs(c, axes, x->ndim);
	const char *const names[2] = { "nonzero", "found" };
	const struct expr *zero = expr_i32(m, 0), *one = expr_i32(m, 1);
	const struct expr *found, *condition;
	struct te_store *stores = arena_array(&m->arena, struct te_store,
					      x->ndim + 1);
	struct te_tensor *made[2];

	te_ordered(m, names[0], "scan", names,
		   (struct dtype[]){ y->type, dtype_of(DT_I32) },
		   (int[]){ 2, 1 },
		   (const struct expr *const *[]){ y->shape, &one }, 2, made);
	te_ordered_start(m, made[1], define_shape_axes(c, 1, &one), zero);
	found = te_at(m, made[1], &zero, 1);
	condition = convert_to(c, dtype_of(DT_BOOL),
			       te_at(m, in[0], at, x->ndim));
	if (!is_counted(n)) {
		te_ordered_start(m, made[0], define_shape_axes(c, 2, y->shape),
				 expr_int(m, y->type, 0));
		condition = expr_and(m,
				     expr_lt(m, found,
					     expr_cast(m, found->type,
						       y->shape[1])),
				     condition);
	}
	for (int d = 0; d <= x->ndim; d++) {
		const struct expr **place = arena_exprs(&m->arena, 3);

		stores[d].condition = condition;
		stores[d].at = place;
		if (d == x->ndim) {
			stores[d].out = 1;
			place[0] = zero;
			stores[d].value = expr_add(m, found, one);
		} else {
			axes[d].kind = ITER_SCAN;
			place[0] = expr_i32(m, d);
			place[1] = found;
			stores[d].value = expr_cast(m, y->type,
						    axes[d].var->expr);
		}
	}
	define_ordered(c, made, 2, axes, x->ndim, stores, x->ndim + 1);
	out[0] = made[0];
	return true;
}
