/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as text: declarations, stores, loops, copies and launches. */
#ifndef TIRC_WALK_STMT_H
#define TIRC_WALK_STMT_H

#include "walk_expr.h"

void walk_stmt(struct walker *w, struct stmt *s);
/* walk_predicated.c. walk_part_type: can the loop be printed with vectors of a
 * variable number of lanes? Else it is printed as an ordinary loop. walk_parts:
 * its body with these vectors. */
bool walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t);
struct stmt *walk_parts(struct walker *w, struct stmt *loop, struct dtype t);

/* The array whose declaration b uses, or b itself. */
const struct buffer *walk_first_of(const struct walker *w,
				   const struct buffer *b);
/* Prints one statement; an empty line separates declarations from the
 * statements around them inside a block. */
void walk_put(struct walker *w, bool declaration, const char *text);
/* Prints a declaration with the proven bound of its values as a comment after
 * it, or on the line before if the line becomes too long. */
void walk_declare_bounded(struct walker *w, enum statement_id id,
			  const char *name, int64_t most,
			  const struct tdata *data);
/* Prints one statement in the dialect's form `id`. */
void walk_say(struct walker *w, enum statement_id id, bool declaration,
	      const struct tdata *data);
/* Prints an ALLOC and its body. */
void walk_alloc(struct walker *w, struct stmt *s);
/* walk_parallel_function.c: outlines a parallel loop, and adds the names that
 * the texts of dialect.tasks use to data. False: the loop is printed as an
 * ordinary one. */
bool walk_share(struct walker *w, struct stmt *loop, struct tdata *data);

/* A statement that a program needs before a launch, or NULL. */
const char *walk_before_launch(struct walker *w, const struct expr *e);
/* The store as an asynchronous copy; NULL if it is not one. */
const char *walk_async_copy(struct walker *w, const struct stmt *s);
/* walk_bulk_copy.c. walk_find_boxes: finds the sources of bulk copies in a
 * kernel (NULL: none). The second function: is a parameter used only by bulk
 * copies? */
void walk_find_boxes(struct walker *w, const struct func *kernel,
		     struct box_sources *out);
bool walk_only_boxes(const struct box_sources *boxes, int param);
/* Prints the prologue of a kernel with bulk copies. */
void walk_box_begin(struct walker *w, struct layout *l);
void walk_init_ranges(struct walker *w);
/* Is the magnitude of the integers in b, an array of accumulators, proven to be
 * at most *most, which is within their type? */
bool walk_bound(struct walker *w, const struct buffer *b, int64_t *most);
/* The bound of a LET's value that is proven for a shift to the left, if it is
 * smaller than *most and the LET is shifted. */
void walk_shifted_bound(struct walker *w, const struct stmt *let,
			int64_t *most);

#endif
