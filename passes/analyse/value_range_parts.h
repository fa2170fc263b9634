/* SPDX-License-Identifier: Apache-2.0 */
/* Between value_range.c, which knows expressions, and value_range_sums.c, which
 * knows arrays. */
#ifndef TIRC_VALUE_RANGE_PARTS_H
#define TIRC_VALUE_RANGE_PARTS_H

#include "value_range.h"

/* a + b, a - b, a * b; false: beyond 64 bits. */
bool value_range_add(struct value_range a, struct value_range b,
		     struct value_range *sum);
bool value_range_sub(struct value_range a, struct value_range b,
		     struct value_range *difference);
bool value_range_mul(struct value_range a, struct value_range b,
		     struct value_range *product);
struct value_range value_range_join(struct value_range a, struct value_range b);
bool value_range_inside(struct value_range a, struct value_range b);
/* The value of the LET, or of LETs in turn, that e names; else e. */
const struct expr *value_range_resolved(const struct value_ranges *r,
					const struct expr *e);

#endif
