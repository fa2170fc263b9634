/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix product of two operands as the rules for shared-memory tiles and
 * tensor cores see it: which axes are batch, rows, columns and sum, and how
 * large the tiles are. */
#ifndef TIRC_GEMM_TILE_H
#define TIRC_GEMM_TILE_H

#include "access_pattern.h"

enum part { PART_BATCH, PART_SUM, PART_ROW, PART_COLUMN, PARTS };

/* A thread computes runs of this many consecutive results along an axis, so
 * that it reads its operands from shared memory as vectors. */
enum { RUN = 4 };

struct gemm_tile {
	struct block_access x;
	/* by iter var: the part of the product (rows, columns, sum, batch) to
	 * which it belongs */
	enum part *part;
	/* by iter var v, c = granularity[v]: if c > 0, v // c belongs to
	 * PART_BATCH and v % c to part[v] */
	int64_t *granularity;
	int64_t extent[PARTS];
	/* [0]: the operand that has the rows; [1]: the operand that has the
	 * columns */
	const struct buffer *operand[2];
	/* by part: the extent of a thread block's tile along the part */
	int64_t side[PARTS];
	/* by part: the number of runs of consecutive results that a thread
	 * computes */
	int64_t runs[PARTS];
	/* by part: the number of adjacent results that a thread computes in a
	 * run, at most RUN */
	int64_t run[PARTS];
	int64_t threads[PARTS];
	/* order: the order of the parts in the operands' tiles, the batch
	 * first. sum_last: is the summed axis last in the tile of the rows
	 * ([0]), and in that of the columns ([1])? */
	enum part order[PARTS];
	bool sum_last[2];
};

/* The blocks of a product: the two that copy the rows and the columns, and the
 * one that stores the sums. */
struct gemm_blocks {
	int copies[2], store;
};

/* Sets the part of each axis of the block t->x. False if the block is not a
 * product of two operands. */
bool gemm_find_axes(struct rules *r, struct gemm_tile *t);
/* Chooses the sizes of the tiles. False: the product is too small. */
bool gemm_choose_tiles(struct rules *r, struct gemm_tile *t);
/* The axes of the grid along which the tiles of rows ([0]) and of columns ([1])
 * lie: rows along the second axis, or along the first one if the device takes
 * fewer blocks along the second than there are tiles of rows. */
const char *const *gemm_grid_axes(const struct rules *r,
				  const struct gemm_tile *t);

/* Describes the product for the kernel's comment, with ", " at the end:
 * "implicit GEMM, M = oc = 64, N = oh * ow = 3025, K = ic * kh * kw = 144". ""
 * if its sum runs over one axis: a plain matrix product. */
const char *gemm_describe(struct rules *r, const struct gemm_tile *t);

/* implicit_gemm.c: makes the parts the axes of the block, in t->order, pads
 * their extents to multiples of t->side, and makes a block that copies each
 * operand and a block that applies the epilogue to the sums. t->x is stale
 * afterwards. False after a failure; then the caller must roll the schedule
 * back. */
bool gemm_copy_operands(struct rules *r, struct gemm_tile *t, int block,
			struct gemm_blocks *out);
/* The index in t->order of the first part that is an axis of the block: 0 if
 * there is a batch, else 1. */
int gemm_first_part(const struct gemm_tile *t);
/* Is the last index of the load in the block `copy` driven by the block's last
 * axis but one, so that the copy transposes? */
bool gemm_copy_is_transposed(struct rules *r, int copy);
/* Is the last index of the load in the block `copy` driven by the block's last
 * axis alone? */
bool gemm_copy_is_contiguous(struct rules *r, int copy);
#endif
