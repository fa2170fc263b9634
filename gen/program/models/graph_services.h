/* SPDX-License-Identifier: Apache-2.0 */
/* The functions on models that the evaluator of programs needs. The caller,
 * gen/api, fills in this table, so that gen/program does not depend on the
 * import and the compilation of models. */
#ifndef TIRC_GRAPH_SERVICES_H
#define TIRC_GRAPH_SERVICES_H

#include "diag.h"
#include "graph.h"
#include "model_message.h"

/* A value of an input: dense, in row-major order. */
struct graph_param {
	const char *name;
	struct dtype type;
	int ndim;
	int64_t *shape;
	void *data;
};

/* A graph, described by a model and the steps that change it. A step copies the
 * request and changes the copy, so that the module before the step stays as it
 * was. */
struct graph_request {
	/* the path of the model, from find(); of a text: its name in messages */
	const char *path;
	/* the text of a model in Relay, of text_bytes bytes; NULL: the model is
	 * in a file */
	const char *text;
	size_t text_bytes;
	/* values of inputs, which become constants */
	const struct graph_param *params;
	int n_params;
	/* shapes of inputs, such as "data:1,3,224,224" */
	const char *const *shapes;
	int n_shapes;
	/* backends that may take parts of the graph */
	const char *const *backends;
	int n_backends;
	/* names of graph passes, in the order in which they run */
	const char *const *passes;
	int n_passes;
};

/* How a graph is compiled to source. */
struct graph_build {
	const char *target; /* NULL: the default target */
	/* the model becomes functions that call each other, without a
	 * description of the graph as data */
	bool aot;
	/* build() takes functions for a graph that cannot be data: with
	 * branches, or in the dialect of a device */
	bool any_form;
	const char *const *disabled; /* names of passes that are left out */
	int n_disabled;
};

/* A weight in the form in which it is stored. */
struct graph_weight {
	const char *name, *dtype;
	int ndim;
	const int64_t *shape;
};

/* The compiled graph. */
struct graph_built {
	/* a pointer for the owner of this table, who made it */
	void *model;
	const char *name; /* the prefix of the names in the source */
	/* The text of all sources that a compiler gets; if the graph is data,
	 * only the kernels. */
	const char *source;
	const char *header;
	const char *json; /* the graph as data; NULL if `aot` was set */
	/* the stored weights, in the order of their addresses */
	const struct graph_weight *weights;
	int n_weights;
};

struct graph_services {
	void *ctx;
	/* The path of the model that a program names: a file in the program's
	 * folder or below it, or, if the caller allows that, any file. Returns
	 * NULL after a diagnostic at `place`. */
	const char *(*find)(void *ctx, const char *name,
			    struct diag_place place);
	/* Is there a backend with this name? Sets *names to the names of all
	 * backends, "cblas, dnnl". */
	bool (*has_backend)(void *ctx, const char *name, const char **names);
	/* The messages of the model's file, which is not imported. They live as
	 * long as ctx. Returns NULL after diagnostics. */
	const struct model_message *(*describe)(void *ctx, const char *path);
	/* Reads the model and runs the passes of the request. The graph lives
	 * as long as ctx. Returns NULL after diagnostics. */
	struct graph *(*read)(void *ctx, const struct graph_request *r);
	/* Reads the model, which is not kept, and sets *types to the types of
	 * its outputs, in the arena a: without names, an unknown size is -1.
	 * Returns false after diagnostics. */
	bool (*types)(void *ctx, const struct graph_request *r, struct arena *a,
		      struct graph_weight **types, int *n);
	/* Compiles the graph. Returns false after diagnostics. */
	bool (*build)(void *ctx, const struct graph_request *r,
		      const struct graph_build *b, struct graph_built *out);
	/* Runs the model of the request in the interpreter. inputs, outputs: a
	 * dense array for each input and output of the graph that read()
	 * returns. Returns false after diagnostics. */
	bool (*run)(void *ctx, const struct graph_request *r,
		    const void *const *inputs, void *const *outputs);
};

#endif
