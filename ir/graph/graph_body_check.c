/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the control flow of a graph that another program wrote: the numbers of
 * bodies in the nodes of branches and loops (graph_body.c), before any other
 * code relies on them. */
#include "graph.h"

/* A body; it is `defined` if a node ends it. */
struct written_body {
	int parent; /* the body around it */
	int seen;   /* the body at which the search that first reached it began;
		     * 0: not reached */
	bool defined, is_loop;
};

/* The number of a body in the node's attribute `name`; -1 if the attribute is
 * absent or above `most`. */
static int
written_number(const struct node *n, const char *name, int most)
{
	int64_t id = node_attr_int(n, name, -1);

	return id >= 0 && id <= most ? (int)id : -1;
}

static bool
write_body(struct written_body *bodies, const struct node *end,
	   const char *name, bool is_loop, int most)
{
	int id = written_number(end, name, most);

	if (id <= 0 || bodies[id].defined) {
		return false;
	}
	bodies[id] = (struct written_body){
		.parent = written_number(end, "body", most),
		.defined = true,
		.is_loop = is_loop,
	};
	return true;
}

/* Are all inputs of the node present, and may the node be in its body (a Carry,
 * for example, only in a loop's)? */
static bool
is_placed(const struct written_body *bodies, const struct node *n, int most)
{
	static const char *const in_loops[] = { "Carry", "Iteration",
						"ScanInput" };
	int body = written_number(n, "body", most);
	bool known = strcmp(n->op_type, "Copy") == 0 || node_ends_if(n) ||
		     node_ends_loop(n);

	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] == NULL) {
			return false;
		}
	}
	if (body < 0 || (body > 0 && !bodies[body].defined)) {
		return false;
	}
	for (size_t i = 0; i < sizeof in_loops / sizeof *in_loops; i++) {
		known = known || (strcmp(n->op_type, in_loops[i]) == 0 &&
				  bodies[body].is_loop);
	}
	return known;
}

bool
graph_bodies_valid(struct graph *g)
{
	int most = 2 * g->nodes.n;
	struct written_body *bodies = arena_array(&g->module->arena,
						  struct written_body,
						  most + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if ((node_ends_if(n) &&
		     !(write_body(bodies, n, "then", false, most) &&
		       write_body(bodies, n, "else", false, most))) ||
		    (node_ends_loop(n) &&
		     !write_body(bodies, n, "loop", true, most))) {
			return false;
		}
	}
	for (int id = 1; id <= most; id++) {
		int at = id;

		while (at > 0 && bodies[at].defined && bodies[at].seen == 0) {
			bodies[at].seen = id;
			at = bodies[at].parent;
		}
		if (at > 0 && bodies[at].seen == id) {
			return false; /* the body is inside of itself */
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if (node_is_control(n) && !is_placed(bodies, n, most)) {
			return false;
		}
	}
	return true;
}
