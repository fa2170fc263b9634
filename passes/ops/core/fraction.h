/* SPDX-License-Identifier: Apache-2.0 */
/* Floats that a model computes from sizes, as exact fractions of integers. */
#ifndef TIRC_FRACTION_H
#define TIRC_FRACTION_H

#include "dims.h"

/* numerator / denominator; the denominator is above 0 */
struct fraction {
	const struct expr *numerator;
	int64_t denominator;
};

/* The fraction that an expression is, an integer or a float, if no operation in
 * it rounds for any value of the sizes; else false. */
bool fraction_of(struct module *m, const struct expr *e, struct fraction *out);
/* The numerators over one denominator, which is a power of two for both. */
void fraction_align(struct module *m, struct fraction *a, struct fraction *b);
/* The integer expression that floor(e), ceil(e), or e without its fraction is;
 * NULL: none is known. */
const struct expr *fraction_floor(struct module *m, const struct expr *e);
const struct expr *fraction_ceil(struct module *m, const struct expr *e);
const struct expr *fraction_trunc(struct module *m, const struct expr *e);
/* The integer expression that e is; NULL: e may have a fraction. */
const struct expr *fraction_whole(struct module *m, const struct expr *e);

#endif
