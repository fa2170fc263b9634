/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of plan/: storages, live ranges, offsets. */
#ifndef TIRC_STORAGES_H
#define TIRC_STORAGES_H

#include "kernel.h"

/* A byte range of a storage and its live range: a part of a concatenation is
 * live from the time it is written, not from the time the first part is
 * written. */
struct piece {
	int64_t start, end; /* in bytes from the storage's offset */
	int first, last;    /* the indices of the kernels of the live range */
};

/* One allocation: a tensor with all tensors that share its bytes (views,
 * in-place results, parts of a concatenation), or the scratch of a kernel. */
struct storage {
	enum place_kind kind;
	struct dtype type;   /* the type of its elements */
	struct tensor *root; /* the input or output, if it has one; else the
			      * first tensor */
	struct kernel *scratch_of;
	const struct buffer *scratch; /* the kernel's parameter for the
				       * scratch */
	int64_t bytes, align_bytes;   /* bytes: at most; align_bytes: at
				       * least */
	int first, last;              /* indices of kernels, in the present
				       * order */
	VEC(struct piece) touched;    /* every use, as a byte range */
	VEC(struct piece) pieces;     /* disjoint, in order of start */
	int64_t offset_bytes;
};

struct storages {
	struct arena *arena;
	VEC(struct storage) list;
	int n_tensors;
	int *of;         /* by tensor id: the index into list, or -1 */
	int64_t *inside; /* by tensor id: the offset within the storage */
	int64_t *bytes;  /* by tensor id: the size, as kernels store it */
};

/* Finds the storages from the kernels' arguments, views and parts. False after
 * a diagnostic: a size has no bound. */
bool storages_find(struct program *p, struct storages *s);
/* Sets pieces from touched. */
void storage_find_pieces(struct arena *a, struct storage *s);
/* The largest number of live bytes in the workspace at one kernel, of all types
 * or of one type: a lower bound of the workspace's size. */
int64_t storages_bound(const struct storages *s, int n_kernels,
		       const struct dtype *only);
/* Is the storage in the workspace, and, unless only is NULL, of that type? */
bool storage_counts(const struct storage *s, const struct dtype *only);

/* A block to place: live from first to last, both included. */
struct block_life {
	int64_t bytes, align_bytes;
	int first, last;
	/* n_pieces 0: one piece with the whole live range */
	const struct piece *pieces;
	int n_pieces;
	int64_t offset_bytes; /* the result */
};

/* lives.c: answers queries for overlapping live ranges, which are within
 * 0..times - 1. */
struct lives {
	const struct block_life *blocks;
	int n, times;
	int *by_start; /* blocks sorted by start */
	int leaves;    /* the number of leaves of the tree: a power of two */
	int *latest;   /* by node of the tree: the latest end of a live range
		        * below it */
	/* by time: the bytes of the blocks that have started, and of those that
	 * have ended */
	int64_t *started, *ended;
};

void lives_find(struct lives *l, struct arena *a,
		const struct block_life *blocks, int n);
/* Sets out to the given block and the blocks whose live ranges overlap its own;
 * returns their number. out must have room for all blocks. */
int lives_overlapping(const struct lives *l, int block, int *out);
/* The total bytes of these blocks. */
int64_t lives_overlapping_bytes(const struct lives *l, int block);
/* The most live bytes at any time of the block's live range. */
int64_t lives_peak_bytes(const struct lives *l, int block);

/* Chooses offsets such that blocks that are live at the same time do not
 * overlap, by the best of several strategies. The search ends when the size is
 * bound_bytes. Returns the size. */
int64_t plan_offsets(struct arena *a, struct block_life *blocks, int n,
		     int64_t align_bytes, int64_t bound_bytes,
		     const char **strategy);

#endif
