/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with their statistics (softmax, normalization): all stages are computed
 * inside of the loops that they have in common, sums by the lanes of a vector if
 * there are vectors.
 *
 *   for i, k: m[i] = max(m[i], x[i, k])       for i:
 *   for i, k: s[i] += exp(x[i, k] - m[i])       for k: m = max(m, x[i, k])
 *   for i, k: y[i, k] = ..                ->    for k: s += exp(x[i, k] - m)
 *                                               for k: y[i, k] = .. */
#include "nest.h"
#include "row_stages.h"

/* Is the index the reader's axis? If the axis has one iteration, the index 0
 * counts too. */
static bool
is_axis(const struct expr *index, const struct iter_var *axis)
{
	return index == axis->var->expr ||
	       (expr_is_value(index, 0) && expr_is_value(axis->extent, 1));
}

/* The dimension of the block's result that has axis k as its index. */
static int
dimension_of(const struct block *made, int k)
{
	const struct region *w = &made->writes[0];

	for (int d = 0; d < w->buffer->ndim; d++) {
		if (w->ranges[d].min == made->iters[k].var->expr) {
			return d;
		}
	}
	return k;
}

/* Does the reader read the result of `made`, in this region, at axis k of both? */
static bool
reads_axis(const struct block *made, const struct block *reader,
	   const struct region *r, int k)
{
	const int d = dimension_of(made, k);

	return d < r->buffer->ndim && made->iters[k].kind == ITER_SPATIAL &&
	       reader->iters[k].kind == ITER_SPATIAL &&
	       is_axis(r->ranges[d].min, &reader->iters[k]) &&
	       expr_is_value(r->ranges[d].extent, 1);
}

/* The number of leading axes that the block `made` and its reader have in
 * common: for each of these axes k, the reader reads that dimension of the result
 * whose index is axis k of `made` at its own axis k. The number is at most `own` and at most `most`; it is `most`
 * if the reader does not read the result of the block. */
static int
common_axes(const struct block *made, const struct block *reader, int own,
	    int most)
{
	for (int i = 0; i < reader->n_reads; i++) {
		const struct region *r = &reader->reads[i];
		int k = 0;

		if (r->buffer != made->writes[0].buffer) {
			continue;
		}
		while (k < own && k < r->buffer->ndim && k < made->n_iters &&
		       reads_axis(made, reader, r, k)) {
			k++;
		}
		most = k < most ? k : most;
	}
	return most;
}

void
rules_common_axes(struct rules *r, const int *blocks, int n, int output,
		  int *common)
{
	int all = func_find(r->s.func, output)->u.block->n_iters;

	for (int i = n - 1; i >= 0; i--) {
		const struct stmt *b = func_find(r->s.func, blocks[i]);

		common[i] = all;
		for (int k = i + 1; k < n; k++) {
			const struct stmt *reader = func_find(r->s.func,
							      blocks[k]);

			common[i] = common_axes(b->u.block, reader->u.block,
						common[k], common[i]);
		}
	}
}

/* Schedules the stages of each row one after the other inside of the loops over
 * rows that they have in common. need_lanes: fails unless a stage reduces by
 * lanes. False after a failure. */
static bool
stages_per_row(struct rules *r, const struct kernel_blocks *k, bool need_lanes)
{
	const int *blocks = k->list;
	int n = k->n, output = k->output;
	int *loops, n_loops, placed = 0, stages, by_lanes;
	int *common, *with_copy, *made;
	struct block_access x;

	/* A reduction that writes the output gets an accumulator. */
	if (block_reduces(func_find(r->s.func, output)) &&
	    rules_access(r, output, &x) &&
	    rules_separate_accumulator(r, &x, output, &output)) {
		n = sched_get_child_blocks(&r->s, 0, &with_copy);
		blocks = with_copy;
	}
	stages = n;
	made = arena_array(&r->module->arena, int, LANE_BLOCKS *n + 1);
	by_lanes = rules_reduce_by_lanes(r, blocks, n, made);
	if (by_lanes == 0 && need_lanes) {
		return rules_no(r, "no float reduction has its terms next to "
				   "each other, enough for the lanes");
	}
	if (by_lanes > 0) {
		n = sched_get_child_blocks(&r->s, 0, &with_copy);
		blocks = with_copy;
	}
	common = arena_array(&r->module->arena, int, n + 1);
	rules_common_axes(r, blocks, n, output, common);
	if (!sched_get_loops(&r->s, output, &loops, &n_loops)) {
		return false;
	}
	/* Consumers are placed before producers: a stage is placed inside of
	 * the loops of its readers. */
	for (int i = n - 1; i >= 0; i--) {
		if (blocks[i] == output) {
			continue;
		}
		for (int at = (common[i] < n_loops ? common[i] : n_loops) - 1;
		     at >= 0; at--) {
			if (sched_compute_at(&r->s, blocks[i], loops[at])) {
				placed++;
				break;
			}
		}
		sched_set_scope(&r->s, blocks[i], 0, "local");
	}
	for (int i = 0; i < by_lanes; i++) {
		rules_vectorize_lanes(r, made[i]);
	}
	for (int i = 0; i < n; i++) {
		if (rules_reduces_columns(r, blocks[i])) {
			rules_vectorize_lanes(r, blocks[i]);
		}
	}
	strbuf_printf(&r->words, "rowwise  %d stage%s %s", stages,
		      stages == 1 ? "" : "s",
		      placed > 0 || n == 1 ? "per row" : "one after the other");
	if (by_lanes > 0) {
		strbuf_puts(&r->words, ", sums by lanes");
	}
	if (placed > 0 && placed < n - 1) {
		strbuf_printf(&r->words, ", %d ahead of them", n - 1 - placed);
	}
	return true;
}

bool
rule_rowwise(struct rules *r, const struct kernel_blocks *k)
{
	return stages_per_row(r, k, false);
}

bool
rule_few_results(struct rules *r, const struct kernel_blocks *k)
{
	return rules_pack_terms(r, k->reduction) && stages_per_row(r, k, true);
}

bool
rule_lane_reduction(struct rules *r, const struct kernel_blocks *k)
{
	return stages_per_row(r, k, true);
}
