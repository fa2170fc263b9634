/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues: finds the nodes that get no kernel which stores their result,
 * because their readers compute the result again. Such nodes are: cheap reads
 * of other elements (Transpose, Slice, …) with only one reader, widening nodes,
 * and nodes that compute elements from constants alone. */
#include "fuse.h"

bool
fuse_is_elementwise(const struct node *n)
{
	return n->op->fuse == FUSE_ELEMENTWISE || n->op->fuse == FUSE_BROADCAST;
}

/* Is n a DequantizeLinear, or a Cast to a wider type? Then its narrow input
 * should be stored instead of its result. */
static bool
is_widening(const struct node *n)
{
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];

	return (node_is(n, "DequantizeLinear") || node_is(n, "Cast")) &&
	       dtype_bits(x->type) < dtype_bits(y->type);
}

/* Is each element of n's result one element of its input, at an index that is
 * cheap to compute? */
static bool
is_read_across(const struct node *n)
{
	return node_is(n, "Transpose") || node_is(n, "Slice") ||
	       node_is(n, "Part") || node_is(n, "Expand") ||
	       node_is(n, "Split");
}

/* May the kernel of n compute the elements of an input again where it reads
 * them? The kernel of a pool may not, since it would compute an element once
 * for each window that contains the element, unless the node that computes the
 * input only widens a tensor (`widening`), which is cheap. */
static bool
takes_prologue(const struct node *n, bool widening)
{
	enum fuse_class class = n->op->fuse;
	bool pool = (class == FUSE_REDUCTION || class == FUSE_ROWWISE ||
		     class == FUSE_ORDERED) &&
		    node_attr(n, "kernel_shape");

	return node_reads_elements(n) && (widening || !pool);
}

/* Does n compute its elements from constants alone, directly or through nodes
 * that do so? */
static bool
is_of_constants(const struct fusion *f, const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t && !tensor_is_constant(t) &&
		    !(t->producer &&
		      f->constant[f->position[t->producer->id]])) {
			return false;
		}
	}
	return true;
}

/* Is n costly, and would the readers of its result, if they computed it
 * themselves, compute an element many times? */
static bool
is_costly_again(const struct node *n)
{
	const struct tensor *y = n->outputs[0];

	return node_is_costly(n) && y &&
	       (y->uses.n > 1 ||
		(y->uses.n == 1 &&
		 y->uses.data[0].node->op->fuse == FUSE_COMPUTE));
}

/* Is n a view whose result no reader needs in memory: do all readers, directly
 * or through further views, read single elements of it, in the body of n? Then
 * readers can compute the elements of n's input themselves. */
static bool
is_read_through(const struct node *n)
{
	const struct tensor *y = n->outputs[0];

	if (n->op->fuse != FUSE_VIEW || node_run_sizes(n) >= 0 ||
	    y->is_output) {
		return false;
	}
	for (int i = 0; i < y->uses.n; i++) {
		const struct node *user = y->uses.data[i].node;

		if (user->body != n->body ||
		    (!takes_prologue(user, true) && !is_read_through(user))) {
			return false;
		}
	}
	return true;
}

static bool
is_sink(const struct fusion *f, const struct node *n)
{
	bool constant = is_of_constants(f, n) && !is_costly_again(n);
	bool widening = is_widening(n) || constant;
	/* A constant can also be read by kernels in other branches and
	 * loops. */
	bool narrow_constant = constant && is_widening(n);

	if (n->match != NULL) {
		return false;
	}
	if (constant && is_read_through(n)) {
		return true;
	}
	if ((!widening && !is_read_across(n)) ||
	    (!fuse_is_elementwise(n) && n->op->fuse != FUSE_INJECTIVE)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *y = n->outputs[k];

		if (!y) {
			continue;
		}
		if (y->is_output || (!widening && y->uses.n > 1)) {
			return false;
		}
		for (int i = 0; i < y->uses.n; i++) {
			const struct node *user = y->uses.data[i].node;

			if ((user->body != n->body && !narrow_constant) ||
			    (!takes_prologue(user, widening) &&
			     !(constant && is_read_through(user)))) {
				return false;
			}
		}
	}
	return true;
}

/* Makes kernels store the inputs of views that are groups without code. */
static void
store_for_views(struct fusion *f)
{
	for (int i = f->graph->nodes.n - 1; i >= 0; i--) {
		const struct node *n = f->graph->nodes.data[i];
		const struct tensor *x = node_input(n, 0);

		if (n->op->fuse == FUSE_VIEW && !f->sinks[i] && x != NULL &&
		    x->producer != NULL) {
			f->sinks[f->position[x->producer->id]] = false;
		}
	}
}

void
fuse_find_sinks(struct fusion *f)
{
	struct graph *g = f->graph;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		f->position[n->id] = i;
		f->size[i] = 1;
		f->sinks[i] = is_sink(f, n);
		for (int k = 0; k < n->n_inputs && f->sinks[i]; k++) {
			const struct tensor *t = n->inputs[k];

			if (t && t->producer &&
			    f->sinks[f->position[t->producer->id]]) {
				f->size[i] +=
					f->size[f->position[t->producer->id]];
			}
			/* Ends a long chain of nodes that readers would
			 * compute: a kernel of its own stores the result. */
			f->sinks[i] = f->size[i] <= FUSE_NODES_MAX / 2;
		}
		f->constant[i] = f->sinks[i] && is_of_constants(f, n);
	}
	store_for_views(f);
}
