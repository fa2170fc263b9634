/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and loops that stay in the graph: flow.c and branches.c. */
#ifndef TIRC_ONNX_FLOW_H
#define TIRC_ONNX_FLOW_H

#include "bodies.h"

struct flow {
	int id, other; /* of the branches, or of the loop */
	/* Of an If, by branch: why none of its runs can take it; NULL: one
	 * may. */
	const char *impossible[2];
	/* Of an If: its condition as a size, and the node that reads it; NULL:
	 * not needed so far. */
	struct var *taken;
	struct node *reads_taken;
	struct loop_form form;
	struct tensor **carried; /* of a loop: its states in the body */
	/* Of a loop: the axis along which iterations only append to a state;
	 * -1: another state. */
	int *appends;
	struct tensor *condition; /* in the body */
};

/* A new node of control flow in a body. */
struct node *flow_node(struct importer *imp, const struct deferred *d,
		       const char *op_type, int body, struct tensor *const *in,
		       int n_in, struct tensor *const *out, int n_out);
/* The same with one new output, named after `name`; in: NULL or the input. */
struct tensor *flow_tensor(struct importer *imp, const struct deferred *d,
			   const char *op_type, int body, struct tensor *in,
			   const char *name);
/* The state in the body of the loop d whose first value is `first`. */
struct tensor *flow_carry(struct importer *imp, const struct deferred *d,
			  struct tensor *first, const char *name);
/* Axis k of the list, from 0; without a list, axis 0. */
int64_t flow_axis(const int64_t *axes, int k, int ndim);
/* t in memory of its own in a body. */
struct tensor *flow_copy(struct importer *imp, const struct deferred *d,
			 int body, struct tensor *t);
/* tirc.RunSize of t, one integer, with the variable of that number of
 * graph.run_sizes. */
struct tensor *flow_run_size(struct importer *imp, const struct deferred *d,
			     struct tensor *t, int number);

/* appended.c: states to which iterations append. */

/* The axis along which an iteration only appends elements to the state; -1: it
 * does more, or something else reads the state or its next value, `next`. Types
 * are not inferred yet. The node that appends becomes one of the appended
 * elements alone. */
int flow_find_append(struct importer *imp, const struct deferred *d,
		     struct tensor *first, struct tensor *carried,
		     struct tensor *next);
/* The last state: `first` and behind it the parts of all iterations, which are
 * stacked along dimension 0. Each has the shape of `part`. NULL after a
 * report. */
struct tensor *flow_appended(struct importer *imp, const struct deferred *d,
			     struct tensor *first, struct tensor *stacked,
			     const struct tensor *part, int axis);
/* counted.c: the number of iterations, [1], if the condition does nothing but
 * count them; NULL: it may do more. `condition` and `next`: of the next
 * iteration. Called when the body is copied, before its types are inferred. */
struct tensor *flow_count(struct importer *imp, const struct deferred *d,
			  struct tensor *iteration, struct tensor *condition,
			  struct tensor *const *next);
/* t with dimension `from` as dimension `to`. */
struct tensor *flow_transposed(struct importer *imp, const struct deferred *d,
			       struct tensor *t, int ndim, int from, int to);

/* Makes the list the node's inputs, and the captured tensors after it. */
void flow_set_inputs(struct importer *imp, struct deferred *d,
		     const tensor_list *list);

#endif
