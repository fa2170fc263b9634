/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one block that does not reduce: one flat loop, if every access
 * allows it.
 *
 *   for c, h, w:                          for i in range(C * H * W):
 *     y[c, h, w] = f(x[c, h, w])    ->      y[i] = f(x[i])
 *
 * If an axis lies in blocks of several elements, the elements of a block become
 * the lanes. */
#include "iterate.h"
#include "kernel_blocks.h"
#include "nest.h"

/* Do the n indices of an access allow the loops of the adjacent axes outer and
 * inner to be fused? They do if both are plain, adjacent indices, or neither
 * occurs. */
static bool
adjacent_everywhere(const struct expr *const *index, int n,
		    const struct var *outer, const struct var *inner)
{
	for (int i = 0; i < n; i++) {
		bool is_outer = index[i]->kind == EXPR_VAR &&
				index[i]->u.var == outer;

		if (is_outer) {
			if (i + 1 >= n || index[i + 1]->kind != EXPR_VAR ||
			    index[i + 1]->u.var != inner) {
				return false;
			}
			i++;
		} else if (expr_uses_var(index[i], outer) ||
			   expr_uses_var(index[i], inner)) {
			return false;
		}
	}
	return true;
}

struct fusable {
	const struct var *outer, *inner;
	bool ok;
	int depth;
};

static void
check_fusable(struct fusable *f, const struct expr *e)
{
	if (!f->ok) {
		return;
	}
	if (e->kind == EXPR_LOAD) {
		f->ok = adjacent_everywhere(e->args, e->n_args, f->outer,
					    f->inner);
		return;
	}
	if (e->kind == EXPR_VAR) {
		f->ok = e->u.var != f->outer && e->u.var != f->inner;
		return;
	}
	for (int i = 0; i < e->n_args; i++) {
		check_fusable(f, e->args[i]);
	}
}

/* Does dimension d + 1 of the buffer have the extent of the axis inner? */
static bool
same_extents(const struct buffer *b, int d, const struct iter_var *inner)
{
	return d + 1 < b->ndim && b->shape[d + 1] == inner->extent;
}

/* For every buffer in which axis `outer` is the index of a dimension: is the
 * extent of the next dimension that of the next axis? */
static bool
covers_inner(const struct block_access *x, int outer)
{
	const struct iter_var *inner = &x->info->iters[outer + 1];

	for (int l = -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;

		if (a->use[outer] == AXIS_PLAIN &&
		    !same_extents(b, a->dim[outer], inner)) {
			return false;
		}
	}
	return true;
}

/* The axis on which a condition selects a source, as in x if i < n, else y; -1
 * if e has no such condition. */
static int
axis_of_choice(const struct expr *e, const struct block *block)
{
	int axis = -1;

	for (struct expr_iter it = expr_each_of(e, EXPR_IF);
	     (e = expr_next(&it));) {
		const struct expr *test = e->args[0];
		int i = test->kind == EXPR_LT && test->args[1]->kind == EXPR_INT
				? block_iter_of(block, test->args[0])
				: -1;

		axis = i >= 0 ? i : axis;
	}
	return axis;
}

bool
rule_elementwise(struct rules *r, const struct kernel_blocks *k)
{
	struct block_access x;
	int *loops, n, blocked = -1, choice;

	if (!rules_access(r, k->output, &x)) {
		return rules_no(r, "it does not store one value by plain "
				   "indices");
	}
	if (!sched_get_loops(&r->s, k->output, &loops, &n) ||
	    n != x.info->n_iters) {
		return rules_no(r, "it has not one loop for each axis");
	}
	strbuf_puts(&r->words, "elementwise");
	for (int i = 0; i < n; i++) {
		if (rules_blocked_by(&x, i, true) > 0) {
			blocked = i;
		}
	}
	for (int d = n - 2; d >= 0; d--) {
		const struct stmt *store = x.block->children[0];
		struct fusable f = {
			.outer = x.info->iters[d].var,
			.inner = x.info->iters[d + 1].var,
			.ok = true,
		};
		int pair[2] = { loops[d], loops[d + 1] }, fused;

		check_fusable(&f, store->args[0]);
		if (f.ok && d != blocked && d + 1 != blocked &&
		    covers_inner(&x, d) &&
		    adjacent_everywhere(store->args + 1, store->n_args - 1,
					f.outer, f.inner) &&
		    sched_fuse(&r->s, pair, 2, &fused)) {
			loops[d] = fused;
			loops[d + 1] = 0;
		}
	}
	choice = axis_of_choice(x.block->children[0]->args[0], x.info);
	if (blocked >= 0) {
		strbuf_puts(&r->words, " by blocks");
		return rules_vectorize_blocks(r, &x, blocked,
					      rules_blocked_by(&x, blocked,
							       true),
					      loops, n);
	}
	if (choice >= 0 && loops[choice] != 0) {
		sched_annotate(&r->s, loops[choice], "partition", sv_int(1));
	}
	return true;
}
