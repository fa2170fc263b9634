/* SPDX-License-Identifier: Apache-2.0 */
/* add_unit_loop and reorder_block_iter_var: give a nest or block the form that
 * tensorize matches. */
#include "edit.h"

bool
prim_add_unit_loop(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	struct stmt *s = func_find(e->f, args[0].u.id), *loop;
	struct dtype t = dtype_of(DT_I32);
	struct stmt_place place;

	if (!s->parent) {
		return edit_fail(e, "the root block has no loops; name a block "
				    "inside");
	}
	if (s->kind == STMT_FOR) {
		t = s->u.loop.var->type;
	} else if (s->u.block->n_iters > 0) {
		t = s->u.block->iters[0].var->type;
	}
	place = stmt_place_of(s);
	loop = stmt_for(e->f, var_new(e->m, "u", t), expr_int(e->m, t, 0),
			expr_int(e->m, t, 1), FOR_SERIAL, s);
	stmt_put(e->f, place, loop);
	*out = sv_loop(loop->id);
	return true;
}

bool
prim_reorder_block_iter_var(struct edit *e, const struct sched_value *args,
			    struct sched_value *out)
{
	struct stmt *s = edit_block(e, args[0].u.id);
	int n = args[1].n;
	struct block copy;
	const struct expr **list;
	bool *seen = arena_array(&e->m->arena, bool, n + 1);

	(void)out;
	if (!s) {
		return false;
	}
	if (n != s->u.block->n_iters) {
		return edit_fail(e,
				 "block %s has %d iter vars, new_order lists "
				 "%d; list each",
				 s->u.block->name, s->u.block->n_iters, n);
	}
	copy = *s->u.block;
	copy.iters = arena_array(&e->m->arena, struct iter_var, n + 1);
	list = arena_exprs(&e->m->arena, n + 1);
	list[0] = s->args[0];
	for (int i = 0; i < n; i++) {
		int64_t from = args[1].items[i].u.ival;

		if (from < 0 || from >= n || seen[from]) {
			return edit_fail(e,
					 "new_order is not a permutation of "
					 "0 to %d; list each iter var once",
					 n - 1);
		}
		seen[from] = true;
		copy.iters[i] = s->u.block->iters[from];
		list[i + 1] = s->args[from + 1];
	}
	stmt_set_args(e->f, s, list, n + 1);
	stmt_set_block(e->f, s, &copy);
	return true;
}
