/* SPDX-License-Identifier: Apache-2.0 */
/* The query primitives: for blocks and loops, and for producers and
 * consumers. */
#include "edit.h"
#include "iterate.h"
#include "text.h"

bool
prim_get_block(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	const char *name = args[0].u.text, *func = args[1].u.text, *nearest;
	const struct stmt *block = func_find_block(e->f, name);
	VEC(const char *) names = { 0 };
	struct stmt *s;

	if (strcmp(func, "main") != 0 && strcmp(func, e->f->name) != 0) {
		return edit_fail(e,
				 "there is no function %s; this is a "
				 "schedule of %s",
				 func, e->f->name);
	}
	if (block) {
		*out = sv_block(block->id);
		return true;
	}
	for (struct stmt_iter it = stmt_each_of(e->f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		vec_push(&e->m->arena, &names, s->u.block->name);
	}
	nearest = text_nearest(name, names.data, names.n);
	return nearest ? edit_fail(e, "there is no block %s; did you mean %s?",
				   name, nearest)
		       : edit_fail(e,
				   "there is no block %s; print the "
				   "function to see them",
				   name);
}

bool
prim_get_loops(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	const struct stmt *b = edit_block(e, args[0].u.id);
	struct sched_value *loops;
	int count = 0, n;

	for (struct stmt *p = b->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		count += p->kind == STMT_FOR;
	}
	n = count;
	loops = arena_array(&e->m->arena, struct sched_value, n + 1);
	for (struct stmt *p = b->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR) {
			loops[--count] = sv_loop(p->id);
		}
	}
	*out = sv_list(e->m, loops, n);
	return true;
}

static struct sched_value
list_of(struct edit *e, const struct stmt_list *list)
{
	struct sched_value *blocks = arena_array(&e->m->arena,
						 struct sched_value,
						 list->list.n + 1);

	for (int i = 0; i < list->list.n; i++) {
		blocks[i] = sv_block(list->list.data[i]->id);
	}
	return sv_list(e->m, blocks, list->list.n);
}

bool
prim_get_child_blocks(struct edit *e, const struct sched_value *args,
		      struct sched_value *out)
{
	struct stmt *at = func_find(e->f, args[0].u.id);
	struct stmt_list list = { 0 };

	blocks_below(e->f, at->kind == STMT_BLOCK ? at->children[0] : at,
		     &list);
	*out = list_of(e, &list);
	return true;
}

static bool
touches(const struct region *regions, int n, const struct buffer *b)
{
	for (int i = 0; i < n; i++) {
		if (regions[i].buffer == b) {
			return true;
		}
	}
	return false;
}

bool
block_feeds(const struct stmt *a, const struct stmt *b)
{
	const struct block *x = a->u.block, *y = b->u.block;

	for (int i = 0; i < x->n_writes; i++) {
		if (a != b &&
		    touches(y->reads, y->n_reads, x->writes[i].buffer)) {
			return true;
		}
	}
	return false;
}

static bool
neighbours(struct edit *e, int block, bool producers, struct sched_value *out)
{
	struct stmt *b = edit_block(e, block), *scope = scope_of(b);
	struct stmt_list all = { 0 }, found = { 0 };

	if (scope) {
		blocks_below(e->f, scope->children[0], &all);
	}
	for (int i = 0; i < all.list.n; i++) {
		struct stmt *x = all.list.data[i];

		if (producers ? block_feeds(x, b) : block_feeds(b, x)) {
			vec_push(&e->m->arena, &found.list, x);
		}
	}
	*out = list_of(e, &found);
	return true;
}

bool
prim_get_producers(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	return neighbours(e, args[0].u.id, true, out);
}

bool
prim_get_consumers(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	return neighbours(e, args[0].u.id, false, out);
}

bool
prim_get_output_blocks(struct edit *e, const struct sched_value *args,
		       struct sched_value *out)
{
	struct stmt *scope = edit_block(e, args[0].u.id);
	struct stmt_list all = { 0 }, found = { 0 };

	blocks_below(e->f, scope->children[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct block *b = all.list.data[i]->u.block;
		bool output = false;

		for (int k = 0; k < b->n_writes; k++) {
			output |= func_has_param(e->f, b->writes[k].buffer);
		}
		if (output) {
			vec_push(&e->m->arena, &found.list, all.list.data[i]);
		}
	}
	*out = list_of(e, &found);
	return true;
}
