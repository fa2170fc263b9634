/* SPDX-License-Identifier: Apache-2.0 */
/* The loops around a block: which axes they drive, their names, how they are
 * fused, and the estimated time of the nest. */
#ifndef TIRC_NEST_H
#define TIRC_NEST_H

#include "access_pattern.h"

/* nest.c: sets of_axis[i], for each i < n, to the loop to which iter var i of
 * the block is bound, 0 where it has none (extent 1). False if the block has
 * fewer than n iter vars (an epilogue has no iter var for an axis along which
 * all elements are written to one place), or if a loop with several iterations
 * is not bound to exactly one iter var. */
bool rules_axis_loops(struct rules *r, int block, int *of_axis, int n);
/* The index of the block's iter var that the loop drives; -1: it drives
 * none. */
int rules_driven_iter(const struct stmt *block, const struct stmt *loop);
/* Names the loops of the epilogue `output` after its axes (oc, oh, …). */
void rules_name_loops(struct rules *r, const struct block_access *x,
		      int output);
/* Fuses n nested loops into *out; if n is 0, adds a loop of one iteration
 * around `around`. False after a failure. */
bool rules_fuse_loops(struct rules *r, const int *loops, int n,
		      struct sched_value around, int *out);
/* The nest of a block as an argument of primitives: the outermost loop of the
 * nest, or the block if it has no loops. */
struct sched_value rules_nest(int block, const int *loops, int n);
/* Is a loop around the block bound to threads? */
bool rules_is_bound(struct rules *r, int block);

/* fuse_spatial_axes.c: fuses the last two spatial axes (rows and columns of an
 * image) of the reduction, of its result and of the output block, if all
 * accesses allow it. x: what the reduction accesses; it is not valid any more
 * if axes were fused. False if they were not fused. */
bool rules_fuse_spatial_axes(struct rules *r, const struct block_access *x,
			     int reduction, int *output);
/* Fuses the last two axes of one block, both spatial or both reduced, if all
 * accesses allow it; false if the axes were not fused. */
bool rules_fuse_last_axes(struct rules *r, int block);

/* block_lanes.c: an axis lies in blocks of c elements: makes the positions
 * within a block lanes, by moving their loop innermost and vectorizing it.
 * loops: the loop of each axis; 0: it was fused into another axis's loop. If
 * all accesses run over memory in the same order and elements are bytes, the
 * lanes are the positions in several adjacent blocks, because a vector holds
 * more bytes than a block. x: what the block accesses, or NULL. False after a
 * failure. */
bool rules_vectorize_blocks(struct rules *r, const struct block_access *x,
			    int axis, int64_t c, int *loops, int n);

/* nest_time.c: the estimated time, in nanoseconds, of executing the nest of the
 * loop on one core. */
double rules_nest_ns(struct rules *r, struct stmt *loop);
/* Is a nest that takes ns nanoseconds worth running in parallel: is that
 * several times as long as starting threads takes? */
bool rules_worth_starts(const struct rules *r, double ns);
/* Like rules_worth_starts, for the nest of the loop; false if the target has
 * one core. */
bool rules_worth_parallel(struct rules *r, int loop);

/* The buffers that blocks below a loop access, each once. bytes: the total size
 * of the buffers that are parameters of the function. */
struct touched {
	const struct func *func;
	VEC(const struct buffer *) list;
	double bytes;
};

/* Adds the buffer b to t, and b's bytes to the sum if b is a parameter. */
void touched_add(struct touched *t, const struct buffer *b);

#endif
