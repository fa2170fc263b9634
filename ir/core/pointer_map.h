/* SPDX-License-Identifier: Apache-2.0 */
/* A map from addresses to numbers: an object's index in a list, or whether it
 * has been seen. It cannot be iterated: no result depends on addresses. */
#ifndef TIRC_POINTER_MAP_H
#define TIRC_POINTER_MAP_H

#include "arena.h"

struct pointer_entry {
	const void *key; /* NULL: free */
	int value;
};

struct pointer_map {
	struct arena *arena;
	struct pointer_entry *slot;
	uint32_t n, cap; /* cap: 0, or a power of two */
};

void pointer_map_init(struct pointer_map *m, struct arena *a);
/* The number of key, which is not NULL; `otherwise` if key has none. */
int pointer_map_get(const struct pointer_map *m, const void *key,
		    int otherwise);
/* Gives key the number, in place of the one it had. */
void pointer_map_put(struct pointer_map *m, const void *key, int value);
/* Adds key. True if it was not in the map. */
bool pointer_map_add(struct pointer_map *m, const void *key);

#endif
