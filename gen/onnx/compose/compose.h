/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that tirc replaces by nodes of other operators ("compositions").
 * Shape inference replaces such a node of the model once the types and shapes
 * of its inputs are known:
 *
 *	before	y = SwiGLU<alpha=2>(a, b)
 *	after	y_swish = Swish<alpha=2>(a)
 *		y = Mul(y_swish, b)
 *
 * A row of compose.def names the operator and its function, which makes the new
 * nodes with the helpers below. Each new node is inferred when it is made, so
 * that the function can read the types and shapes of the new node's outputs.
 * The new nodes have the origins of the model's node; their tensors are named
 * after its first output ("y_swish").
 *
 * A helper that fails reports why. After a failure, every helper does nothing
 * and returns a stand-in, a scalar whose dimensions all read as 1: a function
 * needs no check after each call. */
#ifndef TIRC_COMPOSE_H
#define TIRC_COMPOSE_H

#include "importer.h"

struct compose {
	struct importer *imp;
	struct module *m;
	struct graph *g;
	struct node *node;       /* the node of the model */
	int pos;                 /* index in g->nodes at which the next new node
				  * is inserted */
	int version;             /* the opset version of `node` */
	attr_list attrs;         /* attributes that the next new node gets */
	struct tensor **results; /* by output of `node`: the tensor that was
				  * given to compose_result() */
	bool failed;             /* a helper has failed and reported why */
	/* set by the function: do not replace the node, it is an operator of
	 * ops.def in this form */
	bool keep;
	struct tensor *stand_in;   /* what helpers return after a failure */
	VEC(struct tensor *) made; /* the outputs of the nodes made so far */
};

/* Makes the nodes that replace c->node, and passes their results to
 * compose_result. False after a diagnostic. */
typedef bool compose_fn(struct compose *c);

/* Marks the nodes from index `first` on whose operators are compositions
 * (node.op): then it is no error that ops.def has no row for the operator. */
void compose_mark(struct graph *g, int first);
/* Marks the node if its operator has no row in ops.def but is a composition.
 * Returns whether the node is marked. */
bool compose_resolve(struct node *n);
/* Is the node marked as a composition? */
bool is_composition(const struct node *n);
/* Is there a composition for the operator, in C or as a text? */
bool is_composed_operator(const char *domain, const char *op_type);
/* The numbers of inputs (least, most) and outputs that an operator with a row
 * in ops.def or compose.def allows; -1: any number. False if the operator has
 * no row there. */
bool operator_limits(const char *domain, const char *op_type, int *least,
		     int *most, int *outputs);
/* Does the node read strings or convert numbers to strings? Then it is replaced
 * by operators on bytes, in the same way as a composition. */
bool has_strings(const struct node *n);
/* Replaces the marked node at *pos by its composition; *pos becomes the
 * position after it. False after a diagnostic. */
bool compose_node_at(struct importer *imp, int *pos);

/* -- inputs and outputs of the model's node -- */

/* Input i of the model's node, or NULL if it is absent. */
struct tensor *compose_input(const struct compose *c, int i);
/* Are the n inputs present whose indices are the further arguments? False after
 * a diagnostic. For operators that require an input after an optional one. */
bool compose_needs(struct compose *c, int n, ...);
/* Does output i of the model's node have a name? */
bool compose_wants(const struct compose *c, int i);
/* Reports a mistake in the model's node; returns false. */
bool compose_error(struct compose *c, enum diag_id id, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Reports that tirc does not support the node in this form; returns false. */
bool compose_refuse(struct compose *c, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Dimension d of t; a negative d counts from the end. The size 1, after a
 * diagnostic, if t has too few dimensions or the composition has failed. */
const struct expr *compose_dim(struct compose *c, const struct tensor *t,
			       int d);
/* Dimension d of t as a number; false after a diagnostic if it is not known
 * when the code is generated. */
bool compose_known_dim(struct compose *c, const struct tensor *t, int d,
		       int64_t *size);

/* -- constants: the name of the tensor ends in the parameter `what` -- */

struct tensor *compose_scalar(struct compose *c, const char *what,
			      struct dtype type, double value);
/* A one-dimensional int64 constant, e.g. of axes. */
struct tensor *compose_ints(struct compose *c, const char *what, int n,
			    const int64_t *values);
/* A constant of any numeric type: `values`, converted to the type. */
struct tensor *compose_floats(struct compose *c, const char *what,
			      struct dtype type, int ndim, const int64_t *shape,
			      const double *values);
/* A constant of the given bytes, which must live as long as the module. */
struct tensor *compose_constant(struct compose *c, const char *what,
				struct dtype type, int ndim,
				const int64_t *shape, const void *data);
/* A constant tensor with this shape, whose elements are `value`; the value is
 * not copied. */
struct tensor *compose_value(struct compose *c, const char *what,
			     const struct value *value, int ndim,
			     const int64_t *shape);
/* A list of sizes, as a tensor of int64: a constant if all sizes are numbers;
 * else computed from the shapes of the tensors that exist so far. */
struct tensor *compose_sizes(struct compose *c, const char *what, int n,
			     const struct expr *const *sizes);

/* -- nodes -- */

/* Sets an integer attribute of the next node that is made. */
void compose_set_int(struct compose *c, const char *name, int64_t v);
void compose_set_float(struct compose *c, const char *name, double v);
void compose_set_string(struct compose *c, const char *name, const char *v);
/* Copies attributes of the model's node to the next node that c makes. `names`:
 * the names of these attributes, separated by spaces. */
void compose_keep_attrs(struct compose *c, const char *names);

/* Sets an attribute of the next node. The attribute's name is copied, its value
 * is not. */
void compose_set_attr(struct compose *c, struct attr attr);
/* Makes the nodes of a piece: an operator of the domain tirc that the texts
 * define (text_body.h). The piece gets the attributes that were set for the
 * next node. wanted[k]: is output k needed? wanted NULL: all outputs are
 * needed. */
void compose_piece(struct compose *c, const char *name,
		   struct tensor *const *in, int n_in, const bool *wanted,
		   struct tensor **out, int n_out);

/* Makes a node of ONNX's operator op_type, whose inputs are the n further
 * arguments (NULL for an absent one); returns its only output, whose name ends
 * in `what`. */
struct tensor *compose_node(struct compose *c, const char *what,
			    const char *op_type, int n, ...);
/* Makes a node with any number of outputs: out[k] becomes output k, whose name
 * ends in whats[k]. whats[k] NULL: the output is absent. */
void compose_nodes(struct compose *c, const char *domain, const char *op_type,
		   struct tensor *const *in, int n_in, const char *const *whats,
		   int n_out, struct tensor **out);
/* Nodes of one and of two inputs. */
struct tensor *compose_1(struct compose *c, const char *what,
			 const char *op_type, struct tensor *x);
struct tensor *compose_2(struct compose *c, const char *what,
			 const char *op_type, struct tensor *a,
			 struct tensor *b);
/* The result of op_type (x, value), where `value` becomes a scalar constant of
 * x's type. */
struct tensor *compose_with(struct compose *c, const char *what,
			    const char *op_type, struct tensor *x,
			    double value);
/* compose_cast and compose_reshape return x itself if x already has the type or
 * shape. */
struct tensor *compose_cast(struct compose *c, const char *what,
			    struct tensor *x, struct dtype type);
struct tensor *compose_reshape(struct compose *c, const char *what,
			       struct tensor *x, int n,
			       const struct expr *const *shape);
/* Exchanges dimensions a and b of x; a negative one counts from the end. */
struct tensor *compose_swap(struct compose *c, const char *what,
			    struct tensor *x, int a, int b);
struct tensor *compose_unsqueeze(struct compose *c, const char *what,
				 struct tensor *x, int axis);
struct tensor *compose_squeeze(struct compose *c, const char *what,
			       struct tensor *x, int axis);
/* The elements [from, to) of an axis. A negative `to` counts from the end; NULL
 * is the end. */
struct tensor *compose_slice(struct compose *c, const char *what,
			     struct tensor *x, int axis,
			     const struct expr *from, const struct expr *to);
struct tensor *compose_concat(struct compose *c, const char *what, int axis,
			      struct tensor *a, struct tensor *b);
/* Applies op_type, such as ReduceSum, along one axis of x; keep: the axis stays
 * in the result, with size 1. */
struct tensor *compose_reduce(struct compose *c, const char *what,
			      const char *op_type, struct tensor *x, int axis,
			      bool keep);
/* Random numbers in [0, 1) of x's shape (compose_random.c). */
struct tensor *compose_uniform(struct compose *c, const struct tensor *x,
			       struct dtype type);
/* The matrix product of quantized tensors as floats: the integer sums times
 * both scales, plus the bias unless it is NULL (compose_qlinear.c). */
struct tensor *compose_scaled_product(struct compose *c, struct tensor *a,
				      struct tensor *b, struct tensor *a_zero,
				      struct tensor *b_zero,
				      struct tensor *a_scale,
				      struct tensor *b_scale,
				      struct tensor *bias);
/* Returns an int64[1]: a size from 0 to `most` that the entry function reads at
 * run time from `count`, an int64[1] that a kernel computes. */
struct tensor *compose_run_size(struct compose *c, struct tensor *count,
				const char *what, int64_t most);
/* 0, 1, … n - 1 in the given type; n is an integer scalar
 * (compose_window.c). */
struct tensor *compose_count(struct compose *c, const char *what,
			     struct tensor *n, struct dtype type);
/* Makes t result number k of the model's node. */
void compose_result(struct compose *c, int k, struct tensor *t);

#define COMPOSE(domain, op, min, max, outputs, fn) compose_fn compose_##fn;
#include "compose.def"
#include "strings.def"
#undef COMPOSE

#endif
