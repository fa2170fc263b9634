/* SPDX-License-Identifier: Apache-2.0 */
/* A map from texts to numbers, such as indices in a list. It cannot be
 * iterated: results follow the order of a list beside it. */
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
/* The number of the text; `otherwise` if it has none. */
int text_map_get(const struct text_map *m, const char *text, int otherwise);
/* The number of the text that the first `length` bytes are; `otherwise` if it
 * has none. */
int text_map_get_bytes(const struct text_map *m, const char *text,
		       size_t length, int otherwise);
/* Gives the text, which the caller keeps, the number. False: it has one, which
 * it keeps. */
bool text_map_add(struct text_map *m, const char *text, int value);

#endif
