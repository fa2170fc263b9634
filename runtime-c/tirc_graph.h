/* SPDX-License-Identifier: MIT-0 */
/* Runs a graph that `tirc compile --form graph` wrote as JSON, with its kernels
 * in a library and its weights in a file. A program can look at tensors between
 * kernels and replace kernels by functions of its own. C99; the graph is read
 * with cJSON.
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
 * The executor prints nothing, never exits and has no global variables. Graphs
 * are independent of each other; one thread at a time may use a graph.
 * tirc_graph_create checks the JSON, the table of kernels and the file of
 * weights against each other, and refuses a graph whose parts do not fit. */
#ifndef TIRC_GRAPH_H
#define TIRC_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of a library. The library's header contains the same text, so
 * that it needs no other file. */
#ifndef TIRC_KERNELS
#define TIRC_KERNELS
/* args: the kernel's arrays, in the order of its rows in the table (see below),
 * followed by a pointer to the library's state (struct tirc_kernel_state) or
 * NULL. sizes: the values of the symbolic sizes, in the graph's order. context:
 * the pointer that was given with the function, or with the graph. */
typedef void tirc_kernel_function(void *const *args, const int64_t *sizes,
				  const void *context);

struct tirc_kernel_arg {
	const char *name;
	size_t bytes; /* the number of bytes that the kernel may access */
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
	int64_t min, max; /* the range for which the kernels were compiled */
};

/* State that kernels which call other libraries keep between runs; each graph
 * has a state of its own. The status that a function returns is a number that
 * the library defines; 0 means success. */
struct tirc_kernel_state {
	/* Returns NULL after a failure; then *status is 0 if there was no
	 * memory. */
	void *(*create)(const void *params, int *status);
	/* Returns the status of the first call that has failed since the last
	 * call of `status`; 0 if none has. */
	int (*status)(void *state);
	void (*destroy)(void *state);
};

struct tirc_kernels {
	const char *version; /* the version of the graph to which the table
			      * belongs */
	const struct tirc_kernel *list;
	size_t n;
	const struct tirc_kernel_size *sizes; /* in the graph's order */
	size_t n_sizes;
	/* 1 if the symbolic sizes, in the graph's order and in their ranges, fit
	 * together as the operators require (two sizes are equal, say), else 0.
	 * NULL if all sizes in their ranges do. */
	int (*fit)(const int64_t *sizes);
	/* NULL if the kernels keep no state */
	const struct tirc_kernel_state *state;
};
#endif

enum tirc_graph_status {
	TIRC_GRAPH_OK = 0,
	TIRC_GRAPH_NULL, /* a pointer must not be null */
	TIRC_GRAPH_NO_MEMORY,
	TIRC_GRAPH_BAD_JSON,    /* not JSON, or not a valid graph */
	TIRC_GRAPH_BAD_KERNELS, /* the kernels do not belong to this graph */
	TIRC_GRAPH_BAD_PARAMS,  /* wrong values, length or byte order */
	TIRC_GRAPH_SMALL_WORKSPACE,
	TIRC_GRAPH_MISALIGNED, /* a pointer is not aligned */
	TIRC_GRAPH_UNKNOWN,    /* the graph has nothing with this name */
	TIRC_GRAPH_BAD_SIZE,   /* wrong symbolic size or number of bytes */
	TIRC_GRAPH_UNSET,      /* an input has not been set */
	TIRC_GRAPH_NOT_THERE,  /* a tensor is not computed yet, or is
			        * overwritten */
	TIRC_GRAPH_BUSY,       /* called from a watching function, but would
			        * change the run */
	TIRC_GRAPH_LIBRARY     /* a call of a kernel's library failed */
};

struct tirc_graph;

/* What a graph is made from. Members that are not needed are zero. All that the
 * pointers point to, except the JSON and the message, must live as long as the
 * graph. */
struct tirc_graph_config {
	const char *json;
	size_t json_bytes;
	const struct tirc_kernels *kernels;
	const void *params; /* the file of weights, aligned as the JSON says */
	size_t params_bytes;
	int trust_params; /* 1: the digest of the weights is not checked */
	void *workspace;  /* NULL: tirc_graph_create allocates it */
	size_t workspace_bytes;
	const void *context; /* passed to kernels; of the dialect c-threads, the
			      * thread pool */
	char *message;       /* gets a line of text if create fails; may be
			      * NULL */
	size_t message_bytes;
};

/* Makes a graph from its parts; *out is NULL after a failure. */
enum tirc_graph_status
tirc_graph_create(struct tirc_graph **out,
		  const struct tirc_graph_config *config);
void tirc_graph_destroy(struct tirc_graph *g);
/* The reason why the last call that failed has failed, on one line; "" if no
 * call has failed. */
const char *tirc_graph_message(const struct tirc_graph *g);

/* -- running -- */

/* Sets a symbolic size for the following runs. Before the first call, the size
 * has its maximum. */
enum tirc_graph_status tirc_graph_set_size(struct tirc_graph *g,
					   const char *name, int64_t value);
/* Sets the data of an input, which each following run reads. A run copies the
 * data only if a symbolic size is below its maximum. */
enum tirc_graph_status tirc_graph_set_input(struct tirc_graph *g,
					    const char *name, const void *data,
					    size_t bytes);
/* Makes the following runs write an output to `data`; if data is NULL, to the
 * graph's own memory again. */
enum tirc_graph_status tirc_graph_set_output(struct tirc_graph *g,
					     const char *name, void *data,
					     size_t bytes);
enum tirc_graph_status tirc_graph_run(struct tirc_graph *g);
/* Copies an output of the last run to `to`, as a dense array in row-major
 * order. */
enum tirc_graph_status tirc_graph_get_output(struct tirc_graph *g,
					     const char *name, void *to,
					     size_t bytes);

/* -- part of a run -- */

/* Makes the next run start at the first node. */
enum tirc_graph_status tirc_graph_restart(struct tirc_graph *g);
/* Runs all nodes up to and including this one. Continues the current run, or
 * starts a new one if the current run has already passed the node. */
enum tirc_graph_status tirc_graph_run_to(struct tirc_graph *g,
					 const char *node);
/* Runs the remaining nodes. */
enum tirc_graph_status tirc_graph_continue(struct tirc_graph *g);
/* The number of nodes that the current run has executed. */
size_t tirc_graph_done(const struct tirc_graph *g);

/* -- looking -- */

struct tirc_graph_tensor {
	const char *name; /* in the graph */
	/* the tensor's name in the model; NULL if the JSON has none */
	const char *model_name;
	const char *dtype; /* "float32" */
	/* name of the last node that writes the tensor; NULL for an input */
	const char *node;
	size_t ndim;
	const int64_t *shape; /* with the current sizes */
	/* the number of bytes of its elements for the current symbolic sizes */
	size_t bytes;
	/* NULL before the tensor is computed, and after other tensors have
	 * overwritten it: tensors share memory. */
	const void *data;
	int is_dense; /* data is in row-major order, without gaps */
};

/* Finds a tensor by its name in the graph or in the model. */
enum tirc_graph_status tirc_graph_tensor(struct tirc_graph *g, const char *name,
					 struct tirc_graph_tensor *out);
size_t tirc_graph_tensor_count(const struct tirc_graph *g);
enum tirc_graph_status tirc_graph_tensor_at(struct tirc_graph *g, size_t i,
					    struct tirc_graph_tensor *out);
/* tirc_graph_input_count: the number of inputs; tirc_graph_input_at: sets *out
 * to input i, and *name to its name for tirc_graph_set_input. The other two
 * functions do the same for outputs and tirc_graph_set_output. */
size_t tirc_graph_input_count(const struct tirc_graph *g);
size_t tirc_graph_output_count(const struct tirc_graph *g);
enum tirc_graph_status tirc_graph_input_at(struct tirc_graph *g, size_t i,
					   const char **name,
					   struct tirc_graph_tensor *out);
enum tirc_graph_status tirc_graph_output_at(struct tirc_graph *g, size_t i,
					    const char **name,
					    struct tirc_graph_tensor *out);
/* Copies a tensor from its layout in memory to dense row-major order. bytes: as
 * in struct tirc_graph_tensor. */
enum tirc_graph_status tirc_graph_copy(struct tirc_graph *g, const char *tensor,
				       void *to, size_t bytes);

/* The number of nodes and their names, in the order in which they run. */
size_t tirc_graph_node_count(const struct tirc_graph *g);
const char *tirc_graph_node_name(const struct tirc_graph *g, size_t i);
/* Makes runs call the function `after` after each node, so that the program can
 * look at tensors; NULL: no function is called. */
enum tirc_graph_status tirc_graph_watch(struct tirc_graph *g,
					void (*after)(void *arg,
						      struct tirc_graph *g,
						      const char *node),
					void *arg);

/* -- functions that replace kernels -- */

/* The kernel that a node calls: its function, its name and its arguments. */
enum tirc_graph_status tirc_graph_get_kernel(struct tirc_graph *g,
					     const char *node,
					     struct tirc_kernel *out);
/* Makes the node call `function` with the arguments and the sizes of the node's
 * kernel, and with `context`. NULL: the node calls the library's kernel
 * again. */
enum tirc_graph_status tirc_graph_set_kernel(struct tirc_graph *g,
					     const char *node,
					     tirc_kernel_function *function,
					     const void *context);

#ifdef __cplusplus
}
#endif

#endif
