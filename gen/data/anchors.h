/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: recorded positions in a text. At some of them a value is inserted
 * later (the digest of weights that are not written yet); of others the line
 * number is needed (a kernel's function). The text itself contains no marks, so
 * no word of a model can be mistaken for one. */
#ifndef TIRC_ANCHORS_H
#define TIRC_ANCHORS_H

#include "arena.h"

struct anchor {
	/* what the anchor stands for: a number from the caller (enum
	 * package_anchor), and an index */
	int kind, index;
	size_t at; /* the anchor's position: bytes from the start of the text */
};

/* Sorted by offset. */
struct anchors {
	struct arena *arena;
	VEC(struct anchor) list;
};

void anchors_add(struct anchors *l, int kind, int index, size_t at);

/* The state of copying a text in pieces, in order, to a second text: the
 * anchors, which are offsets in the first text, become offsets in the second
 * text. */
struct anchor_pass {
	struct anchors *anchors; /* NULL: the text has no anchors */
	/* index of the next anchor whose position changes */
	int next;
};

/* Says that n bytes at offset `from` were copied, unchanged, to offset `to`.
 * Anchors before `from`, in text that was not copied, are moved to `to`. */
void anchors_copied(struct anchor_pass *p, size_t from, size_t n, size_t to);
/* Says that n bytes at offset `from` of the first text were printed in a
 * changed form at offset `to` of the second text: anchors within these bytes
 * are moved to `to`. */
void anchors_printed(struct anchor_pass *p, size_t from, size_t n, size_t to);

#endif
