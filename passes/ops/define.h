/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of operators share: prototypes of the table's functions
 * and helpers to write them. */
#ifndef TIRC_OPS_DEFINE_H
#define TIRC_OPS_DEFINE_H

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

/* A diagnostic at the node (none where c is NULL); returns false. */
bool infer_error(struct infer *c, enum diag_id id, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* The two dimensions can be the same: equal, or one is symbolic. */
bool dims_may_equal(const struct expr *a, const struct expr *b);
struct tensor *node_output(const struct node *n, int i);
/* One dimension of a numpy-style broadcast; NULL: they contradict. */
const struct expr *broadcast_dim(struct module *m, const struct expr *a,
				 const struct expr *b);
/* Input i, if it is there, has one of the types (enum op_types) and a rank in
 * [least, most], else a diagnostic. */
bool infer_form(struct infer *c, const struct node *n, int i, unsigned types,
		int least, int most);
/* The same for a scale or zero point: a scalar or a vector. `size`: of a
 * vector; NULL: 1. */
bool infer_param(struct infer *c, const struct node *n, int i, unsigned types,
		 const struct expr *size);
/* All inputs have the type of input 0, else a diagnostic. */
/* Input i has 8 bits, and input zero, where there is one, its type. */
bool infer_zero_point(struct infer *c, const struct node *n, int i, int zero);
bool infer_same_types(struct infer *c, const struct node *n);
/* The product of shape[from..to). */
const struct expr *shape_elems(struct module *m,
			       const struct expr *const *shape, int from,
			       int to);
/* Is e, written out, of a length that a person would read? What is longer
 * (x * x of x * x …, shared inside) would take forever to walk. */
bool expr_is_short(const struct expr *e);
/* The form in which equal dimensions are the same node; long ones stay. */
const struct expr *dim_normal(struct module *m, const struct expr *e);
/* Flags [0, ndim) from a list of axes, negative ones from the end. */
bool infer_axes_set(struct infer *c, const int64_t *axes, int n, int ndim,
		    bool *set);
/* The constant's elements as literals of its type, cached in t->elems (up to
 * KNOWN_ELEMS_MAX, integers and floats); false: not known. */
#define KNOWN_ELEMS_MAX 4096
bool tensor_known(struct module *m, struct tensor *t);
/* Sets elems of n's outputs where all inputs' are known (values.c). */
void infer_values(struct graph *g, struct node *n);

/* ---- definition (define.c) ---- */

/* Axes over a shape, named as a reader expects them for this rank:
 * i; i, j; i, j, k; n, c, h, w; n, c, d, h, w; i0, i1, … */
struct iter_var *define_shape_axes(struct define *c, int ndim,
				   const struct expr *const *shape);
/* Over the shape of a tensor of the graph. */
struct iter_var *define_axes(struct define *c, const struct tensor *t);
const char *axis_name(struct module *m, int rank, int d);
/* A reduction axis over dimension d of t, named as that dimension. */
struct iter_var define_reduce_axis(struct define *c, const struct te_tensor *t,
				   int d);
/* The variables of axes as expressions. */
const struct expr **axes_exprs(struct define *c, const struct iter_var *axes,
			       int n);
/* Those that belong to dimensions without a flag. */
const struct expr **kept_exprs(struct define *c,
			       const struct expr *const *index,
			       const bool *reduced, int ndim);
/* t at the point `index` of a result of `rank` dimensions and shape `shape`,
 * under numpy's broadcasting. */
const struct expr *define_broadcast(struct define *c, const struct te_tensor *t,
				    const struct expr *const *index,
				    const struct expr *const *shape, int rank);
/* Where to read a dimension `dim` that is broadcast to `result`. */
const struct expr *broadcast_index(struct module *m, const struct expr *dim,
				   const struct expr *result,
				   const struct expr *index);
/* te_compute, which finds by itself what the body loads: inputs of the node
 * and stages made before. The axes are not to be used again. */
struct te_tensor *define_stage(struct define *c, const char *name,
			       const char *tag, int n_axes,
			       struct iter_var *axes, const struct expr *body);
void define_stages(struct define *c, const char *const *names, const char *tag,
		   int n_axes, struct iter_var *axes,
		   const struct expr *const *bodies, int n,
		   struct te_tensor **out);
/* te_ordered_stores of the stage of out[0..n), which finds by itself what is
 * loaded. */
void define_ordered(struct define *c, struct te_tensor *const *out, int n,
		    struct iter_var *axes, int n_axes,
		    const struct te_store *stores, int n_stores);
/* Input i as a literal where it is a constant whose elements are all the
 * same, else NULL. */
const struct expr *define_literal(struct define *c, const struct node *n,
				  int i);
/* A literal of e's type. */
const struct expr *like(struct define *c, const struct expr *e, double v);
/* n elements as a number of type t, to divide a sum by. */
const struct expr *define_count(struct define *c, struct dtype t,
				const struct expr *count);
/* ONNX's Cast of one element: floats to integers with TO_INT, anything to
 * bool by comparison with 0. */
const struct expr *convert_to(struct define *c, struct dtype t,
			      const struct expr *e);
/* The same by a node with the attribute saturate: beyond the largest value of an
 * 8-bit float is that value, or what rounding gives if saturate is 0. */
const struct expr *saturate_to(struct define *c, const struct node *n,
			       struct dtype t, const struct expr *e);
/* A type by ONNX's number, as in Cast's attribute `to`. */
bool dtype_of_onnx(int64_t number, struct dtype *t);
/* t itself, or a stage that casts it to the given type. */
struct te_tensor *define_narrow(struct define *c, struct te_tensor *t,
				struct dtype type);

/* ---- reductions (reduce.c) ---- */

/* The type to add up in: f32 for the narrower floats. */
struct dtype accumulator_type(struct dtype t);
/* Max or min that starts from an infinity, where t has one; NaN if one is. */
const struct reducer *reducer_extreme(struct module *m, struct dtype t,
				      bool max);
/* The largest of what is no NaN; NaN of nothing else. Neutral: NaN, or the lowest
 * integer. */
const struct reducer *reducer_largest(struct module *m, struct dtype t);
/* The same of (value, index) pairs, of equal ones that of the lowest index.
 * Neutral: what is neutral there, with the largest index. */
const struct reducer *reducer_first_largest(struct module *m, struct dtype t,
					    struct dtype index_type);
/* Of (value, index) pairs the one with the largest (smallest) value: a NaN is
 * that at index 0, and nowhere else. Indices are 0 and above, and one of the
 * pairs has 0. */
const struct reducer *reducer_arg(struct module *m, struct dtype t,
				  struct dtype index_type, bool max, bool last);

struct reduce_plan {
	struct iter_var *axes; /* of the result */
	int n_axes;
	struct iter_var *over; /* reduced */
	int n_over;
	const struct expr **at;   /* where to read t */
	const struct expr *count; /* elements that make one */
};

/* The loops of a reduction of t along the flagged dimensions; with keep they
 * stay in the result with extent 1. */
struct reduce_plan reduce_plan(struct define *c, const struct te_tensor *t,
			       const bool *reduced, bool keep);
/* The stage of a reducer_arg: returns the indices, and the values in *best
 * if that is not NULL. */
struct te_tensor *define_arg_stage(struct define *c, const struct reducer *r,
				   const struct expr *value,
				   const struct expr *index,
				   struct iter_var *axes, int n_axes,
				   struct iter_var *over, int n_over,
				   struct te_tensor **best);

/* |x|^p and its inverse for a sum, plain where p is 1 or 2 (pool.c). */
const struct expr *power_of_abs(struct define *c, const struct expr *x,
				double p);
const struct expr *root_of_sum(struct define *c, const struct expr *sum,
			       double p);
/* Input i, a scale or zero point: one element, or a vector read at `index`
 * (NULL: only one is possible). Absent or i negative: 0 of type t. */
const struct expr *define_param(struct define *c, const struct node *n, int i,
				struct te_tensor *const *in,
				const struct expr *index, struct dtype t);
/* Sums of products of integers in i32, zero points subtracted (matmul.c,
 * conv.c). The numbers say which inputs are meant; NULL on mistakes. */
struct te_tensor *define_integer_product(struct define *c, const struct node *n,
					 struct te_tensor *const *in,
					 int second, int zero_a, int zero_b);
struct conv_inputs {
	int weights, x_zero, w_zero; /* zeros: -1 for none */
	const char *outside; /* attribute with what x is in the padding; then
			      * nothing is subtracted. NULL: x_zero */
};
struct te_tensor *define_integer_conv(struct define *c, const struct node *n,
				      const struct conv_inputs *which,
				      struct te_tensor *const *in);

#endif
