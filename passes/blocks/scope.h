/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: the statements inside the same outer block, the buffers that the
 * outer block allocates, and new loop nests for blocks. Used by the schedule
 * primitives, the layouts and lowering. */
#ifndef TIRC_SCOPE_H
#define TIRC_SCOPE_H

#include "access.h"

/* The block whose body s is part of; for the outermost block itself NULL. */
struct stmt *scope_of(const struct stmt *s);
/* The child of the scope's body (or the body) that contains s. */
struct stmt *scope_child(const struct stmt *s);
/* All blocks at or below s but not inside other blocks. */
struct stmt_list {
	VEC(struct stmt *) list;
};
void blocks_below(struct func *f, struct stmt *s, struct stmt_list *out);
/* The loops of f with the note, in program order. */
void loops_noted(struct func *f, const char *note, struct stmt_list *out);
/* s comes before t in program order (neither contains the other). */
bool stmt_before(const struct func *f, const struct stmt *s,
		 const struct stmt *t);

/* Does block a write what block b reads? */
bool block_feeds(const struct stmt *a, const struct stmt *b);

/* Recomputes a block's read and write regions from its body. */
void block_refresh(struct func *f, struct stmt *block);
/* Simplifies bindings and predicates of the blocks at or below s; with
 * keep_units they keep the variables of loops of one iteration. */
void bindings_simplify(struct func *f, struct stmt *s, bool keep_units);
/* Adds, finds or removes a buffer in the scope's allocations. */
void scope_add_alloc(struct func *f, struct stmt *scope,
		     const struct buffer *b);
bool scope_owns(const struct stmt *scope, const struct buffer *b);
void scope_drop_alloc(struct func *f, struct stmt *scope,
		      const struct buffer *b);
/* b's replacement everywhere: statements, allocs, regions, parameters. */
void buffer_swap_all(struct func *f, const struct buffer *from,
		     const struct buffer *to);

/* Is every index a distinct iter var of the block (or 0 in a dimension of
 * extent 1)? iter_of gets the iter var's number per dimension (-1 for 0). */
bool identity_index(const struct stmt *block, const struct buffer *b,
		    const struct expr *const *index, int *iter_of);
/* The only STORE of a block's body, or NULL. */
struct stmt *sole_store(const struct stmt *block);
/* Makes the loops over the ranges of block's iter vars, outermost first and
 * named after them; none for an extent of 1 unless unit_loops. context: the
 * statement around the new nest, or NULL. Adds conjuncts to the predicate if a
 * value may leave the iter var's domain. Returns the nest around block. */
struct stmt *nest_for_block(struct func *f, struct stmt *block,
			    const struct range *ranges,
			    const struct stmt *context, bool unit_loops);
/* "v_h" -> "h" */
const char *iter_axis_name(const char *iter_name);

#endif
