/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix product for tensor cores: its instruction, and the fragments of
 * warps and thread blocks. */
#ifndef TIRC_WARP_TILES_H
#define TIRC_WARP_TILES_H

#include "gemm_tile.h"
#include "product_choice.h"
#include "tensor_match.h"

/* Padding bytes between rows, so that adjacent rows start in different banks:
 * the least that keeps the rows aligned for the widest access of a thread. */
enum { SKEW_BYTES = 16 };

struct warp_tiles {
	struct gemm_tile t;
	struct product_desc p;
	/* by operand: the alignment in bytes of its tiles in shared memory */
	int64_t align[2];
	/* one thread of the block starts bulk copies of boxes (TMA) */
	bool boxes;
	/* by part: the extent of the instruction's fragments along it */
	int64_t size[PARTS];
	/* by operand: rows are stored in parts of this many elements: part 0 of
	 * all rows, then part 1 of all rows, and so on; 0: each row is stored
	 * in one piece */
	int64_t part[2];
	/* the number of threads that execute the instruction together: those of
	 * a warp, or of a group of warps */
	int64_t threads;
	/* the number of warps in a thread block, along the rows and along the
	 * columns */
	int64_t warps[PARTS];
	/* the number of fragments that a warp computes along each part; along
	 * the sum, the number in a copied tile */
	int64_t frags[PARTS];
	/* the number of fragments of sums that are stored at a time */
	int64_t together;
	/* the number of tiles of each operand that are in shared memory at a
	 * time */
	int64_t stages;
	/* by operand: the number of elements that a thread copies at once */
	int64_t lanes[2];
	bool skewed_sums; /* rows of sums are padded to start in different
			   * banks */
	bool async;       /* copies are asynchronous */
};

/* Reads the sizes from the description of x->p. False: the target lacks
 * something that the instruction needs. */
bool warp_tiles_read(struct rules *r, struct warp_tiles *x);
/* Chooses the sizes of tiles. False: the product is too small, or the tiles do
 * not fit shared memory. */
bool warp_tiles_choose(struct rules *r, struct warp_tiles *x);
/* Sets tile[0] and tile[1] to the extents of an operand's tile, rows first. of:
 * the extents of the parts (enum part): t.side for the tile of a thread block,
 * size for a fragment. */
void warp_tiles_operand(const struct warp_tiles *x, int operand,
			const int64_t *of, int64_t *tile);
/* Is the instruction executed by a group of warps, with operands in shared
 * memory? */
bool warp_tiles_in_groups(const struct warp_tiles *x);
/* The number of padding bytes after each row of an operand's tile, or after
 * each part of the rows. */
int64_t warp_tiles_skew_bytes(const struct warp_tiles *x, int operand);

#endif
