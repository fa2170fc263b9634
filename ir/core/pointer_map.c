/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing; the hash is computed from the address. */
#include "pointer_map.h"

enum { LEAST_ROOM = 4 };

void
pointer_map_init(struct pointer_map *m, struct arena *a)
{
	*m = (struct pointer_map){ .arena = a };
}

/* Spreads addresses, which are multiples of 16 and close together, over the
 * table. */
static uint32_t
hash_of(const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key >> 4;

	h *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* The slot that holds key, or the free slot where key would be inserted. */
static struct pointer_entry *
find(const struct pointer_map *m, const void *key)
{
	uint32_t at = hash_of(key) & (m->cap - 1);

	while (m->slot[at].key != NULL && m->slot[at].key != key) {
		at = (at + 1) & (m->cap - 1);
	}
	return &m->slot[at];
}

static void
grow(struct pointer_map *m)
{
	struct pointer_map old = *m;

	m->cap = old.cap > 0 ? old.cap * 2 : LEAST_ROOM;
	m->slot = arena_array(m->arena, struct pointer_entry, m->cap);
	for (uint32_t i = 0; i < old.cap; i++) {
		if (old.slot[i].key != NULL) {
			*find(m, old.slot[i].key) = old.slot[i];
		}
	}
}

int
pointer_map_get(const struct pointer_map *m, const void *key, int otherwise)
{
	const struct pointer_entry *e = m->cap > 0 ? find(m, key) : NULL;

	return e != NULL && e->key != NULL ? e->value : otherwise;
}

int *
pointer_map_value(struct pointer_map *m, const void *key)
{
	struct pointer_entry *e;

	if ((m->n + 1) * 4 > m->cap * 3) {
		grow(m);
	}
	e = find(m, key);
	m->n += e->key == NULL;
	e->key = key;
	return &e->value;
}

void
pointer_map_put(struct pointer_map *m, const void *key, int value)
{
	*pointer_map_value(m, key) = value;
}

bool
pointer_map_add(struct pointer_map *m, const void *key)
{
	uint32_t before = m->n;

	pointer_map_put(m, key, 1);
	return m->n > before;
}
