/* SPDX-License-Identifier: Apache-2.0 */
/* blockize: a loop nest becomes one block, a unit for later steps (tensorize
 * replaces it by an instruction).
 *
 *   for i_o, k_o, i_i, k_i:          blockize(i_i)   for i_o, k_o:
 *       with T.block("C"):                ->             with T.block("C_o"):
 *           v_i = … i_o * 4 + i_i                            v_i_o = … i_o
 *           v_k = … k_o * 8 + k_i                            v_k_o = … k_o
 *           with T.init(): C[v_i] = 0                        with T.init():
 *           C[v_i] += A[v_i, v_k]                                for i_i: …
 *                                                            for i_i, k_i:
 *                                                                with T.block("C"):
 *                                                                    …
 *
 * The init moves to the outer block if the outer block has reduction iter
 * vars. */
#include "blockize.h"

#include "block_init.h"
#include "copy_block.h"
#include "index_map_inverse.h"
#include "iter_map.h"
#include "iterate.h"
#include "loop_legality.h"

struct blockizer {
	struct edit *e;
	struct stmt *top;
	bool preserve; /* iter vars of extent 1 are kept */
	bool single;   /* the nest has only one block */
	int n_outer;   /* the number of loops outside of `top` */
	/* The iter vars of the new, outer block. */
	VEC(struct iter_var) iters;
	VEC(const struct expr *) bindings;
	const struct expr *predicate;
	bool reduces;
};

/* A block of the nest, and the division of its bindings into outer and inner
 * parts. */
struct divided {
	struct stmt *block;
	struct iter_var *loops;
	int n_loops;
	/* by iter var: how its binding is divided */
	struct iter_division *parts;
	const struct expr *outer, *inner; /* predicates */
};

/* Checks that there are only loops (and, for several blocks, sequences) between
 * top and the block; false after a diagnostic. */
static bool
plain_path(struct edit *e, const struct stmt *top, const struct stmt *block)
{
	for (const struct stmt *p = block; p != top; p = p->parent) {
		enum stmt_kind kind = p->parent->kind;

		if (kind != STMT_FOR && kind != STMT_SEQ) {
			return edit_fail(e,
					 "there is a %s around block %s; "
					 "only loops can be moved into the "
					 "new block",
					 stmt_kind_name(kind),
					 block->u.block->name);
		}
	}
	return true;
}

static struct iter_var *
loops_of_scope(struct func *f, const struct stmt *inner, int *n)
{
	const struct stmt *scope = scope_of(inner), *top = inner;

	while (top->parent && top->parent != scope) {
		top = top->parent;
	}
	return loops_between(f, top, inner, n);
}

/* -- dividing iter vars */

static bool
divide(struct blockizer *z, struct stmt *s, struct divided *v)
{
	struct module *m = z->e->m;
	const struct block *b = s->u.block;
	const struct expr **index, **domains;
	const char *why = NULL;
	struct analyser a;

	v->block = s;
	v->loops = loops_of_scope(z->e->f, s, &v->n_loops);
	v->parts = arena_array(&m->arena, struct iter_division, b->n_iters + 1);
	index = arena_exprs(&m->arena, b->n_iters + 1);
	domains = arena_exprs(&m->arena, b->n_iters + 1);
	analyser_init(&a, m);
	analyser_enter_scope(&a, s);
	for (int i = 0; i < b->n_iters; i++) {
		index[i] = expr_sub(m, s->args[i + 1], b->iters[i].min);
		domains[i] = b->iters[i].extent;
	}
	return iter_map_divide(&a, v->loops, v->n_loops, z->n_outer, s->args[0],
			       index, domains, b->n_iters, v->parts, &v->outer,
			       &v->inner, &why) ||
	       edit_fail(z->e,
			 "the iter vars of block %s cannot be divided: "
			 "%s; split so that each is outer times extent plus "
			 "inner",
			 b->name, why);
}

/* The expression, in the outer block, for the outer part (in d) of the iter var
 * `it`: an iter var of the outer block, or the part itself if it has only one
 * value. If the outer parts of two blocks are equal, they share an iter var. */
static const struct expr *
outer_iter(struct blockizer *z, const struct iter_var *it,
	   const struct iter_division *d)
{
	struct module *m = z->e->m;
	struct iter_var fresh = *it;

	if (!z->preserve && expr_is_value(d->outer_extent, 1)) {
		return d->outer;
	}
	for (int i = 0; i < z->iters.n && !z->single; i++) {
		if (z->bindings.data[i] == d->outer &&
		    d->outer->kind != EXPR_INT &&
		    z->iters.data[i].kind == it->kind &&
		    z->iters.data[i].extent == d->outer_extent) {
			return z->iters.data[i].var->expr;
		}
	}
	fresh.var = var_new(m, arena_printf(&m->arena, "%s_o", it->var->name),
			    it->var->type);
	fresh.min = expr_int(m, it->var->type, 0);
	fresh.extent = d->outer_extent;
	vec_push(&m->arena, &z->iters, fresh);
	vec_push(&m->arena, &z->bindings, d->outer);
	z->reduces |= it->kind == ITER_REDUCE &&
		      !expr_is_value(d->outer_extent, 1);
	return fresh.var->expr;
}

/* Restricts the inner block's iter vars to their inner parts; the outer parts
 * are iter vars of the new block. */
static void
shrink(struct blockizer *z, const struct divided *v)
{
	struct func *f = z->e->f;
	struct module *m = z->e->m;
	struct stmt *s = v->block;
	struct block copy = *s->u.block;
	int n = copy.n_iters, n_new = 0;
	struct iter_var *iters = arena_array(&m->arena, struct iter_var, n + 1);
	const struct expr **args = arena_exprs(&m->arena, n + 1);
	const struct expr **to = arena_exprs(&m->arena, n + 1);
	struct var **from = arena_array(&m->arena, struct var *, n + 1);
	struct var_map map = { from, to, n };

	args[0] = v->inner;
	for (int i = 0; i < n; i++) {
		const struct iter_var *it = &copy.iters[i];
		const struct iter_division *d = &v->parts[i];
		struct iter_var *fresh = &iters[n_new];

		from[i] = it->var;
		to[i] = expr_add(m,
				 expr_mul(m, outer_iter(z, it, d),
					  d->inner_extent),
				 expr_add(m, d->base, it->min));
		if (!z->preserve && expr_is_value(d->inner_extent, 1)) {
			continue;
		}
		*fresh = *it;
		fresh->var = var_new(m,
				     arena_printf(&m->arena, "%s_i",
						  it->var->name),
				     it->var->type);
		fresh->min = expr_int(m, it->var->type, 0);
		fresh->extent = d->inner_extent;
		to[i] = expr_add(m, to[i], fresh->var->expr);
		args[++n_new] = d->inner;
	}
	stmt_substitute(f, s, &map);
	copy = *s->u.block;
	copy.iters = iters;
	copy.n_iters = n_new;
	stmt_set_args(f, s, args, n_new + 1);
	stmt_set_block(f, s, &copy);
}

/* -- init */

static bool
drives_spatial(const struct stmt *top, const struct stmt *block,
	       const struct expr *c, bool *other)
{
	bool spatial = false;

	for (const struct stmt *p = block->parent; p != top->parent;
	     p = p->parent) {
		if (p->kind == STMT_FOR && expr_uses_var(c, p->u.loop.var)) {
			bool drives = loop_drives(p, block, false);

			spatial |= drives;
			*other |= !drives;
		}
	}
	return spatial;
}

static bool
init_condition(struct edit *e, const struct stmt *top, const struct stmt *block,
	       const struct expr **out)
{
	struct conjuncts all = { 0 };
	bool guarded = false;
	struct analyser a;

	analyser_at(&a, e->m, top);
	*out = expr_bool(e->m, true);
	expr_conjuncts(e->m, block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		bool reduces = false;
		bool spatial = drives_spatial(top, block, c, &reduces);

		if (spatial && reduces) {
			return edit_fail(e,
					 "the predicate of block %s mixes "
					 "reduction and spatial loops; split "
					 "so that the reduction divides",
					 block->u.block->name);
		}
		if (!reduces && guarded && !expr_is_total(&a, c)) {
			return edit_fail(e,
					 "the predicate of block %s has a load "
					 "or division that a condition on "
					 "reduction loops may guard; test that "
					 "condition last",
					 block->u.block->name);
		}
		guarded |= reduces;
		if (!reduces) {
			*out = expr_and(e->m, *out, c);
		}
	}
	return true;
}

struct stmt *
detach_init(struct edit *e, struct stmt *top, struct stmt *block)
{
	struct arena *arena = &e->m->arena;
	const struct block *b = block->u.block;
	struct block init = { .writes = b->writes, .n_writes = b->n_writes };
	const struct expr **bindings = arena_exprs(arena, b->n_iters + 1);
	const struct expr *condition;
	struct stmt *nest;

	if (!init_condition(e, top, block, &condition)) {
		return NULL;
	}
	init.name = free_block_name(e, arena_printf(&e->m->arena, "%s_init",
						    b->name));
	init.iters = arena_array(arena, struct iter_var, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind != ITER_REDUCE) {
			init.iters[init.n_iters] = b->iters[i];
			bindings[init.n_iters++] = block->args[i + 1];
		}
	}
	nest = stmt_block(e->f, &init, condition, bindings, NULL,
			  stmt_clone(e->f, block->children[1], true));
	stmt_set_child(e->f, block, 1, NULL);
	for (struct stmt *p = block->parent; p != top->parent; p = p->parent) {
		if (p->kind != STMT_FOR || !loop_drives(p, block, false)) {
			continue;
		}
		if (loop_drives(p, block, true)) {
			edit_fail(e,
				  "loop %s drives spatial and reduction iter "
				  "vars of block %s; split it along its iter "
				  "vars",
				  p->u.loop.var->name, b->name);
			return NULL;
		}
		nest = stmt_for(e->f, p->u.loop.var, p->args[0], p->args[1],
				FOR_SERIAL, nest);
	}
	return stmt_clone(e->f, nest, true);
}

/* -- the outer block */

/* In the body of the new block, replaces the variables of loops outside of the
 * block by the block's iter vars: the body must not use such variables. False
 * after a diagnostic. */
static bool
close_body(struct blockizer *z, const struct iter_var *loops)
{
	struct edit *e = z->e;
	struct module *m = e->m;
	struct var **vars = arena_array(&m->arena, struct var *,
					z->n_outer + 1);
	const struct expr **shape = arena_exprs(&m->arena, z->n_outer + 1);
	struct var **iters = arena_array(&m->arena, struct var *,
					 z->iters.n + 1);
	const struct expr **exprs = arena_exprs(&m->arena, z->iters.n + 1);
	struct var_map map = { 0 }, back = { iters, NULL, 0 };
	struct index_map *inverse = NULL;
	const struct expr **values;
	const char *why;
	int n = 0, used = 0;

	for (int i = 0; i < z->n_outer; i++) {
		used += stmt_uses_var(z->top, loops[i].var);
		if (!expr_is_value(loops[i].extent, 1) &&
		    expr_is_value(loops[i].min, 0)) {
			vars[n] = loops[i].var;
			shape[n++] = loops[i].extent;
		}
	}
	if (used == 0) {
		return true;
	}
	for (int i = 0; i < z->iters.n; i++) {
		if (z->bindings.data[i]->kind != EXPR_INT) {
			iters[back.n] = z->iters.data[i].var;
			exprs[back.n++] = z->bindings.data[i];
		}
	}
	if (index_map_from_forward(m, vars, n, exprs, back.n, shape, &inverse,
				   &why) &&
	    !inverse->in_range) {
		values = arena_exprs(&m->arena, n + 1);
		for (int i = 0; i < n; i++) {
			struct var_map rename = { inverse->physical, NULL,
						  back.n };

			rename.to = arena_exprs(&m->arena, back.n + 1);
			for (int k = 0; k < back.n; k++) {
				rename.to[k] = iters[k]->expr;
			}
			values[i] = expr_substitute(m, inverse->to_logical[i],
						    &rename);
		}
		map = (struct var_map){ vars, values, n };
		stmt_substitute(e->f, z->top, &map);
	}
	for (int i = 0; i < z->n_outer; i++) {
		if (stmt_uses_var(z->top, loops[i].var)) {
			return edit_fail(e,
					 "the body uses loop %s, whose value "
					 "the iter vars of the new block do "
					 "not determine; choose a loop "
					 "further out",
					 loops[i].var->name);
		}
	}
	return true;
}

static struct stmt *
wrap(struct blockizer *z, const char *stem, struct stmt *init)
{
	struct edit *e = z->e;
	struct stmt_place place = stmt_place_of(z->top);
	struct block b = {
		.name = free_block_name(e, arena_printf(&e->m->arena, "%s_o",
							stem)),
		.iters = z->iters.data,
		.n_iters = z->iters.n,
	};
	struct stmt *outer = stmt_block(e->f, &b, z->predicate,
					z->bindings.data, init, z->top);

	stmt_put(e->f, place, outer);
	return outer;
}

/* Wraps `top`, a statement with loops around the n blocks, in a new block: each
 * iter var of these blocks is divided into a part bound to the loops outside of
 * top and a part bound to the loops inside. NULL after a diagnostic. */
static struct stmt *
blockize_below(struct edit *e, struct stmt *top, struct stmt *const *blocks,
	       int n, bool preserve_unit_iters)
{
	struct blockizer z = {
		.e = e,
		.top = top,
		.preserve = preserve_unit_iters,
		.single = n == 1,
		.predicate = expr_bool(e->m, true),
	};
	struct stmt *init = NULL, *outer;
	struct divided v;
	struct iter_var *loops = loops_of_scope(e->f, top, &z.n_outer);

	for (int i = 0; i < n; i++) {
		if (!plain_path(e, top, blocks[i]) ||
		    !divide(&z, blocks[i], &v)) {
			return NULL;
		}
		if (i > 0 && v.outer != z.predicate) {
			edit_fail(e,
				  "blocks %s and %s have different "
				  "predicates; blockize them alone",
				  blocks[0]->u.block->name,
				  blocks[i]->u.block->name);
			return NULL;
		}
		z.predicate = v.outer;
		shrink(&z, &v);
	}
	for (int i = 0; i < n && z.reduces; i++) {
		if (blocks[i]->children[1] && n > 1) {
			edit_fail(e,
				  "block %s has an init part; decompose the "
				  "reduction first",
				  blocks[i]->u.block->name);
			return NULL;
		}
		if (blocks[i]->children[1] &&
		    !(init = detach_init(e, top, blocks[i]))) {
			return NULL;
		}
	}
	if (!close_body(&z, loops)) {
		return NULL;
	}
	outer = wrap(&z, blocks[0]->u.block->name, init);
	for (int i = 0; i < n; i++) {
		block_refresh(e->f, blocks[i]);
	}
	bindings_simplify(e->f, outer->children[0], preserve_unit_iters);
	refresh_inside(e, outer);
	block_refresh(e->f, outer);
	return outer;
}

struct stmt *
blockize_loop(struct edit *e, struct stmt *loop, bool preserve_unit_iters)
{
	struct stmt_list blocks = { 0 };

	blocks_below(e->f, loop, &blocks);
	if (blocks.list.n != 1) {
		edit_fail(e,
			  "there are %d blocks below loop %s; blockize a "
			  "loop around one, or name the blocks",
			  blocks.list.n, loop->u.loop.var->name);
		return NULL;
	}
	if (blocks.list.data[0]->children[1] &&
	    block_depends_on_itself(e, blocks.list.data[0])) {
		edit_fail(e,
			  "block %s reads elements that other iterations of it "
			  "write; its init stays with each of them",
			  blocks.list.data[0]->u.block->name);
		return NULL;
	}
	for (struct stmt *p = blocks.list.data[0]; p != loop; p = p->parent) {
		if (p->parent->kind == STMT_SEQ) {
			edit_fail(e,
				  "block %s is not the whole body of loop "
				  "%s",
				  blocks.list.data[0]->u.block->name,
				  loop->u.loop.var->name);
			return NULL;
		}
	}
	return blockize_below(e, loop, blocks.list.data, 1,
			      preserve_unit_iters);
}

/* -- the primitive */

static bool
same_blocks(const struct stmt_list *found, struct stmt *const *named, int n)
{
	int seen = 0;

	for (int i = 0; i < found->list.n; i++) {
		for (int k = 0; k < n; k++) {
			seen += found->list.data[i] == named[k];
		}
	}
	return seen == n && found->list.n == n;
}

static struct stmt *
blockize_list(struct edit *e, const struct sched_value *list, int n,
	      bool preserve)
{
	struct stmt **blocks = arena_array(&e->m->arena, struct stmt *, n + 1);
	struct stmt_list found = { 0 };
	struct stmt *top = NULL;

	for (int i = 0; i < n; i++) {
		if (list[i].kind != SV_BLOCK) {
			edit_fail(e, "target mixes blocks and loops; name one "
				     "loop, or blocks");
			return NULL;
		}
		if (!(blocks[i] = edit_block(e, list[i].u.id))) {
			return NULL;
		}
		if (!blocks[i]->parent) {
			edit_fail(e, "the root block is not inside of a "
				     "block; name blocks inside of it");
			return NULL;
		}
		top = top ? stmt_common(top, blocks[i]) : blocks[i];
	}
	if (!top) {
		edit_fail(e, "no target; name a loop or blocks");
		return NULL;
	}
	blocks_below(e->f, top, &found);
	if (!same_blocks(&found, blocks, n)) {
		edit_fail(e, "there are further statements between the named "
			     "blocks; name all blocks, each once");
		return NULL;
	}
	return blockize_below(e, top, found.list.data, n, preserve);
}

bool
prim_blockize(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	const struct sched_value *target = &args[0];
	bool preserve = args[1].u.ival;
	struct stmt *outer;

	if (target->kind == SV_LIST && target->n == 1 &&
	    target->items[0].kind == SV_LOOP) {
		target = &target->items[0];
	}
	if (target->kind == SV_LOOP) {
		struct stmt *loop = edit_loop(e, target->u.id);

		outer = loop ? blockize_loop(e, loop, preserve) : NULL;
	} else if (target->kind == SV_LIST) {
		outer = blockize_list(e, target->items, target->n, preserve);
	} else {
		outer = blockize_list(e, target, 1, preserve);
	}
	if (!outer) {
		return false;
	}
	*out = sv_block(outer->id);
	return true;
}
