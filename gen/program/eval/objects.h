/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of programs, their objects, and exceptions. Private to gen/program/. */
#ifndef TIRC_OBJECTS_H
#define TIRC_OBJECTS_H

#include "eval.h"
#include "program_parts.h"

/* A class that the program defines, or an exception of Python. */
struct pv_class {
	const char *name;
	VEC(const struct pv_class *) bases;
	struct scope *names; /* its methods and attributes */
	bool is_exception;
};

struct pv_object {
	const struct pv_class *of;
	struct scope names; /* its attributes; no parent */
};

/* A method of an object or a class. */
struct pv_bound {
	struct pval f, self;
};

/* What staticmethod, classmethod and property make of a function. */
struct pv_wrapped {
	enum { WRAPPED_STATIC, WRAPPED_CLASS, WRAPPED_PROPERTY } how;
	struct pval f;
};

/* super(): the attributes that the bases of a class give to self. */
struct pv_super {
	const struct pv_class *of;
	struct pval self;
};

struct pv_iterator {
	struct pval *items;
	int n, at; /* at: the next item */
};

/* Runs a class statement. */
bool object_define_class(struct eval *ev, struct scope *s,
			 const struct py_node *e, struct pval *out);
/* Calls a class: makes an object. */
bool object_new(struct eval *ev, struct py_span at, const struct pval *of,
		const struct call_args *args, struct pval *out);
/* Sets *out to the attribute of an object, a class or super(); *found is false if
 * there is none. False after an error. */
bool object_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		      const char *name, struct pval *out, bool *found);
bool object_set_attribute(struct eval *ev, struct py_span at,
			  const struct pval *of, const char *name,
			  const struct pval *v);
/* Calls the method of this name, "__len__", if v is an object that has it;
 * *found: whether it has. False after an error. */
bool object_special(struct eval *ev, struct py_span at, const struct pval *v,
		    const char *name, const struct pval *args, int n,
		    struct pval *out, bool *found);
/* The result of an operator between objects by their methods; *found as above. */
bool object_operator(struct eval *ev, struct py_span at, enum py_operator op,
		     const struct pval *x, const struct pval *y,
		     struct pval *out, bool *found);
bool class_derives(const struct pv_class *c, const struct pv_class *base);
/* Appends the text of an object by its __str__ or __repr__; an error is reported.
 * depth: as of pv_text. */
void object_put(struct eval *ev, const struct pval *v, bool repr, int depth,
		struct strbuf *out);
/* As pv_text; false after an error in a method of an object, or if a value is not
 * known (eval_leave_out). */
bool object_text(struct eval *ev, struct py_span at, const struct pval *v,
		 bool repr, struct strbuf *out);
/* v as an iterator over its items. */
bool object_iterator(struct eval *ev, struct py_span at, const struct pval *v,
		     struct pval *out);

/* -- exceptions (exceptions.c) */

/* The exception of Python with this name; NULL if there is none. */
const struct pv_class *exception_class(struct eval *ev, const char *name);
/* An exception with one argument. */
struct pval exception_new(struct eval *ev, const struct pv_class *of,
			  const struct pval *args, int n);
/* Reports the error as an exception of the class with this name, which a `try` may
 * handle. Returns false. */
bool eval_raise(struct eval *ev, struct py_span at, const char *exception,
		const char *fmt, ...) TIRC_PRINTF(4, 5);
bool exception_raise(struct eval *ev, struct scope *s, const struct py_node *e);
enum flow exception_try(struct eval *ev, struct scope *s,
			const struct py_node *e, struct pval *result);

#endif
