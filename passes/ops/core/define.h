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

/* A diagnostic at the node (none where c is NULL); returns false. */
bool infer_error(struct infer *c, enum diag_id id, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
struct tensor *node_output(const struct node *n, int i);
/* Checks that input i, if present, has one of the types (enum op_types) and a
 * rank in [least, most]; else reports and returns false. */
bool infer_form(struct infer *c, const struct node *n, int i, unsigned types,
		int least, int most);
/* The same for a scale or zero point, a scalar or a vector of `size` elements
 * (NULL: 1). */
bool infer_param(struct infer *c, const struct node *n, int i, unsigned types,
		 const struct expr *size);
/* Checks that the elements of input i, a table of positions that kernels follow,
 * are constant integers in [low, high), as the importer makes them: a partition
 * may have others. */
bool infer_positions(struct infer *c, const struct node *n, int i, int64_t low,
		     int64_t high);
/* The same of other integers; what: "exponents". */
bool infer_numbers(struct infer *c, const struct node *n, int i,
		   const char *what, int64_t low, int64_t high);
/* The node of that operator that computes t, else NULL. */
const struct node *made_by(const struct tensor *t, const char *domain,
			   const char *op_type);
/* Element k of a constant of integers. */
int64_t value_int(const struct value *v, int64_t k);
/* Checks that input i is of strings: the last dimension is that of their bytes, of
 * which there is at least one, as kernels read the first one of each string. */
bool infer_strings(struct infer *c, const struct node *n, int i, int least,
		   int most);
/* Checks that input i has `size` elements in dimension d. */
bool infer_size_of(struct infer *c, const struct node *n, int i, int d,
		   int64_t size);
/* Checks that input i has 8 bits, and that the input numbered zero, if present,
 * has its type. */
bool infer_zero_point(struct infer *c, const struct node *n, int i, int zero);
/* Checks that all inputs have the type of input 0. */
bool infer_same_types(struct infer *c, const struct node *n);
/* Output 0 has the type and the shape of input 0. */
void infer_like_input(struct infer *c, struct node *n);
/* The product of shape[from..to). */
const struct expr *shape_elems(struct module *m,
			       const struct expr *const *shape, int from,
			       int to);
/* Is e short when printed? An expression like x * x with a shared x may be so
 * long that walking it as a tree takes forever. */
bool expr_is_short(const struct expr *e);
/* The normal form, in which equal dimensions are the same node; long
 * expressions are not changed. */
const struct expr *dim_normal(struct module *m, const struct expr *e);
/* Sets set[0..ndim) from a list of axes; negative axes count from the end. */
bool infer_axes_set(struct infer *c, const int64_t *axes, int n, int ndim,
		    bool *set);
/* Sets t->elems to the constant's elements as literals of its type, for up to
 * KNOWN_ELEMS_MAX integers or floats; false: not known. */
#define KNOWN_ELEMS_MAX 4096
bool tensor_known(struct module *m, struct tensor *t);
/* values.c: sets elems of n's outputs if those of all inputs are known. */
void infer_values(struct graph *g, struct node *n);

/* ---- relations of sizes (relations.c) ---- */

/* Are the two dimensions equal? Where they may be and it is not proven, the entry
 * function checks it. c NULL: it is noted already. */
bool dims_equal(struct infer *c, const struct expr *a, const struct expr *b);
/* Is a at most b? The entry function checks it where it is not proven. */
bool dims_at_most(struct infer *c, const struct expr *a, const struct expr *b);
/* Is dim, of an input that broadcasts to the result, 1 or the result's? The entry
 * function checks it where it is not proven. */
bool infer_broadcasts_to(struct infer *c, const struct expr *dim,
			 const struct expr *result);
/* Is the size a multiple of the other, which is positive? The entry function checks
 * both where they are not proven. */
bool dim_is_multiple(struct infer *c, const struct expr *size,
		     const struct expr *of);
/* A size must not be negative: the entry function checks it where it is not
 * proven. False after reporting that it always is. */
bool infer_not_negative(struct infer *c, const struct expr *size);
/* A kernel reads an element of a dimension of that size, which is not a constant, for
 * each element of a result: the dimension must not be empty unless the result is. The
 * entry function checks it where it is not proven. */
void infer_reads(struct infer *c, const struct expr *size, int ndim,
		 const struct expr *const *result);
/* Can dimension d, of that size, give its elements to the result's? As
 * infer_reads(), of a constant size too. */
bool infer_can_fill(struct infer *c, int d, const struct expr *size,
		    const struct expr *result);
/* The result of broadcasting two dimensions as numpy does; NULL: they
 * contradict. The entry function checks what it relies on. */
const struct expr *infer_broadcast_dim(struct infer *c, struct module *m,
				       const struct expr *a,
				       const struct expr *b);

/* ---- definition (define.c) ---- */

/* Axes over a shape, named as a reader expects them for this rank:
 * i; i, j; i, j, k; n, c, h, w; n, c, d, h, w; i0, i1, … */
struct iter_var *define_shape_axes(struct define *c, int ndim,
				   const struct expr *const *shape);
/* Axes over the shape of a tensor of the graph. */
struct iter_var *define_axes(struct define *c, const struct tensor *t);
const char *axis_name(struct module *m, int rank, int d);
/* A reduction axis over dimension d of t, named as that dimension. */
struct iter_var define_reduce_axis(struct define *c, const struct te_tensor *t,
				   int d);
/* The variables of axes as expressions. */
const struct expr **axes_exprs(struct define *c, const struct iter_var *axes,
			       int n);
/* The indices of the dimensions without a flag. */
const struct expr **kept_exprs(struct define *c,
			       const struct expr *const *index,
			       const bool *reduced, int ndim);
/* The element of t for the point `index` of a result of `rank` dimensions and
 * shape `shape`, broadcast as by numpy. */
const struct expr *define_broadcast(struct define *c, const struct te_tensor *t,
				    const struct expr *const *index,
				    const struct expr *const *shape, int rank);
/* The index into a dimension `dim` that is broadcast to `result`. */
const struct expr *broadcast_index(struct module *m, const struct expr *dim,
				   const struct expr *result,
				   const struct expr *index);
/* te_compute with the stage's inputs found from the loads of the body: inputs
 * of the node and earlier stages. The axes must not be used again. */
struct te_tensor *define_stage(struct define *c, const char *name,
			       const char *tag, int n_axes,
			       struct iter_var *axes, const struct expr *body);
void define_stages(struct define *c, const char *const *names, const char *tag,
		   int n_axes, struct iter_var *axes,
		   const struct expr *const *bodies, int n,
		   struct te_tensor **out);
/* te_ordered_stores over the stage of out[0..n), with the inputs found from the
 * loads. */
void define_ordered(struct define *c, struct te_tensor *const *out, int n,
		    struct iter_var *axes, int n_axes,
		    const struct te_store *stores, int n_stores);
/* te_ordered_phases in the same way. */
void define_phases(struct define *c, struct te_tensor *const *out, int n,
		   struct iter_var *axes, int n_axes,
		   const struct te_phase *phases, int n_phases);
/* Input i as a literal if it is a constant with equal elements, else NULL. */
const struct expr *define_literal(struct define *c, const struct node *n,
				  int i);
/* An integer e of data, which may have any value, brought into [low, high], as an
 * index of high's type; low is not above high. */
const struct expr *define_clamped(struct define *c, const struct expr *e,
				  const struct expr *low,
				  const struct expr *high);
/* A literal with e's type. */
const struct expr *like(struct define *c, const struct expr *e, double v);
/* exp(e) - 1 */
const struct expr *define_exp_minus_one(struct define *c, const struct expr *e);
/* log(1 + exp(e)), without overflow of exp */
const struct expr *define_softplus(struct define *c, const struct expr *e);
/* e, or alpha * (exp(e) - 1) where e is negative */
const struct expr *define_elu(struct define *c, const struct expr *alpha,
			      const struct expr *e);
/* shape.c: input 0 + i * the input numbered delta */
bool define_range_by(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out,
		     int delta);
/* The number of elements as a value of type t, to divide a sum by. */
const struct expr *define_count(struct define *c, struct dtype t,
				const struct expr *count);
/* ONNX's Cast of one element: floats to integers by TO_INT, any type to bool by
 * comparison with 0. */
const struct expr *convert_to(struct define *c, struct dtype t,
			      const struct expr *e);
/* The same for a node with the attribute saturate: a value beyond the largest
 * 8-bit float becomes that float, or the rounded value if saturate is 0. */
const struct expr *saturate_to(struct define *c, const struct node *n,
			       struct dtype t, const struct expr *e);
/* t itself, or a stage that casts it to the given type. */
struct te_tensor *define_narrow(struct define *c, struct te_tensor *t,
				struct dtype type);

/* ---- reductions (reducers.c) ---- */

/* The type of accumulators: f32 for narrower floats. */
struct dtype accumulator_type(struct dtype t);
/* Max or min with an infinity as the neutral element, if t has one; NaN if an
 * element is NaN. */
const struct reducer *reducer_extreme(struct module *m, struct dtype t,
				      bool max);
/* The largest element that is not NaN; NaN if all are. The neutral element is
 * NaN, or the lowest integer. */
const struct reducer *reducer_largest(struct module *m, struct dtype t);
/* The same for (value, index) pairs; of equal values the one with the lowest
 * index. The neutral element has the same value, and the largest index. */
const struct reducer *reducer_first_largest(struct module *m, struct dtype t,
					    struct dtype index_type);
/* The (value, index) pair with the largest (smallest) value; of equal values
 * the first, or the last. A NaN at index 0 is the result; other NaNs are
 * ignored. Indices are not negative, and one pair has index 0. */
const struct reducer *reducer_arg(struct module *m, struct dtype t,
				  struct dtype index_type, bool max, bool last);

struct reduce_plan {
	struct iter_var *axes; /* axes of the result */
	int n_axes;
	struct iter_var *over; /* reduced axes */
	int n_over;
	const struct expr **at;   /* index into t */
	const struct expr *count; /* number of elements of one result */
};

/* The axes of a reduction of t along the flagged dimensions; with keep, the
 * result has these with extent 1. */
struct reduce_plan reduce_plan(struct define *c, const struct te_tensor *t,
			       const bool *reduced, bool keep);
/* Makes the stage of a reducer_arg. Returns the indices, and the values in
 * *best unless that is NULL. */
struct te_tensor *define_arg_stage(struct define *c, const struct reducer *r,
				   const struct expr *value,
				   const struct expr *index,
				   struct iter_var *axes, int n_axes,
				   struct iter_var *over, int n_over,
				   struct te_tensor **best);

/* |x|^p, and the p-th root of a sum, without powers if p is 1 or 2. */
const struct expr *power_of_abs(struct define *c, const struct expr *x,
				double p);
const struct expr *root_of_sum(struct define *c, const struct expr *sum,
			       double p);
/* An element of input i, a scale or zero point: its only one, or the one at
 * `index` of a vector (NULL: it has one element). 0 of type t if the input is
 * absent or i is negative. */
const struct expr *define_param(struct define *c, const struct node *n, int i,
				struct te_tensor *const *in,
				const struct expr *index, struct dtype t);
/* Integer products summed in i32 after subtracting zero points (matmul.c,
 * conv.c). The numbers say which inputs are the operands and zero points; NULL
 * on mistakes. */
struct te_tensor *define_integer_product(struct define *c, const struct node *n,
					 struct te_tensor *const *in,
					 int second, int zero_a, int zero_b);
struct conv_inputs {
	int weights, x_zero, w_zero; /* numbers of inputs; zeros: -1: none */
	const char *outside; /* the attribute with x's value in the padding, if
			      * no zero point is subtracted; NULL: the padding
			      * is x_zero */
};
struct te_tensor *define_integer_conv(struct define *c, const struct node *n,
				      const struct conv_inputs *which,
				      struct te_tensor *const *in);

#endif
