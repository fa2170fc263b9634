/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass `integers`. */
#ifndef TIRC_INTEGERS_H
#define TIRC_INTEGERS_H

#include "quantization.h"

/* integers_bias.c */
/* The bias of a product, as the integers that are added to its integer sums. */
struct product_bias {
	/* by output channel: the integer of the bias; NULL if the product has
	 * no bias */
	const double *units;
	/* The node that dequantizes the bias; NULL if the bias is stored in
	 * floats. */
	const struct node *dequantize;
	/* an integer of the bias in units differs from the number that the
	 * model stores */
	bool rescaled;
};

/* Reads the tensor t, the bias, into *bias, which the caller has cleared; t may
 * be NULL. unit[channel]: the real value of 1 in the integer sum; step: the
 * real value of 1 in the quantized result. False if t is not constant or does
 * not have one number for each channel, or if a number is not an integer times
 * its unit, up to small errors. */
bool read_product_bias(struct graph *g, struct tensor *t, int64_t channels,
		       const double *unit, double step,
		       struct product_bias *bias);

/* integers_product.c: rewrites a Conv, ConvTranspose, Gemm or MatMul with
 * quantized constants. True also if n is another node; false after a
 * diagnostic. */
bool integers_product(struct graph *g, struct node *n);
/* Like integers_product, for a ConvInteger or MatMulInteger. */
bool integers_sum(struct graph *g, struct node *n);

#endif
