/* SPDX-License-Identifier: Apache-2.0 */
/* read_at, write_at: make a copy of the elements that one iteration of a loop
 * reads or writes. cache_index: computes index values in advance.
 *
 *   for i:                          read_at(i, C, 0, "shared")
 *       for j: C[i] += A[i, j]         for i:
 *                               ->         for j: A_shared[i, j] = A[i, j]
 *                                          for j: C[i] += A_shared[i, j] */
#include "block_init.h"
#include "copy_block.h"
#include "iterate.h"
#include "region.h"

struct copying {
	struct edit *e;
	struct stmt *loop, *block;
	const struct buffer *buffer, *cache;
	/* the block's loads of the buffer, or its stores to the buffer */
	struct access_list uses;
	struct range *box;
};

/* The child of the loop's body that contains the block. */
static struct stmt *
child_of_body(const struct copying *c)
{
	struct stmt *body = c->loop->children[0], *s = c->block;

	if (body->kind != STMT_SEQ) {
		return body;
	}
	while (s->parent != body) {
		s = s->parent;
	}
	return s;
}

static bool
begin(struct copying *c, const struct sched_value *args, bool writes)
{
	struct edit *e = c->e;
	struct access_list all = { 0 };
	struct stmt *p;

	if (!(c->loop = edit_loop(e, args[0].u.id)) ||
	    !(c->block = edit_block(e, args[1].u.id))) {
		return false;
	}
	if (!stmt_contains(c->loop, c->block) ||
	    scope_of(c->loop) != scope_of(c->block)) {
		return edit_fail(e,
				 "loop %s is not around block %s; name one "
				 "of its loops",
				 c->loop->u.loop.var->name,
				 c->block->u.block->name);
	}
	for (p = c->block->parent; p != c->loop; p = p->parent) {
		if (p->kind != STMT_FOR && p->kind != STMT_SEQ) {
			return edit_fail(e,
					 "there are other statements than "
					 "loops between loop %s and block "
					 "%s; choose an inner loop",
					 c->loop->u.loop.var->name,
					 c->block->u.block->name);
		}
	}
	c->buffer = writes ? write_arg(c->block, &args[2])
			   : read_arg(c->block, &args[2]);
	if (!edit_check_no_address(e, c->buffer)) {
		return false;
	}
	access_collect(e->f, c->block, c->buffer, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load == writes) {
			vec_push(&e->m->arena, &c->uses.list, all.list.data[i]);
		}
	}
	if (c->uses.list.n == 0) {
		return edit_fail(e,
				 "block %s declares that it %s %s, and does "
				 "not; declare its own regions",
				 c->block->u.block->name,
				 writes ? "writes" : "reads", c->buffer->name);
	}
	c->box = arena_array(&e->m->arena, struct range, c->buffer->ndim + 1);
	c->cache = buffer_variant(e, c->buffer,
				  arena_printf(&e->m->arena, "%s_%s",
					       c->buffer->name, args[3].u.text),
				  args[3].u.text, -1, NULL);
	return true;
}

static void
finish(struct copying *c, const struct expr *when, bool writes,
       struct sched_value *out)
{
	struct edit *e = c->e;
	struct stmt *copy, *nest;

	nest = copy_box_nest(e, c->cache->name, writes ? c->buffer : c->cache,
			     writes ? c->cache : c->buffer, c->box,
			     c->uses.list.data[0].index, c->loop->children[0],
			     &copy);
	if (when) {
		stmt_set_arg(e->f, copy, 0,
			     expr_and(e->m, copy->args[0], when));
	}
	stmt_set_note(e->f, copy, "auto_copy", expr_i32(e->m, 1));
	stmt_replace_buffer(e->f, c->block, c->buffer, c->cache);
	insert_beside(e, child_of_body(c), nest, writes);
	scope_add_alloc(e->f, scope_of(c->loop), c->cache);
	*out = sv_block(copy->id);
}

/* Does the box contain elements that are never stored? The box of a block under
 * a condition may be anywhere. */
static bool
box_has_unstored(const struct copying *c)
{
	struct edit *e = c->e;
	struct range *all = arena_array(&e->m->arena, struct range,
					c->buffer->ndim + 1);

	region_full(e->m, c->buffer, all);
	return leaves_unstored(e, e->f->body, c->buffer,
			       expr_is_value(c->block->args[0], 1) ? c->box
								   : all);
}

bool
prim_read_at(struct edit *e, const struct sched_value *args,
	     struct sched_value *out)
{
	struct copying c = { .e = e };
	const struct stmt *reader;

	if (!begin(&c, args, false)) {
		return false;
	}
	if (writes_below(e->f, c.loop, c.buffer)) {
		return edit_fail(e,
				 "%s is written inside of loop %s; choose "
				 "an inner loop",
				 c.buffer->name, c.loop->u.loop.var->name);
	}
	reader = init_before_loop(c.loop, &c.uses);
	if (reader) {
		return edit_fail(e,
				 "block %s reads %s in its init, before loop "
				 "%s; choose a loop around the whole "
				 "reduction",
				 reader->u.block->name, c.buffer->name,
				 c.loop->u.loop.var->name);
	}
	access_cover(e->f, c.loop->children[0], c.uses.list.data, c.uses.list.n,
		     c.box);
	if (!func_has_param(e->f, c.buffer) && box_has_unstored(&c)) {
		return edit_fail(e,
				 "some elements of %s in the box to copy are "
				 "never stored, such as the padding of a "
				 "layout; give the layout a pad_value",
				 c.buffer->name);
	}
	finish(&c, NULL, false, out);
	return true;
}

/* Checks the block's iter vars that have a single value: if the loops give such
 * an iter var other values, too, the box does not describe the stored elements.
 * False after a diagnostic. */
static bool
check_single_values(const struct copying *c)
{
	struct edit *e = c->e;
	const struct block *b = c->block->u.block;
	struct analyser a;

	analyser_at(&a, e->m, c->block);
	for (int i = 0; i < b->n_iters; i++) {
		if (expr_is_value(b->iters[i].extent, 1) &&
		    !prove(&a, expr_eq(e->m, c->block->args[i + 1],
				       b->iters[i].min))) {
			return edit_fail(e,
					 "the predicate of block %s excludes "
					 "all iterations of iter var %s in "
					 "some iterations of its loops; "
					 "split less, or simplify the loops "
					 "first",
					 b->name, b->iters[i].var->name);
		}
	}
	return true;
}

static bool
check_writer(struct copying *c)
{
	struct edit *e = c->e;
	const char *name = c->block->u.block->name;
	int *iter_of = arena_array(&e->m->arena, int, c->buffer->ndim + 1);
	struct access_list all = accesses_of(e->f, c->loop, c->buffer);

	for (int i = 0; i < all.list.n; i++) {
		if (!stmt_contains(c->block, all.list.data[i].at)) {
			return edit_fail(e,
					 "%s is used by another block "
					 "inside of loop %s; choose an inner "
					 "loop",
					 c->buffer->name,
					 c->loop->u.loop.var->name);
		}
	}
	for (struct stmt *p = c->loop; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, c->block, true)) {
			return edit_fail(e,
					 "loop %s is a reduction loop of "
					 "block %s, so that one iteration of "
					 "loop %s does not complete the "
					 "results; choose a loop outside of "
					 "it",
					 p->u.loop.var->name, name,
					 c->loop->u.loop.var->name);
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (x->load && !c->block->children[1]) {
			return edit_fail(e,
					 "block %s updates elements of %s "
					 "that were written before; use "
					 "write_at before decompose_reduction",
					 name, c->buffer->name);
		}
		for (int d = 0; x->load && d < c->buffer->ndim; d++) {
			if (x->index[d] != c->uses.list.data[0].index[d]) {
				return edit_fail(e,
						 "block %s also reads "
						 "elements of %s that were "
						 "written before, which the "
						 "copy lacks",
						 name, c->buffer->name);
			}
		}
	}
	for (int i = 0; i < c->uses.list.n; i++) {
		if (!identity_index(c->block, c->buffer,
				    c->uses.list.data[i].index, iter_of)) {
			return edit_fail(e,
					 "block %s does not write %s at "
					 "its own iter vars; use cache_write",
					 name, c->buffer->name);
		}
	}
	if (!access_box(e->f, c->loop->children[0], c->uses.list.data,
			c->uses.list.n, c->box) ||
	    !loops_fill_box(e, c->block, c->loop->children[0], c->box,
			    c->buffer->ndim)) {
		return edit_fail(e,
				 "one iteration of loop %s does not write a "
				 "whole box of %s; choose an outer loop",
				 c->loop->u.loop.var->name, c->buffer->name);
	}
	return check_single_values(c);
}

bool
prim_write_at(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	struct copying c = { .e = e };
	const struct expr *when;

	if (!begin(&c, args, true) || !check_writer(&c)) {
		return false;
	}
	when = conditions_outside(e, c.block, c.uses.list.data[0].at,
				  c.loop->children[0]);
	for (int i = 1; i < c.uses.list.n && when; i++) {
		if (conditions_outside(e, c.block, c.uses.list.data[i].at,
				       c.loop->children[0]) != when) {
			when = NULL;
		}
	}
	if (!when) {
		return edit_fail(e,
				 "block %s skips elements of %s under a "
				 "condition; the copy has no values for these",
				 c.block->u.block->name, c.buffer->name);
	}
	finish(&c, when, true, out);
	return true;
}

/* -- positions */

struct position {
	const struct expr *value;
	int count;
};

struct positions {
	struct edit *e;
	const struct stmt *block;
	VEC(struct position) list;
	/* the expression that is being replaced, and its replacement */
	const struct expr *from, *to;
};

/* Does x consist only of iter vars of the block, sizes and operators? */
static bool
is_plain(const struct expr *x, const struct block *block)
{
	bool plain = true;

	for (struct expr_iter it = expr_each(x); (x = expr_next(&it));) {
		bool found = x->kind != EXPR_VAR || x->u.var->is_dim;

		plain &= x->kind != EXPR_LOAD && x->kind != EXPR_CALL;
		for (int i = 0; !found && i < block->n_iters; i++) {
			found = block->iters[i].var == x->u.var;
		}
		plain &= found;
	}
	return plain;
}

/* Is x defined for all values of the block's iter vars, also for those for which the
 * block does not run? */
static bool
is_defined(const struct positions *p, const struct expr *x)
{
	const struct block *b = p->block->u.block;
	struct analyser a;

	analyser_init(&a, p->e->m);
	for (int i = 0; i < b->n_iters; i++) {
		analyser_bind(&a, b->iters[i].var, b->iters[i].min,
			      b->iters[i].extent);
	}
	return expr_is_total(&a, x);
}

/* Records an index that is a composite expression of the block's iter vars and can be
 * computed for all of their values. */
static void
add_position(struct positions *p, const struct expr *x)
{
	struct position new = { x, 1 };

	if (!is_plain(x, p->block->u.block) || x->kind == EXPR_VAR ||
	    x->n_args == 0 || !is_defined(p, x)) {
		return;
	}
	for (int i = 0; i < p->list.n; i++) {
		if (p->list.data[i].value == x) {
			p->list.data[i].count++;
			return;
		}
	}
	vec_push(&p->e->m->arena, &p->list, new);
}

/* Makes a block that computes x into a buffer indexed by the iter vars of x. */
static struct stmt *
precompute(struct positions *p, const struct expr *x, const char *scope,
	   struct sched_value *made)
{
	struct edit *e = p->e;
	struct arena *arena = &e->m->arena;
	const struct block *b = p->block->u.block;
	struct iter_var *used = arena_array(arena, struct iter_var,
					    b->n_iters + 1);
	const struct expr **shape = arena_exprs(arena, b->n_iters + 1);
	const struct expr **old = arena_exprs(arena, b->n_iters + 1);
	const struct expr **new = arena_exprs(arena, b->n_iters + 1);
	struct var_map map = { arena_array(arena, struct var *, b->n_iters + 1),
			       new, 0 };
	struct buffer_spec spec = { .type = x->type, .shape = shape };
	struct iter_var *iters;
	const struct buffer *values;
	struct stmt *block, *nest;
	int n = 0;

	for (int i = 0; i < b->n_iters; i++) {
		if (expr_uses_var(x, b->iters[i].var)) {
			used[n++] = b->iters[i];
		}
	}
	iters = fresh_iters(e, used, n);
	for (int i = 0; i < n; i++) {
		shape[i] = used[i].extent;
		old[i] = expr_sub(e->m, used[i].var->expr, used[i].min);
		map.from[map.n] = used[i].var;
		new[map.n++] = iters[i].var->expr;
	}
	spec.name = free_buffer_name(e, "index");
	spec.ndim = n;
	spec.scope = arena_strdup(arena, scope);
	values = buffer_new(e->m, &spec);
	p->from = x;
	p->to = expr_load(e->m, values, old, n);
	x = expr_substitute(e->m, x, &map);
	for (int i = 0; i < n; i++) {
		new[i] = expr_sub(e->m, iters[i].var->expr, iters[i].min);
	}
	nest = store_nest(e, values->name, iters, n, NULL, values, new, x,
			  &block);
	scope_add_alloc(e->f, scope_of(p->block), values);
	*made = sv_block(block->id);
	return nest;
}

bool
prim_cache_index(struct edit *e, const struct sched_value *args,
		 struct sched_value *out)
{
	struct stmt *block = edit_block(e, args[0].u.id);
	struct positions p = { .e = e, .block = block };
	struct access_list all = { 0 };
	struct sched_value *made;
	int n = 0;

	if (!block) {
		return false;
	}
	if (!scope_of(block)) {
		return edit_fail(e,
				 "block %s is the whole function; name a "
				 "block inside",
				 block->u.block->name);
	}
	access_collect(e->f, block->children[0], NULL, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		for (int d = 0; x->load && d < x->buffer->ndim; d++) {
			add_position(&p, x->index[d]);
		}
	}
	made = arena_array(&e->m->arena, struct sched_value, p.list.n + 1);
	for (int i = 0; i < p.list.n; i++) {
		struct stmt *nest;

		if (p.list.data[i].count < args[2].u.ival) {
			continue;
		}
		nest = precompute(&p, p.list.data[i].value, args[1].u.text,
				  &made[n++]);
		for (int k = 0; k < 2; k++) {
			if (block->children[k]) {
				stmt_replace_expr(e->f, block->children[k],
						  p.from, p.to);
			}
		}
		insert_beside(e, scope_child(block), nest, false);
	}
	if (n == 0) {
		return edit_fail(e,
				 "block %s has no index to compute in "
				 "advance: none is an expression of iter "
				 "vars that is defined for all their values%s",
				 block->u.block->name,
				 p.list.n > 0 ? " and occurs often enough; "
						"lower cse_thresh"
					      : "");
	}
	refresh_inside(e, block);
	*out = sv_list(e->m, made, n);
	return true;
}
