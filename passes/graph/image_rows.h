/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes compute the images of a batch independently of each other. */
#ifndef TIRC_IMAGE_ROWS_H
#define TIRC_IMAGE_ROWS_H

#include "graph.h"

/* Is each index i of the first dimension of n's results computed from index i
 * of the inputs k with by_image[k] alone, by an expression that contains i
 * nowhere else? Then n computes each part of a batch as it computes the whole
 * one. All inputs that are not `by_image` may be read in any way. False for a
 * view (FUSE_VIEW), and where the definition of n is no expression. */
bool node_keeps_rows(struct graph *g, const struct node *n,
		     const bool *by_image);

#endif
