/* SPDX-License-Identifier: Apache-2.0 */
/* rfactor: partial results along one reduction loop, then their reduction.
 *
 *   for i, k_o, k_i:                     for i:
 *       with T.block("C"):                   for k_o, k_i:
 *           C[v_i] += A[v_i, v_k]   ->           with T.block("C_rf"):
 *                                                    C_rf[v_i, v_k_i] += A..
 *                                            for k_i:
 *                                                with T.block("C"):
 *                                                    C[v_i] += C_rf[v_i, ..]
 *
 * The inner loop of the first nest may then be vectorized: each lane has a sum
 * of its own. Changes the order in which floats are added. */
#include "lower_passes.h"
#include "sched_edit.h"

struct rfactor {
	struct edit *e;
	struct stmt *block, *loop, *outer;
	struct stmt *store;
	const struct expr *identity, *source;
	int load_at; /* which argument of the update is the old value */
	const struct buffer *partial;
	struct var *lane; /* the new spatial iter var */
	int axis;         /* its dimension in partial */
};

/* C[v] = op(C[v], source), with init C[v] = identity. */
static bool
match_update(struct rfactor *r)
{
	struct edit *e = r->e;
	const char *name = r->block->u.block->name;
	const struct stmt *init = r->block->children[1];
	const struct expr *value;

	r->store = sole_store(r->block);
	if (!init || init->kind != STMT_STORE || !r->store ||
	    init->u.buffer != r->store->u.buffer) {
		return edit_fail(e, "block %s is no reduction to one value; "
				 "rfactor needs one", name);
	}
	value = r->store->args[0];
	r->identity = init->args[0];
	r->load_at = -1;
	if (value->kind == EXPR_ADD || value->kind == EXPR_MUL ||
	    value->kind == EXPR_MAX || value->kind == EXPR_MIN) {
		for (int k = 0; k < 2; k++) {
			const struct expr *x = value->args[k];

			if (x == expr_load(e->m, r->store->u.buffer,
					   r->store->args + 1,
					   r->store->n_args - 1)) {
				r->load_at = k;
			}
		}
	}
	if (r->load_at < 0) {
		return edit_fail(e, "block %s does not update by +, *, min or "
				 "max; rfactor needs one of them", name);
	}
	r->source = value->args[1 - r->load_at];
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
			return edit_fail(e, "block %s does not stand alone in "
					 "its loops; rfactor before "
					 "compute_at",
					 r->block->u.block->name);
		}
		if (loop_drives(p, r->block, true) &&
		    loop_drives(p, r->block, false)) {
			return edit_fail(e, "loop %s is not for reduction "
					 "only", p->u.loop.var->name);
		}
	}
	if (!loop_drives(r->loop, r->block, true)) {
		return edit_fail(e, "loop %s reduces nothing in block %s",
				 r->loop->u.loop.var->name,
				 r->block->u.block->name);
	}
	return true;
}

static const struct expr **
with_lane(struct rfactor *r, const struct expr *const *index)
{
	int n = r->partial->ndim;
	const struct expr **out =
		arena_array(&r->e->m->arena, const struct expr *, n);

	for (int d = 0; d < n; d++) {
		out[d] = d == r->axis ? r->lane->expr
				      : index[d - (d > r->axis)];
	}
	return out;
}

static const struct expr *
combine(struct rfactor *r, const struct buffer *b,
	const struct expr *const *index, const struct expr *source)
{
	const struct expr *args[2];

	args[r->load_at] = expr_load(r->e->m, b, index, b->ndim);
	args[1 - r->load_at] = source;
	return expr_binary(r->e->m, r->store->args[0]->kind, args[0],
			   args[1]);
}

static void
add_iter(struct block *b, const struct expr **bindings, struct var *var,
	 const struct stmt *loop, enum iter_kind kind)
{
	bindings[b->n_iters] = loop->u.loop.var->expr;
	b->iters[b->n_iters++] = (struct iter_var){ var, loop->args[0],
						    loop->args[1], kind };
}

/* The block that fills the partial results: the loops of the reduction become
 * iter vars of their own, loop's a spatial one. */
static struct stmt *
partial_block(struct rfactor *r)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	const struct block *old = r->block->u.block;
	const struct expr **bindings, *source = r->source, **at;
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
	bindings = arena_array(arena, const struct expr *, n + 1);
	loops.from = arena_array(arena, struct var *, n + 1);
	loops.to = arena_array(arena, const struct expr *, n + 1);
	values.from = arena_array(arena, struct var *, n + 1);
	values.to = arena_array(arena, const struct expr *, n + 1);
	for (int i = 0; i < old->n_iters; i++) {
		if (old->iters[i].kind == ITER_SPATIAL) {
			bindings[b.n_iters] = r->block->args[i + 1];
			b.iters[b.n_iters++] = old->iters[i];
		}
	}
	add_iter(&b, bindings, r->lane, r->loop, ITER_SPATIAL);
	for (struct stmt *p = r->block->parent; p != r->outer->parent;
	     p = p->parent) {
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
		if (old->iters[i].kind != ITER_SPATIAL) {
			values.from[values.n] = old->iters[i].var;
			values.to[values.n++] = expr_substitute(
				e->m, r->block->args[i + 1], &loops);
		}
	}
	/* What bounds the reduction chooses what is added, so that every
	 * partial result has a value. */
	expr_conjuncts(e->m, r->block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = expr_substitute(
			e->m, all.list.data[i], &loops);

		if (c != all.list.data[i]) {
			inside = inside ? expr_and(e->m, inside, c) : c;
		} else {
			predicate = predicate ? expr_and(e->m, predicate, c)
					      : c;
		}
	}
	source = expr_substitute(e->m, source, &values);
	if (inside) {
		source = expr_if(e->m, inside, source, r->identity);
	}
	at = with_lane(r, r->store->args + 1);
	return stmt_block(e->f, &b, predicate, bindings,
			  stmt_store(e->f, r->partial, r->identity, at,
				     r->partial->ndim),
			  stmt_store(e->f, r->partial,
				     combine(r, r->partial, at, source), at,
				     r->partial->ndim));
}

/* for <spatial loops inside>, lane: C[v] = op(C[v], C_rf[v, lane]) */
static struct stmt *
final_nest(struct rfactor *r)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	const struct block *old = r->block->u.block;
	struct block b = { .name = old->name };
	const struct expr **bindings =
		arena_array(arena, const struct expr *, old->n_iters + 2);
	struct conjuncts all = { 0 };
	const struct expr *predicate = NULL, **at;
	struct stmt *nest, *loop = r->loop;
	bool reduces;

	b.iters = arena_array(arena, struct iter_var, old->n_iters + 2);
	for (int i = 0; i < old->n_iters; i++) {
		if (old->iters[i].kind == ITER_SPATIAL) {
			bindings[b.n_iters] = r->block->args[i + 1];
			b.iters[b.n_iters++] = old->iters[i];
		}
	}
	add_iter(&b, bindings, r->lane, loop, ITER_REDUCE);
	expr_conjuncts(e->m, r->block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		reduces = false;
		for (struct stmt *p = r->block->parent;
		     p != r->outer->parent; p = p->parent) {
			reduces |= loop_drives(p, r->block, true) &&
				   expr_uses_var(all.list.data[i],
						 p->u.loop.var);
		}
		if (!reduces) {
			predicate = predicate ? expr_and(e->m, predicate,
							 all.list.data[i])
					      : all.list.data[i];
		}
	}
	at = with_lane(r, r->store->args + 1);
	nest = stmt_block(
		e->f, &b, predicate, bindings,
		stmt_store(e->f, r->store->u.buffer, r->identity,
			   r->store->args + 1, r->store->n_args - 1),
		stmt_store(e->f, r->store->u.buffer,
			   combine(r, r->store->u.buffer, r->store->args + 1,
				   expr_load(e->m, r->partial, at,
					     r->partial->ndim)),
			   r->store->args + 1, r->store->n_args - 1));
	nest = stmt_for(e->f, loop->u.loop.var, loop->args[0], loop->args[1],
			FOR_SERIAL, nest);
	for (struct stmt *p = r->block->parent; p != r->outer->parent;
	     p = p->parent) {
		if (loop_drives(p, r->block, false)) {
			nest = stmt_for(e->f, p->u.loop.var, p->args[0],
					p->args[1], FOR_SERIAL, nest);
		}
	}
	return stmt_clone(e->f, nest, true);
}

bool
prim_rfactor(struct edit *e, const struct sched_value *args,
	     struct sched_value *out)
{
	struct rfactor r = { .e = e };
	const struct buffer *b;
	const struct expr **shape;
	struct buffer_spec spec = { 0 };
	struct stmt *scope, *added, *nest, *pair[2];
	struct stmt_place place;
	struct stmt_list final = { 0 }, inside = { 0 };
	int id;

	if (!(r.loop = edit_loop(e, args[0].u.id))) {
		return false;
	}
	blocks_below(e->f, r.loop, &inside);
	if (inside.list.n != 1) {
		return edit_fail(e, "loop %s is around %d blocks; rfactor "
				 "needs one", r.loop->u.loop.var->name,
				 inside.list.n);
	}
	r.block = inside.list.data[0];
	id = r.block->id;
	if (!match_update(&r) || !check_loops(&r)) {
		return false;
	}
	scope = scope_of(r.block);
	b = r.store->u.buffer;
	r.axis = (int)args[1].u.ival + (args[1].u.ival < 0 ? b->ndim + 1 : 0);
	if (args[1].u.ival < -b->ndim - 1 || args[1].u.ival > b->ndim) {
		return edit_fail(e, "factor_axis is %lld; %s has %d dimensions, "
				 "give %d to %d", (long long)args[1].u.ival,
				 b->name, b->ndim, -b->ndim - 1, b->ndim);
	}
	shape = arena_array(&e->m->arena, const struct expr *, b->ndim + 1);
	for (int d = 0; d <= b->ndim; d++) {
		shape[d] = d == r.axis ? r.loop->args[1]
				       : b->shape[d - (d > r.axis)];
	}
	spec.name = arena_printf(&e->m->arena, "%s_part", b->name);
	spec.type = b->type;
	spec.ndim = b->ndim + 1;
	spec.shape = shape;
	spec.scope = "local";
	r.partial = buffer_new(e->m, &spec);
	r.lane = var_new(e->m,
			 arena_printf(&e->m->arena, "v_%s",
				      r.loop->u.loop.var->name),
			 r.loop->u.loop.var->type);
	nest = final_nest(&r);
	added = partial_block(&r);
	stmt_replace(e->f, r.block, added);
	place = stmt_place_of(r.outer);
	pair[0] = r.outer;
	pair[1] = nest;
	stmt_put(e->f, place, stmt_seq(e->f, pair, 2));
	scope_add_alloc(e->f, scope, r.partial);
	blocks_below(e->f, nest, &final);
	/* The block keeps its handle: it is the one that yields the result. */
	stmt_write(e->f, &final.list.data[0]->id, &id, sizeof id);
	block_refresh(e->f, added);
	block_refresh(e->f, final.list.data[0]);
	*out = sv_block(added->id);
	return true;
}
