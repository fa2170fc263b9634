/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what made a result wrong: the pass over the graph and the node, or the
 * kernel and the pass that lowers it. The interpreter runs the model after each
 * of these steps. */
#ifndef TIRC_BISECT_H
#define TIRC_BISECT_H

#include "onnx_import.h"
#include "text_map.h"
#include "verify_kernel.h"

/* -- bisect_search.c -- */

/* Is a program right after a step? UNKNOWN if the interpreter cannot run the
 * program after this step. */
enum bisect_state { BISECT_RIGHT, BISECT_WRONG, BISECT_UNKNOWN };

/* Finds the step that made a program wrong. The program is right before step
 * `first` and wrong after step `last`; ask() answers for a step between
 * these. Returns a step after which the program is wrong. Sets *before to the
 * last earlier step after which the program is right, or to first - 1; after
 * the steps between the two, the program is unknown. */
int bisect_search(int first, int last,
		  enum bisect_state (*ask)(void *ctx, int step), void *ctx,
		  int *before);

/* -- bisect_results.c -- */

/* The results of nodes that were run, keyed by a digest of the node and its
 * inputs: if the same node is to run again on the same inputs, its results are
 * taken from this table. */
struct node_results {
	struct arena arena;
	/* digest of a node and its inputs -> index of the first result */
	struct text_map of;
	/* NULL: the node leaves out this output */
	VEC(const struct value *) values;
	int64_t bytes; /* of all values */
};

void node_results_init(struct node_results *r);
void node_results_release(struct node_results *r);
/* Evaluates a node, as graph_run_node(), unless its results are known (struct
 * graph_run). ctx: the struct node_results, which must live longer than the
 * graph has values. */
bool node_results_run(void *ctx, struct graph *g, const struct node *n);

/* -- bisect_nodes.c -- */

/* The right values of a model's tensors, keyed by the names of the tensors in
 * the model. */
struct right_values {
	struct text_map names;
	VEC(const struct value *) values;
};

/* Runs g, the graph of the model as it was read, and stores the values of all
 * tensors in *out. These values live as long as both g's module and r. inputs:
 * the elements of each input. False after a diagnostic. */
bool right_values_find(struct graph *g, const void *const *inputs,
		       struct node_results *r, struct arena *a,
		       struct right_values *out);

/* Sets *out to the right value of a tensor, as an array in arena a. name: the
 * tensor's name in the model; g: the graph of the model as it was read. False
 * if the value is not known. */
bool right_values_array(struct graph *g, const struct right_values *r,
			struct arena *a, const char *name, struct array *out);

/* The largest number of runs on perturbed inputs. */
enum { NODE_RUNS = 8 };

/* A result of a node that was run on right inputs, or a constant that it reads. */
struct node_result {
	const struct node *node;
	const struct tensor *tensor;
	bool is_constant;
	struct array got, want;
	/* the results of n_runs runs on perturbed inputs: inputs whose floats
	 * are multiplied by numbers near 1 (struct observed) */
	struct array runs[NODE_RUNS];
	int n_runs;
};

struct node_check {
	const struct right_values *right;
	struct node_results *results;
	/* The largest error of an element of the result, in units of its
	 * tolerance; 0 if all elements are within their tolerance. */
	double (*error)(void *ctx, const struct node_result *r);
	void *ctx;
	/* the largest relative perturbation of a type's elements */
	double (*share)(void *ctx, struct dtype t);
};

/* Runs each node of the graph on right inputs, where these are known, and sets
 * *out to the first wrong result. An error counts as rounding if it is within
 * its tolerance, or if the largest error of the graph is more than 16 times
 * larger, both measured in units of their tolerances. out->tensor is NULL if no
 * result is wrong; out->node is NULL if the wrong result is a constant output
 * of the graph. False after a diagnostic. */
bool bisect_nodes(struct graph *g, const void *const *inputs,
		  const struct node_check *check, struct node_result *out);

/* -- bisect_plan.c -- */

/* A kernel that reads bytes of a tensor over which another tensor is stored. */
struct plan_fault {
	const struct kernel *kernel; /* the reader */
	const struct tensor *tensor; /* NULL: the kernel's scratch memory */
	/* over: the tensor that has overwritten bytes of `tensor` (NULL:
	 * scratch memory has). by: the kernel that stored `over`, which is the
	 * reader itself or a kernel before it; NULL: no kernel has stored
	 * `tensor` before it is read. */
	const struct tensor *over;
	const struct kernel *by;
	/* the first byte that differs, counted from the start of the array */
	int64_t from;
};

/* Does each kernel that the entry function calls read the bytes that earlier
 * kernels have stored for its arguments? If not, *out is the first read of
 * other bytes. True if the model has branches, loops, regions with a state, or
 * kernels of a device: these calls are not followed. */
bool plan_is_right(struct arena *a, struct program *p, struct plan_fault *out);

/* -- bisect_model.c -- */

/* A part of a model: the nodes that compute the tensors `results` from the
 * tensors `given` and from the inputs of the model. Tensors are named as in the
 * model. */
struct model_part {
	const char *const *given, *const *results;
	int n_given, n_results;
};

/* Writes a part of the ONNX model in the file `from` to the file `to`. g: the
 * graph of the whole model as it was read. Sets *inputs to the names of the
 * part's inputs, in order, in g's arena. Returns NULL, or the reason why the
 * part cannot be written. */
const char *model_part_write(struct graph *g, const char *from,
			     const struct model_part *wanted, const char *to,
			     const char *const **inputs, int *n_inputs);

/* -- bisect_layout.c -- */

/* Does the layout of constant w put an element where its readers expect another
 * one? Returns the text "conv_w has element [1][0] where [0][0] is read", or
 * NULL if it does not. */
const char *layout_fault(struct arena *a, struct module *m,
			 const struct weight *w);

/* -- bisect_kernel.c -- */

/* A function of a kernel: after the kernel's schedule, or after one of the
 * passes that lower it. */
struct lowered_step {
	const char *pass; /* "schedule", then the passes of lower.def */
	struct func *func;
};

struct lowering {
	struct verify_kernel *of;
	struct kernel_again again;
	VEC(struct lowered_step) steps;
	uint64_t seed;
	/* the inputs and right results on which the functions are compared */
	struct verify_cases one;
};

/* Adds a copy of the function after a pass (tirc_lower_again()). ctx: the struct
 * lowering. */
void lowering_add(void *ctx, const char *pass, const struct func *f);
/* Runs function f of the kernel on the kernel's cases; stops at the first case
 * for which f is wrong, and keeps that case in l->one. */
enum bisect_state lowering_find_case(struct arena *a, struct lowering *l,
				     struct func *f);
/* The name of a tensor intrinsic whose instruction the kernel calls after all
 * passes, or NULL. */
const char *lowering_intrinsic(const struct lowering *l);
/* Does f, a function of kernel k after some pass, give the right results for
 * the case? The weights have the layouts that k has. Sets *why to the wrong
 * element or access. */
enum bisect_state lowering_ask(struct arena *a, const struct lowering *l,
			       const struct kernel *k, struct func *f,
			       const char **why);

#endif
