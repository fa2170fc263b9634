/* SPDX-License-Identifier: Apache-2.0 */
/* A backend: the patterns of nodes that it takes and the templates of its
 * source. A backend is pure data, read from templates/byoc/NAME/backend.json
 * (gen/byoc/backend_load.c); docs/reference/backend.md describes the file. */
#ifndef TIRC_BACKEND_H
#define TIRC_BACKEND_H

#include "graph_region.h"

/* -- conditions -- */

/* Limits of a number: min and max are included. */
struct limits {
	/* true: backend.json sets limits for the number; false: every number is
	 * accepted */
	bool set;
	int64_t min, max;
	int64_t multiple; /* the number must be a multiple of this one */
	/* if the list is not empty, the number must be one of its values */
	VEC(int64_t) one_of;
};

bool limits_hold(const struct limits *l, int64_t v);

/* A reference to a tensor of the pattern: the result of a node, or an input of
 * a node. */
struct tensor_ref {
	/* index of the node in the pattern; BEFORE; or -1: no reference */
	int node;
	int input; /* which input of the node; -1: the result of the node */
};

/* instead of a node's index: the tensor that a follower (a pattern_graph that
 * comes after the body of a match) reads */
enum { BEFORE = -2 };

enum tensor_kind {
	TENSOR_ANY,
	TENSOR_CONSTANT,
	TENSOR_VARIABLE, /* not a constant */
	TENSOR_NODE,     /* the result of another node of the pattern */
	TENSOR_ABSENT
};

/* The layout of a Transpose's result if the Transpose is left out: the last
 * dimension is contiguous, or the one before it. */
enum { LAYOUT_ROWS = 1, LAYOUT_COLUMNS = 2 };

struct tensor_condition {
	enum tensor_kind kind;
	int node; /* of TENSOR_NODE: the node's index in the pattern, or
			  * BEFORE */
	/* of TENSOR_NODE: the index among the outputs of that node */
	int node_output;
	bool optional; /* the tensor may be absent */
	/* the accepted types: a set of enum dtype_kind, as bits; 0: all
	 * types */
	uint64_t dtypes;
	struct limits rank, elems, users;
	/* the number of dimensions for which there are conditions; 0 without
	 * more_dims: any shape is accepted */
	int n_dims;
	struct limits *dims;
	/* the tensor may have more dimensions than n_dims */
	bool more_dims;
	/* the condition on each dimension beyond n_dims */
	struct limits other_dims;
	/* must the tensor have only constant sizes? 1: yes; 0: it must have a
	 * symbolic size; -1: either */
	int is_static;
	/* the accepted layouts: LAYOUT_ROWS, LAYOUT_COLUMNS or both; 0: any
	 * layout */
	unsigned layouts;
	bool has_value; /* all elements are `value`, up to rounding */
	double value;
	/* Do the region's functions take the tensor as a parameter? 1: yes; 0:
	 * no; -1: yes, unless a fact has the tensor's value. */
	int is_parameter;
	/* References to other tensors of the pattern (node -1: no condition).
	 * The tensor must have the shape of same_shape; be broadcast to the
	 * shape of broadcasts_to; have the last dimension of row_of and extent
	 * 1 in all other dimensions; have the data type of same_dtype. */
	struct tensor_ref same_shape, broadcasts_to, row_of;
	struct tensor_ref same_dtype;
	/* the place of the condition in backend.json, as a JSON pointer */
	const char *pointer;
};

struct attribute_condition {
	const char *name;
	bool or_absent;
	bool must_be_absent;
	/* limits of an integer, or of each integer of a list */
	struct limits number;
	struct limits length; /* limits of the length of a list */
	bool has_list;        /* the attribute must be exactly `list` */
	int n_list;
	const int64_t *list;
	/* the texts that are accepted as value; NULL: any text */
	const char *const *texts;
	int n_texts;
	bool has_float; /* the attribute must equal `real`, up to rounding */
	double real;
};

/* A value that templates read: the value of an attribute or of a constant input
 * with one element, a number or text in backend.json, or a decision. A node
 * that lacks the value does not match. */
struct fact_rule {
	const char *name;
	const char *attribute; /* or NULL */
	int input;             /* or -1 */
	/* if the node has neither the attribute nor the input, `value` is
	 * used */
	bool has_default;
	struct fact value; /* the default */
	/* the name of an earlier fact of the node: both are numbers, and this
	 * one must be at least that one; NULL: no such condition */
	const char *at_least;
	/* For a decision: the texts among which passes and partitions may
	 * choose; the default is one of them. */
	const char *const *choices;
	int n_choices;
};

/* -- patterns -- */

struct pattern_node {
	const char *id;
	const char *const *ops; /* "Conv", "tirc.Conv" */
	int n_ops;
	bool check_inputs; /* if false, the node may have any inputs */
	struct tensor_condition *inputs;
	int n_inputs;
	/* condition on all inputs after the last of `inputs`; NULL if the node
	 * may have no further inputs */
	const struct tensor_condition *rest;
	bool any_order; /* inputs 0 and 1 of the node may be exchanged */
	struct tensor_condition *outputs;
	int n_outputs;
	bool more_outputs;
	/* a pool, each of whose windows has an element of the input */
	bool full_windows;
	struct attribute_condition *attributes;
	int n_attributes;
	struct fact_rule *facts;
	int n_facts;
	bool optional; /* the node may be absent from a match */
};

/* A number that each match adds to a sum over its region, which templates can
 * use. */
struct pattern_count {
	const char *name;
	int64_t number;
	/* added to the count once more for each input of the match's nodes */
	int64_t each;
};

/* The nodes of a pattern's body or of a follower, with their edges. */
struct pattern_graph {
	/* the name of the follower that the graph describes; NULL if the graph
	 * is a body */
	const char *name;
	/* in topological order: each node reads only results of nodes before
	 * it */
	struct pattern_node *nodes;
	int n_nodes;
	/* the order in which the search matches nodes, from the anchor or the
	 * reader of BEFORE on */
	int *order;
	int result; /* the node whose result followers read */
	/* of a follower (struct pattern_chain): what its match adds to the sums
	 * of the region */
	const struct pattern_count *counts;
	int n_counts;
	/* by node: true if another node of the pattern reads its result */
	bool *inner;
};

/* A step of a chain of followers. A follower is a graph of nodes that read the
 * result of what has matched so far. From min to max times, one of the
 * followers in one_of comes next. */
struct pattern_chain {
	struct pattern_graph *one_of;
	int n_one_of;
	int min, max;
};

/* A condition on an option of the backend: the value that it must have. */
struct pattern_option {
	const char *name, *value;
};

struct pattern {
	const char *name;
	const char *what; /* a description for people */
	int priority;     /* matches of higher priority are taken first */
	/* The bodies, one for each choice of optional nodes; bodies with more
	 * nodes come first. */
	struct pattern_graph *variants;
	int n_variants;
	const char *anchor; /* the id of the node from which a match is
			     * searched */
	/* the chains of followers, matched one after the other */
	struct pattern_chain *chains;
	int n_chains;
	/* a match with fewer multiply-accumulates or bytes is not taken */
	int64_t min_macs, min_bytes;
	/* options that the backend must have with these values, all of them */
	const struct pattern_option *options;
	int n_options;
	/* if false, a match of this pattern is taken only in a region that has
	 * a match of another pattern */
	bool alone;
	const struct pattern_count *counts;
	int n_counts;
	const char *pointer; /* "/patterns/3" */
};

/* -- backends -- */

struct backend_option {
	const char *name, *what;
	/* the values that are allowed for the option; NULL: any text */
	const char *const *values;
	int n_values;
	/* the option's value: from the command line, or the default */
	const char *value;
	const char *otherwise; /* the default */
};

enum region_stage { REGION_ANNOTATED, REGION_MERGED, REGION_PARTITIONED };

/* A pass that the backend provides, over the graph and its regions. */
struct region_pass {
	const char *name;
	enum region_stage after;
	const char *object;  /* the path of a shared object that has the pass,
			      * or NULL */
	const char *command; /* a command that transforms the partition's JSON,
			      * or NULL */
	/* Runs the pass; set by the loader. False after a diagnostic. */
	bool (*run)(struct graph *g, const struct backend *b,
		    const struct region_pass *p);
	void *ctx;
};

struct tdata; /* gen/data/template.h */

struct backend_file {
	/* the name of the template: "region"; NULL if the file belongs to the
	 * runtime and is no template */
	const char *key;
	const char *name; /* "region.tmpl" */
	const char *file; /* for messages */
	const char *text;
	/* the template is rendered once for all regions, not once for each
	 * region */
	bool shared;
	const struct tdata *names; /* the names that the template may use */
};

struct backend {
	const char *name, *description;
	/* which results of the backend differ from those of the operators; NULL
	 * if none does */
	const char *differs;
	const char *file; /* of backend.json, for messages */
	/* the folder of the backend; NULL if the backend is embedded in tirc */
	const char *folder;
	struct pattern *patterns;
	int n_patterns;
	struct backend_option *options;
	int n_options;
	struct region_pass *passes;
	int n_passes;
	struct backend_file *templates; /* "region", "members" */
	int n_templates;
	/* what each input and each output of a region adds to the sums of the
	 * region */
	const struct pattern_count *input_counts, *output_counts;
	int n_input_counts, n_output_counts;
	/* the region's functions take a pointer to the model's struct */
	bool state;
	const char *const *includes; /* #includes of the source: "<dnnl.h>" */
	int n_includes;
	const char *const *header_includes; /* #includes of the header */
	int n_header_includes;
	/* files that are written beside the source */
	struct backend_file *runtime;
	int n_runtime;
	/* options for the compiler and the linker; "" if the backend needs
	 * none */
	const char *cflags, *ldflags;
	/* Regions. */
	/* matches of which one reads results of another become one region */
	bool merge;
	int max_matches;
	/* a region with fewer multiply-accumulates goes back to generated
	 * code */
	int64_t min_macs;
};

/* The backend's pattern named `name`; NULL if the backend has none. */
const struct pattern *backend_pattern(const struct backend *b,
				      const char *name);
const struct backend_file *backend_template(const struct backend *b,
					    const char *key);
/* The value of the option `name`; NULL if the backend has no such option. */
const char *backend_option(const struct backend *b, const char *name);

/* match_macs: the number of multiply-accumulates of all nodes of a match;
 * region_macs: of all matches of a region. Nodes whose operator has none
 * (op_macs) count 0. */
int64_t match_macs(const struct region_match *m);
int64_t region_macs(const struct graph_region *r);

/* -- the passes: the rows annotate, merge and partition of passes.def. Without
 * backends they do nothing. -- */

/* Makes the passes note why nodes are not taken, for byoc_explain. */
void byoc_enable_notes(struct graph *g);
/* Prints, for each node of g in order, which backend took the node in which
 * role, or for each backend why it did not take the node. */
void byoc_explain(const struct graph *g, struct strbuf *out);

#endif
