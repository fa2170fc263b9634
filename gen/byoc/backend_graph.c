/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a pattern: the order in which the matcher searches them, and a
 * variant of the pattern for each choice of optional nodes.
 *
 *	pad? -> conv -> bias?      pad conv bias, pad conv, conv bias, conv
 *
 * Nodes that read an omitted node read its first input instead. */
#include "loading.h"

enum { OPTIONAL_MAX = 6 };

/* Does node a of the pattern read a result of node b of the same pattern? */
static bool
touches(const struct pattern_graph *g, int a, int b)
{
	for (int i = 0; i < g->nodes[a].n_inputs; i++) {
		const struct tensor_condition *c = &g->nodes[a].inputs[i];

		if (c->kind == TENSOR_NODE && c->node == b) {
			return true;
		}
	}
	return false;
}

/* Can the matcher get to node `node` from a node that it has found before? It
 * can if one of the two reads a result of the other. found[i]: node i is found
 * before `node`. In a follower, the node before the follower is found, too. */
static bool
is_reached(const struct pattern_graph *g, const bool *found, int node)
{
	if (touches(g, node, BEFORE)) {
		return true;
	}
	for (int i = 0; i < g->n_nodes; i++) {
		if (found[i] && (touches(g, node, i) || touches(g, i, node))) {
			return true;
		}
	}
	return false;
}

bool
backend_order_nodes(struct module *m, struct pattern_graph *g, int anchor,
		    struct json at)
{
	bool *found = arena_array(&m->arena, bool, g->n_nodes + 1);
	int n = 0;

	g->order = arena_array(&m->arena, int, g->n_nodes + 1);
	g->inner = arena_array(&m->arena, bool, g->n_nodes + 1);
	for (int i = 0; i < g->n_nodes; i++) {
		for (int k = 0; k < g->n_nodes; k++) {
			g->inner[i] = g->inner[i] || touches(g, k, i);
		}
	}
	if (anchor >= 0) {
		g->order[n++] = anchor;
		found[anchor] = true;
	}
	while (n < g->n_nodes) {
		int next = -1;

		for (int i = 0; i < g->n_nodes && next < 0; i++) {
			next = !found[i] && is_reached(g, found, i) ? i : -1;
		}
		if (next < 0) {
			break;
		}
		g->order[n++] = next;
		found[next] = true;
	}
	for (int i = 0; i < g->n_nodes; i++) {
		if (!found[i]) {
			return json_error(
				at,
				"node '%s' is connected to no other node, so "
				"it cannot be found",
				g->nodes[i].id);
		}
	}
	return true;
}

/* -- optional nodes -- */

/* A variant of a pattern without its nodes i for which left_out[i] is true. */
struct choice {
	const struct pattern_graph *all;
	const bool *left_out;
	int *index; /* by node of the whole pattern: its index in the variant,
		     * or -1 */
};

static struct tensor_ref
moved_ref(const struct choice *c, struct tensor_ref ref)
{
	while (ref.node >= 0 && c->left_out[ref.node]) {
		const struct tensor_condition *in =
			&c->all->nodes[ref.node].inputs[0];

		ref.node = ref.input < 0 && in->kind == TENSOR_NODE ? in->node
								    : -1;
	}
	ref.node = ref.node >= 0 ? c->index[ref.node] : ref.node;
	return ref;
}

static struct tensor_condition
moved(const struct choice *c, struct tensor_condition t)
{
	while (t.kind == TENSOR_NODE && t.node >= 0 && c->left_out[t.node]) {
		const struct tensor_condition *in =
			&c->all->nodes[t.node].inputs[0];

		t.kind = in->kind;
		t.node = in->node;
		t.node_output = in->node_output;
		t.optional = t.optional || in->optional;
	}
	if (t.kind == TENSOR_NODE && t.node >= 0) {
		t.node = c->index[t.node];
	}
	t.same_shape = moved_ref(c, t.same_shape);
	t.broadcasts_to = moved_ref(c, t.broadcasts_to);
	t.row_of = moved_ref(c, t.row_of);
	t.same_dtype = moved_ref(c, t.same_dtype);
	return t;
}

static struct tensor_condition *
moved_list(struct module *m, const struct choice *c,
	   const struct tensor_condition *list, int n)
{
	struct tensor_condition *copy = arena_array(&m->arena,
						    struct tensor_condition,
						    n + 1);

	for (int i = 0; i < n; i++) {
		copy[i] = moved(c, list[i]);
	}
	return copy;
}

static int
result_of(const struct choice *c, struct json at)
{
	int node = c->all->result;

	while (c->left_out[node]) {
		const struct tensor_condition *in =
			&c->all->nodes[node].inputs[0];

		if (in->kind != TENSOR_NODE) {
			json_error(at,
				   "without '%s' the pattern has no "
				   "result",
				   c->all->nodes[node].id);
			return 0;
		}
		node = in->node;
	}
	return c->index[node];
}

static bool
make_variant(struct module *m, const struct pattern_graph *all,
	     const bool *left_out, int anchor, struct json at,
	     struct pattern_graph *out)
{
	struct choice c = { all, left_out,
			    arena_array(&m->arena, int, all->n_nodes + 1) };

	for (int i = 0; i < all->n_nodes; i++) {
		c.index[i] = left_out[i] ? -1 : out->n_nodes++;
	}
	out->nodes = arena_array(&m->arena, struct pattern_node,
				 out->n_nodes + 1);
	for (int i = 0; i < all->n_nodes; i++) {
		struct pattern_node *n = &out->nodes[c.index[i]];

		if (left_out[i]) {
			continue;
		}
		*n = all->nodes[i];
		n->inputs = moved_list(m, &c, n->inputs, n->n_inputs);
		n->outputs = moved_list(m, &c, n->outputs, n->n_outputs);
		if (n->rest != NULL) {
			n->rest = moved_list(m, &c, n->rest, 1);
		}
	}
	out->result = result_of(&c, at);
	return backend_order_nodes(m, out, c.index[anchor], at);
}

static int
bits_of(int mask)
{
	int n = 0;

	for (; mask != 0; mask &= mask - 1) {
		n++;
	}
	return n;
}

void
backend_make_variants(struct module *m, struct pattern *p,
		      const struct pattern_graph *all, int anchor,
		      struct json at)
{
	int optional[OPTIONAL_MAX], n = 0;

	for (int i = 0; i < all->n_nodes; i++) {
		if (!all->nodes[i].optional) {
			continue;
		}
		if (n == OPTIONAL_MAX) {
			json_error(at,
				   "more than %d optional nodes; write "
				   "several patterns",
				   OPTIONAL_MAX);
			return;
		}
		optional[n++] = i;
	}
	p->variants = arena_array(&m->arena, struct pattern_graph, 1 << n);
	for (int gone = 0; gone <= n; gone++) {
		for (int mask = 0; mask < 1 << n; mask++) {
			bool *left_out = arena_array(&m->arena, bool,
						     all->n_nodes + 1);

			if (bits_of(mask) != gone) {
				continue;
			}
			for (int k = 0; k < n; k++) {
				left_out[optional[k]] = mask >> k & 1;
			}
			if (!make_variant(m, all, left_out, anchor, at,
					  &p->variants[p->n_variants])) {
				return;
			}
			p->n_variants++;
		}
	}
}
