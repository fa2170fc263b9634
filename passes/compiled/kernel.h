/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled model: kernels as functions, constants in the layouts that
 * schedules chose, the memory plan, and the entry function that calls the
 * kernels. */
#ifndef TIRC_KERNEL_H
#define TIRC_KERNEL_H

#include "graph.h"
#include "index_map.h"
#include "passes.h"
#include "target.h"

struct kernel;

/* A constant as it is stored: one array of the weights file. */
struct weight {
	const char *name; /* identifier stem, unique: "res2_0_conv_w" */
	int index;        /* its index in program.weights */
	/* the index of the previous weight of the same tensor, which has
	 * another layout; -1 if there is none */
	int same_tensor;
	const struct kernel *reader; /* the first kernel that reads it */
	const char *role; /* the name of the reader's parameter: "w" */
	struct tensor *tensor;
	const struct index_map *map; /* the layout; NULL if it is the model's */
	const struct buffer *buffer; /* type and shape as stored */
	int64_t elems;
	int64_t bytes;
	int64_t offset_bytes; /* in the packed weights blob */
	/* two 4-bit elements are packed in a byte, the first in the low nibble;
	 * otherwise each has a byte */
	bool paired;
};

enum arg_kind { ARG_TENSOR, ARG_WEIGHT, ARG_SCRATCH, ARG_DIM };

struct kernel_arg {
	enum arg_kind kind;
	struct tensor *tensor;       /* ARG_TENSOR: input, output or both */
	struct weight *weight;       /* ARG_WEIGHT */
	const struct buffer *buffer; /* the parameter; NULL for ARG_DIM */
	struct var *var;             /* ARG_DIM: the size variable */
	struct tensor *size_of;      /* ARG_DIM: the tensor that the entry
				      * function reads it from; or NULL */
	struct tensor *in_place;     /* ARG_TENSOR, written: the input that it
				      * overwrites through the same pointer */
	int64_t scratch_bytes;       /* ARG_SCRATCH: local arrays too large for
				      * the stack, planned in the workspace */
	bool read, written;
	/* the kernel takes the whole tensor and the index of an element */
	bool is_element;
	int64_t n_elements; /* is_element: at most so many does it have */
};

struct host_device;

struct kernel {
	const char *name; /* identifier, from the model's names */
	struct group *group;
	/* Lowered; on a device, the host function that launches kernels. Its
	 * name is the kernel's, or another if several kernels call it. */
	struct func *func;
	/* The first kernel in order of execution that calls func: itself, or
	 * another with the same body. */
	struct kernel *owner;
	/* Of an owner: all kernels that call func in order of execution,
	 * starting with the owner. */
	VEC(struct kernel *) callers;
	/* Of an owner: the first earlier owner whose function differs only in
	 * literals; NULL if there is none. */
	const struct kernel *same_but_literals;
	struct host_device *device; /* the device kernels that func launches;
				     * NULL if it runs on the host */
	/* Of a region with state between runs: the function that prepares it.
	 * Parameters: the model, its memory, the constants. */
	struct func *init;
	/* The arguments, for func->params in order. If there is an init, the
	 * constants are passed to init instead. */
	VEC(struct kernel_arg) args;
	const char *title;    /* "Conv 3x3, stride 1, …, + bias, Relu" */
	const char *schedule; /* "conv.direct  c_tile 16, w_tile 4" */
	/* The iterations for which the reduction has a specialized copy,
	 * without the conditions that always hold there: "ow_o 1 to 6". NULL if
	 * there is no copy. */
	const char *copies;
	/* The work at the largest sizes: operations on floats, operations on
	 * integers (without those on indices), and multiply-accumulates of the
	 * nodes. */
	double flops, int_ops;
	int64_t macs, read_bytes, write_bytes;
	bool int_macs;       /* the multiply-accumulates are of integers */
	int64_t local_bytes; /* of local arrays that are live at once: see
			      * lower_stack_bytes */
	/* the index in the plan of the placement of the first scratch argument;
	 * those of the others follow */
	int scratch_place;
	int64_t weight_bytes;     /* the part of read_bytes that are
				   * constants */
	bool forbids_contraction; /* see func_forbids_contraction */
};

/* The number of the branch or loop body that the kernel is computed in: the
 * body of its last node. Constants may be widened in its prologue by nodes outside of
 * the body. */
static inline int
kernel_body(const struct kernel *k)
{
	return k->group->nodes.data[k->group->nodes.n - 1]->body;
}

/* Kinds of a tensor's storage. */
enum place_kind {
	PLACE_NONE,
	PLACE_INPUT,
	PLACE_OUTPUT,
	PLACE_WORKSPACE,
	PLACE_WEIGHT
};

struct placement {
	struct tensor *tensor;        /* NULL if it is a kernel's scratch */
	struct kernel *scratch_of;    /* that kernel; else NULL */
	const struct buffer *scratch; /* that kernel's parameter for it */
	enum place_kind kind;
	struct tensor *root;  /* of the tensors in its storage: an input or
			       * output of the graph, else the first */
	int64_t offset_bytes; /* in the workspace, or in root */
	int64_t bytes;        /* as stored, halo included */
	int first, last;      /* live from kernel index first to index last */
	struct var *var;      /* of entry, points to it; NULL: none needed */
	const char *name;     /* of var, as printed; NULL before */
	/* For a view that uses another tensor's pointer: that tensor's place;
	 * else NULL. */
	const struct placement *of;
};

/* A part of the workspace with elements of one type. */
struct workspace_part {
	struct dtype type;
	int64_t offset_bytes, elems;
};

struct memory_plan {
	VEC(struct placement) places;
	/* Indices of the placements with a pointer in the entry function, in
	 * the order of the pointers. */
	VEC(int) named;
	int64_t workspace_bytes, align_bytes;
	/* lower bound: largest sum of live bytes at one kernel */
	int64_t bound_bytes;
	const char *strategy; /* the strategy chosen */
	/* The parts in order, if the target needs an array for each type. */
	VEC(struct workspace_part) parts;
};

/* A size of an output that is known only when the model runs: the entry
 * function stores it for the caller. */
struct given_size {
	const struct var *size;
	const struct buffer *buffer; /* a parameter of entry, of one element */
};

struct program {
	struct graph *graph;
	const struct target *target;
	VEC(struct kernel *) kernels; /* in the order of execution */
	VEC(struct weight *) weights;
	struct memory_plan plan;
	struct func *entry;
	/* The model's struct, a parameter of entry; NULL unless a region keeps
	 * state between runs. */
	struct var *model;
	/* their parameters follow the symbolic sizes */
	VEC(struct given_size) given_sizes;
	/* The last parameter of entry, the status to return if a size is out of
	 * bounds; NULL if all bounds are proven. */
	struct var *bad_size;
};

#endif
