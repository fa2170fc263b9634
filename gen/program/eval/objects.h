/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of programs, their objects, and exceptions. Private to gen/program/. */
#ifndef TIRC_OBJECTS_H
#define TIRC_OBJECTS_H

#include "eval.h"
#include "program_parts.h"

/* A class that the program defines, or a class of Python's exceptions. */
struct pv_class {
	const char *name;
	VEC(const struct pv_class *) bases;
	struct scope *names; /* the methods and attributes of the class */
	bool is_exception;
};

struct pv_object {
	const struct pv_class *of;
	/* the attributes that the object itself has; this scope has no
	 * parent */
	struct scope names;
};

/* A function that is bound to an object or a class as its method. */
struct pv_bound {
	struct pval f, self;
};

/* A function that staticmethod, classmethod or property has wrapped. */
struct pv_wrapped {
	enum { WRAPPED_STATIC, WRAPPED_CLASS, WRAPPED_PROPERTY } how;
	struct pval f;
};

/* The value of super(): gives self the attributes of the bases of a class. */
struct pv_super {
	const struct pv_class *of;
	struct pval self;
};

struct pv_iterator {
	struct pval *items;
	int n, at; /* n: the number of items; at: the index of the next item */
};

/* Executes a class statement. Returns false after an error. */
bool object_define_class(struct eval *ev, struct scope *s,
			 const struct py_node *e, struct pval *out);
/* Makes an object, for the call of a class. Returns false after an error. */
bool object_new(struct eval *ev, struct py_span at, const struct pval *of,
		const struct call_args *args, struct pval *out);
/* Sets *out to the attribute of an object, a class or super(), and *found to
 * whether there is one. Returns false after an error. */
bool object_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		      const char *name, struct pval *out, bool *found);
bool object_set_attribute(struct eval *ev, struct py_span at,
			  const struct pval *of, const char *name,
			  const struct pval *v);
/* Calls the method of this name, such as "__len__", if v is an object that has
 * it; sets *found to whether the object has the method. Returns false after an
 * error. */
bool object_special(struct eval *ev, struct py_span at, const struct pval *v,
		    const char *name, const struct pval *args, int n,
		    struct pval *out, bool *found);
/* Evaluates x op y by a method that x or y has for the operator. *found: does
 * an operand have such a method? Returns false after an error. */
bool object_operator(struct eval *ev, struct py_span at, enum py_operator op,
		     const struct pval *x, const struct pval *y,
		     struct pval *out, bool *found);
bool class_derives(const struct pv_class *c, const struct pv_class *base);
/* Appends the text of an object by its __str__ or __repr__ method; errors are
 * reported. depth: as for pv_text(). */
void object_put(struct eval *ev, const struct pval *v, bool repr, int depth,
		struct strbuf *out);
/* Does the same as pv_text(). Returns false after an error in a method of an
 * object, or if a value is absent (eval_leave_out). */
bool object_text(struct eval *ev, struct py_span at, const struct pval *v,
		 bool repr, struct strbuf *out);
/* Sets *out to an iterator over the items of v. Returns false after an error. */
bool object_iterator(struct eval *ev, struct py_span at, const struct pval *v,
		     struct pval *out);

/* -- exceptions (exceptions.c) */

/* The class of Python's exceptions with this name; NULL if Python has no
 * exception of this name. */
const struct pv_class *exception_class(struct eval *ev, const char *name);
/* Makes an exception with n arguments. */
struct pval exception_new(struct eval *ev, const struct pv_class *of,
			  const struct pval *args, int n);
/* Reports an error as an exception of the class `exception`, which a `try` may
 * handle. Returns false. */
bool eval_raise(struct eval *ev, struct py_span at, const char *exception,
		const char *fmt, ...) TIRC_PRINTF(4, 5);
bool exception_raise(struct eval *ev, struct scope *s, const struct py_node *e);
enum flow exception_try(struct eval *ev, struct scope *s,
			const struct py_node *e, struct pval *result);

#endif
