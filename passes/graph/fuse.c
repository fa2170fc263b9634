/* SPDX-License-Identifier: Apache-2.0 */
/* Groups nodes into kernels. */
#include "rewrite.h"

bool
graph_fuse(struct graph *g)
{
	struct arena *a = &g->module->arena;

	g->groups.n = 0;
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		struct group *group = arena_new(a, struct group);

		group->id = g->groups.n;
		group->anchor = n;
		group->is_view = n->op->fuse == FUSE_VIEW &&
				 !n->outputs[0]->is_output &&
				 n->inputs[0]->producer;
		n->group = group->id;
		vec_push(a, &group->nodes, n);
		vec_push(a, &g->groups, group);
	}
	return true;
}
