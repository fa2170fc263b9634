/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers with the meaning of NumPy's: types and their promotion (those
 * of NumPy 2), broadcasting, views, reductions, and the text that print shows.
 *
 * Every function takes a struct array_work (the work) as its first argument. A
 * function that makes an array returns NULL after an error, and sets
 * work->error to "problem; remedy". Results are in the work's arena, which is
 * bounded, as is the number of elements that are computed. */
#ifndef TIRC_ARRAY_H
#define TIRC_ARRAY_H

#include "arena.h"
#include "dtype.h"
#include "py_number.h"

enum { ARRAY_MAX_RANK = 32 };

/* A number of Python beside an array takes the array's type: of an int any type of
 * numbers, of a float any type of floats. */
enum array_weak {
	ARRAY_STRONG,
	ARRAY_WEAK_BOOL,
	ARRAY_WEAK_INT,
	ARRAY_WEAK_FLOAT
};

struct array {
	struct dtype type;
	int ndim;
	int64_t *shape;
	/* the strides, in elements; 0 along a dimension whose elements are
	 * repeated */
	int64_t *strides;
	void *data;   /* views share the data of their array */
	int64_t room; /* the elements of data */
	/* the offset of element [0, …, 0] from `data`, in elements */
	int64_t offset;
	/* one number, as a[0] or numpy.float32(1): not an array of rank 0 */
	bool scalar;
	enum array_weak weak;
};

struct array_work {
	struct arena *a;
	size_t most_bytes; /* the number of bytes that the arena may use */
	int64_t elems;     /* the number of elements that are computed so far */
	int64_t most_elems;
	const char *error;
};

/* Sets the error. Returns NULL. */
struct array *array_fail(struct array_work *w, const char *fmt, ...)
	TIRC_PRINTF(2, 3);
/* Counts n computed elements. False after an error if they are too many. */
bool array_count(struct array_work *w, int64_t n);

/* -- creation (array.c) */

/* An array of zeros. A negative size is an error. */
struct array *array_new(struct array_work *w, struct dtype type, int ndim,
			const int64_t *shape);
/* A scalar of the type with the value v. */
struct array *array_scalar(struct array_work *w, struct dtype type,
			   union number v);
/* The number start + i * step for each i < n, in the type. */
struct array *array_range(struct array_work *w, struct dtype type, int64_t n,
			  double start, double step);
int64_t array_elems(const struct array *x);
/* Are the elements in row-major order without gaps? */
bool array_is_dense(const struct array *x);
/* array_load: the element at position `place` of x->data. array_bytes: the
 * bytes of n elements from there on. If they are outside of the data, that is a
 * bug of tirc, and tirc is ended. */
union number array_load(const struct array *x, int64_t place);
void *array_bytes(const struct array *x, int64_t place, int64_t n);
/* An element by its number in row-major order. */
union number array_get(const struct array *x, int64_t element);
void array_set(struct array *x, int64_t element, union number v);
/* An element as a float; integers are rounded. */
double array_float(const struct array *x, int64_t element);
/* The value v of type t as a float, and the float v as a value of type t; integers
 * are rounded and wrap. */
double number_double(struct dtype t, union number v);
union number number_of_double(struct dtype t, double v);

/* -- types (array_type.c) */

/* The type to which operands are converted, by NumPy's rules. */
struct dtype array_common(const struct array *x, const struct array *y);
/* The type in which a function such as exp computes elements of type t: t if it
 * is a float, else the float to which NumPy converts t. */
struct dtype array_float_type(struct dtype t);

/* -- views and copies (array_index.c) */

/* A dense copy in row-major order, of another type where `type` is one. */
struct array *array_cast(struct array_work *w, const struct array *x,
			 struct dtype type);
/* Copies the elements of y to x, to whose shape and type it is converted. False
 * after an error. */
bool array_store(struct array_work *w, struct array *x, const struct array *y);
struct array *array_reshape(struct array_work *w, const struct array *x,
			    int ndim, const int64_t *shape);
/* axes: a permutation; NULL reverses the dimensions. */
struct array *array_transpose(struct array_work *w, const struct array *x,
			      const int *axes);
struct array *array_broadcast(struct array_work *w, const struct array *x,
			      int ndim, const int64_t *shape);
/* A view with the dimensions of length 1 that `drop` names removed. */
struct array *array_squeeze(struct array_work *w, const struct array *x,
			    const bool *drop);
struct array *array_expand(struct array_work *w, const struct array *x,
			   int axis);

/* One part of an index in brackets: a[1:3, 0] has two. */
struct array_index {
	enum { INDEX_AT, INDEX_RANGE, INDEX_NEW, INDEX_REST, INDEX_LIST } kind;
	int64_t start, stop, step; /* RANGE */
	/* INDEX_RANGE: does the range state its start, its stop? A range
	 * without them extends to the ends of the dimension. */
	bool has_start, has_stop;
	int64_t at;               /* AT; negative: from the end */
	const struct array *list; /* LIST: indices, or bools of a dimension */
};

/* The part of x that the indices select: a view, or a copy if a list is among
 * them. */
struct array *array_select(struct array_work *w, const struct array *x,
			   const struct array_index *index, int n);
/* Stores y in that part of x. False after an error. */
bool array_assign(struct array_work *w, struct array *x,
		  const struct array_index *index, int n,
		  const struct array *y);
/* "(2,3)", in the arena. */
const char *array_shape_text(struct arena *a, int ndim, const int64_t *shape);
/* Joins arrays along their dimension `axis`; with `stack`, along a new
 * dimension at this position. */
struct array *array_join(struct array_work *w, struct array *const *list, int n,
			 int axis, bool stack);

/* -- element by element (array_math.c) */

enum array_op {
#define BINARY(id, name, ...) ARRAY_##id,
#define UNARY(id, name, kind, value) ARRAY_##id,
#include "array_ops.def"
#undef BINARY
#undef UNARY
	ARRAY_OP_COUNT
};

/* The operator with this name in NumPy, or ARRAY_OP_COUNT. */
enum array_op array_op_find(const char *name);
/* Python's operator between arrays, or ARRAY_OP_COUNT. */
enum array_op array_op_of(enum py_operator op);
/* Compares two numbers of type t: -1 if a < b, 0 if they are equal, 1 if a > b;
 * 2 if one of them is a NaN. */
int array_order(struct dtype t, union number a, union number b);
/* Sets shape to that to which both arrays broadcast. False after an error. */
bool array_common_shape(struct array_work *w, const struct array *x,
			const struct array *y, int64_t *shape, int *ndim);
struct array *array_binary(struct array_work *w, enum array_op op,
			   const struct array *x, const struct array *y);
struct array *array_unary(struct array_work *w, enum array_op op,
			  const struct array *x);
/* x where the condition holds, else y. */
struct array *array_where(struct array_work *w, const struct array *condition,
			  const struct array *x, const struct array *y);

/* -- reductions (array_reduce.c) */

enum array_reduction {
	REDUCE_SUM,
	REDUCE_PROD,
	REDUCE_MAX,
	REDUCE_MIN,
	REDUCE_MEAN,
	REDUCE_VAR,
	REDUCE_STD,
	REDUCE_ALL,
	REDUCE_ANY,
	REDUCE_ARGMAX,
	REDUCE_ARGMIN,
	ARRAY_REDUCTION_COUNT
};

/* Reduces the dimensions that `over` names. Sums of floats add pairs of blocks as
 * NumPy does. */
struct array *array_reduce(struct array_work *w, enum array_reduction what,
			   const struct array *x, const bool *over,
			   bool keepdims);
struct array *array_cumulate(struct array_work *w, const struct array *x,
			     int axis, bool product);
/* The sorted elements along an axis, or with `places` their former indices. */
struct array *array_sort(struct array_work *w, const struct array *x, int axis,
			 bool places);

/* -- products (array_product.c): floats are added in double and rounded once, so
 * the last bits of a product may differ from those of NumPy with a BLAS */

struct array *array_matmul(struct array_work *w, const struct array *x,
			   const struct array *y);
/* numpy.dot: sums over the last dimension of x and the one before the last of y
 * (the only one if y has rank 1); multiplies if x or y is a scalar. */
struct array *array_dot(struct array_work *w, const struct array *x,
			const struct array *y);

/* -- text (array_text.c) */

/* Appends the text that Python's print() shows for x; with `repr`, the text of
 * repr(): "array([…], dtype=float32)". */
void array_text(const struct array *x, bool repr, struct strbuf *out);

#endif
