/* SPDX-License-Identifier: Apache-2.0 */
/* A backend: the patterns of nodes that it takes and the templates of its
 * source. Pure data, read from templates/byoc/NAME/backend.json
 * (gen/byoc/backend_load.c); docs/reference/backend.md describes the file. */
#ifndef TIRC_BACKEND_H
#define TIRC_BACKEND_H

#include "graph_region.h"

/* -- conditions -- */

/* Limits of a number: min and max are included. */
struct limits {
	bool set; /* backend.json has limits; else every number is accepted */
	int64_t min, max;
	int64_t multiple;    /* the number must be a multiple of it */
	VEC(int64_t) one_of; /* if not empty, the number must be one of these */
};

bool limits_hold(const struct limits *l, int64_t v);

/* Another tensor of the pattern: the result of a node, or its input. */
struct tensor_ref {
	int node;  /* index of the node, BEFORE, or -1 if there is no
		    * reference */
	int input; /* index of the input; -1: the result */
};

enum { BEFORE = -2 }; /* the tensor that a follower reads */

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
	int node;        /* of TENSOR_NODE: the node's index in the pattern, or
		   * BEFORE */
	int node_output; /* of TENSOR_NODE: which of the node's outputs */
	bool optional;   /* the tensor may be absent */
	uint64_t dtypes; /* a set of enum dtype_kind, as bits; 0: all */
	struct limits rank, elems, users;
	int n_dims; /* 0, without more_dims: any shape */
	struct limits *dims;
	bool more_dims;           /* there may be more dimensions than n_dims */
	struct limits other_dims; /* for each of these */
	int is_static;            /* has it only constant sizes? 1: it must, 0:
				   * it must not, -1: either */
	unsigned layouts;         /* LAYOUT_ROWS | LAYOUT_COLUMNS; 0: any */
	bool has_value;           /* all elements are `value`, up to rounding */
	double value;
	/* Is the tensor a parameter of the region's functions? 1 yes, 0 no, -1
	 * yes unless a fact has its value. */
	int is_parameter;
	/* Other tensors of the pattern, or none: the tensor must have the same
	 * shape; be broadcast to it without changing its shape; have its last
	 * dimension, and 1 in all others; have the same data type. */
	struct tensor_ref same_shape, broadcasts_to, row_of;
	struct tensor_ref same_dtype;
	const char *pointer; /* its place in backend.json, a JSON pointer */
};

struct attribute_condition {
	const char *name;
	bool or_absent;
	bool must_be_absent;
	struct limits number; /* of an integer, or of each integer of a list */
	struct limits length; /* of the length of a list */
	bool has_list;        /* it must be exactly `list` */
	int n_list;
	const int64_t *list;
	const char *const *texts; /* the text must be one of these; NULL: any
				   * text */
	int n_texts;
	bool has_float; /* it must be `real`, up to rounding */
	double real;
};

/* A value for templates: that of an attribute, of a constant input with one
 * element, a number or text of backend.json, or a decision. A node without the
 * value does not match. */
struct fact_rule {
	const char *name;
	const char *attribute; /* or NULL */
	int input;             /* or -1 */
	bool has_default;      /* use `value` if the node has neither */
	struct fact value;     /* the default */
	/* Of a decision: the texts that passes and partitions may choose; its
	 * default is one of them. */
	const char *const *choices;
	int n_choices;
};

/* -- patterns -- */

struct pattern_node {
	const char *id;
	const char *const *ops; /* "Conv", "tirc.Conv" */
	int n_ops;
	bool check_inputs; /* false: any inputs match */
	struct tensor_condition *inputs;
	int n_inputs;
	const struct tensor_condition *rest; /* condition on all further inputs;
					      * NULL if there may be none */
	bool any_order; /* inputs 0 and 1 may be exchanged */
	struct tensor_condition *outputs;
	int n_outputs;
	bool more_outputs;
	struct attribute_condition *attributes;
	int n_attributes;
	struct fact_rule *facts;
	int n_facts;
	bool optional; /* the node may be absent from a match */
};

/* A number that each match adds to a sum over its region. */
struct pattern_count {
	const char *name;
	int64_t number;
	int64_t each; /* added once more for each input of the match's nodes */
};

/* Nodes and their edges. */
struct pattern_graph {
	const char *name;           /* the name of a follower, else NULL */
	struct pattern_node *nodes; /* each reads only results of earlier
				     * ones */
	int n_nodes;
	int *order; /* the order of the search, from the anchor or BEFORE on */
	int result; /* the node whose result followers read */
	const struct pattern_count *counts; /* the counts of a follower */
	int n_counts;
	bool *inner; /* by node: another node of the pattern reads it */
};

/* Followers that may come after a body or another follower, min to max
 * times. */
struct pattern_chain {
	struct pattern_graph *one_of;
	int n_one_of;
	int min, max;
};

/* An option of the backend, and the value that it must have. */
struct pattern_option {
	const char *name, *value;
};

struct pattern {
	const char *name;
	const char *what; /* a description for people */
	int priority;     /* matches of higher priority are taken first */
	/* One for each choice of optional nodes; variants with more nodes come
	 * first. */
	struct pattern_graph *variants;
	int n_variants;
	const char *anchor; /* the id of the node from which a match is
			     * searched */
	struct pattern_chain *chains; /* matched one after the other */
	int n_chains;
	int64_t min_macs, min_bytes;          /* a match with less is not
					       * taken */
	const struct pattern_option *options; /* all must have these values */
	int n_options;
	bool alone; /* false: taken only in a region with a match of another
		     * pattern */
	const struct pattern_count *counts;
	int n_counts;
	const char *pointer; /* "/patterns/3" */
};

/* -- backends -- */

struct backend_option {
	const char *name, *what;
	const char *const *values; /* NULL: any text */
	int n_values;
	const char *value; /* from the command line, or the default */
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
	const char *key;  /* "region"; NULL for a file of the runtime */
	const char *name; /* "region.tmpl" */
	const char *file; /* for messages */
	const char *text;
	bool shared;               /* rendered once for all regions */
	const struct tdata *names; /* the names that the template may use */
};

struct backend {
	const char *name, *description;
	const char *file;   /* of backend.json, for messages */
	const char *folder; /* its folder; NULL if it is part of tirc */
	struct pattern *patterns;
	int n_patterns;
	struct backend_option *options;
	int n_options;
	struct region_pass *passes;
	int n_passes;
	struct backend_file *templates; /* "region", "members" */
	int n_templates;
	/* Added for each input and for each output of a region. */
	const struct pattern_count *input_counts, *output_counts;
	int n_input_counts, n_output_counts;
	bool state; /* its functions take a pointer to the model's struct */
	const char *const *includes; /* #includes of the source: "<dnnl.h>" */
	int n_includes;
	const char *const *header_includes; /* #includes of the header */
	int n_header_includes;
	struct backend_file *runtime; /* files written beside the source */
	int n_runtime;
	const char *cflags, *ldflags; /* "" if none */
	/* Regions. */
	bool merge; /* matches that read each other become one region */
	int max_matches;
	int64_t min_macs; /* a region with less is given up */
};

/* NULL if there is no pattern with this name. */
const struct pattern *backend_pattern(const struct backend *b,
				      const char *name);
const struct backend_file *backend_template(const struct backend *b,
					    const char *key);
/* The value of the option; NULL if there is no option with this name. */
const char *backend_option(const struct backend *b, const char *name);

/* The number of multiply-accumulates of all nodes of a match, or of all matches
 * of a region; nodes without any (op_macs) count 0. */
int64_t match_macs(const struct region_match *m);
int64_t region_macs(const struct graph_region *r);

/* -- the passes: the rows annotate, merge and partition of passes.def. Without
 * backends they do nothing. -- */

/* Makes the passes note why nodes are not taken, for byoc_explain. */
void byoc_enable_notes(struct graph *g);
/* Prints for each node in order which backend took it in which role, or why
 * each backend did not take it. */
void byoc_explain(const struct graph *g, struct strbuf *out);

#endif
