/* SPDX-License-Identifier: Apache-2.0 */
/* Reading TVMScript: the output of func_print and module_print, in both
 * spellings, and TVMScript written by hand. */
#ifndef TIRC_SCRIPT_H
#define TIRC_SCRIPT_H

#include "func.h"
#include "python.h"

/* Names of the surrounding text that a function may use (N = 128). lookup
 * returns NULL for an unknown name. */
struct script_scope {
	const struct expr *(*lookup)(void *ctx, const char *name);
	void *ctx;
};

/* Adds every function of the text (@T.prim_func, alone or in a class marked
 * @I.ir_module or @tvm.script.ir_module) to m. False after an error with
 * position; then m has no new function. */
bool script_read(struct module *m, const struct source *src);
/* One function from its `def` in a tree read before; not added to m. NULL
 * after an error. scope may be NULL. */
struct func *script_read_func(struct module *m, const struct source *src,
			      const struct py_node *def,
			      const struct script_scope *scope);

/* Same structure up to the names of variables and buffers and up to ids? If
 * not, why (may be NULL) gets a line with the first difference. */
bool func_equal(const struct func *a, const struct func *b, struct strbuf *why);
/* Are names of variables, buffers and axes the same, too? The functions' own names
 * may differ. */
bool func_equal_named(const struct func *a, const struct func *b);
/* The same for two lists of n functions, apart from the functions' names: where
 * a function of a calls another of a, its partner in b calls that one's
 * partner. but_literals: literals in stored values and in values of LET may
 * differ, literals in indices may not. */
bool funcs_equal(const struct func *const *a, const struct func *const *b,
		 int n, bool but_literals);
/* A hash: the same for all functions that funcs_equal considers equal. */
uint64_t func_hash(const struct func *f, bool but_literals);

/* Do lowering passes call func_verify_text? -Dverify_text=true turns it on. */
#ifndef TIRC_VERIFY_TEXT
#define TIRC_VERIFY_TEXT 0
#endif
/* Prints f in both spellings and reads it back: an equal function, and the same
 * text again? If not, a DIAG_VERIFY gives the first difference. */
bool func_verify_text(const struct func *f);

#endif
