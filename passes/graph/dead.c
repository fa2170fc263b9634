/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: drops nodes without used results, and unused optional
 * results.
 *
 *	a = Relu (x)           b = Exp (x)
 *	b = Exp (x)       ->   output b
 *	output b
 */
#include "rewrite.h"

/* Has the shape of t one of the run_sizes from number `first` on, `count` of
 * them? */
static bool
tensor_uses_sizes(const struct graph *g, const struct tensor *t, int first,
		  int count)
{
	for (int d = 0; t && d < t->ndim; d++) {
		for (int i = first; i < first + count; i++) {
			if (expr_uses_var(t->shape[d],
					  g->run_sizes.data[i].var)) {
				return true;
			}
		}
	}
	return false;
}

static bool
is_used(const struct tensor *t)
{
	return t && (t->uses.n > 0 || t->is_output);
}

/* Is n a tirc.RunSize of which a size is needed: by a check of the entry
 * function, or in the shape of a node's output? */
static bool
gives_a_size(const struct graph *g, const struct node *n)
{
	int first = node_run_sizes(n);
	int64_t count;

	if (first < 0 || !tensor_const_elems(n->outputs[0], &count)) {
		return false;
	}
	for (int i = first; i < first + count; i++) {
		for (int k = 0; k < g->checks.n; k++) {
			if (size_check_uses(&g->checks.data[k],
					    g->run_sizes.data[i].var)) {
				return true;
			}
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		for (int k = 0; k < g->nodes.data[i]->n_outputs; k++) {
			if (tensor_uses_sizes(g, g->nodes.data[i]->outputs[k],
					      first, (int)count)) {
				return true;
			}
		}
	}
	return false;
}

/* Drops unused optional results. The operator depends on the number of variadic
 * outputs (Split): their unused ones become NULL and keep their positions. */
static void
drop_optional_outputs(struct graph *g, struct node *n)
{
	int required = n->op ? n->op->min_outputs : n->n_outputs;
	bool counted = n->op && n->op->max_outputs < 0;

	for (int i = required; i < n->n_outputs; i++) {
		if (n->outputs[i] && !is_used(n->outputs[i])) {
			n->outputs[i]->producer = NULL;
			n->outputs[i] = NULL;
			g->edits++;
		}
	}
	while (!counted && n->n_outputs > required &&
	       !n->outputs[n->n_outputs - 1]) {
		n->n_outputs--;
	}
}

bool
graph_dead(struct graph *g)
{
	for (int i = g->nodes.n - 1; i >= 0; i--) {
		struct node *n = g->nodes.data[i];
		bool used = gives_a_size(g, n);

		for (int k = 0; k < n->n_outputs; k++) {
			used |= is_used(n->outputs[k]);
		}
		if (used) {
			drop_optional_outputs(g, n);
		} else {
			graph_remove_node(g, n, "dead",
					  "nothing reads its results");
		}
	}
	graph_drop_unused_tensors(g);
	return true;
}
