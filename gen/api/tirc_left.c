/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: the inner tensors of a compiled model that a run leaves
 * in the workspace, and the integer tensors that have exactly one right
 * value. */
#include "ops.h"
#include "plan.h"
#include "tirc_context.h"

static bool
is_integer(const struct tensor *x)
{
	return dtype_is_int(x->type) || x->type.kind == DT_BOOL;
}

/* Is every input of the node a constant, or computed from integers alone?
 * exact[id]: is the tensor with this id computed from integers alone? */
static bool
keeps_exact(const struct node *n, const bool *exact)
{
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (x != NULL && !tensor_is_constant(x) && !exact[x->id]) {
			return false;
		}
	}
	return true;
}

const bool *
context_exact(struct tirc *t)
{
	const struct graph *g = t->graph;
	bool *exact = arena_array(&t->m->arena, bool, g->tensors.n + 1);

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *x = g->tensors.data[i];

		exact[i] = x->producer == NULL && is_integer(x);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k] != NULL) {
				exact[n->outputs[k]->id] =
					is_integer(n->outputs[k]) &&
					keeps_exact(n, exact);
			}
		}
	}
	return exact;
}

/* Has the tensor a type whose elements the self-test can compare? */
static bool
is_comparable(const struct tensor *x)
{
	return is_integer(x) || x->type.kind == DT_F32 ||
	       x->type.kind == DT_F64;
}

void
context_find_left(struct tirc *t)
{
	const struct memory_plan *p = &t->program.plan;

	for (int i = 0; i < p->places.n; i++) {
		const struct placement *at = &p->places.data[i];

		if (plan_is_left(&t->program, at) &&
		    is_comparable(at->tensor)) {
			vec_push(&t->m->arena, &t->left, at);
		}
	}
}

int
tirc_left_count(const struct tirc *t)
{
	return t->left.n;
}

struct tirc_tensor
tirc_left(struct tirc *t, int i)
{
	const struct placement *at = t->left.data[i];
	struct tirc_tensor out = context_tensor(t, at->tensor);

	out.in_workspace = true;
	out.offset_bytes = at->offset_bytes;
	return out;
}
