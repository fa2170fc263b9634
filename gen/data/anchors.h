/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: places in a text, recorded when the text is written, where a value
 * follows later (the digest of weights that are not written yet) or whose line
 * is asked for afterwards (a kernel's function). The text itself holds no marks:
 * no word of a model can be taken for one. */
#ifndef TIRC_ANCHORS_H
#define TIRC_ANCHORS_H

#include "arena.h"

struct anchor {
	int kind, index; /* the owner's */
	size_t at;       /* offset in the text */
};

/* In the order of the text. */
struct anchors {
	struct arena *arena;
	VEC(struct anchor) list;
};

void anchors_add(struct anchors *l, int kind, int index, size_t at);

/* A pass over a text, which copies its parts in their order to another text and
 * moves the anchors. */
struct anchor_pass {
	struct anchors *anchors; /* NULL: none */
	int next;                /* the first that was not moved */
};

/* n bytes at `from` were copied, unchanged, to `to`. Anchors in text before that
 * was left out are moved to `to`. */
void anchors_copied(struct anchor_pass *p, size_t from, size_t n, size_t to);
/* n bytes at `from` were printed anew, from `to` on: anchors in them are moved to
 * the start. */
void anchors_printed(struct anchor_pass *p, size_t from, size_t n, size_t to);

#endif
