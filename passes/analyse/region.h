/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: boxes of a buffer, one range per dimension, whose ends may be
 * expressions of sizes and of the variables around. What cannot be decided is
 * answered so that acting on it is safe. */
#ifndef TIRC_REGION_H
#define TIRC_REGION_H

#include "access.h"

/* min + extent - 1 */
const struct expr *range_last(struct module *m, const struct range *r);
/* Surely equal. */
bool region_equal(struct analyser *a, const struct range *x,
		  const struct range *y, int ndim);
/* Surely every element of y is one of x; true also if y is surely empty. */
bool region_covers(struct analyser *a, const struct range *x,
		   const struct range *y, int ndim);
/* Surely no element in common. */
bool region_disjoint(struct analyser *a, const struct range *x,
		     const struct range *y, int ndim);
/* The smallest box known around both; out may be x or y. Where the order of
 * two ends is not known the result says min or max. */
void region_union(struct analyser *a, const struct range *x,
		  const struct range *y, int ndim, struct range *out);
/* What both have; of extent 0 or less where they have nothing in common. */
void region_intersect(struct analyser *a, const struct range *x,
		      const struct range *y, int ndim, struct range *out);
/* A box that holds all of x that is not in y. Smaller than x only if y surely
 * covers x in all dimensions but one and reaches one of its ends there. False:
 * surely nothing is left. */
bool region_difference(struct analyser *a, const struct range *x,
		       const struct range *y, int ndim, struct range *out);

/* The box around all that is read (or written) of buffer at or below s, seen
 * from outside of top, which is s or around it: what is bound inside of top
 * does not occur in it. False if nothing is, or no bound is known. */
bool region_touched(struct func *f, const struct stmt *top, struct stmt *s,
		    const struct buffer *buffer, bool writes,
		    struct range *out);
/* All of the buffer. */
void region_full(struct module *m, const struct buffer *b, struct range *out);

#endif
