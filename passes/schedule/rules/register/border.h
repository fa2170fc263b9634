/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with borders that sums read: the loop in which they are made, and the
 * split of the loop that fills the border. */
#ifndef TIRC_BORDER_H
#define TIRC_BORDER_H

#include "access_pattern.h"

/* Sets axes to the spatial axes of a sum in the order of their loops: the
 * block's, except that axes which do not index the copy with borders
 * (`bordered`; NULL: there is none) follow the axis in whose loop it is
 * made. */
void border_order_axes(const struct buffer *bordered,
		       const struct block_access *x, int *axes);
/* The loop of the output in which rows are copied: the last loop before the
 * window's that indexes the copy by itself (channels), else the loop over the
 * rows of the results; 0: there is none. */
int border_place(struct rules *r, const struct buffer *bordered,
		 const struct block_access *x, int output);
/* Splits off the iterations that fill the border, so that the other elements
 * are copied without conditions. rows: the copying block, which is inside of
 * the loop `place`. */
void border_split(struct rules *r, int rows, int place);

#endif
