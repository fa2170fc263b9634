/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the loader of backends. */
#ifndef TIRC_LOADING_H
#define TIRC_LOADING_H

#include "backend_load.h"

/* The state while a backend.json is read. */
struct backend_loader {
	struct module *m;
	struct backend *b;
	region_command_fn *run_command; /* see backend_load() */
	struct reader reader;
	/* the value of the backend's key "chains": lists of chains of
	 * followers; patterns refer to a list by its key */
	struct json chains;
};

/* The nodes that are read so far of a pattern or of a follower: conditions may
 * refer to these nodes by name. */
struct pattern_scope {
	struct pattern_node *nodes;
	int n;
	/* name of the node whose inputs are being read, or NULL */
	const char *self;
	/* the nodes are those of a follower: the name "before" means the node
	 * before the follower */
	bool has_before;
};

/* The backend that an argument of --byoc names (backend_find.c). folder NULL:
 * the backend is embedded; options NULL: the argument has no options. */
struct found_backend {
	const char *name, *folder, *options;
};

/* Finds the backend that `text`, a value of --byoc, means, and sets *out. dir:
 * --byoc-path, or NULL. False after a diagnostic. */
bool backend_find(struct module *m, const char *text, const char *dir,
		  struct found_backend *out);

/* Is the text an identifier in lower case? Only such a word may be a name in a
 * backend. */
bool backend_is_word(const char *text);
/* Reports an error at j unless `name` is a word. */
void backend_want_word(struct json j, const char *name);
/* Is the value one of the values that option o may have? */
bool backend_takes(const struct backend_option *o, const char *value);

/* Makes *out a condition that every tensor fulfils. */
void backend_any_tensor(struct json j, struct tensor_condition *out);
/* Reads a condition on an input or output: a word or an object. */
void backend_read_tensor(struct json j, const struct pattern_scope *s,
			 struct tensor_condition *out);
/* Reports an error for a condition on a layout that the input or output cannot
 * have. exchanges: it is the result of a node of the pattern that
 * transposes. */
void backend_check_layout(struct json j, bool exchanges,
			  struct tensor_condition *c);
void backend_read_attribute(struct json j, const char *name,
			    struct attribute_condition *out);
void backend_read_fact(struct json j, const char *name, struct fact_rule *out);

/* backend_patterns.c */
const struct pattern_count *backend_read_counts(struct backend_loader *l,
						struct json j, int *n);

/* The functions that rows of backend.def call with the value of their key; ctx
 * is the loader. */
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

/* backend_graph.c. backend_order_nodes sets the order in which the nodes of a
 * pattern are searched in a model: the anchor first, then nodes each of which
 * is connected to a node before it in this order. False after a diagnostic
 * about a node that is not connected. backend_make_variants makes a graph for
 * each choice of optional nodes. */
bool backend_order_nodes(struct module *m, struct pattern_graph *g, int anchor,
			 struct json at);
void backend_make_variants(struct module *m, struct pattern *p,
			   const struct pattern_graph *all, int anchor,
			   struct json at);

/* region_names.c: sets the names that each template may use, and checks the
 * templates. False after diagnostics. */
bool backend_check_templates(struct module *m, struct backend *b);

#endif
