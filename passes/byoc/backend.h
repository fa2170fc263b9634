/* SPDX-License-Identifier: Apache-2.0 */
/* A backend: what it takes of a graph, and what its source is made of. Pure
 * data, read from templates/byoc/NAME/backend.json (gen/byoc/backend_load.c);
 * docs/byoc.md describes the file. */
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

enum { BEFORE = -2 }; /* what a follower follows */

enum tensor_kind {
	TENSOR_ANY,
	TENSOR_CONSTANT,
	TENSOR_VARIABLE, /* no constant */
	TENSOR_NODE,     /* the result of another node of the pattern */
	TENSOR_ABSENT
};

/* How what a Transpose gives lies, if it is left out: the last dimension
 * together, or the one before. */
enum { LAYOUT_ROWS = 1, LAYOUT_COLUMNS = 2 };

struct tensor_condition {
	enum tensor_kind kind;
	int node; /* TENSOR_NODE: its index in the pattern, or BEFORE */
	int node_output;
	bool optional;   /* may be absent */
	uint64_t dtypes; /* bits by enum dtype_kind; 0: all */
	struct limits rank, elems, users;
	int n_dims; /* 0: any shape. The first … */
	struct limits *dims;
	bool more_dims;           /* … and others, */
	struct limits other_dims; /* all of these so */
	int is_static;            /* no symbolic size: 1 yes, 0 no, -1 either */
	unsigned layouts;         /* LAYOUT_ROWS | LAYOUT_COLUMNS; 0: any */
	bool has_value;           /* all elements are this, up to rounding */
	double value;
	/* Of the region's functions: 1 yes, 0 no, -1 unless a fact tells its
	 * value. */
	int is_parameter;
	struct tensor_ref same_shape, broadcasts_to, row_of;
	struct tensor_ref same_dtype;
	const char *pointer; /* in backend.json */
};

struct attribute_condition {
	const char *name;
	bool or_absent;
	bool must_be_absent;
	struct limits number; /* of an integer, or of each of a list */
	struct limits length; /* of a list */
	bool has_list;        /* exactly these */
	int n_list;
	const int64_t *list;
	const char *const *texts; /* one of these; NULL: any */
	int n_texts;
	bool has_float; /* exactly this, up to rounding */
	double real;
};

/* A value for templates: from an attribute, from a constant input of one
 * element, or as it stands in the file. A node without it does not match. */
struct fact_rule {
	const char *name;
	const char *attribute; /* or NULL */
	int input;             /* or -1 */
	bool has_default;      /* where neither is there */
	struct fact value;     /* the default */
};

/* -- patterns -- */

struct pattern_node {
	const char *id;
	const char *const *ops; /* "Conv", "tirc.Conv" */
	int n_ops;
	bool check_inputs; /* false: whatever its inputs are */
	struct tensor_condition *inputs;
	int n_inputs;
	const struct tensor_condition *rest; /* further inputs; NULL: none */
	bool any_order; /* inputs 0 and 1 may change places */
	struct tensor_condition *outputs;
	int n_outputs;
	bool more_outputs;
	struct attribute_condition *attributes;
	int n_attributes;
	struct fact_rule *facts;
	int n_facts;
	bool optional; /* only while it is read */
};

/* What each match adds to a sum over its region. */
struct pattern_count {
	const char *name;
	int64_t number;
	int64_t each; /* for each input of its nodes */
};

/* Nodes and how they hang together. */
struct pattern_graph {
	const char *name;           /* of a follower */
	struct pattern_node *nodes; /* each reads earlier ones only */
	int n_nodes;
	int *order; /* in which they are found, from what is
				  * known: the anchor, or BEFORE */
	int result; /* the node that followers follow */
	const struct pattern_count *counts; /* a follower's */
	int n_counts;
	bool *inner; /* by node: another one reads it */
};

/* What may come behind, again and again. */
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
	struct pattern_chain *chains; /* one after the other */
	int n_chains;
	int64_t min_macs, min_bytes;          /* less is not worth it */
	const struct pattern_option *options; /* only with these */
	int n_options;
	bool not_alone; /* only in a region with another pattern */
	const struct pattern_count *counts;
	int n_counts;
	const char *pointer; /* "/patterns/3" */
};

/* -- backends -- */

struct backend_option {
	const char *name, *what;
	const char *const *values; /* NULL: any text */
	int n_values;
	const char *value; /* the default, or as the command line says */
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
	const char *key;  /* "region"; NULL: a file of its runtime */
	const char *name; /* "region.tmpl" */
	const char *file; /* for messages */
	const char *text;
	bool shared;               /* by all regions: it sees none of them */
	const struct tdata *names; /* that it may ask for */
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
	/* For each of a region's inputs, and for each of its results. */
	const struct pattern_count *input_counts, *output_counts;
	int n_input_counts, n_output_counts;
	bool state;                  /* its functions get the model's struct */
	const char *const *includes; /* "<dnnl.h>", of the source */
	int n_includes;
	const char *const *header_includes; /* of the header */
	int n_header_includes;
	struct backend_file *runtime; /* goes beside the source, as it is */
	int n_runtime;
	const char *cflags, *ldflags; /* "" if none */
	/* Regions. */
	bool merge; /* matches beside each other become one */
	int max_matches;
	int64_t min_macs; /* of a region; with less it is not worth it */
};

/* NULL: no such pattern. */
const struct pattern *backend_pattern(const struct backend *b,
				      const char *name);
const struct backend_file *backend_template(const struct backend *b,
					    const char *key);
/* NULL: no such option. */
const char *backend_option(const struct backend *b, const char *name);

/* Multiply-accumulates of its nodes. */
int64_t match_macs(const struct region_match *m);
int64_t region_macs(const struct graph_region *r);

/* -- the passes: rows annotate, merge and partition of passes.def. Without
 * backends they do nothing. -- */

/* From now on the passes note why nodes are not taken, for byoc_explain. */
void byoc_watch(struct graph *g);
/* For each node in order: which backend took it, as what, or per backend why
 * it did not. */
void byoc_explain(const struct graph *g, struct strbuf *out);

#endif
