/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of plan/: storages, live ranges, offsets. */
#ifndef TIRC_STORAGES_H
#define TIRC_STORAGES_H

#include "kernel.h"

/* A byte range of a storage and its live range: a part of a concatenation is
 * live from its own writing on, not from the first part's. */
struct piece {
	int64_t start, end; /* bytes from the storage's offset */
	int first, last;
};

/* One allocation: a tensor with all tensors that share its bytes (views,
 * in-place results, parts of a concatenation), or the scratch of a kernel. */
struct storage {
	enum place_kind kind;
	struct dtype type;   /* of its elements */
	struct tensor *root; /* the input or output; else the first */
	struct kernel *scratch_of;
	const struct buffer *scratch; /* its parameter */
	int64_t bytes, align_bytes;   /* at most; needed at least */
	int first, last;              /* kernels, in the present order */
	VEC(struct piece) touched;    /* every use, as a byte range */
	VEC(struct piece) pieces;     /* disjoint, in order of start */
	int64_t offset_bytes;
};

struct storages {
	struct arena *arena;
	VEC(struct storage) list;
	int n_tensors;
	int *of;         /* by tensor id: index into list, -1: none */
	int64_t *inside; /* by tensor id: offset within the storage */
	int64_t *bytes;  /* by tensor id: as kernels store it */
};

/* From the kernels' arguments, views and parts. False: a size without bound
 * (diagnosed). */
bool storages_find(struct program *p, struct storages *s);
/* Sets pieces from touched. */
void storage_find_pieces(struct arena *a, struct storage *s);
/* The largest sum of live bytes at one kernel (PLACE_WORKSPACE only), of all
 * types or of one: a lower bound of the workspace. */
int64_t storages_bound(const struct storages *s, int n_kernels,
		       const struct dtype *only);
/* Is it in the workspace, and of that type? */
bool storage_counts(const struct storage *s, const struct dtype *only);

/* Anything to place: alive from first to last, both included. */
struct block_life {
	int64_t bytes, align_bytes;
	int first, last;
	/* n_pieces 0: one piece with the whole live range */
	const struct piece *pieces;
	int n_pieces;
	int64_t offset_bytes; /* the result */
};

/* lives.c: queries for overlapping live ranges, which are within 0..times -
 * 1. */
struct lives {
	const struct block_life *blocks;
	int n, times;
	int *by_start; /* blocks sorted by start */
	int leaves;    /* of the tree: a power of two */
	int *latest;   /* by node of the tree: the last end below it */
	/* by time: bytes of the blocks that have started or ended */
	int64_t *started, *ended;
};

void lives_find(struct lives *l, struct arena *a,
		const struct block_life *blocks, int n);
/* Collects the blocks whose live ranges overlap the given one's, and that
 * block, in out, which has room for all; returns their number. */
int lives_overlapping(const struct lives *l, int block, int *out);
/* The total bytes of these blocks. */
int64_t lives_overlapping_bytes(const struct lives *l, int block);
/* The most live bytes at any time of the block's live range. */
int64_t lives_peak_bytes(const struct lives *l, int block);

/* Offsets such that simultaneously live blocks do not overlap, by the best of
 * several strategies; the search ends early at bound_bytes. Returns the
 * size. */
int64_t plan_offsets(struct arena *a, struct block_life *blocks, int n,
		     int64_t align_bytes, int64_t bound_bytes,
		     const char **strategy);

#endif
