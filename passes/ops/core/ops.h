/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators. An operator is a row of ops.def, an inference
 * function and a definition as tensor expressions, in the file of its
 * family. */
#ifndef TIRC_OPS_H
#define TIRC_OPS_H

#include "graph.h"

/* How an operator may be fused. */
enum fuse_class {
	/* element i of the output is computed from element i of the input */
	FUSE_ELEMENTWISE,
	/* element i of the output is computed from element j of each input,
	 * where j is a part of the indices i */
	FUSE_BROADCAST,
	/* each element of the output is one element of an input (Transpose,
	 * Slice, Concat, Gather …) */
	FUSE_INJECTIVE,
	/* sums and the like along axes: Reduce*, pools, ArgMax */
	FUSE_REDUCTION,
	/* products (Conv, MatMul, Gemm): they can take an elementwise
	 * epilogue */
	FUSE_COMPUTE,
	/* several stages along some axes, as Softmax and the normalizations
	 * have */
	FUSE_ROWWISE,
	/* stores that are done in a given order, over elements stored before:
	 * the result is complete only after the last store */
	FUSE_ORDERED,
	/* the output has the input's bytes with another shape */
	FUSE_VIEW,
	FUSE_CONTROL, /* control flow: the operator has no kernel */
	FUSE_OPAQUE
};

struct infer {
	struct graph *graph;
	struct module *module;
	const struct node *node; /* for diagnostics */
};

struct define {
	struct graph *graph;
	struct module *module;
	const struct node *node;
	VEC(struct te_tensor *)
	/* the tensors that bodies may load: the inputs, and the stages that are
	 * added so far */
	tensors;
};

/* Sets of types, as bits: the types that an input may have. */
enum op_types {
	TYPES_FLOAT = 1,
	TYPES_SIGNED = 2,
	TYPES_UNSIGNED = 4,
	TYPES_BOOL = 8,
	TYPES_STRING = 16,
	TYPES_INTEGER = TYPES_SIGNED | TYPES_UNSIGNED,
	TYPES_NUMBER = TYPES_FLOAT | TYPES_INTEGER,
	TYPES_ANY = TYPES_NUMBER | TYPES_BOOL
};

struct op {
	const char *name, *domain;
	/* max_inputs is -1 if the number of inputs is not limited */
	int min_inputs, max_inputs;
	int min_outputs, max_outputs;
	enum op_types types;
	enum fuse_class fuse;
	/* Sets the type and the shape of the outputs, and their elements if
	 * they are known, from those of the inputs. False after a diagnostic if
	 * they contradict each other. */
	bool (*infer)(struct infer *c, struct node *n);
	/* Defines the node: sets out[k] for each node->outputs[k] to a tensor
	 * expression over in[i], which is NULL if input i is absent.
	 * Intermediate stages get plain names ("pad", "max"); the caller names
	 * the outputs. */
	bool (*define)(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out);
	/* Of elementwise operators (rows MAP): one element of output 0 from one
	 * element x[i] of each input, already broadcast; x[i] is NULL if the
	 * input is absent. */
	const struct expr *(*body)(struct define *c, const struct node *n,
				   const struct expr *const *x);
};

/* The operator, or NULL if it is not known. The domains "" and "ai.onnx" are
 * both ONNX's. */
const struct op *op_find(const char *domain, const char *name);
const struct op *op_list(int *n);

/* Sets node->op of every node that has no operator yet. False after a
 * diagnostic that reports all unknown operators together. */
bool ops_resolve(struct graph *g);
/* Like ops_resolve, for the nodes from position `first` on. */
bool ops_resolve_from(struct graph *g, int first);
/* Checks that each string attribute of the node has one of the values in
 * attr_values.def. False after a diagnostic. */
bool op_check_strings(struct graph *g, const struct node *n);
/* Makes the entry function check sizes of inputs that may be negative. False
 * after a diagnostic if a size is always negative. */
bool ops_check_inputs(struct graph *g);
/* ops_infer_node infers the types and shapes of one node's outputs, ops_infer
 * those of the whole graph, which must be sorted. False after a diagnostic. */
bool ops_infer_node(struct graph *g, struct node *n);
bool ops_infer(struct graph *g);
/* Makes the tensor expressions of a node over the given inputs (op.define).
 * False after a diagnostic. */
bool ops_define(struct graph *g, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out);
/* Like ops_define, on placeholders for the node's inputs: fills in[n_inputs], where
 * an input that is left out is NULL, and out[n_outputs]. */
bool ops_define_alone(struct graph *g, const struct node *n,
		      struct te_tensor **in, struct te_tensor **out);
/* The function that ops_evaluate() runs for a node. Its parameters are the
 * node's inputs and then its outputs. NULL after a diagnostic. */
struct func *ops_function(struct graph *g, const struct node *n);
/* Evaluates a node whose inputs are constants with values: sets out[k], for
 * each output k, to a new value in the module's arena. False after a
 * diagnostic. */
bool ops_evaluate(struct graph *g, const struct node *n,
		  const struct value **out);

/* The cost of computing a node; INT64_MAX if it is not known or larger. */
struct ops_cost {
	/* the number of elements that are computed, each counted once for each
	 * term of its sum */
	int64_t work;
	/* the sum of the bytes of the results of all its stages */
	int64_t bytes;
};
struct ops_cost ops_cost(struct graph *g, const struct node *n);

/* -- helpers for definitions and inference (infer.c, define.c) -- */
bool infer_broadcast(struct infer *c, const struct tensor *const *in, int n,
		     int *ndim, const struct expr ***shape);
void infer_set(struct infer *c, struct tensor *t, struct dtype type, int ndim,
	       const struct expr *const *shape);
/* Reads the integers of input i, from the tensor's value or elems. False if the
 * input is absent, not constant, or not of integers. */
bool input_ints(struct module *m, const struct node *n, int i,
		const int64_t **v, int *count);
/* Like input_ints, as expressions, which may contain symbolic dimensions. */
bool input_elems(struct module *m, const struct node *n, int i,
		 const struct expr *const **v, int *count);
/* Is the number of elements of a Range known from its inputs, as a constant or
 * a formula of sizes? The inputs must have types. */
bool range_is_known(struct module *m, const struct node *n);
/* Sets *v to the only element of input i, a constant number such as Clip's
 * bound. False if the input is absent, or is not a constant with a single
 * number. */
bool input_scalar(const struct node *n, int i, double *v);
/* Converts an axis in [-ndim, ndim) to a non-negative one, in *out; false after
 * a DIAG_BAD_ATTRIBUTE. */
bool infer_axis(struct infer *c, int64_t axis, int ndim, int *out);
/* The number of multiply-accumulates of a node at the largest sizes; 0 if the
 * node makes none. */
int64_t op_macs(const struct node *n);
/* winograd.c: the matrix by which a WinogradInput or WinogradOutput multiplies
 * each tile from the left, and, transposed, from the right; for a
 * WinogradProduct, the matrix of its filters' transform. op_matrix_of is false
 * if n is another node. */
struct op_matrix {
	/* the product and the matrix, as in Lavin and Gray: "V = B^T d B",
	 * "B^T" */
	const char *formula, *name;
	int rows, columns;
	const double *elements; /* rows are `stride` elements apart */
	int stride;
};
bool op_matrix_of(const struct node *n, struct op_matrix *out);
/* recurrent/: the gates of a recurrent node in the order in which x and r have
 * them, in words; NULL if n is another node. */
const char *op_gates(const struct node *n);
/* core/method.c: how the node computes, in words in arena a, if its loops do not tell
 * it; else NULL. */
const char *op_method(struct arena *a, const struct node *n);

#endif
