/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the primitives that insert a copy between a block and a buffer:
 * accesses, names, and blocks that copy. */
#ifndef TIRC_COPY_BLOCK_H
#define TIRC_COPY_BLOCK_H

#include "edit.h"
#include "primitive.h"

/* The innermost block around s; s itself if it is a block. */
struct stmt *block_around(struct stmt *s);
/* The only block that stores into b; NULL if no block does, or several do. */
struct stmt *sole_writer(struct func *f, const struct buffer *b);
/* Does a statement at or below s store into b (writes_below), or load from b
 * (reads_below)? */
bool writes_below(struct func *f, struct stmt *s, const struct buffer *b);
bool reads_below(struct func *f, struct stmt *s, const struct buffer *b);

/* The buffer that the argument `index` (PARAM_READ_INDEX, PARAM_WRITE_INDEX or
 * PARAM_BUFFER) of a primitive denotes in the block. */
const struct buffer *read_arg(const struct stmt *block,
			      const struct sched_value *index);
const struct buffer *write_arg(const struct stmt *block,
			       const struct sched_value *index);
const struct buffer *buffer_arg(const struct stmt *block,
				const struct sched_value *value, bool *writes);

/* A name that no block has yet: name, or name_1, … */
const char *free_block_name(struct edit *e, const char *name);
/* A name that no buffer has yet: name, or name2, … */
const char *free_buffer_name(struct edit *e, const char *name);
/* A new buffer, not allocated yet, with the given name, scope and shape; if an
 * argument is NULL or negative, the property of b is used. */
const struct buffer *buffer_variant(struct edit *e, const struct buffer *b,
				    const char *name, const char *scope,
				    int ndim, const struct expr *const *shape);

/* The index that all of the block's accesses to b have, if it depends only on
 * the block's iter vars; NULL after a diagnostic. */
const struct expr *const *common_index(struct edit *e, struct stmt *block,
				       const struct buffer *b);
/* Is the index provably within the bounds of b for all values of the block's
 * iter vars? If `load`, a load or IFs around a load, is not NULL, only values
 * count for which its conditions hold. */
bool index_in_bounds(struct edit *e, const struct stmt *block,
		     const struct expr *load, const struct buffer *b,
		     const struct expr *const *index);
/* Checks that the block stores elements of its output b before it loads any: else a
 * copy of b that the block writes would begin without values. False after a
 * diagnostic. */
bool check_begins(struct edit *e, struct stmt *block, const struct buffer *b);
/* Do the loops give iter var i of the block all values of its domain? In a part of a
 * partitioned loop they do not, although the iter var keeps its full domain. */
bool runs_through(struct edit *e, const struct stmt *block, int i);
/* Is the statement `at` executed for all values of the block's iter vars? The
 * domains must imply the block's predicate, and no IF may guard the
 * statement. */
bool runs_everywhere(struct edit *e, const struct stmt *block,
		     const struct stmt *at);
/* The conjunction of the conditions under which `at` runs (true if there are
 * none). NULL if a condition is not known, or uses a variable that is bound at
 * or below top. */
const struct expr *conditions_outside(struct edit *e, const struct stmt *block,
				      const struct stmt *at,
				      const struct stmt *top);
/* Is each iter var bound to a separate loop variable? */
bool trivial_bindings(const struct stmt *block);
/* The loop whose variable alone is bound to iter var i of the block; NULL if
 * the binding is another expression. */
struct stmt *binding_loop(const struct stmt *block, int i);

/* Makes n spatial iter vars with the extents and names of the iter vars `like`;
 * the new ones start at 0. */
struct iter_var *fresh_iters(struct edit *e, const struct iter_var *like,
			     int n);
/* New iter vars, one for each dimension of b. The iter var of dimension d has
 * the name of the variable index[d], or "v_i<d>" if index is NULL or index[d]
 * is not a variable. */
struct iter_var *dim_iters(struct edit *e, const struct buffer *b,
			   const struct expr *const *index);
/* Makes the loop nest for iters around to[index] = value. The predicate may be
 * NULL. *block is set to the block, unless block is NULL. */
struct stmt *store_nest(struct edit *e, const char *name,
			const struct iter_var *iters, int n_iters,
			const struct expr *predicate, const struct buffer *to,
			const struct expr *const *index,
			const struct expr *value, struct stmt **block);
/* Makes a loop nest over the box around the block to[…] = from[…], for two
 * buffers of the same shape. The block gets a predicate if the box may exceed
 * the buffers. like: an index whose variables give the axes their names, or
 * NULL. context: the statement that will contain the nest; loops of extent 1
 * are then left out; or NULL. */
struct stmt *copy_box_nest(struct edit *e, const char *name,
			   const struct buffer *to, const struct buffer *from,
			   const struct range *box,
			   const struct expr *const *like,
			   const struct stmt *context, struct stmt **copy);
/* Does the block store every element of the box in the loops from top
 * (included) on? The block's iter vars must be the indices of its store, each
 * bound to loops of its own. Compares the numbers of iterations and of
 * elements. */
bool loops_fill_box(struct edit *e, const struct stmt *block,
		    const struct stmt *top, const struct range *box, int ndim);
/* Does the box contain elements of b that neither s nor a statement below it
 * stores, such as the padding of a layout? If the position of the box depends
 * on loops, it counts as being anywhere in b; but a box of a single element
 * counts as an element that is stored. */
bool leaves_unstored(struct edit *e, struct stmt *s, const struct buffer *b,
		     const struct range *box);
/* Does the block store different elements for different values of its iter
 * vars? In a ring buffer it does not. */
bool stores_distinct_elements(struct edit *e, const struct stmt *block,
			      const struct stmt *store);
/* Inserts the statement `added` before the statement `at`, or, if `after` is
 * set, after it. */
void insert_beside(struct edit *e, struct stmt *at, struct stmt *added,
		   bool after);
/* Recomputes the read and write regions of a block and of its inner blocks. */
void refresh_inside(struct edit *e, struct stmt *block);
/* Replaces the buffer `from` by `to` in allocations and declared regions, after
 * its accesses have become accesses of `to`. */
void buffer_follow(struct edit *e, const struct buffer *from,
		   const struct buffer *to);
/* Are all buffers that x reads, except `but`, complete before `top`, a child of
 * a scope? */
bool inputs_ready(struct edit *e, const struct expr *x, const struct stmt *top,
		  const struct buffer *but);
/* A block that has one of the loads in its init part, and whose reduction is
 * driven by the loop or a loop around it, so that the init runs before the
 * loop. NULL if there is no such block. */
const struct stmt *init_before_loop(const struct stmt *loop,
				    const struct access_list *loads);
/* Are the elements that the block reads provably different from the elements
 * that `write` writes, in each iteration of the loops that are around both the
 * block and `last`? */
bool reads_elsewhere(struct edit *e, struct stmt *block, struct stmt *last,
		     const struct access *write);
/* A buffer with elements that the block reads and that are overwritten before
 * `last` or in the loops around `last`. NULL if there is none: then the block
 * can be moved to `last`. */
const struct buffer *input_changed(struct edit *e, struct stmt *block,
				   struct stmt *last);

#endif
