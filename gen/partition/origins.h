/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model's nodes by the names of their first outputs. */
#ifndef TIRC_ORIGINS_H
#define TIRC_ORIGINS_H

#include "graph.h"

struct origin_name {
	const char *name; /* "" if it has none */
	int at;           /* index in g->origins */
};

/* The origins sorted by name, then by index: an array of g->origins.n, in the
 * arena. */
struct origin_name *origins_by_name(struct graph *g);
/* The index of the first of the n entries with this name, or n. */
int origins_find(const struct origin_name *list, int n, const char *name);

#endif
