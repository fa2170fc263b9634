/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of lower.def. */
#ifndef TIRC_LOWER_PASSES_H
#define TIRC_LOWER_PASSES_H

#include "func.h"

#define LOWER(phase, name, function, needed, what)                             \
	bool function(struct func *f);
#include "lower.def"
#undef LOWER

/* Moves a block's init into a nest of its own before outer, a loop around the
 * block outside of which no loop drives a reduction iter var. Returns the
 * nest; NULL, with nothing changed, if the predicate does not allow it. */
struct stmt *place_init(struct func *f, struct stmt *block, struct stmt *outer);
/* Does the loop's variable occur in the bindings of the block's reduction
 * (or else its spatial) iter vars? */
bool loop_drives(const struct stmt *loop, const struct stmt *block,
		 bool reduce);

/* Can threads reduce the block together, each a part, from its start, which are
 * combined in any order? NULL, or why not; *own: which operand of the update is
 * what there was. So it is with sums, products, minima and maxima. */
const char *cross_thread_refusal(const struct stmt *block, int *own);

struct access_list;

/* common, or the outermost loop around it (below top) that carries the
 * values of the buffer from one iteration to the next. */
struct stmt *lower_carried_scope(struct func *f, struct stmt *top,
				 struct stmt *common,
				 const struct access_list *uses);

#endif
