/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass `channels`. */
#ifndef TIRC_CHANNELS_H
#define TIRC_CHANNELS_H

#include "rewrite.h"

/* How the channels (dimension 1) of a node's output depend on the channels of
 * those inputs that are not constant. */
enum channel_role {
	CHANNELS_OTHER, /* not known */
	/* each output channel depends on all input channels: a product of x and
	 * constants */
	CHANNELS_MIXED,
	/* a depthwise convolution: each output channel depends on its own input
	 * channel */
	CHANNELS_SINGLE,
	/* Each output channel depends on the same channel of the variable
	 * inputs: a monotonic function of one input, or a sum. */
	CHANNELS_ALIKE,
	CHANNELS_VIEW, /* [n, c, 1, ...] viewed as [n, c] */
};

/* The known facts about the channels of a tensor. */
struct channels {
	int64_t n;
	/* For each channel: bounds of its elements; infinite if they are not
	 * known. If both bounds are equal, every element of the channel has
	 * this value. */
	double *low, *high;
	/* for each channel: true if the channel is kept, because a reader needs
	 * its elements, or to complete a block of channels */
	bool *needed;
	int64_t n_kept;
	/* the numbers of the n_kept channels that are kept, in order */
	int64_t *kept;
};

/* The weights of a product: w[to][from][tap], in any order in memory. The
 * weights of a ConvTranspose are in groups: group g has the output channels
 * from g * in_group on, and its weights start at g * group_elems. */
struct channel_weights {
	int64_t to, from, taps;
	int64_t in_group, group_elems;
	/* strides in elements; the stride from tap to tap is 1 */
	int64_t stride_to, stride_from;
	const struct value *value;
};

enum channel_role channel_role(const struct node *n);
/* Is n a convolution (with any groups) or a matrix product with constant
 * weights and bias? */
bool channel_product(const struct node *n);
/* The number of the tensor's channels; 0 if not known. */
int64_t channel_count(const struct tensor *t);
/* Reads the weights of a channel_product(); w->from is the number of channels
 * of one group. False after a diagnostic. */
bool channel_weights(struct graph *g, const struct node *n,
		     struct channel_weights *w);
int64_t channel_weight(const struct channel_weights *w, int64_t to,
		       int64_t from, int64_t tap);
/* Does a convolution read elements outside of x? If so, sets *value to the
 * value of these elements. A convolution that skips taps outside of x counts,
 * too: its result is the same as if the elements there were equal to x's zero
 * point. */
bool channel_reads_outside(const struct node *n, double *value);
/* The zero point that a product subtracts from each element of x. */
int64_t channel_x_zero(const struct node *n);

/* channel_bounds.c: sets of[id] to the bounds of the tensor with this id; NULL
 * for tensors without channels. False after a diagnostic. */
bool channel_bounds(struct graph *g, struct channels **of);

#endif
