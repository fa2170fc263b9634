/* SPDX-License-Identifier: MIT-0 */
/* Runs what `tirc compile --form graph` writes: a graph as JSON, its kernels
 * in a library, its weights in a file. For those who want to look at tensors
 * between kernels, or to put another function in a kernel's place. C99, and
 * cJSON for reading the graph.
 *
 *	struct tirc_graph_config config = {
 *		.json = text, .json_bytes = text_bytes,
 *		.kernels = &net_kernels,
 *		.params = params, .params_bytes = params_bytes,
 *	};
 *	struct tirc_graph *g;
 *
 *	if (tirc_graph_create(&g, &config) != TIRC_GRAPH_OK ||
 *	    tirc_graph_set_input(g, "image", image, sizeof image) ||
 *	    tirc_graph_run(g) ||
 *	    tirc_graph_get_output(g, "prob", prob, sizeof prob)) { ... }
 *	tirc_graph_destroy(g);
 *
 * Nothing is printed and nothing exits; there are no globals. Graphs are
 * independent of each other, and each is for one thread at a time. What the
 * JSON says is checked against itself, the table of kernels and the file of
 * weights before anything runs: what does not fit is refused. */
#ifndef TIRC_GRAPH_H
#define TIRC_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of a library; its header has the same words, so that it needs
 * no other file. */
#ifndef TIRC_KERNELS
#define TIRC_KERNELS
/* args: the kernel's arrays, in the order of its rows below, and behind them
 * what its library keeps, or NULL. sizes: values of the symbolic sizes, in the
 * graph's order. context: what was given with the function, or with the
 * graph. */
typedef void tirc_kernel_function(void *const *args, const int64_t *sizes,
				  const void *context);

struct tirc_kernel_arg {
	const char *name;
	size_t bytes; /* that it may read or write */
	size_t align; /* in bytes */
	int written;
};

struct tirc_kernel {
	const char *name;
	tirc_kernel_function *function;
	const struct tirc_kernel_arg *args;
	size_t n_args;
};

struct tirc_kernel_size {
	const char *name;
	int64_t min, max; /* that the kernels are made for */
};

/* What kernels that call other libraries keep between runs, one for each
 * graph. A status is the library's own; 0: all is well. */
struct tirc_kernel_state {
	/* NULL after a failure; *status is 0 then if there was no memory. */
	void *(*create)(const void *params, int *status);
	/* Of the first call that failed since it was last asked for. */
	int (*status)(void *state);
	void (*destroy)(void *state);
};

struct tirc_kernels {
	const char *version; /* the graph's that it belongs to */
	const struct tirc_kernel *list;
	size_t n;
	const struct tirc_kernel_size *sizes; /* in the graph's order */
	size_t n_sizes;
	const struct tirc_kernel_state *state; /* NULL: nothing is kept */
};
#endif

enum tirc_graph_status {
	TIRC_GRAPH_OK = 0,
	TIRC_GRAPH_NULL, /* a pointer that is needed is null */
	TIRC_GRAPH_NO_MEMORY,
	TIRC_GRAPH_BAD_JSON,    /* no JSON, or no sound graph */
	TIRC_GRAPH_BAD_KERNELS, /* of another graph, or they do not fit */
	TIRC_GRAPH_BAD_PARAMS,  /* other values, length or byte order */
	TIRC_GRAPH_SMALL_WORKSPACE,
	TIRC_GRAPH_MISALIGNED, /* a pointer is not aligned as it must be */
	TIRC_GRAPH_UNKNOWN,    /* there is nothing of that name */
	TIRC_GRAPH_BAD_SIZE,   /* a size, or a number of bytes */
	TIRC_GRAPH_UNSET,      /* an input that has not been set */
	TIRC_GRAPH_NOT_THERE,  /* not computed yet, or written over */
	TIRC_GRAPH_BUSY,       /* what watches a run may not change it */
	TIRC_GRAPH_LIBRARY     /* a call of a library of kernels failed */
};

struct tirc_graph;

/* Zero what is not needed. What is pointed to must live as long as the graph,
 * but for the JSON and the message. */
struct tirc_graph_config {
	const char *json;
	size_t json_bytes;
	const struct tirc_kernels *kernels;
	const void *params; /* the file of weights, aligned as the JSON says */
	size_t params_bytes;
	int trust_params; /* 1: its values are not read to check them */
	void *workspace;  /* NULL: create allocates it */
	size_t workspace_bytes;
	const void *context; /* kernels get it: threads, if they share loops */
	char *message;       /* gets a line if create fails; may be NULL */
	size_t message_bytes;
};

/* *out is NULL after a failure. */
enum tirc_graph_status
tirc_graph_create(struct tirc_graph **out,
		  const struct tirc_graph_config *config);
void tirc_graph_destroy(struct tirc_graph *g);
/* Why the last call that failed did, in a line; "" if none did. */
const char *tirc_graph_message(const struct tirc_graph *g);

/* -- running -- */

/* A symbolic size; each is the largest that it may be until it is set. */
enum tirc_graph_status tirc_graph_set_size(struct tirc_graph *g,
					   const char *name, int64_t value);
/* The bytes are read by each run, and copied only where a symbolic size is
 * smaller than it may be. */
enum tirc_graph_status tirc_graph_set_input(struct tirc_graph *g,
					    const char *name, const void *data,
					    size_t bytes);
/* Where runs write an output. Without it they write to memory of the graph's
 * own. NULL goes back to that. */
enum tirc_graph_status tirc_graph_set_output(struct tirc_graph *g,
					     const char *name, void *data,
					     size_t bytes);
enum tirc_graph_status tirc_graph_run(struct tirc_graph *g);
/* Copies an output, after a run: dense, row by row. */
enum tirc_graph_status tirc_graph_get_output(struct tirc_graph *g,
					     const char *name, void *to,
					     size_t bytes);

/* -- part of a run -- */

/* The next run starts at the first node. */
enum tirc_graph_status tirc_graph_restart(struct tirc_graph *g);
/* Runs up to and with that node: from where the run stands, or from the first
 * node if it has come further already. */
enum tirc_graph_status tirc_graph_run_to(struct tirc_graph *g,
					 const char *node);
/* Runs what is left. */
enum tirc_graph_status tirc_graph_continue(struct tirc_graph *g);
/* Nodes done of the run that is under way. */
size_t tirc_graph_done(const struct tirc_graph *g);

/* -- looking -- */

struct tirc_graph_tensor {
	const char *name;       /* in the graph */
	const char *model_name; /* in the model; NULL: the JSON has none */
	const char *dtype;      /* "float32" */
	const char *node;       /* the last that writes it; NULL: an input */
	size_t ndim;
	const int64_t *shape; /* with the present sizes */
	size_t bytes;         /* dense, row by row, with the present sizes */
	/* Its bytes; NULL while they are not there: memory is shared by tensors
	 * that are needed at different times. */
	const void *data;
	int is_dense; /* data lies row by row */
};

/* By its name in the graph or in the model. */
enum tirc_graph_status tirc_graph_tensor(struct tirc_graph *g, const char *name,
					 struct tirc_graph_tensor *out);
size_t tirc_graph_tensor_count(const struct tirc_graph *g);
enum tirc_graph_status tirc_graph_tensor_at(struct tirc_graph *g, size_t i,
					    struct tirc_graph_tensor *out);
/* The inputs and outputs: *name for the calls above, *out as before. */
size_t tirc_graph_input_count(const struct tirc_graph *g);
size_t tirc_graph_output_count(const struct tirc_graph *g);
enum tirc_graph_status tirc_graph_input_at(struct tirc_graph *g, size_t i,
					   const char **name,
					   struct tirc_graph_tensor *out);
enum tirc_graph_status tirc_graph_output_at(struct tirc_graph *g, size_t i,
					    const char **name,
					    struct tirc_graph_tensor *out);
/* Copies it as the model sees it, dense and row by row, whichever way it lies
 * in memory. bytes: its present size. */
enum tirc_graph_status tirc_graph_copy(struct tirc_graph *g, const char *tensor,
				       void *to, size_t bytes);

/* The nodes, in the order in which they run. */
size_t tirc_graph_node_count(const struct tirc_graph *g);
const char *tirc_graph_node_name(const struct tirc_graph *g, size_t i);
/* Called after each node, to look at what it has written; NULL: nothing is. */
enum tirc_graph_status tirc_graph_watch(struct tirc_graph *g,
					void (*after)(void *arg,
						      struct tirc_graph *g,
						      const char *node),
					void *arg);

/* -- another function in a kernel's place -- */

/* The kernel that a node calls: its function, its name, and its arrays. */
enum tirc_graph_status tirc_graph_get_kernel(struct tirc_graph *g,
					     const char *node,
					     struct tirc_kernel *out);
/* From now on the node calls that function, which gets what the kernel got,
 * and its own context. NULL: the library's again. */
enum tirc_graph_status tirc_graph_set_kernel(struct tirc_graph *g,
					     const char *node,
					     tirc_kernel_function *function,
					     const void *context);

#ifdef __cplusplus
}
#endif

#endif
