/* SPDX-License-Identifier: Apache-2.0 */
/* The loops around a block: which axes they drive, what they are called, how
 * they are fused, and how long they take. */
#ifndef TIRC_NEST_H
#define TIRC_NEST_H

#include "access_pattern.h"

/* nest.c: the loop that each iter var of the block is bound to, 0 where it has
 * none (extent 1). False if a loop drives more than one, or part of one. */
bool rules_axis_loops(struct rules *r, int block, int *of_axis);
/* The iter var that the loop drives; -1: none. */
int rules_driven_iter(const struct stmt *block, const struct stmt *loop);
/* Names the loops of an epilogue after their axes (oc, oh, …). */
void rules_name_loops(struct rules *r, const struct block_access *x,
		      int output);
/* Fuses nested loops; without loops, adds a unit loop around `around`. */
bool rules_fuse_loops(struct rules *r, const int *loops, int n,
		      struct sched_value around, int *out);
/* A block with its loops: the outermost loop, or the block if there is none. */
struct sched_value rules_nest(int block, const int *loops, int n);
/* Is a loop around the block bound to threads? */
bool rules_is_bound(struct rules *r, int block);

/* fuse_spatial_axes.c: fuses the last two spatial axes (rows and columns of an
 * image) of the reduction, of its result and of the output block, if all
 * accesses allow it. x describes the reduction and is stale afterwards. */
bool rules_fuse_spatial_axes(struct rules *r, const struct block_access *x,
			     int reduction, int *output);
/* Fuses the last two axes of one block, both spatial or both reduced, if all
 * accesses allow it; false if they are not fused. */
bool rules_fuse_last_axes(struct rules *r, int block);

/* block_lanes.c: moves the blocks of an axis innermost, as lanes. loops: by
 * axis; 0: fused into another one. If all accesses run over memory in the same
 * order and elements are bytes, the lanes are those of all adjacent blocks: a
 * vector holds more bytes than a block. x: NULL, or what the block accesses. */
bool rules_vectorize_blocks(struct rules *r, const struct block_access *x,
			    int axis, int64_t c, int *loops, int n);

/* nest_time.c: the nanoseconds that the nest takes on one core. */
double rules_nest_ns(struct rules *r, struct stmt *loop);
/* Is a nest of ns nanoseconds worth running in parallel: does it take several
 * times as long as starting the threads? */
bool rules_worth_starts(const struct rules *r, double ns);
/* rules_worth_starts for the nest of the loop; false if the target has one
 * core. */
bool rules_worth_parallel(struct rules *r, int loop);

/* The parameters that blocks below a loop read and write, each once. */
struct touched {
	const struct func *func;
	VEC(const struct buffer *) list;
	double bytes;
};

/* Adds the buffer, and its bytes if it is a parameter. */
void touched_add(struct touched *t, const struct buffer *b);

#endif
