/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a lowered function. */
#ifndef TIRC_FUNC_WORK_H
#define TIRC_FUNC_WORK_H

#include "func.h"

/* Sets the numbers of operations on floats, and on integers except indices, each
 * lane counted. values: the value of each scalar parameter, at its index; NULL:
 * sizes have their largest values. */
void func_operations(const struct func *f, const int64_t *values,
		     double *floats, double *ints);

#endif
