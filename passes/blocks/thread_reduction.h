/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-thread reductions. */
#ifndef TIRC_THREAD_REDUCTION_H
#define TIRC_THREAD_REDUCTION_H

#include "func.h"

/* Can the threads of a block reduce in parts that start from the init value and
 * are combined in any order, as sums, products, minima and maxima can? Returns
 * NULL if they can, else the reason why they cannot. *own: which operand of the
 * update is the accumulator. */
const char *cross_thread_refusal(const struct stmt *block, int *own);

#endif
