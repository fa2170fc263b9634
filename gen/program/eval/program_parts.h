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
/* The length of a text, a list, a tuple, a set, a dict or a range; false for other
 * values. */
bool pv_length(const struct pval *v, int64_t *out);
/* dict_set() gives a key a value, dict_get() sets *out to the value of a key,
 * or to NULL if the dict does not have it. False after an error, since the
 * search counts steps. */
bool dict_set(struct eval *ev, struct py_span at, struct pv_dict *d,
	      const struct pval *key, const struct pval *value);
bool dict_get(struct eval *ev, struct py_span at, const struct pv_dict *d,
	      const struct pval *key, const struct pval **out);
/* Sets each key of `more` in d. */
bool dict_add(struct eval *ev, struct py_span at, struct pv_dict *d,
	      const struct pv_dict *more);
/* Removes a key or reports a KeyError. */
bool dict_delete(struct eval *ev, struct py_span at, struct pv_dict *d,
		 const struct pval *key);
/* Appends n items to a list. False after an error if it becomes too long. */
bool list_add(struct eval *ev, struct py_span at, struct pv_list *list,
	      const struct pval *items, int n);
/* Reports that tirc has no module of this name, with the nearest one, or with
 * all. Returns false. */
bool names_absent(struct eval *ev, struct py_span at, const char *path);
/* Sets *out to the index of the name, a str, among those of a module's functions.
 * False after an error. */
bool find_function(struct eval *ev, struct py_span at, const struct pval *name,
		   const char *const *names, int n, int *out);
/* Makes the function of e, a lambda or def, in the scope s: evaluates the
 * defaults of its parameters. */
bool eval_closure(struct eval *ev, struct scope *s, const struct py_node *e,
		  const char *name, struct pval *out);

/* Has the scope itself the name? scope_delete also removes it. */
bool scope_has(const struct scope *s, const char *name);
bool scope_delete(struct scope *s, const char *name);

bool module_attribute(struct eval *ev, struct py_span at, uint64_t in,
		      const char *name, struct pval *out);

/* -- results -- */
/* Appends a function to the program's result, unless it has it already. */
void remember_func(struct eval *ev, const struct program_func *f);
/* Passes text that the program prints to the callback of its options. False
 * after an error if it is too much. */
bool print_bytes(struct eval *ev, struct py_span at, const char *text,
		 size_t n);
bool print_text(struct eval *ev, struct py_span at, const char *text);

/* A name_fn for values whose text is a script: show() and summary() print it,
 * script() and astext() return it. */
bool value_script(struct call *c, struct pval *out);
/* A name_fn for names that programs use without a call, in isinstance and
 * annotations. */
bool name_only(struct call *c, struct pval *out);

#endif
