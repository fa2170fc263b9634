/* SPDX-License-Identifier: Apache-2.0 */
/* compute_at and reverse_compute_at: move a block into a loop of its consumer
 * or producer, restricted to the region that one iteration consumes or
 * produces.
 *
 *   for i: B[i] = A[i] * 2                       for j:
 *   for j, k:               compute_at(B, j)         for i in range(3):
 *       C[j] += B[j + k]          ->                     B[j + i] = A...
 *                                                    for k:
 *                                                        C[j] += B[j + k]
 */
#include "block_init.h"
#include "copy_block.h"
#include "loop_legality.h"
#include "thread_loops.h"

static bool
drives_any(const struct stmt *loop, const struct stmt *block)
{
	for (int k = 0; k < block->u.block->n_iters; k++) {
		if (expr_uses_var(block->args[k + 1], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Does each iteration of the loop contain all updates of the elements of b that
 * it accesses? Then the reduction may start within the iteration. */
static bool
updates_complete(struct edit *e, const struct stmt *writer,
		 const struct stmt *loop, const struct buffer *b)
{
	const struct stmt *first = NULL;

	for (const struct stmt *p = loop; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind != STMT_FOR || expr_is_value(p->args[1], 1) ||
		    !drives_any(p, writer)) {
			continue;
		}
		if (!accesses_disjoint(e, writer, p, b)) {
			return false;
		}
		first = p;
	}
	return stmt_contains(loop, writer) &&
	       (!first || bindings_injective(e->f, first, writer));
}

/* Collects the accesses of b outside of block. Are all inside of loop, and
 * other writers elementwise? */
static bool
uses_inside(struct edit *e, const struct buffer *b, const struct stmt *block,
	    const struct stmt *loop, struct access_list *out)
{
	struct access_list all = { 0 };

	access_collect(e->f, e->f->body, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (stmt_contains(block, x->at)) {
			continue;
		}
		if (!stmt_contains(loop, x->at) ||
		    (access_writes(x) &&
		     !updates_complete(e, block_around(x->at), loop, b))) {
			return false;
		}
		vec_push(&e->m->arena, &out->list, *x);
	}
	return true;
}

/* The child of the loop's body that contains s. */
static struct stmt *
body_child(const struct stmt *loop, struct stmt *s)
{
	const struct stmt *body = loop->children[0];

	if (body == s || body->kind != STMT_SEQ) {
		return (struct stmt *)body;
	}
	while (s->parent != body) {
		s = s->parent;
	}
	return s;
}

static int
child_count(const struct stmt *loop)
{
	const struct stmt *body = loop->children[0];

	return body->kind == STMT_SEQ ? body->n_children : 1;
}

static int
child_index(const struct stmt *loop, struct stmt *s)
{
	const struct stmt *child = body_child(loop, s);
	const struct stmt *body = loop->children[0];
	int i = 0;

	while (child != body && body->children[i] != child) {
		i++;
	}
	return i;
}

/* Chooses the position of the block among the children lo to hi of the loop
 * body: index -1 is the last possible, -2 the first. */
static bool
choose_index(struct edit *e, const struct stmt *loop, int lo, int hi,
	     int64_t index, int *at)
{
	*at = index == -1 ? hi : index == -2 ? lo : (int)index;
	return (index >= -2 && index <= hi && *at >= lo) ||
	       edit_fail(e,
			 "index is %lld; in loop %s the block fits at %d "
			 "to %d (-1: the last, -2: the first)",
			 (long long)index, loop->u.loop.var->name, lo, hi);
}

static void
insert_child(struct edit *e, struct stmt *loop, struct stmt *added, int at)
{
	struct stmt *body = loop->children[0];
	int n = child_count(loop);
	struct stmt **list = arena_array(&e->m->arena, struct stmt *, n + 2);

	for (int i = 0; i < n; i++) {
		list[i + (i >= at)] = body->kind == STMT_SEQ ? body->children[i]
							     : body;
	}
	list[at] = added;
	stmt_set_child(e->f, loop, 0, stmt_seq(e->f, list, n + 1));
}

/* A buffer that the block reads and the loop writes, or NULL. */
static const struct buffer *
input_written_in(struct edit *e, const struct stmt *block, struct stmt *loop)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_reads; i++) {
		struct access_list all = { 0 };

		access_collect(e->f, loop, b->reads[i].buffer, &all);
		for (int k = 0; k < all.list.n; k++) {
			if (access_writes(&all.list.data[k])) {
				return b->reads[i].buffer;
			}
		}
	}
	return NULL;
}

/* The thread loop (loop itself or one around it) whose threads write shared
 * memory that the block reads: the block might read elements that other threads
 * have not stored yet. NULL: none. */
static const struct stmt *
producing_threads(struct edit *e, const struct stmt *block, struct stmt *loop)
{
	if (!buffer_is_shared(block->u.block->writes[0].buffer)) {
		return NULL;
	}
	for (; loop; loop = loop->parent) {
		int tag = tag_of(loop);

		if ((tag_is_thread(tag) || tag == TAG_VIRTUAL) &&
		    input_written_in(e, block, loop)) {
			return loop;
		}
	}
	return NULL;
}

/* Does the declared write region (for instructions that write through an
 * address) have one element at an iter var, or the full extent, in each
 * dimension? */
static bool
declares_identity(const struct stmt *block, const struct buffer *b,
		  int *iter_of)
{
	const struct block *info = block->u.block;
	const struct range *r = info->writes[0].ranges;

	for (int d = 0; d < b->ndim; d++) {
		iter_of[d] = -1;
		for (int i = 0; i < info->n_iters; i++) {
			if (r[d].min == info->iters[i].var->expr &&
			    expr_is_value(r[d].extent, 1)) {
				iter_of[d] = i;
			}
		}
		if (iter_of[d] < 0 && !(expr_is_value(r[d].min, 0) &&
					r[d].extent == b->shape[d])) {
			return false;
		}
	}
	return true;
}

/* Does the block store to b at its own iter vars only? iter_of maps dimensions
 * to iter vars. */
static bool
writes_identity(struct edit *e, const struct stmt *block,
		const struct buffer *b, int *iter_of)
{
	struct access_list all = { 0 };

	access_collect(e->f, (struct stmt *)block, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].address) {
			return declares_identity(block, b, iter_of);
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load &&
		    !identity_index(block, b, all.list.data[i].index,
				    iter_of)) {
			return false;
		}
	}
	return true;
}

static void
full_ranges(const struct stmt *block, struct range *ranges)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		ranges[i].min = block->u.block->iters[i].min;
		ranges[i].extent = block->u.block->iters[i].extent;
	}
}

/* The range [min, min + extent) intersected with an iter var's domain, where
 * the intersection is provably smaller. */
static struct range
within(struct edit *e, struct range r, const struct iter_var *it)
{
	struct analyser a;

	analyser_init(&a, e->m);
	if (prove(&a, expr_le(e->m, it->extent, r.extent))) {
		r.min = it->min;
		r.extent = it->extent;
	}
	return r;
}

bool
prim_compute_at(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *l, *nest;
	int last, at;
	struct access_list uses = { 0 };
	const struct buffer *buffer, *input;
	const struct stmt *threads;
	const struct stmt *reader;
	struct range *ranges, *needed;
	const char *name;
	int *iter_of;

	if (args[1].u.id == LOOP_ROOT) {
		return true;
	}
	if (args[1].u.id == LOOP_INLINE) {
		return prim_compute_inline(e, args, out);
	}
	if (!(l = edit_loop(e, args[1].u.id))) {
		return false;
	}
	name = b->u.block->name;
	if (stmt_contains(l, b) || scope_of(l) != scope_of(b)) {
		return edit_fail(e,
				 "block %s and loop %s do not lie beside "
				 "each other in one block; choose a loop "
				 "around a consumer",
				 name, l->u.loop.var->name);
	}
	if (b->u.block->n_writes != 1) {
		return edit_fail(e,
				 "block %s writes several buffers; it "
				 "stays where it is",
				 name);
	}
	buffer = b->u.block->writes[0].buffer;
	if (func_has_param(e->f, buffer)) {
		return edit_fail(e,
				 "block %s writes the parameter %s; only "
				 "inner buffers are computed in parts",
				 name, buffer->name);
	}
	if (!uses_inside(e, buffer, b, l, &uses) || uses.list.n == 0) {
		return edit_fail(e,
				 "%s is not read inside loop %s only; "
				 "choose a loop around all its readers",
				 buffer->name, l->u.loop.var->name);
	}
	reader = started_before(l, &uses);
	if (reader) {
		return edit_fail(e,
				 "block %s starts from %s before loop %s "
				 "runs; choose a loop around all of its sum",
				 reader->u.block->name, buffer->name,
				 l->u.loop.var->name);
	}
	input = input_written_in(e, b, l);
	if (input) {
		return edit_fail(e,
				 "loop %s writes %s, which block %s reads "
				 "before it; choose a loop that does not",
				 l->u.loop.var->name, input->name, name);
	}
	threads = producing_threads(e, b, l);
	if (threads) {
		return edit_fail(e,
				 "block %s is for all threads of loop %s, "
				 "each of which stores what it reads; choose "
				 "a loop around that one",
				 name, threads->u.loop.var->name);
	}
	input = input_changed(e, b, l);
	if (input) {
		return edit_fail(e,
				 "%s, which block %s reads, is written "
				 "again before loop %s; it stays where it is",
				 input->name, name, l->u.loop.var->name);
	}
	if (!runs_everywhere(e, b, b)) {
		return edit_fail(e,
				 "block %s leaves elements out under a "
				 "condition; it stays where it is",
				 name);
	}
	iter_of = arena_array(&e->m->arena, int, buffer->ndim + 1);
	if (!writes_identity(e, b, buffer, iter_of)) {
		return edit_fail(e,
				 "block %s does not write %s at its own "
				 "iter vars; it stays where it is",
				 name, buffer->name);
	}
	needed = arena_array(&e->m->arena, struct range, buffer->ndim + 1);
	ranges = arena_array(&e->m->arena, struct range,
			     b->u.block->n_iters + 1);
	access_cover(e->f, l->children[0], uses.list.data, uses.list.n, needed);
	full_ranges(b, ranges);
	for (int d = 0; d < buffer->ndim; d++) {
		if (iter_of[d] >= 0) {
			ranges[iter_of[d]] =
				within(e, needed[d],
				       &b->u.block->iters[iter_of[d]]);
		}
	}
	last = child_count(l);
	for (int i = 0; i < uses.list.n; i++) {
		int child = child_index(l, uses.list.data[i].at);

		last = child < last ? child : last;
	}
	if (!choose_index(e, l, 0, last, args[3].u.ival, &at)) {
		return false;
	}
	stmt_remove(e->f, b);
	nest = nest_for_block(e->f, b, ranges, l->children[0], args[2].u.ival);
	insert_child(e, l, nest, at);
	return true;
}

/* -- reverse */

/* Collects the stores to b under loop. Are all writers of b there, and does
 * none reduce over the loop or a loop around it? */
static bool
produced_inside(struct edit *e, const struct buffer *b, struct stmt *loop,
		struct access_list *stores)
{
	struct access_list all = { 0 };

	access_collect(e->f, e->f->body, b, &all);
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
	/* first possible position in the loop's body */
	int first;
	VEC(uint64_t) load_iters; /* sets of iter vars that index one load */
	const struct expr *when; /* condition of the producers on outer loops */
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

/* A condition c over loops of the body may fail for all their iterations, so
 * that there is nothing to consume. Inherits c if it is an upper bound, which
 * the first iteration satisfies if any does; false otherwise. */
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
	analyser_init(&a, m);
	analyser_enter(&a, r->loop->children[0]);
	if (prove(&a, c0)) {
		return true;
	}
	bound = bound && analyse_affine(&a, expr_sub(m, c->args[0], c->args[1]),
					vars, map.n, coeff, &rest);
	for (int i = 0; i < map.n && bound; i++) {
		bound = coeff[i] >= 0;
	}
	if (bound) {
		r->when = r->when ? expr_and(m, r->when, c0) : c0;
	}
	return bound;
}

/* The consumer inherits the producer's predicate: conjuncts over loops outside
 * of the body become conditions of the consumer; conjuncts over loops of the
 * body must be implied by the consumer's domain, otherwise false. */
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

/* A bit set of the iter vars; iter vars from number 64 on are not
 * represented. */
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

/* Checks coupled iter vars: if one loop restricts two of the block's iter vars
 * and no input is indexed by both, the block would combine only values produced
 * in the same iteration, and miss the other pairs of the original domain. */
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

/* Restricts the block's iter vars to the region of b that one iteration
 * produces. */
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
				 "what loop %s yields of %s is no box; "
				 "choose an outer loop",
				 r->loop->u.loop.var->name, b->name);
	}
	for (int i = 0; i < stores->list.n; i++) {
		if (!loops_fill_box(r->e, block_around(stores->list.data[i].at),
				    r->loop->children[0], made, b->ndim) ||
		    !inherit_predicate(r, &stores->list.data[i])) {
			return edit_fail(e,
					 "what loop %s yields of %s is no "
					 "whole box; choose an outer loop",
					 r->loop->u.loop.var->name, b->name);
		}
	}
	analyser_init(&a, e->m);
	analyser_enter(&a, r->loop->children[0]);
	for (int i = 0; i < loads->list.n; i++) {
		if (loads->list.data[i].buffer != b) {
			continue;
		}
		if (!identity_index(r->block, b, loads->list.data[i].index,
				    iter_of)) {
			return edit_fail(e,
					 "block %s does not read %s at its "
					 "own iter vars; it stays where it is",
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
						 "block %s runs over more "
						 "than the elements of %s; it "
						 "stays where it is",
						 r->block->u.block->name,
						 b->name);
			}
			if (it->kind != ITER_SPATIAL &&
			    part.extent != it->extent) {
				return edit_fail(e,
						 "block %s reduces over "
						 "more of %s than loop %s "
						 "yields; choose an outer "
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
						 "parts of what loop %s "
						 "yields; it stays where it "
						 "is",
						 r->block->u.block->name,
						 r->loop->u.loop.var->name);
			}
			r->fixed[k] = true;
			r->ranges[k] = part;
		}
	}
	for (int i = 0; i < stores->list.n; i++) {
		int child = child_index(r->loop, stores->list.data[i].at);

		r->first = child >= r->first ? child + 1 : r->first;
	}
	return true;
}

/* Restricts the block by each input that the loop produces; all others must be
 * complete before the loop. */
static bool
restrict_by_inputs(struct reverse *r)
{
	struct edit *e = r->e;
	struct access_list loads = { 0 };
	bool found = false;

	access_collect(e->f, r->block, NULL, &loads);
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
						 "%s is not complete in "
						 "loop %s; choose an outer "
						 "loop",
						 b->name,
						 r->loop->u.loop.var->name);
			}
		}
	}
	return found ||
	       edit_fail(e,
			 "block %s reads nothing that loop %s "
			 "yields; choose a loop around its producer",
			 r->block->u.block->name, r->loop->u.loop.var->name);
}

/* Checks that no statement before the block's old position reads its
 * outputs. */
static bool
check_outputs(struct reverse *r)
{
	struct edit *e = r->e;
	const struct block *b = r->block->u.block;
	struct stmt *top = scope_child(r->loop);

	for (int i = 0; i < b->n_writes; i++) {
		struct access_list all = { 0 };

		access_collect(e->f, top, b->writes[i].buffer, &all);
		for (int k = 0; k < all.list.n; k++) {
			if (!stmt_contains(r->block, all.list.data[k].at)) {
				return edit_fail(e,
						 "%s is used inside the "
						 "loops already; the block "
						 "stays where it is",
						 b->writes[i].buffer->name);
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
				 "block %s and loop %s do not lie beside "
				 "each other in one block; choose a loop "
				 "around a producer",
				 r.block->u.block->name,
				 r.loop->u.loop.var->name);
	}
	if (!runs_everywhere(e, r.block, r.block)) {
		return edit_fail(e,
				 "block %s leaves elements out under a "
				 "condition; it stays where it is",
				 r.block->u.block->name);
	}
	n = r.block->u.block->n_iters;
	r.ranges = arena_array(&e->m->arena, struct range, n + 1);
	r.fixed = arena_array(&e->m->arena, bool, n + 1);
	full_ranges(r.block, r.ranges);
	if (!restrict_by_inputs(&r) || !check_pairs(&r) || !check_outputs(&r) ||
	    !choose_index(e, r.loop, r.first, child_count(r.loop),
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
	insert_child(e, r.loop, nest, at);
	return true;
}
