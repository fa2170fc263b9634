/* SPDX-License-Identifier: Apache-2.0 */
/* The operator inventory. An operator is a row of ops.def, an inference
 * function and a definition as tensor expressions, in its family's file. */
#ifndef TIRC_OPS_H
#define TIRC_OPS_H

#include "graph.h"

/* How an operator may be fused. */
enum fuse_class {
	FUSE_ELEMENTWISE, /* out[i] from in[i] */
	FUSE_BROADCAST,   /* out[i] from in[some of i] */
	FUSE_INJECTIVE,   /* each out element from one element of each input
			   * (Transpose, Slice, Concat, Gather …) */
	FUSE_REDUCTION,   /* Reduce*, pools, ArgMax */
	FUSE_COMPUTE,     /* Conv, MatMul, Gemm: element-wise epilogues fuse */
	FUSE_ROWWISE,     /* several stages along some axes: Softmax, *Norm */
	FUSE_ORDERED,     /* stores one after the other, over what was there:
			   * its result is complete after the last one */
	FUSE_VIEW,        /* output is the input's bytes under another shape */
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
	tensors; /* what bodies may load: the inputs
					  * and the stages so far */
};

/* What input 0 may be; more is the business of infer. */
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
	int min_inputs, max_inputs; /* max -1: variadic */
	int min_outputs, max_outputs;
	enum op_types types;
	enum fuse_class fuse;
	/* Sets type and shape (and, where it can, elems) of the outputs from
	 * those of the inputs. False with a diagnostic on contradictions. */
	bool (*infer)(struct infer *c, struct node *n);
	/* in[i]: NULL where absent; out[k] filled where node->outputs[k].
	 * Stage and buffer names: output tensor names are set by the caller
	 * afterwards; intermediate stages get plain names ("pad", "max"). */
	bool (*define)(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out);
	/* Element-wise operators (rows MAP): one element of output 0 from one
	 * of each input, already broadcast; x[i] is NULL where absent. */
	const struct expr *(*body)(struct define *c, const struct node *n,
				   const struct expr *const *x);
};

/* NULL: unknown. domain "" is ONNX ("ai.onnx" is the same). */
const struct op *op_find(const char *domain, const char *name);
const struct op *op_list(int *n);

/* Sets node->op of every node; all unknown ones are reported at once. */
bool ops_resolve(struct graph *g);
/* Infers one node / the whole (sorted) graph. */
bool ops_infer_node(struct graph *g, struct node *n);
bool ops_infer(struct graph *g);
/* TE of one node over given inputs. */
bool ops_define(struct graph *g, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out);
/* Evaluates a node whose inputs are constants with bytes: fresh values for
 * its outputs in the module's arena. */
bool ops_evaluate(struct graph *g, const struct node *n,
		  const struct value **out);

/* How many elements that takes, each operation of a sum counted; INT64_MAX
 * where it is not known, or more than that. */
int64_t ops_work(struct graph *g, const struct node *n);

/* -- helpers for definitions and inference (infer.c, define.c) -- */
bool infer_broadcast(struct infer *c, const struct tensor *const *in, int n,
		     int *ndim, const struct expr ***shape);
void infer_set(struct infer *c, struct tensor *t, struct dtype type, int ndim,
	       const struct expr *const *shape);
/* The integers of input i: from its value or elems. False: not constant (or
 * absent, or floats). */
bool input_ints(struct module *m, const struct node *n, int i,
		const int64_t **v, int *count);
/* The same as expressions (dims may be symbolic). */
bool input_elems(struct module *m, const struct node *n, int i,
		 const struct expr *const **v, int *count);
/* A scalar constant input as a number (float or int), e.g. Clip's bounds. */
bool input_scalar(const struct node *n, int i, double *v);
/* axis in [-ndim, ndim) made non-negative; false with DIAG_BAD_ATTRIBUTE. */
bool infer_axis(struct infer *c, int64_t axis, int ndim, int *out);
/* Multiply-accumulates of a node (0 for what is not MAC-like), for inspect. */
int64_t op_macs(const struct node *n);
/* winograd.c: the matrix by which a node multiplies each tile, from both sides
 * (the second time transposed). False: the node is none of Winograd's. */
struct op_matrix {
	const char *formula, *name; /* "V = B^T d B", "B^T" */
	int rows, columns;
	const double *elements; /* `stride` apart from row to row */
	int stride;
};
bool op_matrix_of(const struct node *n, struct op_matrix *out);

#endif
