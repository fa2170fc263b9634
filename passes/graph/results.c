/* SPDX-License-Identifier: Apache-2.0 */
/* Makes intermediate results of a model outputs of it, after its original
 * outputs, to compare the results.
 *
 *	a = Conv (x)                  a = Conv (x)
 *	y = Relu (a)          ->      y = Relu (a)
 *	output y                      output y, a */
#include "passes.h"

#include "graph_region.h"

static void
show(struct graph *g, struct tensor *t)
{
	if (t == NULL || t->is_output || t->is_input || t->producer == NULL ||
	    t->ndim < 0 || !t->typed || t->model_name == NULL) {
		return;
	}
	t->is_output = true;
	vec_push(&g->module->arena, &g->outputs, t);
}

void
graph_show_results(struct graph *g)
{
	graph_find_bodies(g);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_outputs && n->body == 0; k++) {
			show(g, n->outputs[k]);
		}
	}
}

/* Does the tensor have memory of its own that holds its values, dense and in
 * row-major order? It does not if a pass has shifted its bytes, or if the
 * tensor has a layout or is a part of another tensor. */
static bool
is_plain(const struct tensor *t)
{
	return t != NULL && t->stored_offset == 0 && t->part_of == NULL &&
	       t->element_of == NULL && t->layout == NULL && !t->is_state;
}

void
graph_show_stored(struct graph *g)
{
	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];
		const struct node *n = group->nodes.data[group->nodes.n - 1];

		if (group->is_view || group->is_control || n->body != 0) {
			continue;
		}
		for (int k = 0; k < n->n_outputs; k++) {
			if (is_plain(n->outputs[k])) {
				show(g, n->outputs[k]);
			}
		}
		for (int k = 0;
		     group->region != NULL && k < group->region->outputs.n;
		     k++) {
			if (is_plain(group->region->outputs.data[k])) {
				show(g, group->region->outputs.data[k]);
			}
		}
	}
}
