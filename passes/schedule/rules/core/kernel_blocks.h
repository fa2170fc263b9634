/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a kernel, by kind, which rules look at first. */
#ifndef TIRC_KERNEL_BLOCKS_H
#define TIRC_KERNEL_BLOCKS_H

#include "sched_rules.h"

/* The blocks that no rule has taken yet. */
struct kernel_blocks {
	const int *list; /* producers first */
	int n;
	int reduction; /* the last block that is a reduction; 0: no block is */
	/* the last block that writes a parameter; 0: no block does */
	int output;
	int n_reductions, n_outputs;
	/* the block that makes a copy with a border, if only one reduction
	 * reads the copy; 0: there is no such block, or there are several */
	int padded_copy;
	/* the block that a rule over single blocks may take; 0 for other
	 * rules */
	int block;
};

/* Lists the blocks outside of loops that are bound to threads. In the trace,
 * queries by name return their handles. */
struct kernel_blocks rules_blocks(struct rules *r);

bool block_reduces(const struct stmt *block);
/* The index of the block's iter var that e is; -1 if e is no iter var of the
 * block. */
int block_iter_of(const struct block *b, const struct expr *e);
/* The axis whose value selects one of several sums, as in a product with a
 * small constant matrix; -1 if no axis does. */
int block_select_axis(const struct stmt *block);
/* Does the block write a parameter of the function? */
bool rules_is_output(const struct rules *r, const struct stmt *block);
/* Is the block a copy padded with a constant, read by one reduction alone? */
bool rules_is_padded_copy(struct rules *r, int id, const struct stmt *block);

/* The cheap injective blocks that are kept, not inlined: none; padded copies
 * that a sliding window reads; operands of reductions. */
enum inline_kept { KEEP_NOTHING, KEEP_ROWS, KEEP_OPERANDS };
void rules_inline(struct rules *r, enum inline_kept kept);

/* Does the order of the summation affect the result visibly? It does if
 * integers are summed as floats and the function rounds to integers: sums are
 * then often halves between two integers, and the order of summation decides
 * how they are rounded. */
bool rules_order_is_visible(const struct func *f, const struct expr *sum);

#endif
