/* SPDX-License-Identifier: Apache-2.0 */
/* Graph passes: each row of passes.def is one file, one function. */
#ifndef TIRC_PASSES_H
#define TIRC_PASSES_H

#include "graph.h"
#include "hooks.h"
#include "target.h"

struct graph_pass {
	const char *name; /* the name for --print-after and messages */
	const char *what; /* what the pass does, as one line of help */
	/* the pass cannot be left out, because later passes require it */
	bool needed;
	bool (*run)(struct graph *g);
};

const struct graph_pass *graph_passes(int *n);

/* Runs all passes in order, repeats the cleaning passes until they change
 * nothing, and fuses nodes into groups. */
bool graph_optimize(struct graph *g, const struct pass_hooks *hooks);
/* graph_optimize in two halves: up to the partition, which can be saved and
 * loaded, and from there on. */
bool graph_to_partition(struct graph *g, const struct pass_hooks *hooks);
bool graph_to_groups(struct graph *g, const struct pass_hooks *hooks);
/* results.c. graph_show_results: the results of all nodes that are not in
 * branches or loops become outputs of the graph, after its own outputs.
 * graph_show_stored, for a graph with groups: all tensors that kernels store,
 * and that have the elements of a tensor of the model, become outputs in the
 * same way. */
void graph_show_results(struct graph *g);
void graph_show_stored(struct graph *g);
/* run_nodes.c: runs the nodes of a graph, one after the other, in the
 * interpreter. */
struct graph_run {
	/* Called before and after each node; tensors that are computed have
	 * values then, which `after` may replace. False ends the run. May be
	 * NULL. */
	bool (*before)(void *ctx, const struct node *n);
	bool (*after)(void *ctx, const struct node *n);
	void *ctx;
	/* Evaluates the node n in place of graph_run_node(); NULL if
	 * graph_run_node() evaluates it. */
	bool (*run)(void *run_ctx, struct graph *g, const struct node *n);
	void *run_ctx;
};
/* The first node that the interpreter cannot run by itself: a branch, a loop,
 * or a node with sizes that depend on values. NULL: the interpreter can run all
 * nodes. */
const struct node *graph_not_run(const struct graph *g);
/* Runs all nodes; the interpreter must be able to run each of them. inputs: the
 * elements of each input. The tensors keep the values until graph_run_end(): a
 * tensor with a value counts as a constant. False after a diagnostic, or if a
 * callback ended the run. */
bool graph_run(struct graph *g, const void *const *inputs,
	       const struct graph_run *how);
void graph_run_end(struct graph *g);
/* Evaluates the constants that a node reads, which have values then. False after
 * a diagnostic. */
bool graph_find_inputs(struct graph *g, const struct node *n);
/* Evaluates a single node; sets the values of its outputs. False after a
 * diagnostic. */
bool graph_run_node(struct graph *g, const struct node *n);
/* perturb_factors.c: adds inputs by which the floats that are computed from integers
 * are multiplied. */
bool graph_add_factors(struct graph *g);
/* Do the definitions of all readers of t contain t's known elements, so that no
 * reader loads t when the model runs? Types and shapes must be known. */
bool graph_only_defines(struct graph *g, const struct tensor *t);

/* The memory that Winograd convolutions of a graph take: see winograd.c. */
struct winograd_memory {
	int convolutions;
	/* the bytes of the weights of these convolutions: transformed, and as
	 * direct convolutions would store them */
	int64_t weights_bytes, direct_bytes;
	/* the most workspace that tiles and sums of one convolution take */
	int64_t most_bytes;
};
struct winograd_memory graph_winograd_memory(const struct graph *g);

/* The value of a constant. If it has a recipe, the recipe is evaluated, and
 * t->value keeps the result. Only for small constants; weights are read with
 * weight_stream. */
const struct value *tensor_value(struct graph *g, struct tensor *t);
/* The tensor expression of a constant: its recipes become stages over
 * placeholders, one for each constant with stored bytes from which it is
 * computed. *sources: the tensors of the placeholders. */
struct te_tensor *tensor_const_te(struct graph *g, struct tensor *t,
				  struct tensor ***sources,
				  struct te_tensor ***placeholders,
				  int *n_sources);

#endif
