/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the loader of backends. */
#ifndef TIRC_BYOC_LOADING_H
#define TIRC_BYOC_LOADING_H

#include "backend_load.h"

struct backend_loader {
	struct module *m;
	struct backend *b;
	region_command_fn *run_command;
	struct reader reader;
	struct json chains; /* that patterns may name */
};

/* The nodes of the pattern that is being read, for references to them. */
struct pattern_scope {
	struct pattern_node *nodes;
	int n;
	const char *self; /* the next node, whose inputs are read, or NULL */
	bool has_before;  /* a follower */
};

/* backend_find.c: the backend that a text of --byoc means; folder NULL: it is
 * embedded; options NULL: none are given. */
struct found_backend {
	const char *name, *folder, *options;
};

/* dir: --byoc-path, or NULL. False: diagnosed. */
bool backend_find(struct module *m, const char *text, const char *dir,
		  struct found_backend *out);

/* An identifier in lower case? */
bool backend_is_word(const char *text);
/* Reports an error at j unless `name` is a valid name. */
void backend_want_word(struct json j, const char *name);
/* Is it one of the option's values? */
bool backend_takes(const struct backend_option *o, const char *value);

/* Sets a condition that every tensor fulfils. */
void backend_any_tensor(struct json j, struct tensor_condition *out);
/* An input or output: a word, or an object. */
void backend_read_tensor(struct json j, const struct pattern_scope *s,
			 struct tensor_condition *out);
/* Checks the layout of an input or output. exchanges: it is the result of a
 * pattern's node that transposes. */
void backend_check_layout(struct json j, bool exchanges,
			  struct tensor_condition *c);
void backend_read_attribute(struct json j, const char *name,
			    struct attribute_condition *out);
void backend_read_fact(struct json j, const char *name, struct fact_rule *out);

/* backend_patterns.c */
const struct pattern_count *backend_read_counts(struct backend_loader *l,
						struct json j, int *n);

/* What the rows of backend.def call; ctx: the loader. */
void backend_read_includes(void *ctx, struct json j);
void backend_read_header_includes(void *ctx, struct json j);
void backend_read_templates(void *ctx, struct json j);
void backend_read_runtime(void *ctx, struct json j);
void backend_read_input_counts(void *ctx, struct json j);
void backend_read_output_counts(void *ctx, struct json j);
void backend_read_options(void *ctx, struct json j);
void backend_keep_chains(void *ctx, struct json j);
void backend_read_patterns(void *ctx, struct json j);
void backend_read_passes(void *ctx, struct json j);

/* backend_graph.c: sorts the nodes into the order of their search, and makes a
 * graph for each choice of optional nodes. */
bool backend_order_nodes(struct module *m, struct pattern_graph *g, int anchor,
			 struct json at);
void backend_make_variants(struct module *m, struct pattern *p,
			   const struct pattern_graph *all, int anchor,
			   struct json at);

/* region_names.c: sets the known names of all templates and checks the
 * templates. */
bool backend_check_templates(struct module *m, struct backend *b);

#endif
