/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis, and products into whose
 * weights and bias a map can be folded. */
#ifndef TIRC_AFFINE_H
#define TIRC_AFFINE_H

#include "rewrite.h"
#include "weight_range.h"

#define AFFINE_CHANNELS_MAX (1 << 16)

struct affine {
	int axis; /* counted from the last axis, which is 0; -1 if scale and
		   * shift are scalars */
	int64_t n;
	double *scale, *shift;
	/* Tell the user what scale and shift were computed from: constants, or
	 * results of graph_describe. NULL if the scale is 1, or the shift is
	 * 0. */
	struct tensor *scale_of, *shift_of;
};

void affine_init(struct graph *g, struct affine *a); /* to the identity */
/* Reads a constant that varies along at most one axis of a tensor of the given
 * rank as a shift (additive) or a scale; sets all of a. */
bool affine_read(struct graph *g, struct tensor *constant, int ndim,
		 bool additive, struct affine *a);
/* Sets a to the composition of a, then b, in double. False, with a unchanged,
 * if their axes differ. */
bool affine_compose(struct graph *g, struct affine *a, const struct affine *b);
/* Is the scale 1; or, if !scale, the shift 0? */
bool affine_is_neutral(const struct affine *a, bool scale);
/* Is v, rounded to t, finite, not subnormal, and not 0 unless v is 0? */
bool affine_constant_fits(struct dtype t, double v);
/* Is the scale 0, or between 2^-64 and 2^64? Then an intermediate result
 * between two scales is in range if the last result is, except near the ends of
 * the range. */
bool affine_scale_is_moderate(double v);
/* A constant of `values` along one axis, counted from the first, of a tensor of
 * rank ndim. */
struct tensor *affine_along(struct graph *g, const char *base,
			    struct dtype type, int ndim, int axis, int64_t n,
			    const double *values);
/* The scale as a constant; or, if !scale, the shift. */
struct tensor *affine_constant(struct graph *g, const struct affine *a,
			       bool scale, struct dtype type, const char *base);
/* Describe for people how a constant was computed from x: "$0 * $1" or "$0 * $1
 * + $2". */
struct tensor *affine_described_map(struct graph *g, struct tensor *x,
				    const struct affine *a);
struct tensor *affine_described_product(struct graph *g, struct tensor *a,
					struct tensor *b);

/* A Mul, Add, Sub or Div of a tensor and a constant. */
struct affine_link {
	struct node *node;
	struct tensor *x;
	struct affine map;
	bool scales; /* the node is a scale; else it is a shift */
};

bool affine_is_link(const struct node *n); /* judged by its operator alone */
/* Sets *link to n, a Mul, Add, Sub or Div that maps x along one axis. False if
 * n is another node, or its constant is not of floats or changes the shape. */
bool affine_link_read(struct graph *g, struct node *n,
		      struct affine_link *link);

/* -- affine_host.c -- */

/* A host: a product into whose weights and bias a map of its result can be
 * folded. */
struct affine_host {
	struct node *node;
	int weight_axis; /* the axis of the weights with the output channels */
	int axis;        /* the axis of the result with the channels, counted
			  * from the last */
	int64_t channels;
	bool has_bias;      /* can have a bias as input 2 */
	double alpha, beta; /* factors of the product and of input 2 */
	double *bias;       /* the bias times beta, for each channel; NULL if
			     * there is none */
	struct weight_range weights;
};

/* Is n a host, judged by its operator and types? */
bool affine_is_host(struct node *n);
/* Sets *h to the host n. False if n is none, its bias is not a constant with a
 * number for each channel, or the range of its weights is not known. */
bool affine_host_read(struct graph *g, struct node *n, struct affine_host *h);
/* May a shift be moved into the sum, or past a later scale? `a` is the map up
 * to and with that shift. */
bool affine_host_bears(const struct affine_host *h, const struct affine *a);
/* May a shift after the map `before` cancel a part of the bias on purpose, in
 * order to round the value between them? */
bool affine_host_opposes(const struct affine_host *h,
			 const struct affine *before,
			 const struct affine_link *link);
/* Can the map, or a part of it, be folded into the weights and the bias? */
bool affine_host_takes(const struct affine_host *h, const struct affine *a);
/* Folds the map into the weights and the bias; a keeps the part that must still
 * be computed. */
bool affine_host_absorb(struct graph *g, const struct affine_host *h,
			struct affine *a);

#endif
