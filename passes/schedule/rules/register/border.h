/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with borders that sums read: the loop in which they are made, and the
 * split of the loop that fills the border. */
#ifndef TIRC_BORDER_H
#define TIRC_BORDER_H

#include "access_pattern.h"

/* Sets `axes` to the spatial axes of a sum in the order in which their loops
 * shall be nested. This is the order of the block's axes, but axes that do not
 * index `bordered`, the copy with borders, follow the axis in whose loop the
 * copy is made. bordered NULL: there is no such copy. */
void border_order_axes(const struct buffer *bordered,
		       const struct block_access *x, int *axes);
/* The loop of the output in whose body rows are copied: the last loop outside
 * of those over the window whose variable alone indexes the copy (channels); if
 * there is none, the loop over the rows of the results; 0: there is no such
 * loop. */
int border_place(struct rules *r, const struct buffer *bordered,
		 const struct block_access *x, int output);
/* Splits off the iterations that fill the border, so that the other elements
 * are copied without conditions. rows: the copying block, which is inside of
 * the loop `place`. */
void border_split(struct rules *r, int rows, int place);

#endif
