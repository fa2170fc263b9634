/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis, and products into whose
 * weights and bias a map can be folded. */
#ifndef TIRC_AFFINE_H
#define TIRC_AFFINE_H

#include "rewrite.h"
#include "weight_range.h"

#define AFFINE_CHANNELS_MAX (1 << 16)

struct affine {
	/* the axis along which scale and shift vary, counted from the last
	 * axis, which is 0; -1 if both are scalars */
	int axis;
	int64_t n;
	double *scale, *shift;
	/* For the user: what scale and shift were computed from (constants, or
	 * results of graph_describe). NULL if the scale is 1, or the shift is
	 * 0. */
	struct tensor *scale_of, *shift_of;
};

/* sets *a to the identity: scale 1, shift 0 */
void affine_init(struct graph *g, struct affine *a);
/* Sets *a to the map that adds (additive) or multiplies by the constant. False
 * if the constant varies along more than one axis of a tensor of rank ndim. */
bool affine_read(struct graph *g, struct tensor *constant, int ndim,
		 bool additive, struct affine *a);
/* Sets a to the composition of a, then b, in double. False, with a unchanged,
 * if their axes differ. */
bool affine_compose(struct graph *g, struct affine *a, const struct affine *b);
/* Is the scale 1 (scale), or the shift 0? */
bool affine_is_neutral(const struct affine *a, bool scale);
/* Is v, rounded to t, finite, not subnormal, and not 0 unless v is 0? */
bool affine_constant_fits(struct dtype t, double v);
/* Is the scale 0, or between 2^-64 and 2^64? Then the intermediate result
 * between two such scales is in the type's range whenever the final result is,
 * except near the ends of the range. */
bool affine_scale_is_moderate(double v);
/* A tensor of rank ndim with the n constants `values` along axis `axis`,
 * counted from the first; all other extents are 1. */
struct tensor *affine_along(struct graph *g, const char *base,
			    struct dtype type, int ndim, int axis, int64_t n,
			    const double *values);
/* The scale of the map (scale) as a constant of this type, or the shift. */
struct tensor *affine_constant(struct graph *g, const struct affine *a,
			       bool scale, struct dtype type, const char *base);
/* Describes for the user how a constant was computed from x by the map: "$0 *
 * $1" or "$0 * $1 + $2". */
struct tensor *affine_described_map(struct graph *g, struct tensor *x,
				    const struct affine *a);
struct tensor *affine_described_product(struct graph *g, struct tensor *a,
					struct tensor *b);

/* A Mul, Add, Sub or Div of a tensor and a constant. */
struct affine_link {
	struct node *node;
	struct tensor *x;
	struct affine map;
	/* the node scales (Mul, Div); if false, it shifts (Add, Sub) */
	bool scales;
};

/* is n a Mul, Add, Sub or Div? Its inputs are not checked */
bool affine_is_link(const struct node *n);
/* Sets *link to n, a Mul, Add, Sub or Div that maps x along one axis. False if
 * n is another node, or its constant is not of floats or changes the shape. */
bool affine_link_read(struct graph *g, struct node *n,
		      struct affine_link *link);

/* -- affine_host.c -- */

/* A host: a product into whose weights and bias a map of its result can be
 * folded. */
struct affine_host {
	struct node *node;
	/* the axis of the weights that has the output channels */
	int weight_axis;
	/* the axis of the result along which the channels lie, counted from the
	 * last */
	int axis;
	int64_t channels;
	bool has_bias; /* the operator has an input 2, the bias */
	/* the factors that the node applies: alpha to the product, beta to
	 * input 2 */
	double alpha, beta;
	/* by channel: the bias times beta; NULL if the product has no bias */
	double *bias;
	struct weight_range weights;
};

/* Is n a host? Checks only its operator and types. */
bool affine_is_host(struct node *n);
/* Sets *h to describe the host n. False if n is not a host, if its bias is not
 * a constant with a number for each channel, or if the range of its weights is
 * not known. */
bool affine_host_read(struct graph *g, struct node *n, struct affine_host *h);
/* May a shift be moved into the host's sum, or past a later scale, without a
 * larger rounding error? `a` is the affine map up to this shift, and includes
 * it. See affine_host.c. */
bool affine_host_bears(const struct affine_host *h, const struct affine *a);
/* May the shift in `link`, which comes after the map `before`, cancel a large
 * part of the bias on purpose, so that the value between the two is rounded? */
bool affine_host_opposes(const struct affine_host *h,
			 const struct affine *before,
			 const struct affine_link *link);
/* Can the map, apart from neutral parts, be folded into the weights and the
 * bias? Without a bias, only its scale can. */
bool affine_host_takes(const struct affine_host *h, const struct affine *a);
/* Folds the map a into the weights and the bias of the host. Afterwards a is
 * what must still be computed: the shift if the host has no bias, else nothing.
 * False after a diagnostic. */
bool affine_host_absorb(struct graph *g, const struct affine_host *h,
			struct affine *a);

#endif
