/* SPDX-License-Identifier: Apache-2.0 */
/* Resize: how positions of the output map to positions of the input. */
#ifndef TIRC_OPS_RESIZE_H
#define TIRC_OPS_RESIZE_H

#include "dims.h"

/* One dimension: output i shows the input at x(i) = start + i * step. */
struct resize_axis {
	const struct expr *size, *result; /* of the input, of the output */
	bool resized;                     /* false: output i is input i */
	double scale;
	double start, step;
	/* tf_crop_and_resize: the outputs whose position is inside of the
	 * input. */
	bool crops;
	int64_t inside_min, inside_end;
	int64_t virtual_size, virtual_result; /* the sizes; of symbolic ones, an
					       * example */
};

/* (i * p + q) / r, rounded down, exact in integers; r > 0. */
struct ratio {
	int64_t p, q, r;
};

/* Fills one axis per dimension of input 0. */
bool resize_axes(struct infer *c, const struct node *n,
		 struct resize_axis *axes);
/* The input's index for each of the virtual_result output indices by
 * nearest_mode, and the same as an expression. */
const int64_t *resize_nearest_sources(struct module *m, const struct node *n,
				      const struct resize_axis *a);
const struct expr *resize_nearest_index(struct define *c, const struct node *n,
					const struct resize_axis *a,
					const struct expr *i);
/* x(i) as a number of type t. */
const struct expr *resize_position(struct module *m,
				   const struct resize_axis *a, struct dtype t,
				   const struct expr *i);
/* x(i) as a ratio of small integers; false: there is none. */
bool resize_ratio(const struct resize_axis *a, struct ratio *ratio);

#endif
