/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies under import: of graphs and functions, of branches and loops; and nodes
 * that other nodes replace when their inputs are known. */
#ifndef TIRC_ONNX_BODIES_H
#define TIRC_ONNX_BODIES_H

#include "importer.h"

/* -- nodes.c -- */

bool import_body(struct importer *imp, struct body *body);
/* The slot of a name in a body or, for a nested graph, around it. */
struct scope_slot *import_lookup(const struct body *body, const char *name);
const char *import_domain(const char *domain); /* "ai.onnx" is "" */
/* Appends a node to the graph, with its version and origin (-1: none). */
struct node *import_add_node(struct importer *imp, const char *domain,
			     const char *op_type, const char *name,
			     struct tensor **in, int n_in, struct tensor **out,
			     int n_out, int origin, int version);

/* -- function.c -- */

/* Collects the functions of the model and of --functions, before the first is
 * looked for. */
bool functions_collect(struct importer *imp);
/* function_files.c: appends those of --functions. */
bool function_files(struct importer *imp);
/* NULL: the node calls none. */
struct local_function *function_find(const struct importer *imp,
				     const Onnx__NodeProto *call);
/* "outer/call/", a prefix that no other call has. */
const char *import_prefix(struct importer *imp, const struct body *caller,
			  const Onnx__NodeProto *call);
bool function_inline(struct importer *imp, const struct body *caller,
		     struct local_function *f, const Onnx__NodeProto *call,
		     const char *item, int origin);

/* -- deferred.c: nodes that other nodes replace -- */

/* Does it have an operator whose nodes are deferred? */
bool is_deferred_operator(const struct importer *imp, const Onnx__NodeProto *p);
/* Notes a new node. */
void deferred_add(struct importer *imp, struct node *n,
		  const Onnx__NodeProto *p, const struct body *body,
		  const attr_list *attrs, int n_inputs, int origin);
/* The tensors around a node that its nested graphs use: appended to list, each
 * once. */
typedef VEC(struct tensor *) tensor_list;
void deferred_captures(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, tensor_list *list);
/* Replaces the node, or makes nodes for one more iteration of a loop before
 * it. All inputs of the node have known types and shapes. */
bool deferred_expand(struct importer *imp, struct node *n);
/* The node's attribute that is a graph, or NULL. */
const Onnx__GraphProto *deferred_graph(const struct deferred *d,
				       const char *name);
bool deferred_refuse(struct importer *imp, const struct deferred *d,
		     const char *fmt, ...) TIRC_PRINTF(3, 4);
/* Makes the nodes of a nested graph over given inputs; out[] are its outputs'
 * tensors. Nodes are appended to the graph, which is not sorted yet. */
bool deferred_inline(struct importer *imp, const struct deferred *d,
		     const Onnx__GraphProto *graph, int flow,
		     struct tensor *const *in, int n_in, struct tensor **out);
/* A new node with the origin of d, at the end of the graph; its tensor. */
struct tensor *deferred_node(struct importer *imp, const struct deferred *d,
			     const char *op_type, struct tensor *const *in,
			     int n_in, const char *name);
/* The result of an Unsqueeze or Squeeze of x at an axis. */
struct tensor *deferred_change_rank(struct importer *imp,
				    const struct deferred *d,
				    const char *op_type, struct tensor *x,
				    int64_t axis);
/* A new node like that of deferred_node, with a given output. */
struct node *deferred_make(struct importer *imp, const struct deferred *d,
			   const char *op_type, struct tensor *const *in,
			   int n_in, struct tensor *out);
/* Output k of the node has the value of t, which may be a sequence. */
void deferred_output(struct importer *imp, const struct deferred *d, int k,
		     struct tensor *t);
/* Removes the node, whose outputs are set. */
bool deferred_finish(struct importer *imp, struct deferred *d, const char *why);
/* The integer or truth value of input i, if it is known and has one element. */
bool deferred_known(struct importer *imp, const struct deferred *d, int i,
		    int64_t *v);

/* -- impossible.c: branches whose shapes contradict each other -- */

/* Inference of a node in `flow` has failed, with the diagnostics from number
 * `first` on. If they are contradictions within a branch of an If, removes them
 * and the branch: a run that takes it is refused. */
bool impossible_branch(struct importer *imp, int flow, int first);
/* Adds to the last error, of a node in `flow`, which If decides whether the node
 * runs, and the option that makes its condition known. */
void impossible_hint(struct importer *imp, int flow);
/* Replaces an If of which one branch is impossible by the other one. */
bool impossible_if(struct importer *imp, struct deferred *d);
/* The checks of the graph from `first` on come from nodes in `flow`: each becomes
 * "the branch around them is not taken, or the check holds". Appends nodes that read
 * the condition of the branch's If. */
void impossible_checks(struct importer *imp, int flow, int first);
/* The condition of an If, which the entry function reads before the branches
 * if a check needs it. */
struct tensor *impossible_condition(struct importer *imp, struct deferred *d);

/* -- flow.c: branches and loops that stay in the graph -- */

bool flow_if(struct importer *imp, struct deferred *d);
/* The inputs of the node are the limit or NULL, the condition or NULL, and the
 * states; sliced: what iterations read slices of. */
struct loop_form {
	const Onnx__GraphProto *body;
	bool is_loop; /* not a Scan */
	int n_states, n_sliced, n_stacked;
	int64_t trips;                    /* -1: not known */
	struct tensor *count, *condition; /* NULL: none */
	struct tensor **states, **sliced;
	const int64_t *in_axes, *in_back, *out_axes, *out_back;
};
bool flow_loop(struct importer *imp, struct deferred *d,
	       const struct loop_form *form);
bool flow_loop_end(struct importer *imp, struct deferred *d);

/* -- deform.c -- */

bool expand_deform_conv(struct importer *imp, struct deferred *d);

/* -- loops.c, sequences.c: each replaces nodes of some operators -- */

bool expand_loop(struct importer *imp, struct deferred *d);
bool expand_scan(struct importer *imp, struct deferred *d);
bool expand_sequence(struct importer *imp, struct deferred *d);
bool expand_if(struct importer *imp, struct deferred *d);
bool expand_flex(struct importer *imp, struct deferred *d);
/* Outputs of the model that are sequences become an output for each
 * element. */
bool sequence_outputs(struct importer *imp);

#endif
