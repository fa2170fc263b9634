/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that read elements at indices from data. Negative indices count
 * from the end. Invalid indices, whose results ONNX leaves undefined, are taken
 * modulo the size of the dimension, which is not 0 unless the result is
 * empty. */
#include "dims.h"
#include "indices.h"

bool
indices_known(struct module *m, const struct node *n, int i,
	      const struct expr *size)
{
	struct tensor *t = n->inputs[i];
	const struct value *value = t->value;
	int64_t v, least, most;

	if (!size_bounds(size, &least, &most)) {
		return false;
	}
	if (value && value->data && dtype_class(value->type) == DTC_INT) {
		for (int64_t k = 0; k < value->elems; k++) {
			v = number_load(value->type, value->data, (size_t)k).i;
			if (v < 0 || v >= least) {
				return false;
			}
		}
		return true;
	}
	if (!tensor_known(m, t)) {
		return false;
	}
	for (int k = 0; k < t->n_elems; k++) {
		if (!expr_is_int(t->elems[k], &v) || v < 0 || v >= least) {
			return false;
		}
	}
	return true;
}

const struct expr *
index_as_wide(struct module *m, const struct expr *e, const struct expr *size)
{
	return dtype_bits(e->type) < dtype_bits(size->type)
		       ? expr_cast(m, size->type, e)
		       : e;
}

/* Makes e, an element of input i, a valid index for any data: e modulo the
 * size, which also handles negative indices. */
static const struct expr *
safe_index(struct define *c, const struct node *n, int i, const struct expr *e,
	   const struct expr *size)
{
	struct module *m = c->module;
	const struct tensor *t = n->inputs[i];
	int64_t v, bound;

	if (expr_is_value(size, 1)) {
		return expr_i32(m, 0);
	}
	if (t->elems && t->n_elems == 1 && expr_is_int(t->elems[0], &v) &&
	    expr_is_int(size, &bound) && v >= -bound && v < bound) {
		return expr_index(m, v < 0 ? v + bound : v);
	}
	if (indices_known(m, n, i, size)) {
		return e;
	}
	e = index_as_wide(m, e, size);
	return expr_floormod(m, e, expr_cast(m, e->type, size));
}

bool
infer_index_type(struct infer *c, const struct node *n, int i)
{
	struct dtype t = n->inputs[i]->type;

	if (t.kind != DT_I32 && t.kind != DT_I64) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the indices are %s; insert a Cast to int64",
				   dtype_name(t));
	}
	return true;
}

/* ---- Gather ---- */

bool
infer_gather(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	const struct expr **shape = arena_exprs(&c->module->arena,
						x->ndim + indices->ndim + 1);
	int axis, rank = 0;

	if (!infer_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (d != axis) {
			shape[rank++] = x->shape[d];
			continue;
		}
		for (int k = 0; k < indices->ndim; k++) {
			shape[rank++] = indices->shape[k];
		}
	}
	infer_reads(c, x->shape[axis], rank, shape);
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
define_gather(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr **at = arena_exprs(&m->arena, x->ndim + 1);
	int rank = n->inputs[1]->ndim;
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? x->ndim : 0;
	for (int d = 0; d < x->ndim; d++) {
		at[d] = d == axis ? NULL : index[d < axis ? d : d - 1 + rank];
	}
	at[axis] = safe_index(c, n, 1, te_at(m, in[1], index + axis, rank),
			      x->shape[axis]);
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* ---- GatherElements ---- */

bool
infer_indices_within(struct infer *c, const struct node *n, int axis)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];

	for (int d = 0; d < x->ndim; d++) {
		if (d != axis &&
		    !dims_at_most(c, indices->shape[d], x->shape[d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of the indices "
					   "exceeds that of the data; "
					   "correct the model",
					   d);
		}
	}
	return true;
}

bool
infer_gather_elements(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int axis;

	if (!infer_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	if (indices->ndim != x->ndim) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "data and indices have different ranks: "
				   "%d and %d; correct the model",
				   x->ndim, indices->ndim);
	}
	if (!infer_indices_within(c, n, axis)) {
		return false;
	}
	infer_reads(c, x->shape[axis], x->ndim, indices->shape);
	infer_set(c, n->outputs[0], x->type, x->ndim, indices->shape);
	return true;
}

bool
define_gather_elements(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? x->ndim : 0;
	at[axis] = safe_index(c, n, 1, te_at(m, in[1], at, y->ndim),
			      x->shape[axis]);
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* ---- GatherND ---- */

int
infer_tuple_length(struct infer *c, const struct node *n, int batch)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int64_t length;

	if (!infer_index_type(c, n, 1)) {
		return 0;
	}
	if (indices->ndim < 1 || batch < 0 || batch >= indices->ndim ||
	    !expr_is_int(indices->shape[indices->ndim - 1], &length) ||
	    length < 1 || length > x->ndim - batch) {
		infer_error(c, DIAG_BAD_SHAPE,
			    "the last dimension of the indices must be "
			    "constant, from 1 to %d; correct the model",
			    x->ndim - batch);
		return 0;
	}
	return (int)length;
}

bool
infer_gather_nd(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int64_t batch = node_attr_int(n, "batch_dims", 0);
	const struct expr **shape = arena_exprs(&c->module->arena,
						x->ndim + indices->ndim + 1);
	int rank = indices->ndim - 1, length;

	length = infer_tuple_length(c, n,
				    batch > 64 || batch < 0 ? -1 : (int)batch);
	if (!length) {
		return false;
	}
	for (int d = 0; d < batch; d++) {
		if (!dims_equal(c, indices->shape[d], x->shape[d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "batch dimension %d of the indices "
					   "differs from that of the data; "
					   "correct the model",
					   d);
		}
	}
	for (int d = 0; d < rank; d++) {
		shape[d] = indices->shape[d];
	}
	for (int d = (int)batch + length; d < x->ndim; d++) {
		shape[rank++] = x->shape[d];
	}
	for (int d = (int)batch; d < batch + length; d++) {
		infer_reads(c, x->shape[d], rank, shape);
	}
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
define_gather_nd(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	int q = n->inputs[1]->ndim,
	    batch = (int)node_attr_int(n, "batch_dims", 0);
	const struct expr **tuple = arena_exprs(&m->arena, q + 1);
	const struct expr **at = arena_exprs(&m->arena, x->ndim + 1);
	int64_t length = 0;

	expr_is_int(n->inputs[1]->shape[q - 1], &length);
	for (int d = 0; d < q - 1; d++) {
		tuple[d] = index[d];
	}
	for (int d = 0; d < x->ndim; d++) {
		if (d < batch) {
			at[d] = index[d];
		} else if (d >= batch + length) {
			at[d] = index[q - 1 + d - batch - length];
		} else {
			tuple[q - 1] = expr_i32(m, d - batch);
			at[d] = safe_index(c, n, 1, te_at(m, in[1], tuple, q),
					   x->shape[d]);
		}
	}
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}
