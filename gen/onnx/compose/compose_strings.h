/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the compositions for tensors of strings. */
#ifndef TIRC_COMPOSE_STRINGS_H
#define TIRC_COMPOSE_STRINGS_H

#include "compose.h"

/* The number of bytes that each string of x has: the size of x's last
 * dimension. */
int64_t string_bytes(const struct tensor *x);
/* x with strings of `bytes` bytes, filled up with zeros. No string of x may be
 * longer. */
struct tensor *string_widen(struct compose *c, struct tensor *x, int64_t bytes);
/* Makes t, a tensor of strings, the result k of the model's node. */
void string_result(struct compose *c, int k, struct tensor *t);
/* Are the inputs from `first` on tensors of strings? False after a
 * diagnostic. */
bool string_inputs(struct compose *c, int first);

#endif
