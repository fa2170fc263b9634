/* SPDX-License-Identifier: Apache-2.0 */
/* Who touches a buffer where: shared by the schedule primitives and by
 * lowering. */
#ifndef TIRC_ACCESS_H
#define TIRC_ACCESS_H

#include "analyse.h"
#include "func.h"

struct access {
	const struct buffer *buffer;
	struct stmt *at;         /* the statement: a STORE if it writes */
	const struct expr *load; /* NULL: the STORE itself */
	const struct expr *const *index;
	bool address; /* its address is taken: more than this element may be
		       * read, and written */
	bool fills;   /* a STORE, or an address that one only writes at */
};

struct access_list {
	VEC(struct access) list;
};

/* Every load and store at or below s of buffer (NULL: of any), in program
 * order. Addresses taken count as loads, marked as such. */
void access_collect(struct func *f, struct stmt *s, const struct buffer *buffer,
		    struct access_list *out);

/* Does it write? So do stores, and calls given an address in a block that says
 * that it writes the buffer. */
bool access_writes(const struct access *x);

/* How many statements are around s. */
int stmt_depth(const struct stmt *s);
/* The innermost statement that contains both. */
struct stmt *stmt_common(struct stmt *a, struct stmt *b);
bool stmt_contains(const struct stmt *outer, const struct stmt *inner);

/* Tells the analyser the ranges of the loops and the values of the LETs and
 * block iter vars around s, and the conditions that hold there. */
void analyser_enter(struct analyser *a, const struct stmt *s);
/* The same, but iter vars of blocks around s just have their ranges: what is
 * simplified keeps them, and may be written inside of these blocks. */
void analyser_enter_scope(struct analyser *a, const struct stmt *s);

/* Enters the block and assumes that its iter vars are within their domains. */
void analyser_enter_domains(struct analyser *a, const struct stmt *block);

/* Loops (and block iter vars as LET-like values) between top (included) and
 * s: the iteration domain that an access inside top runs over. Arena array,
 * outermost first. */
struct iter_var *loops_between(struct func *f, const struct stmt *top,
			       const struct stmt *s, int *n);

/* Replaces from by to everywhere below s and in the parameters; index gives
 * the new position (to->ndim expressions) of an old one in statement at. */
typedef void (*index_fn)(void *ctx, const struct stmt *at,
			 const struct expr *const *old,
			 const struct expr **new);
void buffer_remap(struct func *f, struct stmt *s, const struct buffer *from,
		  const struct buffer *to, index_fn index, void *ctx);
/* The same for what lies below s only: from stays a parameter if it is one. */
void access_remap(struct func *f, struct stmt *s, const struct buffer *from,
		  const struct buffer *to, index_fn index, void *ctx);

/* The smallest box that covers all accesses in the list of one buffer, seen
 * from outside top: ranges whose min is free of what is bound inside top.
 * Where a dimension has no usable bound, or one no smaller than the buffer's,
 * or an address is taken, [0, shape). */
void access_cover(struct func *f, const struct stmt *top,
		  const struct access *list, int n, struct range *ranges);
/* The same, but a box that reaches beyond the buffer stays as it is. False:
 * no bound for some dimension. */
bool access_box(struct func *f, const struct stmt *top,
		const struct access *list, int n, struct range *ranges);

/* Splits a && b && … into its parts, and back (NULL for none). */
struct conjuncts {
	VEC(const struct expr *) list;
};
void expr_conjuncts(struct module *m, const struct expr *e,
		    struct conjuncts *out);
const struct expr *expr_conjunction(struct module *m,
				    const struct expr *const *list, int n);

/* Does e load anything? */
bool expr_has_load(const struct expr *e);

#endif
