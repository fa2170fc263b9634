/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules: rules over the structure of blocks (how many, which
 * reduce, which axis appears in which load) and the facts of the target. No
 * rule looks at an operator's name. */
#ifndef TIRC_SCHED_RULES_H
#define TIRC_SCHED_RULES_H

#include "kernel.h"
#include "schedule.h"

/* Schedules k->func, sets k->schedule (the words of the comment) and, where a
 * constant is to be stored in another layout, its weight's map. out, which may
 * be NULL, gets the schedule with its trace. */
bool default_schedule(struct kernel *k, const struct target *target,
		      struct module *m, struct sched *out);

/* Stores the kernel's constants in the layouts that the schedule gave them.
 * False after reporting if it gave a layout to a parameter that is not
 * constant. */
bool sched_adopt_layouts(const struct sched *s, struct kernel *k);

/* One kernel being scheduled. */
struct rules {
	struct sched s;
	struct kernel *kernel;
	const struct target *target;
	struct module *module;
	struct strbuf words; /* of the schedule */
	/* Product instructions of the target before this number are skipped:
	 * the rule has failed with them. */
	int first_product;
	int next_product; /* behind the instruction it has taken; 0: none */
};

/* access_pattern.c: which axis a block's loads depend on, and how. */
enum axis_use {
	AXIS_UNUSED,
	AXIS_PLAIN,    /* the variable alone is one index, or two next to
			 * each other are the rows and columns of it */
	AXIS_GRANULAR, /* only as v // c: constant over runs of c */
	AXIS_BLOCKED,  /* once as v // c, once, in the last index, as v % c:
			 * contiguous over runs of c */
	AXIS_MIXED
};

struct load_access {
	const struct expr *load;
	enum axis_use *use;    /* per iter var of the block */
	int64_t *granularity;  /* c, for AXIS_GRANULAR and AXIS_BLOCKED */
	int *dim;              /* which index, for AXIS_PLAIN */
	struct weight *weight; /* a constant parameter, or NULL */
};

/* Blocks with more iter vars than this are left as plain loops. */
#define MAX_AXES 24

struct block_access {
	struct stmt *block;
	const struct block *info;
	const struct buffer *out;  /* what it stores to */
	struct load_access *loads; /* but for the accumulator's own */
	struct load_access store;  /* what it writes; load is NULL */
	int n_loads;
	int n_spatial, n_reduce;
};

bool rules_access(struct rules *r, int block, struct block_access *out);
/* The block size c of the axis in all loads that depend on it (and, of an
 * output, in the store); 0: they differ, or none depends on it. Constants count
 * as blocked: they can be packed anew. */
int64_t rules_blocked_by(const struct block_access *x, int iter, bool store);
/* Does the epilogue read the accumulator at exactly its own axes? */
bool rules_same_axes(struct rules *r, const struct block_access *x, int output);
/* The loop that each iter var of the block is bound to, 0 where it has none
 * (extent 1). False if a loop drives more than one, or part of one. */
bool rules_axis_loops(struct rules *r, int block, int *of_axis);
/* Names the loops of an epilogue after their axes (oc, oh, …). */
void rules_name_loops(struct rules *r, const struct block_access *x,
		      int output);
/* Gives a reduction without an epilogue a block that copies the accumulator
 * out, so that it has the same form as a reduction with one. *output: the
 * reduction's block before, the copy's after. */
bool rules_separate_accumulator(struct rules *r, const struct block_access *x,
				int reduction, int *output);
/* Renames the buffer that the block stores to acc, and gives it. */
bool rules_accumulator(struct rules *r, int block, const struct buffer **out);
bool block_reduces(const struct stmt *block);
/* Which of what the block reads the buffer is; -1: none. */
int rules_read_index(struct rules *r, int block, const struct buffer *b);
/* The axis by whose value the block selects one of several sums, as in a product
 * with a small constant matrix; -1: it has no such axis. */
int block_select_axis(const struct stmt *block);

/* fuse_spatial_axes.c: fuses two neighbouring axes (rows and columns of
 * an image) of the reduction, its result and the output block, where all their
 * accesses fuse them. x is of the reduction, and stale afterwards. */
bool rules_fuse_spatial_axes(struct rules *r, const struct block_access *x,
			     int reduction, int *output);
/* A map of n indices to at most n_most, none so far; one more. */
struct index_map *rules_map_new(struct module *m, int n, int n_most);
void rules_map_put(struct index_map *map, const struct expr *e);

/* scan_rule.c: schedules a kernel with one block whose iter vars run in order (a
 * scan); false: the kernel is none. The second is for the threads of a device:
 * true if there is no such block, or its threads are bound. */
bool rule_ordered(struct rules *r);
bool rules_order_threads(struct rules *r);
/* device_rules.c: binds one thread to each iteration of the block's
 * parallel loops; *thread: the innermost of them. */
bool rules_bind_element_threads(struct rules *r, int block, int *thread);
/* parallel_loops.c: is the nest's time more than that of a fork of threads? */
bool rules_worth_parallel(struct rules *r, int loop);

/* parallel_loops.c: shares loops of the scheduled kernel among threads, if
 * the target has them; on a device of work-groups with one work-item, all loops
 * among the work-groups. */
void rules_parallel(struct rules *r);

/* Inlines cheap injective blocks: all; all but padded copies under a sliding
 * window; or all but the operands of reductions. */
enum inline_kept { KEEP_NOTHING, KEEP_ROWS, KEEP_OPERANDS };
void rules_inline(struct rules *r, enum inline_kept kept);

/* device_rules.c: schedules the kernel for a device's threads. False: a
 * block cannot be bound to threads. */
bool rules_threads(struct rules *r);
/* Fuses nested loops; without loops, adds a unit loop around `around`. */
bool rules_fuse_loops(struct rules *r, const int *loops, int n,
		      struct sched_value around, int *out);
/* All of a block with its loops. */
struct sched_value rules_nest(int block, const int *loops, int n);
/* Is the block in a nest that threads run? */
bool rules_is_bound(struct rules *r, int block);

/* access_width.c: how many neighbouring elements along the axis one access of
 * a thread may load, and with `stores` store; 1: each access takes one element. */
int64_t rules_access_width(struct rules *r, int block, int iter, bool stores);
/* The same along all axes, flattened, where every load has the indices of the
 * store. */
int64_t rules_flat_access_width(struct rules *r, int block);

/* shared_memory_tile.c: schedules a product of two operands with
 * shared-memory tiles. False if it cannot; the schedule is then to be rolled
 * back. */
bool rule_shared_memory_tile(struct rules *r, int block);

/* tensor_core.c: the same with tensor-core instructions. False if it cannot;
 * the schedule is unchanged then. */
bool rule_tensor_core(struct rules *r, int block);

/* row_reduction.c: schedules rows that several threads reduce together.
 * False if it cannot; the schedule is then to be rolled back. */
bool rule_row_reduction(struct rules *r, const int *blocks, int n, int output);

/* shared[i]: the number of leading output axes that block i has in common
 * with all that reads it: it can be computed inside their loops. Blocks come
 * producers first. */
void rules_shared_axes(struct rules *r, const int *blocks, int n, int output,
		       int *shared);
/* Stores the constant that a block loads with its reduced axes, or with all
 * others, in the last dimensions; nothing where they are there, or where its
 * indices are no axes. What is known of the block's accesses is stale then. */
bool rules_pack_last(struct rules *r, int block, const struct load_access *a,
		     bool reduced);

/* Each returns true if it scheduled the kernel. */
bool rule_elementwise(struct rules *r, int block);
bool rule_matmul(struct rules *r, int reduction, int output);
/* tuple_reduction.c: the kernel is one reduction, of several values. */
bool rule_tuple(struct rules *r, int reduction);
bool rule_window(struct rules *r, int reduction, int output);
/* The reduction slides a window over what the block rows has copied. */
bool rule_rows(struct rules *r, int rows, int reduction, int output);
bool rule_reduction(struct rules *r, int reduction, int output);
bool rule_rows_in_blocks(struct rules *r, const int *blocks, int n, int output);
bool rule_constant_matrix(struct rules *r, const int *blocks, int n,
			  int output);
bool rule_rowwise(struct rules *r, const int *blocks, int n, int output);

#endif
