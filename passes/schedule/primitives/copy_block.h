/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives that put a buffer between a block and another buffer
 * share: finding the accesses, names, and blocks that copy. */
#ifndef TIRC_SCHED_COPY_H
#define TIRC_SCHED_COPY_H

#include "edit.h"
#include "primitive.h"

/* The innermost block around s (s itself if it is one). */
struct stmt *block_around(struct stmt *s);
/* The one block that stores into b; NULL: none or several. */
struct stmt *sole_writer(struct func *f, const struct buffer *b);
/* Does anything at or below s store into b (load from b)? */
bool writes_below(struct func *f, struct stmt *s, const struct buffer *b);
bool reads_below(struct func *f, struct stmt *s, const struct buffer *b);

/* The buffer that a PARAM_READ_INDEX, PARAM_WRITE_INDEX or PARAM_BUFFER
 * argument means. */
const struct buffer *read_arg(const struct stmt *block,
			      const struct sched_value *index);
const struct buffer *write_arg(const struct stmt *block,
			       const struct sched_value *index);
const struct buffer *buffer_arg(const struct stmt *block,
				const struct sched_value *value, bool *writes);

/* name, or name_1, … */
const char *free_block_name(struct edit *e, const char *name);
/* name, or name2, … */
const char *free_buffer_name(struct edit *e, const char *name);
/* b's twin, owned by nobody yet: NULL or a negative number keeps. */
const struct buffer *buffer_twin(struct edit *e, const struct buffer *b,
				 const char *name, const char *scope, int ndim,
				 const struct expr *const *shape);

/* The index of every access to b in the block, if all agree and speak of the
 * block's iter vars alone; NULL after reporting. */
const struct expr *const *common_index(struct edit *e, struct stmt *block,
				       const struct buffer *b);
/* Proves that the index stays inside of b while the block's iter vars run. */
bool index_in_bounds(struct edit *e, const struct stmt *block,
		     const struct buffer *b, const struct expr *const *index);
/* Does the block run for each value of its iter vars? Its predicate follows
 * from their domains, and no IF in its body leaves the statement out. */
bool runs_everywhere(struct edit *e, const struct stmt *block,
		     const struct stmt *at);
/* The conjuncts of the block's predicate that speak of nothing bound at or
 * below top, as one (true if there are none). NULL if anything else may leave
 * the statement at out of a value of the iter vars. */
const struct expr *conditions_outside(struct edit *e, const struct stmt *block,
				      const struct stmt *at,
				      const struct stmt *top);
/* Each iter var is bound to a loop of its own around the block. */
bool trivial_bindings(const struct stmt *block);
/* The loop that alone binds iter i of the block, or NULL. */
struct stmt *binding_loop(const struct stmt *block, int i);

/* Fresh spatial iter vars 0..extent named like the old ones. */
struct iter_var *fresh_iters(struct edit *e, const struct iter_var *like,
			     int n);
/* One iter var per dimension; names like those of index, or "i0", … */
struct iter_var *dim_iters(struct edit *e, const struct buffer *b,
			   const struct expr *const *index);
/* for iters: to[index] = value, with a predicate or NULL; the block goes to
 * *block if that is not NULL. */
struct stmt *store_nest(struct edit *e, const char *name,
			const struct iter_var *iters, int n_iters,
			const struct expr *predicate, const struct buffer *to,
			const struct expr *const *index,
			const struct expr *value, struct stmt **block);
/* for the box: to[…] = from[…], two buffers of one shape, under a predicate
 * where the box may reach beyond them. like: an index whose variables name the
 * axes, or NULL; context: a statement that the nest will stand in (beside
 * others, and loops of extent 1 go), or NULL. */
struct stmt *copy_box_nest(struct edit *e, const char *name,
			   const struct buffer *to, const struct buffer *from,
			   const struct range *box,
			   const struct expr *const *like,
			   const struct stmt *context, struct stmt **copy);
/* Do the loops from top (included) to the block, which writes at its own iter
 * vars, each driven by loops of its own, fill all of the box? As many points
 * as elements. */
bool loops_fill_box(struct edit *e, const struct stmt *block,
		    const struct stmt *top, const struct range *box, int ndim);
/* Are there elements of the box that nothing at or below s stores? So it is
 * with the padding of a layout. A box that moves with loops may be anywhere,
 * but a single element is taken for the one that is read. */
bool leaves_gaps(struct edit *e, struct stmt *s, const struct buffer *b,
		 const struct range *box);
/* Does the block store each value of its iter vars to a place of its own? In a
 * ring it does not. */
bool has_own_places(struct edit *e, const struct stmt *block,
		    const struct stmt *store);
/* Puts added before or after at. */
void insert_beside(struct edit *e, struct stmt *at, struct stmt *added,
		   bool after);
/* Recomputes what a block and the blocks inside of it read and write. */
void refresh_inside(struct edit *e, struct stmt *block);
/* What owns or declares from owns or declares to, after the accesses have
 * changed. */
void buffer_follow(struct edit *e, const struct buffer *from,
		   const struct buffer *to);
/* Is all that x reads (but for the buffer but) complete before the child top
 * of a scope? */
bool inputs_ready(struct edit *e, const struct expr *x, const struct stmt *top,
		  const struct buffer *but);
/* A block that reads one of these in its init, which runs before the loop does:
 * the loop, or one around it, drives its reduction. NULL: none. */
const struct stmt *started_before(const struct stmt *loop,
				  const struct access_list *loads);
/* A buffer that the block reads and that is written again before last, or in
 * the loops around last; NULL: the block may as well run there. */
const struct buffer *input_changed(struct edit *e, struct stmt *block,
				   const struct stmt *last);

#endif
