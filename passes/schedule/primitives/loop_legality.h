/* SPDX-License-Identifier: Apache-2.0 */
/* What reorder and the kinds of loops ask of the blocks below, told by the
 * iteration maps of their bindings. Each reports and returns false. */
#ifndef TIRC_LEGAL_H
#define TIRC_LEGAL_H

#include "edit.h"

/* Do the loops from top (included) to the block give each combination of its
 * iter vars once at most? */
bool bindings_injective(struct func *f, const struct stmt *top,
			const struct stmt *block);
/* The loops of the nest top may run in any order: no iter var is ordered, no
 * reduction is started in between or over again, and what one block below
 * makes for another is used in the same iteration. inner: the last loop of
 * the nest. order: what they become, n loops, outermost first: loops of
 * ordered iter vars stay in order among themselves, and others may pass them
 * where their iterations touch other elements. */
bool loops_permutable(struct edit *e, struct stmt *top, struct stmt *inner,
		      struct stmt *const *order, int n);
/* Does the block have iter vars that run in order? */
bool block_is_ordered(const struct stmt *block);
/* Do the block's accesses to b all have the iter vars that the loop drives as
 * an index of their own, so that its iterations touch other elements? */
bool touches_own(struct edit *e, const struct stmt *block,
		 const struct stmt *loop, const struct buffer *b);
/* The iterations of the loop may run at the same time: none reduces, and no
 * two write the same element, unless of a buffer that is used inside the loop
 * only and so can be each iteration's own. */
bool iterations_apart(struct edit *e, struct stmt *loop);
/* The first half of it: no iteration reduces or scans into another. together:
 * they may reduce from an init part on, as the threads of a block can. */
bool no_reduction(struct edit *e, struct stmt *loop, bool together);

#endif
