/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as text: declarations, stores, loops, copies and launches. */
#ifndef TIRC_WALK_STMT_H
#define TIRC_WALK_STMT_H

#include "walk_expr.h"

/* Prints s with all statements in it. */
void walk_stmt(struct walker *w, struct stmt *s);
/* walk_predicated.c: loops over vectors of which the last iteration may have
 * fewer lanes. walk_part_type: can the loop be printed in this way? Sets *t to
 * the vector type. walk_parts: the loop's body as statements on vectors of this
 * type. */
bool walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t);
struct stmt *walk_parts(struct walker *w, struct stmt *loop, struct dtype t);

/* The array whose declaration is used for b, because both are equal and never
 * live at the same time (struct same_array); b itself if b has a declaration of
 * its own. */
const struct buffer *walk_first_of(const struct walker *w,
				   const struct buffer *b);
/* Prints a line with one statement or declaration; an empty line separates
 * declarations from the statements around them inside a block. */
void walk_put(struct walker *w, bool declaration, const char *text);
/* Prints a declaration with the proven bound `most` of its values as a comment:
 * after it, or on the line before it if its line became too long. */
void walk_declare_bounded(struct walker *w, enum statement_id id,
			  const char *name, int64_t most,
			  const struct tdata *data);
/* Prints one statement in the dialect's form `id`. */
void walk_say(struct walker *w, enum statement_id id, bool declaration,
	      const struct tdata *data);
/* Prints an ALLOC and its body. */
void walk_alloc(struct walker *w, struct stmt *s);
/* walk_parallel_function.c: outlines a parallel loop into a function, and adds
 * to `data` the names that the texts of dialect.tasks use. False if the loop
 * cannot be outlined; the caller then prints it as an ordinary loop. */
bool walk_share(struct walker *w, struct stmt *loop, struct tdata *data);

/* The text of the statement that the host must execute before the launch e;
 * NULL if the launch needs none. */
const char *walk_before_launch(struct walker *w, const struct expr *e);
/* The text of the store `s` as an asynchronous copy to shared memory. NULL if
 * the store does not copy an element of an allowed size from global memory, if
 * the function has bulk copies or never waits for copies to the buffer, or if
 * the dialect has no asynchronous copies. */
const char *walk_async_copy(struct walker *w, const struct stmt *s);
/* walk_bulk_copy.c. Sets *out to the sources of bulk copies in a kernel; the
 * list is empty if kernel is NULL. */
void walk_find_boxes(struct walker *w, const struct func *kernel,
		     struct box_sources *out);
/* Is the kernel's parameter with this index accessed by bulk copies only? */
bool walk_only_boxes(const struct box_sources *boxes, int param);
/* Prints the first lines of the body of a kernel that has bulk copies; prints
 * nothing for other kernels. */
void walk_box_begin(struct walker *w, struct layout *l);
/* Sets w->ranges from the types of arrays and from the model's constants.
 * Leaves out constants of bytes, which walk_bound() adds when it needs them. */
void walk_init_ranges(struct walker *w);
/* Is the magnitude of the integers in b, an array of accumulators, proven to be
 * at most *most, which is within their type? False for types of fewer than 32
 * bits. */
bool walk_bound(struct walker *w, const struct buffer *b, int64_t *most);
/* If the kernel shifts the value of the LET left by unit.shift bits: lowers
 * *most, a bound of the value's magnitude, to unit.shifted_most if that is
 * smaller. */
void walk_shifted_bound(struct walker *w, const struct stmt *let,
			int64_t *most);

#endif
