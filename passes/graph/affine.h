/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis, and products whose weights
 * and bias take them. */
#ifndef TIRC_AFFINE_H
#define TIRC_AFFINE_H

#include "rewrite.h"
#include "weight_range.h"

#define AFFINE_CHANNELS_MAX (1 << 16)

struct affine {
	int axis; /* counted from the last axis, which is 0; -1: a scalar */
	int64_t n;
	double *scale, *shift;
	/* Provenance for the user: constants, or results of graph_describe.
	 * NULL: a scale of 1, a shift of 0. */
	struct tensor *scale_of, *shift_of;
};

void affine_init(struct graph *g, struct affine *a); /* changes nothing */
/* Reads a constant that varies along at most one axis of a tensor of the given
 * rank as a shift (additive) or a scale; sets all of a. */
bool affine_read(struct graph *g, struct tensor *constant, int ndim,
		 bool additive, struct affine *a);
/* Composes a with b (a first), in double; false, with a unchanged, if their
 * axes differ. */
bool affine_compose(struct graph *g, struct affine *a, const struct affine *b);
/* Is its scale 1 (or its shift 0)? */
bool affine_is_neutral(const struct affine *a, bool scale);
/* Is v, rounded to t, finite, and neither subnormal nor a zero that v is not? */
bool affine_constant_fits(struct dtype t, double v);
/* Is a scale between 2^-64 and 2^64, or 0? Then a result between two scales is in
 * range where the last one is, unless it is at the range's ends. */
bool affine_scale_is_moderate(double v);
/* A constant of `values` along one axis (from the front) of a tensor of that
 * rank. */
struct tensor *affine_along(struct graph *g, const char *base,
			    struct dtype type, int ndim, int axis, int64_t n,
			    const double *values);
/* The scale, or the shift, as a constant. */
struct tensor *affine_constant(struct graph *g, const struct affine *a,
			       bool scale, struct dtype type, const char *base);
/* "$0 * $1" and "$0 * $1 + $2" of what a constant was made of, for people. */
struct tensor *affine_described_map(struct graph *g, struct tensor *x,
				    const struct affine *a);
struct tensor *affine_described_product(struct graph *g, struct tensor *a,
					struct tensor *b);

/* A Mul, Add, Sub or Div of a tensor and a constant. */
struct affine_link {
	struct node *node;
	struct tensor *x;
	struct affine map;
	bool scales; /* a scale; else a shift */
};

bool affine_is_link(const struct node *n); /* by its operator */
/* False if n is no map along one axis. */
bool affine_link_read(struct graph *g, struct node *n,
		      struct affine_link *link);

/* -- affine_host.c -- */

/* A product whose weights and bias can take a map of its result. */
struct affine_host {
	struct node *node;
	int weight_axis; /* of the output channels */
	int axis;        /* of the result, from the last */
	int64_t channels;
	bool has_bias;      /* can take a shift in input 2 */
	double alpha, beta; /* that the product and input 2 are multiplied by */
	double *bias;       /* times beta, per channel; NULL: there is none */
	struct weight_range weights;
};

/* Is n such a product, by its operator and types? */
bool affine_is_host(struct node *n);
/* False if n is no such product, or the range of its weights is not known. */
bool affine_host_read(struct graph *g, struct node *n, struct affine_host *h);
/* May a shift be moved into the sum, or past a later scale? `a` is the map up to
 * that shift. */
bool affine_host_bears(const struct affine_host *h, const struct affine *a);
/* May a shift behind the map `before` take away a part of the bias on purpose, so
 * that what is between them is rounded? */
bool affine_host_opposes(const struct affine_host *h,
			 const struct affine *before,
			 const struct affine_link *link);
/* Can the weights and the bias take the map, or a part of it? */
bool affine_host_takes(const struct affine_host *h, const struct affine *a);
/* Folds the map into the weights and the bias; a keeps the part that must still
 * be computed. */
bool affine_host_absorb(struct graph *g, const struct affine_host *h,
			struct affine *a);

#endif
