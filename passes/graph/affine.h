/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis, and folding them into
 * weights. */
#ifndef TIRC_GRAPH_AFFINE_H
#define TIRC_GRAPH_AFFINE_H

#include "rewrite.h"

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
/* Composes a with b (a first); false, with a unchanged, if their axes
 * differ. */
bool affine_compose(struct graph *g, struct affine *a, const struct affine *b);
/* Is its scale 1 (or its shift 0)? */
bool affine_is_neutral(const struct affine *a, bool scale);
struct tensor *affine_constant(struct graph *g, const struct affine *a,
			       bool scale, struct dtype type, int ndim,
			       const char *base);
/* Can the weights and bias of n absorb the following map, or a part of it? */
bool affine_fits(struct graph *g, const struct node *n, const struct affine *a);
/* Folds the map into the weights and bias of n; a keeps the part that must
 * still be computed. */
bool affine_absorb(struct graph *g, struct node *n, struct affine *a);

#endif
