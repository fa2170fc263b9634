/* SPDX-License-Identifier: MIT-0 */
/* Declarations that the files of the executor share: a graph in memory. */
#ifndef TIRC_GRAPH_PARTS_H
#define TIRC_GRAPH_PARTS_H

#include "tirc_graph.h"

/* Stands for no index: the result of a search that fails, or the value of a
 * field without an index. */
#define NOWHERE ((size_t)-1)
#define MESSAGE_BYTES 256

/* The kinds of terms of which a dimension consists: it is an expression over
 * symbolic sizes in postfix notation. */
enum term_kind {
	TERM_NUMBER,
	TERM_SIZE,
	TERM_ADD,
	TERM_SUB,
	TERM_MUL,
	TERM_DIV,
	TERM_FLOORDIV,
	TERM_FLOORMOD,
	TERM_MIN,
	TERM_MAX
};

struct term {
	enum term_kind kind;
	/* of a number: the number; of a symbolic size: its index */
	int64_t value;
};

/* The size of a dimension of a tensor, as its terms. */
struct dim {
	struct term *terms;
	size_t n;
};

/* A symbolic size, such as "batch", with its range. */
struct size {
	const char *name;
	int64_t min, max;
};

/* The memory that a tensor is in: the workspace, or the memory of an input or
 * an output. */
enum storage { AT_WORKSPACE, AT_INPUT, AT_OUTPUT };

struct tensor {
	/* name: the tensor's name in the graph; model_name: its name in the
	 * model, or NULL; dtype: its element type; node: the last node that
	 * writes it, or NULL */
	const char *name, *model_name, *dtype, *node;
	size_t element_bytes, ndim;
	struct dim *dims;
	int64_t *shape; /* with the current sizes */
	/* the number of bytes of its elements for the current symbolic sizes */
	size_t bytes;
	enum storage at;
	/* of AT_INPUT and AT_OUTPUT: index of the input or output whose memory
	 * the tensor is in */
	size_t io;
	/* its offset in that memory, and the number of bytes that it may use
	 * from there on */
	size_t offset, capacity;
	/* If a dimension is split into blocks (NCHWc): the index of this
	 * dimension, and the size of the blocks, which are the innermost
	 * dimension in memory. axis is NOWHERE if no dimension is split. */
	size_t axis;
	int64_t block;
	/* by dimension: the padding before and after the elements; NULL if the
	 * tensor has no padding */
	int64_t *before, *after;
	/* the number of nodes after which the whole tensor has been written */
	size_t ready;
};

enum arg_kind { ARG_TENSOR, ARG_PARAM, ARG_SCRATCH };

/* An argument of a node's kernel. */
struct arg {
	enum arg_kind kind;
	size_t tensor; /* ARG_TENSOR: index of the tensor */
	/* the argument's offset: of an ARG_PARAM in the file of weights, of an
	 * ARG_SCRATCH in the workspace */
	size_t offset, bytes;
	int written; /* the kernel writes the argument */
	size_t of;   /* index of the tensor whose memory the kernel overwrites
		      * with this argument; or NOWHERE */
};

struct node {
	const char *name;
	const struct tirc_kernel *kernel;
	tirc_kernel_function *function;
	const void *context;
	struct arg *args; /* one for each argument of the kernel */
	/* what the function gets as `args`: the address of each argument, then
	 * that of the state (tirc_graph.state); set before each run */
	void **pointers;
};

struct io {
	const char *name;
	size_t tensor;
	const void *in; /* the caller's memory of an input, or NULL */
	void *out;      /* the caller's memory of an output, or NULL */
	/* memory that the graph itself allocates for the tensor, of the
	 * tensor's capacity */
	void *own;
	/* this run uses the graph's own memory for the input or output */
	int is_own;
	size_t bytes; /* the bytes of the caller's memory; 0 if it has not
			 * been set */
};

/* A name, and the index of the tensor or node to which it belongs. */
struct name {
	const char *text;
	size_t at;
};

struct names {
	struct name *list; /* sorted by text */
	size_t n;
};

/* The header of each piece of memory that graph_new() allocates. */
struct piece {
	struct piece *next;
};

struct tirc_graph {
	struct tirc_graph_config config;
	const char *version;
	struct size *sizes;
	int64_t *values; /* the values of the symbolic sizes */
	struct tensor *tensors;
	struct node *nodes;
	struct io *inputs, *outputs;
	size_t n_sizes, n_tensors, n_nodes, n_inputs, n_outputs;
	struct names tensor_names, model_names, node_names;
	size_t workspace_bytes, workspace_align;
	size_t params_bytes, params_align;
	uint64_t params_digest;
	unsigned char *workspace;
	const unsigned char *params;
	/* what the kernels keep between runs (struct tirc_kernel_state); NULL:
	 * nothing */
	void *state;
	/* the number of nodes that the current run has executed */
	size_t done;
	int is_running; /* the function `after` may be on the call stack: calls
			 * that would change the run are refused */
	int64_t *stack; /* used to compute dimensions */
	/* the function of tirc_graph_watch() and its argument, or NULL */
	void (*after)(void *arg, struct tirc_graph *g, const char *node);
	void *after_arg;
	struct piece *pieces; /* a list of all memory from graph_new() */
	char message[MESSAGE_BYTES];
};

/* tirc_graph.c: allocates n times size bytes of zeros, which tirc_graph_destroy
 * frees. NULL, with a message, if no memory is left. */
void *graph_new(struct tirc_graph *g, size_t n, size_t size);
/* Sets the graph's message, and returns the status. */
enum tirc_graph_status graph_fail(struct tirc_graph *g,
				  enum tirc_graph_status status,
				  const char *format, ...);
/* Sets the message to say that the graph has no `what` ("tensor", "node") named
 * `name`, and returns the status. */
enum tirc_graph_status graph_unknown(struct tirc_graph *g, const char *what,
				     const char *name);
/* Sets the message that memory of `bytes` bytes was given for `name`, which
 * needs `wanted`, and returns the status. */
enum tirc_graph_status graph_bad_bytes(struct tirc_graph *g, const char *name,
				       size_t bytes, size_t wanted);
/* The address of the workspace, or of the memory of an input or output; NULL if
 * it is not set. */
unsigned char *graph_address(const struct tirc_graph *g, enum storage at,
			     size_t io);
/* The index of the symbolic size with this name, or NOWHERE. */
size_t graph_find_size(const struct tirc_graph *g, const char *name);
/* The index of the input or output with this name, or NOWHERE. */
size_t graph_find_io(const struct io *list, size_t n, const char *name);
/* The index that belongs to a name, or NOWHERE. */
size_t graph_find(const struct names *names, const char *text);
/* Sorts the names, and sets *twice to a name that occurs twice, if any does. */
void graph_sort_names(struct names *names, const char **twice);
/* Sets shape and bytes of each tensor for the current values of symbolic
 * sizes. */
enum tirc_graph_status graph_measure(struct tirc_graph *g);
/* tirc_graph_check.c: do nodes, memory and kernels fit together? Returns the
 * status. */
enum tirc_graph_status graph_check(struct tirc_graph *g);
/* The index of the first of the nodes from..to - 1 that writes to the memory of
 * the tensor t; NOWHERE if none of them does. */
size_t graph_writer(const struct tirc_graph *g, const struct tensor *t,
		    size_t from, size_t to);
/* tirc_graph_json.c: reads the graph that `text`, its JSON, describes into
 * g. */
enum tirc_graph_status graph_read(struct tirc_graph *g, const char *text,
				  size_t bytes);

#endif
