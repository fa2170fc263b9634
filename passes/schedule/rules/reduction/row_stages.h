/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of a row: their common axes, and sums by lanes. */
#ifndef TIRC_ROW_STAGES_H
#define TIRC_ROW_STAGES_H

#include "kernel_blocks.h"

/* rowwise.c: sets common[i] to the number of leading output axes that block i
 * has in common with all of its readers: the block can be computed inside of
 * the loops over these axes. Producers come before their consumers in
 * `blocks`. */
void rules_common_axes(struct rules *r, const int *blocks, int n, int output,
		       int *common);

/* lane_reduction.c: does the target have vector types, or vectors of more than
 * 16 bytes for which compilers vectorize loops? */
bool rules_have_lanes(const struct target *t);
/* Gives reductions along contiguous rows one partial result for each lane of a
 * vector, if rules_have_lanes: splits the reductions into partial results and
 * their reduction (rfactor), stores the new blocks, at most LANE_BLOCKS for
 * each of the n blocks, in `made`, and returns the number of new blocks. For
 * this it may fuse the innermost two axes of all blocks. */
enum { LANE_BLOCKS = 16 };
int rules_reduce_by_lanes(struct rules *r, const int *blocks, int n, int *made);
/* Is the block a reduction of columns: is its last spatial axis contiguous in
 * the result and in all operands, and long enough for the lanes of a vector,
 * while the reduced axis is not contiguous? */
bool rules_reduces_columns(struct rules *r, int block);
/* Moves the loop over the last spatial axis of a block, the lanes, innermost,
 * and vectorizes it. No later step may move the block. */
void rules_vectorize_lanes(struct rules *r, int block);
/* Is the block a product of a matrix that is no constant and a vector, with
 * sums along the rows of the matrix? Then the elements of the matrix are read
 * once, in order. */
bool rules_sums_rows(struct rules *r, int block);

/* few_results.c: is the block a product of data and a constant with so few
 * results that sums by the lanes of a vector, along the terms of each, are faster
 * than a register tile? */
bool rules_has_few_results(struct rules *r, int block);
/* Stores the terms of each result of such a product next to each other in the
 * constant. False after a failure. */
bool rules_pack_terms(struct rules *r, int block);

#endif
