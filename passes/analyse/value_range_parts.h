/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by value_range.c (expressions) and value_range_sums.c (arrays). */
#ifndef TIRC_VALUE_RANGE_PARTS_H
#define TIRC_VALUE_RANGE_PARTS_H

#include "linear.h"
#include "value_range.h"

/* The interval of a + b, of a - b and of a * b; false if an end does not fit in
 * 64 bits. */
bool value_range_add(struct bounds a, struct bounds b, struct bounds *sum);
bool value_range_sub(struct bounds a, struct bounds b,
		     struct bounds *difference);
bool value_range_mul(struct bounds a, struct bounds b, struct bounds *product);

#endif
