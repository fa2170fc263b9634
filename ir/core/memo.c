/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing, by the nodes' hashes; never iterated. Most
 * walks are short, so the entries inside the struct are not cleared: `used` has
 * a bit for each entry in use. */
#include "memo.h"

#include <stdlib.h>

_Static_assert(MEMO_INLINE <= 32, "a bit for each entry");

void
memo_init(struct memo *t)
{
	t->slot = t->inside;
	t->cap = MEMO_INLINE;
	t->n = t->used = 0;
}

void
memo_release(struct memo *t)
{
	if (t->slot != t->inside) {
		free(t->slot);
	}
	memo_init(t);
}

static bool
is_free(const struct memo *t, uint32_t at)
{
	return t->slot == t->inside ? (t->used >> at & 1) == 0
				    : !t->slot[at].key;
}

/* The index of key's entry, or of the free entry where key would be
 * inserted. */
static uint32_t
find(const struct memo *t, const struct expr *key)
{
	uint32_t at = key->hash & (t->cap - 1);

	while (!is_free(t, at) && t->slot[at].key != key) {
		at = (at + 1) & (t->cap - 1);
	}
	return at;
}

struct memo_entry *
memo_get(const struct memo *t, const struct expr *key)
{
	uint32_t at = find(t, key);

	return is_free(t, at) ? NULL : &t->slot[at];
}

static void
grow(struct memo *t)
{
	struct memo old = *t;
	struct memo_entry *from = old.slot == t->inside ? t->inside : old.slot;

	t->cap = old.cap * 2;
	t->slot = calloc(t->cap, sizeof *t->slot);
	if (!t->slot) {
		memory_exhausted();
	}
	for (uint32_t i = 0; i < old.cap; i++) {
		if (from != t->inside ? from[i].key != NULL
				      : (old.used >> i & 1) != 0) {
			t->slot[find(t, from[i].key)] = from[i];
		}
	}
	if (from != t->inside) {
		free(from);
	}
}

void
memo_put(struct memo *t, const struct expr *key, const void *value)
{
	uint32_t at;

	if ((t->n + 1) * 4 > t->cap * 3) {
		grow(t);
	}
	at = find(t, key);
	if (is_free(t, at)) {
		t->slot[at].key = key;
		t->n++;
		if (t->slot == t->inside) {
			t->used |= 1u << at;
		}
	}
	t->slot[at].value = value;
}

bool
memo_add(struct memo *t, const struct expr *key)
{
	uint32_t before = t->n;

	memo_put(t, key, key);
	return t->n > before;
}
