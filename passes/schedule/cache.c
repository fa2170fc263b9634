/* SPDX-License-Identifier: Apache-2.0 */
/* cache_write and cache_read: a buffer of another scope between a block and
 * what it writes or reads, and a block that copies.
 *
 *   for i: C[i] = ...     cache_write(C, 0, "local")     for i: acc[i] = ...
 *                                   ->                   for i: C[i] = acc[i]
 */
#include "sched_edit.h"

static struct stmt *
sole_writer(struct edit *e, const struct buffer *b)
{
	struct access_list all = { 0 };
	struct stmt *block = NULL;

	access_collect(e->f, e->f->body, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		struct stmt *at = all.list.data[i].at;

		if (all.list.data[i].load) {
			continue;
		}
		while (at->kind != STMT_BLOCK) {
			at = at->parent;
		}
		if (block && block != at) {
			return NULL;
		}
		block = at;
	}
	return block;
}

/* The iter that index d is, by name; else a name made of d. */
static const char *
dim_name(struct edit *e,
	 const struct expr *const *index, int d)
{
	if (index && index[d]->kind == EXPR_VAR) {
		return iter_axis_name(index[d]->u.var->name);
	}
	return arena_printf(&e->m->arena, "i%d", d);
}

/* for …: to[…] = from[…], over the whole shape. index: for names, or NULL. */
static struct stmt *
copy_nest(struct edit *e, const char *name, const struct buffer *to,
	  const struct buffer *from,
	  const struct expr *const *index, struct stmt **copy)
{
	struct arena *arena = &e->m->arena;
	int n = to->ndim;
	struct block b = { .name = name, .n_iters = n };
	const struct expr **at = arena_array(arena, const struct expr *,
					     n + 1);
	const struct expr **bind = arena_array(arena, const struct expr *,
					       n + 1);
	struct range *ranges = arena_array(arena, struct range, n + 1);

	b.iters = arena_array(arena, struct iter_var, n + 1);
	for (int d = 0; d < n; d++) {
		const char *axis = dim_name(e, index, d);
		const struct expr *zero = expr_int(e->m, to->shape[d]->type,
						   0);

		b.iters[d].var = var_new(e->m,
					 arena_printf(arena, "v_%s", axis),
					 to->shape[d]->type);
		b.iters[d].min = zero;
		b.iters[d].extent = to->shape[d];
		b.iters[d].kind = ITER_SPATIAL;
		at[d] = b.iters[d].var->expr;
		bind[d] = zero;
		ranges[d].min = zero;
		ranges[d].extent = to->shape[d];
	}
	*copy = stmt_block(e->f, &b, NULL, bind, NULL,
			   stmt_store(e->f, to,
				      expr_load(e->m, from, at, n), at, n));
	block_refresh(e->f, *copy);
	return nest_for_block(e->f, *copy, ranges, NULL);
}

static const char *
unique_block_name(struct edit *e, const char *name)
{
	const char *text = name;

	for (int i = 1; func_find_block(e->f, text); i++) {
		text = arena_printf(&e->m->arena, "%s_%d", name, i);
	}
	return text;
}

static void
insert_beside(struct edit *e, struct stmt *at, struct stmt *added, bool after)
{
	struct stmt_place place = stmt_place_of(at);
	struct stmt *pair[2];

	pair[after ? 0 : 1] = at;
	pair[after ? 1 : 0] = added;
	stmt_put(e->f, place, stmt_seq(e->f, pair, 2));
}

/* The index of the block's (first) store into b. */
static const struct expr *const *
store_index(struct edit *e, struct stmt *block, const struct buffer *b)
{
	struct access_list all = { 0 };

	access_collect(e->f, block, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			return all.list.data[i].index;
		}
	}
	return NULL;
}

static bool
buffer_name_taken(const struct func *f, const struct stmt *scope,
		  const char *name)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b && strcmp(b->name, name) == 0) {
			return true;
		}
	}
	for (int i = 0; i < scope->u.block->n_allocs; i++) {
		if (strcmp(scope->u.block->allocs[i]->name, name) == 0) {
			return true;
		}
	}
	return false;
}

static const struct buffer *
cached_buffer(struct edit *e, const struct buffer *b,
	      const struct stmt *owner, const char *name, const char *scope)
{
	const char *free_name = name;

	for (int i = 2; buffer_name_taken(e->f, owner, free_name); i++) {
		free_name = arena_printf(&e->m->arena, "%s%d", name, i);
	}

	struct buffer_spec spec = {
		.name = free_name, .type = b->type, .ndim = b->ndim,
		.shape = b->shape, .scope = arena_strdup(&e->m->arena, scope)
	};

	return buffer_new(e->m, &spec);
}

static bool
reads_between(struct edit *e, const struct buffer *b, const struct stmt *block,
	      const struct stmt *nest)
{
	struct access_list all = { 0 };

	access_collect(e->f, e->f->body, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (x->load && stmt_contains(nest, x->at) &&
		    !stmt_contains(block, x->at)) {
			return true;
		}
	}
	return false;
}

bool
prim_cache_write(struct edit *e, const struct sched_value *args,
		 struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *top, *copy, *nest;
	struct stmt *owner;
	const struct buffer *buffer, *cache;
	const char *name = b->u.block->name, *scope = args[2].u.text;

	buffer = b->u.block->writes[args[1].u.ival].buffer;
	top = scope_child(b);
	owner = scope_of(b);
	if (sole_writer(e, buffer) != b) {
		return edit_fail(e, "%s is written by other blocks too; one "
				 "block must write all of it", buffer->name);
	}
	if (reads_between(e, buffer, b, top)) {
		return edit_fail(e, "%s is read inside the loops that write "
				 "it; cache before compute_at", buffer->name);
	}
	cache = cached_buffer(e, buffer, owner,
			      b->children[1] && strcmp(scope, "local") == 0
				      ? "acc"
				      : arena_printf(&e->m->arena, "%s_%s",
						     buffer->name, scope),
			      scope);
	nest = copy_nest(e, unique_block_name(e,
				arena_printf(&e->m->arena, "%s_out", name)),
			 buffer, cache, store_index(e, b, buffer), &copy);
	stmt_replace_buffer(e->f, b, buffer, cache);
	insert_beside(e, top, nest, true);
	scope_add_alloc(e->f, owner, cache);
	*out = sv_block(copy->id);
	return true;
}

static bool
written_inside(struct edit *e, const struct buffer *b, const struct stmt *nest)
{
	struct access_list all = { 0 };

	access_collect(e->f, (struct stmt *)nest, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			return true;
		}
	}
	return false;
}

bool
prim_cache_read(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *top, *copy, *nest;
	const struct buffer *buffer, *cache;
	const char *scope = args[2].u.text;

	buffer = b->u.block->reads[args[1].u.ival].buffer;
	top = scope_child(b);
	if (written_inside(e, buffer, top)) {
		return edit_fail(e, "%s is written inside the same loops; "
				 "cache before compute_at", buffer->name);
	}
	cache = cached_buffer(e, buffer, scope_of(b),
			      arena_printf(&e->m->arena, "%s_%s",
					   buffer->name, scope),
			      scope);
	nest = copy_nest(e, unique_block_name(e,
				arena_printf(&e->m->arena, "%s_in",
					     buffer->name)),
			 cache, buffer, NULL, &copy);
	stmt_replace_buffer(e->f, b, buffer, cache);
	insert_beside(e, top, nest, false);
	scope_add_alloc(e->f, scope_of(b), cache);
	*out = sv_block(copy->id);
	return true;
}
