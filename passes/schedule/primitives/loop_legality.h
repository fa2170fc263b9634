/* SPDX-License-Identifier: Apache-2.0 */
/* Legality checks of reorder and of loop kinds, based on the iteration maps of
 * the blocks' bindings. A check that fails reports the reason and returns
 * false. */
#ifndef TIRC_LOOP_LEGALITY_H
#define TIRC_LOOP_LEGALITY_H

#include "edit.h"

/* Do the loops from `top` (included) to the block give each combination of
 * values of the block's iter vars at most once? */
bool bindings_injective(struct func *f, const struct stmt *top,
			const struct stmt *block);
/* May the loops of the nest from top to inner be permuted to `order` (n loops,
 * outermost first)? The new order must not start a reduction again or repeat
 * it, and data that one block below the loops produces for another must be
 * consumed in the same iteration. Loops of ordered iter vars keep their
 * relative order; other loops may move past them if their iterations access
 * disjoint elements. */
bool loops_permutable(struct edit *e, struct stmt *top, struct stmt *inner,
		      struct stmt *const *order, int n);
/* Does the block have ordered iter vars? */
bool block_is_ordered(const struct stmt *block);
/* Do instances of the block use results of others, so that they must run in their
 * order, all of them before what reads the results? True of a block that loads elements
 * of its output with other indices than it stores with. */
bool block_depends_on_itself(struct edit *e, struct stmt *block);
/* May the iterations of the block's reduction, if it is one, come in another order?
 * False after a diagnostic: then its update is not associative and commutative. */
bool reduction_is_free(struct edit *e, struct stmt *block);
/* Do all accesses of the block to b use the iter vars that the loop drives as
 * plain indices, so that its iterations access disjoint elements? */
bool accesses_disjoint(struct edit *e, struct stmt *block,
		       const struct stmt *loop, const struct buffer *b);
/* May the iterations of the loop run in parallel? The loop must not drive a
 * reduction, and no two iterations may write the same element; buffers that are
 * private to an iteration do not count. */
bool iterations_independent(struct edit *e, struct stmt *loop);
/* The first condition of iterations_independent alone: the loop drives no
 * reduction or scan. together: a reduction with an init part is allowed,
 * because it becomes a cross-thread reduction. False after a diagnostic. */
bool no_reduction(struct edit *e, struct stmt *loop, bool together);

#endif
