/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives share: handles, failing softly, the trace, and moving
 * blocks about. */
#ifndef TIRC_SCHED_EDIT_H
#define TIRC_SCHED_EDIT_H

#include "access.h"
#include "schedule.h"

/* One primitive at work. */
struct edit {
	struct sched *s;
	struct func *f;
	struct module *m;
	const char *primitive;
	int checkpoint;
	struct sched_value decision; /* set by sampling primitives */
};

#define PRIMITIVE(name, kind, query, what, ...) primitive_fn prim_##name;
#define PRIMITIVE_PLAIN(name, kind, query, what) primitive_fn prim_##name;
#include "primitives.def"
#undef PRIMITIVE
#undef PRIMITIVE_PLAIN

/* Loops that sample_compute_location may give beside real ones: compute_at
 * then leaves the block where it is, or inlines it. */
enum { LOOP_ROOT = -1, LOOP_INLINE = -2 };

struct edit edit_begin(struct sched *s, const char *primitive);
/* Undoes what was done since edit_begin and reports; returns false. The
 * message says reason; remedy. */
bool edit_fail(struct edit *e, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* The loops of a list argument, outermost first as given; arena array. NULL
 * after reporting. */
struct stmt **edit_loops(struct edit *e, const struct sched_value *list);

/* NULL after reporting if there is no such loop or block. */
struct stmt *edit_loop(struct edit *e, int id);
struct stmt *edit_block(struct edit *e, int id);

/* False after reporting if an instruction (tensorize) holds b's address: it
 * has been told b's strides. */
bool edit_unpinned(struct edit *e, const struct buffer *b);

/* The block whose body s is part of; for the outermost block itself NULL. */
struct stmt *scope_of(const struct stmt *s);
/* The child of the scope's body (or the body) that contains s. */
struct stmt *scope_child(const struct stmt *s);
/* All blocks at or below s but not inside other blocks. */
struct stmt_list {
	VEC(struct stmt *) list;
};
void blocks_below(struct func *f, struct stmt *s, struct stmt_list *out);
/* s comes before t in program order (neither contains the other). */
bool stmt_before(const struct func *f, const struct stmt *s,
		 const struct stmt *t);

/* Does block a write what block b reads? */
bool block_feeds(const struct stmt *a, const struct stmt *b);

/* Recomputes what a block reads and writes from its body. */
void block_refresh(struct func *f, struct stmt *block);
/* Simplifies bindings and predicates of the blocks at or below s; variables of
 * loops of one iteration stay in them if keep_units. */
void bindings_simplify(struct func *f, struct stmt *s, bool keep_units);
/* Adds or removes a buffer that the scope owns. */
void scope_add_alloc(struct func *f, struct stmt *scope,
		     const struct buffer *b);
bool scope_owns(const struct stmt *scope, const struct buffer *b);
void scope_drop_alloc(struct func *f, struct stmt *scope,
		      const struct buffer *b);
bool is_param_buffer(const struct func *f, const struct buffer *b);
/* b's replacement everywhere: statements, allocs, regions, parameters. */
void buffer_swap_all(struct func *f, const struct buffer *from,
		     const struct buffer *to);

/* If every index is an iter var of the block of its own (or 0 where the
 * dimension has extent 1), which one each dimension is (-1 for the 0). */
bool identity_index(const struct stmt *block, const struct buffer *b,
		    const struct expr *const *index, int *iter_of);
/* The only STORE of a block's body, or NULL. */
struct stmt *sole_store(const struct stmt *block);
/* Where block's iter vars run over, outermost first; loops named after the
 * iters, none for an extent of 1 unless unit_loops. context: what is around
 * the new nest, or NULL. Adds predicate conjuncts where a value may leave the
 * iter's domain. Returns the nest around block. */
struct stmt *nest_for_block(struct func *f, struct stmt *block,
			    const struct range *ranges,
			    const struct stmt *context, bool unit_loops);
/* "v_h" -> "h" */
const char *iter_axis_name(const char *iter_name);

#endif
