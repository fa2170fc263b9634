/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks around blocks: shared by blockize and tensorize. */
#ifndef TIRC_BLOCKIZE_H
#define TIRC_BLOCKIZE_H

#include "edit.h"

/* The only block below the loop, all between being loops. */
struct stmt *blockize_loop(struct edit *e, struct stmt *loop,
			   bool preserve_unit_iters);
/* The init of a block at or below top as a nest over the loops inside top that
 * its spatial iter vars need, with a block of its own; the block loses it.
 * NULL after reporting. */
struct stmt *detach_init(struct edit *e, struct stmt *top, struct stmt *block);

#endif
