/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the pass `vectors`. */
#ifndef TIRC_VECTORS_H
#define TIRC_VECTORS_H

#include "access.h"

struct vectors {
	struct func *func;
	struct module *module;
	/* the vector type in use, one of the target's list */
	struct dtype type;
	/* the lanes of the target's longest vector of these elements */
	int most_lanes;
	/* the target can convert bytes to and from vectors of 32-bit integers,
	 * and scale these */
	bool bytes;
	bool fmax; /* the target has fmax for vectors */
	/* the target can convert vectors of 16-bit floats to float32 */
	bool halves;
	/* the local arrays that become arrays of vectors */
	VEC(const struct buffer *) locals;
	VEC(struct stmt *) loops; /* the loops that access these arrays */
};

/* Does the access have stride 1 in v: the last index advances by one element
 * per step of v, the other indices are independent of v? *rest is the last
 * index without v. */
bool vectors_walks(struct vectors *x, const struct stmt *at,
		   const struct expr *const *index, int n, struct var *v,
		   const struct expr **rest);
/* Is e, evaluated at statement `at`, provably a multiple of the number of
 * lanes? */
bool vectors_divides(struct vectors *x, const struct stmt *at,
		     const struct expr *e);
bool vectors_is_local(const struct vectors *x, const struct buffer *b);

/* Limits that are the same for all targets; they are not the sizes of register
 * files. Loops over more than VECTORS_IN_REGISTERS vectors are not unrolled,
 * and an array with more vectors is assumed to be in memory: its lanes are not
 * read one by one. Arrays with more than VECTORS_AT_MOST vectors do not become
 * arrays of vectors. */
enum { VECTORS_IN_REGISTERS = 32, VECTORS_AT_MOST = 256 };

/* The number of iterations in the tail of a vectorized loop. */
int64_t vectors_rest(const struct vectors *x, const struct stmt *loop);
/* vector_loops.c: can the loop be rewritten so that it accesses the local
 * arrays only by whole vectors? */
bool vectors_loop_fits(struct vectors *x, struct stmt *loop);
/* Can the whole loop be rewritten with vectors, without a loop over lanes? Also
 * false if the loop stores no bytes and no other loop of the function is to be
 * rewritten: compilers vectorize such a loop well. */
bool vectors_loop_is_plain(struct vectors *x, struct stmt *loop);
/* Rewrites the loop; buffers keep their types and are accessed by ramps. */
void vectors_rewrite_loop(struct vectors *x, struct stmt *loop);

#endif
