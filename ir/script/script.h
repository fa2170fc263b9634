/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TVMScript: the output of func_print and module_print, in both
 * spellings, and TVMScript written by hand. */
#ifndef TIRC_SCRIPT_H
#define TIRC_SCRIPT_H

#include "func.h"
#include "python.h"

/* The most lists in lists, and the most elements of a list, with those of lists in
 * it. */
enum { SCRIPT_MAX_LISTS = 100, SCRIPT_MAX_ITEMS = 1 << 18 };

/* A value of the text around a function: e (weak: a number of Python) or, where e is
 * NULL, a list. */
struct script_outer {
	const struct expr *e;
	bool weak;
	const struct script_outer *items;
	int n_items;
};

/* Names that the text around a function defines (N = 128) and that the function
 * may use. lookup returns NULL for an unknown name. */
struct script_scope {
	const struct expr *(*lookup)(void *ctx, const char *name);
	/* The definition of the macro (@T.macro) named `name`; NULL: no macro
	 * has this name. This member and the next may be NULL. */
	const struct py_node *(*macro)(void *ctx, const char *name);
	/* The name of the function that the node callee ("twice" or
	 * "Module.twice") refers to; NULL: it refers to no other function of
	 * the text. */
	const char *(*function)(void *ctx, const struct py_node *callee);
	/* The type of what the function with this name returns; DT_VOID: it
	 * returns nothing, or is not known. May be NULL. */
	struct dtype (*result)(void *ctx, const char *name);
	/* Sets *out to the value that the node names, if it is a list or a
	 * tuple; *is_one: is it one? False after an error. This member and the
	 * next may be NULL. */
	bool (*list)(void *ctx, const struct py_node *node, bool *is_one,
		     struct script_outer *out);
	/* Calls the Python function with this name; *is_one: does it exist?
	 * False after an error. */
	bool (*call)(void *ctx, const struct py_node *node, const char *name,
		     const struct script_outer *args, int n, bool *is_one,
		     struct script_outer *out);
	void *ctx;
};

/* Adds every function of the text (@T.prim_func, alone or in a class marked
 * @I.ir_module or @tvm.script.ir_module) to m. False after an error with a
 * position in the text; then no function was added to m. */
bool script_read(struct module *m, const struct source *src);
/* Reads one function from its `def`, a node of a tree that was parsed before.
 * The function is not added to m. NULL after an error. scope may be NULL. */
struct func *script_read_func(struct module *m, const struct source *src,
			      const struct py_node *def,
			      const struct script_scope *scope);

/* A name that steps may use for a value or a buffer. at[d]: the index in
 * dimension d of the buffer, or NULL if the steps give this index; at NULL: the
 * steps give all indices. */
struct script_binding {
	const char *name;
	struct script_outer value;
	const struct buffer *buffer;
	const struct expr *const *at;
};

/* Reads steps: the statements of the function `name` in a text of functions, whose
 * parameters are among the n names. The language is TVMScript, and more:
 *
 *	- A function may call those of the text and those that are defined in it, which
 *	  see the names of their caller. A call is replaced by what the function does, or
 *	  by the value that it returns.
 *	- A buffer without dimensions, such as count = T.alloc_local((), "int32"), is a
 *	  variable: count = count + 1.
 *
 * The statements are made for f and belong to no position of the text. NULL after an
 * error. */
struct stmt *script_read_steps(struct func *f, const struct source *src,
			       const char *name,
			       const struct script_binding *list, int n);

/* Do the functions have the same structure, apart from ids and the names of
 * variables and buffers? If not, a line with the first difference is appended
 * to why, which may be NULL. */
bool func_equal(const struct func *a, const struct func *b, struct strbuf *why);
/* Like func_equal, but the names of variables, buffers and axes must be equal,
 * too. The names of the two functions may differ. */
bool func_equal_named(const struct func *a, const struct func *b);
/* Are a[i] and b[i] equal for each i, as func_equal, if a call of a[k] in a[i]
 * counts as equal to a call of b[k] in b[i]? The functions' names may differ.
 * but_literals: literals in stored values and in values of LET may differ,
 * literals in indices may not. */
bool funcs_equal(const struct func *const *a, const struct func *const *b,
		 int n, bool but_literals);
/* A literal of a function, and the one in its place in another function. */
struct literal_pair {
	const struct expr *a, *b;
};

struct literal_pairs {
	VEC(struct literal_pair) list;
};

/* For functions that funcs_equal finds equal but for literals: appends each pair of
 * different literals to out, once, in the order of the statements. The list is in
 * the arena. */
void funcs_other_literals(struct arena *arena, const struct func *const *a,
			  const struct func *const *b, int n,
			  struct literal_pairs *out);
/* A hash that is the same for all functions that funcs_equal considers
 * equal. */
uint64_t func_hash(const struct func *f, bool but_literals);

/* Do lowering passes call func_verify_new_text? -Dverify_text=true turns it on. */
#ifndef TIRC_VERIFY_TEXT
#define TIRC_VERIFY_TEXT 0
#endif
/* Prints f in both spellings (script_version), reads each text back, and prints
 * the function that was read. False if a function that was read differs from f,
 * or if a text differs from the first one; a DIAG_VERIFY gives the first
 * difference. */
bool func_verify_text(const struct func *f);
/* Checks f as func_verify_text does, unless the text and the hash of f are
 * those in `seen`. `seen` is empty before the first call, and receives the text
 * and the hash of f; the caller releases it. */
bool func_verify_new_text(const struct func *f, struct strbuf *seen);

#endif
