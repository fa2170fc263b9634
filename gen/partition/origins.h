/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model's nodes by the names of their first outputs. */
#ifndef TIRC_ORIGINS_H
#define TIRC_ORIGINS_H

#include "graph.h"

struct origin_name {
	/* name of the node's first output; "" if the node has no outputs */
	const char *name;
	int at; /* index in g->origins */
};

/* The origins of the graph (nodes of the model) with their names, sorted by
 * name, then by index in g->origins. The array has g->origins.n elements, in
 * the arena. */
struct origin_name *origins_by_name(struct graph *g);
/* The index of the first of the n entries whose name is `name`; n if no entry
 * has this name. */
int origins_find(const struct origin_name *list, int n, const char *name);

#endif
