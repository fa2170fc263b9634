/* SPDX-License-Identifier: MIT-0 */
/* Declarations that the files of the executor share: a graph in memory. */
#ifndef TIRC_GRAPH_PARTS_H
#define TIRC_GRAPH_PARTS_H

#include "tirc_graph.h"

#define NOWHERE ((size_t)-1)
#define MESSAGE_BYTES 256

/* A term of a dimension, which is an expression over symbolic sizes in postfix
 * notation. */
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
	int64_t value; /* the number, or the index of the size */
};

struct dim {
	struct term *terms;
	size_t n;
};

struct size {
	const char *name;
	int64_t min, max;
};

enum storage { AT_WORKSPACE, AT_INPUT, AT_OUTPUT };

struct tensor {
	const char *name, *model_name, *dtype, *node;
	size_t element_bytes, ndim;
	struct dim *dims;
	int64_t *shape; /* with the current sizes */
	size_t bytes;   /* of its elements, with the current sizes */
	enum storage at;
	size_t io;               /* index of the input or output */
	size_t offset, capacity; /* in bytes, in that memory */
	/* The blocked dimension and the size of its blocks, which are the
	 * innermost dimension, and the padding of each dimension. axis is
	 * NOWHERE if there are no blocks; before is NULL if there is no
	 * padding. */
	size_t axis;
	int64_t block, *before, *after;
	size_t ready; /* the number of nodes after which all of it is written */
};

enum arg_kind { ARG_TENSOR, ARG_PARAM, ARG_SCRATCH };

struct arg {
	enum arg_kind kind;
	size_t tensor;
	size_t offset, bytes; /* in params or the workspace */
	int written;
	size_t of; /* the tensor that is overwritten, or NOWHERE */
};

struct node {
	const char *name;
	const struct tirc_kernel *kernel;
	tirc_kernel_function *function;
	const void *context;
	struct arg *args; /* as many as the kernel has arguments */
	void **pointers;  /* pointers to the arguments, then to the state */
};

struct io {
	const char *name;
	size_t tensor;
	const void *in;
	void *out;    /* the caller's, or NULL */
	void *own;    /* the graph's own memory, of the tensor's capacity */
	int is_own;   /* this run uses the graph's own memory */
	size_t bytes; /* the size of the caller's memory; 0 if it has not been
		       * set */
};

struct name {
	const char *text;
	size_t at;
};

struct names {
	struct name *list; /* sorted */
	size_t n;
};

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
	void *state; /* the state of the kernels, or NULL */
	size_t done;
	int is_running;
	int64_t *stack; /* used to compute dimensions */
	void (*after)(void *arg, struct tirc_graph *g, const char *node);
	void *after_arg;
	struct piece *pieces; /* all memory that the graph has allocated */
	char message[MESSAGE_BYTES];
};

/* tirc_graph.c: allocates n times size bytes of zeros, which
 * tirc_graph_destroy frees. NULL, with a message, if there is no memory. */
void *graph_new(struct tirc_graph *g, size_t n, size_t size);
/* Sets the graph's message, and returns the status. */
enum tirc_graph_status graph_fail(struct tirc_graph *g,
				  enum tirc_graph_status status,
				  const char *format, ...);
enum tirc_graph_status graph_unknown(struct tirc_graph *g, const char *what,
				     const char *name);
enum tirc_graph_status graph_bad_bytes(struct tirc_graph *g, const char *name,
				       size_t bytes, size_t wanted);
/* The start of the workspace, an input or an output; NULL if it is not set. */
unsigned char *graph_address(const struct tirc_graph *g, enum storage at,
			     size_t io);
/* The index of the symbolic size with this name, or NOWHERE. */
size_t graph_find_size(const struct tirc_graph *g, const char *name);
/* The index of the input or output with this name, or NOWHERE. */
size_t graph_find_io(const struct io *list, size_t n, const char *name);
/* The index that belongs to a name, or NOWHERE. */
size_t graph_find(const struct names *names, const char *text);
/* Sorts the names, and sets *twice to a name that is used twice, if any is. */
void graph_sort_names(struct names *names, const char **twice);
/* Computes the shapes with the current sizes. */
enum tirc_graph_status graph_measure(struct tirc_graph *g);
/* tirc_graph_check.c: checks that nodes, memory and kernels fit together. */
enum tirc_graph_status graph_check(struct tirc_graph *g);
/* The first of the nodes from..to - 1 that writes to the tensor's memory, or
 * NOWHERE. */
size_t graph_writer(const struct tirc_graph *g, const struct tensor *t,
		    size_t from, size_t to);
/* tirc_graph_json.c: reads the graph that the text describes. */
enum tirc_graph_status graph_read(struct tirc_graph *g, const char *text,
				  size_t bytes);

#endif
