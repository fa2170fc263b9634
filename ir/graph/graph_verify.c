/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of graphs: links both ways, unique names, topological order,
 * types and shapes present; regions whole. An error is a bug in tirc. */
#include "graph.h"
#include "graph_region.h"

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

/* Numbers for the inputs of all nodes; the inputs of one node have consecutive
 * numbers. */
struct numbering {
	/* by node id: the index of the node's first input; -1 if no node of the
	 * graph has this id */
	int *first;
	/* by the number of an input of a node: does the tensor that the node
	 * reads there list this use? */
	bool *listed;
};

static struct numbering
number_inputs(const struct graph *g, struct arena *a)
{
	struct numbering all = { .first = arena_array(a, int,
						      g->next_node_id + 1) };
	int n = 0;

	for (int id = 0; id < g->next_node_id; id++) {
		all.first[id] = -1;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		all.first[g->nodes.data[i]->id] = n;
		n += g->nodes.data[i]->n_inputs;
	}
	all.listed = arena_array(a, bool, n + 1);
	return all;
}

/* Checks that every use in the tensor's list is a node's input, and is listed
 * once. */
static bool
verify_uses(struct graph *g, const struct tensor *t, struct numbering *all)
{
	for (int i = 0; i < t->uses.n; i++) {
		const struct use *u = &t->uses.data[i];
		int number;

		if (u->node->graph != g || all->first[u->node->id] < 0 ||
		    u->input >= u->node->n_inputs ||
		    u->node->inputs[u->input] != t) {
			return broken(g, u->node,
				      "a listed use does not read the tensor",
				      t->name);
		}
		number = all->first[u->node->id] + u->input;
		if (all->listed[number]) {
			return broken(g, u->node, "a use is listed twice",
				      t->name);
		}
		all->listed[number] = true;
	}
	return true;
}

/* Checks a node's links and the order. done[t->id]: is tensor t computed before
 * the node? */
static bool
verify_node(struct graph *g, const struct node *n, const struct numbering *all,
	    bool *done)
{
	if (n->graph != g) {
		return broken(g, n, "a node belongs to another graph", n->name);
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (!t) {
			continue;
		}
		if (!all->listed[all->first[n->id] + i]) {
			return broken(g, n, "a use is not listed", t->name);
		}
		if (t->id >= g->tensors.n || g->tensors.data[t->id] != t) {
			return broken(g, n, "unknown input", t->name);
		}
		if (!done[t->id]) {
			return broken(g, n,
				      t->producer
					      ? "an input is read before it is "
						"computed"
					      : "an input has no producer",
				      t->name);
		}
	}
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *t = n->outputs[i];

		if (!t) {
			continue;
		}
		if (t->producer != n || t->output_index != i) {
			return broken(g, n, "an output has another producer",
				      t->name);
		}
		if (!t->typed || t->ndim < 0) {
			return broken(g, n,
				      "an output has no type or no "
				      "shape",
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
		return broken(g, NULL, "two tensors have the same name",
			      t->name);
	}
	if (t->producer && (t->is_input || tensor_is_constant(t))) {
		return broken(g, t->producer, "a graph input has a producer",
			      t->name);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (!t->shape[i]) {
			return broken(g, NULL, "dimension missing", t->name);
		}
	}
	return true;
}

/* -- regions -- */

static bool
verify_match(struct graph *g, const struct region_match *m,
	     const struct graph_region *r)
{
	if (m->nodes.n == 0 || m->region != r) {
		return broken(g, NULL,
			      "a match is empty, or belongs to another region",
			      m->pattern);
	}
	for (int i = 0; i < m->nodes.n; i++) {
		const struct node *n = m->nodes.data[i].node;

		if (n->match != m || n->graph != g) {
			return broken(g, n,
				      "a match lists a node that belongs to "
				      "another match",
				      m->pattern);
		}
	}
	return true;
}

/* Are the region's nodes adjacent? */
static bool
is_together(const struct graph *g, const struct graph_region *r)
{
	int i = 0, n = region_node_count(r);

	while (i < g->nodes.n && !region_has(r, g->nodes.data[i])) {
		i++;
	}
	while (n > 0 && i < g->nodes.n && region_has(r, g->nodes.data[i])) {
		i++;
		n--;
	}
	return n == 0;
}

static bool
verify_regions(struct graph *g)
{
	for (int i = 0; i < g->regions.n; i++) {
		const struct graph_region *r = g->regions.data[i];

		if (r->id != i || r->matches.n == 0) {
			return broken(g, NULL,
				      "a region is empty or has a "
				      "wrong id",
				      r->name);
		}
		for (int k = 0; k < r->matches.n; k++) {
			if (!verify_match(g, r->matches.data[k], r)) {
				return false;
			}
		}
		if (g->is_partitioned && !is_together(g, r)) {
			return broken(g, NULL,
				      "a region's nodes are not "
				      "adjacent",
				      r->name);
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		const struct graph_region *r = n->match ? n->match->region
							: NULL;

		if (r &&
		    (r->id >= g->regions.n || g->regions.data[r->id] != r)) {
			return broken(g, n,
				      "a node belongs to an unknown "
				      "region",
				      r->name);
		}
	}
	return true;
}

static bool
verify_all(struct graph *g, struct arena *tmp)
{
	bool *done = arena_array(tmp, bool, g->tensors.n + 1);
	struct numbering all = number_inputs(g, tmp);

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->id != i) {
			return broken(g, NULL, "tensor misnumbered", t->name);
		}
		if (!verify_tensor(g, t) || !verify_uses(g, t, &all)) {
			return false;
		}
		/* Only a tensor with known elements may have no producer,
		 * besides inputs and constants. */
		done[i] = t->is_input || tensor_is_constant(t) ||
			  (t->elems && !t->producer);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!verify_node(g, g->nodes.data[i], &all, done)) {
			return false;
		}
	}
	/* Fusion removes copies that need no memory of their own. */
	if (g->groups.n == 0) {
		const struct node *n = NULL;
		const char *wrong = graph_wrong_control(g, &n);

		if (wrong) {
			return broken(g, n, wrong, node_key(n));
		}
	}
	for (int i = 0; i < g->outputs.n; i++) {
		const struct tensor *t = g->outputs.data[i];

		if (!t->is_output || !done[t->id]) {
			return broken(g, NULL,
				      "a graph output has no "
				      "producer",
				      t->name);
		}
	}
	return verify_regions(g);
}

bool
graph_verify(struct graph *g)
{
	struct arena tmp = { 0 };
	bool whole = verify_all(g, &tmp);

	arena_release(&tmp);
	return whole;
}
