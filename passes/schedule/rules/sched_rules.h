/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules: rules over the structure of blocks (how many there are,
 * which of them reduce, which axis appears in which load) and the target's
 * facts. No rule looks at an operator's name. */
#ifndef TIRC_SCHED_RULES_H
#define TIRC_SCHED_RULES_H

#include "kernel.h"
#include "schedule.h"

/* Gives s the target's intrinsics and the alignment of k's constants. */
void sched_for_kernel(struct sched *s, const struct kernel *k,
		      const struct target *target);
/* Schedules k->func, describes the schedule in k->schedule (for the kernel's
 * comment), and sets the map of each weight that gets another layout. *out (or
 * NULL): the schedule with its trace. */
bool default_schedule(struct kernel *k, const struct target *target,
		      struct module *m, struct sched *out);

/* Sets the maps of the kernel's weights to the layouts that the schedule gave
 * them. False after reporting if the schedule changes the layout of a parameter
 * that is not a constant. */
bool sched_adopt_layouts(const struct sched *s, struct kernel *k);

/* The state of scheduling one kernel. */
struct rules {
	struct sched s;
	struct kernel *kernel;
	const struct target *target;
	struct module *module;
	struct strbuf words; /* the description of the schedule */
	/* The target's product instructions before this number are skipped: the
	 * rule has failed with them. */
	int first_product;
	/* the copy with borders that the sum reads; NULL: there is none */
	const struct buffer *bordered;
	bool repeated; /* the nest runs many times, with the same constants */
	int next_product; /* the number after the instruction chosen; 0: none
			   * was */
};

/* access_pattern.c: how a load or store uses an axis. */
enum axis_use {
	AXIS_UNUSED,
	AXIS_PLAIN,    /* the variable alone is one index, or v // c and v % c
		        * are two adjacent indices of a dimension of extent c */
	AXIS_GRANULAR, /* only as v // c: the same element for runs of c */
	AXIS_BLOCKED,  /* once as v // c, and once as v % c in the last index:
		        * contiguous in runs of c */
	AXIS_MIXED
};

struct load_access {
	const struct expr *load;
	enum axis_use *use;    /* by iter var of the block */
	int64_t *granularity;  /* c, for AXIS_GRANULAR and AXIS_BLOCKED */
	int *dim;              /* number of the index, for AXIS_PLAIN */
	struct weight *weight; /* a constant parameter, or NULL */
};

/* Blocks with more iter vars stay plain loops. */
#define MAX_AXES 24

struct block_access {
	struct stmt *block;
	const struct block *info;
	const struct buffer *out;  /* the buffer stored to */
	struct load_access *loads; /* except those of the accumulator */
	struct load_access store;  /* the element stored; load is NULL */
	int n_loads;
	int n_spatial, n_reduce;
};

bool rules_access(struct rules *r, int block, struct block_access *out);
/* The block size of the axis in all loads that depend on it (and, with `store`,
 * in the store); 0: the sizes differ, or no load depends on the axis. Constants
 * with the axis as a plain index do not count: their layout can change. */
int64_t rules_blocked_by(const struct block_access *x, int iter, bool store);
/* Does the epilogue read the accumulator at exactly its own axes? */
bool rules_same_axes(struct rules *r, const struct block_access *x, int output);
/* The loop that each iter var of the block is bound to, 0 where it has none
 * (extent 1). False if a loop drives more than one, or part of one. */
bool rules_axis_loops(struct rules *r, int block, int *of_axis);
/* Names the loops of an epilogue after their axes (oc, oh, …). */
void rules_name_loops(struct rules *r, const struct block_access *x,
		      int output);
/* Gives a reduction without an epilogue a block that copies the accumulator to
 * the output, so that it has the same form as a reduction with one. *output:
 * the reduction's block before, the copying block after. */
bool rules_separate_accumulator(struct rules *r, const struct block_access *x,
				int reduction, int *output);
/* Names the buffer that the block stores "acc", and returns it in *out. */
bool rules_accumulator(struct rules *r, int block, const struct buffer **out);
bool block_reduces(const struct stmt *block);
/* The index of the buffer among the block's read regions; -1: the block does
 * not read it. */
int rules_read_index(struct rules *r, int block, const struct buffer *b);
/* The axis whose value selects one of several sums, as in a product with a
 * small constant matrix; -1: none. */
int block_select_axis(const struct stmt *block);

/* fuse_spatial_axes.c: fuses the last two spatial axes (rows and columns of an
 * image) of the reduction, of its result and of the output block, if all
 * accesses allow it. x describes the reduction and is stale afterwards. */
bool rules_fuse_spatial_axes(struct rules *r, const struct block_access *x,
			     int reduction, int *output);
/* The same for the last two axes of one block, which may both be reduced. */
bool rules_fuse_last_axes(struct rules *r, int block);
/* An index map of n logical indices with room for n_most physical ones; the
 * second function appends one. */
struct index_map *rules_map_new(struct module *m, int n, int n_most);
void rules_map_put(struct index_map *map, const struct expr *e);

/* choose_rule.c: back to the checkpoint, and to so many words. */
void rules_undo(struct rules *r, struct sched_mark mark, size_t words);

/* recurrent_rule.c: schedules a loop over time whose steps have sums. False:
 * there is none. */
bool rule_recurrent(struct rules *r);

/* scan_rule.c: schedules a kernel with one block whose iter vars are ordered (a
 * scan). False: there is no such block. The second is for devices; it returns
 * true if there is none, or if the block's threads are bound. */
bool rule_ordered(struct rules *r);
bool rules_ordered_threads(struct rules *r);
/* device_rules.c: binds one thread to each iteration of the block's spatial
 * loops; *thread: the innermost of them. */
bool rules_bind_element_threads(struct rules *r, int block, int *thread);
/* parallel_loops.c: does the nest take several times as long as starting
 * threads? */
bool rules_worth_parallel(struct rules *r, int loop);

/* parallel_loops.c: makes loops of the scheduled kernel parallel if the target
 * has threads; on a device whose work-groups have one work-item, binds loops of
 * every nest to the work-groups. */
void rules_parallel(struct rules *r);

/* block_sums.c: annotates the loops of float sums of many terms, which are
 * lowered to sums of blocks. */
void rules_block_sums(struct rules *r);

/* Inlines cheap injective blocks, except, as asked, padded copies under a
 * sliding window or operands of reductions. */
enum inline_kept { KEEP_NOTHING, KEEP_ROWS, KEEP_OPERANDS };
void rules_inline(struct rules *r, enum inline_kept kept);

/* device_rules.c: schedules the kernel for a device's threads. False: a block
 * cannot be bound to threads. */
bool rules_threads(struct rules *r);
/* Fuses nested loops; without loops, adds a unit loop around `around`. */
bool rules_fuse_loops(struct rules *r, const int *loops, int n,
		      struct sched_value around, int *out);
/* A block with its loops: the outermost loop, or the block if there is none. */
struct sched_value rules_nest(int block, const int *loops, int n);
/* Is a loop around the block bound to threads? */
bool rules_is_bound(struct rules *r, int block);

/* access_width.c: how many consecutive elements along the axis one access of a
 * thread may load (and with `stores` store); 1: each access takes one
 * element. */
int64_t rules_access_width(struct rules *r, int block, int iter, bool stores);
/* The same along all axes, flattened: every load must have the indices of the
 * store. */
int64_t rules_flat_access_width(struct rules *r, int block);

/* shared_memory_tile.c: schedules a product of two operands with
 * shared-memory tiles. False if it cannot; the schedule is then to be rolled
 * back. */
bool rule_shared_memory_tile(struct rules *r, int block);

/* tensor_core.c: the same with tensor-core instructions. False if it cannot;
 * the schedule is unchanged then. */
bool rule_tensor_core(struct rules *r, int block);

/* lane_reduction.c: gives reductions along contiguous rows one partial result
 * for each lane of a vector, where the target has vectors: factors them, stores
 * the blocks of the partial results in made, and returns their number. The
 * innermost two axes of all blocks may be fused for that. */
int rules_reduce_by_lanes(struct rules *r, const int *blocks, int n, int *made);
/* Vectorizes the lanes of a block of partial results, at its final place. */
void rules_vectorize_lanes(struct rules *r, int block);
/* Does the order of the summation affect the result visibly? It does if
 * integers are summed as floats and the result is rounded to integers: halves
 * are common then, and the order decides how they are rounded. */
bool rules_order_is_visible(const struct func *f, const struct expr *sum);

/* row_reduction.c: schedules rows that several threads reduce together.
 * False if it cannot; the schedule is then to be rolled back. */
bool rule_row_reduction(struct rules *r, const int *blocks, int n, int output);

/* common[i]: the number of leading output axes that block i has in common with
 * all of its readers: the block can be computed inside these loops. Blocks come
 * producers first. */
void rules_common_axes(struct rules *r, const int *blocks, int n, int output,
		       int *common);
/* Gives the constant that the block loads a layout with the reduced axes (or
 * all other axes) in the last dimensions. Does nothing if they are last, or if
 * an index is not an axis. Accesses of the block found before are stale
 * afterwards. */
bool rules_pack_last(struct rules *r, int block, const struct load_access *a,
		     bool reduced);

/* Each returns true if it scheduled the kernel. */
bool rule_elementwise(struct rules *r, int block);
bool rule_matmul(struct rules *r, int reduction, int output);
/* tuple_reduction.c: the kernel is one reduction of several values. */
bool rule_tuple_reduction(struct rules *r, int reduction);
bool rule_window(struct rules *r, int reduction, int output);
/* window_reduction.c: the reduction slides a window over rows that the block
 * `rows` has copied. */
bool rule_padded_rows(struct rules *r, int rows, int reduction, int output);
/* The sum of products reads a copy with borders: of a plane of each channel, or
 * of the few rows that a row of results reads. */
bool rule_bordered_product(struct rules *r, int rows, int reduction,
			   int output);
/* The spatial axes of a sum in the order of their loops: the block's, except that
 * axes which the copy with borders does not have follow the one along which it
 * is made anew. */
void rules_order_axes(const struct rules *r, const struct block_access *x,
		      int *axes);
bool rule_reduction(struct rules *r, int reduction, int output);
bool rule_blocked_rows(struct rules *r, const int *blocks, int n, int output);
bool rule_constant_matrix(struct rules *r, const int *blocks, int n,
			  int output);
bool rule_rowwise(struct rules *r, const int *blocks, int n, int output);
/* Is it a product of a matrix and a vector whose sums go along the rows of the
 * matrix, which is no constant? Its elements are read once, in order. */
bool rules_sums_rows(struct rules *r, int block);
/* rule_rowwise, if it can reduce by lanes. */
bool rule_lane_reduction(struct rules *r, const int *blocks, int n, int output);

#endif
