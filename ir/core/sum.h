/* SPDX-License-Identifier: Apache-2.0 */
/* Integer expressions as sums: constant + coefficient * atom + …, where an atom
 * is any expression that is not a sum. Used for regions and ranges;
 * passes/analyse/ has stronger analyses. */
#ifndef TIRC_SUM_H
#define TIRC_SUM_H

#include "expr.h"

/* The most terms of a sum, and the most nodes that are visited to find it:
 * shared nodes can expand to exponentially long sums. */
enum { SUM_MAX_TERMS = 16, SUM_MAX_NODES = 256 };

struct sum {
	int64_t constant;
	int n;
	const struct expr *atom[SUM_MAX_TERMS];
	int64_t coefficient[SUM_MAX_TERMS]; /* never 0 */
};

/* Sets *out to e as a sum. False if there are too many terms or nodes, or a
 * number overflows. */
bool sum_of(const struct expr *e, struct sum *out);
/* Is a - b a constant? *out is its value. */
bool sum_difference(const struct expr *a, const struct expr *b, int64_t *out);
/* The extent of the range from min to `end`, which is end - min, simplified;
 * min and `end` have the same type. */
const struct expr *range_extent(struct module *m, const struct expr *min,
				const struct expr *end);

#endif
