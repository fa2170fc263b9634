/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the pass `images` (images.c). */
#ifndef TIRC_IMAGES_H
#define TIRC_IMAGES_H

#include "graph.h"

/* A batch of images, and the nodes that a loop over them computes. */
struct images {
	struct graph *g;
	/* the number of images in the batch, which is the number of iterations
	 * of the loop */
	int64_t count;
	bool *depends; /* by tensor id: is the tensor computed from images? */
	/* by tensor id: is the tensor an input whose rows belong to images, or
	 * a result of a node in the loop? In such a tensor, each image has the
	 * same number of rows. */
	bool *inside;
	bool *taken; /* by node id: is the node in the loop? */
	int n_nodes; /* the ids of nodes are below this number before the loop
		        * is made */
	int body;    /* the number of the loop's body */
	/* for an input, by tensor id: the slice for one image that the loop
	 * reads in place of the input, or NULL */
	struct tensor **slice;
	/* the tensors of an image that nodes outside of the loop read */
	VEC(struct tensor *) results;
};

/* The rows of t, its first dimension; 0 if a size of t is 0 or not known, or if
 * a loop cannot give t one more dimension. */
int64_t images_rows(const struct tensor *t);
/* image_loop.c: puts the nodes taken into a loop. False after a diagnostic. */
bool images_make_loop(struct images *b);

/* image_rows.c: is index i of the first dimension of n's results computed only
 * from index i of the inputs k with by_image[k], by an expression that contains
 * i nowhere else? Then n computes each part of a batch in the same way as the
 * whole batch. Inputs that are not `by_image` may be read in any way. False for
 * a view (FUSE_VIEW), and if the definition of n is not an expression. */
bool node_keeps_rows(struct graph *g, const struct node *n,
		     const bool *by_image);

#endif
