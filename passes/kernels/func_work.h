/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a lowered function; the statements of any function. */
#ifndef TIRC_FUNC_WORK_H
#define TIRC_FUNC_WORK_H

#include "func.h"

/* Sets *floats to the number of operations of f on floats, and *ints to that on
 * integers that are not indices; a vector operation counts once for each lane.
 * values: the value of each scalar parameter, at its index; NULL: sizes have
 * their largest values. */
void func_operations(const struct func *f, const int64_t *values,
		     double *floats, double *ints);

/* An estimate of the number of statements that the interpreter runs for f. For
 * an `if`, the branch with more statements counts; a loop without a known bound
 * counts as one iteration. values: as for func_operations(). */
double func_statements(const struct func *f, const int64_t *values);

#endif
