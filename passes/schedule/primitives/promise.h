/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that may change the values of a buffer. The schedule promises that they
 * do not; that cannot be checked. */
#ifndef TIRC_PROMISE_H
#define TIRC_PROMISE_H

#include "edit.h"

/* Do the values of b never decide which memory is accessed? They must not reach
 * an index, a condition, a size, a call, or a parameter whose elements may be
 * indices or sizes of another function. False after a diagnostic. */
bool values_are_data(struct edit *e, const struct buffer *b);

#endif
