/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass integers. */
#ifndef TIRC_GRAPH_INTEGERS_H
#define TIRC_GRAPH_INTEGERS_H

#include "quantization.h"

/* integers_product.c: rewrites a Conv, ConvTranspose, Gemm or MatMul by quantized constants;
 * true also if n is none; false after a diagnostic. */
bool integers_product(struct graph *g, struct node *n);
/* The same for a ConvInteger or MatMulInteger. */
bool integers_sum(struct graph *g, struct node *n);

#endif
