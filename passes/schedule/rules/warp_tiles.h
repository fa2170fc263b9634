/* SPDX-License-Identifier: Apache-2.0 */
/* A product while rule_tensor_core makes tiles of it: its instruction, and the
 * fragments of warps and blocks. */
#ifndef TIRC_WARP_TILES_H
#define TIRC_WARP_TILES_H

#include "gemm_tile.h"
#include "product_choice.h"
#include "tensor_match.h"

/* Bytes from row to row beyond those of a row: neighbouring rows begin in other
 * banks. */
enum { SKEW_BYTES = 16 };

struct warp_tiles {
	struct gemm_tile t;
	struct product_desc p;
	int64_t align[2];     /* bytes that each operand's tiles in shared
			       * memory start at multiples of */
	bool boxes;           /* one thread starts copies of boxes */
	int64_t size[PARTS];  /* of the instruction */
	int64_t part[2];      /* elements of a row of each operand that stand
				 * together, apart from the next; 0: all of it */
	int64_t threads;      /* of a warp, or of a group that is like one */
	int64_t warps[PARTS]; /* of a block, along rows and columns */
	int64_t frags[PARTS]; /* of a warp; along the sum, of a copy */
	int64_t together;     /* fragments that are stored at a time */
	int64_t stages;   /* tiles of each operand that there are at a time */
	int64_t lanes[2]; /* elements of each that a thread copies at once */
	bool skewed_sums; /* rows of sums begin in different banks */
	bool async;       /* copies may arrive later */
};

/* Reads the sizes off the description of x->p. False: the target does not have
 * all that the instruction needs. */
bool warp_tiles_read(struct rules *r, struct warp_tiles *x);
/* The sizes of tiles. False: there is too little to do, or no room. */
bool warp_tiles_choose(struct rules *r, struct warp_tiles *x);
/* What of the operand one block of threads copies at a time, or one fragment
 * holds; rows first. of: sizes of the parts. */
void warp_tiles_operand(const struct warp_tiles *x, int operand,
			const int64_t *of, int64_t *tile);
/* Do warp groups multiply, which read their operands from shared memory? */
bool warp_tiles_in_groups(const struct warp_tiles *x);
/* How much further than it has to the next row begins, or the next part where
 * rows are in parts. */
int64_t warp_tiles_skew_bytes(const struct warp_tiles *x, int operand);

#endif
