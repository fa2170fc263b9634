/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a size can have: an expression of symbolic dimensions with
 * declared bounds, constants and the usual operators. */
#ifndef TIRC_SIZE_BOUNDS_H
#define TIRC_SIZE_BOUNDS_H

#include "expr.h"

/* Sets *min and *max so that *min <= e <= *max for all values of the variables
 * in e. False if a bound is not known or does not fit in int64. */
bool size_bounds(const struct expr *e, int64_t *min, int64_t *max);
/* Can the size e be 0 or negative for some values of the variables in it? */
bool size_may_be_empty(const struct expr *e);
/* Sets *max to the largest value of e, without the smallest. False if the
 * largest value is not known or does not fit in int64. */
bool size_max(const struct expr *e, int64_t *max);

#endif
