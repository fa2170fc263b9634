/* SPDX-License-Identifier: Apache-2.0 */
/* The walker: the state of printing one function of a unit. walk_expr.h has what
 * prints expressions, walk_stmt.h what prints statements. */
#ifndef TIRC_WALK_H
#define TIRC_WALK_H

#include "unit.h"

/* The source of bulk tensor copies in a kernel: one parameter, one box shape,
 * one destination scope. */
struct box_source {
	const struct expr *copy; /* the first copy */
	int param;
	const char *name; /* NULL: no name here */
};

struct box_sources {
	const struct func *kernel; /* NULL: no kernel */
	VEC(struct box_source) list;
};

/* Two equal local arrays with disjoint live ranges: one declaration serves
 * both. */
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
	bool knows_bytes; /* ranges includes constants of bytes */
	int indent;
	bool deep; /* many levels, of a few columns each */
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	struct pointer_map bound;         /* innermost bindings of variables */
	VEC(const char *) visible;        /* names, innermost last */
	struct pointer_map times_visible; /* by a string's expression */
	VEC(const struct stmt *) done;    /* stores that became initialisers */
	VEC(struct same_array) same;      /* arrays that share a declaration */
	bool failed;
	bool shares; /* within a parallel loop */
	/* Lanes at hand of the vectors of a predicated loop, or NULL. */
	const char *count;
	const struct expr *unrounded; /* an expression that its store rounds */
	bool whole;                   /* numbers are unbounded integers */
	const struct expr *addressed; /* the load whose address is asked for */
	bool entry;                   /* a model's entry function */
	bool declares; /* a prototype: no promise about aliases is needed */
	/* Text at the function's start and end that its external symbols need,
	 * or NULL. */
	const char *begin, *end;
	struct box_sources boxes;     /* of this function's kernel */
	const char *copies, *arrived; /* counters of bulk copies; or NULL */
};

/* Fills in one of the dialect's texts. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
struct binding *walk_find(struct walker *w, const struct var *v);
/* The binding's index; -1 if walk_find returns NULL. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding that shadows earlier ones of its variable; the pointer is
 * valid until the next call. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Removes all but the first bindings. */
void walk_drop(struct walker *w, int bindings, int visible);
/* Binds v to a name that is unique among the visible ones. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports a form that the file of a dialect (w's or one that it extends)
 * rejects. */
bool walk_refuse(struct walker *w, const char *file, const char *why);

#endif
