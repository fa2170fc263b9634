/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model's nodes by the names of their first outputs. */
#ifndef TIRC_PARTITION_ORIGINS_H
#define TIRC_PARTITION_ORIGINS_H

#include "graph.h"

struct origin_name {
	const char *name; /* "": none */
	int at;           /* in g->origins */
};

/* Sorted by name, then place; arena array of g->origins.n. */
struct origin_name *origins_by_name(struct graph *g);
/* The index of the first entry with that name, or n. */
int origins_find(const struct origin_name *list, int n, const char *name);

#endif
