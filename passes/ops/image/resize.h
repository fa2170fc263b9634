/* SPDX-License-Identifier: Apache-2.0 */
/* Resize: how positions of the output map to positions of the input. */
#ifndef TIRC_RESIZE_H
#define TIRC_RESIZE_H

#include "dims.h"

/* One dimension: output i is at position x(i) = start + i * step of the
 * input. */
struct resize_axis {
	const struct expr *size, *result; /* size: of the input; result: of the
					   * output */
	/* false if output i is input i, for all i: the dimension is not
	 * resized */
	bool resized;
	/* the model gives the size of the result; otherwise it gives a scale */
	bool by_sizes;
	double scale;
	double start, step;
	/* The mode is tf_crop_and_resize; inside_min and inside_end: the range
	 * of the outputs whose position is inside of the input. */
	bool crops;
	int64_t inside_min, inside_end;
	/* the sizes of the input and of the result along the axis; if they are
	 * symbolic, those of an example */
	int64_t virtual_size, virtual_result;
	/* If sizes are known only when the model runs: x(i) = (i * p + q) / r,
	 * and the scale is enlarged / reduced; all are integers of one type.
	 * Otherwise p is NULL. */
	const struct expr *p, *q, *r;
	const struct expr *enlarged, *reduced;
	/* If the scale is known only when the model runs: the scale, of type
	 * f32, and the tensor of the positions, x(i) = at[i]. The scale is at
	 * most about enlarged / reduced. Otherwise at is NULL. */
	const struct expr *run_scale;
	const struct te_tensor *at;
};

/* The integer formula (i * p + q) / r, rounded down; r > 0. */
struct ratio {
	int64_t p, q, r;
};

/* Fills one axis for each dimension of input 0. False after a diagnostic. */
bool resize_axes(struct infer *c, const struct node *n,
		 struct resize_axis *axes);
/* resize_nearest_sources: the index in the input, by nearest_mode, for each of
 * the virtual_result indices of the output; resize_nearest_index gives this
 * index as an expression of i, the index of the output. */
const int64_t *resize_nearest_sources(struct module *m, const struct node *n,
				      const struct resize_axis *a);
const struct expr *resize_nearest_index(struct define *c, const struct node *n,
					const struct resize_axis *a,
					const struct expr *i);
/* The attribute nearest_mode. With the attribute rounds_by_scale, which stands
 * for the rounding of older operators: "floor" for an axis that grows, "ceil"
 * for one that shrinks, "floor_or_ceil" if the scale is not known. */
const char *resize_rounding(const struct node *n, const struct resize_axis *a);
/* x(i) as a number of type t. */
const struct expr *resize_position(struct module *m,
				   const struct resize_axis *a, struct dtype t,
				   const struct expr *i);
/* Sets *ratio to x(i) as a ratio of small integers; false if x(i) is no such
 * ratio. */
bool resize_ratio(const struct resize_axis *a, struct ratio *ratio);

/* Is the scale p / r for some r from 1 to 64 and p up to 4096? If so, sets *p
 * and *r, with the least r. If not, *p and *r are not valid. */
bool resize_scale_ratio(double scale, int64_t *p, int64_t *r);

/* resize_run.c: Resize with scales that are known only when the model runs. */

/* Like resize_axes, for nodes with scales that are known only when the model
 * runs. */
bool resize_run_axes(struct infer *c, const struct node *n,
		     struct resize_axis *axes);
/* Makes the tensors of positions: sets `at` of the axes that change. */
void resize_run_positions(struct define *c, const struct node *n,
			  struct te_tensor *const *in,
			  struct resize_axis *axes);

/* resize_symbolic.c: axes whose sizes are known only when the model runs. */

/* Sets p, q and r of the axis for the scale enlarged / reduced; false if the
 * coordinate mode needs sizes that are known when the code is generated. */
bool resize_map_symbolic(struct module *m, const struct node *n,
			 struct resize_axis *a);
/* The index in the input that output i reads, by nearest_mode. */
const struct expr *resize_nearest_symbolic(struct module *m,
					   const struct node *n,
					   const struct resize_axis *a,
					   const struct expr *i);
/* Sets tap[0] and tap[1] to the indices of the elements of the input before and
 * after the position x(i), and *weight to the weight of the second element,
 * from 0 to 1. At the end of the input both indices are that of its last
 * element. */
void resize_taps_symbolic(struct module *m, const struct resize_axis *a,
			  struct dtype t, const struct expr *i,
			  const struct expr *tap[2],
			  const struct expr **weight);
/* Sets *whole to ceil(x(i)) - 1, and *fraction to x(i) minus that, which is in
 * (0, 1]. */
void resize_split_symbolic(struct module *m, const struct resize_axis *a,
			   struct dtype t, const struct expr *i,
			   const struct expr **whole,
			   const struct expr **fraction);

#endif
