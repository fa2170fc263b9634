/* SPDX-License-Identifier: Apache-2.0 */
/* A reduction's register tile, while a rule makes it: what register_tile.c
 * has found, for the files that size it (tile_sizes.c), make it
 * (tile_loops.c) and sum in it (tile_reduction.c). */
#ifndef TIRC_SCHED_TILING_H
#define TIRC_SCHED_TILING_H

#include "product_choice.h"
#include "sched_rules.h"

/* Products that the target sums several at a time: `depth` of a lane of the
 * reduction's axis `iter`, which lies in blocks of `block` wherever it is. */
struct tile_dot {
	const char *intrin; /* NULL: no such */
	int iter;
	int64_t depth, block;
	/* What one call takes of the axis; depth, but for instructions that do a
	 * tile of rows and columns. */
	int64_t taken;
	const char *fill, *store; /* that set its sums, and bring them to
				   * memory; NULL: these are in memory */
};

struct tiling {
	struct block_access x;
	int lane, tile; /* iter vars of the reduction; tile -1: none */
	struct load_access *operand; /* the one with the lane axis, or NULL:
				      * all have it, in blocks */
	int64_t lanes, tiles;
	int64_t granularity;      /* lanes must divide it; 0: free */
	int64_t tile_granularity; /* so must the tile */
	int64_t vector;           /* lanes are several of these; 0: not split */
	int64_t out_block;        /* by which the result has them; or 0 */
	bool panels;        /* constants are stored by blocks of lanes, even
				 * if these are next to each other */
	bool padded;        /* constants have zeroes for lanes beyond the
				 * end */
	int part;           /* an iter var that walks through a part of an
				 * axis that lies in blocks; -1: none */
	int64_t part_block; /* of these */
	struct tile_dot dot;
};

/* The loops of a tile, outermost first; 0 where there is none. */
struct tile_loops {
	int tile, vectors, lanes;
	int first; /* that sums */
	int dot;   /* what a dot product takes together */
};

/* The axis's extent if constant, else 0. */
int64_t tiling_extent(const struct block_access *x, int iter);

/* How many lanes: at most so many, whole vectors where there are such. */
int64_t tiling_lanes(int64_t extent, int64_t vector, int64_t most,
		     int64_t granularity);
/* Sets lanes, tiles and vector. */
void tiling_sizes(struct rules *r, struct tiling *t);
/* What all rows take in whole tiles, the last of which goes back over rows that
 * are done, by what they take with a smaller tile for the last ones. */
double tiling_overlap_time(const struct rules *r, const struct tiling *t);
/* The same for lanes of a type along an axis: a part of a vector takes as long
 * as all of it, where the target has vectors. */
double tiling_lanes_time(const struct rules *r, struct dtype type,
			 int64_t extent, int64_t lanes);

/* tile_tail.c. Says in the words of the schedule what becomes of the
 * `rest` elements of an axis that are left by the tiles of the loop, and notes it
 * there: time is what whole tiles take by what they take with a smaller one in
 * the end. output: the block that stores. Nothing where rest or loop is 0. */
bool tiling_overlap(struct rules *r, int output, int loop,
		    const struct var *axis, int64_t rest, double time);

/* pack_operands.c. By how many an axis that is summed over is blocked; 0: it
 * is not. */
int64_t tiling_block(const struct tiling *t, int iter);
/* Stores constants with the lanes last. */
bool tiling_pack(struct rules *r, const struct tiling *t);
/* The same for t->x.out, the accumulators. */
bool tiling_lanes_last(struct rules *r, const struct tiling *t);
/* Is the operand a constant too large for a near cache, with its lanes next to
 * each other in long rows? */
bool tiling_packs_panels(const struct rules *r, const struct tiling *t);
/* Is the operand to be copied, as its lanes lie far apart? */
bool tiling_gathers(const struct rules *r, const struct tiling *t);
/* Makes the block that does so; what t knows of the loads is found again. */
bool tiling_copy_data(struct rules *r, struct tiling *t, int reduction,
		      int *copy);
/* Moves it into a loop, 0: none, and has it write the lanes last. */
bool tiling_place_copy(struct rules *r, const struct tiling *t, int copy,
		       int at);

/* The lanes' loop as one over vectors and one over the lanes of a vector;
 * vectors is 0 where there is one. */
bool tiling_split_vectors(struct rules *r, const struct tiling *t, int *vectors,
			  int *lane_loop);
/* The iter var that the loop drives, -1 if none. */
int tiling_driven(const struct stmt *block, const struct stmt *loop);
/* Puts the loops of the reduction below a loop in order: those that sum, then
 * their parts within blocks, then the tile. */
bool tiling_order(struct rules *r, const struct tiling *t, int reduction,
		  int below, struct tile_loops *tile);
/* The loops of a tile in their order, at most four: how many. The lanes are last;
 * but where the compiler has to find the vectors, rows are inside of the lanes:
 * their statements keep it from writing out the lanes' loop before. */
int tiling_inner(const struct rules *r, const struct tile_loops *tile,
		 int *order);
/* Outer and inner loop of an axis; no outer one where the tile is all. */
bool tiling_split(struct rules *r, const struct tiling *t, int axis,
		  int64_t size, const int *loops, int *split);
/* Where rows are inside of the lanes, what is read under conditions of rows is
 * read before: they would have to be tested for each lane. */
bool tiling_read_before(struct rules *r, const struct tiling *t,
			const struct tile_loops *tile);
/* Vectorizes and unrolls. */
void tiling_finish(struct rules *r, const struct tile_loops *tile);

/* dot_product.c: sets t->dot if the lanes and an axis that is summed fit the
 * dot-product instruction. */
bool tiling_find_dot(struct tiling *t, const struct product_desc *p);
/* Takes the loop over what a dot product takes together out of order[0..n), or
 * the part of one. */
bool tiling_split_dot(struct rules *r, const struct tiling *t, int reduction,
		      int *order, int *n, struct tile_loops *tile);
/* Sets the start of the sums apart, and makes what the loop over lanes does the
 * instruction: that loop is gone then. */
bool tiling_use_dot(struct rules *r, const struct tiling *t, int reduction,
		    struct tile_loops *tile);

/* tile_instruction.c: sets t->dot, and lanes and rows, if rows and columns of the
 * product fit the instruction's tile. */
bool tiling_find_tile(const struct rules *r, struct tiling *t,
		      const struct product_desc *p);
/* Moves the reduction into the loop at, its sums kept by that instruction. */
bool tiling_sum_tile(struct rules *r, struct tiling *t, int reduction, int at);

/* The axis that is to be summed in parts of a size; -1: none. */
int tiling_part(const struct rules *r, const struct tiling *t, int64_t *size);
/* Moves the reduction into the loop at, its sums in parts below it. */
bool tiling_sum_parts(struct rules *r, struct tiling *t, int reduction,
		      int axis, int64_t size, int at);
/* Moves the reduction into the loop at, with accumulators for one tile. */
bool tiling_sum(struct rules *r, struct tiling *t, int reduction, int at,
		int lane_loop);

#endif
