/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of plan/: storages, live ranges, offsets. */
#ifndef TIRC_STORAGES_H
#define TIRC_STORAGES_H

#include "kernel.h"

/* A byte range of a storage and its live range. Each part of a concatenation is
 * a piece: it is live from the time when it is written, not from the time when
 * the first part is written. */
struct piece {
	int64_t start, end; /* in bytes from the storage's offset */
	int first, last;    /* the indices of the kernels of the live range */
};

/* One allocation: a tensor with all tensors that share its bytes (views,
 * in-place results, parts of a concatenation), or the scratch of a kernel. */
struct storage {
	enum place_kind kind;
	struct dtype type; /* the element type of the tensor or the scratch */
	/* the first tensor of the storage that is not in the workspace (an
	 * input, output or constant); if all are in the workspace, the first
	 * tensor */
	struct tensor *root;
	struct kernel *scratch_of;
	const struct buffer *scratch; /* the kernel's parameter for the
				       * scratch */
	/* bytes: the size of the allocation; align_bytes: the alignment that
	 * its kernels need */
	int64_t bytes, align_bytes;
	/* the indices, in the present order, of the first and the last kernel
	 * that use it */
	int first, last;
	/* every use by a kernel: byte range and kernel */
	VEC(struct piece) touched;
	/* byte ranges with their live ranges: disjoint, in order of start */
	VEC(struct piece) pieces;
	int64_t offset_bytes;
};

struct storages {
	struct arena *arena;
	VEC(struct storage) list;
	int n_tensors;
	/* by tensor id: the index in `list` of the tensor's storage, or -1 */
	int *of;
	/* by tensor id: the tensor's offset within the storage, in bytes */
	int64_t *inside;
	/* by tensor id: the size of the tensor in bytes, as kernels store it */
	int64_t *bytes;
};

/* Finds the storages from the arguments of kernels, from views, and from parts
 * of concatenations. False after a diagnostic if the size of a tensor has no
 * upper bound. */
bool storages_find(struct program *p, struct storages *s);
/* Computes s->pieces from s->touched. */
void storage_find_pieces(struct arena *a, struct storage *s);
/* The largest number of bytes in the workspace that are live at one kernel, of
 * all types or, if `only` is not NULL, of this type: a lower bound of the
 * workspace's size. */
int64_t storages_bound(const struct storages *s, int n_kernels,
		       const struct dtype *only);
/* Is the storage in the workspace, and, if `only` is not NULL, are its elements
 * of that type? */
bool storage_counts(const struct storage *s, const struct dtype *only);

/* A block of bytes to place. Its live range goes from kernel `first` to kernel
 * `last`, both included. */
struct block_life {
	int64_t bytes, align_bytes;
	int first, last;
	/* the pieces of the block that have live ranges of their own; if
	 * n_pieces is 0, the whole block is live in the whole range */
	const struct piece *pieces;
	int n_pieces;
	int64_t offset_bytes; /* the result */
};

/* lives.c: an index of the blocks, by which blocks are found whose live ranges
 * overlap. A time is the index of a kernel, 0 to times - 1. */
struct lives {
	const struct block_life *blocks;
	int n, times;
	int *by_start; /* blocks sorted by start */
	/* the number of leaves of the interval tree: a power of two */
	int leaves;
	int *latest; /* by node of the tree: the latest end of a live range
			* below it */
	/* by time: the bytes of the blocks whose live ranges have started at or
	 * before it, and of the blocks whose live ranges have ended */
	int64_t *started, *ended;
};

void lives_find(struct lives *l, struct arena *a,
		const struct block_life *blocks, int n);
/* Sets out to the block `block` and all blocks whose live ranges overlap that
 * of this block; returns their number. out must have room for all blocks. */
int lives_overlapping(const struct lives *l, int block, int *out);
/* The total bytes of the given block and of the blocks whose live ranges
 * overlap its own. */
int64_t lives_overlapping_bytes(const struct lives *l, int block);
/* The most live bytes at any time of the block's live range. */
int64_t lives_peak_bytes(const struct lives *l, int block);

/* Sets the offset of each block so that blocks that are live at the same time
 * do not overlap, by the best of several strategies, and *strategy to the name
 * of this strategy. bound_bytes: a lower bound of the size: the search ends
 * when the size is as small as this. Returns the size in bytes. */
int64_t plan_offsets(struct arena *a, struct block_life *blocks, int n,
		     int64_t align_bytes, int64_t bound_bytes,
		     const char **strategy);

#endif
