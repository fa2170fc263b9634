/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the passes over quantized graphs: quantization parameters of
 * tensors, the nodes that quantize a result, and requantization nodes. */
#ifndef TIRC_QUANTIZATION_H
#define TIRC_QUANTIZATION_H

#include "rewrite.h"

/* real = (stored - zero) * scale. There is one scale and one zero point (n =
 * 1), or one for each index along axis. */
struct quantization {
	int64_t n;
	int axis;
	const double *scale;
	const double *zero;
};

/* If a DequantizeLinear with constant parameters computes t: the quantized
 * tensor that the DequantizeLinear reads, with elements of 8 or 16 bits
 * (weights may also have 4, a bias 32), and its parameters in *q. Else NULL. */
struct tensor *dequantized(struct graph *g, const struct tensor *t,
			   struct quantization *q);
/* If dequantized() finds a producer of t, records for the user that it was
 * absorbed by the node `into`, or, if `into` is NULL, by constants. */
void record_absorbed_dequantize(struct graph *g, const struct tensor *t,
				struct node *into);
/* Reads the parameters of a QuantizeLinear to 8 or 16 bits; false if n is
 * another node. */
bool quantization_of(struct graph *g, const struct node *n,
		     struct quantization *q);
/* Does n quantize the result of a DequantizeLinear back to the same integers?
 * Both nodes must have the same constant float32 scale and zero point, and the
 * integers must have at most 16 bits. */
bool quantizes_back(struct graph *g, const struct node *n);
/* Records the scale and zero point of the graph's 8- and 16-bit inputs and
 * outputs, from the nodes that read or produce them, if these agree. Runs
 * before passes move the nodes. */
void record_io_quantization(struct graph *g);
/* Do a and b have the same scale and the same zero point, both scalars? */
bool quantization_equal(const struct quantization *a,
			const struct quantization *b);
/* Is each of the n > 0 scales above 0, and is the real value of every integer a
 * normal number? Otherwise the operators must stay in floats; a negative scale,
 * for example, reverses the order of numbers. */
bool scales_are_plain(const double *scale, int64_t n);
/* How nodes round results to quantized numbers, as a value of --requant:
 * "onnx", or "tflite" with the setting fixed_point; NULL if no node does. */
const char *graph_rounding(const struct graph *g);
bool is_byte(const struct tensor *t);
bool is_nibble(const struct tensor *t); /* is t an integer of 4 bits? */
/* is t an integer of 8 or 16 bits? */
bool is_byte_or_short(const struct tensor *t);

/* The nodes from an anchor to its result of 8 or 16 bits: elementwise bounds
 * (Relu, Clip), then the QuantizeLinear. */
struct quantized_epilogue {
	struct node *bounds[4];
	int n_bounds;
	struct node *quantize;
	struct quantization q;
	int64_t low, high; /* the bounds of the stored number */
};

/* Sets *end to the epilogue of the anchor. False if a tensor between the anchor
 * and the result is read by a node outside of the epilogue, if no
 * QuantizeLinear with a single scale follows, or if a bound is not a constant
 * number. */
bool find_quantized_epilogue(struct graph *g, const struct node *anchor,
			     struct quantized_epilogue *end);

/* Writes real as multiplier * 2^(exponent - 31) with a multiplier of 31 bits,
 * like TFLite's QuantizeMultiplier. False if the exponent is above 31: then no
 * product with an integer fits in 32 bits. */
bool fixed_point(double real, int64_t *multiplier, int64_t *exponent);

/* An int32 constant of n numbers; a scalar if n is 1. */
struct tensor *constant_words(struct graph *g, const char *base, int64_t n,
			      const int32_t *v);

/* Inserts a node of domain tirc before `before`, with one new output. */
struct node *insert_internal(struct graph *g, const struct node *before,
			     const char *op_type, const char *base,
			     struct tensor *const *inputs, int n_inputs);
/* Replaces the end's result by that of `made` (already inferred). `made` gets
 * the origins of the anchor, the bounds and the quantization, and these nodes
 * are removed. False after a diagnostic. */
bool finish_quantized(struct graph *g, struct node *anchor,
		      const struct quantized_epilogue *end, struct node *made);
/* Inserts, before the end, a tirc.Requantize of the 32-bit sum to the end's
 * type, by the real factors scale[0..n) along axis. */
struct node *insert_requantize(struct graph *g,
			       const struct quantized_epilogue *end,
			       struct tensor *sum, const double *scale,
			       int64_t n, int axis);

#endif
