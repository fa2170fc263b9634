/* SPDX-License-Identifier: Apache-2.0 */
/* Long reductions, and rows with their statistics (softmax, normalization): all
 * stages of a row run in one thread block, or in one warp each for several rows
 * of a block. In a short row each thread computes the statistics itself, in
 * order: ten terms take less time than exchanging them.
 *
 *   for i, k: sum[i] += x[i, k]         for i in blocks:
 *   for i, j: y[i, j] = x[i, j]    ->     for k_i in threads, k_o:
 *                      / sum[i]             sum += x[i, k]    (together)
 *                                         for j_i in threads, j_o:
 *                                           y[i, j] = x[i, j] / sum
 *
 * Stages pass their results in shared memory. */
#include "decision.h"
#include "element_threads.h"
#include "layout_map.h"
#include "nest.h"
#include "row_shape.h"
#include "thread_reduction.h"

/* The number of threads for a row is doubled until no thread has more than OWN
 * elements or the thread block is full. */
enum { OWN = 4 };

struct rows {
	struct row_shape shape;
	int64_t threads; /* per row */
	/* the number of rows that a thread block computes, in threadIdx.y */
	int64_t side;
	struct sched_value split; /* `threads` as a decision in the trace */
	int outer;                /* the loop that is bound to thread blocks */
};

/* The bytes of shared memory that the results of the stages (the n blocks but
 * the last) take. */
static int64_t
shared_bytes(struct rules *r, const struct rows *w, const int *blocks, int n)
{
	return rows_kept_bytes(r, &w->shape, blocks, n) * w->side;
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

/* Chooses the numbers of threads per row and of rows per thread block. Where terms are
 * not next to each other in memory, those of several rows are. */
static void
choose_threads(struct rules *r, struct rows *w, const struct block *out)
{
	int64_t warp = target_warp(r->target);
	int64_t last = w->shape.rows > 0 ? rows_extent(out, w->shape.rows - 1)
					 : 1;

	w->threads = threads_for(r, w->shape.longest);
	w->side = 1;
	while (w->threads == warp && w->side < 8 && last > 0 &&
	       2 * w->side * warp <= r->target->max_threads &&
	       last % (2 * w->side) == 0 &&
	       (!w->shape.along ||
		w->shape.count / (2 * w->side) >= r->target->units)) {
		w->side *= 2;
	}
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

/* Can the threads of a row share the work of each reduction among the n stages? */
static bool
check_splits(struct rules *r, const int *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		const struct stmt *s = func_find(r->s.func, blocks[i]);

		if (block_reduces(s) && !is_splittable(r->s.func, s)) {
			return rules_no(r,
					"the reduction of block %s cannot be "
					"split",
					s->u.block->name);
		}
	}
	return true;
}

static bool
choose(struct rules *r, struct rows *w, const int *blocks, int n)
{
	const struct row_shape *shape = &w->shape;
	bool many;

	if (!rows_measure(r, &w->shape, blocks, n) ||
	    (!shape->is_short && !check_splits(r, blocks, n))) {
		return false;
	}
	many = rows_fill_device(r, shape);
	if (shape->is_short && (many || rows_are_one_sum(r, blocks, n))) {
		return rules_no(r,
				"a row has %lld terms; one thread sums fewer "
				"than %d",
				(long long)shape->longest, ROWS_SHORT);
	}
	/* Adjacent threads should read adjacent elements: the threads of a row,
	 * or, if rows are enough and a thread can keep one, threads of one row
	 * each. */
	if (!shape->along && many &&
	    rows_kept_bytes(r, shape, blocks, n) <= ROWS_KEPT_BYTES) {
		return rules_no(r,
				"the terms of a row are not next to each "
				"other, and rows are enough for all threads");
	}
	choose_threads(r, w, func_find(r->s.func, blocks[n - 1])->u.block);
	return shared_bytes(r, w, blocks, n) <= r->target->shared_bytes / 2 ||
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
		if (drives >= 0 && drives < w->shape.rows) {
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

/* Does each thread of a row compute the stage itself? It does if the stage has
 * one element per row, and reduces few terms or none. */
static bool
is_of_each_thread(struct rules *r, const struct rows *w, int block)
{
	const struct stmt *s = func_find(r->s.func, block);

	return rows_count(s->u.block, w->shape.rows, false) == 1 &&
	       (w->shape.is_short || !block_reduces(s));
}

/* Binds the loops of a stage, which are inside of a thread block: rows to
 * threadIdx.y; unless each thread computes the stage itself, all other loops to
 * threadIdx.x. False after a failure. */
static bool
bind_stage(struct rules *r, const struct rows *w, int block, bool by_each)
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
		    rules_driven_iter(s, loop) == w->shape.rows - 1) {
			if (!sched_bind(&r->s, loops[i], "threadIdx.y")) {
				return false;
			}
		} else if (inside) {
			left[n_left++] = loops[i];
		}
		inside |= loops[i] == w->outer;
	}
	return by_each ||
	       (rules_fuse_loops(r, left, n_left, sv_block(block), &one) &&
		rules_split(r, one, w->split, parts) &&
		sched_bind(&r->s, parts[1], "threadIdx.x"));
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

		if (a->weight != NULL && !rows_are_contiguous(r, block) &&
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
	int output;

	if (!rows_copy_output(r, "shared", &blocks, &n) ||
	    !rows_lead(r, blocks, n)) {
		return false;
	}
	output = blocks[n - 1];
	for (int i = 0; i < n; i++) {
		if (block_reduces(func_find(r->s.func, blocks[i])) &&
		    !pack_constants(r, blocks[i])) {
			return false;
		}
	}
	if (!choose(r, &w, blocks, n) || !bind_rows(r, &w, output)) {
		return false;
	}
	for (int64_t t = target_warp(r->target);
	     t * w.side <= target_block_threads(r->target); t *= 2) {
		candidates_add(r, &c, t);
	}
	w.split = rules_decide(r, "threads", &c, &w.threads);
	for (int i = n - 1; i >= 0; i--) {
		bool by_each = is_of_each_thread(r, &w, blocks[i]);

		if (blocks[i] != output &&
		    (!sched_set_scope(&r->s, blocks[i], 0,
				      by_each ? "local" : "shared") ||
		     !sched_compute_at(&r->s, blocks[i], w.outer) ||
		     !bind_stage(r, &w, blocks[i], by_each))) {
			return false;
		}
	}
	if (!bind_stage(r, &w, output, false)) {
		return false;
	}
	strbuf_printf(&r->words, "%stogether  %lld thread%s per row",
		      r->words.len > 0 ? ", " : "", (long long)w.threads,
		      w.threads == 1 ? "" : "s");
	if (w.side > 1) {
		strbuf_printf(&r->words, ", %lld rows per block",
			      (long long)w.side);
	}
	if (w.shape.is_short) {
		strbuf_puts(&r->words, ", each computes all statistics");
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
