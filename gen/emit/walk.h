/* SPDX-License-Identifier: Apache-2.0 */
/* The walker: the state while one function of a unit is printed. walk_expr.h
 * has the functions for expressions, walk_stmt.h those for statements. */
#ifndef TIRC_WALK_H
#define TIRC_WALK_H

#include "unit.h"

/* Bulk copies of a kernel (COPY_BOX) that share one descriptor: they copy from
 * one array parameter, with one shape of the box, to one memory scope. */
struct box_source {
	const struct expr *copy; /* the first of the copies from this source */
	int param;               /* index of the array among the kernel's
				  * parameters */
	/* the name of the kernel's parameter for the descriptor; NULL in a
	 * function that runs on the host */
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
	/* `ranges` already has the constant arrays of bytes, too */
	bool knows_bytes;
	/* the data variables of the local arrays of floats of which no element
	 * is NaN; found at the first question about one of them */
	struct pointer_map numbers;
	bool knows_numbers;
	int indent;
	bool deep; /* the function is nested deeply: its indent is a few columns
		    * for each level */
	/* the kind of the last line in this block: an empty line is printed
	 * between declarations and statements */
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	/* maps a variable to the index in `bindings` of the binding in effect;
	 * a binding of an inner block shadows one of an outer block */
	struct pointer_map bound;
	VEC(const char *) visible; /* names in scope, innermost last */
	/* by name: the number of times that it occurs in `visible` */
	struct pointer_map times_visible;
	/* stores that are printed already, as initializers in declarations */
	VEC(const struct stmt *) done;
	/* arrays that use the declaration of another array */
	VEC(struct same_array) same;
	bool failed;     /* a diagnostic was reported: the text is not used */
	bool shares;     /* the statement under print is in a parallel loop */
	bool vectorizes; /* the statement under print is in a vectorized loop */
	/* In a predicated loop: the text of the number of lanes that remain to
	 * be processed; else NULL. */
	const char *count;
	/* The value of the store that is being printed, if its type is one that
	 * is only stored: the store rounds the value, so its text need not do
	 * so. */
	const struct expr *unrounded;
	/* the text is for a language with integers of unlimited size, in which
	 * casts to wider integers are left out */
	bool whole;
	/* the load under print of which only the address is used, or NULL */
	const struct expr *addressed;
	bool entry;    /* f is the entry function of a model */
	bool declares; /* only a prototype of f is printed; it says nothing
		        * about aliases */
	/* Texts that an external function needs at the start and at the end of
	 * each function f that calls it; NULL if it needs none. */
	const char *begin, *end;
	struct box_sources boxes; /* the bulk copies of the kernel f */
	/* names of two variables of the kernel for bulk copies: copies is the
	 * state of the copies, arrived the mbarriers at which they arrive; both
	 * NULL if the kernel has no bulk copies */
	const char *copies, *arrived;
};

/* Renders a text of the dialect with data. After a diagnostic, returns "", and
 * w fails. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
/* The binding of v that is in effect; NULL if v has no binding. The pointer is
 * valid until the next binding is added. */
struct binding *walk_find(struct walker *w, const struct var *v);
/* The index of the binding of v that is in effect; -1 if v has no binding. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding, which shadows earlier bindings of its variable. The returned
 * pointer is valid until the next call. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Leaves a block: removes all bindings except the first `bindings`, and all
 * visible names except the first `visible`. Those that stay are from outside of
 * the block. */
void walk_drop(struct walker *w, int bindings, int visible);
/* Binds v to a name, made from `base`, that differs from all names in scope. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
/* Reports an error at the function that is printed, unless w has failed
 * already; w fails. Returns false. */
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports that a dialect rejects a form, and why; file: the dialect.json that
 * rejects it. Returns false. */
bool walk_refuse(struct walker *w, const char *file, const char *why);

#endif
