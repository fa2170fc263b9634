/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of graphs: links both ways, unique names, topological order,
 * types and shapes present. What it finds is a bug of ours. */
#include "graph.h"

static bool
broken(struct graph *g, const struct node *n, const char *what,
       const char *name)
{
	struct diag_place place = { .file = g->file, .item = g->name };

	if (n) {
		place = node_place(g, n);
	}
	return diag_error(&g->module->diags, DIAG_VERIFY, place,
			  "graph: %s ('%s'); this is a bug", what, name);
}

static bool
verify_use(struct graph *g, const struct node *n, int input)
{
	const struct tensor *t = n->inputs[input];
	int found = 0;

	for (int i = 0; i < t->uses.n; i++) {
		found += t->uses.data[i].node == n &&
			 t->uses.data[i].input == input;
	}
	return found == 1 || broken(g, n, "use listed wrongly", t->name);
}

/* done[id]: tensors that exist before the node runs. */
static bool
verify_node(struct graph *g, const struct node *n, bool *done)
{
	if (n->graph != g) {
		return broken(g, n, "node of another graph", n->name);
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (!t) {
			continue;
		}
		if (!verify_use(g, n, i)) {
			return false;
		}
		if (t->id >= g->tensors.n || g->tensors.data[t->id] != t) {
			return broken(g, n, "unknown input", t->name);
		}
		if (!done[t->id]) {
			return broken(g, n, t->producer
					? "input read before it is computed"
					: "input that nothing produces",
				      t->name);
		}
	}
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *t = n->outputs[i];

		if (!t) {
			continue;
		}
		if (t->producer != n || t->output_index != i) {
			return broken(g, n, "output with another producer",
				      t->name);
		}
		if (!t->typed || t->ndim < 0) {
			return broken(g, n, "output without type or shape",
				      t->name);
		}
		done[t->id] = true;
	}
	return true;
}

static bool
verify_tensor(struct graph *g, const struct tensor *t)
{
	if (graph_find_tensor(g, t->name) != t) {
		return broken(g, NULL, "two tensors of one name", t->name);
	}
	if (t->producer && (t->is_input || tensor_is_constant(t))) {
		return broken(g, t->producer, "an input that is computed",
			      t->name);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (!t->shape[i]) {
			return broken(g, NULL, "dimension missing", t->name);
		}
	}
	for (int i = 0; i < t->uses.n; i++) {
		const struct use *u = &t->uses.data[i];

		if (u->input >= u->node->n_inputs ||
		    u->node->inputs[u->input] != t) {
			return broken(g, u->node, "use that is none", t->name);
		}
	}
	return true;
}

bool
graph_verify(struct graph *g)
{
	bool *done = arena_array(&g->module->arena, bool, g->tensors.n + 1);

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->id != i) {
			return broken(g, NULL, "tensor misnumbered", t->name);
		}
		if (!verify_tensor(g, t)) {
			return false;
		}
		/* Known numbers need not be computed. */
		done[i] = t->is_input || tensor_is_constant(t) ||
			  (t->elems && !t->producer);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!verify_node(g, g->nodes.data[i], done)) {
			return false;
		}
	}
	for (int i = 0; i < g->outputs.n; i++) {
		const struct tensor *t = g->outputs.data[i];

		if (!t->is_output || !done[t->id]) {
			return broken(g, NULL, "output that nothing produces",
				      t->name);
		}
	}
	return true;
}
