/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a kernel, by kind. */
#include "kernel_blocks.h"

#include "nest.h"

/* Tiles with more points than this are not unrolled. */
enum { MOST_POINTS = 8 };

bool
block_reduces(const struct stmt *block)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		if (block->u.block->iters[i].kind == ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

bool
rules_is_output(const struct rules *r, const struct stmt *block)
{
	for (int i = 0; i < block->u.block->n_writes; i++) {
		if (func_has_param(r->s.func,
				   block->u.block->writes[i].buffer)) {
			return true;
		}
	}
	return false;
}

bool
rules_is_padded_copy(struct rules *r, int id, const struct stmt *block)
{
	const struct stmt *store = block->children[0];
	const struct expr *e = store->kind == STMT_STORE ? store->args[0]
							 : NULL;
	int *users, n;

	return e != NULL && e->kind == EXPR_IF &&
	       e->args[1]->kind == EXPR_LOAD && e->args[2]->n_args == 0 &&
	       sched_get_consumers(&r->s, id, &users, &n) && n == 1 &&
	       block_reduces(func_find(r->s.func, users[0]));
}

int
block_iter_of(const struct block *b, const struct expr *e)
{
	for (int i = 0; i < b->n_iters && e->kind == EXPR_VAR; i++) {
		if (b->iters[i].var == e->u.var) {
			return i;
		}
	}
	return -1;
}

int
block_select_axis(const struct stmt *block)
{
	const struct stmt *store = block->children[0];
	const struct expr *e;
	int axis;
	int64_t extent;

	if (store == NULL || store->kind != STMT_STORE ||
	    store->args[0]->kind != EXPR_SELECT) {
		return -1;
	}
	e = store->args[0]->args[0];
	if (e->kind != EXPR_EQ || e->args[1]->kind != EXPR_INT) {
		return -1;
	}
	axis = block_iter_of(block->u.block, e->args[0]);
	return axis >= 0 &&
			       expr_is_int(block->u.block->iters[axis].extent,
					   &extent) &&
			       extent <= MOST_POINTS
		       ? axis
		       : -1;
}

struct kernel_blocks
rules_blocks(struct rules *r)
{
	int *all, n = sched_get_child_blocks(&r->s, 0, &all);
	struct kernel_blocks x = { 0 };
	int padded = 0, *list = arena_array(&r->module->arena, int, n + 1);

	for (int i = 0; i < n; i++) {
		struct stmt *b = func_find(r->s.func, all[i]);

		sched_get_block(&r->s, b->u.block->name);
		if (rules_is_bound(r, all[i])) {
			continue;
		}
		list[x.n++] = all[i];
		if (rules_is_output(r, b)) {
			x.output = all[i];
			x.n_outputs++;
		}
		if (block_reduces(b)) {
			x.reduction = all[i];
			x.n_reductions++;
		}
		if (rules_is_padded_copy(r, all[i], b)) {
			x.padded_copy = all[i];
			padded++;
		}
	}
	x.padded_copy = padded == 1 ? x.padded_copy : 0;
	x.list = list;
	return x;
}
