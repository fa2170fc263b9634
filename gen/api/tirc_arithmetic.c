/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: the float type that bounds the precision of each
 * tensor. */
#include "ops.h"
#include "rewrite.h"
#include "tirc_context.h"

/* The less precise one of two float types; DT_VOID stands for exact values, and
 * is the most precise. */
static enum dtype_kind
coarser(enum dtype_kind a, enum dtype_kind b)
{
	if (a == DT_VOID || b == DT_VOID) {
		return a == DT_VOID ? b : a;
	}
	return dtype_epsilon(dtype_of(a)) >= dtype_epsilon(dtype_of(b)) ? a : b;
}

/* Does the node only move elements of its first input to its result, or convert
 * them to a type that has all values of the input's type? */
static bool
keeps_elements(const struct node *n)
{
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];

	if (x == NULL || !dtype_is_float(x->type)) {
		return false;
	}
	if (node_is(n, "Cast")) {
		return (y->type.kind == DT_F32 || y->type.kind == DT_F64) &&
		       dtype_epsilon(x->type) >= dtype_epsilon(y->type);
	}
	return n->n_outputs == 1 && n->op != NULL &&
	       (n->op->fuse == FUSE_VIEW || node_is(n, "Transpose") ||
		node_is(n, "Slice") || node_is(n, "Gather"));
}

static enum dtype_kind
of_input(const struct tirc *t, const enum dtype_kind *list,
	 const struct tensor *x)
{
	if (x == NULL) {
		return DT_VOID;
	}
	if (tensor_is_constant(x)) {
		/* only weights that --precision has rounded are not exact */
		return x->type.kind == t->settings.weight_type ? x->type.kind
							       : DT_VOID;
	}
	return list[x->id];
}

const enum dtype_kind *
context_arithmetic(struct tirc *t)
{
	const struct graph *g = t->graph;
	enum dtype_kind *list = arena_array(&t->m->arena, enum dtype_kind,
					    g->tensors.n + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		enum dtype_kind inputs = DT_VOID;

		for (int k = 0; k < n->n_inputs; k++) {
			inputs = coarser(inputs,
					 of_input(t, list, n->inputs[k]));
		}
		for (int k = 0; k < n->n_outputs; k++) {
			const struct tensor *y = n->outputs[k];

			if (y == NULL || !dtype_is_float(y->type)) {
				continue;
			}
			list[y->id] = keeps_elements(n)
					      ? inputs
					      : coarser(inputs, y->type.kind);
		}
	}
	return list;
}
