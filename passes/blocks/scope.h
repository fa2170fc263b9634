/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: the statements inside the same outer block, the buffers that the
 * outer block allocates, and new loop nests for blocks. Used by the schedule
 * primitives, the layouts and lowering. */
#ifndef TIRC_SCOPE_H
#define TIRC_SCOPE_H

#include "access.h"
#include "iterate.h"

/* The innermost block around s; NULL if s is the outermost block. */
struct stmt *scope_of(const struct stmt *s);
/* The statement that contains s among the statements directly in the body of
 * s's scope; the body itself if it is not a SEQ. */
struct stmt *scope_child(const struct stmt *s);
/* All blocks at or below s but not inside other blocks. */
void blocks_below(struct func *f, struct stmt *s, struct stmt_list *out);
/* The loops of f that have the given note, in program order. */
struct stmt_list loops_noted(struct func *f, const char *note);
/* Does s come before t in program order? s must not contain t, nor t contain
 * s. */
bool stmt_before(const struct func *f, const struct stmt *s,
		 const struct stmt *t);

/* Does block a write a buffer that block b reads? */
bool block_feeds(const struct stmt *a, const struct stmt *b);

/* Recomputes a block's read and write regions from its body. */
void block_refresh(struct func *f, struct stmt *block);
/* Recomputes the read and write regions of all blocks of f that have
 * regions. */
void blocks_refresh(struct func *f);
/* Binds v, the variable of a loop, for the simplification of a block's
 * bindings: v is not replaced by a constant if it depends on a size whether the
 * loop has one iteration or none, because the loops of a reduction are found by
 * the bindings that use their variables. If keep_units is set, v is not
 * replaced either if the loop has exactly one iteration. */
void bind_kept(struct analyser *a, const struct var *v, const struct expr *min,
	       const struct expr *extent, bool keep_units);
/* Simplifies bindings and predicates of the blocks at or below s, with the
 * variables of the loops around them bound by bind_kept. */
void bindings_simplify(struct func *f, struct stmt *s, bool keep_units);
/* Three functions on the allocations of a scope: the first adds the buffer b,
 * the second tells whether b is among them, the third removes b. */
void scope_add_alloc(struct func *f, struct stmt *scope,
		     const struct buffer *b);
bool scope_owns(const struct stmt *scope, const struct buffer *b);
void scope_drop_alloc(struct func *f, struct stmt *scope,
		      const struct buffer *b);
/* Replaces the buffer `from` by `to` everywhere: in statements, allocations,
 * regions and parameters. */
void buffer_swap_all(struct func *f, const struct buffer *from,
		     const struct buffer *to);

/* Is the index in each dimension an iter var of the block, a different one in
 * each, or 0 in a dimension of extent 1? Sets iter_of[d] to the number of the
 * iter var in dimension d, or to -1 if the index is 0. */
bool identity_index(const struct stmt *block, const struct buffer *b,
		    const struct expr *const *index, int *iter_of);
/* The body of the block if it is a STORE; NULL if it is any other statement. */
struct stmt *sole_store(const struct stmt *block);
/* Makes loops around block over the given ranges of its iter vars, outermost
 * first and named after the iter vars; a range of extent 1 gets no loop, unless
 * unit_loops is set. context: the statement that will be around the new nest,
 * or NULL. If a loop's value may be outside of an iter var's domain, a
 * condition is added to the predicate. Returns the nest. */
struct stmt *nest_for_block(struct func *f, struct stmt *block,
			    const struct range *ranges,
			    const struct stmt *context, bool unit_loops);
/* The name of an iter var's axis, without the prefix of iter vars: "v_h" ->
 * "h". */
const char *iter_axis_name(const char *iter_name);

#endif
