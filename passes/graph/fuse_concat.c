/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenations without a copy. If the axis is the outermost one (ignoring
 * axes of extent 1), the kernels of the inputs can write directly to their
 * parts of the result.
 *
 *	a = Conv (x, v)                    y = [ a | b ]
 *	b = Conv (x, w)               ->   a: 64 channels at offset 0
 *	y = Concat (a, b) {axis = 1}       b: 32 channels after it */
#include "fuse.h"

/* Are all extents before the axis 1, so that each input is contiguous in the
 * result, and is the result's number of elements a constant above 0? */
static bool
is_outermost(const struct node *n)
{
	const struct tensor *y = n->outputs[0];
	int64_t axis = node_attr_int(n, "axis", 0), elems;

	axis += axis < 0 ? y->ndim : 0;
	for (int i = 0; i < axis; i++) {
		if (!expr_is_value(y->shape[i], 1)) {
			return false;
		}
	}
	return tensor_const_elems(y, &elems) && elems > 0;
}

/* Is the place of t's bytes already decided? It is decided if t, the tensor of
 * which t is a view, or a view of t is an input, an output or a part of a
 * concatenation. */
static bool
has_place(const struct tensor *t)
{
	for (;;) {
		const struct node *p = t->producer;

		if (!p || t->part_of || t->is_output) {
			return true;
		}
		if (p->op->fuse != FUSE_VIEW) {
			break;
		}
		t = p->inputs[0];
	}
	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		if (user->op->fuse == FUSE_VIEW &&
		    (user->outputs[0]->part_of ||
		     fuse_outputs_behind(user->outputs[0]))) {
			return true;
		}
	}
	return t->part_of != NULL;
}

bool
fuse_concat_is_free(const struct node *n, int align_bytes)
{
	int64_t offset = 0, elems = 0;

	if (!node_is(n, "Concat") || !is_outermost(n) ||
	    fuse_outputs_behind(n->outputs[0])) {
		return false;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (tensor_is_constant(t) || has_place(t) ||
		    (align_bytes > 0 && offset % align_bytes != 0)) {
			return false;
		}
		tensor_const_elems(t, &elems);
		offset += elems * dtype_bytes(t->type);
		for (int k = 0; k < i; k++) {
			if (fuse_storage_of(n->inputs[k]) ==
			    fuse_storage_of(t)) {
				return false;
			}
		}
	}
	return true;
}

void
fuse_concat_place(struct node *n)
{
	int64_t offset = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];
		int64_t elems = 0;

		t->part_of = n->outputs[0];
		t->part_offset_bytes = offset;
		tensor_const_elems(t, &elems);
		offset += elems * dtype_bytes(t->type);
	}
}
