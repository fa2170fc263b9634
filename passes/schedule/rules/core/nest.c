/* SPDX-License-Identifier: Apache-2.0 */
/* The loops around a block. */
#include "nest.h"

#include "scope.h"

bool
rules_axis_loops(struct rules *r, int block, int *of_axis, int n)
{
	struct func *f = r->s.func;
	const struct stmt *b = func_find(f, block);
	int n_iters = b->u.block->n_iters, *loops, n_loops;

	if (n_iters < n) {
		return rules_no(r,
				"the block %s has %d axes, and the reduction "
				"has %d",
				b->u.block->name, n_iters, n);
	}
	if (!sched_get_loops(&r->s, block, &loops, &n_loops)) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		of_axis[k] = 0;
	}
	for (int i = 0; i < n_loops; i++) {
		const struct var *v = func_find(f, loops[i])->u.loop.var;
		int drives = 0;

		for (int k = 0; k < n_iters; k++) {
			if (b->args[1 + k]->kind == EXPR_VAR &&
			    b->args[1 + k]->u.var == v) {
				drives++;
				if (k < n) {
					of_axis[k] = loops[i];
				}
			}
		}
		if (drives != 1 &&
		    !(drives == 0 &&
		      expr_is_value(func_find(f, loops[i])->args[1], 1))) {
			return false;
		}
	}
	return true;
}

void
rules_name_loops(struct rules *r, const struct block_access *x, int output)
{
	struct func *f = r->s.func;
	int loops[MAX_AXES];

	if (!rules_axis_loops(r, output, loops, x->n_spatial)) {
		return;
	}
	for (int i = 0; i < x->n_spatial; i++) {
		struct stmt *loop = loops[i] ? func_find(f, loops[i]) : NULL;
		const char *name = iter_axis_name(x->info->iters[i].var->name);

		if (loop != NULL && strcmp(loop->u.loop.var->name, name) != 0) {
			sched_rename_loop(&r->s, loops[i], name);
		}
	}
}

int
rules_driven_iter(const struct stmt *block, const struct stmt *loop)
{
	int drives = -1;

	for (int k = 0; k < block->u.block->n_iters; k++) {
		if (expr_uses_var(block->args[1 + k], loop->u.loop.var)) {
			drives = k;
		}
	}
	return drives;
}

bool
rules_fuse_loops(struct rules *r, const int *loops, int n,
		 struct sched_value around, int *out)
{
	struct sched_value made;

	if (n > 1) {
		return sched_fuse(&r->s, loops, n, out);
	}
	if (n == 1) {
		*out = loops[0];
		return true;
	}
	if (!sched_apply(&r->s, "add_unit_loop", &around, 1, &made)) {
		return false;
	}
	*out = made.u.id;
	return true;
}

struct sched_value
rules_nest(int block, const int *loops, int n)
{
	return n > 0 ? sv_loop(loops[0]) : sv_block(block);
}

bool
rules_is_bound(struct rules *r, int block)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (func_find(r->s.func, loops[i])->u.loop.kind == FOR_THREAD) {
			return true;
		}
	}
	return false;
}
