/* SPDX-License-Identifier: Apache-2.0 */
/* A reduction of several values at once, such as a largest element and its
 * index: each value that is stored to an output is accumulated in a
 * variable.
 *
 *   for i, k:                       for i:
 *       if x[i, k] > y[i]:    ->        for k:
 *           y[i] = x[i, k]                  if x[i, k] > best:
 *           at[i] = k                           best = x[i, k]
 *                                               place = k
 *                                       y[i] = best
 *                                       at[i] = place */
#include "edit.h"
#include "kernel_blocks.h"

/* Sets *at to the innermost spatial loop around the block. False if there is no
 * spatial loop, or if a reduction loop is outside of a spatial loop. */
static bool
loop_of_result(struct rules *r, int block, int *at)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *loops, n;
	bool reduces = false;

	*at = 0;
	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct var *v =
			func_find(r->s.func, loops[i])->u.loop.var;
		bool inner = false;

		for (int k = 0; k < s->u.block->n_iters; k++) {
			inner |= s->u.block->iters[k].kind == ITER_REDUCE &&
				 expr_uses_var(s->args[1 + k], v);
		}
		if (reduces && !inner) {
			return false;
		}
		reduces |= inner;
		*at = inner ? *at : loops[i];
	}
	return *at != 0;
}

/* Does the update store under a condition? */
static bool
is_conditional(const struct stmt *block)
{
	const struct stmt *s = block->children[0];

	while (s->kind == STMT_LET) {
		s = s->children[0];
	}
	return s->kind == STMT_IF;
}

bool
rule_tuple_reduction(struct rules *r, const struct kernel_blocks *k)
{
	int reduction = k->reduction;
	const struct stmt *block = func_find(r->s.func, reduction);
	int n = block->u.block->n_writes, at;
	bool chosen = is_conditional(block);

	if (n < 2) {
		return rules_no(r, "it reduces one value");
	}
	if (!loop_of_result(r, reduction, &at)) {
		return rules_no(r, "a loop over results is inside of one over "
				   "terms, or there is none");
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *b = func_find(r->s.func, reduction)
						 ->u.block->writes[i]
						 .buffer;
		const char *name = !chosen ? "acc" : i == 0 ? "best" : "place";
		int copy;

		if (func_has_param(r->s.func, b) &&
		    (!sched_cache_write(&r->s, reduction, i, "local", &copy) ||
		     !sched_reverse_compute_at(&r->s, copy, at) ||
		     !sched_rename_buffer(&r->s, reduction, i, name))) {
			return false;
		}
	}
	strbuf_printf(&r->words, "reduction  %d values together", n);
	return true;
}
