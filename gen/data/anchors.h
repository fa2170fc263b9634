/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: places in a text that are recorded when the text is written. A value
 * is inserted there later (the digest of weights that are not written yet), or
 * its line is needed (a kernel's function). The text itself contains no marks,
 * so no word of a model can be mistaken for one. */
#ifndef TIRC_ANCHORS_H
#define TIRC_ANCHORS_H

#include "arena.h"

struct anchor {
	int kind, index; /* what is at the place, as the caller numbers it
			  * (enum package_anchor) */
	size_t at;       /* the place: bytes from the start of the text */
};

/* Sorted by offset. */
struct anchors {
	struct arena *arena;
	VEC(struct anchor) list;
};

void anchors_add(struct anchors *l, int kind, int index, size_t at);

/* The state while a text is copied to another one, part by part in order: its
 * anchors, which are offsets in the first text, become offsets in the
 * second. */
struct anchor_pass {
	struct anchors *anchors; /* NULL: the text has no anchors */
	int next;                /* index of the next anchor to move */
};

/* Says that n bytes at offset `from` were copied, unchanged, to offset `to`.
 * Anchors before `from`, in text that was not copied, are moved to `to`. */
void anchors_copied(struct anchor_pass *p, size_t from, size_t n, size_t to);
/* Says that n bytes at offset `from` were printed in another form at offset
 * `to`: the anchors in them are moved to `to`. */
void anchors_printed(struct anchor_pass *p, size_t from, size_t n, size_t to);

#endif
