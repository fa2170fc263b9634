/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a size can have: an expression of symbolic dimensions with
 * declared bounds, constants and the usual operators. */
#ifndef TIRC_SIZE_BOUNDS_H
#define TIRC_SIZE_BOUNDS_H

#include "expr.h"

/* Sets min <= e <= max; false: one of them is not known, or beyond int64. */
bool size_bounds(const struct expr *e, int64_t *min, int64_t *max);
/* May the size be 0, or negative, for a value of its variables? */
bool size_may_be_empty(const struct expr *e);
/* Sets *max to the largest value alone; false: not known, or beyond int64. */
bool size_max(const struct expr *e, int64_t *max);

#endif
