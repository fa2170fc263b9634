/* SPDX-License-Identifier: Apache-2.0 */
/* A product while rule_shared_memory_tile makes tiles of it: what gemm_axes.c has
 * found of its axes, and how large the tiles are. */
#ifndef TIRC_SCHED_STAGED_H
#define TIRC_SCHED_STAGED_H

#include "sched_rules.h"

enum part { PART_BATCH, PART_SUM, PART_ROW, PART_COLUMN, PARTS };

/* Results of a thread along an axis are this many next to each other: a vector
 * of shared memory. */
enum { RUN = 4 };

struct gemm_tile {
	struct block_access x;
	enum part *part;      /* of each iter var */
	int64_t *granularity; /* > 0: v // c is PART_BATCH, v % c the part */
	int64_t extent[PARTS];
	const struct buffer *operand[2]; /* of rows, of columns */
	int64_t side[PARTS];             /* of the block's tile */
	int64_t runs[PARTS]; /* of RUN (or per) results that a thread has */
	int64_t per[PARTS];
	int64_t threads[PARTS];
	/* The order that the parts are to have, the batch first; whether tiles of
	 * rows, of columns, have what is summed last. */
	enum part order[PARTS];
	bool sum_last[2];
};

/* What a product has become: what copies rows and columns, and what takes the
 * sums. */
struct gemm_blocks {
	int copies[2], store;
};

/* Which part each axis of t->x is. False: it is no product of two operands. */
bool gemm_find_axes(struct rules *r, struct gemm_tile *t);
/* The sizes of the tiles. False: there is too little to do. */
bool gemm_choose_tiles(struct rules *r, struct gemm_tile *t);

/* For the schedule's words, with ", " behind: a product whose sum runs over several
 * axes is one of matrices that are nowhere in memory, "implicit GEMM, M = oc = 64,
 * N = oh * ow = 3025, K = ic * kh * kw = 144". "" of another. */
const char *gemm_describe(struct rules *r, const struct gemm_tile *t);

/* implicit_gemm.c: the parts as axes of the block, in t->order, all
 * extents multiples of t->side, with a block that copies each operand and one
 * that does what is done to sums. What t->x knows is stale then. False, and
 * things left half done, if it cannot be. */
bool gemm_copy_operands(struct rules *r, struct gemm_tile *t, int block,
			struct gemm_blocks *out);
/* The place in t->order of the first part that has an axis: there is none for
 * a single batch. */
int gemm_first_part(const struct gemm_tile *t);
/* Does what the block copies lie next to each other along its last axis but
 * one? */
bool gemm_copy_is_transposed(struct rules *r, int copy);
/* Is what the block copies indexed last by its last axis, and by that alone? */
bool gemm_copy_is_contiguous(struct rules *r, int copy);
/* A primitive of a block and one more argument. *out, which may be NULL: the
 * block or loop it gives. */
bool gemm_apply(struct rules *r, const char *primitive, int block,
		struct sched_value second, int *out);

#endif
