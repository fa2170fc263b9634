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
	int param;
	/* the parameter of the descriptor; NULL in a host function */
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
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	/* from a variable to the index of its innermost binding */
	struct pointer_map bound;
	VEC(const char *) visible; /* names in scope, innermost last */
	/* by name: how often it is in `visible` */
	struct pointer_map times_visible;
	VEC(const struct stmt *) done; /* stores printed as initializers */
	/* arrays that use the declaration of another one */
	VEC(struct same_array) same;
	bool failed;
	bool shares; /* inside a parallel loop */
	/* In a predicated loop: the text of the number of lanes that are left,
	 * else NULL. */
	const char *count;
	/* an expression that is rounded by its store */
	const struct expr *unrounded;
	/* the language has integers of unlimited size */
	bool whole;
	/* the load of which only the address is used */
	const struct expr *addressed;
	bool entry;    /* f is the entry function of a model */
	bool declares; /* a prototype, which promises nothing about aliases */
	/* Texts that external functions need at the start and the end of the
	 * function, or NULL. */
	const char *begin, *end;
	struct box_sources boxes; /* of the kernel f */
	/* names of the counters of bulk copies, or NULL */
	const char *copies, *arrived;
};

/* Renders one of the dialect's texts. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
struct binding *walk_find(struct walker *w, const struct var *v);
/* The index of v's innermost binding; -1 if it has none. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding, which shadows earlier ones of its variable. The result is
 * valid until the next call. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Removes all bindings and visible names except the first ones. */
void walk_drop(struct walker *w, int bindings, int visible);
/* Binds v to a name, made from `base`, that differs from all names in scope. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports that a dialect rejects a form; file: of w's dialect or of one that it
 * extends. Returns false. */
bool walk_refuse(struct walker *w, const char *file, const char *why);

#endif
