/* SPDX-License-Identifier: Apache-2.0 */
/* Floats that a model computes from sizes, as exact fractions of integers. */
#ifndef TIRC_FRACTION_H
#define TIRC_FRACTION_H

#include "dims.h"

/* A number as a fraction of integers; the denominator is above 0. */
struct fraction {
	const struct expr *numerator;
	int64_t denominator;
};

/* Sets *out to the exact value of e, an integer or a float, if no operation in
 * e rounds for any values of the sizes; else returns false. */
bool fraction_of(struct module *m, const struct expr *e, struct fraction *out);
/* Brings a and b to a common denominator. Both denominators must be powers of
 * two. */
void fraction_align(struct module *m, struct fraction *a, struct fraction *b);
/* Three functions that return an integer expression equal to floor(e), ceil(e)
 * and the truncated e, in this order; NULL if none is known. */
const struct expr *fraction_floor(struct module *m, const struct expr *e);
const struct expr *fraction_ceil(struct module *m, const struct expr *e);
const struct expr *fraction_trunc(struct module *m, const struct expr *e);
/* The integer expression that equals e; NULL if e may have a fraction. */
const struct expr *fraction_whole(struct module *m, const struct expr *e);

#endif
