/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays (gen/array) as values of programs. Private to gen/program/. */
#ifndef TIRC_NUMPY_H
#define TIRC_NUMPY_H

#include "array.h"
#include "library.h"

/* The value of tvm.cpu(0) and the like. A device is only a name, because the
 * interpreter runs all functions. */
struct pv_device {
	const char *name;
	int64_t id;
};

/* The value of tvm.nd.array: an array that built functions take as an
 * argument. */
struct pv_nd {
	struct array *array; /* an array whose elements have no gaps */
	struct pv_device device;
	/* A text about the array's elements, for messages, if a function that
	 * should have written them was given up because it takes too long.
	 * NULL: the elements are known. */
	const char *unknown;
};

/* The part of the program's limits that is left, for functions of gen/array. */
struct array_work np_work(struct eval *ev);
/* Counts the steps that the work w took. Returns false after an error, either
 * of the work or because no steps are left. */
bool np_done(struct eval *ev, struct py_span at, const struct array_work *w);
/* Does the same as np_done(), and also sets *out to the array x. Returns false,
 * too, if x is NULL. */
bool np_result(struct eval *ev, struct py_span at, const struct array_work *w,
	       struct array *x, struct pval *out);

struct pval pv_array(struct array *x);
struct pval pv_sizes(struct eval *ev, const struct array *x);
/* Converts a value to an array: an array, a number, or a list of these. A
 * number of Python takes the type of the other operand (array_weak). Returns
 * false after an error. */
bool np_value(struct eval *ev, struct py_span at, const struct pval *v,
	      struct array **out);
/* Element i of the array as a number of Python. */
struct pval np_python(struct eval *ev, const struct array *x, int64_t i);
/* Sets *out to the element of an array with one element. Returns false if the
 * array has more. */
bool np_number(const struct pval *v, struct py_number *out);

/* -- arguments of calls */
bool np_arg(struct call *c, int i, struct array **out);
/* For a function in C that serves both a function of numpy and a method of
 * arrays: sets *x to the array, which is argument 0 or self, and *first to the
 * index of the next argument. Returns false after an error. */
bool np_subject(struct call *c, struct array **x, int *first);
/* Reads a type with numpy's meaning: float is float64. If the argument is
 * absent, *out does not change. Returns false after an error. */
bool np_arg_type(struct call *c, int i, struct dtype *out);
/* Reads a shape or axes: an int or a list of at most ARRAY_MAX_RANK ints.
 * Returns false after an error. */
bool np_arg_sizes(struct call *c, int i, int64_t *sizes, int *n);
/* Reads an axis of an array with n dimensions; a negative one counts from the
 * end. Returns false after an error. */
bool np_arg_axis(struct call *c, int i, int n, int *axis);
bool np_arg_double(struct call *c, int i, double *out);

/* -- operators and elements: functions of struct kind_ops (library.h) -- */
bool np_operator(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool np_negated(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
/* Evaluates x @ y. */
bool np_product(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, struct pval *out);
/* Evaluates x op= y in the memory of the array x; a scalar of numpy gets a new
 * value. Returns false after an error. */
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
