/* SPDX-License-Identifier: Apache-2.0 */
/* A map from expressions to results: with it, a walk visits each shared node
 * once. Up to MEMO_INLINE entries are in the struct itself, usually on the
 * caller's stack. */
#ifndef TIRC_MEMO_H
#define TIRC_MEMO_H

#include "expr.h"

enum { MEMO_INLINE = 32 };

struct memo_entry {
	const struct expr *key;
	const void *value;
};

struct memo {
	struct memo_entry *slot;
	uint32_t n, cap;
	uint32_t used; /* bit i: entry inside[i] is in use */
	struct memo_entry inside[MEMO_INLINE];
};

void memo_init(struct memo *t);
void memo_release(struct memo *t);
/* The entry of key, or NULL if the map has no entry for key; the pointer is
 * valid until the next memo_put. */
struct memo_entry *memo_get(const struct memo *t, const struct expr *key);
void memo_put(struct memo *t, const struct expr *key, const void *value);
/* Adds key. Returns true if the map did not have key before. */
bool memo_add(struct memo *t, const struct expr *key);

#endif
