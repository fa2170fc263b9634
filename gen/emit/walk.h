/* SPDX-License-Identifier: Apache-2.0 */
/* The walker: the state while one function of a unit is printed. walk_expr.h
 * has the functions for expressions, walk_stmt.h those for statements. */
#ifndef TIRC_WALK_H
#define TIRC_WALK_H

#include "unit.h"

/* Bulk tensor copies of a kernel that share a descriptor: from one array
 * parameter, with one box shape, to one destination scope. */
struct box_source {
	const struct expr *copy; /* the first of the copies */
	int param;               /* index of the array parameter */
	/* the name of the kernel's parameter for the descriptor; NULL in a host
	 * function */
	const char *name;
};

struct box_sources {
	const struct func *kernel; /* the kernel that was searched, or NULL */
	VEC(struct box_source) list;
};

/* A local array `later` that uses the declaration of `first`: both are equal,
 * and never live at the same time. */
struct same_array {
	const struct buffer *first, *later;
};

/* The state while a function is printed. */
struct walker {
	struct unit *u;
	const struct dialect *d;
	struct arena *a;
	struct module *m;
	const struct func *f;
	struct strbuf *out;
	struct analyser an;
	struct value_ranges ranges;
	bool knows_bytes; /* `ranges` includes constant arrays of bytes */
	int indent;
	bool deep; /* deeply nested: indent by a few columns only */
	/* what the line before in this block is: an empty line is printed
	 * between declarations and statements */
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	/* from a variable to the index in `bindings` of the binding that is in
	 * effect; one in an inner block shadows those outside */
	struct pointer_map bound;
	VEC(const char *) visible; /* names in scope, innermost last */
	/* by name: how often it is in `visible` */
	struct pointer_map times_visible;
	/* stores that were printed already, as initializers of declarations */
	VEC(const struct stmt *) done;
	/* arrays that use the declaration of another one */
	VEC(struct same_array) same;
	bool failed; /* a diagnostic was reported: the text is not used */
	bool shares; /* the statement is in a parallel loop */
	/* In a predicated loop: the text of the number of lanes that are left,
	 * else NULL. */
	const char *count;
	/* the value of the store that is printed, if its type is storage-only:
	 * the store rounds it, so that its own text need not */
	const struct expr *unrounded;
	/* the language of the text has integers of unlimited size: casts to
	 * wider integers are left out */
	bool whole;
	/* the load of which only the address is used */
	const struct expr *addressed;
	bool entry;    /* f is the entry function of a model */
	bool declares; /* only a prototype of f is printed; it promises nothing
			* about aliases */
	/* Texts that external functions need at the start and the end of the
	 * function that calls them, or NULL. */
	const char *begin, *end;
	struct box_sources boxes; /* the bulk copies of the kernel f */
	/* names of the kernel's variables for bulk copies: their state, and the
	 * barriers at which they arrive; NULL without bulk copies */
	const char *copies, *arrived;
};

/* Renders one of the dialect's texts with data; "", and w fails, after a
 * diagnostic. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
/* The binding of v that is in effect, valid until the next one is added; NULL
 * if v has none. */
struct binding *walk_find(struct walker *w, const struct var *v);
/* The index of the binding of v that is in effect; -1 if it has none. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding, which shadows earlier ones of its variable. The result is
 * valid until the next call. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Leaves a block: removes all bindings and visible names except the first
 * `bindings` and `visible` ones, those from outside the block. */
void walk_drop(struct walker *w, int bindings, int visible);
/* Binds v to a name, made from `base`, that differs from all names in scope. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
/* Reports an error at the function that is printed, unless w has failed
 * already; w fails. Returns false. */
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports that a dialect rejects a form; file: of w's dialect or of one that it
 * extends. Returns false. */
bool walk_refuse(struct walker *w, const char *file, const char *why);

#endif
