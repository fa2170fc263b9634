/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass integers. */
#ifndef TIRC_INTEGERS_H
#define TIRC_INTEGERS_H

#include "quantization.h"

/* integers_bias.c */
struct product_bias {
	const double *units; /* of each output channel; NULL: no bias */
	/* That dequantizes the bias; NULL: it is stored in floats. */
	const struct node *dequantize;
	bool rescaled; /* are the units others than the stored numbers? */
};

/* Reads t, the bias or NULL, of which a unit of the sum has unit[channel], and a
 * step of the quantized result has `step`. *bias is cleared before. False: it is
 * no whole number of units. */
bool read_product_bias(struct graph *g, struct tensor *t, int64_t channels,
		       const double *unit, double step,
		       struct product_bias *bias);

/* integers_product.c: rewrites a Conv, ConvTranspose, Gemm or MatMul by quantized constants;
 * true also if n is none; false after a diagnostic. */
bool integers_product(struct graph *g, struct node *n);
/* The same for a ConvInteger or MatMulInteger. */
bool integers_sum(struct graph *g, struct node *n);

#endif
