/* SPDX-License-Identifier: Apache-2.0 */
/* Long reductions, and rows with their statistics (softmax, normalization): all
 * stages of a row run in one thread block, or in one warp each for several rows
 * of a block.
 *
 *   for i, k: sum[i] += x[i, k]         for i in blocks:
 *   for i, j: y[i, j] = x[i, j]    ->     for k_i in threads, k_o:
 *                      / sum[i]             sum += x[i, k]    (together)
 *                                         for j_i in threads, j_o:
 *                                           y[i, j] = x[i, j] / sum
 *
 * Stages pass their results in shared memory. */
#include "access.h"
#include "decision.h"
#include "element_threads.h"
#include "layout_map.h"
#include "nest.h"
#include "row_stages.h"
#include "thread_reduction.h"

/* Rows need at least SHORT elements. The number of threads for a row is doubled
 * until no thread has more than OWN elements or the thread block is full. */
enum { SHORT = 32, OWN = 4 };

struct rows {
	/* the number of leading axes that all stages have in common; an index
	 * along these axes selects a row */
	int rows;
	/* the number of rows; if it is symbolic, a number that is large enough
	 * to fill the device */
	int64_t count;
	/* the number of rows is symbolic, so that it may be any number */
	bool any_size;
	int64_t threads; /* per row */
	/* the number of rows that a thread block computes, in threadIdx.y */
	int64_t side;
	struct sched_value split; /* `threads` as a decision in the trace */
	int outer;                /* the loop that is bound to thread blocks */
};

static int64_t
extent_of(const struct block *b, int i)
{
	int64_t n;

	return expr_is_int(b->iters[i].extent, &n) ? n : 0;
}

/* The product of the extents of the block's spatial axes (if `reduces` is set,
 * of its other axes) from axis `from` on; 0: it is symbolic. */
static int64_t
count(const struct block *b, int from, bool reduces)
{
	int64_t n = 1;

	for (int i = from; i < b->n_iters; i++) {
		if ((b->iters[i].kind != ITER_SPATIAL) == reduces) {
			n *= extent_of(b, i);
		}
	}
	return n;
}

/* Are rows contiguous: does the last index of each load of the block use a
 * reduction axis, or no axis at all? */
static bool
is_contiguous_in_row(struct rules *r, int block)
{
	struct block_access x;

	if (!rules_access(r, block, &x)) {
		return false;
	}
	for (int l = 0; l < x.n_loads; l++) {
		const struct expr *load = x.loads[l].load;
		bool spatial = false, sums = false;

		for (int i = 0; i < x.info->n_iters && load->n_args > 0; i++) {
			bool last = extent_of(x.info, i) != 1 &&
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

/* May threads reduce parts of a row, each starting from the init value, and
 * combine the parts in any order? */
static bool
is_splittable(const struct func *f, const struct stmt *block)
{
	const struct expr *e = block->children[0]->args[0];
	int own;

	return cross_thread_refusal(block, &own) == NULL &&
	       (expr_is_extreme(e) || !rules_order_is_visible(f, e));
}

/* The bytes of shared memory that the results of the stages (the n blocks other
 * than `output`) take. */
static int64_t
shared_bytes(struct rules *r, const struct rows *w, const int *blocks, int n,
	     int output)
{
	int64_t bytes = 0;

	for (int i = 0; i < n; i++) {
		const struct block *b =
			func_find(r->s.func, blocks[i])->u.block;

		if (blocks[i] != output) {
			bytes += count(b, w->rows, false) * w->side *
				 dtype_bytes(b->writes[0].buffer->type);
		}
	}
	return bytes;
}

/* The number of threads for a row of this length: a warp, doubled until no
 * thread has more than OWN elements, or the thread block is full. */
static int64_t
threads_for(const struct rules *r, int64_t longest)
{
	int64_t n = target_warp(r->target);

	while (n * 2 <= target_block_threads(r->target) && n * OWN < longest) {
		n *= 2;
	}
	return n;
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
count_rows(struct rules *r, struct rows *w, const struct block *out)
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

static bool
choose(struct rules *r, struct rows *w, const int *blocks, int n, int output)
{
	const struct block *out = func_find(r->s.func, output)->u.block;
	int64_t longest = 0, last, warp = target_warp(r->target);
	bool along = true;

	count_rows(r, w, out);
	for (int i = 0; i < n; i++) {
		const struct stmt *s = func_find(r->s.func, blocks[i]);
		int64_t sums = count(s->u.block, w->rows, true);

		if (count(s->u.block, w->rows, false) == 0 || sums == 0) {
			return rules_no(r,
					"the sizes of block %s are not known",
					s->u.block->name);
		}
		if (!block_reduces(s)) {
			continue;
		}
		if (count(s->u.block, w->rows, false) != 1 ||
		    !is_splittable(r->s.func, s)) {
			return rules_no(r,
					"the result of block %s has more axes "
					"than the row, or cannot be split",
					s->u.block->name);
		}
		if (w->any_size && !is_indexed_by_row(r, blocks[i])) {
			return rules_no(r,
					"block %s multiplies by a matrix that "
					"is the same for all rows",
					s->u.block->name);
		}
		longest = sums > longest ? sums : longest;
		along &= is_contiguous_in_row(r, blocks[i]);
	}
	/* Adjacent threads should read adjacent elements: the threads of a row,
	 * or, if rows are enough, threads of one row each. */
	if (longest < SHORT) {
		return rules_no(r,
				"a row has %lld terms; one thread sums fewer "
				"than %d",
				(long long)longest, SHORT);
	}
	if (w->count == 0) {
		return rules_no(r, "the number of rows is not known");
	}
	if (!along && w->count >= r->target->units * warp) {
		return rules_no(r,
				"the terms of a row are not next to each "
				"other, and rows are enough for all threads");
	}
	w->threads = threads_for(r, longest);
	w->side = 1;
	last = w->rows > 0 ? extent_of(out, w->rows - 1) : 1;
	while (w->threads == warp && w->side < 8 && last > 0 &&
	       2 * w->side * warp <= r->target->max_threads &&
	       last % (2 * w->side) == 0 &&
	       w->count / (2 * w->side) >= r->target->units) {
		w->side *= 2;
	}
	return shared_bytes(r, w, blocks, n, output) <=
		       r->target->shared_bytes / 2 ||
	       rules_no(r, "the results of the stages do not fit half of the "
			   "shared memory");
}

/* Splits w->side rows off the loops over the rows of the output and binds them
 * to threadIdx.y; binds the remaining loops to thread blocks. False after a
 * failure. */
static bool
bind_rows(struct rules *r, struct rows *w, int output)
{
	int *loops, n, rows[MAX_AXES], n_rows = 0, parts[2];
	const struct stmt *s = func_find(r->s.func, output);

	if (!sched_get_loops(&r->s, output, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	/* Loops of one iteration between row loops are fused with them. */
	for (int i = 0; i < n; i++) {
		int drives = rules_driven_iter(s,
					       func_find(r->s.func, loops[i]));

		rows[i] = loops[i];
		if (drives >= 0 && drives < w->rows) {
			n_rows = i + 1;
		}
	}
	if (w->side > 1) {
		if (n_rows == 0 ||
		    !sched_split(&r->s, rows[n_rows - 1],
				 (int64_t[]){ 0, w->side }, 2, parts) ||
		    !sched_bind(&r->s, parts[1], "threadIdx.y")) {
			return false;
		}
		rows[n_rows - 1] = parts[0];
	}
	return rules_fuse_loops(r, rows, n_rows, rules_nest(output, loops, n),
				&w->outer) &&
	       sched_bind(&r->s, w->outer, "blockIdx.x");
}

/* Binds the loops of a stage, which are inside of a thread block: rows to
 * threadIdx.y, all other loops to threadIdx.x. False after a failure. */
static bool
bind_stage(struct rules *r, const struct rows *w, int block)
{
	int *loops, n, left[MAX_AXES], n_left = 0, one, parts[2];
	const struct stmt *s = func_find(r->s.func, block);
	bool inside = false;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);

		if (inside && loop->u.loop.kind == FOR_THREAD) {
			continue; /* this is the loop over rows of the output */
		}
		if (inside && w->side > 1 &&
		    rules_driven_iter(s, loop) == w->rows - 1) {
			if (!sched_bind(&r->s, loops[i], "threadIdx.y")) {
				return false;
			}
		} else if (inside) {
			left[n_left++] = loops[i];
		}
		inside |= loops[i] == w->outer;
	}
	return rules_fuse_loops(r, left, n_left, sv_block(block), &one) &&
	       rules_split(r, one, w->split, parts) &&
	       sched_bind(&r->s, parts[1], "threadIdx.x");
}

/* Stores constants with the reduced axes last. False after a failure. */
static bool
pack_constants(struct rules *r, int block)
{
	struct block_access x;

	if (!rules_access(r, block, &x)) {
		return false;
	}
	for (int l = 0; l < x.n_loads; l++) {
		const struct load_access *a = &x.loads[l];

		if (a->weight != NULL && !is_contiguous_in_row(r, block) &&
		    !rules_pack_last(r, block, a, true)) {
			return false;
		}
	}
	return true;
}

/* Schedules the n blocks that compute statistics of rows and the rows' results;
 * producers come before their consumers, and the last block stores the results.
 * False after a failure. */
static bool
reduce_rows(struct rules *r, const int *blocks, int n)
{
	struct rows w = { 0 };
	struct candidates c = { 0 };
	int *all, *common, output = blocks[n - 1];

	if (block_reduces(func_find(r->s.func, output))) {
		int copy;

		if (!sched_cache_write(&r->s, output, 0, "shared", &copy)) {
			return false;
		}
		all = arena_array(&r->module->arena, int, n + 1);
		memcpy(all, blocks, sizeof *all * (size_t)n);
		all[n++] = output = copy;
		blocks = all;
	}
	common = arena_array(&r->module->arena, int, n + 1);
	rules_common_axes(r, blocks, n, output, common);
	w.rows = func_find(r->s.func, output)->u.block->n_iters;
	for (int i = 0; i < n; i++) {
		if (blocks[i] != output && common[i] < w.rows) {
			w.rows = common[i];
		}
		if (block_reduces(func_find(r->s.func, blocks[i])) &&
		    !pack_constants(r, blocks[i])) {
			return false;
		}
	}
	if (!choose(r, &w, blocks, n, output) || !bind_rows(r, &w, output)) {
		return false;
	}
	for (int64_t t = target_warp(r->target);
	     t * w.side <= target_block_threads(r->target); t *= 2) {
		candidates_add(r, &c, t);
	}
	w.split = rules_decide(r, "threads", &c, &w.threads);
	for (int i = n - 1; i >= 0; i--) {
		if (blocks[i] != output &&
		    (!sched_set_scope(&r->s, blocks[i], 0, "shared") ||
		     !sched_compute_at(&r->s, blocks[i], w.outer) ||
		     !bind_stage(r, &w, blocks[i]))) {
			return false;
		}
	}
	if (!bind_stage(r, &w, output)) {
		return false;
	}
	strbuf_printf(&r->words, "%stogether  %lld thread%s per row",
		      r->words.len > 0 ? ", " : "", (long long)w.threads,
		      w.threads == 1 ? "" : "s");
	if (w.side > 1) {
		strbuf_printf(&r->words, ", %lld rows per block",
			      (long long)w.side);
	}
	return true;
}

bool
rule_row_reduction(struct rules *r, const struct kernel_blocks *k)
{
	return reduce_rows(r, k->list, k->n);
}

bool
rule_reduction_by_rows(struct rules *r, const struct kernel_blocks *k)
{
	int pair[2] = { k->block, rules_sole_epilogue(r, k->block) };

	return reduce_rows(r, pair, 1 + (pair[1] != 0));
}
