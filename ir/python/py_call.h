/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call, and the parameters that take them: the rules of
 * Python for arguments by position and by name, default values, *rest and
 * **options. The readers of TVMScript and of programs bind arguments with it;
 * the values stay with the evaluator:
 *
 *	signature  ("data, axis?, *, keepdims?")
 *	arguments  (x, keepdims=True)      slots 0, 2 */
#ifndef TIRC_PY_CALL_H
#define TIRC_PY_CALL_H

#include "python.h"

/* A parameter. */
struct py_slot {
	const char *name;
	enum py_param_kind kind;
	bool optional; /* a call may omit the parameter */
	bool keyword_only;
};

struct py_signature {
	const char *callee; /* the name of the function in messages:
			     * "T.serial()" */
	struct py_slot *slots;
	int n;
};

/* An argument: its name; NULL if the argument is given by position. */
struct py_argument {
	const char *name;
	struct py_span span;
};

/* The signature that a text declares, as a function's head does in Python, but
 * with "?" after the name of a parameter that has a default value: "shape,
 * dtype?, *rest, name?, **options". Parameters behind "*rest", or behind "*"
 * alone, are given by name. */
struct py_signature py_signature_declared(struct arena *a, const char *callee,
					  const char *params);
/* The signature of `def`, a function or lambda in the program's text. */
struct py_signature py_signature_of(struct arena *a, const char *callee,
				    const struct py_node *def);

/* Sets slot[k] to the index of the parameter that takes argument k, for all n
 * arguments. *rest and **options take any number of arguments, any other
 * parameter at most one. False after an error; its position is that of an
 * argument, or, if an argument is missing, that of the call. */
bool py_bind(struct module *m, const struct source *src, struct py_span call,
	     const struct py_signature *s, const struct py_argument *args,
	     int n, int *slot);

/* Binds the arguments of a call, which spreads no lists (*x, **x): found[i]
 * becomes the expression for parameter i, or NULL. params: the signature,
 * without *rest and **options; found has room for its parameters. False after
 * an error. */
bool py_bind_nodes(struct module *m, const struct source *src,
		   const struct py_node *call, const char *params,
		   const struct py_node **found);

/* Appends the path "a.b.c" of a name or of an attribute of one. False, with
 * nothing appended, if node is another expression. */
bool py_put_path(const struct py_node *node, struct strbuf *out);
/* The end of a message about an unknown name: "; did you mean x?" with that of
 * the n names that is nearest to it; if no name is near, "; " and the text
 * `remedy`. */
const char *py_did_you_mean(struct arena *a, const char *name,
			    const char *const *names, int n,
			    const char *remedy);
/* The end of a message about an unknown name: "; did you mean x?" with that of
 * the n names that is nearest to it. If no name is near: "; there are x, y"
 * with all names, or "" if n is 0 or more than 12. */
const char *py_suggest(struct arena *a, const char *name,
		       const char *const *names, int n);

#endif
