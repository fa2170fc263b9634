/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: boxes of a buffer, one range per dimension, with symbolic bounds.
 * Undecidable questions are answered conservatively. */
#ifndef TIRC_REGION_H
#define TIRC_REGION_H

#include "access.h"

/* Is every element of y provably in x? Also true if y is provably empty. */
bool region_covers(struct analyser *a, const struct range *x,
		   const struct range *y, int ndim);

/* The box around all that is read (or written) of buffer at or below s, seen
 * from outside of top, which is s or around it: what is bound inside of top
 * does not occur in it. False if nothing is, or no bound is known. */
bool region_accessed(struct func *f, const struct stmt *top, struct stmt *s,
		     const struct buffer *buffer, bool writes,
		     struct range *out);
/* All of the buffer. */
void region_full(struct module *m, const struct buffer *b, struct range *out);

#endif
