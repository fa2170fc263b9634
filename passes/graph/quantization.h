/* SPDX-License-Identifier: Apache-2.0 */
/* What the passes over quantized graphs share: reading the scales around a
 * node, and the factors that requantizing takes. */
#ifndef TIRC_GRAPH_QUANTIZATION_H
#define TIRC_GRAPH_QUANTIZATION_H

#include "rewrite.h"

/* real = (stored - zero) * scale; one of each, or one per index along axis. */
struct quantization {
	int64_t n;
	int axis;
	const double *scale;
	const double *zero;
};

/* The tensor behind t of 8 bits (of weights: or 4; of a bias: 32), which a
 * DequantizeLinear by constants makes; NULL: t is no such thing. */
struct tensor *dequantized(struct graph *g, const struct tensor *t,
			   struct quantization *q);
/* Notes that what makes t, where dequantized() tells, is computed in another
 * way: by `into`, or (NULL) in constants. */
void take_up_dequantized(struct graph *g, const struct tensor *t,
			 struct node *into);
/* The same of a QuantizeLinear to 8 bits, whose output it is about. */
bool quantization_of(struct graph *g, const struct node *n,
		     struct quantization *q);
/* Notes on the graph's inputs and outputs of 8 or 16 bits which real numbers
 * they stand for: the scale and zero point of the nodes that read or make them,
 * where these agree. Before passes move them. */
void note_reals(struct graph *g);
/* Both have one scale and one zero point, the same? */
bool quantization_equal(const struct quantization *a,
			const struct quantization *b);
bool is_byte(const struct tensor *t);
bool is_nibble(const struct tensor *t); /* an integer of 4 bits */

/* Where the result of an anchor ends in 8 bits: the element-wise bounds that
 * follow (Relu, Clip), then the QuantizeLinear. */
struct quantized_end {
	struct node *bounds[4];
	int n_bounds;
	struct node *quantize;
	struct quantization q;
	int64_t low, high; /* of the stored number */
};

/* False where the anchor's only output goes on otherwise. */
bool find_quantized_end(struct graph *g, const struct node *anchor,
			struct quantized_end *end);

/* real as multiplier * 2^(exponent - 31), multiplier of 31 bits: as
 * TFLite's QuantizeMultiplier. */
void fixed_point(double real, int64_t *multiplier, int64_t *exponent);

/* A node of domain tirc before `before`, with one fresh output. */
struct node *insert_internal(struct graph *g, const struct node *before,
			     const char *op_type, const char *base,
			     struct tensor *const *inputs, int n_inputs);
/* Gives the result of `made` (inferred) to everything that read the end's, with
 * the origins of the anchor, the bounds and the quantization, which go. */
bool finish_quantized(struct graph *g, struct node *anchor,
		      const struct quantized_end *end, struct node *made);
/* A tirc.Requantize of sum (32 bits) to the end's type: by the real factors
 * scale[0..n), along axis; inserted before the end. */
struct node *insert_requantize(struct graph *g, const struct quantized_end *end,
			       struct tensor *sum, const double *scale,
			       int64_t n, int axis);

#endif
