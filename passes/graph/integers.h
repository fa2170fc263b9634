/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass integers. */
#ifndef TIRC_INTEGERS_H
#define TIRC_INTEGERS_H

#include "quantization.h"

/* integers_bias.c */
struct product_bias {
	const double *units; /* of each output channel; NULL if there is no
			      * bias */
	/* The node that dequantizes the bias; NULL if the bias is stored in
	 * floats. */
	const struct node *dequantize;
	bool rescaled; /* do the units differ from the stored numbers? */
};

/* Reads t, the bias, as a whole number of units of the sum; t may be NULL.
 * unit[channel]: the real value of a unit; step: that of a step of the
 * quantized result. The caller has cleared *bias. False if the bias is not a
 * whole number of units. */
bool read_product_bias(struct graph *g, struct tensor *t, int64_t channels,
		       const double *unit, double step,
		       struct product_bias *bias);

/* integers_product.c: rewrites a Conv, ConvTranspose, Gemm or MatMul with
 * quantized constants. True also if n is none of these; false after a
 * diagnostic. */
bool integers_product(struct graph *g, struct node *n);
/* Like integers_product, for a ConvInteger or MatMulInteger. */
bool integers_sum(struct graph *g, struct node *n);

#endif
