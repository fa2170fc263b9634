/* SPDX-License-Identifier: Apache-2.0 */
/* A region pass as a shared object: the array multiplies and cannot add, so
 * that what the pattern `dense` found becomes two nodes and two matches.
 *
 *	y = Gemm (x, w, b)     dense      t = Gemm (x, w)     product
 *	                          ->      y = Add (t, b)      sum
 */
#include <tirc_region_pass.h>

#include "ops.h"

static int
position_of(const struct graph *g, const struct node *n)
{
	int i = 0;

	while (g->nodes.data[i] != n) {
		i++;
	}
	return i;
}

/* The bias leaves the Gemm for an Add behind it. False: a bug. */
static bool
split(struct graph *g, struct node *gemm, struct node **add)
{
	struct tensor *y = gemm->outputs[0], *bias = gemm->inputs[2];
	struct tensor *t = graph_tensor(g, arena_printf(&g->module->arena,
							"%s.product", y->name));
	struct tensor *in[2] = { t, bias };

	node_resize_inputs(gemm, 2);
	gemm->outputs[0] = t;
	t->producer = gemm;
	t->output_index = 0;
	*add = graph_node_at(g, position_of(g, gemm) + 1, "", "Add", "", in, 2,
			     &y, 1);
	(*add)->op = op_find("", "Add");
	for (int i = 0; i < gemm->origins.n; i++) {
		vec_push(&g->module->arena, &(*add)->origins,
			 gemm->origins.data[i]);
	}
	return ops_infer_node(g, gemm) && ops_infer_node(g, *add);
}

TIRC_REGION_PASS(graph, backend)
{
	for (int i = 0; i < graph->nodes.n; i++) {
		struct node *n = graph->nodes.data[i];
		const struct region_match *dense = n->match;
		struct region_match *product, *sum;
		struct node *add, *gemm;

		if (dense == NULL || dense->backend != backend ||
		    strcmp(dense->pattern, "dense") != 0) {
			continue;
		}
		gemm = region_match_node(dense, "gemm", -1);
		if (!split(graph, gemm, &add)) {
			return false;
		}
		product = region_match_new(graph, backend, backend->name,
					   "product");
		for (int k = 0; k < dense->nodes.n; k++) {
			region_match_add(graph, product,
					 dense->nodes.data[k].node,
					 dense->nodes.data[k].role, -1, NULL);
		}
		product->anchor = gemm;
		sum = region_match_new(graph, backend, backend->name, "sum");
		region_match_add(graph, sum, add, "add", -1, NULL);
	}
	return true;
}
