/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of a function, each with the largest number of its iterations. */
#ifndef TIRC_LOOP_BOUNDS_H
#define TIRC_LOOP_BOUNDS_H

#include "analyse.h"

struct loop_bound {
	const struct stmt *loop; /* a FOR or a WHILE */
	int depth;               /* the number of loops around it, plus 1 */
	/* the largest number of iterations per execution; BOUND_POS_INF: not
	 * bounded */
	int64_t most;
	bool is_constant; /* the loop always has `most` iterations */
};

struct loop_bounds {
	VEC(struct loop_bound) list;
};

/* All loops of f in the order of the program. */
struct loop_bounds loop_bounds_of(const struct func *f);

#endif
