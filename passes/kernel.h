/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled model between the graph and the emitter: kernels as functions,
 * constants in the layout that the schedule asked for, the memory plan, and
 * the entry function that calls the kernels. */
#ifndef TIRC_KERNEL_H
#define TIRC_KERNEL_H

#include "graph.h"
#include "passes.h"
#include "target.h"

/* A layout: physical index expressions of the logical index variables, and
 * back. Physical elements without a logical one hold `pad`. */
struct index_map {
	int n_logical, n_physical;
	struct var **logical;            /* variables */
	const struct expr **to_physical; /* of logical */
	const struct expr **physical_shape;
	struct var **physical;          /* variables */
	const struct expr **to_logical; /* of physical */
	const struct expr *in_range;    /* of physical; NULL: always */
};

struct kernel;

/* A constant as it is stored: one array of the weights file. */
struct weight {
	const char *name; /* identifier stem, unique: "res2_0_conv_w" */
	int index;        /* of the program's weights */
	const struct kernel *reader; /* the first of those that read it */
	const char *role; /* what its parameter is called there: "w" */
	struct tensor *tensor;
	const struct index_map *map; /* NULL: as the model has it */
	const struct buffer *buffer; /* type and shape as stored */
	int64_t elems;
	int64_t bytes;
	int64_t offset_bytes; /* in the packed weights blob */
	bool paired;          /* its elements, of 4 bits, are two in a byte,
				   * the first in the low bits; else each has a
				   * byte of its own */
};

/* Feeds the bytes of w in order, in chunks of bounded size, computing recipes
 * and layout as it goes; drops mapped pages behind itself. False: diagnosed. */
bool weight_stream(struct graph *g, const struct weight *w,
		   bool (*sink)(void *ctx, const void *bytes, size_t n),
		   void *ctx);

enum arg_kind { ARG_TENSOR, ARG_WEIGHT, ARG_SCRATCH, ARG_DIM };

struct kernel_arg {
	enum arg_kind kind;
	struct tensor *tensor;       /* ARG_TENSOR: input, output or both */
	struct weight *weight;       /* ARG_WEIGHT */
	const struct buffer *buffer; /* the parameter; NULL for ARG_DIM */
	struct var *var;             /* ARG_DIM: the size variable */
	struct tensor *in_place;     /* ARG_TENSOR, written: the input that it
				      * overwrites through the same pointer */
	int64_t scratch_bytes;       /* ARG_SCRATCH: local arrays too large for
				      * the stack, planned in the workspace */
	bool read, written;
};

struct host_device;

struct kernel {
	const char *name; /* identifier, from the model's names */
	struct group *group;
	/* Lowered; on a device, what launches kernels. Its name is the kernel's,
	 * or another where several kernels call it. */
	struct func *func;
	/* The first kernel in order of execution that calls func: itself, or
	 * another with the same body. */
	struct kernel *owner;
	/* Of an owner: all that call func, itself the first, in that order. */
	VEC(struct kernel *) callers;
	/* Of an owner: the first one before it with the same function but for
	 * literals; NULL: there is none. */
	const struct kernel *like;
	struct host_device *device; /* the kernels; NULL: not on a device */
	/* Of a region whose backend keeps something between runs: what prepares
	 * it. Parameters: the model, memory of its own, the constants. */
	struct func *init;
	/* = func->params, in order; where there is init, constants are its. */
	VEC(struct kernel_arg) args;
	const char *title;    /* "Conv 3x3, stride 1, …, + bias, Relu" */
	const char *schedule; /* "conv.direct  c_tile 16, w_tile 4" */
	/* Iterations for which its reduction has a form of its own, without the
	 * conditions that hold there: "ow_o 1 to 6"; NULL: it has one form. */
	const char *copies;
	/* Work at the largest sizes: operations on floats, on integers (those
	 * of indices are left out), and the multiply-accumulates of the nodes. */
	double flops, int_ops;
	int64_t macs, read_bytes, write_bytes;
	bool int_macs;        /* macs are of integers */
	int64_t stack_bytes;  /* local arrays that live at once */
	int scratch_place;    /* in the plan: of the first scratch argument,
				* before those of the others */
	int64_t weight_bytes; /* of read_bytes: constants */
	bool apart;           /* kernel_wants_apart */
};

/* Where a tensor lives. */
enum place_kind {
	PLACE_NONE,
	PLACE_INPUT,
	PLACE_OUTPUT,
	PLACE_WORKSPACE,
	PLACE_WEIGHT
};

struct placement {
	struct tensor *tensor; /* NULL: scratch of a kernel */
	struct kernel *scratch_of;
	const struct buffer *scratch; /* which of its parameters */
	enum place_kind kind;
	struct tensor *root;  /* INPUT/OUTPUT: which; a view's storage */
	int64_t offset_bytes; /* WORKSPACE */
	int64_t bytes;        /* as it is stored, with what is around it */
	int first, last;      /* kernel indices of its life */
	struct var *var;      /* the entry function's pointer to it; NULL:
				    * it has none */
	const char *name;     /* how that is spelled, once printed */
};

/* A part of the workspace with elements of one type. */
struct workspace_part {
	struct dtype type;
	int64_t offset_bytes, elems;
};

struct memory_plan {
	VEC(struct placement) places;
	/* Indices of those that the entry function has a pointer to, in the
	 * order of the pointers. */
	VEC(int) named;
	int64_t workspace_bytes, align_bytes;
	int64_t bound_bytes;  /* largest sum alive at one kernel */
	const char *strategy; /* which one won */
	/* In order, if the target wants an array for each type. */
	VEC(struct workspace_part) parts;
};

struct program {
	struct graph *graph;
	const struct target *target;
	VEC(struct kernel *) kernels; /* in the order of execution */
	VEC(struct weight *) weights;
	struct memory_plan plan;
	struct func *entry;
	/* Where regions keep something between runs: the model's struct, which
	 * is a parameter of entry; NULL: none does. */
	struct var *model;
};

/* kernels.c: groups -> kernels (TE, schedule rules, lowering), in a good
 * order; then the plan; then the entry function. */
bool program_build(struct graph *g, const struct target *target,
		   const struct pass_hooks *hooks, struct program *out);

/* The kernel's function as it was before its schedule (phase 0), made anew from
 * its group: the kernel itself is lowered. NULL after reporting. */
struct func *kernel_unscheduled(struct program *p, const struct kernel *k);
/* The same, scheduled as program_build does it: out has the function and the
 * trace. hooks may be NULL. */
bool kernel_schedule(struct program *p, const struct kernel *k,
		     const struct pass_hooks *hooks, struct sched *out);
/* Does it round floats to whole numbers? A last bit before it can make them
 * others: no product may be added unrounded, no sum be taken in another order. */
bool kernel_rounds(const struct func *f);
/* And does it add products of floats, or call functions that may, so that a
 * compiler which contracts would change what it rounds? */
bool kernel_wants_apart(const struct func *f);

/* Notes what the threads of the target's device can do at once, each and
 * together. */
void kernel_state_device(const struct target *target, struct func *f);
/* Notes which vectors lowering may use, also for parameters: the callers of a
 * kernel are ours. */
void kernel_state_vectors(const struct target *target, struct func *f);

/* kernel_stack.c: at most so many bytes of stack, by the target's flags: of one
 * kernel, and of the entry function with the kernel that takes most. Functions
 * of libraries are not counted. */
int64_t kernel_frame_bytes(const struct kernel *k, const struct target *t);
int64_t program_stack_bytes(const struct program *p);
/* plan/: chooses the order of kernels that lowers the peak, in place of
 * g's order (topological). */
void plan_order(struct program *p);
/* Places every tensor and scratch buffer. Uses kernel args' in_place, views
 * (groups with is_view), and, for constant batch-1 concatenations done as
 * views, offsets. */
bool plan_memory(struct program *p);
const struct placement *plan_find(const struct memory_plan *p,
				  const struct tensor *t);
/* Of a scratch argument of the kernel; NULL: none is planned. */
struct placement *plan_find_scratch(const struct memory_plan *p,
				    const struct kernel *k,
				    const struct buffer *scratch);

#endif
