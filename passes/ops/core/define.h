/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the families of operators: prototypes of the functions named in
 * ops.def, and helpers to write them. */
#ifndef TIRC_DEFINE_H
#define TIRC_DEFINE_H

#include "ops.h"

/* Every function that ops.def names. */
bool define_map(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out);
#define MAP(name, min, max, types, inf, fn)                                    \
	bool infer_##inf(struct infer *c, struct node *n);                     \
	const struct expr *body_##fn(struct define *c, const struct node *n,   \
				     const struct expr *const *x);
#define OP(name, domain, min_in, max_in, min_out, max_out, types, fuse, inf,   \
	   fn)                                                                 \
	bool infer_##inf(struct infer *c, struct node *n);                     \
	bool define_##fn(struct define *c, const struct node *n,               \
			 struct te_tensor *const *in, struct te_tensor **out);
#include "ops.def"
#undef MAP
#undef OP

/* ---- inference (infer.c) ---- */

/* Reports a diagnostic at the node, unless c is NULL; returns false. */
bool infer_error(struct infer *c, enum diag_id id, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
struct tensor *node_output(const struct node *n, int i);
/* Checks that input i, if present, has one of the types (enum op_types) and a
 * rank in [least, most]; false after a diagnostic. */
bool infer_form(struct infer *c, const struct node *n, int i, unsigned types,
		int least, int most);
/* Checks that input i, a scale or zero point, if present, has one of the types
 * and is a scalar or a vector of one element or of `size` (unless NULL); false
 * after a diagnostic. */
bool infer_param(struct infer *c, const struct node *n, int i, unsigned types,
		 const struct expr *size);
/* Checks that the elements of input i, a table of positions at which kernels
 * read elements, are constant integers in [low, high). False after a
 * diagnostic. The importer makes valid tables, but a table in a partition may
 * be invalid. */
bool infer_positions(struct infer *c, const struct node *n, int i, int64_t low,
		     int64_t high);
/* Like infer_positions, for integers that are not positions. what: what they
 * are, for the message, such as "exponents". */
bool infer_numbers(struct infer *c, const struct node *n, int i,
		   const char *what, int64_t low, int64_t high);
/* The node that computes t, if its operator is op_type of the domain `domain`;
 * else NULL. */
const struct node *made_by(const struct tensor *t, const char *domain,
			   const char *op_type);
/* Element k of a constant of integers. */
int64_t value_int(const struct value *v, int64_t k);
/* Checks that input i is a tensor of strings, of rank `least` to `most`; false
 * after a diagnostic. The last dimension of the tensor, the bytes, must have at
 * least one element, because kernels read the first byte of each string. */
bool infer_strings(struct infer *c, const struct node *n, int i, int least,
		   int most);
/* Checks that dimension d of input i has `size` elements; false after a
 * diagnostic. */
bool infer_size_of(struct infer *c, const struct node *n, int i, int d,
		   int64_t size);
/* Checks that input i has 8-bit integers, and that its zero point, input number
 * `zero`, has the same type if it is present; false after a diagnostic. */
bool infer_zero_point(struct infer *c, const struct node *n, int i, int zero);
/* Checks that all inputs have the type of input 0; false after a diagnostic. */
bool infer_same_types(struct infer *c, const struct node *n);
/* Gives output 0 the type and the shape of input 0. */
void infer_like_input(struct infer *c, struct node *n);
/* The product of the extents shape[from] to shape[to - 1]. */
const struct expr *shape_elems(struct module *m,
			       const struct expr *const *shape, int from,
			       int to);
/* Does e, printed as a tree, have few nodes? With shared parts, as in x * x,
 * the tree can be so large that a walk would not end in practice. */
bool expr_is_short(const struct expr *e);
/* e in a normal form, in which equal dimensions are the same node; e itself if
 * it is long (expr_is_short). */
const struct expr *dim_normal(struct module *m, const struct expr *e);
/* Sets set[d], for each dimension d < ndim, to whether d is in the list of n
 * axes; negative axes count from the end. False after a diagnostic. */
bool infer_axes_set(struct infer *c, const int64_t *axes, int n, int ndim,
		    bool *set);
/* Sets t->elems to the elements of the constant t, as literals of t's type, if
 * they are integers or floats, and at most KNOWN_ELEMS_MAX in number. False if
 * the elements are not known. */
#define KNOWN_ELEMS_MAX 4096
bool tensor_known(struct module *m, struct tensor *t);
/* values.c: sets the known elements (tensor.elems) of n's outputs if those of
 * all inputs are known. */
void infer_values(struct graph *g, struct node *n);

/* ---- relations of sizes (relations.c) ---- */

/* Are the dimensions a and b equal? False if they provably differ. If it is
 * neither proven that they are equal nor that they differ, returns true and
 * records a check for the entry function; if c is NULL, the check was already
 * recorded. */
bool dims_equal(struct infer *c, const struct expr *a, const struct expr *b);
/* Is a <= b? False if both are constants and a > b. If a <= b is not proven,
 * the entry function checks it. If it holds for no values, or is too long to
 * check, reports an error and returns true. */
bool dims_at_most(struct infer *c, const struct expr *a, const struct expr *b);
/* Can the dimension dim of an input be broadcast to the result: is it 1, or
 * equal to the result's dimension? If neither is proven, the entry function
 * checks the condition. */
bool infer_broadcasts_to(struct infer *c, const struct expr *dim,
			 const struct expr *result);
/* Is `size` a multiple of `of`, and `of` positive? If these are not proven, the
 * entry function checks them. */
bool dim_is_multiple(struct infer *c, const struct expr *size,
		     const struct expr *of);
/* States that a size must not be negative. If this is not proven, the entry
 * function checks it. False after a diagnostic if the size is always
 * negative. */
bool infer_not_negative(struct infer *c, const struct expr *size);
/* States that a kernel reads, for each element of a result, an element of a
 * dimension whose size is `size`, which is not constant: then this dimension
 * must not be empty unless the result is empty. If this is not proven, the
 * entry function checks it. */
void infer_reads(struct infer *c, const struct expr *size, int ndim,
		 const struct expr *const *result);
/* Like infer_reads(), for dimension d of an input, whose size may also be
 * constant. False after a diagnostic. */
bool infer_can_fill(struct infer *c, int d, const struct expr *size,
		    const struct expr *result);
/* The dimension that results from broadcasting dimensions a and b as NumPy
 * does; NULL if they contradict each other. If it is not proven that they fit,
 * the entry function checks it. */
const struct expr *infer_broadcast_dim(struct infer *c, struct module *m,
				       const struct expr *a,
				       const struct expr *b);

/* ---- definition (define.c) ---- */

/* Axes over a shape, with the usual names for its rank: i; i, j; i, j, k; n, c,
 * h, w; n, c, d, h, w; i0, i1, … */
struct iter_var *define_shape_axes(struct define *c, int ndim,
				   const struct expr *const *shape);
/* Axes over the shape of a tensor of the graph, with the names that
 * define_shape_axes gives. */
struct iter_var *define_axes(struct define *c, const struct tensor *t);
const char *axis_name(struct module *m, int rank, int d);
/* A reduction axis over dimension d of t, named like that dimension. */
struct iter_var define_reduce_axis(struct define *c, const struct te_tensor *t,
				   int d);
/* The variables of axes as expressions. */
const struct expr **axes_exprs(struct define *c, const struct iter_var *axes,
			       int n);
/* The indices of the dimensions d < ndim for which reduced[d] is false, in
 * order. */
const struct expr **kept_exprs(struct define *c,
			       const struct expr *const *index,
			       const bool *reduced, int ndim);
/* The element of t that is read for the point `index` of a result with `rank`
 * dimensions and the given shape, to which t is broadcast as by NumPy. */
const struct expr *define_broadcast(struct define *c, const struct te_tensor *t,
				    const struct expr *const *index,
				    const struct expr *const *shape, int rank);
/* The index into a dimension of extent `dim` that is broadcast to the extent
 * `result`, for the index `index` of the result: 0 if dim is 1, else
 * `index`. */
const struct expr *broadcast_index(struct module *m, const struct expr *dim,
				   const struct expr *result,
				   const struct expr *index);
/* te_compute: makes a stage of one output. Its inputs, which are inputs of the
 * node or earlier stages, are found from the loads of the body. The axes must
 * not be used again. */
struct te_tensor *define_stage(struct define *c, const char *name,
			       const char *tag, int n_axes,
			       struct iter_var *axes, const struct expr *body);
void define_stages(struct define *c, const char *const *names, const char *tag,
		   int n_axes, struct iter_var *axes,
		   const struct expr *const *bodies, int n,
		   struct te_tensor **out);
/* te_ordered_stores for the stage of out[0..n); the inputs are found from the
 * loads. */
void define_ordered(struct define *c, struct te_tensor *const *out, int n,
		    struct iter_var *axes, int n_axes,
		    const struct te_store *stores, int n_stores);
/* te_ordered_phases for the stage of out[0..n); the inputs are found from the
 * loads. */
void define_phases(struct define *c, struct te_tensor *const *out, int n,
		   struct iter_var *axes, int n_axes,
		   const struct te_phase *phases, int n_phases);
/* A literal with the value of input i, if it is a constant whose elements are
 * all equal; else NULL. */
const struct expr *define_literal(struct define *c, const struct node *n,
				  int i);
/* An integer e from data, which may have any value, clamped to [low, high], as
 * an index of high's type. low must not be above high. */
const struct expr *define_clamped(struct define *c, const struct expr *e,
				  const struct expr *low,
				  const struct expr *high);
/* The number v as a literal of e's type. */
const struct expr *like(struct define *c, const struct expr *e, double v);
/* exp(e) - 1 */
const struct expr *define_exp_minus_one(struct define *c, const struct expr *e);
/* log(1 + exp(e)), without overflow of exp */
const struct expr *define_softplus(struct define *c, const struct expr *e);
/* e, or alpha * (exp(e) - 1) where e is negative */
const struct expr *define_elu(struct define *c, const struct expr *alpha,
			      const struct expr *e);
/* shape.c: defines a result whose element i is input 0 + i * (input number
 * `delta`). */
bool define_range_by(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out,
		     int delta);
/* The number of elements `count` as a value of type t, by which a sum is
 * divided to get an average. */
const struct expr *define_count(struct define *c, struct dtype t,
				const struct expr *count);
/* The element e converted to type t as by ONNX's Cast: floats to integers by
 * TO_INT, any type to bool by a comparison with 0. */
const struct expr *convert_to(struct define *c, struct dtype t,
			      const struct expr *e);
/* Like convert_to, for a node with the attribute saturate: a value beyond the
 * largest 8-bit float becomes that float; if saturate is 0, it is rounded as
 * the type defines. */
const struct expr *saturate_to(struct define *c, const struct node *n,
			       struct dtype t, const struct expr *e);
/* The tensor of narrower floats that t widens element by element; t itself if
 * its stage does more than widen. A product that reads the narrow elements can
 * use an instruction that multiplies their type. */
struct te_tensor *define_unwidened(struct define *c, struct te_tensor *t);
/* t itself if it has the type `type`; else a stage that casts t to this
 * type. */
struct te_tensor *define_narrow(struct define *c, struct te_tensor *t,
				struct dtype type);

/* ---- reductions (reducers.c) ---- */

/* The type in which elements of type t are summed: f32 for narrower floats,
 * else t. */
struct dtype accumulator_type(struct dtype t);
/* The reducer that takes the maximum (if `max`) or the minimum; the result is
 * NaN if an element is NaN. The neutral element is an infinity if t has one,
 * else an end of the range of t. */
const struct reducer *reducer_extreme(struct module *m, struct dtype t,
				      bool max);
/* The largest element that is not NaN; NaN if all are. The neutral element is
 * NaN, or the lowest integer. */
const struct reducer *reducer_largest(struct module *m, struct dtype t);
/* Like reducer_largest, for (value, index) pairs: of equal values, that with
 * the lowest index. The neutral element has the neutral value and the largest
 * index. */
const struct reducer *reducer_first_largest(struct module *m, struct dtype t,
					    struct dtype index_type);
/* The reducer of pairs (value, index) that takes the pair with the largest
 * value (the smallest if !max); of equal values the first pair, or the last if
 * `last`. A NaN at index 0 is the result; other NaNs are ignored. Indices must
 * not be negative, and one pair must have index 0. */
const struct reducer *reducer_arg(struct module *m, struct dtype t,
				  struct dtype index_type, bool max, bool last);

struct reduce_plan {
	struct iter_var *axes; /* the axes of the result */
	int n_axes;
	struct iter_var *over; /* the reduced axes */
	int n_over;
	const struct expr **at; /* the index into the reduced tensor t */
	/* the number of elements of t that are reduced to one */
	const struct expr *count;
};

/* The axes of a reduction of t along the dimensions d with reduced[d]; if
 * `keep` is set, the result keeps these dimensions, with extent 1. */
struct reduce_plan reduce_plan(struct define *c, const struct te_tensor *t,
			       const bool *reduced, bool keep);
/* Makes the stage of a reducer_arg over `value` and `index`. Returns the tensor
 * of indices, and the values in *best unless that is NULL. */
struct te_tensor *define_arg_stage(struct define *c, const struct reducer *r,
				   const struct expr *value,
				   const struct expr *index,
				   struct iter_var *axes, int n_axes,
				   struct iter_var *over, int n_over,
				   struct te_tensor **best);

/* power_of_abs: |x|^p. The second function: the p-th root of a sum. Both do
 * without powers if p is 1 or 2. */
const struct expr *power_of_abs(struct define *c, const struct expr *x,
				double p);
const struct expr *root_of_sum(struct define *c, const struct expr *sum,
			       double p);
/* An element of input i, a scale or a zero point: the element at `index` if the
 * input is a vector, else its only element (then `index` may be NULL). 0 of
 * type t if the input is absent or i is negative. */
const struct expr *define_param(struct define *c, const struct node *n, int i,
				struct te_tensor *const *in,
				const struct expr *index, struct dtype t);
/* Sums of integer products in i32, of operands minus their zero points
 * (matmul.c, conv.c). second, zero_a and zero_b are the indices of inputs. NULL
 * if the node is not valid. */
struct te_tensor *define_integer_product(struct define *c, const struct node *n,
					 struct te_tensor *const *in,
					 int second, int zero_a, int zero_b);
struct conv_inputs {
	/* the indices of the inputs with the weights and with the zero points
	 * of x and w; -1: there is no such input */
	int weights, x_zero, w_zero;
	/* NULL: the zero point is subtracted from x, and the padding has the
	 * value of the zero point. Else no zero point is subtracted from x, and
	 * the attribute with this name has the value of x in the padding. */
	const char *outside;
};
struct te_tensor *define_integer_conv(struct define *c, const struct node *n,
				      const struct conv_inputs *which,
				      struct te_tensor *const *in);

#endif
