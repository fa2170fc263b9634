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
	/* the index of the previous weight that stores the same tensor in
	 * another layout; -1 if there is no such weight */
	int same_tensor;
	/* the first kernel that reads the constant */
	const struct kernel *reader;
	/* the name of the parameter of the first kernel that reads the weight:
	 * "w" */
	const char *role;
	struct tensor *tensor;
	/* the layout in which the weight is stored; NULL if it is stored in the
	 * model's layout, row-major */
	const struct index_map *map;
	/* the constant as it is stored: type and shape */
	const struct buffer *buffer;
	int64_t elems;
	int64_t bytes;
	/* the place of the constant in the packed weights blob, in bytes */
	int64_t offset_bytes;
	/* two 4-bit elements are packed in a byte, the first in the low nibble;
	 * if false, each element has a byte */
	bool paired;
};

enum arg_kind { ARG_TENSOR, ARG_WEIGHT, ARG_SCRATCH, ARG_DIM };

struct kernel_arg {
	enum arg_kind kind;
	/* ARG_TENSOR: an input, an output or both */
	struct tensor *tensor;
	struct weight *weight; /* ARG_WEIGHT */
	/* the parameter of the kernel's function; NULL for ARG_DIM */
	const struct buffer *buffer;
	/* ARG_DIM: the variable of the symbolic size */
	struct var *var;
	/* ARG_DIM: the tensor from which the entry function reads the size;
	 * NULL if the entry function does not read the size from a tensor */
	struct tensor *size_of;
	/* ARG_TENSOR, if written: the input that the kernel overwrites with
	 * this tensor, through the same pointer; else NULL */
	struct tensor *in_place;
	int64_t scratch_bytes; /* ARG_SCRATCH: local arrays too large for the
				* stack, planned in the workspace */
	bool read, written;
	/* The bytes of all loads from it by the operators' definitions, at most:
	 * more than it has, where elements are read again. */
	double most_read_bytes;
	/* `tensor` is an element of a larger tensor: the kernel takes the whole
	 * tensor and the index of the element */
	bool is_element;
	/* is_element: the largest number of such elements in the larger
	 * tensor */
	int64_t n_elements;
};

struct host_device;

struct literal_pairs;

struct kernel {
	const char *name; /* an identifier, made from the model's names */
	struct group *group;
	/* The lowered function; on a device, the host function that launches
	 * the device kernels. Its name is that of the kernel, or another if
	 * several kernels call it. */
	struct func *func;
	/* The first kernel, in order of execution, that calls func: this kernel
	 * itself, or a kernel with the same function body. */
	struct kernel *owner;
	/* Of an owner: all kernels that call func in order of execution,
	 * starting with the owner. */
	VEC(struct kernel *) callers;
	/* If this kernel is an owner: the first owner before it whose function
	 * differs only in literals; NULL if there is none. */
	const struct kernel *same_but_literals;
	/* the literals of same_but_literals, and those of this kernel in their
	 * place (ir/script/script.h); NULL if there is no such kernel */
	const struct literal_pairs *other_literals;
	/* the device kernels that func launches; NULL if func computes on the
	 * host */
	struct host_device *device;
	/* For a region of a backend with state between runs: the function that
	 * prepares the state. Parameters: the model, its memory, the constants.
	 * Else NULL. */
	struct func *init;
	/* The arguments, in the order of func->params. If there is an init, the
	 * constants are passed to init and not to func. */
	VEC(struct kernel_arg) args;
	const char *title;    /* "Conv 3x3, stride 1, …, + bias, Relu" */
	const char *schedule; /* "conv.direct  c_tile 16, w_tile 4" */
	/* The iterations for which the kernel has a specialized copy of the
	 * reduction, in which conditions that always hold in these iterations
	 * are left out: "ow_o 1 to 6". NULL if there is no copy. */
	const char *copies;
	/* The work of a run at the largest sizes, by the definitions of the
	 * operators: operations on floats, operations on integers (without those
	 * on indices), and multiply-accumulates of the nodes. */
	double flops, int_ops;
	/* the operations depend on values: flops and int_ops count each loop
	 * without a known bound as one iteration */
	bool counts_vary;
	int64_t macs, read_bytes, write_bytes;
	bool int_macs; /* the multiply-accumulates multiply integers */
	/* the bytes of local arrays that are live at once: see
	 * lower_stack_bytes, and on a device lower_thread_bytes */
	int64_t local_bytes;
	/* the index in the plan's placements of the place for the first scratch
	 * argument; the places for the kernel's other scratch arguments follow
	 * it */
	int scratch_place;
	/* the part of read_bytes that are constants */
	int64_t weight_bytes;
	bool forbids_contraction; /* see func_forbids_contraction */
};

/* The bytes of the workspace that the kernel's scratch arrays take. */
static inline int64_t
kernel_scratch_bytes(const struct kernel *k)
{
	int64_t bytes = 0;

	for (int i = 0; i < k->args.n; i++) {
		bytes += k->args.data[i].scratch_bytes;
	}
	return bytes;
}

/* The number of the body (a branch or a loop) in which the kernel is computed:
 * the body of its last node. The kernel may begin with nodes outside of that
 * body that widen constants. */
static inline int
kernel_body(const struct kernel *k)
{
	return k->group->nodes.data[k->group->nodes.n - 1]->body;
}

/* The memory in which a tensor's bytes are. */
enum place_kind {
	PLACE_NONE,
	PLACE_INPUT,
	PLACE_OUTPUT,
	PLACE_WORKSPACE,
	PLACE_WEIGHT
};

struct placement {
	/* the placed tensor; NULL if it is a kernel's scratch array */
	struct tensor *tensor;
	/* for a scratch array: the kernel that uses it; else NULL */
	struct kernel *scratch_of;
	/* if the place is for a scratch array: the kernel's parameter for this
	 * array */
	const struct buffer *scratch;
	enum place_kind kind;
	/* among the tensors that share these bytes, an input or output of the
	 * graph; the first tensor if none is an input or output */
	struct tensor *root;
	int64_t offset_bytes; /* the place in the workspace, or within root */
	int64_t bytes;        /* as stored, halo included */
	/* the live range: the indices of the first and the last kernel that use
	 * the bytes */
	int first, last;
	/* the pointer to the place in the entry function; NULL if no pointer is
	 * needed */
	struct var *var;
	/* the name of var as printed; NULL before it is printed */
	const char *name;
	/* For a tensor that uses the pointer of another tensor (a view, or a value
	 * that a branch or a loop passes on): the place of that tensor; else
	 * NULL. */
	const struct placement *of;
	/* the entry function itself reads the tensor: a condition, a size */
	bool read_by_entry;
};

/* An array of the workspace that has the elements of one type. */
struct workspace_part {
	struct dtype type;
	int64_t offset_bytes, elems;
};

struct memory_plan {
	VEC(struct placement) places;
	/* Indices of the placements that have a pointer in the entry function,
	 * in the order in which it declares the pointers. */
	VEC(int) named;
	int64_t workspace_bytes, align_bytes;
	/* a lower bound of the workspace's size: the largest sum of live bytes
	 * at one kernel */
	int64_t bound_bytes;
	const char *strategy; /* the strategy that gave the offsets */
	/* The arrays of the workspace in order, if the target needs one for
	 * each type. */
	VEC(struct workspace_part) parts;
};

/* A size of an output that is known only when the model runs: the entry
 * function stores it for the caller. */
struct given_size {
	const struct var *size;
	/* the parameter of the entry function through which the size is stored:
	 * an array of one element */
	const struct buffer *buffer;
};

struct program {
	struct graph *graph;
	const struct target *target;
	/* the kernels in the order of execution */
	VEC(struct kernel *) kernels;
	VEC(struct weight *) weights;
	struct memory_plan plan;
	struct func *entry;
	/* The model's struct, a parameter of entry; NULL unless a region of a
	 * backend keeps state between runs. */
	struct var *model;
	/* the sizes that the entry function stores; their parameters come after
	 * those of the symbolic sizes */
	VEC(struct given_size) given_sizes;
	/* The last parameter of `entry`: the status that a run returns if a
	 * size is out of bounds. NULL if all bounds are proven. */
	struct var *bad_size;
	/* The entry function shows each tensor to its caller after the kernel
	 * that wrote it: it calls the external function ENTRY_TRACED with the
	 * kernel's name (a STRING; "" for an input or a state), the tensor's
	 * name as a word of a trace, its type's name, a pointer to its elements, and its sizes in
	 * memory. */
	bool traced;
};

#define ENTRY_TRACED "traced"
/* The name of t in traces: that of the model's tensor with the same values, or,
 * if the model has no such tensor, t's own. */
const char *tensor_traced_name(const struct tensor *t);

#endif
