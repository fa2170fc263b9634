/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-thread reductions. */
#ifndef TIRC_THREAD_REDUCTION_H
#define TIRC_THREAD_REDUCTION_H

#include "reduction_match.h"

/* Can the threads of a block reduce in parts that start from the init value and
 * are combined in any order, as sums, products, minima and maxima can? Returns
 * NULL if they can, else the reason why they cannot. *own: which operand of the
 * update is the accumulator. */
const char *cross_thread_refusal(const struct stmt *block, int *own);

/* How the threads of a block reduce one or several values together. */
struct thread_reduction {
	/* what each thread does with its part, in the order of the source */
	struct block_reduction own;
	/* how the values of two threads are combined, in any order: a reducer of the
	 * same operands */
	const struct reducer *together;
	/* The result depends on the order of the elements: the first of equal ones.
	 * Both reducers then have, as their last value, the place of the element that
	 * was taken, an integer of the type `place`. own.buffers, own.sources and the
	 * index do not have it. */
	bool ordered;
};

/* Reads the reduction of the block; places are integers of the type `place`. Returns
 * NULL, or the reason why threads cannot reduce so. */
const char *thread_reduction_read(struct func *f, const struct stmt *block,
				  struct dtype place,
				  struct thread_reduction *out);

#endif
