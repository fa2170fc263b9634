/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are compositions of others. During shape inference canonical
 * nodes replace the model's node once the types and shapes of its inputs are
 * known:
 *
 *	before	y = SwiGLU<alpha=2>(a, b)
 *	after	y_swish = Swish<alpha=2>(a)
 *		y = Mul(y_swish, b)
 *
 * A row of compose.def names the operator and its function, which makes the
 * nodes with the helpers below. Each node is inferred when it is made, so that
 * the function can read types and shapes of all its tensors. The new nodes have
 * the origins of the model's node, and their tensors are named after its first
 * output ("y_swish").
 *
 * After a helper failed (it reported why), every helper returns a stand-in, a
 * scalar whose dimensions all read as 1, and does nothing: a function needs
 * no checks after each call. */
#ifndef TIRC_ONNX_COMPOSE_H
#define TIRC_ONNX_COMPOSE_H

#include "importer.h"

struct compose {
	struct importer *imp;
	struct module *m;
	struct graph *g;
	struct node *node; /* the model's */
	int pos;           /* in g->nodes, where the next node goes */
	int version;       /* of the model's node */
	attr_list attrs;   /* of the next node */
	struct tensor **results;
	bool failed;
	bool keep; /* the node stays, as an operator of ops.def */
	struct tensor *stand_in;
	VEC(struct tensor *) made;
};

/* Makes the nodes and names the results by compose_result. False after a
 * diagnostic. */
typedef bool compose_fn(struct compose *c);

/* Marks the nodes that are compositions, so that they need no operator. */
void compose_mark(struct graph *g, int first);
/* Marks the node if it is a composition; is it? */
bool compose_resolve(struct node *n);
bool is_composition(const struct node *n);
/* Does the node read strings, or make them of numbers? Then its operator is
 * replaced by operators on bytes, with the same driver. */
bool has_strings(const struct node *n);
/* Replaces the marked node at *pos by its composition; *pos becomes the position
 * after it. False after a diagnostic. */
bool compose_node_at(struct importer *imp, int *pos);

/* -- what a composition reads -- */

/* Input i of the model's node; NULL where it is absent. */
struct tensor *compose_input(const struct compose *c, int i);
/* Are the n inputs that follow given? False after a diagnostic. For operators
 * whose optional inputs are before others that they need. */
bool compose_needs(struct compose *c, int n, ...);
/* Is output i of the model's node wanted? */
bool compose_wants(const struct compose *c, int i);
/* Reports a mistake of the model's node; false. */
bool compose_error(struct compose *c, enum diag_id id, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* The same for a composition that tirc does not support. */
bool compose_refuse(struct compose *c, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Dimension d of t, from the end if d is negative. 1 after a diagnostic: t has fewer
 * dimensions, or the composition has failed already. */
const struct expr *compose_dim(struct compose *c, const struct tensor *t,
			       int d);
/* The number in dimension d of t; false after reporting that it must be known
 * when the code is generated. */
bool compose_known_dim(struct compose *c, const struct tensor *t, int d,
		       int64_t *size);

/* -- constants: `what` is the end of the tensor's name -- */

struct tensor *compose_scalar(struct compose *c, const char *what,
			      struct dtype type, double value);
/* An int64 list, e.g. of axes. */
struct tensor *compose_ints(struct compose *c, const char *what, int n,
			    const int64_t *values);
/* A constant of a floating type from doubles. */
struct tensor *compose_floats(struct compose *c, const char *what,
			      struct dtype type, int ndim, const int64_t *shape,
			      const double *values);
/* A constant of the given bytes, which must live as long as the module. */
struct tensor *compose_constant(struct compose *c, const char *what,
				struct dtype type, int ndim,
				const int64_t *shape, const void *data);
/* An int64 list of sizes: a constant, or else computed from the shapes of the
 * tensors so far. */
struct tensor *compose_sizes(struct compose *c, const char *what, int n,
			     const struct expr *const *sizes);

/* -- nodes -- */

/* An attribute of the next node that is made. */
void compose_set_int(struct compose *c, const char *name, int64_t v);
void compose_set_float(struct compose *c, const char *name, double v);
void compose_set_string(struct compose *c, const char *name, const char *v);
/* The next node gets the attributes of the model's node with these names, which
 * spaces separate. */
void compose_keep_attrs(struct compose *c, const char *names);

/* A node with the n tensors that follow as inputs (NULL: absent), and one
 * output. */
struct tensor *compose_node(struct compose *c, const char *what,
			    const char *op_type, int n, ...);
/* The same in general: out[k] gets output k, called whats[k] (NULL: absent). */
void compose_nodes(struct compose *c, const char *domain, const char *op_type,
		   struct tensor *const *in, int n_in, const char *const *whats,
		   int n_out, struct tensor **out);
/* One input, or two. */
struct tensor *compose_1(struct compose *c, const char *what,
			 const char *op_type, struct tensor *x);
struct tensor *compose_2(struct compose *c, const char *what,
			 const char *op_type, struct tensor *a,
			 struct tensor *b);
/* op_type(x, value), with the value as a scalar of x's type. */
struct tensor *compose_with(struct compose *c, const char *what,
			    const char *op_type, struct tensor *x,
			    double value);
/* x itself if it has the type or shape already. */
struct tensor *compose_cast(struct compose *c, const char *what,
			    struct tensor *x, struct dtype type);
struct tensor *compose_reshape(struct compose *c, const char *what,
			       struct tensor *x, int n,
			       const struct expr *const *shape);
struct tensor *compose_transpose(struct compose *c, const char *what,
				 struct tensor *x, const int64_t *perm);
/* Swaps two dimensions, which may be negative. */
struct tensor *compose_swap(struct compose *c, const char *what,
			    struct tensor *x, int a, int b);
struct tensor *compose_unsqueeze(struct compose *c, const char *what,
				 struct tensor *x, int axis);
struct tensor *compose_squeeze(struct compose *c, const char *what,
			       struct tensor *x, int axis);
/* The elements [from, to) of an axis; a negative `to` counts from the end, and
 * NULL stands for it. */
struct tensor *compose_slice(struct compose *c, const char *what,
			     struct tensor *x, int axis,
			     const struct expr *from, const struct expr *to);
struct tensor *compose_concat(struct compose *c, const char *what, int axis,
			      struct tensor *a, struct tensor *b);
/* ReduceSum and the like along one axis. */
struct tensor *compose_reduce(struct compose *c, const char *what,
			      const char *op_type, struct tensor *x, int axis,
			      bool keep);
/* Random numbers in [0, 1) of x's shape (compose_random.c). */
struct tensor *compose_uniform(struct compose *c, const struct tensor *x,
			       struct dtype type);
/* x after the activation that the node's attribute names, if any.
 * given[0..n): its parameters; of Clip: its bounds (compose_activation.c). */
struct tensor *compose_activate(struct compose *c, struct tensor *x,
				const double *given, int n);
/* The sums of products of bytes, as floats with both scales and the
 * bias, if it is not NULL (compose_qlinear.c). */
struct tensor *compose_scaled_product(struct compose *c, struct tensor *a,
				      struct tensor *b, struct tensor *a_zero,
				      struct tensor *b_zero,
				      struct tensor *a_scale,
				      struct tensor *b_scale,
				      struct tensor *bias);
/* The numbers of `bits` bits in bytes, the lowest first, as bytes: the last
 * dimension becomes 8 / bits times as long (compose_qlinear.c). */
struct tensor *compose_unpack(struct compose *c, struct tensor *x, int bits);
/* x with the channels last, or first again: [n][c][…] (compose_conv.c). */
struct tensor *compose_channels(struct compose *c, const char *what,
				struct tensor *x, bool last);
/* The size `count`, a list of one integer that a kernel computes, from 0 to
 * `most`, as a size that the entry function reads. */
struct tensor *compose_run_size(struct compose *c, struct tensor *count,
				const char *what, int64_t most);
/* 0, 1, … n - 1 in the given type; n is an integer scalar (compose_window.c). */
struct tensor *compose_count(struct compose *c, const char *what,
			     struct tensor *n, struct dtype type);
/* t is the result k of the model's node. */
void compose_result(struct compose *c, int k, struct tensor *t);

#define COMPOSE(domain, op, min, max, outputs, fn) compose_fn compose_##fn;
#include "compose.def"
#include "strings.def"
#undef COMPOSE

#endif
