/* SPDX-License-Identifier: Apache-2.0 */
/* How far two computations of the same element may differ (tolerance.def). */
#ifndef TIRC_TOLERANCE_H
#define TIRC_TOLERANCE_H

#include "dtype.h"

/* rtol: relative to the element; atol: absolute; inputs: a relative change of
 * the inputs, whose effect on the element is added. */
struct type_tolerance {
	double rtol, atol, inputs;
};

/* The default tolerance of elements of type t; zeros for other types than
 * floats. */
struct type_tolerance tolerance_of_type(struct dtype t);

#endif
