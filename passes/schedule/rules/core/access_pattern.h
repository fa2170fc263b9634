/* SPDX-License-Identifier: Apache-2.0 */
/* How the loads and the store of a block use its axes. */
#ifndef TIRC_ACCESS_PATTERN_H
#define TIRC_ACCESS_PATTERN_H

#include "sched_rules.h"

/* How a load or store uses an axis. */
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
	/* By iter var: its extent; of a symbolic one the largest value, or
	 * INT32_MAX if none is known. */
	int64_t *most;
};

bool rules_access(struct rules *r, int block, struct block_access *out);
/* Does the condition of a conditional expression in e use v? selects: SELECTs
 * are conditional expressions, too. */
bool rules_tests_var(const struct expr *e, const struct var *v, bool selects);
/* The block size of the axis in all loads that depend on it (and, with `store`,
 * in the store); 0: the sizes differ, or no load depends on the axis. Constants
 * with the axis as a plain index do not count: their layout can change. */
int64_t rules_blocked_by(const struct block_access *x, int iter, bool store);
/* Does the epilogue read the accumulator at exactly its own axes? */
bool rules_same_axes(struct rules *r, const struct block_access *x, int output);
/* Gives a reduction without an epilogue a block that copies the accumulator to
 * the output, so that it has the same form as a reduction with one. *output:
 * the reduction's block before, the copying block after. */
bool rules_separate_accumulator(struct rules *r, const struct block_access *x,
				int reduction, int *output);
/* Names the buffer that the block stores "acc", and returns it in *out. */
bool rules_accumulator(struct rules *r, int block, const struct buffer **out);
/* The index of the buffer among the block's read regions; -1: the block does
 * not read it. */
int rules_read_index(struct rules *r, int block, const struct buffer *b);

#endif
