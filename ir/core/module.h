/* SPDX-License-Identifier: Apache-2.0 */
/* A module owns an arena, the interned expressions, functions, graphs and the
 * diagnostics of one compilation. Different modules may be used in different
 * threads at the same time. */
#ifndef TIRC_MODULE_H
#define TIRC_MODULE_H

#include "diag.h"
#include "dtype.h"
#include "quota.h"

struct expr;
struct func;

/* The hash is stored beside the pointer, so that a search does not dereference
 * pointers to expressions with another hash. */
struct intern_slot {
	const struct expr *expr;
	uint32_t hash;
};

struct intern_table {
	struct intern_slot *slot;
	uint32_t n, cap;
};

struct module {
	struct arena arena;
	struct diags diags;
	struct quota quota;
	struct intern_table exprs;
	VEC(struct func *) funcs;
	int next_var_id, next_buffer_id;
	uint32_t next_expr_id;
	/* the number of index constants (i32, i64) whose value wrapped in the
	 * builders of expressions */
	uint64_t n_wrapped;
};

/* Allocated with malloc; module_free releases the module and everything in its
 * arena. */
struct module *module_new(void);
void module_free(struct module *m);
struct func *module_find_func(const struct module *m, const char *name);

#endif
