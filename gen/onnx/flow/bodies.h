/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of functions, branches and loops during an import; and the nodes
 * that are replaced by other nodes when their inputs are known. */
#ifndef TIRC_BODIES_H
#define TIRC_BODIES_H

#include "importer.h"

/* -- nodes.c -- */

/* Appends the nodes of the body to the graph, in the order of the file, calls
 * of functions replaced by the functions' nodes. False after a diagnostic. */
bool import_body(struct importer *imp, struct body *body);
/* The slot of a name in the body or, for a nested graph, in the bodies around
 * it; NULL if no slot has this name. */
struct scope_slot *import_lookup(const struct body *body, const char *name);
const char *import_domain(const char *domain); /* "ai.onnx" becomes "" */
/* Appends a node to the graph. origin: the index of the node's origin in
 * graph.origins; -1: the node has no origin. */
struct node *import_add_node(struct importer *imp, const char *domain,
			     const char *op_type, const char *name,
			     struct tensor **in, int n_in, struct tensor **out,
			     int n_out, int origin, int version);

/* -- function.c -- */

/* Collects the functions of the model and of --functions. */
bool functions_collect(struct importer *imp);
/* function_files.c: appends the functions of --functions. */
bool function_files(struct importer *imp);
/* The function that the node calls, or NULL. */
struct local_function *function_find(const struct importer *imp,
				     const Onnx__NodeProto *call);
/* The prefix for the names in the body of a call, "outer/call/". No other call
 * has the same prefix. */
const char *import_prefix(struct importer *imp, const struct body *caller,
			  const Onnx__NodeProto *call);
bool function_inline(struct importer *imp, const struct body *caller,
		     struct local_function *f, const Onnx__NodeProto *call,
		     const char *item, int origin);

/* -- deferred.c: nodes that inference replaces by others -- */

/* Are nodes of p's operator deferred: replaced by other nodes during inference
 * (struct deferred)? */
bool is_deferred_operator(const struct importer *imp, const Onnx__NodeProto *p);
/* Makes n, which was made for the node p of the model, a deferred node:
 * inference replaces it by other nodes when the types and shapes of its inputs
 * are known. body: the body that contains p; n_inputs: the number of inputs
 * that the model lists, without the outer tensors that p's graphs use; origin:
 * n's origin. */
void deferred_add(struct importer *imp, struct node *n,
		  const Onnx__NodeProto *p, const struct body *body,
		  const attr_list *attrs, int n_inputs, int origin);
typedef VEC(struct tensor *) tensor_list;
/* Appends to list the outer tensors that the nested graphs of a node use, each
 * once. */
void deferred_captures(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, tensor_list *list);
/* Replaces the node n by other nodes or, if n is a loop, adds the nodes of the
 * next iteration. The types and shapes of all inputs of n must be known. False
 * after a diagnostic. */
bool deferred_expand(struct importer *imp, struct node *n);
/* The nested graph in the attribute `name` of the model's node, or NULL. */
const Onnx__GraphProto *deferred_graph(const struct deferred *d,
				       const char *name);
bool deferred_refuse(struct importer *imp, const struct deferred *d,
		     const char *fmt, ...) TIRC_PRINTF(3, 4);
/* Appends the nodes of the nested graph `graph` to the graph of the import,
 * unsorted. in: the tensors that become the inputs of the nested graph; out[k]:
 * is set to the tensor of its output k. False after a diagnostic. */
bool deferred_inline(struct importer *imp, const struct deferred *d,
		     const Onnx__GraphProto *graph, int flow,
		     struct tensor *const *in, int n_in, struct tensor **out);
/* Appends a node with the origin of d; returns its output. */
struct tensor *deferred_node(struct importer *imp, const struct deferred *d,
			     const char *op_type, struct tensor *const *in,
			     int n_in, const char *name);
/* Squeeze or Unsqueeze (op_type) of x at an axis. */
struct tensor *deferred_change_rank(struct importer *imp,
				    const struct deferred *d,
				    const char *op_type, struct tensor *x,
				    int64_t axis);
/* Like deferred_node, with the given output; returns the node. */
struct node *deferred_make(struct importer *imp, const struct deferred *d,
			   const char *op_type, struct tensor *const *in,
			   int n_in, struct tensor *out);
/* Makes output k of the node a copy of t, or, if t is a sequence, the sequence.
 * Does nothing if the output is absent. */
void deferred_output(struct importer *imp, const struct deferred *d, int k,
		     struct tensor *t);
/* Removes the deferred node, whose outputs were set before. why: the reason for
 * the removal; NULL if other nodes replace it. */
bool deferred_finish(struct importer *imp, struct deferred *d, const char *why);
/* Sets *v to the value of input i, if this input is an integer tensor of one
 * element whose value is already known; else returns false. */
bool deferred_known(struct importer *imp, const struct deferred *d, int i,
		    int64_t *v);

/* -- impossible.c: branches whose shapes contradict each other -- */

/* Called after inference of a node in the branch `flow` failed; its diagnostics
 * start at index `first`. If all of them say that shapes contradict each other,
 * removes the diagnostics, and removes a branch: the innermost one around the
 * node whose If has a second branch that is possible. A run that takes the
 * removed branch returns an error. False if there is no such branch, or if a
 * diagnostic says anything else. */
bool impossible_branch(struct importer *imp, int flow, int first);
/* Adds to the message of the last error, which is about a node in `flow`: in
 * which branch of an If the node is, and the option that makes the condition of
 * this If known. Does nothing if `flow` is not in a branch. */
void impossible_hint(struct importer *imp, int flow);
/* Replaces an If that has only one possible branch by that branch. False after
 * a diagnostic, or if both are possible. */
bool impossible_if(struct importer *imp, struct deferred *d);
/* The graph's checks from index `first` on come from nodes in `flow`. If that
 * is in a branch of an If, each check becomes "the branch is not taken, or the
 * check holds", unless it uses a size that is read in the branch, and nodes
 * that read the condition of the If are appended. */
void impossible_checks(struct importer *imp, int flow, int first);
/* The condition of an If, as a tensor: input 0 of the If; but if a check needs
 * the condition, the value that the entry function reads before the
 * branches. */
struct tensor *impossible_condition(struct importer *imp, struct deferred *d);

/* -- flow.c: branches and loops that stay in the graph -- */

bool flow_if(struct importer *imp, struct deferred *d);
/* The inputs of a Loop or Scan. A Loop has a limit (count), a condition and
 * states; a Scan has states, and tensors of which each iteration reads a slice
 * (sliced). */
struct loop_form {
	const Onnx__GraphProto *body;
	bool is_loop; /* false: a Scan */
	/* n_stacked: the number of results that consist of a slice from each
	 * iteration */
	int n_states, n_sliced, n_stacked;
	int64_t trips;                    /* iterations; -1: not known */
	struct tensor *count, *condition; /* NULL if absent */
	struct tensor **states, **sliced;
	/* For a Scan: the axis of the slices, for each sliced input (in_axes)
	 * and each stacked result (out_axes); NULL: all axes are 0. in_back,
	 * out_back: are the slices in reverse order? NULL: no slices are. */
	const int64_t *in_axes, *in_back, *out_axes, *out_back;
};
bool flow_loop(struct importer *imp, struct deferred *d,
	       const struct loop_form *form);
bool flow_loop_end(struct importer *imp, struct deferred *d);

/* -- deform.c -- */

bool expand_deform_conv(struct importer *imp, struct deferred *d);

/* -- loops.c, sequences.c -- */

bool expand_loop(struct importer *imp, struct deferred *d);
bool expand_scan(struct importer *imp, struct deferred *d);
bool expand_sequence(struct importer *imp, struct deferred *d);
bool expand_if(struct importer *imp, struct deferred *d);
bool expand_flex(struct importer *imp, struct deferred *d);
/* Replaces outputs of the model that are sequences by one output for each
 * element. */
bool sequence_outputs(struct importer *imp);

#endif
