/* SPDX-License-Identifier: Apache-2.0 */
/* What a library of programs (tensor expressions, arrays, models, …) gives to the
 * evaluator: its names, and the meaning of its kinds of values. The evaluator
 * includes no library; gen/program/libraries.c lists them. */
#ifndef TIRC_LIBRARY_H
#define TIRC_LIBRARY_H

#include "eval.h"
#include "program_parts.h"

/* The rows of a library's table of names, a .def file:
 *
 * FUNCTION(IN_… modules, name, parameters, function)
 * METHOD(kind of value, name, parameters, function)
 * ATTRIBUTE(kind of value, name, function): read without a call
 * ATTRIBUTE_OF(IN_… modules, name, function): the same, of modules
 *
 * Parameters have the names of TVM; "x?" is optional, "*x" and "**x" take the
 * remaining arguments. A function in several rows distinguishes them by the name in
 * the row. All are NAME(modules, kind, name, parameters, function), which the
 * library's header defines as the declaration of the function, and the file with
 * its struct library as NAME_ROW. */
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
	/* For names that other tables have, or NULL. find: the row of a name in
	 * the modules, or (in 0) of a kind of value, in the arena; NULL if there is
	 * none. list appends the names. */
	const struct name_row *(*find)(struct eval *ev, uint64_t in,
				       enum pv_kind of, const char *name);
	void (*list)(struct eval *ev, uint64_t in, enum pv_kind of,
		     struct pv_names *list);
};

/* What the evaluator does with the values of a kind; NULL: they do not have it.
 * Functions that return bool return false after an error at the place. */
struct kind_ops {
	/* Appends the text that print shows; repr: as an element of a list. A value
	 * that is not known calls eval_leave_out(). */
	void (*text)(struct eval *ev, const struct pval *v, bool repr,
		     struct strbuf *out);
	/* The name of its class; NULL: the one in lib_class.c. */
	const char *(*class_name)(struct eval *ev, const struct pval *v);
	/* Is it of the class with this name? */
	bool (*is_instance)(const struct pval *v, const char *name);
	bool (*truth)(struct eval *ev, struct py_span at, const struct pval *v,
		      bool *out);
	/* False, without an error, if there is none. */
	bool (*length)(const struct pval *v, int64_t *out);
	/* The number that the value is. False, without an error, if it is none. */
	bool (*number)(const struct pval *v, struct py_number *out);
	/* The value as an operand of an expression. */
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
	/* The value is entered by `with`, which assigns *out, and left. */
	bool (*enter)(struct eval *ev, struct py_span at, const struct pval *v,
		      struct pval *out);
	void (*leave)(struct eval *ev, const struct pval *v);
	/* x op y: one operand is of this kind, the other of any kind.
	 * product: x @ y. augment: *out is what `x op= y` assigns to x. */
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
	const struct kind_ops *kinds[PV_KIND_COUNT]; /* NULL: has nothing */
};

/* Never NULL. */
const struct kind_ops *ops_of(const struct eval *ev, enum pv_kind kind);
/* Calls the function of the same name in another module. */
bool call_namesake(struct call *c, uint64_t in, struct pval *out);

#endif
