/* SPDX-License-Identifier: Apache-2.0 */
/* Legality of reordering and of parallel execution of loops. */
#include "loop_legality.h"

#include "block_init.h"
#include "copy_block.h"
#include "iter_map.h"
#include "iterate.h"
#include "reduction_match.h"
#include "region.h"

static bool
injective_from(struct func *f, const struct stmt *top, const struct stmt *block)
{
	int n;
	struct iter_var *loops = loops_between(f, top, block, &n);
	struct iter_map map;
	struct analyser a;

	analyser_init(&a, f->module);
	analyser_enter_scope(&a, top);
	for (int i = 0; i < n; i++) {
		analyser_bind(&a, loops[i].var, loops[i].min, loops[i].extent);
	}
	/* With the predicate, the bindings may not be an iteration map; it is
	 * enough that they are injective without the predicate. */
	return iter_map_detect(&a, loops, n, NULL, block->args + 1,
			       block->u.block->n_iters, ITER_MAP_BIJECTIVE,
			       &map) ||
	       iter_map_detect(&a, loops, n, block->args[0], block->args + 1,
			       block->u.block->n_iters, ITER_MAP_BIJECTIVE,
			       &map);
}

bool
bindings_injective(struct func *f, const struct stmt *top,
		   const struct stmt *block)
{
	const struct stmt *all = scope_of(block) ? scope_child(block) : top;

	/* If the analysis fails for these loops, it may succeed for these and
	 * the loops around `top`: a map that is injective in all these loops is
	 * also injective in some of them. */
	return injective_from(f, top, block) ||
	       (all != top && injective_from(f, all, block));
}

/* -- iterations in any order */

/* Checks the loops from `top` to `inner`: none of them may drive both spatial
 * and reduction iter vars of the block, because the iterations of such a loop,
 * in the middle of which a reduction starts, must keep their order. False after
 * a diagnostic. */
static bool
check_unmixed(struct edit *e, const struct stmt *block, const struct stmt *top,
	      const struct stmt *inner)
{
	for (const struct stmt *p = inner;; p = p->parent) {
		if (loop_drives(p, block, true) &&
		    loop_drives(p, block, false)) {
			return edit_fail(e,
					 "loop %s drives spatial and "
					 "reduction iter vars of block %s; "
					 "reorder before fusing",
					 p->u.loop.var->name,
					 block->u.block->name);
		}
		if (p == top) {
			return true;
		}
	}
}

bool
block_is_ordered(const struct stmt *block)
{
	const struct block *b = block->u.block;

	for (int k = 0; k < b->n_iters; k++) {
		if (b->iters[k].kind != ITER_SPATIAL &&
		    b->iters[k].kind != ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

/* Does the loop drive an iter var that is not spatial? (In a block with an
 * ordered iter var, reductions must keep their order, too.) */
static bool
drives_ordered(const struct stmt *loop, const struct stmt *block)
{
	const struct block *b = block->u.block;

	for (int k = 0; k < b->n_iters; k++) {
		if (b->iters[k].kind != ITER_SPATIAL &&
		    expr_uses_var(block->args[k + 1], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Have all accesses v as their index in one and the same dimension? */
static bool
have_own_index(const struct access_list *all, const struct buffer *b,
	       const struct var *v)
{
	for (int d = 0; d < b->ndim; d++) {
		bool own = true;

		for (int i = 0; i < all->list.n; i++) {
			const struct access *x = &all->list.data[i];

			own &= !x->address && x->index[d] == v->expr;
		}
		if (own) {
			return true;
		}
	}
	return all->list.n == 0;
}

bool
accesses_disjoint(struct edit *e, struct stmt *block, const struct stmt *loop,
		  const struct buffer *b)
{
	const struct block *info = block->u.block;
	struct access_list all = accesses_of(e->f, block, b);

	for (int k = 0; k < info->n_iters; k++) {
		if (expr_uses_var(block->args[k + 1], loop->u.loop.var) &&
		    (info->iters[k].kind != ITER_SPATIAL ||
		     !have_own_index(&all, b, info->iters[k].var))) {
			return false;
		}
	}
	return true;
}

/* May the block read, in one iteration of the loop, an element that it writes in
 * another one, though the iter vars that the loop drives are declared as spatial? */
static bool
reads_own_elsewhere(struct edit *e, struct stmt *block, const struct stmt *loop)
{
	const struct block *info = block->u.block;

	for (int i = 0; i < info->n_writes; i++) {
		const struct buffer *b = info->writes[i].buffer;

		if (access_loads_others(e->f, block->children[0], b) &&
		    !accesses_disjoint(e, block, loop, b)) {
			return true;
		}
	}
	return false;
}

bool
block_depends_on_itself(struct edit *e, struct stmt *block)
{
	const struct block *info = block->u.block;

	for (int i = 0; i < info->n_writes; i++) {
		if (access_loads_others(e->f, block->children[0],
					info->writes[i].buffer)) {
			return true;
		}
	}
	return false;
}

/* Is each store of the block a sum, product, minimum or maximum of the stored element
 * and of what does not depend on it? */
static bool
combines_only(const struct stmt *block)
{
	struct stmt *s;
	bool all = true;

	for (struct stmt_iter it = stmt_each_of(block->children[0], STMT_STORE);
	     (s = stmt_next(&it));) {
		int own = access_own_operand(s);

		all &= own >= 0 && expr_combines(s->args[0]) &&
		       !expr_uses_buffer(s->args[0]->args[1 - own],
					 s->u.buffer);
	}
	return all;
}

bool
reduction_is_free(struct edit *e, struct stmt *block)
{
	struct block_reduction r;
	struct reducer_facts facts;
	const char *why;
	bool reduces = false;

	for (int i = 0; i < block->u.block->n_iters; i++) {
		reduces |= block->u.block->iters[i].kind == ITER_REDUCE;
	}
	if (!reduces || combines_only(block)) {
		return true;
	}
	if (match_reduction(e->f, block, &r, &why)) {
		facts = reducer_try(e->m, r.reducer);
		if (facts.associative && facts.commutative) {
			return true;
		}
	}
	return edit_fail(e,
			 "the update of block %s depends on the order of its "
			 "iterations, which is fixed",
			 block->u.block->name);
}

static int
place_in(struct stmt *const *order, int n, const struct stmt *loop)
{
	for (int i = 0; i < n; i++) {
		if (order[i] == loop) {
			return i;
		}
	}
	return -1;
}

/* May two loops, of which outer is around inner, be exchanged as far as the
 * block's ordered iter vars are concerned? False after a diagnostic. */
static bool
may_pass(struct edit *e, struct stmt *block, const struct stmt *outer,
	 const struct stmt *inner)
{
	bool first = drives_ordered(outer, block);
	bool second = drives_ordered(inner, block);
	const struct stmt *apart = first ? inner : outer;
	const struct block *b = block->u.block;

	if (!first && !second) {
		return true;
	}
	for (int i = 0; i < b->n_writes && !(first && second); i++) {
		if (!accesses_disjoint(e, block, apart, b->writes[i].buffer)) {
			first = second = true;
		}
	}
	return (first && second)
		       ? edit_fail(
				 e,
				 "block %s has an ordered iter var; loops %s and "
				 "%s keep their order",
				 b->name, outer->u.loop.var->name,
				 inner->u.loop.var->name)
		       : true;
}

/* Checks that loops across which the block reads what it has written keep their order.
 * False after a diagnostic. */
static bool
check_own_reads(struct edit *e, struct stmt *block, const struct stmt *top,
		const struct stmt *inner, struct stmt *const *order, int n)
{
	for (const struct stmt *p = inner; p != top; p = p->parent) {
		if (!reads_own_elsewhere(e, block, p)) {
			continue;
		}
		for (const struct stmt *q = p->parent;; q = q->parent) {
			if (place_in(order, n, p) < place_in(order, n, q) &&
			    reads_own_elsewhere(e, block, q)) {
				return edit_fail(
					e,
					"block %s reads elements that other "
					"iterations of it write; loops %s and "
					"%s keep their order",
					block->u.block->name,
					q->u.loop.var->name,
					p->u.loop.var->name);
			}
			if (q == top) {
				break;
			}
		}
	}
	return true;
}

/* Does the new order move a reduction loop of the block past another one? */
static bool
turns_reduction(const struct stmt *block, const struct stmt *top,
		const struct stmt *inner, struct stmt *const *order, int n)
{
	for (const struct stmt *p = inner; p != top; p = p->parent) {
		for (const struct stmt *q = p->parent;; q = q->parent) {
			if (place_in(order, n, p) < place_in(order, n, q) &&
			    loop_drives(p, block, true) &&
			    loop_drives(q, block, true)) {
				return true;
			}
			if (q == top) {
				break;
			}
		}
	}
	return false;
}

static bool
check_order(struct edit *e, struct stmt *block, const struct stmt *top,
	    const struct stmt *inner, struct stmt *const *order, int n)
{
	if (!block_is_ordered(block)) {
		return check_own_reads(e, block, top, inner, order, n) &&
		       (!turns_reduction(block, top, inner, order, n) ||
			reduction_is_free(e, block));
	}
	if (!bindings_injective(e->f, top, block)) {
		return edit_fail(e,
				 "block %s has an ordered iter var; its "
				 "loops keep their order",
				 block->u.block->name);
	}
	for (const struct stmt *p = inner; p != top; p = p->parent) {
		for (const struct stmt *q = p->parent;; q = q->parent) {
			/* Does the new order move p outside of q? */
			if (place_in(order, n, p) < place_in(order, n, q) &&
			    !may_pass(e, block, q, p)) {
				return false;
			}
			if (q == top) {
				break;
			}
		}
	}
	return true;
}

/* Checks that the loops from `top` on run each iteration of the block's
 * reduction only once: else the loops would repeat the reduction together with
 * its init. False after a diagnostic. */
static bool
check_restarts(struct edit *e, const struct stmt *top, const struct stmt *block)
{
	if (block->children[1] && !bindings_injective(e->f, top, block)) {
		return edit_fail(e,
				 "the loops from %s on do not run each "
				 "iteration of reduction %s once; its order "
				 "is fixed unless it is decomposed",
				 top->u.loop.var->name, block->u.block->name);
	}
	return true;
}

static bool
nest_reduces(const struct stmt *top, const struct stmt *inner,
	     const struct stmt *block)
{
	for (const struct stmt *p = inner;; p = p->parent) {
		if (loop_drives(p, block, true)) {
			return true;
		}
		if (p == top) {
			return false;
		}
	}
}

/* Does the block `from` store, in each iteration of the loops from `top` to
 * `inner`, all elements of b that the block `to` reads in the same iteration,
 * and do the stored values not depend on the order of the iterations? */
static bool
produced_in_iteration(struct edit *e, struct stmt *top, struct stmt *inner,
		      struct stmt *from, struct stmt *to,
		      const struct buffer *b)
{
	struct module *m = e->m;
	struct stmt *body = inner->children[0];
	struct range *made = arena_array(&m->arena, struct range, b->ndim + 1);
	struct range *used = arena_array(&m->arena, struct range, b->ndim + 1);
	bool writes = regions_have(to->u.block->writes, to->u.block->n_writes,
				   b);
	struct analyser a;

	if (nest_reduces(top, inner, from) || !stmt_before(e->f, from, to)) {
		return false;
	}
	if (!region_accessed(e->f, body, from, b, true, made)) {
		return false;
	}
	if (!region_accessed(e->f, body, to, b, writes, used) &&
	    !region_accessed(e->f, body, to, b, false, used)) {
		return false;
	}
	analyser_init(&a, m);
	analyser_enter_scope(&a, body);
	return region_covers(&a, made, used, b->ndim);
}

static bool
check_pair(struct edit *e, struct stmt *top, struct stmt *inner, struct stmt *x,
	   struct stmt *y)
{
	const struct block *later = y->u.block;

	for (int i = 0; i < x->u.block->n_writes; i++) {
		const struct buffer *b = x->u.block->writes[i].buffer;
		bool writes = regions_have(later->writes, later->n_writes, b);

		if (!writes && !regions_have(later->reads, later->n_reads, b)) {
			continue;
		}
		if (!produced_in_iteration(e, top, inner, x, y, b) &&
		    !(writes &&
		      produced_in_iteration(e, top, inner, y, x, b))) {
			return edit_fail(e,
					 "block %s may read elements that "
					 "block %s writes to %s in another "
					 "iteration; the loops around both "
					 "keep their order",
					 y->u.block->name, x->u.block->name,
					 b->name);
		}
	}
	return true;
}

bool
loops_permutable(struct edit *e, struct stmt *top, struct stmt *inner,
		 struct stmt *const *order, int n)
{
	struct stmt_list blocks = { 0 };

	blocks_below(e->f, top, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];

		if (!check_unmixed(e, b, top, inner) ||
		    !check_order(e, b, top, inner, order, n) ||
		    !check_restarts(e, top, b)) {
			return false;
		}
		for (int k = 0; k < blocks.list.n; k++) {
			if (k != i && !check_pair(e, top, inner, b,
						  blocks.list.data[k])) {
				return false;
			}
		}
	}
	return true;
}

/* -- may iterations be executed at the same time? -- */

static bool
drives_kind(const struct stmt *block, const struct var *v, enum iter_kind kind)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == kind &&
		    expr_uses_var(block->args[i + 1], v)) {
			return true;
		}
	}
	return false;
}

/* Is the buffer, which must not be a parameter, used only inside of the
 * loop? */
static bool
used_inside_only(struct edit *e, const struct stmt *loop,
		 const struct buffer *b)
{
	struct access_list all = { 0 };

	if (func_has_param(e->f, b)) {
		return false;
	}
	access_collect(e->f, e->f->body, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!stmt_contains(loop, all.list.data[i].at)) {
			return false;
		}
	}
	return true;
}

static bool
check_writes(struct edit *e, struct stmt *loop, const struct stmt *block)
{
	const struct block *b = block->u.block;

	if (expr_is_value(loop->args[1], 1) ||
	    bindings_injective(e->f, loop, block)) {
		return true;
	}
	for (int i = 0; i < b->n_writes; i++) {
		if (!used_inside_only(e, loop, b->writes[i].buffer)) {
			return edit_fail(e,
					 "iterations of loop %s may write "
					 "the same elements of %s in block "
					 "%s; move the block outside, or all "
					 "of its readers inside",
					 loop->u.loop.var->name,
					 b->writes[i].buffer->name, b->name);
		}
	}
	return true;
}

/* The ring buffer that the block fills while the loop runs; NULL if the block
 * fills none. If it fills one, the iterations of the loop must stay in
 * order. */
static const struct buffer *
find_ring(struct edit *e, const struct stmt *loop, const struct stmt *block)
{
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(block->children[0], STMT_STORE);
	     (s = stmt_next(&it));) {
		bool turns = false;

		for (int d = 1; d < s->n_args; d++) {
			turns |= expr_has(s->args[d], EXPR_FLOORMOD);
		}
		if (turns && loop_drives(loop, block, false) &&
		    !stores_distinct_elements(e, block, s)) {
			return s->u.buffer;
		}
	}
	return NULL;
}

static bool
check_rings(struct edit *e, struct stmt *loop, struct stmt *block)
{
	const struct buffer *ring = find_ring(e, loop, block);

	return !ring ||
	       edit_fail(e,
			 "block %s uses %s as a ring buffer along loop %s, "
			 "whose iterations must run in order",
			 block->u.block->name, ring->name,
			 loop->u.loop.var->name);
}

bool
no_reduction(struct edit *e, struct stmt *loop, bool together)
{
	const struct var *v = loop->u.loop.var;
	struct stmt_list blocks = { 0 };

	blocks_below(e->f, loop, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];

		if (!check_rings(e, loop, b)) {
			return false;
		}
		if (loop_drives(loop, b, false) &&
		    reads_own_elsewhere(e, b, loop)) {
			return edit_fail(e,
					 "block %s reads elements that other "
					 "iterations of loop %s write; only a "
					 "loop with independent iterations "
					 "qualifies",
					 b->u.block->name, v->name);
		}
		for (int k = ITER_SPATIAL; k <= ITER_OPAQUE; k++) {
			if (k == ITER_REDUCE && together && b->children[1]) {
				continue;
			}
			if (k != ITER_SPATIAL &&
			    drives_kind(b, v, (enum iter_kind)k)) {
				return edit_fail(e,
						 "loop %s drives a reduction "
						 "or scan of block %s; only "
						 "a loop with independent "
						 "iterations qualifies",
						 v->name, b->u.block->name);
			}
		}
	}
	return true;
}

/* Checks that no block reads elements that another one writes in another iteration of
 * the loop. False after a diagnostic. */
static bool
check_pairs(struct edit *e, struct stmt *loop, const struct stmt_list *blocks)
{
	for (int i = 0; i < blocks->list.n; i++) {
		for (int k = 0; k < blocks->list.n; k++) {
			if (k != i &&
			    !check_pair(e, loop, loop, blocks->list.data[i],
					blocks->list.data[k])) {
				return false;
			}
		}
	}
	return true;
}

bool
iterations_independent(struct edit *e, struct stmt *loop)
{
	struct stmt_list blocks = { 0 };

	if (!no_reduction(e, loop, false)) {
		return false;
	}
	blocks_below(e->f, loop, &blocks);
	if (!check_pairs(e, loop, &blocks)) {
		return false;
	}
	for (int i = 0; i < blocks.list.n; i++) {
		if (!check_writes(e, loop, blocks.list.data[i])) {
			return false;
		}
	}
	return true;
}
