/* SPDX-License-Identifier: Apache-2.0 */
/* rfactor, rfactor_inside: partial results along one reduction loop, then their reduction.
 *
 *   for i, k_o, k_i:                     for i:
 *       with T.block("C"):                   for k_o, k_i:
 *           C[v_i] += A[v_i, v_k]   ->           with T.block("C_rf"):
 *                                                    C_rf[v_i, v_k_i] += A..
 *                                            for k_i:
 *                                                with T.block("C"):
 *                                                    C[v_i] += C_rf[v_i, ..]
 *
 * That is rfactor_inside, in which both nests stay within the loops i. rfactor
 * gives each of the two nests its own loops i, unless these loops are annotated
 * or contain further statements.
 *
 * The inner loop of the first nest can then be vectorized, with an accumulator
 * for each lane. Floating-point sums are reassociated. A reduction of several
 * values (argmax) has a buffer of partial results for each value. */
#include "access.h"
#include "block_init.h"
#include "edit.h"
#include "reduction_match.h"

struct rfactor {
	struct edit *e;
	struct stmt *block, *loop, *outer;
	/* the outermost loop of the first nest: `outer`, or a loop around it */
	struct stmt *top;
	struct block_reduction red;
	/* by value of the reduction: its buffer of partial results */
	const struct buffer **partial;
	/* the new spatial iter var of the partial results */
	struct var *lane;
	/* the position of the new dimension in `partial` */
	int axis;
};

static bool
match_update(struct rfactor *r)
{
	const char *name = r->block->u.block->name, *why;

	return match_reduction(r->e->f, r->block, &r->red, &why) ||
	       edit_fail(r->e, "block %s is not a reduction: it %s", name, why);
}

/* Accepts reducers that are known to be associative; tests all other reducers
 * by trials. False after a diagnostic. */
static bool
check_reducer(struct rfactor *r)
{
	const char *name = r->block->u.block->name;
	enum expr_kind op = r->red.reducer->result[0]->kind;
	struct reducer_facts facts;

	/* min and max are idempotent, so that starting from the init value
	 * several times has no effect. */
	if (!r->red.named && (op == EXPR_MIN || op == EXPR_MAX)) {
		return true;
	}
	facts = reducer_try(r->e->m, r->red.reducer);
	if (!facts.neutral) {
		return edit_fail(r->e,
				 "the init value of block %s is not the "
				 "identity of its update; partial results "
				 "need the identity",
				 name);
	}
	if (!r->red.named) {
		return true;
	}
	if (!facts.associative) {
		return edit_fail(r->e,
				 "the update of block %s is not associative; "
				 "its order is fixed",
				 name);
	}
	if (!facts.commutative && r->loop != r->outer) {
		return edit_fail(r->e,
				 "the update of block %s is not commutative; "
				 "factor its outermost reduction loop %s",
				 name, r->outer->u.loop.var->name);
	}
	return true;
}

/* Refuses, after a diagnostic, a predicate on an inner loop whose variable no
 * binding uses: the reduction of the partial results would not have that
 * loop. */
static bool
check_predicate(struct rfactor *r)
{
	const struct stmt *block = r->block;

	for (const struct stmt *p = block->parent; p != r->outer->parent;
	     p = p->parent) {
		if (expr_uses_var(block->args[0], p->u.loop.var) &&
		    !loop_drives(p, block, true) &&
		    !loop_drives(p, block, false)) {
			return edit_fail(r->e,
					 "loop %s drives no iter var of "
					 "block %s, but its predicate uses "
					 "the loop; split it after rfactor",
					 p->u.loop.var->name,
					 block->u.block->name);
		}
	}
	return true;
}

static bool
check_loops(struct rfactor *r)
{
	struct edit *e = r->e;

	r->outer = r->loop;
	for (struct stmt *p = r->block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, r->block, true)) {
			r->outer = p;
		}
	}
	for (struct stmt *p = r->block->parent; p != r->outer->parent;
	     p = p->parent) {
		if (p->kind != STMT_FOR) {
			return edit_fail(e,
					 "block %s is not alone in its "
					 "loops; rfactor before compute_at",
					 r->block->u.block->name);
		}
		if (loop_drives(p, r->block, true) &&
		    loop_drives(p, r->block, false)) {
			return edit_fail(e,
					 "loop %s also drives spatial iter "
					 "vars; reorder before fusing",
					 p->u.loop.var->name);
		}
	}
	if (!loop_drives(r->loop, r->block, true)) {
		return edit_fail(e,
				 "loop %s is not a reduction loop of block "
				 "%s; choose one",
				 r->loop->u.loop.var->name,
				 r->block->u.block->name);
	}
	return true;
}

static const struct expr **
with_lane(struct rfactor *r, const struct expr *const *index)
{
	int n = r->partial[0]->ndim;
	const struct expr **out = arena_exprs(&r->e->m->arena, n);

	for (int d = 0; d < n; d++) {
		out[d] = d == r->axis ? r->lane->expr
				      : index[d - (d > r->axis)];
	}
	return out;
}

static void
add_iter(struct block *b, const struct expr **bindings, struct var *var,
	 const struct stmt *loop, enum iter_kind kind)
{
	bindings[b->n_iters] = loop->u.loop.var->expr;
	b->iters[b->n_iters++] = (struct iter_var){ var, loop->args[0],
						    loop->args[1], kind };
}

static int
count_loops(const struct rfactor *r)
{
	int n = 0;

	for (struct stmt *p = r->block->parent; p != r->outer->parent;
	     p = p->parent) {
		n++;
	}
	return n;
}

/* Loop number i around the block, counted from the innermost, 0. */
static struct stmt *
loop_above(const struct rfactor *r, int i)
{
	struct stmt *p = r->block->parent;

	for (; i > 0; i--) {
		p = p->parent;
	}
	return p;
}

/* Makes the block that computes the partial results: each reduction loop
 * becomes an iter var, and the factored loop a spatial iter var. */
static struct stmt *
partial_block(struct rfactor *r)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	const struct block *old = r->block->u.block;
	const struct expr **bindings, **sources, **at;
	struct conjuncts all = { 0 };
	const struct expr *predicate = NULL, *inside = NULL;
	struct var_map loops = { 0 }, values = { 0 };
	struct block b = { 0 };
	int n = old->n_iters;

	for (struct stmt *p = r->block; p != r->outer->parent; p = p->parent) {
		n++;
	}
	b.name = arena_printf(arena, "%s_rf", old->name);
	b.iters = arena_array(arena, struct iter_var, n + 1);
	bindings = arena_exprs(arena, n + 1);
	loops.from = arena_array(arena, struct var *, n + 1);
	loops.to = arena_exprs(arena, n + 1);
	values.from = arena_array(arena, struct var *, n + 1);
	values.to = arena_exprs(arena, n + 1);
	for (int i = 0; i < old->n_iters; i++) {
		if (old->iters[i].kind != ITER_REDUCE) {
			bindings[b.n_iters] = r->block->args[i + 1];
			b.iters[b.n_iters++] = old->iters[i];
		}
	}
	add_iter(&b, bindings, r->lane, r->loop, ITER_SPATIAL);
	for (int i = count_loops(r) - 1; i >= 0; i--) {
		struct stmt *p = loop_above(r, i);
		struct var *v = r->lane;

		if (!loop_drives(p, r->block, true)) {
			continue;
		}
		if (p != r->loop) {
			v = var_new(e->m,
				    arena_printf(arena, "v_%s",
						 p->u.loop.var->name),
				    p->u.loop.var->type);
			add_iter(&b, bindings, v, p, ITER_REDUCE);
		}
		loops.from[loops.n] = p->u.loop.var;
		loops.to[loops.n++] = v->expr;
	}
	for (int i = 0; i < old->n_iters; i++) {
		if (old->iters[i].kind == ITER_REDUCE) {
			values.from[values.n] = old->iters[i].var;
			values.to[values.n++] =
				expr_substitute(e->m, r->block->args[i + 1],
						&loops);
		}
	}
	/* The bounds of the reduction become a condition on the added value,
	 * not a predicate, so that every partial result is initialized. */
	expr_conjuncts(e->m, r->block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = expr_substitute(e->m, all.list.data[i],
						       &loops);

		if (c != all.list.data[i]) {
			inside = inside ? expr_and(e->m, inside, c) : c;
		} else {
			predicate = predicate ? expr_and(e->m, predicate, c)
					      : c;
		}
	}
	sources = arena_exprs(arena, r->red.reducer->n);
	for (int k = 0; k < r->red.reducer->n; k++) {
		sources[k] = expr_substitute(e->m, r->red.sources[k], &values);
		if (inside) {
			sources[k] = expr_if(e->m, inside, sources[k],
					     r->red.reducer->identity[k]);
		}
	}
	at = with_lane(r, r->red.index);
	return stmt_block(e->f, &b, predicate, bindings,
			  reduction_init(e->f, &r->red, r->partial, at),
			  reduction_update(e->f, &r->red, r->partial, at,
					   sources));
}

/* The outermost loop around r->outer, if all loops around r->outer are plain,
 * contain only the block, and can be run for all partial results before the
 * first of these is reduced; else r->outer. */
static struct stmt *
outermost_apart(const struct rfactor *r)
{
	struct stmt *top = r->outer;

	while (top->parent->kind == STMT_FOR &&
	       top->parent->u.loop.kind == FOR_SERIAL && !top->parent->notes) {
		top = top->parent;
	}
	if (top->parent->kind != STMT_BLOCK &&
	    (top->parent->kind != STMT_SEQ ||
	     top->parent->parent->kind != STMT_BLOCK)) {
		return r->outer;
	}
	for (int k = 0; k < r->red.reducer->n; k++) {
		for (int i = 0; i < r->red.reducer->n; i++) {
			if (expr_uses_buffer(r->red.sources[k],
					     r->red.buffers[i])) {
				return r->outer;
			}
		}
	}
	return top;
}

/* Makes the nest "for <spatial loops inside>, lane: C[v] = op(C[v], C_rf[v,
 * lane])". NULL after a diagnostic if its condition cannot be tested without
 * the conditions of the reduction. */
static struct stmt *
final_nest(struct rfactor *r)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	const struct block *old = r->block->u.block;
	struct block b = { .name = old->name };
	const struct expr **bindings = arena_exprs(arena, old->n_iters + 2);
	struct conjuncts all = { 0 };
	const struct expr *predicate = NULL, **at, **sources;
	struct stmt *nest, *loop = r->loop;
	bool reduces, guarded = false;
	struct analyser a;

	b.iters = arena_array(arena, struct iter_var, old->n_iters + 2);
	for (int i = 0; i < old->n_iters; i++) {
		if (old->iters[i].kind != ITER_REDUCE) {
			bindings[b.n_iters] = r->block->args[i + 1];
			b.iters[b.n_iters++] = old->iters[i];
		}
	}
	add_iter(&b, bindings, r->lane, loop, ITER_REDUCE);
	analyser_at(&a, e->m, r->outer);
	expr_conjuncts(e->m, r->block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		reduces = false;
		for (struct stmt *p = r->block->parent; p != r->outer->parent;
		     p = p->parent) {
			reduces |= loop_drives(p, r->block, true) &&
				   expr_uses_var(all.list.data[i],
						 p->u.loop.var);
		}
		if (!reduces && guarded &&
		    !expr_is_total(&a, all.list.data[i])) {
			edit_fail(e,
				  "the predicate of block %s has a load or "
				  "division that a condition on reduction "
				  "loops may guard; test that condition last",
				  old->name);
			return NULL;
		}
		guarded |= reduces;
		if (!reduces) {
			predicate = predicate ? expr_and(e->m, predicate,
							 all.list.data[i])
					      : all.list.data[i];
		}
	}
	at = with_lane(r, r->red.index);
	sources = arena_exprs(arena, r->red.reducer->n);
	for (int k = 0; k < r->red.reducer->n; k++) {
		sources[k] = expr_load(e->m, r->partial[k], at,
				       r->partial[k]->ndim);
	}
	nest = stmt_block(e->f, &b, predicate, bindings,
			  reduction_init(e->f, &r->red, r->red.buffers,
					 r->red.index),
			  reduction_update(e->f, &r->red, r->red.buffers,
					   r->red.index, sources));
	nest = stmt_for(e->f, loop->u.loop.var, loop->args[0], loop->args[1],
			FOR_SERIAL, nest);
	for (struct stmt *p = r->block->parent; p != r->top->parent;
	     p = p->parent) {
		if (stmt_contains(p, r->outer->parent) ||
		    loop_drives(p, r->block, false)) {
			nest = stmt_for(e->f, p->u.loop.var, p->args[0],
					p->args[1], FOR_SERIAL, nest);
		}
	}
	return stmt_clone(e->f, nest, true);
}

/* Checks that an array can have an element for each iteration of the factored loop:
 * the loop begins at 0, and its extent does not change in loops around it. False after
 * a diagnostic. */
static bool
check_range(struct rfactor *r)
{
	const struct stmt *l = r->loop;
	const char *name = l->u.loop.var->name;

	if (!expr_is_value(l->args[0], 0)) {
		return edit_fail(r->e,
				 "loop %s does not begin at 0; split it before",
				 name);
	}
	for (const struct stmt *s = l->parent; s && s->kind != STMT_BLOCK;
	     s = s->parent) {
		if (s->kind == STMT_FOR &&
		    expr_uses_var(l->args[1], s->u.loop.var)) {
			return edit_fail(
				r->e,
				"the extent of loop %s depends on loop "
				"%s; partial results need one size",
				name, s->u.loop.var->name);
		}
	}
	return true;
}

/* Makes the buffers of partial results: each is like the buffer of the result,
 * with one more dimension, for the factored loop. */
static void
make_partial(struct rfactor *r)
{
	struct module *m = r->e->m;
	int n = r->red.reducer->n, ndim = r->red.buffers[0]->ndim;
	const struct expr **shape = arena_exprs(&m->arena, ndim + 1);

	r->partial = arena_array(&m->arena, const struct buffer *, n);
	for (int k = 0; k < n; k++) {
		const struct buffer *b = r->red.buffers[k];
		struct buffer_spec spec = {
			.name = arena_printf(&m->arena, "%s_part", b->name),
			.type = b->type,
			.ndim = ndim + 1,
			.shape = shape,
			.scope = r->top == r->outer ? "local" : b->scope,
		};

		for (int d = 0; d <= ndim; d++) {
			shape[d] = d == r->axis ? r->loop->args[1]
						: b->shape[d - (d > r->axis)];
		}
		r->partial[k] = buffer_new(m, &spec);
	}
}

static bool
factor(struct edit *e, const struct sched_value *args, bool shared,
       struct sched_value *out)
{
	struct rfactor r = { .e = e };
	const struct buffer *b;
	struct stmt *scope, *added, *nest, *pair[2];
	struct stmt_place place;
	struct stmt_list final = { 0 }, inside = { 0 };
	int id;

	if (!(r.loop = edit_loop(e, args[0].u.id))) {
		return false;
	}
	blocks_below(e->f, r.loop, &inside);
	if (inside.list.n != 1) {
		return edit_fail(e,
				 "loop %s is around %d blocks; rfactor "
				 "needs one",
				 r.loop->u.loop.var->name, inside.list.n);
	}
	r.block = inside.list.data[0];
	id = r.block->id;
	if (!match_update(&r) || !check_loops(&r) || !check_predicate(&r) ||
	    !check_reducer(&r) || !check_range(&r)) {
		return false;
	}
	scope = scope_of(r.block);
	b = r.red.buffers[0];
	r.axis = (int)args[1].u.ival + (args[1].u.ival < 0 ? b->ndim + 1 : 0);
	if (args[1].u.ival < -b->ndim - 1 || args[1].u.ival > b->ndim) {
		return edit_fail(e,
				 "factor_axis is %lld; %s has %d dimensions, "
				 "give %d to %d",
				 (long long)args[1].u.ival, b->name, b->ndim,
				 -b->ndim - 1, b->ndim);
	}
	r.top = shared ? r.outer : outermost_apart(&r);
	make_partial(&r);
	r.lane = var_new(e->m,
			 arena_printf(&e->m->arena, "v_%s",
				      r.loop->u.loop.var->name),
			 r.loop->u.loop.var->type);
	nest = final_nest(&r);
	if (nest == NULL) {
		return false;
	}
	added = partial_block(&r);
	stmt_replace(e->f, r.block, added);
	place = stmt_place_of(r.top);
	pair[0] = r.top;
	pair[1] = nest;
	stmt_put(e->f, place, stmt_seq(e->f, pair, 2));
	for (int k = 0; k < r.red.reducer->n; k++) {
		scope_add_alloc(e->f, scope, r.partial[k]);
	}
	blocks_below(e->f, nest, &final);
	/* The handle of the old block now refers to the block that computes the
	 * final result. */
	stmt_write(e->f, &final.list.data[0]->id, &id, sizeof id);
	block_refresh(e->f, added);
	block_refresh(e->f, final.list.data[0]);
	*out = sv_block(added->id);
	return true;
}

bool
prim_rfactor(struct edit *e, const struct sched_value *args,
	     struct sched_value *out)
{
	return factor(e, args, false, out);
}

bool
prim_rfactor_inside(struct edit *e, const struct sched_value *args,
		    struct sched_value *out)
{
	return factor(e, args, true, out);
}
