/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics: what an instruction computes, as a program, and the call
 * of the instruction. tensorize replaces a block that computes the same by the
 * call. */
#ifndef TIRC_TENSOR_INTRIN_H
#define TIRC_TENSOR_INTRIN_H

#include "func.h"

/* desc, impl, reset and update are functions with the same parameters, one
 * buffer each, matched by position: inputs and outputs, viewed at an offset.
 *
 * - Shapes are constants, or variables that take the program's sizes.
 * - strides: constants, which must match the program's, or variables (the same
 *   one may occur twice) that take the program's strides; the last dimension's
 *   is usually the constant 1. NULL: loads and stores of the implementation
 *   accept any strides; an external symbol that gets the address needs dense
 *   data, and works on a copy of a strided tile.
 * - scope: must match, unless it is "" (any).
 * - align_bytes: 0, or the required alignment of the view's first element.
 * - The variables in the shapes of desc may have a largest value: limits.
 *
 * desc is phase 0: a root block with loops around one block, or around several
 * blocks in sequence. Two forms:
 * - TVM's: the reduction's block has no init and adds to the output. The
 *   program's init is decomposed first, and impl replaces the update.
 * - TE's: the block has an init. If the whole reduction is inside the block,
 *   impl replaces the block; else reset replaces the init, and update the
 *   update. If the instruction has no reset or update (NULL), then tensorize
 *   refuses the second case.
 *
 * The bodies of impl, reset and update (those of their root blocks, if they
 * have one) may be any statement without blocks: stores, loads and vectors of
 * the parameters, address_of, extern calls. The views replace the parameters,
 * and the values of the strides replace the stride variables. */
struct intrin_limit {
	const char *variable; /* name of a variable in the shapes of desc */
	int64_t most;
};

struct tensor_intrin {
	const char *name; /* "dot_16x4_u8s8s32_vnni" */
	const char *what; /* a description, one line */
	struct func *desc;
	struct func *impl;
	/* in TE's form (see above): reset and update replace the init and the
	 * update of a reduction whose loops are outside of the block; NULL:
	 * there are none */
	struct func *reset, *update;
	/* The names of the target features that impl's text needs. */
	const char *const *requires;
	int n_requires;
	/* the number of threads that execute the instruction together; 0: a
	 * single thread does so */
	int threads;
	/* "tf32" if the instruction first rounds float32 operands to tf32,
	 * which desc does not show; else NULL. */
	const char *rounds_to;
	const struct intrin_limit *limits;
	int n_limits;
};

/* An external symbol that an implementation calls, and the intrinsic that
 * defines its semantics. A view without strides is dense. */
struct tensor_call {
	const struct tensor_intrin *intrin;
	const char *symbol;          /* the name of a function that `part` calls
				      * (CALL_EXTERN) */
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
	/* Called for a name that is not yet in the list: adds the intrinsic of
	 * that name to t, if it exists. NULL if no further intrinsics exist. */
	void (*look_up)(struct tensor_intrins *t, const char *name);
	void *look_up_ctx;
};

/* Makes each parameter of f whose scope is "global" accept buffers of any
 * scope, because scripts do not write a scope for either. f may be NULL. */
void tensor_intrin_open_scopes(struct func *f);
/* Do the parameters of f have the ranks and types of desc's parameters? False
 * with the reason in *why. */
bool tensor_intrin_same_params(struct module *m, const struct func *desc,
			       const struct func *f, const char **why);
void tensor_intrins_init(struct tensor_intrins *t, struct arena *arena);
/* Adds an intrinsic; if t already has one of the same name, replaces it. */
void tensor_intrins_add(struct tensor_intrins *t,
			const struct tensor_intrin *intrin);
const struct tensor_intrin *tensor_intrins_find(struct tensor_intrins *t,
						const char *name);
/* The recorded call of the external function `symbol`; NULL if it was not
 * recorded, or t is NULL. */
struct tensor_call *tensor_intrins_call(const struct tensor_intrins *t,
					const char *symbol);
/* The largest value of a size in the shapes of t's desc: a constant's value or
 * a variable's limit. 0 if the variable has no limit. */
int64_t tensor_intrin_most(const struct tensor_intrin *t,
			   const struct expr *size);

#endif
