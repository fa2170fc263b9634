/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of which a later operator makes a small difference visible. */
#ifndef TIRC_VISIBLE_H
#define TIRC_VISIBLE_H

#include "graph.h"

/* One run of a pass: { .graph = g }. The first question looks through the whole
 * graph, whose nodes are in topological order, in linear time. */
struct visible {
	struct graph *graph;
	bool *tensors; /* by tensor->id */
	int n;
};

/* Can a difference in the last bits of t become a large one? The pass may have
 * changed the graph since the first question by rewrites that replace a tensor
 * by one with the same readers. */
bool visible_at(struct visible *v, const struct tensor *t);

#endif
