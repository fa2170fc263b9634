/* SPDX-License-Identifier: Apache-2.0 */
/* Products that the target computes by dot products of the type of weights
 * (the settings weight_type and weight_depth). */
#ifndef TIRC_PAIRS_H
#define TIRC_PAIRS_H

#include "rewrite.h"

/* Can dot products of weight_type compute n, a product of float32 by constant
 * weights that have this type or could be stored in it: does n sum over a
 * number of elements that is a multiple of weight_depth, and can they be next
 * to each other in memory? False if the target has no such dot product. */
bool pairs_can_compute(const struct graph *g, const struct node *n);

#endif
