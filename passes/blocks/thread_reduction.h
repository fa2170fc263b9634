/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions that the threads of a block share. */
#ifndef TIRC_THREAD_REDUCTION_H
#define TIRC_THREAD_REDUCTION_H

#include "func.h"

/* Can threads reduce the block together, each a part, from its start, which are
 * combined in any order? NULL, or why not; *own: which operand of the update is
 * what there was. So it is with sums, products, minima and maxima. */
const char *cross_thread_refusal(const struct stmt *block, int *own);

#endif
