/* SPDX-License-Identifier: Apache-2.0 */
/* A map from texts to numbers, such as indices in a list. The map cannot be
 * iterated: where order matters, the texts are in a list, too. */
#ifndef TIRC_TEXT_MAP_H
#define TIRC_TEXT_MAP_H

#include "arena.h"

struct text_entry {
	const char *key; /* NULL: free */
	size_t length;
	uint32_t hash;
	int value;
};

struct text_map {
	struct arena *arena;
	struct text_entry *slot;
	uint32_t n, cap; /* cap: 0, or a power of two */
};

void text_map_init(struct text_map *m, struct arena *a);
/* The number that is stored for the text; `otherwise` if the map does not have
 * the text. */
int text_map_get(const struct text_map *m, const char *text, int otherwise);
/* Does the same as text_map_get for a text of `length` bytes, which need not
 * end in 0. */
int text_map_get_bytes(const struct text_map *m, const char *text,
		       size_t length, int otherwise);
/* Stores `value` for the text, which is not copied. Returns false, with the map
 * unchanged, if the map has a value for the text already. */
bool text_map_add(struct text_map *m, const char *text, int value);

#endif
