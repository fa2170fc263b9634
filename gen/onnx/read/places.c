/* SPDX-License-Identifier: Apache-2.0 */
/* The branch or loop of the graph to which each imported node belongs. The new
 * nodes of a composition, an adapter or a deferred node belong to the place of
 * the node that they replace. Later, the bodies of ir/graph/graph_body.c follow
 * from the edges of the graph; the places here follow from the model's file. */
#include "importer.h"

/* The branch or loop into which `flow` was joined; `flow` itself if it was not
 * joined. */
static int
place_now(const struct importer *imp, int flow)
{
	while (flow > 0 && imp->flows.data[flow].joined) {
		flow = imp->flows.data[flow].parent;
	}
	return flow;
}

int
place_of_body(const struct importer *imp, const struct body *body)
{
	return place_now(imp, body->flow);
}

int
place_of_node(const struct importer *imp, const struct node *n)
{
	int flow = n->id < imp->flow_of.n ? imp->flow_of.data[n->id] : 0;

	return flow > 0 ? place_now(imp, flow) : 0;
}

int
place_begin(struct importer *imp, struct deferred *d, int branch)
{
	struct flow_place place = {
		.parent = place_of_body(imp, d->body),
		.of = d,
		.branch = branch,
	};

	if (imp->flows.n == 0) {
		vec_push(&imp->tmp, &imp->flows, (struct flow_place){ 0 });
	}
	vec_push(&imp->tmp, &imp->flows, place);
	return imp->flows.n - 1;
}

void
place_node(struct importer *imp, const struct node *n, int flow)
{
	while (imp->flow_of.n <= n->id) {
		vec_push(&imp->tmp, &imp->flow_of, -1);
	}
	imp->flow_of.data[n->id] = flow;
}

void
place_new(struct importer *imp, int first, int flow)
{
	while (imp->flow_of.n < imp->g->next_node_id) {
		vec_push(&imp->tmp, &imp->flow_of, -1);
	}
	for (int id = first; id < imp->flow_of.n; id++) {
		if (imp->flow_of.data[id] < 0) {
			imp->flow_of.data[id] = flow;
		}
	}
	while (imp->check_of.n < imp->g->checks.n) {
		vec_push(&imp->tmp, &imp->check_of, flow);
	}
}

int
place_branch(const struct importer *imp, int flow)
{
	flow = place_now(imp, flow);
	while (flow > 0 && imp->flows.data[flow].branch < 0) {
		flow = place_now(imp, imp->flows.data[flow].parent);
	}
	return flow;
}

bool
place_within(const struct importer *imp, int flow, int around)
{
	flow = place_now(imp, flow);
	while (flow > 0 && flow != around) {
		flow = place_now(imp, imp->flows.data[flow].parent);
	}
	return flow == around;
}

void
place_join(struct importer *imp, int flow)
{
	struct graph *g = imp->g;
	int into = place_now(imp, imp->flows.data[flow].parent);

	imp->flows.data[flow].joined = true;
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (node_is_control(n) && node_attr_int(n, "body", 0) == flow) {
			node_set_attr_int(g, n, "body", into);
		}
	}
}
