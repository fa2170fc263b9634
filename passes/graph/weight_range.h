/* SPDX-License-Identifier: Apache-2.0 */
/* The range of a product's weights, by output channels. */
#ifndef TIRC_WEIGHT_RANGE_H
#define TIRC_WEIGHT_RANGE_H

#include "graph.h"

struct weight_range {
	double largest; /* the largest magnitude; a NaN counts as larger than
			 * all numbers */
	/* For each channel: the sum of the magnitudes of its weights, the
	 * largest magnitude, and the smallest magnitude that is not 0 (infinity
	 * if all weights are 0). */
	double *channel_total, *channel_largest, *channel_least;
	/* by channel: the number of weights that count as terms, which are not
	 * 0, and not so far below the largest weight that they cannot change
	 * its last bit (half an epsilon of the weights' type) */
	int64_t *channel_terms;
};

/* Sets *r to the range of the constant w, whose dimension `axis` has the
 * channels. False if it is not known. */
bool weight_range_find(struct graph *g, struct tensor *w, int axis,
		       int64_t channels, struct weight_range *r);
/* If a pass has multiplied the weights w by a scale for each channel, these
 * scales; the recipe of w then reads the weights before the multiplication.
 * NULL if no pass has done so. */
double *weight_scales(struct graph *g, const struct tensor *w, int axis,
		      int64_t channels);

#endif
