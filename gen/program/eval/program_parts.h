/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the evaluator and its libraries share, besides eval.h. */
#ifndef TIRC_PROGRAM_PARTS_H
#define TIRC_PROGRAM_PARTS_H

#include "eval.h"

struct pv_names {
	const char **data;
	int n, cap;
};

/* The number of elements of a range. */
int64_t range_length(const struct pv_range *r);
/* Sets *out to the length of a text, list, tuple, set, dict or range. Returns
 * false for other values. */
bool pv_length(const struct pval *v, int64_t *out);
/* dict_set() sets the value of a key. dict_get() sets *out to the value of a
 * key, or to NULL if the dict does not have the key. They return false after an
 * error: the search counts steps, and the program's limit may be reached. */
bool dict_set(struct eval *ev, struct py_span at, struct pv_dict *d,
	      const struct pval *key, const struct pval *value);
bool dict_get(struct eval *ev, struct py_span at, const struct pv_dict *d,
	      const struct pval *key, const struct pval **out);
/* Copies all keys of `more` with their values to d. Returns false after an
 * error. */
bool dict_add(struct eval *ev, struct py_span at, struct pv_dict *d,
	      const struct pv_dict *more);
/* Removes a key and its value from d; if d does not have the key, reports a
 * KeyError. Returns false after an error. */
bool dict_delete(struct eval *ev, struct py_span at, struct pv_dict *d,
		 const struct pval *key);
/* Appends n items to a list. Returns false after an error if the list becomes
 * too long. */
bool list_add(struct eval *ev, struct py_span at, struct pv_list *list,
	      const struct pval *items, int n);
/* Reports that tirc has no module of the name `path`, and suggests the most
 * similar name, or lists all. Returns false. */
bool names_absent(struct eval *ev, struct py_span at, const char *path);
/* Sets *out to the index of `name`, which must be a str, in `names`, the names
 * of a module's functions. Returns false after an error. */
bool find_function(struct eval *ev, struct py_span at, const struct pval *name,
		   const char *const *names, int n, int *out);
/* Returns in *out a function of the program, made from e, a lambda or def, in
 * the scope s; evaluates the defaults of its parameters. Returns false after an
 * error. */
bool eval_closure(struct eval *ev, struct scope *s, const struct py_node *e,
		  const char *name, struct pval *out);

/* Does the scope itself, not one of its parents, have the name? The next
 * function, scope_delete(), also removes the name. */
bool scope_has(const struct scope *s, const char *name);
bool scope_delete(struct scope *s, const char *name);

bool module_attribute(struct eval *ev, struct py_span at, uint64_t in,
		      const char *name, struct pval *out);

/* -- results -- */
/* Appends a function to the program's result, unless the result has it
 * already. */
void remember_func(struct eval *ev, const struct program_func *f);
/* Gives text that the program prints to the callback in its options. Returns
 * false after an error if the program has printed too much. */
bool print_bytes(struct eval *ev, struct py_span at, const char *text,
		 size_t n);
bool print_text(struct eval *ev, struct py_span at, const char *text);

/* The built-in methods of values whose text is a script: show() and summary()
 * print the text, script() and astext() return it. */
bool value_script(struct call *c, struct pval *out);
/* A built-in function for names that programs use only in isinstance and
 * annotations; calling it is an error. */
bool name_only(struct call *c, struct pval *out);

#endif
