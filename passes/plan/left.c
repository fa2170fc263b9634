/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the intermediate tensors of a model whose elements are still in the
 * workspace after a run, dense and in row-major order, so that a test on a
 * device can read them. */
#include "plan.h"

static bool
overlap(const struct placement *a, const struct placement *b)
{
	return a->offset_bytes < b->offset_bytes + b->bytes &&
	       b->offset_bytes < a->offset_bytes + a->bytes;
}

/* The index of the kernel that stores the placement's tensor. If no kernel
 * stores it, or if the placement is a scratch array: the index of the last
 * kernel of its live range. */
static int
stored_by(const struct program *p, const struct placement *at)
{
	const struct group *g =
		at->tensor == NULL || at->tensor->producer == NULL
			? NULL
			: p->graph->groups.data[at->tensor->producer->group];

	for (int i = 0; g != NULL && i < p->kernels.n; i++) {
		if (p->kernels.data[i]->group == g) {
			return i;
		}
	}
	return at->last;
}

/* Does the kernel that stores `at`, or a later kernel, store other values to
 * the bytes of `at`? (A view of the same elements has a placement, but no
 * kernel.) */
static bool
is_overwritten(const struct program *p, const struct placement *at)
{
	int when = stored_by(p, at);

	for (int i = 0; i < p->plan.places.n; i++) {
		const struct placement *other = &p->plan.places.data[i];

		if (other != at && other->kind == PLACE_WORKSPACE &&
		    overlap(at, other) &&
		    (other->tensor == NULL ||
		     graph_view_root(p->graph, other->tensor) != at->tensor) &&
		    stored_by(p, other) >= when) {
			return true;
		}
	}
	return false;
}

/* Are the bytes at the placement exactly the tensor's elements, in its type? */
static bool
is_plain(const struct placement *at)
{
	const struct tensor *t = at->tensor;
	int64_t elems;

	return t != NULL && t->producer != NULL && t->layout == NULL &&
	       t->part_of == NULL && t->element_of == NULL && at->of == NULL &&
	       dtype_bits(t->type) >= 8 && tensor_const_elems(t, &elems) &&
	       elems > 0 && elems * dtype_bytes(t->type) == at->bytes;
}

bool
plan_is_left(const struct program *p, const struct placement *at)
{
	return at->kind == PLACE_WORKSPACE && is_plain(at) &&
	       graph_view_root(p->graph, at->tensor) == at->tensor &&
	       !at->tensor->is_state && !at->tensor->is_output &&
	       !is_overwritten(p, at);
}
