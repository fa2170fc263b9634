/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as text: declarations, stores, loops, copies and launches. */
#ifndef TIRC_WALK_STMT_H
#define TIRC_WALK_STMT_H

#include "walk_expr.h"

void walk_stmt(struct walker *w, struct stmt *s);
/* walk_predicated.c: a vectorized loop over vectors with a variable number of
 * lanes. False: the loop is emitted as an ordinary one. */
bool walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t);
struct stmt *walk_parts(struct walker *w, struct stmt *loop, struct dtype t);

/* The array whose declaration serves b; b itself if none does. */
const struct buffer *walk_first_of(const struct walker *w,
				   const struct buffer *b);
/* One statement's text, with an empty line where a run of declarations starts
 * or ends inside a block. */
void walk_put(struct walker *w, bool declaration, const char *text);
/* A declaration and the proved bound of its values, as a comment behind it, or
 * before it if the line is full. */
void walk_declare_bounded(struct walker *w, enum statement_id id,
			  const char *name, int64_t most,
			  const struct tdata *data);
/* One statement in the dialect's form `id`. */
void walk_say(struct walker *w, enum statement_id id, bool declaration,
	      const struct tdata *data);
/* An ALLOC with its body. */
void walk_alloc(struct walker *w, struct stmt *s);
/* walk_parallel_function.c: outlines a parallel loop; data gets the names for the
 * texts of dialect.tasks. False: the loop is emitted as an ordinary one. */
bool walk_share(struct walker *w, struct stmt *loop, struct tdata *data);

/* A statement needed before a program's launch, or NULL. */
const char *walk_before_launch(struct walker *w, const struct expr *e);
/* The store as an asynchronous copy; NULL: it is not one. */
const char *walk_async_copy(struct walker *w, const struct stmt *s);
/* walk_bulk_copy.c, bulk tensor copies: their sources in a kernel (NULL: none); is
 * a parameter used by them alone? */
void walk_find_boxes(struct walker *w, const struct func *kernel,
		     struct box_sources *out);
bool walk_only_boxes(const struct box_sources *boxes, int param);
/* Prints the prologue of a kernel with bulk copies. */
void walk_box_begin(struct walker *w, struct layout *l);
void walk_init_ranges(struct walker *w);
/* Is b an array of accumulators whose magnitude is proved to be at most *most,
 * within its type? */
bool walk_bound(struct walker *w, const struct buffer *b, int64_t *most);
/* The smaller bound of a LET's value that is proven for shifting it left, if the
 * LET's statement does that. */
void walk_shifted_bound(struct walker *w, const struct stmt *let,
			int64_t *most);

#endif
