/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of a tensor [n, c, spatial...] at positions between its elements. */
#ifndef TIRC_SAMPLER_H
#define TIRC_SAMPLER_H

#include "steps.h"

enum { SAMPLER_MAX = 4, SAMPLER_TAPS = 4 };

enum sampler_padding { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION };

/* The taps of each spatial dimension: the index of each tap; the condition that
 * the tap is inside of the tensor (NULL if it always is); the weight of the tap
 * (NULL if there is only one tap). */
struct sampler {
	int rank, n_taps;
	const struct expr *at[SAMPLER_MAX][SAMPLER_TAPS];
	const struct expr *inside[SAMPLER_MAX][SAMPLER_TAPS];
	const struct expr *weight[SAMPLER_MAX][SAMPLER_TAPS];
};

/* Sets the taps of dimension d around position x, with names for their values.
 * x is a float, at most 3 outside of [0, size). */
void sampler_set(struct sampler *p, struct step_names *names, int d,
		 const struct expr *x, const struct expr *size,
		 enum sampler_padding padding, bool align_corners);
/* The weighted sum of the taps of t[batch, channel, ...], in type `wide`. */
const struct expr *sampler_sum(const struct sampler *p, struct module *m,
			       const struct te_tensor *t,
			       const struct expr *batch,
			       const struct expr *channel, struct dtype wide);
/* "z", "y", "x": the names of spatial dimensions. */
const char *sampler_axis(struct module *m, int rank, int d);

#endif
