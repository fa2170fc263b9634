/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors have later operators that make a small difference visible? */
#ifndef TIRC_VISIBLE_H
#define TIRC_VISIBLE_H

#include "graph.h"

/* The state of visible_at in one run of a pass; initialize it as { .graph = g
 * }. The first question visits the whole graph, whose nodes must be in
 * topological order, in linear time. */
struct visible {
	struct graph *graph;
	bool *tensors; /* by tensor->id */
	int n;
};

/* Can a difference in the last bits of t become a large difference? Between two
 * calls with the same v, the pass may replace tensors by tensors with the same
 * readers, but must not change the graph in any other way. */
bool visible_at(struct visible *v, const struct tensor *t);

#endif
