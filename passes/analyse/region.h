/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: boxes of a buffer, one range per dimension, with symbolic bounds.
 * Undecidable questions are answered conservatively. */
#ifndef TIRC_REGION_H
#define TIRC_REGION_H

#include "access.h"

/* Is every element of the box y provably in the box x? Also true if y is
 * provably empty; false if neither can be proved. */
bool region_covers(struct analyser *a, const struct range *x,
		   const struct range *y, int ndim);

/* The bounding box of all reads (or writes) of the buffer at or below s, in
 * terms of variables bound outside of top, which contains s. False if there are
 * no such accesses, or no bounds of them are known. */
bool region_accessed(struct func *f, const struct stmt *top, struct stmt *s,
		     const struct buffer *buffer, bool writes,
		     struct range *out);
/* Sets out to the box of all elements of the buffer. */
void region_full(struct module *m, const struct buffer *b, struct range *out);

#endif
