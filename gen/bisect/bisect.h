/* SPDX-License-Identifier: Apache-2.0 */
/* Finding what made a result wrong: the pass over the graph and the node, or the
 * kernel and the pass that lowers it. All is run by the interpreter. */
#ifndef TIRC_BISECT_H
#define TIRC_BISECT_H

#include "onnx_import.h"
#include "text_map.h"
#include "verify_kernel.h"

/* -- bisect_search.c -- */

/* What is known of a program after a step: UNKNOWN if the interpreter cannot run
 * it then. */
enum bisect_state { BISECT_RIGHT, BISECT_WRONG, BISECT_UNKNOWN };

/* Searches the step that made a program wrong. Before step `first` it is right, after
 * step `last` wrong; ask: what is known after a step between. Returns the step, after
 * which the program is wrong; *before: the last step before it after which it is
 * right, first - 1 if there is none. Steps between are unknown. */
int bisect_search(int first, int last,
		  enum bisect_state (*ask)(void *ctx, int step), void *ctx,
		  int *before);

/* -- bisect_nodes.c -- */

/* The right values of the tensors of a model, by their names in it. */
struct right_values {
	struct text_map names;
	VEC(const struct value *) values;
};

/* Runs the graph of the model as it was read, and keeps all its values, which live as
 * long as its module. inputs: the elements of each input. False after a
 * diagnostic. */
bool right_values_find(struct graph *g, const void *const *inputs,
		       struct arena *a, struct right_values *out);

/* The right value of the tensor with this name in the model, which g is as it was read,
 * as an array in arena a. False if it is not known. */
bool right_values_array(struct graph *g, const struct right_values *r,
			struct arena *a, const char *name, struct array *out);

/* The most runs on perturbed inputs. */
enum { NODE_RUNS = 8 };

/* A result of a node that was run on right inputs, or a constant that it reads. */
struct node_result {
	const struct node *node;
	const struct tensor *tensor;
	bool is_constant;
	struct array got, want;
	/* the result in runs on inputs whose floats were multiplied by numbers
	 * near 1, as struct observed of tirc test says; and how many there are */
	struct array runs[NODE_RUNS];
	int n_runs;
};

struct node_check {
	const struct right_values *right;
	/* The worst error of a result, in units of its tolerance; 0 if all
	 * elements are near. */
	double (*error)(void *ctx, const struct node_result *r);
	void *ctx;
	/* the largest relative perturbation of a type's elements */
	double (*share)(void *ctx, struct dtype t);
};

/* Runs each node of the graph on right inputs, where these are known, and sets *out
 * to the first result that is far from the right one, if another one is not much
 * farther. out->tensor is NULL if there is none; out->node is NULL for an output of the
 * graph that is constant. False after a diagnostic. */
bool bisect_nodes(struct graph *g, const void *const *inputs,
		  const struct node_check *check, struct node_result *out);

/* -- bisect_model.c -- */

/* A part of a model: the nodes that compute the tensors `results`, from those `given` and
 * from the inputs of the model. All names are those of the model. */
struct model_part {
	const char *const *given, *const *results;
	int n_given, n_results;
};

/* Writes the part of the model in the file `from`, which g is as it was read, to the
 * file `to`. Sets *inputs to the names of its inputs, in order, in g's arena. NULL, or
 * why it cannot be written. */
const char *model_part_write(struct graph *g, const char *from,
			     const struct model_part *wanted, const char *to,
			     const char *const **inputs, int *n_inputs);

/* -- bisect_kernel.c -- */

/* A kernel after each pass that lowers it. */
struct lowered_step {
	const char *pass; /* "schedule", then the passes of lower.def */
	struct func *func;
};

struct lowering {
	struct verify_kernel *of;
	struct kernel_again again;
	VEC(struct lowered_step) steps;
	uint64_t seed;
	/* the case with which steps are compared, in its arrays */
	struct verify_cases one;
};

/* Adds a copy of the function after a pass (tirc_lower_again()). ctx: the struct
 * lowering. */
void lowering_add(void *ctx, const char *pass, const struct func *f);
/* Runs a function of the kernel on its cases, until it is wrong on one, which stays in
 * l->one. */
enum bisect_state lowering_find_case(struct arena *a, struct lowering *l,
				     struct func *f);
/* Is the kernel right on the case, as this function of it? The weights have the
 * layouts of `k`. *why: an element, or an access, that is wrong. */
enum bisect_state lowering_ask(struct arena *a, const struct lowering *l,
			       const struct kernel *k, struct func *f,
			       const char **why);

#endif
