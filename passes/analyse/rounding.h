/* SPDX-License-Identifier: Apache-2.0 */
/* Floats that a function rounds to whole numbers. */
#ifndef TIRC_ROUNDING_H
#define TIRC_ROUNDING_H

#include "func.h"

/* Does f round floats to whole numbers? A difference in the last bit before the
 * rounding can change the number: no product may be added without being rounded
 * itself, and no sum may be taken in another order. */
bool func_rounds(const struct func *f);
/* Does f round, and add products of floats or call functions that may add them,
 * so that a compiler which contracts would change what f rounds? */
bool func_forbids_contraction(const struct func *f);

#endif
