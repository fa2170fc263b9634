/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with borders that sums read: where they are made, and what fills the
 * border. */
#ifndef TIRC_BORDER_H
#define TIRC_BORDER_H

#include "access_pattern.h"

/* Sets axes to the spatial axes of a sum in the order of their loops: the
 * block's, except that axes which the copy with borders (NULL: there is none)
 * does not have follow the one along which it is made anew. */
void border_order_axes(const struct buffer *bordered,
		       const struct block_access *x, int *axes);
/* The loop of the output in which rows are copied: the last loop before the
 * window's that indexes the copy by itself (channels), else the one over the
 * rows of the results; 0: there is none. */
int border_place(struct rules *r, const struct buffer *bordered,
		 const struct block_access *x, int output);
/* Splits off what fills the border, so that the rest is copied without
 * conditions. rows: the copying block, which is inside of the loop `place`. */
void border_split(struct rules *r, int rows, int place);

#endif
