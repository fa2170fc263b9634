/* SPDX-License-Identifier: Apache-2.0 */
/* y = x * scale + shift along one axis, and how weights take it up. */
#ifndef TIRC_GRAPH_AFFINE_H
#define TIRC_GRAPH_AFFINE_H

#include "rewrite.h"

struct affine {
	int axis; /* counted from the last one, 0 up; -1: one number for all */
	int64_t n;
	double *scale, *shift;
	/* What these are, for people: constants, or graph_describe's. NULL: a
	 * scale of 1, a shift of 0. */
	struct tensor *scale_of, *shift_of;
};

void affine_init(struct graph *g, struct affine *a); /* changes nothing */
/* From a constant that varies along one axis at most of a tensor of that
 * rank: its shift (additive) or its scale; all of a is set. */
bool affine_read(struct graph *g, struct tensor *constant, int ndim,
		 bool additive, struct affine *a);
/* a becomes "a, then b"; false (a as it was) if their axes differ. */
bool affine_then(struct graph *g, struct affine *a, const struct affine *b);
/* Its scale (or shift) changes nothing? */
bool affine_is_neutral(const struct affine *a, bool scale);
struct tensor *affine_constant(struct graph *g, const struct affine *a,
			       bool scale, struct dtype type, int ndim,
			       const char *base);
/* Can the weights and bias of n take (some of) the map after it? */
bool affine_fits(struct graph *g, const struct node *n, const struct affine *a);
/* They take it; what is left in a is to be computed still. */
bool affine_into(struct graph *g, struct node *n, struct affine *a);

#endif
