/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the compositions on strings. */
#ifndef TIRC_ONNX_COMPOSE_STRINGS_H
#define TIRC_ONNX_COMPOSE_STRINGS_H

#include "compose.h"

/* The bytes of each string of x. */
int64_t string_bytes(const struct tensor *x);
/* x with rows of `bytes` bytes, filled with zeros; x's rows are not longer. */
struct tensor *string_widen(struct compose *c, struct tensor *x, int64_t bytes);
/* Result k of the model's node is t, a tensor of strings. */
void string_result(struct compose *c, int k, struct tensor *t);
/* Are the inputs from `first` on strings? Else false after a diagnostic. */
bool string_inputs(struct compose *c, int first);

#endif
