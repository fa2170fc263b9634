/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the pass "integers". */
#ifndef TIRC_GRAPH_INTEGERS_H
#define TIRC_GRAPH_INTEGERS_H

#include "quantization.h"

/* integers_product.c: a Conv, Gemm or MatMul by quantized constants, where it
 * is one; true also where nothing changes, false after a diagnostic. */
bool integers_product(struct graph *g, struct node *n);

#endif
