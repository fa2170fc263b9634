/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the pass "vectors". */
#ifndef TIRC_VECTORS_H
#define TIRC_VECTORS_H

#include "access.h"

struct vectors {
	struct func *func;
	struct module *module;
	struct dtype type; /* of the vectors at hand: one of a list */
	bool bytes; /* may be widened to, scaled as and made from vectors of
		     * 32-bit integers */
	bool fmax;  /* has a form for them */
	VEC(const struct buffer *) locals; /* arrays that shall hold vectors */
	VEC(struct stmt *) loops;          /* that use them */
};

/* Does the access walk along the last dimension, one element for each step of
 * v, the others fixed? *rest is the last index without v. */
bool vectors_walks(struct vectors *x, const struct stmt *at,
		   const struct expr *const *index, int n, struct var *v,
		   const struct expr **rest);
/* Is e at `at` a multiple of the lanes? */
bool vectors_divides(struct vectors *x, const struct stmt *at,
		     const struct expr *e);
bool vectors_is_local(const struct vectors *x, const struct buffer *b);

/* Loops over more vectors are not unrolled, arrays of more are not expected to
 * be in registers: their lanes are not read one by one. */
enum { VECTORS_IN_REGISTERS = 32, VECTORS_AT_MOST = 256 };

/* How many iterations of a vectorized loop are left after whole vectors. */
int64_t vectors_rest(const struct vectors *x, const struct stmt *loop);
/* vector_loops.c: can the loop be written with vectors, so that it touches the
 * locals by whole vectors only? */
bool vectors_loop_fits(struct vectors *x, struct stmt *loop);
/* Can all of it be written with vectors, lane by lane nothing? */
bool vectors_loop_is_plain(struct vectors *x, struct stmt *loop);
/* Writes it so; buffers stay as they are, accessed by ramps. */
void vectors_rewrite_loop(struct vectors *x, struct stmt *loop);

#endif
