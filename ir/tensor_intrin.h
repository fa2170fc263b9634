/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics: what an instruction computes, and how it is called.
 * tensorize replaces a block that computes the same by the call. */
#ifndef TIRC_INTRINSIC_H
#define TIRC_INTRINSIC_H

#include "func.h"

/* desc, impl, reset and update are functions with the same parameters, one
 * buffer each, matched by position: inputs and outputs, viewed at an offset.
 *
 * - Shapes are constant, or variables that take what the program has there.
 * - strides: NULL where the function does not care; else constants that have
 *   to fit, or variables (the same one may occur twice) that take the
 *   program's strides. The last dimension's is usually the constant 1.
 * - scope: has to fit, unless it is "" (any).
 * - align_bytes: 0, or what the view's first element has to keep.
 * - The variables in the shapes of desc may have a largest value: limits.
 *
 * desc is phase 0: a root block, in it loops around one block, or one block
 * after another. Two forms:
 * - TVM's: the reduction's block has no init and adds to what is there. The
 *   program's init is set apart first, and impl replaces the update.
 * - TE's: the block has an init. impl computes all of it where all of its
 *   reduction is inside; else the init becomes reset and the rest update
 *   (NULL: the instruction has none, and tensorize refuses).
 *
 * impl's, reset's and update's body (of the root block, if there is one) may
 * be any statement without blocks: stores, loads and vectors of the
 * parameters, address_of, extern calls. Parameters become the views; stride
 * variables their values. */
struct intrin_limit {
	const char *variable; /* in the shapes of desc */
	int64_t most;
};

struct tensor_intrin {
	const char *name; /* "dot_16x4_u8s8s32_vnni" */
	const char *what; /* one line */
	struct func *desc;
	struct func *impl;
	struct func *reset, *update; /* TE's form, or NULL */
	/* What impl's text needs: names of target features. */
	const char *const *requires;
	int n_requires;
	int threads; /* of a block that execute it together; 0: each thread
		      * executes one of its own */
	/* "tf32" where operands of float32 are rounded to that first, which
	 * desc does not say; or NULL. */
	const char *rounds_to;
	const struct intrin_limit *limits;
	int n_limits;
};

/* An external symbol that an implementation calls, and what it does. Views
 * without strides in twin take those of the program: the symbol then serves
 * one set of strides only, and tensorize sees to it. */
struct tensor_call {
	const struct tensor_intrin *intrin;
	const char *symbol;          /* of a CALL_EXTERN in impl, … */
	const struct func *part;     /* intrin's impl, reset or update */
	const struct buffer **views; /* one per parameter of part: shape and
				      * strides at the call; their names and
				      * pointers are the parameters' own */
};

/* The intrinsics that a schedule may name, and the calls that tensorize has
 * made. */
struct tensor_intrins {
	struct arena *arena;
	VEC(const struct tensor_intrin *) list;
	VEC(struct tensor_call) calls; /* one per symbol */
	/* Adds the one of that name, if there is one that the list lacks; may
	 * be NULL. */
	void (*look_up)(struct tensor_intrins *t, const char *name);
	void *look_up_ctx;
};

void tensor_intrins_init(struct tensor_intrins *t, struct arena *arena);
/* A later one of the same name takes the place of the earlier. */
void tensor_intrins_add(struct tensor_intrins *t,
			const struct tensor_intrin *intrin);
const struct tensor_intrin *tensor_intrins_find(struct tensor_intrins *t,
						const char *name);
/* The largest value of a size in the shapes of t's desc: a constant's own; a
 * variable's limit. 0: it has none. */
int64_t tensor_intrin_most(const struct tensor_intrin *t,
			   const struct expr *size);

#endif
