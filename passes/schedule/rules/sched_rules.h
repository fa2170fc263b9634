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

/* Stores the kernel's constants as the schedule has laid them out. False after
 * reporting if it has laid out what is no constant. */
bool sched_adopt_layouts(const struct sched *s, struct kernel *k);

/* One kernel being scheduled. */
struct rules {
	struct sched s;
	struct kernel *kernel;
	const struct target *target;
	struct module *module;
	struct strbuf words; /* of the schedule */
	/* Product instructions of the target before this number are passed
	 * over: the rule has failed with them. */
	int first_product;
	int next_product; /* behind the one that it has taken; 0: none */
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
/* The c that all loads (and, of an output, the store) that depend on the axis
 * have it blocked by; 0: some have not, or none depends on it. Constants may
 * have it plain: they can be stored anew. */
int64_t rules_blocked_by(const struct block_access *x, int iter, bool store);
/* Does the epilogue read the accumulator at exactly its own axes? */
bool rules_same_axes(struct rules *r, const struct block_access *x, int output);
/* The loop that each iter var of the block is bound to, 0 where it has none
 * (extent 1). False if a loop drives more than one, or part of one. */
bool rules_axis_loops(struct rules *r, int block, int *of_axis);
/* Calls the loops of an epilogue after the axes that they walk (oc, oh, …). */
void rules_name_loops(struct rules *r, const struct block_access *x,
		      int output);
/* A block that only copies the accumulator out, at its axes, so that a
 * reduction without an epilogue has the same form as one with: *output was the
 * reduction's and is the copy's. Else nothing. */
bool rules_own_accumulator(struct rules *r, const struct block_access *x,
			   int reduction, int *output);
/* What the block stores to, renamed to acc. */
bool rules_accumulator(struct rules *r, int block, const struct buffer **out);
bool block_reduces(const struct stmt *block);
bool rules_is_param(const struct func *f, const struct buffer *b);
/* Which of what the block reads the buffer is; -1: none. */
int rules_read_index(struct rules *r, int block, const struct buffer *b);
/* The axis that chooses among sums that are written out, one for each of its
 * points; -1: the block is not like that. */
int block_chooses(const struct stmt *block);

/* fuse_pixels.c: where two axes next to each other are walked as one
 * row by everything that has them, makes them one axis of the reduction, of
 * what it writes and of the output block. x is of the reduction, and stale
 * afterwards. */
bool rules_fuse_pixels(struct rules *r, const struct block_access *x,
		       int reduction, int *output);
/* A map of n indices to at most n_most, none so far; one more. */
struct index_map *rules_map_new(struct module *m, int n, int n_most);
void rules_map_put(struct index_map *map, const struct expr *e);

/* scan_rule.c: a kernel with one block whose iter vars run in order;
 * false: it is none. The same for the threads of a device: true where there is
 * no such block, or its threads are bound. */
bool rule_ordered(struct rules *r);
bool rules_order_threads(struct rules *r);
/* thread_binding.c: binds a thread to each iteration of what the block's
 * loops walk without order or sum; *thread: the innermost of these. */
bool rules_a_thread_each(struct rules *r, int block, int *thread);
/* parallel_loops.c: does the nest take long enough for threads? */
bool rules_worth_sharing(struct rules *r, int loop);

/* parallel_loops.c: shares loops of the scheduled kernel between threads,
 * where the target has them; between groups of one thread each, all of it, where
 * these are what a device runs. */
void rules_parallel(struct rules *r);

/* Inlines what is injective and costs little: all of it, or but for a copy with
 * something around that a reduction slides over, or but for what reductions
 * read. */
enum inline_kept { KEEP_NOTHING, KEEP_ROWS, KEEP_OPERANDS };
void rules_inline(struct rules *r, enum inline_kept kept);

/* thread_binding.c: the kernel for a device's threads. False: a block
 * cannot be bound to them. */
bool rules_threads(struct rules *r);
/* Loops in each other as one: a new one around something, where there are none. */
bool rules_one_loop(struct rules *r, const int *loops, int n,
		    struct sched_value around, int *out);
/* All of a block with its loops. */
struct sched_value rules_nest(int block, const int *loops, int n);
/* Is the block in a nest that threads run? */
bool rules_is_bound(struct rules *r, int block);

/* access_width.c: how many elements next to each other along the axis a
 * thread may take at once: what the block loads that depends on the axis, at
 * least something of it, and (stores) what it stores. 1: one. */
int64_t rules_wide(struct rules *r, int block, int iter, bool stores);
/* The same along all axes as one, where every load is of the place that is
 * stored to. */
int64_t rules_wide_all(struct rules *r, int block);

/* shared_memory_tile.c: a product of two operands by tiles in shared memory.
 * False, and things left half done, if it cannot be. */
bool rule_staged(struct rules *r, int block);

/* tensor_core.c: the same by an instruction of the target for products
 * of tiles. If it cannot be, nothing is done. */
bool rule_tensor(struct rules *r, int block);

/* row_reduction.c: rows, each reduced by several threads. False, and
 * things left half done, if they cannot be. */
bool rule_together(struct rules *r, const int *blocks, int n, int output);

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
bool rule_points(struct rules *r, const int *blocks, int n, int output);
bool rule_rowwise(struct rules *r, const int *blocks, int n, int output);

#endif
