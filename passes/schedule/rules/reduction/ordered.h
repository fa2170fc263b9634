/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered blocks: running sums, and updates at indices from data. */
#ifndef TIRC_ORDERED_H
#define TIRC_ORDERED_H

#include "sched_rules.h"

/* The only ordered block of the kernel; 0: no block is ordered, or several
 * are. */
int ordered_block(struct rules *r);
/* Inlines the elementwise consumers of the block into it. */
void ordered_inline_consumers(struct rules *r, int block);
/* Sets *inits to the blocks that initialise the buffers that the block updates,
 * in program order; returns their number. */
int ordered_inits(struct rules *r, int block, int **inits);
/* Moves the block `init`, which initialises a state, as far inside of the loops
 * as is legal, with the state in local memory. A block that initialises a
 * parameter stays. */
void ordered_place_init(struct rules *r, int init, const int *loops, int n);

#endif
