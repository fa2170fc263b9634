/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators on heads of tokens share. */
#ifndef TIRC_ONNX_COMPOSE_ATTENTION_H
#define TIRC_ONNX_COMPOSE_ATTENTION_H

#include "compose.h"

/* [b][s][heads * d] as [b][heads][s][d]; false after a diagnostic. */
bool attention_split_heads(struct compose *c, const char *what,
			   struct tensor **x, int64_t heads);
/* The way back. */
struct tensor *attention_join_heads(struct compose *c, struct tensor *x);

#endif
