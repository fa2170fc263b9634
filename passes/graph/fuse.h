/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of fusion. */
#ifndef TIRC_FUSE_H
#define TIRC_FUSE_H

#include "rewrite.h"

struct fusion {
	struct graph *graph;
	int *position; /* by node->id: the node's index in graph.nodes */
	/* by position: true for a node (a sink) that gets no kernel, because
	 * its readers compute it again */
	bool *sinks;
	/* by position: true for a sink that computes its elements from
	 * constants alone, through other sinks */
	bool *constant;
	/* by position: the number of operators and operands in the expression
	 * that computes one element from the inputs of the group */
	int *size;
	struct fuse_sizes *sizes; /* NULL if no size is known only when the
				   * model runs */
	VEC(struct group *) groups;
};

/* fuse_prologue.c: sets position, sinks, constant and size of each node. */
void fuse_find_sinks(struct fusion *f);
bool fuse_is_elementwise(const struct node *n);

#define FUSE_EPILOGUE_MAX 8
/* Limits of a kernel, for readability: of nodes, of tensors that it reads, and
 * of operators and operands in the expression of one element. */
enum { FUSE_NODES_MAX = 32, FUSE_INPUTS_MAX = 32, FUSE_SIZE_MAX = 1024 };

/* Is n elementwise with a result of y's shape, and not in a group yet? */
bool fuse_may_follow(const struct fusion *f, const struct tensor *y,
		     const struct node *n);
/* Sets `nodes` to the nodes of an epilogue of y, in order, and returns their
 * number; 0 if y has no epilogue. Often the epilogue is a single node; it has
 * several nodes if paths from y meet again, as in x * sigmoid (x). No other
 * node reads y or the intermediate results, so that waiting for other inputs
 * makes no cycle. */
int fuse_epilogue(const struct fusion *f, const struct tensor *y,
		  struct node *nodes[FUSE_EPILOGUE_MAX]);

/* fuse_views.c: the tensor in whose memory the bytes of t are: t itself, or the
 * tensor that t is a view of. */
const struct tensor *fuse_storage_of(const struct tensor *t);
/* The number of graph outputs among t and its views. */
int fuse_outputs_behind(const struct tensor *t);

/* Can the inputs of a Concat be written directly into its result? Then each
 * input must start at a multiple of align_bytes in the result; align_bytes 0:
 * at any byte. */
bool fuse_concat_is_free(const struct node *n, int align_bytes);
/* Makes the inputs of a Concat parts of its result: sets tensor.part_of. */
void fuse_concat_place(struct node *n);

/* fuse_sizes.c: sets f->sizes. */
void fuse_find_sizes(struct fusion *f);
/* Called for a view that is an output of the graph, or that is on the way from
 * a computed tensor to an output. Can the sizes of the tensor, the view and the
 * output be known before the tensor is computed? Then the tensor's group waits
 * for them (group.waits). */
bool fuse_waits_for_sizes(struct fusion *f, const struct node *view);
/* Orders the nodes so that each node comes after the nodes that read the sizes
 * on which it relies, and for which its group waits. If the nodes are already
 * in such an order, it is kept. */
void fuse_order_by_sizes(struct fusion *f);

/* fuse_loops.c: finds the bodies, and removes those copies at the borders of
 * branches and loops that are not needed. */
void fuse_drop_copies(struct graph *g);
/* Chooses the places of the states and slices of loops: sets
 * tensor.element_of. */
void fuse_loops(struct graph *g);

#endif
