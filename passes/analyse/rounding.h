/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point contraction and rounding to integers. */
#ifndef TIRC_ROUNDING_H
#define TIRC_ROUNDING_H

#include "func.h"

/* Does f round floats to whole numbers? A difference in the last bit before
 * this rounding can change the whole number: then no product may be added
 * without being rounded itself (contraction), and the order of sums must not
 * change. */
bool func_rounds(const struct func *f);
/* May compilers contract operations of f: does f multiply and add floats, and
 * not forbid contraction? */
bool func_contracts(const struct func *f);
/* Does f round floats to integers, and compute sums of products (or call
 * functions that may), so that contraction could change the rounded results? */
bool func_forbids_contraction(const struct func *f);

#endif
