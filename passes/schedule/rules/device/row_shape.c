/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of rows are like: how many rows there are, how many terms their
 * reductions have, how these lie in memory. */
#include "row_shape.h"

#include <string.h>

#include "access_pattern.h"
#include "element_threads.h"
#include "row_stages.h"

int64_t
rows_extent(const struct block *b, int i)
{
	int64_t n;

	return expr_is_int(b->iters[i].extent, &n) ? n : 0;
}

int64_t
rows_count(const struct block *b, int from, bool reduces)
{
	int64_t n = 1;

	for (int i = from; i < b->n_iters; i++) {
		if ((b->iters[i].kind != ITER_SPATIAL) == reduces) {
			n *= rows_extent(b, i);
		}
	}
	return n;
}

bool
rows_are_contiguous(struct rules *r, int block)
{
	struct block_access x;

	if (!rules_access(r, block, &x)) {
		return false;
	}
	for (int l = 0; l < x.n_loads; l++) {
		const struct expr *load = x.loads[l].load;
		bool spatial = false, sums = false;

		for (int i = 0; i < x.info->n_iters && load->n_args > 0; i++) {
			bool last = rows_extent(x.info, i) != 1 &&
				    expr_uses_var(load->args[load->n_args - 1],
						  x.info->iters[i].var);

			sums |= last && x.info->iters[i].kind != ITER_SPATIAL;
			spatial |= last &&
				   x.info->iters[i].kind == ITER_SPATIAL;
		}
		if (spatial && !sums) {
			return false;
		}
	}
	return true;
}

/* Is every operand of the reduction indexed by the row? If not, the reduction
 * is a matrix product: there, tiles of several rows read an operand only
 * once. */
static bool
is_indexed_by_row(struct rules *r, int block)
{
	struct block_access x;

	if (!rules_access(r, block, &x)) {
		return false;
	}
	for (int l = 0; l < x.n_loads; l++) {
		if (x.loads[l].load->n_args > 0 &&
		    x.loads[l].use[0] == AXIS_UNUSED) {
			return false;
		}
	}
	return true;
}

/* Sets w->count to the number of rows. Only the outermost axis may be
 * symbolic. */
static void
count_rows(struct rules *r, struct row_shape *w, const struct block *out)
{
	int64_t n, warp = target_warp(r->target);

	w->count = 1;
	for (int i = 0; i < w->rows; i++) {
		if (expr_is_int(out->iters[i].extent, &n)) {
			w->count *= n;
		} else {
			w->any_size = true;
			w->count *= i == 0 ? r->target->units * warp : 0;
		}
	}
}

/* Sets w->longest, w->along and w->is_short from the n stages. False if a stage
 * is not one of rows. */
static bool
measure_stages(struct rules *r, struct row_shape *w, const int *blocks, int n)
{
	w->longest = 0;
	w->along = true;
	for (int i = 0; i < n; i++) {
		const struct stmt *s = func_find(r->s.func, blocks[i]);
		int64_t sums = rows_count(s->u.block, w->rows, true);

		if (rows_count(s->u.block, w->rows, false) == 0 || sums == 0) {
			return rules_no(r,
					"the sizes of block %s are not known",
					s->u.block->name);
		}
		if (!block_reduces(s)) {
			continue;
		}
		w->longest = sums > w->longest ? sums : w->longest;
		w->along &= rows_are_contiguous(r, blocks[i]);
	}
	w->is_short = w->longest < ROWS_SHORT;
	return true;
}

/* Has each reduction among the n stages one result per row? */
static bool
check_reductions(struct rules *r, const struct row_shape *w, const int *blocks,
		 int n)
{
	for (int i = 0; i < n; i++) {
		const struct stmt *s = func_find(r->s.func, blocks[i]);

		if (!block_reduces(s)) {
			continue;
		}
		if (rows_count(s->u.block, w->rows, false) != 1) {
			return rules_no(r,
					"the result of block %s has more axes "
					"than the row",
					s->u.block->name);
		}
		if (w->any_size && !is_indexed_by_row(r, blocks[i])) {
			return rules_no(r,
					"block %s multiplies by a matrix that "
					"is the same for all rows",
					s->u.block->name);
		}
	}
	return true;
}

/* Sets w->rows, the number of leading axes that all stages have in common. */
static void
find_common_axes(struct rules *r, struct row_shape *w, const int *blocks, int n,
		 int output)
{
	int *common = arena_array(&r->module->arena, int, n + 1);

	rules_common_axes(r, blocks, n, output, common);
	w->rows = func_find(r->s.func, output)->u.block->n_iters;
	for (int i = 0; i < n; i++) {
		if (blocks[i] != output && common[i] < w->rows) {
			w->rows = common[i];
		}
	}
}

bool
rows_measure(struct rules *r, struct row_shape *w, const int *blocks, int n)
{
	int output = blocks[n - 1];

	find_common_axes(r, w, blocks, n, output);
	count_rows(r, w, func_find(r->s.func, output)->u.block);
	return measure_stages(r, w, blocks, n) &&
	       check_reductions(r, w, blocks, n) &&
	       (w->count > 0 || rules_no(r, "the number of rows is not known"));
}

int64_t
rows_kept_bytes(struct rules *r, const struct row_shape *w, const int *blocks,
		int n)
{
	int64_t bytes = 0;

	for (int i = 0; i < n - 1; i++) {
		const struct block *b =
			func_find(r->s.func, blocks[i])->u.block;

		bytes += rows_count(b, w->rows, false) *
			 dtype_bytes(b->writes[0].buffer->type);
	}
	return bytes;
}

bool
rows_fill_device(const struct rules *r, const struct row_shape *w)
{
	return w->count >= r->target->units * target_warp(r->target);
}

bool
rows_copy_output(struct rules *r, const char *scope, const int **blocks, int *n)
{
	int output = (*blocks)[*n - 1], copy, *all;

	if (!block_reduces(func_find(r->s.func, output))) {
		return true;
	}
	if (!sched_cache_write(&r->s, output, 0, scope, &copy)) {
		return false;
	}
	all = arena_array(&r->module->arena, int, *n + 1);
	memcpy(all, *blocks, sizeof *all * (size_t)*n);
	all[(*n)++] = copy;
	*blocks = all;
	return true;
}

bool
rows_are_one_sum(struct rules *r, const int *blocks, int n)
{
	return n == 1 ||
	       (n == 2 && block_reduces(func_find(r->s.func, blocks[0])) &&
		rules_sole_epilogue(r, blocks[0]) == blocks[1]);
}
