/* SPDX-License-Identifier: Apache-2.0 */
/* How the loads and the store of a block use its axes. */
#ifndef TIRC_ACCESS_PATTERN_H
#define TIRC_ACCESS_PATTERN_H

#include "sched_rules.h"

/* How a load or store uses an axis (an iter var of the block). */
enum axis_use {
	AXIS_UNUSED,
	/* v alone is one index; or two adjacent indices are v // c and v % c,
	 * and the second dimension has extent c */
	AXIS_PLAIN,
	/* v is used only as v // c: the element is the same for c values in a
	 * row */
	AXIS_GRANULAR,
	/* v is used once as v // c, and once as v % c in the last index:
	 * elements are contiguous for c values in a row */
	AXIS_BLOCKED,
	AXIS_MIXED
};

struct load_access {
	const struct expr *load;
	/* by iter var of the block: the way in which the load or store uses
	 * it */
	enum axis_use *use;
	/* by iter var: the number c in AXIS_GRANULAR and AXIS_BLOCKED */
	int64_t *granularity;
	/* by iter var: the number of the index that consists of the iter var,
	 * for AXIS_PLAIN */
	int *dim;
	/* the constant that the load reads; NULL if it reads no constant */
	struct weight *weight;
};

/* Blocks with more iter vars stay plain loops. */
#define MAX_AXES 24

struct block_access {
	struct stmt *block;
	const struct block *info;
	const struct buffer *out; /* the buffer that the block stores to */
	/* the loads in the block, without loads of the accumulator */
	struct load_access *loads;
	/* the use of axes by the store, whose member `load` is NULL */
	struct load_access store;
	int n_loads;
	int n_spatial, n_reduce;
	/* By iter var: its extent. If the extent is symbolic, its largest
	 * value, or INT32_MAX if none is known. */
	int64_t *most;
};

bool rules_access(struct rules *r, int block, struct block_access *out);
/* Does a condition of a conditional expression in e use v? selects: if set, a
 * SELECT counts as a conditional expression, too. */
bool rules_tests_var(const struct expr *e, const struct var *v, bool selects);
/* The size of the blocks in which all loads that depend on the axis `iter` have
 * it (if `store` is set, in which the store has it, too); 0: the sizes differ,
 * or no load depends on the axis. A load from a constant with the axis as a
 * plain index does not count, because the layout of the constant can change. */
int64_t rules_blocked_by(const struct block_access *x, int iter, bool store);
/* Does the epilogue, the block `output`, read the accumulator at exactly its
 * own axes? */
bool rules_same_axes(struct rules *r, const struct block_access *x, int output);
/* Gives a reduction that writes the output itself a block that copies its
 * accumulator to the output, so that the kernel has the same form as one with a
 * reduction and an epilogue. *output: before the call the reduction, after it
 * the block that copies. False after a failure. */
bool rules_separate_accumulator(struct rules *r, const struct block_access *x,
				int reduction, int *output);
/* Names the buffer that the block stores to "acc", and returns it in *out.
 * False after a failure. */
bool rules_accumulator(struct rules *r, int block, const struct buffer **out);
/* The index of the buffer among the block's read regions; -1: the block does
 * not read it. */
int rules_read_index(struct rules *r, int block, const struct buffer *b);

#endif
