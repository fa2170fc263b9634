/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays (gen/array) as values of programs. Private to gen/program/. */
#ifndef TIRC_NUMPY_H
#define TIRC_NUMPY_H

#include "array.h"
#include "library.h"

/* tvm.cpu(0) and others: only names, as the interpreter stands for each. */
struct pv_device {
	const char *name;
	int64_t id;
};

/* tvm.nd.array: an array that functions that are built take. */
struct pv_nd {
	struct array *array; /* dense */
	struct pv_device device;
	/* a function that took too long should have written it: what its elements
	 * are, for messages; NULL if they are known */
	const char *unknown;
};

/* What remains of the program's limits, for functions of gen/array. */
struct array_work np_work(struct eval *ev);
/* Counts the steps of the work, and reports its error. Returns whether there is
 * none. */
bool np_done(struct eval *ev, struct py_span at, const struct array_work *w);
/* The same; sets *out to the array x, which is NULL after an error. */
bool np_result(struct eval *ev, struct py_span at, const struct array_work *w,
	       struct array *x, struct pval *out);

struct pval pv_array(struct array *x);
struct pval pv_sizes(struct eval *ev, const struct array *x);
/* Sets *out to the value as an array: an array, a number, or a list of those. A
 * number of Python is weak. False after an error. */
bool np_value(struct eval *ev, struct py_span at, const struct pval *v,
	      struct array **out);
/* A number of Python with the value of element i. */
struct pval np_python(struct eval *ev, const struct array *x, int64_t i);
/* The number of an array with one element. False if it has more. */
bool np_number(const struct pval *v, struct py_number *out);

/* -- arguments of calls */
bool np_arg(struct call *c, int i, struct array **out);
/* For a row that is a function of numpy and a method of arrays: the array, argument
 * 0 or self; *first: the index of the argument behind it. */
bool np_subject(struct call *c, struct array **x, int *first);
/* A type, in numpy's meaning: float is float64. If it is absent, *out stays. */
bool np_arg_type(struct call *c, int i, struct dtype *out);
/* A shape or axes: an int or a list of ints; at most ARRAY_MAX_RANK. */
bool np_arg_sizes(struct call *c, int i, int64_t *sizes, int *n);
/* An axis of an array with n dimensions; negative from the end. */
bool np_arg_axis(struct call *c, int i, int n, int *axis);
bool np_arg_double(struct call *c, int i, double *out);

/* -- operators and elements: of struct kind_ops (library.h) */
bool np_operator(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool np_negated(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
/* x @ y */
bool np_product(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, struct pval *out);
/* x op= y, in the memory of the array x unless it is a scalar of numpy. */
bool np_augment(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, const struct pval *y, struct pval *out);
bool np_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out);
bool np_set_element(struct eval *ev, struct py_span at, const struct pval *of,
		    const struct pval *index, const struct pval *v);
bool np_items(struct eval *ev, struct py_span at, const struct pval *v,
	      struct pval **items, int *n);
bool np_truth(struct eval *ev, struct py_span at, const struct pval *v,
	      bool *out);
bool np_length(const struct pval *v, int64_t *out);
bool np_operand(struct eval *ev, struct py_span at, const struct pval *v,
		struct typed *out);

#define NAME(in, kind, name, params, function) name_fn function;
#include "numpy.def"
#undef NAME

extern const struct library numpy_library;
extern const struct kind_ops array_ops;

#endif
