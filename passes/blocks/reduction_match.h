/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction that a block computes, recognized from its stores. */
#ifndef TIRC_REDUCTION_MATCH_H
#define TIRC_REDUCTION_MATCH_H

#include "func.h"

struct block_reduction {
	const struct reducer *reducer;
	const struct buffer **buffers; /* the accumulators */
	/* the index at which each accumulator is accessed; it is the same for
	 * all accumulators */
	const struct expr *const *index;
	/* by accumulator: the value that the update combines with the
	 * accumulator */
	const struct expr **sources;
	/* the update is none of the form C[v] = op(C[v], x): it first binds its
	 * sources to variables by LETs, then stores all accumulators */
	bool named;
};

/* Reads the reduction of a block with an init that stores constants, and an
 * update of one of the following forms, where every access has the same
 * index:
 *
 *	C[v] = C[v] + x                   y0 = …; y1 = …
 *	                                  if cond(C0[v], y0, …):
 *	y = …                                 C0[v] = y0
 *	C[v] = f(C[v], y)                     C1[v] = y1
 *
 *	u0 = select(C1[v] >= x1, C0[v], x0); u1 = max(C1[v], x1)
 *	C0[v] = u0; C1[v] = u1
 *
 * In the last form the source of a value is the only part of what is stored for it,
 * but for the conditions, that reads no accumulator. False with the reason in *why. */
bool match_reduction(struct func *f, const struct stmt *block,
		     struct block_reduction *out, const char **why);

/* Properties of a reducer f(x, y), which held in 400 trials of the interpreter
 * with small numbers: likely, not proven. */
struct reducer_facts {
	/* for all trials f(identity, x) = x = f(x, identity) */
	bool neutral;
	bool associative; /* for all trials f(f(x, y), z) = f(x, f(y, z)) */
	bool commutative; /* for all trials f(x, y) = f(y, x) */
};
/* Runs the trials. All facts are false if the interpreter cannot run f. */
struct reducer_facts reducer_try(struct module *m, const struct reducer *r);

/* The expression e over the operands of the reducer, with a[k] in place of its left
 * operand k and b[k] in place of its right operand k. */
const struct expr *reducer_combine(struct module *m, const struct reducer *r,
				   const struct expr *e,
				   const struct expr *const *a,
				   const struct expr *const *b);

/* reduction_init makes statements that store the identities to the buffers at
 * `index`, reduction_update statements that store the results of one step. */
struct stmt *reduction_init(struct func *f, const struct block_reduction *r,
			    const struct buffer *const *buffers,
			    const struct expr *const *index);
struct stmt *reduction_update(struct func *f, const struct block_reduction *r,
			      const struct buffer *const *buffers,
			      const struct expr *const *index,
			      const struct expr *const *sources);

#endif
