/* SPDX-License-Identifier: Apache-2.0 */
/* What a library of programs (tensor expressions, arrays, models, …) gives to
 * the evaluator: a table of its names, and functions for its kinds of values.
 * The evaluator includes no library; gen/program/libraries.c lists them. */
#ifndef TIRC_LIBRARY_H
#define TIRC_LIBRARY_H

#include "eval.h"
#include "program_parts.h"

/* The rows of a library's table of names, a .def file:
 *
 * FUNCTION(IN_… modules, name, parameters, function)
 * METHOD(kind of value, name, parameters, function)
 * ATTRIBUTE(kind of value, name, function): called when a program reads it
 * ATTRIBUTE_OF(IN_… modules, name, function): an attribute of modules
 *
 * Parameters have the names of TVM. "x?" is optional; "*x" and "**x" take the
 * remaining arguments. A function that has several rows finds out by the name
 * in the row which one is called. All four macros expand to NAME(modules, kind,
 * name, parameters, function). The library's header defines NAME as the
 * declaration of the function; the file with its struct library defines it as
 * NAME_ROW. */
#define FUNCTION(in, name, params, function)                                   \
	NAME(in, MISSING, name, params, function)
#define METHOD(kind, name, params, function)                                   \
	NAME(0, kind, name, params, function)
#define ATTRIBUTE(kind, name, function) NAME(0, kind, name, NULL, function)
#define ATTRIBUTE_OF(in, name, function) NAME(in, MISSING, name, NULL, function)
#define NAME_ROW(in, kind, name, params, function)                             \
	{ in, PV_##kind, name, params, function },

struct library {
	const struct name_row *rows;
	int n_rows;
	/* Names from further tables of the library; NULL if it has no further
	 * tables. find() returns the row of a name in the modules of `in`, or,
	 * if `in` is 0, of the values of kind `of`: a row in the arena, or NULL
	 * if no table has the name. list() appends all such names. */
	const struct name_row *(*find)(struct eval *ev, uint64_t in,
				       enum pv_kind of, const char *name);
	void (*list)(struct eval *ev, uint64_t in, enum pv_kind of,
		     struct pv_names *list);
};

/* The functions for the values of a kind. A function that is NULL: the
 * operation is an error for these values, or does what the function's comment
 * says. Functions that return bool return false after an error at the position
 * `at`. */
struct kind_ops {
	/* Appends the text that print() shows for v. repr: appends the text
	 * that repr() returns, as print() shows v inside of a list. Calls
	 * eval_leave_out() for a value that tirc does not compute. */
	void (*text)(struct eval *ev, const struct pval *v, bool repr,
		     struct strbuf *out);
	/* The name of the value's class. If the function is NULL, the name is
	 * in the table of lib_class.c. */
	const char *(*class_name)(struct eval *ev, const struct pval *v);
	/* Is the value an instance of the class `name`? */
	bool (*is_instance)(const struct pval *v, const char *name);
	bool (*truth)(struct eval *ev, struct py_span at, const struct pval *v,
		      bool *out);
	/* len(v). Returns false, without an error, if the value has no length. */
	bool (*length)(const struct pval *v, int64_t *out);
	/* Sets *out to the number that the value stands for. Returns false,
	 * without an error, if it is not a number. */
	bool (*number)(const struct pval *v, struct py_number *out);
	/* Sets *out to the value v as an operand of an expression. Returns
	 * false after an error. */
	bool (*operand)(struct eval *ev, struct py_span at,
			const struct pval *v, struct typed *out);
	bool (*items)(struct eval *ev, struct py_span at, const struct pval *v,
		      struct pval **items, int *n);
	bool (*subscript)(struct eval *ev, struct py_span at,
			  const struct pval *of, const struct pval *index,
			  struct pval *out);
	bool (*set_element)(struct eval *ev, struct py_span at,
			    const struct pval *of, const struct pval *index,
			    const struct pval *v);
	bool (*call)(struct eval *ev, struct py_span at, const struct pval *f,
		     const struct call_args *args, struct pval *out);
	/* A `with` statement calls enter() before its block, which sets *out to
	 * the value of the name after `as`, and leave() after the block. */
	bool (*enter)(struct eval *ev, struct py_span at, const struct pval *v,
		      struct pval *out);
	void (*leave)(struct eval *ev, const struct pval *v);
	/* x op y, where one operand is of this kind and the other one of any
	 * kind. The next members: product is x @ y; augment sets *out to the
	 * value that `x op= y` assigns to x. */
	bool (*binary)(struct eval *ev, struct py_span at, enum py_operator op,
		       const struct pval *x, const struct pval *y,
		       struct pval *out);
	bool (*unary)(struct eval *ev, struct py_span at, enum py_operator op,
		      const struct pval *x, struct pval *out);
	bool (*product)(struct eval *ev, struct py_span at,
			const struct pval *x, const struct pval *y,
			struct pval *out);
	bool (*augment)(struct eval *ev, struct py_span at, enum py_operator op,
			const struct pval *x, const struct pval *y,
			struct pval *out);
};

struct libraries {
	const struct library *const *list;
	int n;
	const struct kind_ops *kinds[PV_KIND_COUNT]; /* NULL: no functions */
};

/* The functions for the values of a kind; never NULL. */
const struct kind_ops *ops_of(const struct eval *ev, enum pv_kind kind);
/* Calls the function that has the name of the called function c in another
 * module, `in`. Returns false after an error. */
bool call_namesake(struct call *c, uint64_t in, struct pval *out);

#endif
