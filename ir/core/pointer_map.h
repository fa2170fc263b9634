/* SPDX-License-Identifier: Apache-2.0 */
/* A map from addresses to numbers, such as the index of an object in a list, or
 * a mark that the object has been seen. It cannot be iterated, so that no
 * result depends on the order of addresses. */
#ifndef TIRC_POINTER_MAP_H
#define TIRC_POINTER_MAP_H

#include "arena.h"

struct pointer_entry {
	const void *key; /* NULL if the entry is free */
	int value;
};

struct pointer_map {
	struct arena *arena;
	struct pointer_entry *slot;
	uint32_t n, cap; /* cap: 0, or a power of two */
};

void pointer_map_init(struct pointer_map *m, struct arena *a);
/* The number stored for key; `otherwise` if key is not in the map. key must not
 * be NULL. */
int pointer_map_get(const struct pointer_map *m, const void *key,
		    int otherwise);
/* Stores the number `value` for key, in place of any number that was stored
 * before. */
void pointer_map_put(struct pointer_map *m, const void *key, int value);
/* The address of the number that is stored for key; the number is 0 if none was
 * stored. The address is valid until the next change of the map. */
int *pointer_map_value(struct pointer_map *m, const void *key);
/* Adds key. Returns true if the map did not have key before. */
bool pointer_map_add(struct pointer_map *m, const void *key);

#endif
