/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing on the nodes' hashes; never iterated. */
#include "memo.h"

#include <stdlib.h>

/* Removes all entries and keeps the memory. */
static void
memo_clear(struct memo *t)
{
	t->n = 0;
	memset(t->slot, 0, sizeof *t->slot * t->cap);
}

void
memo_init(struct memo *t)
{
	t->slot = t->inside;
	t->cap = MEMO_INLINE;
	memo_clear(t);
}

void
memo_release(struct memo *t)
{
	if (t->slot != t->inside) {
		free(t->slot);
	}
	memo_init(t);
}

static struct memo_entry *
find(struct memo_entry *slot, uint32_t cap, const struct expr *key)
{
	uint32_t at = key->hash & (cap - 1);

	while (slot[at].key && slot[at].key != key) {
		at = (at + 1) & (cap - 1);
	}
	return &slot[at];
}

struct memo_entry *
memo_get(const struct memo *t, const struct expr *key)
{
	struct memo_entry *e = find(t->slot, t->cap, key);

	return e->key ? e : NULL;
}

static void
grow(struct memo *t)
{
	uint32_t cap = t->cap * 2;
	struct memo_entry *slot = calloc(cap, sizeof *slot);

	if (!slot) {
		memory_exhausted();
	}
	for (uint32_t i = 0; i < t->cap; i++) {
		if (t->slot[i].key) {
			*find(slot, cap, t->slot[i].key) = t->slot[i];
		}
	}
	if (t->slot != t->inside) {
		free(t->slot);
	}
	t->slot = slot;
	t->cap = cap;
}

void
memo_put(struct memo *t, const struct expr *key, const void *value)
{
	struct memo_entry *e;

	if ((t->n + 1) * 4 > t->cap * 3) {
		grow(t);
	}
	e = find(t->slot, t->cap, key);
	if (!e->key) {
		e->key = key;
		t->n++;
	}
	e->value = value;
}
