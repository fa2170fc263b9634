/* SPDX-License-Identifier: Apache-2.0 */
/* Finding blocks and loops, and which block feeds which. */
#include "sched_edit.h"

int
sched_get_block(struct sched *s, const char *name)
{
	struct stmt *b = func_find_block(s->func, name);

	return b ? b->id : 0;
}

bool
sched_get_loops(struct sched *s, int block, int **loops, int *n)
{
	struct edit e = edit_begin(s, "get_loops");
	struct stmt *b = edit_block(&e, block);
	int count = 0;

	if (!b) {
		return false;
	}
	for (struct stmt *p = b->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		count += p->kind == STMT_FOR;
	}
	*n = count;
	*loops = arena_array(&s->module->arena, int, count + 1);
	for (struct stmt *p = b->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR) {
			(*loops)[--count] = p->id;
		}
	}
	return true;
}

static int
ids_of(struct sched *s, const struct stmt_list *list, int **out)
{
	*out = arena_array(&s->module->arena, int, list->list.n + 1);
	for (int i = 0; i < list->list.n; i++) {
		(*out)[i] = list->list.data[i]->id;
	}
	return list->list.n;
}

int
sched_get_child_blocks(struct sched *s, int scope, int **blocks)
{
	struct stmt *b = scope ? func_find(s->func, scope) : s->func->body;
	struct stmt_list list = { 0 };

	if (b && b->kind == STMT_BLOCK) {
		blocks_below(s->func, b->children[0], &list);
	} else if (b) {
		blocks_below(s->func, b, &list);
	}
	return ids_of(s, &list, blocks);
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

/* Does a write what b reads? */
static bool
feeds(const struct stmt *a, const struct stmt *b)
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
neighbours(struct sched *s, int block, bool producers, int **blocks, int *n)
{
	struct edit e = edit_begin(s, producers ? "get_producers"
						: "get_consumers");
	struct stmt *b = edit_block(&e, block), *scope;
	struct stmt_list all = { 0 }, found = { 0 };

	if (!b) {
		return false;
	}
	scope = scope_of(b);
	if (scope) {
		blocks_below(s->func, scope->children[0], &all);
	}
	for (int i = 0; i < all.list.n; i++) {
		struct stmt *x = all.list.data[i];

		if (producers ? feeds(x, b) : feeds(b, x)) {
			vec_push(&s->module->arena, &found.list, x);
		}
	}
	*n = ids_of(s, &found, blocks);
	return true;
}

bool
sched_get_producers(struct sched *s, int block, int **blocks, int *n)
{
	return neighbours(s, block, true, blocks, n);
}

bool
sched_get_consumers(struct sched *s, int block, int **blocks, int *n)
{
	return neighbours(s, block, false, blocks, n);
}

bool
sched_get_output_blocks(struct sched *s, int **blocks, int *n)
{
	struct stmt_list all = { 0 }, found = { 0 };
	struct stmt *root = s->func->body;

	blocks_below(s->func,
		     root->kind == STMT_BLOCK ? root->children[0] : root,
		     &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct block *b = all.list.data[i]->u.block;
		bool output = false;

		for (int k = 0; k < b->n_writes; k++) {
			output |= is_param_buffer(s->func,
						  b->writes[k].buffer);
		}
		if (output) {
			vec_push(&s->module->arena, &found.list,
				 all.list.data[i]);
		}
	}
	*n = ids_of(s, &found, blocks);
	return true;
}
