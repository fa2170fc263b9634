/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the passes over quantized graphs: quantization parameters of
 * tensors, and requantization scales. */
#ifndef TIRC_QUANTIZATION_H
#define TIRC_QUANTIZATION_H

#include "rewrite.h"

/* real = (stored - zero) * scale; one of each, or one per index along axis. */
struct quantization {
	int64_t n;
	int axis;
	const double *scale;
	const double *zero;
};

/* The quantized tensor (8 or 16 bits; weights also 4, a bias 32) that a
 * DequantizeLinear with constant parameters converts to t; NULL: there is
 * none. */
struct tensor *dequantized(struct graph *g, const struct tensor *t,
			   struct quantization *q);
/* Records that the producer of t (if dequantized() finds it) was absorbed by
 * `into`, or (NULL) by constants. */
void record_absorbed_dequantize(struct graph *g, const struct tensor *t,
				struct node *into);
/* The parameters of a QuantizeLinear to 8 or 16 bits. */
bool quantization_of(struct graph *g, const struct node *n,
		     struct quantization *q);
/* Does n quantize each integer that a DequantizeLinear has read to that integer
 * again? Both have the same constant scale, a float32, and zero point; the
 * integers have at most 16 bits. */
bool quantizes_back(struct graph *g, const struct node *n);
/* Records the scale and zero point of the graph's 8- and 16-bit inputs and
 * outputs, from the nodes that read or produce them, if these agree. Runs
 * before passes move the nodes. */
void record_io_quantization(struct graph *g);
/* Do both have the same scalar scale and zero point? */
bool quantization_equal(const struct quantization *a,
			const struct quantization *b);
/* Is each of n > 0 scales above 0, and the real value of every integer a normal
 * number? Others stay with the operators of floats: a negative scale turns the
 * order of numbers round. */
bool scales_are_plain(const double *scale, int64_t n);
bool is_byte(const struct tensor *t);
bool is_nibble(const struct tensor *t);        /* an integer of 4 bits */
bool is_byte_or_short(const struct tensor *t); /* one of 8 or 16 bits */

/* The path from an anchor to its result of 8 or 16 bits: elementwise bounds
 * (Relu, Clip), then the QuantizeLinear. */
struct quantized_epilogue {
	struct node *bounds[4];
	int n_bounds;
	struct node *quantize;
	struct quantization q;
	int64_t low, high; /* of the stored number */
};

/* False if the anchor's output has other readers. */
bool find_quantized_epilogue(struct graph *g, const struct node *anchor,
			     struct quantized_epilogue *end);

/* real as multiplier * 2^(exponent - 31), multiplier of 31 bits: as
 * TFLite's QuantizeMultiplier. False: the exponent is above 31, so that no
 * product of an integer has 32 bits. */
bool fixed_point(double real, int64_t *multiplier, int64_t *exponent);

/* An int32 constant of n numbers; a scalar if n is 1. */
struct tensor *constant_words(struct graph *g, const char *base, int64_t n,
			      const int32_t *v);

/* A node of domain tirc before `before`, with one fresh output. */
struct node *insert_internal(struct graph *g, const struct node *before,
			     const char *op_type, const char *base,
			     struct tensor *const *inputs, int n_inputs);
/* Replaces the end's result by that of `made` (already inferred), which gets
 * the origins of the anchor, the bounds and the quantization; these are
 * removed. */
bool finish_quantized(struct graph *g, struct node *anchor,
		      const struct quantized_epilogue *end, struct node *made);
/* A tirc.Requantize of sum (32 bits) to the end's type: by the real factors
 * scale[0..n), along axis; inserted before the end. */
struct node *insert_requantize(struct graph *g,
			       const struct quantized_epilogue *end,
			       struct tensor *sum, const double *scale,
			       int64_t n, int axis);

#endif
