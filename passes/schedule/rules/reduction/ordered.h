/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered blocks: running sums, and updates at indices from data. */
#ifndef TIRC_ORDERED_H
#define TIRC_ORDERED_H

#include "sched_rules.h"

/* The only ordered block; 0: there is none, or there are several. */
int ordered_block(struct rules *r);
/* Inlines the elementwise consumers of the block into it. */
void ordered_inline_consumers(struct rules *r, int block);
/* The blocks that initialise the buffers that the block updates, in program
 * order; returns their number. */
int ordered_inits(struct rules *r, int block, int **inits);
/* Moves the block that initialises a state as far inside of the loops as legal,
 * with the state in local memory. Leaves a block that initialises a
 * parameter. */
void ordered_place_init(struct rules *r, int init, const int *loops, int n);

#endif
