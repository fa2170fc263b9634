/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and loops that stay in the graph: flow.c and branches.c. */
#ifndef TIRC_FLOW_H
#define TIRC_FLOW_H

#include "bodies.h"

/* A loop or If that stays in the graph. */
struct flow {
	/* The indices in importer.flows of the places that this node makes. For
	 * an If: id is the then branch, other the else branch. For a loop: id
	 * is the body. */
	int id, other;
	/* of an If: impossible[0] says why no run can take the then branch,
	 * impossible[1] why no run can take the else branch; NULL if a run may
	 * take the branch */
	const char *impossible[2];
	/* For an If: its condition as a size variable that is 0 or 1, and the
	 * node that reads this size; both NULL until a check needs them. */
	struct var *taken;
	struct node *reads_taken;
	struct loop_form form;   /* of a loop */
	struct tensor **carried; /* loop: the tensors that are the states at the
				  * start of an iteration */
	/* For a Loop, by state: the axis along which iterations only append to
	 * the state; -1: they do anything else. */
	int *appends;
	struct tensor *condition; /* loop: the condition, a tensor in the
				   * body */
};

/* Makes a node of the domain tirc for control flow; `body` (a branch, a loop)
 * becomes its attribute. */
struct node *flow_node(struct importer *imp, const struct deferred *d,
		       const char *op_type, int body, struct tensor *const *in,
		       int n_in, struct tensor *const *out, int n_out);
/* Makes a node as flow_node does, with the one input `in` (none if NULL) and
 * one new output, named after `name`. Returns the output. */
struct tensor *flow_tensor(struct importer *imp, const struct deferred *d,
			   const char *op_type, int body, struct tensor *in,
			   const char *name);
/* Makes and returns the tensor of a loop state in the body of d; `first` is the
 * state's value in the first iteration. */
struct tensor *flow_carry(struct importer *imp, const struct deferred *d,
			  struct tensor *first, const char *name);
/* The axis axes[k], counted from the start; 0 if axes is NULL. */
int64_t flow_axis(const int64_t *axes, int k, int ndim);
/* A copy of t in the body number `body`, with its own memory. */
struct tensor *flow_copy(struct importer *imp, const struct deferred *d,
			 int body, struct tensor *t);
/* Adds the node tirc.RunSize that reads t, a tensor of one integer, and returns
 * its output. The entry function reads t when the model runs, and t's value
 * becomes the size graph.run_sizes[number]. */
struct tensor *flow_run_size(struct importer *imp, const struct deferred *d,
			     struct tensor *t, int number);

/* appended.c: states to which iterations append. */

/* If an iteration only appends elements to the state `carried`: the axis along
 * which it appends. Then the node that appends is changed so that its result
 * has only the appended elements. -1 if an iteration does anything else, or if
 * a further node reads the state or its next value, `next`. Types are not
 * inferred yet. */
int flow_find_append(struct importer *imp, const struct deferred *d,
		     struct tensor *first, struct tensor *carried,
		     struct tensor *next);
/* Returns the value of a state after the loop: `first`, followed along `axis`
 * by the parts of all iterations. `stacked` has these parts along its dimension
 * 0; each part has the shape of `part`. NULL after a diagnostic. */
struct tensor *flow_appended(struct importer *imp, const struct deferred *d,
			     struct tensor *first, struct tensor *stacked,
			     const struct tensor *part, int axis);
/* counted.c: the number of iterations as int64[1], if the condition only counts
 * iterations; NULL if it may test anything else. condition, next: the condition
 * and the states for the next iteration. Called when the body is copied, before
 * types in it are inferred. */
struct tensor *flow_count(struct importer *imp, const struct deferred *d,
			  struct tensor *iteration, struct tensor *condition,
			  struct tensor *const *next);
/* t with dimension `from` moved to dimension `to`. */
struct tensor *flow_transposed(struct importer *imp, const struct deferred *d,
			       struct tensor *t, int ndim, int from, int to);

/* Replaces the inputs of d's node by `list`, followed by the tensors that its
 * body captures. */
void flow_set_inputs(struct importer *imp, struct deferred *d,
		     const tensor_list *list);

#endif
