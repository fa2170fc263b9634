/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the graph passes: matching, making nodes, reading constants. */
#ifndef TIRC_REWRITE_H
#define TIRC_REWRITE_H

#include "graph.h"
#include "ops.h"
#include "passes.h"

/* A constant of at most this size is computed at once; a larger one when it is
 * needed. */
#define EAGER_BYTES (64 * 1024)

/* Integer tensors with at most this many elements may be sizes, axes or pads,
 * which inference reads. */
enum { FEW_ELEMS = 32 };

#define PASS(id, name, what, stage) bool graph_##id(struct graph *g);
#include "passes.def"
#undef PASS

/* Is n an ONNX operator of this type? */
bool node_is(const struct node *n, const char *op_type);
/* Is n one of tirc's own operators, of this type? */
bool node_is_internal(const struct node *n, const char *op_type);
/* Does computing an element of n take much longer than reading one from
 * memory? */
bool node_is_costly(const struct node *n);
/* Does a node of control flow read the tensor? */
bool tensor_read_by_control(const struct tensor *t);
/* the most bytes that t can have; INT64_MAX if not known */
int64_t tensor_bytes_max(const struct tensor *t);
/* The index of the only input of n that is not constant; -1 if all are
 * constant, or several are not. */
int only_variable_input(const struct node *n);

/* Replaces n's result by x in all readers, and removes n. False, with n kept,
 * if an output of the graph would lose its name. */
bool replace_by(struct graph *g, struct node *n, struct tensor *x,
		const char *pass, const char *why);
/* Inserts a node before the node `before` (NULL: at the end), with one new
 * output, whose name is made from `base`. The node's operator is resolved, and
 * it gets the origins of `before`; the caller must set attributes and then call
 * ops_infer_node. */
struct node *insert_node(struct graph *g, const struct node *before,
			 const char *op_type, const char *base,
			 struct tensor *const *inputs, int n_inputs);
/* Inserts a Cast of x before `before`; base: its result's name without the type.
 * The caller then calls ops_infer_node or finish_constant. */
struct node *insert_cast(struct graph *g, const struct node *before,
			 struct tensor *x, struct dtype to, const char *base);
/* Inserts a Pad of x before the node `before`, and returns the result of the
 * Pad. pads: ONNX's list of 2 * rank sizes, which is copied; outside: the
 * scalar that is the value of the new elements; NULL: 0. NULL after a
 * diagnostic. */
struct tensor *insert_pad(struct graph *g, const struct node *before,
			  struct tensor *x, const int64_t *pads,
			  struct tensor *outside);
/* Inserts a Reshape of x before `before`; the sizes may be 0. The caller then
 * calls ops_infer_node or finish_constant. */
struct node *insert_reshape(struct graph *g, const struct node *before,
			    struct tensor *x, const char *name, int ndim,
			    const int64_t *shape);
/* Inserts a copy of n, with its operator and attributes, that has other
 * inputs. */
struct node *insert_copy(struct graph *g, const struct node *before,
			 const struct node *n, const char *name,
			 struct tensor *const *inputs);
/* The number of elements in a pool's window; of a global pool, in a channel of
 * x. A size that is not constant counts as 1. INT64_MAX if the number is
 * larger. */
int64_t pool_window_elems(const struct node *n);
void node_copy_attrs(struct graph *g, struct node *to, const struct node *from);
/* Finishes a node from insert_node whose inputs are constants: removes it from
 * the graph's order. Returns its result, which is evaluated if it is small;
 * else the node becomes the recipe of the result. */
struct tensor *finish_constant(struct graph *g, struct node *n);
/* A new tensor with the value and the recipe of the constant t. The recipe,
 * which is shared, still has t as its result. */
struct tensor *copy_constant(struct graph *g, const struct tensor *t,
			     const char *name);
/* Applies the operator of n to `inputs`, which are constants of the graph `of`,
 * in place of n's inputs. Returns the result, a constant of the same graph;
 * NULL after a diagnostic. */
struct tensor *constant_of(struct graph *of, const struct node *n,
			   struct tensor *const *inputs);
/* The constant op(a, b) of two constants. */
struct tensor *constant_binary(struct graph *g, const char *op_type,
			       const char *base, struct tensor *a,
			       struct tensor *b);
/* A constant of type t, any float type, from doubles. */
struct tensor *constant_floats(struct graph *g, const char *base,
			       struct dtype t, int ndim, const int64_t *shape,
			       const double *values);
/* All elements of a constant as doubles, in the arena; NULL if it is not a
 * small constant. */
double *constant_doubles(struct graph *g, struct tensor *t, int64_t *n);
/* Is t a constant whose recipe is a tirc.Repeat? Such a constant may also have
 * its value stored. */
bool tensor_is_repeat(const struct tensor *t);
/* Does the kernel of n read single elements of its inputs, so that the
 * expression that computes an input can take the place of the input? False if a
 * backend computes n. */
bool node_reads_elements(const struct node *n);
/* Is t a small constant all of whose elements are v? */
bool constant_is_all(struct graph *g, struct tensor *t, double v);
/* A text for origin.fate, which says what became of a node: fmt, such as "the
 * same as %s", with the model's name of n for %s. */
const char *fate_of(struct graph *g, const char *fmt, const struct node *n);

#endif
