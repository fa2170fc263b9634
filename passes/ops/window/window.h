/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding windows, shared by convolutions and pools. A window has up to
 * WINDOW_MAX spatial dimensions, in the order of the tensor's dimensions. */
#ifndef TIRC_WINDOW_H
#define TIRC_WINDOW_H

#include "define.h"

#define WINDOW_MAX 4

struct window {
	int n;
	int64_t kernel[WINDOW_MAX], stride[WINDOW_MAX], dilation[WINDOW_MAX];
	const struct expr *in[WINDOW_MAX], *out[WINDOW_MAX];
	const struct expr *begin[WINDOW_MAX], *end[WINDOW_MAX]; /* padding */
	/* the attribute output_padding of transposed convolutions */
	int64_t output_padding[WINDOW_MAX];
};

/* Fills w from the node's attributes and the shape of input 0 ([n, c, …]).
 * kernel: the sizes of the window; NULL: those of the attribute kernel_shape.
 * transposed: computes the sizes of a ConvTranspose. Returns NULL, or the
 * problem in words. */
const char *window_of_node(struct module *m, const struct node *n,
			   const int64_t *kernel, bool transposed,
			   struct window *w);
/* "oh", "kh", …: dimension d with a letter in front. */
const char *window_axis_name(struct module *m, const struct window *w, int d,
			     const char *prefix);
/* A position of an output, or the number of a tap, along dimension d, as an
 * index; the index has 64 bits if its sums with strides, dilations and padding
 * may not fit in 32 bits. */
const struct expr *window_index(struct module *m, const struct window *w, int d,
				const struct expr *e);
/* The input position that tap k of output o reads: o * stride + k * dilation
 * - padding. */
const struct expr *window_position(struct module *m, const struct window *w,
				   int d, const struct expr *o,
				   const struct expr *k);
/* window_below: can a tap along dimension d lie before the input, so that its
 * read needs a guard? window_above: can it lie after the input? */
bool window_below(const struct window *w, int d);
bool window_above(struct module *m, const struct window *w, int d);
/* Can a window have no tap inside of the input along dimension d, because of
 * dilation, large padding or an empty input? True unless the opposite is
 * proven. */
bool window_may_miss(struct module *m, const struct window *w, int d);
/* Axes [n, c, spatial…] of the output, with the given channel name. */
struct iter_var *window_axes(struct define *c, const struct window *w,
			     const struct tensor *y, const char *channel);
/* Sets taps to reduction axes over the taps, one for each spatial dimension. */
void window_taps(struct define *c, const struct window *w,
		 struct iter_var *taps);
/* The load x[n, channel, position…]; `outside` in the padding. */
const struct expr *
window_load(struct define *c, const struct window *w, const struct te_tensor *x,
	    const struct expr *batch, const struct expr *channel,
	    const struct iter_var *out, const struct iter_var *taps,
	    const struct expr *outside);

#endif
