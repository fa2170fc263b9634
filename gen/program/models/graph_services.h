/* SPDX-License-Identifier: Apache-2.0 */
/* The functions on models that the evaluator of programs calls. gen/api, which
 * compiles models, fills them in, so that gen/program does not depend on the import
 * and the code of models. */
#ifndef TIRC_GRAPH_SERVICES_H
#define TIRC_GRAPH_SERVICES_H

#include "diag.h"
#include "graph.h"

/* How a program describes a graph: a model, and the steps that have changed it. It
 * is a value: a step makes another request, so that the module before the step stays
 * as it is. */
struct graph_request {
	const char *path;          /* of the model, from find() */
	const char *const *shapes; /* of inputs: "data:1,3,224,224" */
	int n_shapes;
	const char *const *backends; /* that may take parts of the graph */
	int n_backends;
	const char *const *passes; /* names of graph passes, in order */
	int n_passes;
};

/* How the graph becomes source. */
struct graph_build {
	const char *target; /* NULL: the default */
	bool aot; /* functions that call each other, not a graph as data */
	const char *const *disabled; /* names of passes that are left out */
	int n_disabled;
};

/* A weight as it is stored. */
struct graph_weight {
	const char *name, *dtype;
	int ndim;
	const int64_t *shape;
};

/* The source of a graph. */
struct graph_built {
	void *model;      /* for the owner of the services */
	const char *name; /* the prefix of its names */
	/* the sources that a compiler gets, one after the other; with the graph as
	 * data, the kernels alone */
	const char *source;
	const char *header;
	const char *json; /* the graph as data; NULL with `aot` */
	/* the weights as they are stored, in the order of their places */
	const struct graph_weight *weights;
	int n_weights;
};

struct graph_services {
	void *ctx;
	/* The path of a model that a program names: a file in the program's folder or
	 * below, or, if the caller allows it, any. NULL after a diagnostic at the
	 * place. */
	const char *(*find)(void *ctx, const char *name,
			    struct diag_place place);
	/* Is there a backend of this name? Sets *names to those that there are,
	 * "cblas, dnnl". */
	bool (*has_backend)(void *ctx, const char *name, const char **names);
	/* Reads the model and runs the passes of the request. The graph lives as long
	 * as ctx. NULL after diagnostics. */
	struct graph *(*read)(void *ctx, const struct graph_request *r);
	/* Compiles the graph. False after diagnostics. */
	bool (*build)(void *ctx, const struct graph_request *r,
		      const struct graph_build *b, struct graph_built *out);
	/* Runs the model of the request in the interpreter. inputs, outputs: a dense
	 * array for each input and output of the graph of read(). False after
	 * diagnostics. */
	bool (*run)(void *ctx, const struct graph_request *r,
		    const void *const *inputs, void *const *outputs);
};

#endif
