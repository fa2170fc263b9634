/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: drops nodes without used results, and unused optional
 * results.
 *
 *	a = Relu (x)           b = Exp (x)
 *	b = Exp (x)       ->   output b
 *	output b
 */
#include "rewrite.h"

static bool
is_used(const struct tensor *t)
{
	return t && (t->uses.n > 0 || t->is_output);
}

/* For variadic outputs (Split) the number of outputs matters: unused ones keep
 * their positions, empty. */
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
		bool used = false;

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
