/* SPDX-License-Identifier: Apache-2.0 */
/* The names of one graph or function body. */
#include "importer.h"
#include "secret_hash.h"

static uint32_t
hash_name(const char *name)
{
	return secret_hash(name, strlen(name));
}

void
scope_init(struct scope *s, struct arena *a)
{
	*s = (struct scope){ .arena = a };
}

struct scope_slot *
scope_find(const struct scope *s, const char *name)
{
	if (s->cap == 0) {
		return NULL;
	}
	for (uint32_t i = hash_name(name);; i++) {
		struct scope_slot *slot = &s->slot[i & (s->cap - 1)];

		if (!slot->name) {
			return NULL;
		}
		if (strcmp(slot->name, name) == 0) {
			return slot;
		}
	}
}

struct scope_slot *
scope_add(struct scope *s, const char *name, struct tensor *t)
{
	if (2 * (s->n + 1) > s->cap) {
		struct scope old = *s;

		s->cap = s->cap ? s->cap * 2 : 32;
		s->n = 0;
		s->slot = arena_array(s->arena, struct scope_slot, s->cap);
		for (uint32_t i = 0; i < old.cap; i++) {
			if (old.slot[i].name) {
				*scope_add(s, old.slot[i].name,
					   NULL) = old.slot[i];
			}
		}
	}
	uint32_t i = hash_name(name) & (s->cap - 1);

	while (s->slot[i].name) {
		i = (i + 1) & (s->cap - 1);
	}
	s->slot[i] = (struct scope_slot){ .name = name, .tensor = t };
	s->n++;
	return &s->slot[i];
}
