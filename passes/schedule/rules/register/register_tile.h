/* SPDX-License-Identifier: Apache-2.0 */
/* The register tile of a reduction: register_tile.c finds its axes,
 * tile_sizes.c chooses its size, tile_loops.c makes its loops and
 * tile_reduction.c places its accumulators. */
#ifndef TIRC_REGISTER_TILE_H
#define TIRC_REGISTER_TILE_H

#include "access_pattern.h"
#include "product_choice.h"

/* A reduction and its output block, for which a tile is made. */
struct product_tile {
	int reduction, output;
	/* the copy with borders that the sum reads; NULL: the sum reads no such
	 * copy */
	const struct buffer *bordered;
	/* the nest runs many times with the same constants, as in a loop over
	 * time */
	bool repeated;
	/* Product instructions of the target with a number below this one are
	 * skipped: the tile has failed with them. */
	int first_instr;
	/* A result of the rule: the number after that of the product
	 * instruction that was chosen; 0: none was chosen. */
	int next_instr;
};

/* register_tile.c: tiles the product's sum in registers; pads lanes if it can.
 * False after a failure; then the caller must roll the schedule back. */
bool tiling_product(struct rules *r, struct product_tile *p);

/* A product instruction of the target: each lane sums `depth` products along
 * the reduction axis `iter`, which every operand has in blocks of `block`
 * contiguous elements. */
struct tile_dot {
	/* the intrinsic of the instruction; NULL: no product instruction is
	 * used */
	const char *intrin;
	/* the reduction axis over which the instruction sums; -1: the
	 * instruction multiplies lane by lane */
	int iter;
	int64_t depth, block;
	/* Elements of the axis that one call multiplies: the depth for a dot
	 * product, more than that for a tile instruction. */
	int64_t per_call;
	/* The intrinsics that fill the tile register with zeros and that store
	 * it; NULL: the sums are in memory. */
	const char *fill, *store;
};

struct tiling {
	struct block_access x;
	/* indices of iter vars of the reduction: the axis of the lanes, and the
	 * axis of the rows, which is -1 if the tile has no rows */
	int lane, row;
	/* the load that has the lane axis; NULL: all loads have this axis, in
	 * blocks */
	struct load_access *operand;
	/* the number of lanes of a tile, and the number of its rows */
	int64_t lanes, rows;
	/* the number of lanes must divide this number; 0: the number of lanes
	 * is free */
	int64_t granularity;
	/* the number of rows must divide this number; 0: the number of rows is
	 * free */
	int64_t row_granularity;
	/* the number of lanes of a vector, if the lanes are several vectors; 0:
	 * the lanes are one vector */
	int64_t vector;
	/* the size of the blocks in which the output has the lane axis; 0: the
	 * output does not have it in blocks */
	int64_t out_block;
	bool panels;  /* constants are stored in panels of lanes even if
			    * their lanes are contiguous */
	bool may_pad; /* padding the lanes may be tried, if it is faster */
	/* the kernel copies the constants, bytes, as numbers as wide as the
	 * sums */
	bool widens;
	bool padded; /* constants are padded with zeros beyond the last
			    * lane */
	/* an iter var that runs over a part of an axis which lies in blocks of
	 * part_block elements; -1: there is none */
	int part;
	int64_t part_block;
	/* one lane after the other is summed in a variable: compilers vectorize
	 * the loop over lanes, which contains the whole sum */
	bool lane_by_lane;
	bool by_columns; /* dot products may multiply the columns of a window,
			  * since they load single words */
	/* the number of lanes of the dot product that may be used; 0: no dot
	 * product may */
	int64_t dot_lanes;
	/* the number of products that each of these lanes sums */
	int64_t dot_depth;
	struct tile_dot dot;
	struct sched_value lanes_number, rows_number; /* the numbers of lanes
						       * and rows, as decisions
						       * of the trace */
	bool repeated; /* as in struct product_tile */
};

/* The loops of a tile, outermost first; 0 for a loop that the tile does not
 * have. */
struct tile_loops {
	int rows, vectors, lanes;
	int first; /* the outermost reduction loop */
	int dot;   /* the loop over the elements that one dot product sums */
	int steps; /* the innermost reduction loop, which is unrolled */
	/* the lanes are innermost also if vectorization is left to the
	 * compiler */
	bool lanes_last;
};

/* Compilers unroll loops of at most this number of iterations. */
enum { TILING_SHORT = 8 };

/* The extent of axis `iter` if it is constant, else 0. */
int64_t tiling_extent(const struct block_access *x, int iter);
/* The number of iterations of an axis that remain after tiles of n iterations;
 * -1: the number is known only when the kernel runs. */
int64_t tiling_rest(struct rules *r, const struct block_access *x, int iter,
		    int64_t n);

/* The number of lanes of a tile, at most `most`, if the lanes lie along an axis
 * of this extent: whole vectors if possible. granularity: see struct tiling. */
int64_t tiling_lanes(int64_t extent, int64_t vector, int64_t most,
		     int64_t granularity);
/* Chooses the tile's size: sets t's lanes, rows, vector and padded. */
void tiling_sizes(struct rules *r, struct tiling *t);
/* Are the sums integers in general registers, on a target without vector
 * registers, whose compiler writes out the loops of a tile? Then the target's
 * vector_registers are the number of sums that these registers hold. Compilers
 * that save code keep arrays of sums in memory. */
bool tiling_sums_in_general_registers(const struct rules *r,
				      const struct tiling *t);
/* tile_decisions.c: lets the caller of the rules choose other numbers of lanes
 * and rows than tiling_sizes, also with other steps. */
void tiling_open_sizes(struct rules *r, struct tiling *t);
/* Lets the caller of the rules move the axis of the lanes among the n axes of
 * the outer loops. */
void tiling_open_order(struct rules *r, const struct tiling *t, int *axes,
		       int n);
/* The time for all rows if they are computed in whole tiles, the last of which
 * overlaps the tile before it, relative to the time with a smaller last
 * tile. */
double tiling_overlap_time(const struct rules *r, const struct tiling *t);
/* The time for an axis of this extent if it is computed in whole tiles of
 * `lanes` lanes, the last of which overlaps the tile before it, relative to the
 * time with a smaller last tile. If the target has vectors, a part of a vector
 * takes as long as a whole vector. */
double tiling_lanes_time(const struct rules *r, struct dtype type,
			 int64_t extent, int64_t lanes);

/* tile_tail.c: decides whether the last tile of an axis overlaps the tile
 * before (the note "overlap" on the loop) or whether it becomes a second copy
 * of the loops, and describes the decision in the kernel's comment. rest: the
 * axis's extent modulo the tile, or -1 (tiling_rest); time: the time of whole
 * tiles relative to that with a smaller last tile; output: the block that
 * stores; is_lanes: a tile is a vector of lanes, or several. Does nothing if
 * rest or loop is 0. */
bool tiling_overlap(struct rules *r, int output, int loop,
		    const struct var *axis, int64_t rest, double time,
		    bool is_lanes);

/* pack_operands.c: the size of the blocks in which operands have the reduction
 * axis; 0: no operand has it in blocks. */
int64_t tiling_block(const struct tiling *t, int iter);
/* Gives a layout with the lanes last to the constants that the loop of the
 * lanes indexes. False after a failure. */
bool tiling_pack(struct rules *r, const struct tiling *t);
/* Copies the constants as numbers as wide as the sums, before all loops, into an
 * array on the stack, and finds t's loads again. False after a failure. */
bool tiling_widen(struct rules *r, struct tiling *t, int reduction);
/* Gives the accumulators, t->x.out, a layout with the lanes last. False after a
 * failure. */
bool tiling_lanes_last(struct rules *r, const struct tiling *t);
/* Should the operand be stored in panels of lanes? It should if it is a
 * constant whose lanes are adjacent in long rows, and if it has 4-bit elements
 * or is larger than the second-level cache. */
bool tiling_packs_panels(const struct rules *r, const struct tiling *t);
/* Should the operand be copied because its lanes lie far apart? */
bool tiling_copies_operand(const struct rules *r, const struct tiling *t);
/* Makes the block, *copy, that copies the operand, and finds t's loads again.
 * False after a failure. */
bool tiling_copy_operand(struct rules *r, struct tiling *t, int reduction,
			 int *copy);
/* Moves the block `copy` into the loop `at` (0: leaves the block where it is),
 * and gives the copy a layout in which the lanes are the last dimension. False
 * after a failure. */
bool tiling_place_copy(struct rules *r, const struct tiling *t, int copy,
		       int at);

/* Splits the loop over lanes into one over vectors and one over the lanes of a
 * vector. *vectors is 0 if the lanes are one vector. False after a failure. */
bool tiling_split_vectors(struct rules *r, const struct tiling *t, int *vectors,
			  int *lane_loop);
/* Orders the loops of the reduction inside of the loop `below`: reduction
 * loops, then the loops over parts of these within blocks, then the loops of
 * the tile. Sets *tile to the latter. False after a failure. */
bool tiling_order(struct rules *r, const struct tiling *t, int reduction,
		  int below, struct tile_loops *tile);
/* Lists the loops of a tile, at most four, and returns their number. The lanes
 * are innermost; if vectorization is left to the compiler, the rows are inside
 * of the lanes (unless tile->lanes_last is set), because compilers do not
 * unroll a loop with several statements before they vectorize it. */
int tiling_loop_order(const struct rules *r, const struct tile_loops *tile,
		      int *order);
/* Is the epilogue of a tile, the block that stores results, so long that
 * compilers do not unroll a loop over rows inside of the loop over lanes? */
bool tiling_is_long(const struct rules *r, int output);
/* Splits the loop of an axis by the tile's size; split[0]: the loop over tiles,
 * 0 if the tile is the whole axis. False after a failure. */
bool tiling_split(struct rules *r, const struct tiling *t, int axis,
		  int64_t size, struct sched_value number, const int *loops,
		  int *split);
/* tile_decisions.c: records the numbers of lanes and of rows as decisions, if
 * the same steps are valid for other numbers. */
void tiling_decide(struct rules *r, struct tiling *t);
/* If the loops over rows are inside of the loops over lanes, adds a note that
 * loads under conditions on rows must be hoisted: otherwise each lane would
 * test the conditions. False after a failure. */
bool tiling_hoist_loads(struct rules *r, const struct tiling *t,
			const struct tile_loops *tile);
/* Vectorizes and unrolls the loops of a tile. */
void tiling_finish(struct rules *r, const struct tile_loops *tile);

/* dot_product.c: if a reduction axis fits the dot-product instruction p, sets
 * t->dot_lanes and t->dot_depth and returns true; else returns false. */
bool tiling_fits_dot(struct tiling *t, const struct product_desc *p);
/* If the lanes and a reduction axis fit the instruction p, sets t->dot and
 * returns true; else returns false. */
bool tiling_find_dot(struct tiling *t, const struct product_desc *p);
/* Removes from order[0..n) the loop over the elements that one dot product
 * sums, and sets tile->dot to it. If the loop has more iterations than one dot
 * product sums, it is split first. False after a failure. */
bool tiling_split_dot(struct rules *r, const struct tiling *t, int reduction,
		      int *order, int *n, struct tile_loops *tile);
/* Makes the reduction's init a block of its own, and replaces the loop over
 * lanes by the instruction: the loop no longer exists then. False after a
 * failure. */
bool tiling_use_dot(struct rules *r, const struct tiling *t, int reduction,
		    struct tile_loops *tile);

/* tile_instruction.c: sets t's dot, lanes and rows if the rows and columns of
 * the product fit the tile of instruction p; else false. */
bool tiling_find_tile(const struct rules *r, struct tiling *t,
		      const struct product_desc *p);
/* Moves the reduction into the loop `at`, with its sums in a tile register.
 * False after a failure. */
bool tiling_sum_tile(struct rules *r, struct tiling *t, int reduction, int at);

/* The axis that is to be summed in parts, and *size, the size of a part; -1:
 * the sum is computed as a whole. */
int tiling_part(const struct rules *r, const struct tiling *t, int64_t *size);
/* Moves the reduction into the loop `at`. There accumulators sum over a part of
 * the axis, of `size` elements, at a time. False after a failure. */
bool tiling_sum_parts(struct rules *r, struct tiling *t, int reduction,
		      int axis, int64_t size, int at);
/* Moves the reduction into the loop over lanes, and writes out its loops. False
 * after a failure. */
bool tiling_sum_lane(struct rules *r, struct tiling *t, int reduction,
		     int lane_loop);
/* Moves the reduction into the loop `at`, with accumulators for one tile. False
 * after a failure. */
bool tiling_sum(struct rules *r, struct tiling *t, int reduction, int at,
		int lane_loop);

#endif
