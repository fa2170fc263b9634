/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the loader of backends. */
#ifndef TIRC_BYOC_LOADING_H
#define TIRC_BYOC_LOADING_H

#include "backend_load.h"

struct backend_loader {
	struct module *m;
	struct backend *b;
	const char *dir; /* --byoc-path, or NULL */
	region_command_fn *run_command;
	struct reader reader;
	struct json chains; /* that patterns may name */
};

/* The nodes of the pattern that is read, for what refers to them. */
struct pattern_scope {
	struct pattern_node *nodes;
	int n;
	const char *self; /* the next node, whose inputs are read, or NULL */
	bool has_before;  /* a follower */
};

/* An identifier in lower case? */
bool backend_is_word(const char *text);
/* Is it one of the option's values? */
bool backend_takes(const struct backend_option *o, const char *value);

/* No condition at all. */
void backend_any_tensor(struct json j, struct tensor_condition *out);
/* An input or output: a word, or an object. */
void backend_read_tensor(struct json j, const struct pattern_scope *s,
			 struct tensor_condition *out);
/* Of an input or output: `exchanges`, the result of a node of the pattern that
 * exchanges dimensions. */
void backend_check_layout(struct json j, bool exchanges,
			  struct tensor_condition *c);
void backend_read_attribute(struct json j, const char *name,
			    struct attribute_condition *out);
void backend_read_fact(struct json j, const char *name, struct fact_rule *out);

/* backend_patterns.c */
const struct pattern_count *backend_read_counts(struct backend_loader *l,
						struct json j, int *n);
void backend_read_patterns(struct backend_loader *l, struct json j);
/* backend_graph.c: puts the nodes into the order in which they are found, makes
 * a graph of each choice of optional ones. */
bool backend_order_nodes(struct module *m, struct pattern_graph *g, int anchor,
			 struct json at);
void backend_make_variants(struct module *m, struct pattern *p,
			   const struct pattern_graph *all, int anchor,
			   struct json at);

/* region_names.c: sets the names of all templates and looks these over. */
bool backend_check_templates(struct module *m, struct backend *b);

#endif
