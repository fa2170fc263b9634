/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a lowered function; the statements of any function. */
#ifndef TIRC_FUNC_WORK_H
#define TIRC_FUNC_WORK_H

#include "func.h"

/* Sets the numbers of operations on floats, and on integers except indices, each
 * lane counted. values: the value of each scalar parameter, at its index; NULL:
 * sizes have their largest values. */
void func_operations(const struct func *f, const int64_t *values,
		     double *floats, double *ints);

/* The number of statements that the interpreter runs for f, about: of an `if` the
 * branch with more of them counts, a loop without a known bound as one iteration.
 * values: as above. */
double func_statements(const struct func *f, const int64_t *values);

#endif
