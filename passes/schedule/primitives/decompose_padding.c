/* SPDX-License-Identifier: Apache-2.0 */
/* decompose_padding: splits a padding block into a block that fills the buffer
 * with the constant and a block that copies the interior.
 *
 *   for i in 130:                      for i in 130: B[v_i] = 0
 *       B[v_i] = T.if_then_else(   ->  for i in 128: B[v_i] = A[v_i - 1]
 *           1 <= v_i < 129, A[v_i - 1], 0)
 *
 * Loops of tiles keep their extents, and the block gets a predicate. */
#include "copy_block.h"

struct padding {
	struct edit *e;
	struct stmt *block, *loop, *store;
	const struct expr *inside, *value, *fill;
};

/* Reads B[v…] = if_then_else(inside, value, constant) into p, or the same with
 * `value` and the constant exchanged. False after a diagnostic. */
static bool
match(struct padding *p)
{
	struct edit *e = p->e;
	const struct expr *x;
	const char *name = p->block->u.block->name;

	p->store = sole_store(p->block);
	if (!p->store || p->block->children[1]) {
		return edit_fail(e,
				 "block %s is not a single assignment; only "
				 "padding blocks can be decomposed",
				 name);
	}
	x = p->store->args[0];
	if ((x->kind != EXPR_IF && x->kind != EXPR_SELECT) ||
	    expr_has_load(x->args[0])) {
		return edit_fail(e,
				 "block %s does not select between a value "
				 "and a constant by its iter vars; only "
				 "padding blocks can be decomposed",
				 name);
	}
	if (x->args[2]->kind == EXPR_INT || x->args[2]->kind == EXPR_FLOAT) {
		p->inside = x->args[0];
		p->value = x->args[1];
		p->fill = x->args[2];
	} else if (x->args[1]->kind == EXPR_INT ||
		   x->args[1]->kind == EXPR_FLOAT) {
		p->inside = expr_not(e->m, x->args[0]);
		p->value = x->args[2];
		p->fill = x->args[1];
	} else {
		return edit_fail(e,
				 "block %s selects between two values that "
				 "are not constant; only padding with a "
				 "constant can be decomposed",
				 name);
	}
	for (int i = 0; i < p->block->u.block->n_iters; i++) {
		if (p->block->u.block->iters[i].kind != ITER_SPATIAL) {
			return edit_fail(e,
					 "block %s reduces; only padding "
					 "blocks can be decomposed",
					 name);
		}
	}
	return true;
}

/* Does another statement of p->loop use the buffer before the block stores to it? */
static bool
used_before(struct padding *p)
{
	struct func *f = p->e->f;
	struct access_list all = accesses_of(f, p->loop, p->store->u.buffer);

	for (int i = 0; i < all.list.n; i++) {
		if (!stmt_contains(p->block, all.list.data[i].at) &&
		    !stmt_before(f, p->block, all.list.data[i].at)) {
			return true;
		}
	}
	return false;
}

static bool
check_place(struct padding *p)
{
	struct edit *e = p->e;
	const char *name = p->block->u.block->name;
	const struct buffer *b = p->store->u.buffer;

	if (!stmt_contains(p->loop, p->block) ||
	    scope_of(p->loop) != scope_of(p->block)) {
		return edit_fail(e,
				 "loop %s is not around block %s; name one "
				 "of its loops",
				 p->loop->u.loop.var->name, name);
	}
	if (sole_writer(e->f, b) != p->block) {
		return edit_fail(e,
				 "other blocks also write %s; the fill would "
				 "overwrite their elements",
				 b->name);
	}
	if (expr_uses_buffer(p->value, b)) {
		return edit_fail(e,
				 "block %s reads its own output; the fill "
				 "would overwrite it",
				 name);
	}
	if (!stores_distinct_elements(e, p->block, p->store)) {
		return edit_fail(e,
				 "block %s stores to elements of %s more "
				 "than once, as in a ring buffer; the fill "
				 "would overwrite them",
				 name, b->name);
	}
	if (used_before(p)) {
		return edit_fail(e,
				 "loop %s uses %s before block %s stores to "
				 "it; choose an inner loop",
				 p->loop->u.loop.var->name, b->name, name);
	}
	for (struct stmt *s = p->block->parent; s != p->loop; s = s->parent) {
		if (s->kind != STMT_FOR && s->kind != STMT_SEQ) {
			return edit_fail(e,
					 "there are other statements than "
					 "loops between loop %s and block "
					 "%s; choose an inner loop",
					 p->loop->u.loop.var->name, name);
		}
	}
	return true;
}

/* Inserts the fill before p->loop: a copy of the block whose value is the
 * constant, in copies of those loops that it needs. */
static struct stmt *
fill_nest(struct padding *p)
{
	struct edit *e = p->e;
	struct block copy = *p->block->u.block;
	struct stmt *nest;

	copy.name = free_block_name(e, arena_printf(&e->m->arena,
						    "%s_pad_const", copy.name));
	nest = stmt_block(e->f, &copy, p->block->args[0], p->block->args + 1,
			  NULL,
			  stmt_store(e->f, p->store->u.buffer, p->fill,
				     p->store->args + 1, p->store->n_args - 1));
	for (struct stmt *s = p->block->parent;; s = s->parent) {
		bool uses = false;

		for (int i = 0; i < p->block->n_args && s->kind == STMT_FOR;
		     i++) {
			uses |= expr_uses_var(p->block->args[i], s->u.loop.var);
		}
		if (uses) {
			nest = stmt_for(e->f, s->u.loop.var, s->args[0],
					s->args[1], s->u.loop.kind, nest);
			nest->u.loop.thread = s->u.loop.thread;
		}
		if (s == p->loop) {
			break;
		}
	}
	return stmt_clone(e->f, nest, true);
}

/* Sets *lo and *hi to the limits lo <= v < hi that the conjuncts give for iter
 * var i, and sets taken[k] for the conjuncts that it uses: those in which i is
 * the only iter var. */
static void
limits(struct padding *p, const struct conjuncts *all, bool *taken, int i,
       const struct expr **lo, const struct expr **hi)
{
	struct module *m = p->e->m;
	const struct iter_var *it = &p->block->u.block->iters[i];
	struct analyser a;

	*lo = it->min;
	*hi = expr_add(m, it->min, it->extent);
	analyser_init(&a, m);
	for (int k = 0; k < all->list.n; k++) {
		const struct expr *c = all->list.data[k], *rest;
		const struct expr *difference; /* >= 0 */
		int64_t coeff;

		if (c->kind == EXPR_LT) {
			difference = expr_sub(m,
					      expr_sub(m, c->args[1],
						       c->args[0]),
					      expr_int(m, c->args[0]->type, 1));
		} else if (c->kind == EXPR_LE) {
			difference = expr_sub(m, c->args[1], c->args[0]);
		} else if (c->kind == EXPR_GT) {
			difference = expr_sub(m,
					      expr_sub(m, c->args[0],
						       c->args[1]),
					      expr_int(m, c->args[0]->type, 1));
		} else if (c->kind == EXPR_GE) {
			difference = expr_sub(m, c->args[0], c->args[1]);
		} else {
			continue;
		}
		if (!analyse_affine(&a, difference,
				    &p->block->u.block->iters[i].var, 1, &coeff,
				    &rest) ||
		    (coeff != 1 && coeff != -1)) {
			continue;
		}
		for (int j = 0; j < p->block->u.block->n_iters; j++) {
			if (expr_uses_var(rest,
					  p->block->u.block->iters[j].var)) {
				coeff = 0;
			}
		}
		if (coeff == 1) { /* the conjunct says v >= -rest */
			*lo = expr_max(m, *lo, expr_neg(m, rest));
			taken[k] = true;
		} else if (coeff == -1) { /* the conjunct says v <= rest */
			*hi = expr_min(m, *hi,
				       expr_add(m, rest,
						expr_int(m, rest->type, 1)));
			taken[k] = true;
		}
	}
	*lo = simplify(&a, *lo);
	*hi = simplify(&a, *hi);
}

/* The loop bound to iter var i, if the loop's range can be reduced: its range
 * is that of the iter var, no other iter var uses its variable, and the bounds
 * of the loops between it and the block do not use its variable. Else NULL. */
static struct stmt *
own_loop(struct padding *p, int i)
{
	struct stmt *loop = binding_loop(p->block, i);
	const struct iter_var *it = &p->block->u.block->iters[i];
	int uses = 0;

	if (!loop || !stmt_contains(p->loop, loop) ||
	    loop->args[0] != it->min || loop->args[1] != it->extent) {
		return NULL;
	}
	for (struct stmt *s = p->block->parent; s != loop; s = s->parent) {
		if (s->kind != STMT_FOR ||
		    expr_uses_var(s->args[0], loop->u.loop.var) ||
		    expr_uses_var(s->args[1], loop->u.loop.var)) {
			return NULL;
		}
	}
	if (loop->children[0]->kind == STMT_SEQ) {
		return NULL;
	}
	for (int k = 0; k < p->block->n_args; k++) {
		uses += expr_uses_var(p->block->args[k], loop->u.loop.var);
	}
	return uses == 1 ? loop : NULL;
}

/* Restricts the copying block to the interior. */
static void
restrict_block(struct padding *p)
{
	struct edit *e = p->e;
	struct module *m = e->m;
	struct conjuncts all = { 0 };
	const struct block *b = p->block->u.block;
	const struct expr *predicate = p->block->args[0];
	struct var_map map = { .n = b->n_iters };
	bool *taken;

	expr_conjuncts(m, p->inside, &all);
	taken = arena_array(&m->arena, bool, all.list.n + 1);
	map.from = arena_array(&m->arena, struct var *, b->n_iters + 1);
	map.to = arena_exprs(&m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		struct stmt *loop = own_loop(p, i);
		const struct expr *lo, *hi;
		struct analyser a;

		map.from[i] = b->iters[i].var;
		if (loop) {
			const struct expr *value = loop->u.loop.var->expr;

			limits(p, &all, taken, i, &lo, &hi);
			analyser_at(&a, m, loop);
			hi = simplify(&a, expr_max(m, expr_i32(m, 0),
						   expr_sub(m, hi, lo)));
			value = simplify(&a, expr_add(m, lo, value));
			stmt_set_arg(e->f, loop, 0,
				     expr_int(m, loop->args[0]->type, 0));
			stmt_set_arg(e->f, loop, 1, hi);
			stmt_set_arg(e->f, p->block, i + 1, value);
		}
		map.to[i] = p->block->args[i + 1];
	}
	for (int k = 0; k < all.list.n; k++) {
		if (!taken[k]) {
			predicate = expr_and(m, predicate,
					     expr_substitute(m,
							     all.list.data[k],
							     &map));
		}
	}
	stmt_set_arg(e->f, p->block, 0, predicate);
	stmt_set_arg(e->f, p->store, 0, p->value);
	bindings_simplify(e->f, p->block, false);
	block_refresh(e->f, p->block);
}

bool
prim_decompose_padding(struct edit *e, const struct sched_value *args,
		       struct sched_value *out)
{
	struct padding p = { .e = e };
	struct stmt *nest;
	struct stmt_list made = { 0 };

	p.block = edit_block(e, args[0].u.id);
	if (!p.block || !(p.loop = edit_loop(e, args[1].u.id)) || !match(&p) ||
	    !check_place(&p)) {
		return false;
	}
	nest = fill_nest(&p);
	restrict_block(&p);
	insert_beside(e, p.loop, nest, false);
	blocks_below(e->f, nest, &made);
	block_refresh(e->f, made.list.data[0]);
	*out = sv_block(made.list.data[0]->id);
	return true;
}
