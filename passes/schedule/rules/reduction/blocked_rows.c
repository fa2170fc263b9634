/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with their statistics, where the last axis that all stages have in
 * common lies in blocks: the rows of a block are the lanes of all stages.
 *
 *   for c, k: m[c] += x[c // 16, k, c % 16]      for c_o:
 *   for c, k: y[..] = x[..] - m[c]         ->      for k: m[0:16] += x[c_o, k, :]
 *                                                  for k: y[..] = x[..] - m[:] */
#include "nest.h"
#include "row_stages.h"

/* Can the positions within blocks of c elements of the axis become lanes: is
 * the axis in every access either contiguous, or in blocks of c elements with
 * the same c? If `result` is set, the store may be strided. *c: the block size
 * found so far; 0: none was found. */
static bool
lanes_along(const struct block_access *x, int axis, bool result, int64_t *c)
{
	bool apart = result && x->store.use[axis] == AXIS_PLAIN;

	for (int l = apart ? 0 : -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;

		if (a->use[axis] == AXIS_BLOCKED &&
		    (*c == 0 || *c == a->granularity[axis])) {
			*c = a->granularity[axis];
		} else if (a->use[axis] != AXIS_UNUSED &&
			   (a->use[axis] != AXIS_PLAIN ||
			    a->dim[axis] != b->ndim - 1)) {
			return false;
		}
	}
	return x->store.use[axis] != AXIS_UNUSED;
}

/* The size of the blocks in which all stages and the output have the axis of
 * the rows; 0: they do not have it in blocks of one size. */
static int64_t
block_of_rows(struct rules *r, const int *blocks, int n, int output, int axis)
{
	int64_t c = 0;

	for (int i = 0; i < n; i++) {
		struct block_access x;

		if (!rules_access(r, blocks[i], &x) ||
		    axis >= x.info->n_iters ||
		    x.info->iters[axis].kind != ITER_SPATIAL ||
		    !lanes_along(&x, axis, blocks[i] == output, &c)) {
			return 0;
		}
	}
	return c;
}

/* Moves the loop over the rows of a block to the innermost place and vectorizes
 * it. False after a failure. */
static bool
rows_innermost(struct rules *r, int block, int axis)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *loops, n, order[MAX_AXES + 1], count = 0, rows = 0;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	for (int i = axis + 1; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);

		if (expr_uses_var(s->args[axis + 1], loop->u.loop.var)) {
			rows = loops[i];
		} else {
			order[count++] = loops[i];
		}
	}
	order[count++] = rows;
	return rows != 0 &&
	       (count == 1 || sched_reorder(&r->s, order, count)) &&
	       sched_vectorize(&r->s, rows);
}

bool
rule_blocked_rows(struct rules *r, const struct kernel_blocks *k)
{
	const int *blocks = k->list;
	int *loops, n_loops, n = k->n, output = k->output;
	int *common = arena_array(&r->module->arena, int, n + 1);
	const struct stmt *last = func_find(r->s.func, output);
	int axis = last->u.block->n_iters - 1;
	int64_t c;

	rules_common_axes(r, blocks, n, output, common);
	for (int i = 0; i < n; i++) {
		if (blocks[i] != output && common[i] - 1 < axis) {
			axis = common[i] - 1;
		}
	}
	if (block_reduces(last)) {
		return rules_no(r, "the last block reduces");
	}
	if (axis < 0) {
		return rules_no(r, "the stages have no axis in common");
	}
	if (!sched_get_loops(&r->s, output, &loops, &n_loops) ||
	    n_loops != last->u.block->n_iters) {
		return rules_no(r, "the output has not one loop for each axis");
	}
	c = block_of_rows(r, blocks, n, output, axis);
	if (c < 2) {
		return rules_no(r,
				"the last axis that all stages have does not "
				"lie in blocks");
	}
	if (!rules_vectorize_blocks(r, NULL, axis, c, loops, n_loops) ||
	    !sched_get_loops(&r->s, output, &loops, &n_loops)) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		if (blocks[i] == output) {
			continue;
		}
		if (!sched_compute_at(&r->s, blocks[i], loops[axis]) ||
		    !sched_set_scope(&r->s, blocks[i], 0, "local") ||
		    !rows_innermost(r, blocks[i], axis)) {
			return false;
		}
	}
	strbuf_printf(&r->words, "rowwise  %d stages per %lld rows", n,
		      (long long)c);
	return true;
}
