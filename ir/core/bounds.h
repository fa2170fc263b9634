/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of intervals, for sizes (size_bounds.h) and for the analyser
 * (passes/analyse/): both read a formula by bounds_of_operation. */
#ifndef TIRC_BOUNDS_H
#define TIRC_BOUNDS_H

#include "expr.h"

#define BOUND_NEG_INF INT64_MIN
#define BOUND_POS_INF INT64_MAX

struct bounds {
	int64_t min, max; /* closed; BOUND_*_INF where unknown */
};

/* The interval [v, v]. As an end, INT64_MIN or INT64_MAX means "not known", so
 * for these the interval contains v and its neighbour. */
struct bounds bounds_of_value(int64_t v);
struct bounds bounds_union(struct bounds x, struct bounds y);
struct bounds bounds_meet(struct bounds x, struct bounds y);
/* Is the interval x contained in y? */
bool bounds_within(struct bounds x, struct bounds y);
struct bounds bounds_add(struct bounds x, struct bounds y);
struct bounds bounds_scale(struct bounds x, int64_t by);
/* Bounds of a binary operator's result, in unbounded integers. A division by
 * zero gives 0; nothing is known if 0 is the only divisor. Exact, except for
 * remainders, if the operands are independent and have all values of x and
 * y. */
struct bounds bounds_binary(enum expr_kind kind, struct bounds x,
			    struct bounds y);

typedef struct bounds bounds_fn(void *state, const struct expr *e);

/* Bounds of e, computed from the bounds that `of` gives for the operands of e.
 * A variable has its declared bounds. */
struct bounds bounds_of_operation(const struct expr *e, bounds_fn *of,
				  void *state);

/* x / c, rounded down. */
int64_t floor_div(int64_t x, int64_t c);
/* The remainder of floor_div(x, c), with the sign of c; c is not -1. */
int64_t floor_mod(int64_t x, int64_t c);

#endif
