/* SPDX-License-Identifier: Apache-2.0 */
/* Nested blocks, for blockize and tensorize. */
#ifndef TIRC_BLOCKIZE_H
#define TIRC_BLOCKIZE_H

#include "edit.h"

/* Wraps the loop, a perfect nest around one block, in a new block: each iter
 * var of that block is divided into a part bound to the loops outside of the
 * new block and a part bound to the loops inside of it. NULL after a
 * diagnostic. */
struct stmt *blockize_loop(struct edit *e, struct stmt *loop,
			   bool preserve_unit_iters);
/* Moves the init of a block at or below top to a new block, in a nest over the
 * loops of top that the spatial iter vars need. NULL after a diagnostic. */
struct stmt *detach_init(struct edit *e, struct stmt *top, struct stmt *block);

#endif
