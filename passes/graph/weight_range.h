/* SPDX-License-Identifier: Apache-2.0 */
/* The range of a product's weights, by output channels. */
#ifndef TIRC_WEIGHT_RANGE_H
#define TIRC_WEIGHT_RANGE_H

#include "graph.h"

struct weight_range {
	double largest; /* magnitude; a NaN is larger than all others */
	/* Of each channel: the sum of the magnitudes, the largest one and the
	 * least one that is not 0 (infinity if there is none). */
	double *channel_total, *channel_largest, *channel_least;
	int64_t *channel_terms; /* how many are not 0 */
};

/* The range of the constant w, whose dimension `axis` has the channels. False:
 * it is not known. */
bool weight_range_find(struct graph *g, struct tensor *w, int axis,
		       int64_t channels, struct weight_range *r);
/* Of weights that a pass has multiplied by a scale for each channel: the
 * scales. The recipe of w has the weights before. NULL: they are not. */
double *weight_scales(struct graph *g, const struct tensor *w, int axis,
		      int64_t channels);

#endif
