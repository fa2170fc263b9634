/* SPDX-License-Identifier: Apache-2.0 */
/* Makes two graphs with which the results of regions can be compared with those
 * of generated code, on data of the model: the first graph computes the inputs
 * and outputs of all regions without a backend; the second graph has only the
 * regions, whose inputs are inputs of that graph.
 *
 *	a = Relu (x)           GENERATED  a = Relu (x)    ALONE
 *	region r                          b = Conv (a)          region r
 *	  b = Conv (a)    ->              output a, b             b = Conv (a')
 *	c = Tanh (b)                                            input x, a'
 *	output c                                                output b
 *
 * The outputs of the first graph are the inputs of regions, in the order of
 * their first use and without the graph's inputs, then the outputs of regions.
 * The inputs of the second graph are the graph's inputs, then the inputs of
 * regions in the same order; its outputs are the outputs of regions. */
#include "backend.h"
#include "rewrite.h"

struct borders {
	VEC(struct tensor *) read, made;
};

static void
find_borders(struct graph *g, struct borders *b)
{
	struct arena *a = &g->module->arena;

	for (int i = 0; i < g->regions.n; i++) {
		const struct graph_region *r = g->regions.data[i];

		for (int k = 0; k < r->inputs.n; k++) {
			struct tensor *t = r->inputs.data[k];

			if (!t->is_input &&
			    tensor_index(t, b->read.data, b->read.n) < 0) {
				vec_push(a, &b->read, t);
			}
		}
		for (int k = 0; k < r->outputs.n; k++) {
			vec_push(a, &b->made, r->outputs.data[k]);
		}
	}
}

static void
add_outputs(struct graph *g, struct tensor *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (!list[i]->is_output) {
			list[i]->is_output = true;
			vec_push(&g->module->arena, &g->outputs, list[i]);
		}
	}
}

static void
forget_outputs(struct graph *g)
{
	for (int i = 0; i < g->outputs.n; i++) {
		g->outputs.data[i]->is_output = false;
	}
	g->outputs.n = 0;
}

/* Makes a new input of the graph. All regions that do not compute t read the
 * new input in place of t. */
static void
feed(struct graph *g, struct tensor *t)
{
	struct tensor *fed = graph_tensor(g, t->name);

	fed->type = t->type;
	fed->typed = true;
	fed->ndim = t->ndim;
	fed->shape = t->shape;
	fed->is_input = true;
	vec_push(&g->module->arena, &g->inputs, fed);
	for (int i = 0; i < g->regions.n; i++) {
		const struct graph_region *r = g->regions.data[i];

		for (int m = 0; m < r->matches.n; m++) {
			const struct region_match *match = r->matches.data[m];

			for (int n = 0; n < match->nodes.n; n++) {
				struct node *node = match->nodes.data[n].node;

				for (int k = 0; k < node->n_inputs; k++) {
					if (node->inputs[k] == t &&
					    !region_has(r, t->producer)) {
						node_set_input(node, k, fed);
					}
				}
			}
		}
	}
}

bool
graph_isolate(struct graph *g)
{
	struct borders b = { 0 };

	if (g->settings->regions_as == REGIONS_WITHIN || g->regions.n == 0) {
		return true;
	}
	find_borders(g, &b);
	forget_outputs(g);
	if (g->settings->regions_as == REGIONS_ALONE) {
		add_outputs(g, b.made.data, b.made.n);
		for (int i = 0; i < b.read.n; i++) {
			feed(g, b.read.data[i]);
		}
		graph_dead(g);
		graph_region_borders(g);
		return true;
	}
	add_outputs(g, b.read.data, b.read.n);
	add_outputs(g, b.made.data, b.made.n);
	for (int i = 0; i < g->nodes.n; i++) {
		g->nodes.data[i]->match = NULL;
	}
	g->regions.n = 0;
	g->n_backends = 0;
	return graph_dead(g);
}
