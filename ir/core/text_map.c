/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing on the texts' hashes. */
#include "text_map.h"

#include "secret_hash.h"

enum { LEAST_ROOM = 16 };

void
text_map_init(struct text_map *m, struct arena *a)
{
	*m = (struct text_map){ .arena = a };
}

/* The slot that holds the text, or the free slot in which the text would be
 * inserted. */
static struct text_entry *
find(const struct text_map *m, const char *text, size_t length, uint32_t hash)
{
	uint32_t at = hash & (m->cap - 1);

	for (;; at = (at + 1) & (m->cap - 1)) {
		struct text_entry *e = &m->slot[at];

		if (e->key == NULL || (e->hash == hash && e->length == length &&
				       memcmp(e->key, text, length) == 0)) {
			return e;
		}
	}
}

static void
grow(struct text_map *m)
{
	struct text_map old = *m;

	m->cap = old.cap > 0 ? old.cap * 2 : LEAST_ROOM;
	m->slot = arena_array(m->arena, struct text_entry, m->cap);
	for (uint32_t i = 0; i < old.cap; i++) {
		const struct text_entry *e = &old.slot[i];

		if (e->key != NULL) {
			*find(m, e->key, e->length, e->hash) = *e;
		}
	}
}

int
text_map_get_bytes(const struct text_map *m, const char *text, size_t length,
		   int otherwise)
{
	const struct text_entry *e;

	if (m->cap == 0) {
		return otherwise;
	}
	e = find(m, text, length, secret_hash(text, length));
	return e->key != NULL ? e->value : otherwise;
}

int
text_map_get(const struct text_map *m, const char *text, int otherwise)
{
	return text_map_get_bytes(m, text, strlen(text), otherwise);
}

bool
text_map_add(struct text_map *m, const char *text, int value)
{
	size_t length = strlen(text);
	uint32_t hash = secret_hash(text, length);
	struct text_entry *e;

	if ((m->n + 1) * 4 > m->cap * 3) {
		grow(m);
	}
	e = find(m, text, length, hash);
	if (e->key != NULL) {
		return false;
	}
	*e = (struct text_entry){ text, length, hash, value };
	m->n++;
	return true;
}
