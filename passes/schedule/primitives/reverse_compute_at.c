/* SPDX-License-Identifier: Apache-2.0 */
/* reverse_compute_at: moves a block into a loop of its producer, where it
 * computes only what follows from the region that one iteration produces.
 *
 *   for j:                                       for j:
 *       B[j] = A[j] * 2     reverse_compute_at(C, j)  B[j] = A[j] * 2
 *   for i: C[i] = B[i] + 1        ->                  C[j] = B[j] + 1 */
#include "compute_at.h"

#include "block_init.h"
#include "copy_block.h"
#include "loop_legality.h"

/* Collects the stores to b in the loop. True if all writers of b are in the
 * loop, and none of them reduces over this loop or a loop around it. */
static bool
produced_inside(struct edit *e, const struct buffer *b, struct stmt *loop,
		struct access_list *stores)
{
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		struct stmt *p = x->at, *writer;

		if (!access_writes(x)) {
			continue;
		}
		if (!stmt_contains(loop, x->at)) {
			return false;
		}
		while (p->kind != STMT_BLOCK) {
			p = p->parent;
		}
		writer = p;
		for (p = loop; p && p->kind != STMT_BLOCK; p = p->parent) {
			const struct block *w = writer->u.block;

			for (int k = 0; k < w->n_iters; k++) {
				if (p->kind == STMT_FOR &&
				    w->iters[k].kind != ITER_SPATIAL &&
				    expr_uses_var(writer->args[k + 1],
						  p->u.loop.var)) {
					return false;
				}
			}
		}
		vec_push(&e->m->arena, &stores->list, *x);
	}
	return stores->list.n > 0;
}

struct reverse {
	struct edit *e;
	struct stmt *block, *loop;
	struct range *ranges;
	bool *fixed;
	/* the first position in the loop's body at which the block may be
	 * put */
	int first;
	/* by load: the set of iter vars that index it, as bits */
	VEC(uint64_t) load_iters;
	/* the part of the condition under which the producers run that depends
	 * on loops around the body of the target loop */
	const struct expr *when;
};

/* Is the condition c implied by the domains of the block's iter vars? */
static bool
follows_from_domains(struct reverse *r, const struct stmt *block,
		     const struct expr *c)
{
	struct module *m = r->e->m;
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter_domains(&a, block);
	return prove(&a, c);
}

/* Handles c, a condition of the producer `block` that depends on loops inside
 * of r->loop. Where c fails in all iterations of these loops, there is nothing
 * to consume. Returns true if c provably holds in the first iteration. Also
 * returns true if c is an upper bound, which holds in the first iteration if it
 * holds in any: then c, for the first iteration, is added to the consumer's
 * condition. Else returns false, without a diagnostic. */
static bool
inherit_bound(struct reverse *r, const struct stmt *block, const struct expr *c)
{
	struct module *m = r->e->m;
	struct var *vars[16];
	const struct expr *firsts[16], *rest, *c0;
	int64_t coeff[16];
	struct var_map map = { vars, firsts, 0 };
	struct analyser a;
	bool bound = c->kind == EXPR_LT || c->kind == EXPR_LE;

	for (const struct stmt *p = block; p != r->loop; p = p->parent) {
		if (p->kind == STMT_FOR && expr_uses_var(c, p->u.loop.var)) {
			if (map.n == 16) {
				return false;
			}
			vars[map.n] = p->u.loop.var;
			firsts[map.n++] = p->args[0];
		}
	}
	c0 = expr_substitute(m, c, &map);
	analyser_at(&a, m, r->loop->children[0]);
	if (prove(&a, c0)) {
		return true;
	}
	bound = bound && !holds_data(&a, c) &&
		analyse_affine(&a, expr_sub(m, c->args[0], c->args[1]), vars,
			       map.n, coeff, &rest);
	for (int i = 0; i < map.n && bound; i++) {
		bound = coeff[i] >= 0;
	}
	if (bound) {
		r->when = r->when ? expr_and(m, r->when, c0) : c0;
	}
	return bound;
}

/* Makes the consumer inherit the predicate of the store's block: conjuncts on
 * loops outside of the body become conditions of the consumer; conjuncts on
 * loops of the body must be implied by the consumer's domain. False after a
 * diagnostic. */
static bool
inherit_predicate(struct reverse *r, const struct access *store)
{
	struct module *m = r->e->m;
	struct stmt *block = store->at;
	struct conjuncts all = { 0 };

	while (block->kind != STMT_BLOCK) {
		block = block->parent;
	}
	expr_conjuncts(m, block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		bool inside = false, spatial = false;

		for (const struct stmt *p = block; p != r->loop;
		     p = p->parent) {
			if (p->kind == STMT_FOR &&
			    expr_uses_var(c, p->u.loop.var)) {
				inside = true;
				spatial |= loop_drives(p, block, false);
			}
		}
		if (!inside) {
			r->when = r->when ? expr_and(m, r->when, c) : c;
		} else if (spatial && (!follows_from_domains(r, block, c) ||
				       !inherit_bound(r, block, c))) {
			return false;
		}
	}
	return true;
}

/* The iter vars as a set of bits; iter vars from number 64 on are left out. */
static uint64_t
iters_mask(const int *iter_of, int n)
{
	uint64_t mask = 0;

	for (int d = 0; d < n; d++) {
		if (iter_of[d] >= 0 && iter_of[d] < 64) {
			mask |= (uint64_t)1 << iter_of[d];
		}
	}
	return mask;
}

static bool
are_together(const struct reverse *r, int x, int y)
{
	uint64_t both = x < 64 && y < 64 ? (uint64_t)1 << x | (uint64_t)1 << y
					 : 0;

	for (int i = 0; i < r->load_iters.n && both; i++) {
		if ((r->load_iters.data[i] & both) == both) {
			return true;
		}
	}
	return false;
}

/* Checks that no loop restricts two iter vars of the block, unless an input is
 * indexed by both. If it did, the block would combine only values that are
 * produced in the same iteration, and the other pairs in its domain would be
 * lost. False after a diagnostic. */
static bool
check_pairs(struct reverse *r)
{
	int n = r->block->u.block->n_iters;

	for (int x = 0; x < n; x++) {
		for (int y = x + 1; y < n; y++) {
			if (!r->fixed[x] || !r->fixed[y] ||
			    are_together(r, x, y)) {
				continue;
			}
			for (const struct stmt *p = r->loop;
			     p && p->kind != STMT_BLOCK; p = p->parent) {
				if (p->kind == STMT_FOR &&
				    expr_uses_var(r->ranges[x].min,
						  p->u.loop.var) &&
				    expr_uses_var(r->ranges[y].min,
						  p->u.loop.var)) {
					return edit_fail(
						r->e,
						"block %s needs elements of "
						"several iterations of loop "
						"%s at once; choose an outer "
						"loop",
						r->block->u.block->name,
						p->u.loop.var->name);
				}
			}
		}
	}
	return true;
}

/* Restricts the block's iter vars to the region of b that one iteration of the
 * loop produces. False after a diagnostic. */
static bool
restrict_by(struct reverse *r, const struct buffer *b,
	    const struct access_list *loads, const struct access_list *stores)
{
	struct edit *e = r->e;
	int *iter_of = arena_array(&e->m->arena, int, b->ndim + 1);
	struct range *made = arena_array(&e->m->arena, struct range,
					 b->ndim + 1);
	struct analyser a;

	if (!access_box(e->f, r->loop->children[0], stores->list.data,
			stores->list.n, made)) {
		return edit_fail(e,
				 "one iteration of loop %s does not write a "
				 "box of %s; choose an outer loop",
				 r->loop->u.loop.var->name, b->name);
	}
	for (int i = 0; i < stores->list.n; i++) {
		if (!loops_fill_box(r->e, block_around(stores->list.data[i].at),
				    r->loop->children[0], made, b->ndim) ||
		    !inherit_predicate(r, &stores->list.data[i])) {
			return edit_fail(e,
					 "one iteration of loop %s does not "
					 "write a whole box of %s; choose an "
					 "outer loop",
					 r->loop->u.loop.var->name, b->name);
		}
	}
	analyser_at(&a, e->m, r->loop->children[0]);
	for (int i = 0; i < loads->list.n; i++) {
		if (loads->list.data[i].buffer != b) {
			continue;
		}
		if (!identity_index(r->block, b, loads->list.data[i].index,
				    iter_of)) {
			return edit_fail(e,
					 "block %s does not read %s at its "
					 "own iter vars; it cannot move",
					 r->block->u.block->name, b->name);
		}
		vec_push(&e->m->arena, &r->load_iters,
			 iters_mask(iter_of, b->ndim));
		for (int d = 0; d < b->ndim; d++) {
			int k = iter_of[d];
			const struct iter_var *it;
			struct range part;

			if (k < 0) {
				continue;
			}
			it = &r->block->u.block->iters[k];
			part = made[d];
			if (!prove(&a,
				   expr_le(e->m, expr_i32(e->m, 0), it->min)) ||
			    !prove(&a,
				   expr_le(e->m,
					   expr_add(e->m, it->min, it->extent),
					   b->shape[d]))) {
				return edit_fail(e,
						 "block %s has further iter "
						 "vars than those that index "
						 "%s; it cannot move",
						 r->block->u.block->name,
						 b->name);
			}
			if (it->kind != ITER_SPATIAL &&
			    part.extent != it->extent) {
				return edit_fail(e,
						 "block %s reduces over more "
						 "elements of %s than one "
						 "iteration of loop %s "
						 "writes; choose an outer "
						 "loop",
						 r->block->u.block->name,
						 b->name,
						 r->loop->u.loop.var->name);
			}
			if (r->fixed[k] &&
			    (!prove_equal(&a, r->ranges[k].min, part.min) ||
			     r->ranges[k].extent != part.extent)) {
				return edit_fail(e,
						 "block %s reads different "
						 "parts of the elements that "
						 "loop %s writes; it cannot "
						 "move",
						 r->block->u.block->name,
						 r->loop->u.loop.var->name);
			}
			r->fixed[k] = true;
			r->ranges[k] = part;
		}
	}
	for (int i = 0; i < stores->list.n; i++) {
		int child = body_child_index(r->loop, stores->list.data[i].at);

		r->first = child >= r->first ? child + 1 : r->first;
	}
	return true;
}

/* Restricts the block by each input that the loop produces; all other inputs
 * must be complete before the loop. False after a diagnostic. */
static bool
restrict_by_inputs(struct reverse *r)
{
	struct edit *e = r->e;
	bool found = false;
	struct access_list loads = accesses_of(e->f, r->block, NULL);

	for (int i = 0; i < loads.list.n; i++) {
		const struct buffer *b = loads.list.data[i].buffer;
		struct access_list stores = { 0 }, writers = { 0 };
		bool seen = !loads.list.data[i].load;

		for (int k = 0; k < i && !seen; k++) {
			seen = loads.list.data[k].load &&
			       loads.list.data[k].buffer == b;
		}
		if (seen || !func_writes(e->f, b)) {
			continue;
		}
		if (produced_inside(e, b, r->loop, &stores)) {
			if (!restrict_by(r, b, &loads, &stores)) {
				return false;
			}
			found = true;
			continue;
		}
		access_collect(e->f, e->f->body, b, &writers);
		for (int k = 0; k < writers.list.n; k++) {
			const struct access *x = &writers.list.data[k];

			if (access_writes(x) &&
			    !stmt_contains(r->block, x->at) &&
			    (stmt_contains(r->loop, x->at) ||
			     !stmt_before(e->f, x->at, r->loop))) {
				return edit_fail(e,
						 "%s is not complete within "
						 "an iteration of loop %s; "
						 "choose an outer loop",
						 b->name,
						 r->loop->u.loop.var->name);
			}
		}
	}
	return found ||
	       edit_fail(e,
			 "block %s does not read elements that loop %s "
			 "writes; choose a loop around its producer",
			 r->block->u.block->name, r->loop->u.loop.var->name);
}

/* Is x inside of the loops, or after them and before the block's old place? */
static bool
is_passed(const struct reverse *r, struct stmt *top, const struct access *x)
{
	return !stmt_contains(r->block, x->at) &&
	       !stmt_before(r->e->f, r->block, x->at) &&
	       (stmt_contains(top, x->at) || !stmt_before(r->e->f, x->at, top));
}

/* Checks that no statement that the block passes uses its outputs, and that none after
 * the loops writes what it reads. False after a diagnostic. */
static bool
check_passed(struct reverse *r)
{
	struct edit *e = r->e;
	struct stmt *top = scope_child(r->loop);
	struct access_list own = accesses_of(e->f, r->block, NULL);

	for (int i = 0; i < own.list.n; i++) {
		const struct buffer *b = own.list.data[i].buffer;
		bool writes = access_writes(&own.list.data[i]);
		struct access_list all = accesses_of(e->f, e->f->body, b);

		for (int k = 0; k < all.list.n; k++) {
			const struct access *x = &all.list.data[k];

			if (is_passed(r, top, x) &&
			    (writes || (access_writes(x) &&
					!stmt_contains(top, x->at)))) {
				return edit_fail(e,
						 "%s is already used inside "
						 "of the loops, or before the "
						 "block; the block cannot move",
						 b->name);
			}
		}
	}
	return true;
}

bool
prim_reverse_compute_at(struct edit *e, const struct sched_value *args,
			struct sched_value *out)
{
	struct reverse r = { .e = e };
	struct stmt *nest;
	int n, at;

	if (args[1].u.id == LOOP_ROOT) {
		return true;
	}
	if (args[1].u.id == LOOP_INLINE) {
		return prim_reverse_compute_inline(e, args, out);
	}
	r.block = edit_block(e, args[0].u.id);
	if (!(r.loop = edit_loop(e, args[1].u.id))) {
		return false;
	}
	if (stmt_contains(r.loop, r.block) ||
	    scope_of(r.loop) != scope_of(r.block)) {
		return edit_fail(e,
				 "block %s and loop %s are not in the same "
				 "scope; choose a loop around a producer",
				 r.block->u.block->name,
				 r.loop->u.loop.var->name);
	}
	if (block_depends_on_itself(e, r.block)) {
		return edit_fail(e,
				 "block %s reads elements that other "
				 "iterations of it write; it cannot move",
				 r.block->u.block->name);
	}
	if (!runs_everywhere(e, r.block, r.block)) {
		return edit_fail(e,
				 "block %s skips elements under a condition; "
				 "it cannot move",
				 r.block->u.block->name);
	}
	n = r.block->u.block->n_iters;
	r.ranges = arena_array(&e->m->arena, struct range, n + 1);
	r.fixed = arena_array(&e->m->arena, bool, n + 1);
	iter_domains(r.block, r.ranges);
	if (!restrict_by_inputs(&r) || !check_pairs(&r) || !check_passed(&r) ||
	    !body_choose_index(e, r.loop, r.first, body_child_count(r.loop),
			       args[3].u.ival, &at)) {
		return false;
	}
	stmt_remove(e->f, r.block);
	nest = nest_for_block(e->f, r.block, r.ranges, r.loop->children[0],
			      args[2].u.ival);
	if (r.when) {
		stmt_set_arg(e->f, r.block, 0,
			     expr_and(e->m, r.block->args[0], r.when));
	}
	body_insert_child(e, r.loop, nest, at);
	return true;
}
