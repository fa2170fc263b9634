/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by value_range.c (expressions) and value_range_sums.c (arrays). */
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
/* e with a variable of a LET replaced by its value, repeatedly. */
const struct expr *value_range_resolved(const struct value_ranges *r,
					const struct expr *e);

#endif
