/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction that a block computes, recognized from its stores. */
#ifndef TIRC_REDUCTION_MATCH_H
#define TIRC_REDUCTION_MATCH_H

#include "func.h"

struct block_reduction {
	const struct reducer *reducer;
	const struct buffer **buffers;   /* the accumulators */
	const struct expr *const *index; /* the accumulators' common index */
	const struct expr **sources;     /* operands of one reduction step */
	/* the update binds its sources to names by LETs, and stores all
	 * accumulators at once */
	bool named;
};

/* Reads the reduction of a block with an init that stores constants, and an
 * update of one of these forms, with the same index everywhere:
 *
 *	C[v] = C[v] + x                   y0 = …; y1 = …
 *	                                  if cond(C0[v], y0, …):
 *	y = …                                 C0[v] = y0
 *	C[v] = f(C[v], y)                     C1[v] = y1
 *
 * False with the reason in *why. */
bool match_reduction(struct func *f, const struct stmt *block,
		     struct block_reduction *out, const char **why);

/* Properties of a reducer, tested on small numbers. */
struct reducer_facts {
	bool neutral; /* f(identity, x) = x = f(x, identity) */
	bool associative;
	bool commutative;
};
struct reducer_facts reducer_try(struct module *m, const struct reducer *r);

/* Make statements that store the identities, or the results of one step, to the
 * buffers at `index`. */
struct stmt *reduction_init(struct func *f, const struct block_reduction *r,
			    const struct buffer *const *buffers,
			    const struct expr *const *index);
struct stmt *reduction_update(struct func *f, const struct block_reduction *r,
			      const struct buffer *const *buffers,
			      const struct expr *const *index,
			      const struct expr *const *sources);

#endif
