/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives share. */
#include "sched_edit.h"

#include <assert.h>

struct edit
edit_begin(struct sched *s, const char *primitive)
{
	return (struct edit){ .s = s, .f = s->func, .m = s->module,
			      .primitive = primitive,
			      .checkpoint = func_checkpoint(s->func) };
}

bool
edit_fail(struct edit *e, const char *fmt, ...)
{
	struct diag_place place = { 0 };
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(&e->m->arena, fmt, ap);
	va_end(ap);
	place.item = arena_printf(&e->m->arena, "step %d, %s",
				  e->s->trace.n + 1, e->primitive);
	func_rollback(e->f, e->checkpoint);
	return diag_error(&e->s->diags, DIAG_BAD_SCHEDULE, place, "%s", text);
}

struct stmt *
edit_loop(struct edit *e, int id)
{
	struct stmt *s = func_find(e->f, id);

	if (!s || s->kind != STMT_FOR) {
		edit_fail(e, "%d is not a loop (any more); get the loops of "
			     "a block again", id);
		return NULL;
	}
	return s;
}

struct stmt *
edit_block(struct edit *e, int id)
{
	struct stmt *s = func_find(e->f, id);

	if (!s || s->kind != STMT_BLOCK) {
		edit_fail(e, "%d is not a block (any more); get it by name",
			  id);
		return NULL;
	}
	return s;
}

struct stmt **
edit_loops(struct edit *e, const struct sched_value *list)
{
	struct stmt **loops = arena_array(&e->m->arena, struct stmt *,
					  list->n + 1);

	if (list->n < 1) {
		edit_fail(e, "no loops; name at least one");
		return NULL;
	}
	for (int i = 0; i < list->n; i++) {
		if (!(loops[i] = edit_loop(e, list->items[i].u.id))) {
			return NULL;
		}
	}
	return loops;
}

struct stmt *
scope_of(const struct stmt *s)
{
	struct stmt *p = s->parent;

	while (p && p->kind != STMT_BLOCK) {
		p = p->parent;
	}
	return p;
}

struct stmt *
scope_child(const struct stmt *s)
{
	const struct stmt *scope = scope_of(s);

	for (;;) {
		const struct stmt *p = s->parent;

		if (p == scope || (p->kind == STMT_SEQ &&
				   p->parent == scope)) {
			return (struct stmt *)s;
		}
		s = p;
	}
}

struct below {
	struct func *func;
	struct stmt_list *out;
};

static bool
find_blocks(void *ctx, struct stmt *s)
{
	struct below *b = ctx;

	if (s->kind == STMT_BLOCK) {
		vec_push(&b->func->module->arena, &b->out->list, s);
		return false;
	}
	return true;
}

void
blocks_below(struct func *f, struct stmt *s, struct stmt_list *out)
{
	struct below b = { f, out };

	stmt_visit(s, find_blocks, &b);
}

struct order {
	const struct stmt *first, *second;
	const struct stmt *seen;
};

static bool
find_either(void *ctx, struct stmt *s)
{
	struct order *o = ctx;

	if (!o->seen && (s == o->first || s == o->second)) {
		o->seen = s;
	}
	return !o->seen;
}

bool
stmt_before(const struct func *f, const struct stmt *s, const struct stmt *t)
{
	struct order o = { s, t, NULL };

	stmt_visit(f->body, find_either, &o);
	return o.seen == s;
}

/* -- buffers */

void
scope_add_alloc(struct func *f, struct stmt *scope, const struct buffer *b)
{
	struct block copy = *scope->u.block;
	const struct buffer **list =
		arena_array(&f->module->arena, const struct buffer *,
			    copy.n_allocs + 1);

	for (int i = 0; i < copy.n_allocs; i++) {
		list[i] = copy.allocs[i];
	}
	list[copy.n_allocs++] = b;
	copy.allocs = list;
	stmt_set_block(f, scope, &copy);
}

bool
scope_owns(const struct stmt *scope, const struct buffer *b)
{
	for (int i = 0; i < scope->u.block->n_allocs; i++) {
		if (scope->u.block->allocs[i] == b) {
			return true;
		}
	}
	return false;
}

void
scope_drop_alloc(struct func *f, struct stmt *scope, const struct buffer *b)
{
	struct block copy = *scope->u.block;
	const struct buffer **list =
		arena_array(&f->module->arena, const struct buffer *,
			    copy.n_allocs + 1);
	int k = 0;

	for (int i = 0; i < copy.n_allocs; i++) {
		if (copy.allocs[i] != b) {
			list[k++] = copy.allocs[i];
		}
	}
	copy.allocs = list;
	copy.n_allocs = k;
	stmt_set_block(f, scope, &copy);
}

bool
is_param_buffer(const struct func *f, const struct buffer *b)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == b) {
			return true;
		}
	}
	return false;
}

void
buffer_swap_all(struct func *f, const struct buffer *from,
		const struct buffer *to)
{
	stmt_replace_buffer(f, f->body, from, to);
	for (int i = 0; i < f->params.n; i++) {
		struct param *p = &f->params.data[i];

		if (p->buffer == from) {
			struct param new = { to->data, to };

			stmt_write(f, p, &new, sizeof new);
		}
	}
}

/* -- regions of a block */

static struct region *
region_of(struct func *f, const struct stmt *block,
	  const struct access *list, int n, struct region *out)
{
	struct module *m = f->module;
	const struct buffer *b = list[0].buffer;
	const struct block *blk = block->u.block;
	struct analyser a;

	analyser_init(&a, m);
	for (int i = 0; i < blk->n_iters; i++) {
		analyser_bind(&a, blk->iters[i].var, blk->iters[i].min,
			      blk->iters[i].extent);
	}
	out->buffer = b;
	out->ranges = arena_array(&m->arena, struct range, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *first = list[0].index[d];
		const struct expr *lo = first, *hi = first;

		for (int i = 0; i < n && lo; i++) {
			const struct expr *x = list[i].index[d];

			if (expr_has_load(x)) {
				lo = NULL;
			} else if (x != lo && x != hi) {
				if (prove(&a, expr_le(m, x, lo))) {
					lo = x;
				} else if (prove(&a, expr_le(m, hi, x))) {
					hi = x;
				} else if (!prove(&a, expr_and(m,
						expr_le(m, lo, x),
						expr_le(m, x, hi)))) {
					lo = NULL;
				}
			}
		}
		if (lo) {
			out->ranges[d].min = lo;
			out->ranges[d].extent =
				lo == hi ? expr_int(m, lo->type, 1)
					 : simplify(&a,
						    expr_add(m,
							     expr_sub(m, hi,
								      lo),
							     expr_i32(m, 1)));
		} else {
			out->ranges[d].min =
				expr_int(m, b->shape[d]->type, 0);
			out->ranges[d].extent = b->shape[d];
		}
	}
	return out;
}

static bool
is_written(const struct access_list *all, const struct buffer *b)
{
	for (int i = 0; i < all->list.n; i++) {
		if (!all->list.data[i].load &&
		    all->list.data[i].buffer == b) {
			return true;
		}
	}
	return false;
}

/* A reduction's load of what it updates is no read of the block. */
static struct region *
regions(struct func *f, const struct stmt *block,
	const struct access_list *all, bool writes, int *n)
{
	struct arena *arena = &f->module->arena;
	struct region *list = arena_array(arena, struct region,
					  all->list.n + 1);
	struct access *same = arena_array(arena, struct access,
					  all->list.n + 1);
	bool reduces = block->children[1] != NULL;

	for (int i = 0; i < block->u.block->n_iters; i++) {
		reduces |= block->u.block->iters[i].kind != ITER_SPATIAL;
	}
	*n = 0;
	for (int i = 0; i < all->list.n; i++) {
		const struct buffer *b = all->list.data[i].buffer;
		bool done = !all->list.data[i].load != writes ||
			    (!writes && reduces && is_written(all, b));
		int count = 0;

		for (int k = 0; k < *n; k++) {
			done |= list[k].buffer == b;
		}
		if (done) {
			continue;
		}
		for (int k = i; k < all->list.n; k++) {
			if (all->list.data[k].buffer == b &&
			    !all->list.data[k].load == writes) {
				same[count++] = all->list.data[k];
			}
		}
		region_of(f, block, same, count, &list[(*n)++]);
	}
	return list;
}

void
block_refresh(struct func *f, struct stmt *block)
{
	struct access_list all = { 0 };
	struct block copy = *block->u.block;
	struct stmt_list inner = { 0 };

	blocks_below(f, block->children[0], &inner);
	if (inner.list.n > 0) {
		return; /* a scope: its own regions are not declared */
	}
	access_collect(f, block->children[0], NULL, &all);
	if (block->children[1]) {
		access_collect(f, block->children[1], NULL, &all);
	}
	copy.reads = regions(f, block, &all, false, &copy.n_reads);
	copy.writes = regions(f, block, &all, true, &copy.n_writes);
	stmt_set_block(f, block, &copy);
}

void
bindings_simplify(struct func *f, struct stmt *s)
{
	struct stmt_list blocks = { 0 };

	blocks_below(f, s, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];
		struct analyser a;

		analyser_init(&a, f->module);
		analyser_enter(&a, b);
		for (int k = 0; k < b->n_args; k++) {
			stmt_set_arg(f, b, k, simplify(&a, b->args[k]));
		}
	}
}

/* -- blocks and their nests */

bool
identity_index(const struct stmt *block, const struct buffer *b,
	       const struct expr *const *index, int *iter_of)
{
	const struct block *blk = block->u.block;

	for (int d = 0; d < b->ndim; d++) {
		iter_of[d] = -1;
		for (int i = 0; i < blk->n_iters; i++) {
			if (index[d] == blk->iters[i].var->expr) {
				iter_of[d] = i;
			}
		}
		for (int k = 0; k < d && iter_of[d] >= 0; k++) {
			if (iter_of[k] == iter_of[d]) {
				return false;
			}
		}
		if (iter_of[d] < 0 && !(expr_is_value(index[d], 0) &&
					expr_is_value(b->shape[d], 1))) {
			return false;
		}
	}
	return true;
}

struct stmt *
sole_store(const struct stmt *block)
{
	struct stmt *s = block->children[0];

	return s->kind == STMT_STORE ? s : NULL;
}

const char *
iter_axis_name(const char *iter_name)
{
	return strncmp(iter_name, "v_", 2) == 0 && iter_name[2]
		       ? iter_name + 2
		       : iter_name;
}

struct stmt *
nest_for_block(struct func *f, struct stmt *block, const struct range *ranges,
	       const struct stmt *context)
{
	struct module *m = f->module;
	const struct block *b = block->u.block;
	struct var **vars = arena_array(&m->arena, struct var *,
					b->n_iters + 1);
	const struct expr *predicate = expr_bool(m, true);
	struct stmt *nest = block;
	struct analyser a;

	analyser_init(&a, m);
	if (context) {
		analyser_enter(&a, context);
	}
	for (int i = 0; i < b->n_iters; i++) {
		const struct iter_var *it = &b->iters[i];
		const struct expr *value = ranges[i].min, *end;

		/* Beside the other nests every axis has its loop. */
		if (!context || !expr_is_value(ranges[i].extent, 1)) {
			const char *axis = iter_axis_name(it->var->name);

			/* A part of the axis: h = h_o * 4 + h_i */
			if (ranges[i].min != it->min) {
				axis = arena_printf(&m->arena, "%s_i", axis);
			}
			vars[i] = var_new(m, axis, it->var->type);
			analyser_bind(&a, vars[i],
				      expr_int(m, it->var->type, 0),
				      ranges[i].extent);
			value = expr_add(m, value, vars[i]->expr);
		}
		value = simplify(&a, value);
		stmt_set_arg(f, block, i + 1, value);
		end = expr_add(m, it->min, it->extent);
		if (!prove(&a, expr_le(m, it->min, value))) {
			predicate = expr_and(m, predicate,
					     expr_le(m, it->min, value));
		}
		if (!prove(&a, expr_lt(m, value, end))) {
			predicate = expr_and(m, predicate,
					     expr_lt(m, value, end));
		}
	}
	stmt_set_arg(f, block, 0, predicate);
	for (int i = b->n_iters - 1; i >= 0; i--) {
		if (vars[i]) {
			nest = stmt_for(f, vars[i],
					expr_int(m, vars[i]->type, 0),
					ranges[i].extent, FOR_SERIAL, nest);
		}
	}
	return nest;
}
