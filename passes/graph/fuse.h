/* SPDX-License-Identifier: Apache-2.0 */
/* Between fuse.c and its parts. */
#ifndef TIRC_GRAPH_FUSE_H
#define TIRC_GRAPH_FUSE_H

#include "rewrite.h"

struct fusion {
	struct graph *graph;
	int *position; /* by node->id: place in the order */
	bool *sinks;   /* by position: read through, no kernel of its own */
	int *size;     /* by position: of one element's expression, written
			  * out from what its group reads */
	VEC(struct group *) groups;
};

#define FUSE_EPILOGUE_MAX 8
/* What a kernel may have at most, so that it stays readable: nodes; tensors
 * that it reads; operators and operands of one element's expression, written
 * out. */
enum { FUSE_NODES_MAX = 32, FUSE_INPUTS_MAX = 32, FUSE_SIZE_MAX = 1024 };

/* Element-wise, of y's shape, in no group yet? */
bool fuse_may_follow(const struct fusion *f, const struct tensor *y,
		     const struct node *n);
/* The nodes that go on where y ends, in order; 0: none. Often one; several
 * where they meet again, as in x * sigmoid (x). Nothing else reads y or what
 * lies between, so no cycle comes of waiting for their other inputs. */
int fuse_epilogue(const struct fusion *f, const struct tensor *y,
		  struct node *nodes[FUSE_EPILOGUE_MAX]);

/* Whose memory t's bytes are, through views. */
const struct tensor *fuse_storage_of(const struct tensor *t);
/* Outputs of the graph among t and the views of it. */
int fuse_outputs_behind(const struct tensor *t);

/* May the inputs be written right into the result? Each starts at a multiple of
 * so many bytes then; 0: anywhere. */
bool fuse_concat_is_free(const struct node *n, int align_bytes);
/* Then say so: tensor.part_of. */
void fuse_concat_place(struct node *n);

#endif
