/* SPDX-License-Identifier: Apache-2.0 */
/* A backend: the patterns of nodes that it takes and the templates of its
 * source. Pure data, read from templates/byoc/NAME/backend.json
 * (gen/byoc/backend_load.c); docs/reference/backend.md describes the file. */
#ifndef TIRC_BACKEND_H
#define TIRC_BACKEND_H

#include "graph_region.h"

/* -- conditions -- */

/* Bounds, both included. */
struct limits {
	bool set;
	int64_t min, max;
	int64_t multiple;    /* 1: any */
	VEC(int64_t) one_of; /* empty: any between min and max */
};

bool limits_hold(const struct limits *l, int64_t v);

/* Another tensor of the pattern: the result of a node, or its input. */
struct tensor_ref {
	int node;  /* index, BEFORE, or -1: none */
	int input; /* -1: its result */
};

enum { BEFORE = -2 }; /* the tensor that a follower reads */

enum tensor_kind {
	TENSOR_ANY,
	TENSOR_CONSTANT,
	TENSOR_VARIABLE, /* no constant */
	TENSOR_NODE,     /* the result of another node of the pattern */
	TENSOR_ABSENT
};

/* The layout of a Transpose's result if the Transpose is left out: the last
 * dimension is contiguous, or the one before it. */
enum { LAYOUT_ROWS = 1, LAYOUT_COLUMNS = 2 };

struct tensor_condition {
	enum tensor_kind kind;
	int node; /* TENSOR_NODE: its index in the pattern, or BEFORE */
	int node_output;
	bool optional;   /* may be absent */
	uint64_t dtypes; /* bits by enum dtype_kind; 0: all */
	struct limits rank, elems, users;
	int n_dims; /* 0: any shape, unless more_dims */
	struct limits *dims;
	bool more_dims;           /* there may be more dimensions than n_dims */
	struct limits other_dims; /* for each of these */
	int is_static;            /* no symbolic size: 1 yes, 0 no, -1 either */
	unsigned layouts;         /* LAYOUT_ROWS | LAYOUT_COLUMNS; 0: any */
	bool has_value;           /* all elements are `value`, up to rounding */
	double value;
	/* Is the tensor a parameter of the region's functions? 1 yes, 0 no, -1
	 * yes unless a fact has its value. */
	int is_parameter;
	struct tensor_ref same_shape, broadcasts_to, row_of;
	struct tensor_ref same_dtype;
	const char *pointer; /* its place in backend.json */
};

struct attribute_condition {
	const char *name;
	bool or_absent;
	bool must_be_absent;
	struct limits number; /* of an integer, or of each of a list */
	struct limits length; /* of a list */
	bool has_list;        /* it must be exactly `list` */
	int n_list;
	const int64_t *list;
	const char *const *texts; /* one of these; NULL: any */
	int n_texts;
	bool has_float; /* it must be `real`, up to rounding */
	double real;
};

/* A value for templates: an attribute, a constant input of one element, a number or
 * text of the file, or a decision. A node without the value does not match. */
struct fact_rule {
	const char *name;
	const char *attribute; /* or NULL */
	int input;             /* or -1 */
	bool has_default;      /* if the node has neither */
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
	const struct tensor_condition *rest; /* further inputs; NULL: none */
	bool any_order; /* inputs 0 and 1 may be exchanged */
	struct tensor_condition *outputs;
	int n_outputs;
	bool more_outputs;
	struct attribute_condition *attributes;
	int n_attributes;
	struct fact_rule *facts;
	int n_facts;
	bool optional; /* only while it is read */
};

/* A number that each match adds to a sum over its region. */
struct pattern_count {
	const char *name;
	int64_t number;
	int64_t each; /* for each input of its nodes */
};

/* Nodes and their edges. */
struct pattern_graph {
	const char *name;           /* of a follower, else NULL */
	struct pattern_node *nodes; /* each reads earlier ones only */
	int n_nodes;
	int *order; /* of the search, from the anchor or BEFORE on */
	int result; /* the node whose result followers read */
	const struct pattern_count *counts; /* a follower's */
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

/* One of the backend's options, and the value it must have. */
struct pattern_option {
	const char *name, *value;
};

struct pattern {
	const char *name;
	const char *what; /* for people */
	int priority;     /* the largest first, then the most nodes */
	/* One for each choice of optional nodes, those with more first. */
	struct pattern_graph *variants;
	int n_variants;
	const char *anchor; /* id of the node that matches are found by */
	struct pattern_chain *chains; /* matched one after the other */
	int n_chains;
	int64_t min_macs, min_bytes;          /* of a match that is worth it */
	const struct pattern_option *options; /* all must hold */
	int n_options;
	bool alone; /* false: only in a region with another pattern */
	const struct pattern_count *counts;
	int n_counts;
	const char *pointer; /* "/patterns/3" */
};

/* -- backends -- */

struct backend_option {
	const char *name, *what;
	const char *const *values; /* NULL: any text */
	int n_values;
	const char *value; /* of the command line, or the default */
};

enum region_stage { REGION_ANNOTATED, REGION_MERGED, REGION_PARTITIONED };

/* A pass of the backend's own over the graph and its regions. */
struct region_pass {
	const char *name;
	enum region_stage after;
	const char *object;  /* path of a shared object, or NULL */
	const char *command; /* over the partition's JSON, or NULL */
	/* Set by the loader. False after a diagnostic. */
	bool (*run)(struct graph *g, const struct backend *b,
		    const struct region_pass *p);
	void *ctx;
};

struct tdata; /* gen/data/template.h */

struct backend_file {
	const char *key;  /* "region"; NULL: a file of the runtime */
	const char *name; /* "region.tmpl" */
	const char *file; /* for messages */
	const char *text;
	bool shared;               /* rendered once for all regions */
	const struct tdata *names; /* the names that it may use */
};

struct backend {
	const char *name, *description;
	const char *file;   /* of backend.json, for messages */
	const char *folder; /* NULL: it came with tirc */
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
	const char *const *includes; /* of the source: "<dnnl.h>" */
	int n_includes;
	const char *const *header_includes; /* of the header */
	int n_header_includes;
	struct backend_file *runtime; /* files written beside the source */
	int n_runtime;
	const char *cflags, *ldflags; /* "" if none */
	/* Regions. */
	bool merge; /* matches that read each other become one region */
	int max_matches;
	int64_t min_macs; /* of a region that is worth it */
};

/* NULL: no such pattern. */
const struct pattern *backend_pattern(const struct backend *b,
				      const char *name);
const struct backend_file *backend_template(const struct backend *b,
					    const char *key);
/* NULL: no such option. */
const char *backend_option(const struct backend *b, const char *name);

/* Multiply-accumulates of all nodes. */
int64_t match_macs(const struct region_match *m);
int64_t region_macs(const struct graph_region *r);

/* -- the passes: rows annotate, merge and partition of passes.def. Without
 * backends they do nothing. -- */

/* Makes the passes note why nodes are not taken, for byoc_explain. */
void byoc_enable_notes(struct graph *g);
/* Prints for each node in order which backend took it in which role, or why
 * each backend did not take it. */
void byoc_explain(const struct graph *g, struct strbuf *out);

#endif
