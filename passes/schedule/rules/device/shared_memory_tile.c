/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on a device: each thread block computes a tile of the result
 * from tiles of both operands in shared memory, and each thread computes a few
 * elements of this tile in registers.
 *
 * Axes are grouped by the operands that they index: b indexes both, k is
 * summed, m indexes one operand, n the other. So a convolution is an implicit
 * GEMM: its window-by-pixel operand is gathered during the copy to shared
 * memory, and never stored as a whole:
 *
 *   for oc, oh, ow, ic, kh, kw:           for m_o, n_o in blocks:
 *     y[oc, oh, ow] +=                      for m_t, n_t in threads:
 *       x[ic, oh + kh, ow + kw]       ->      for k_o:
 *       * w[oc, ic, kh, kw]                     xs[k_i, n] = x[..] or 0
 *                                               ws[k_i, m] = w[..] or 0
 *                                               for k_i, m_i, n_i:
 *                                                 acc += xs * ws
 *                                             y[..] = acc, where there is
 * one */
#include "edit.h"
#include "element_threads.h"
#include "gemm_tile.h"

/* -- loops */

static bool
split_side(struct rules *r, const struct gemm_tile *t, enum part p, int loop,
	   int *out)
{
	return sched_split(&r->s, loop,
			   (int64_t[]){ 0, t->runs[p], t->threads[p],
					t->run[p] },
			   4, out);
}

static bool
bind_all(struct rules *r, const int *loops, const char *const *threads, int n)
{
	for (int i = 0; i < n; i++) {
		if (!sched_bind(&r->s, loops[i], threads[i])) {
			return false;
		}
	}
	return true;
}

/* Unrolls the loops over a thread's results, so that the results are in
 * registers. Vectorizes the last of these loops if its elements can be stored
 * by one access. False after a failure. */
static bool
unroll_inside(struct rules *r, int block, int loop)
{
	int *loops, n, axis;
	bool inside = false;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	axis = func_find(r->s.func, block)->u.block->n_iters - 1;
	for (int i = 0; i < n; i++) {
		bool at_once = inside && i == n - 1 &&
			       rules_access_width(r, block, axis, true) > 1;

		if (inside && !(at_once ? sched_vectorize(&r->s, loops[i])
					: sched_unroll(&r->s, loops[i]))) {
			return false;
		}
		inside |= loops[i] == loop;
	}
	return true;
}

/* The number of consecutive elements of a tile that a thread copies by one
 * access: small enough that every thread copies some elements. */
static int64_t
copied_at_once(struct rules *r, const struct gemm_tile *t, int copy,
	       enum part side, bool across)
{
	int last = func_find(r->s.func, copy)->u.block->n_iters - 1;
	int64_t lanes = rules_access_width(r, copy, last - across, false);

	while (lanes > 1 &&
	       t->side[PART_SUM] * t->side[side] / lanes <
		       t->threads[PART_ROW] * t->threads[PART_COLUMN]) {
		lanes /= 2;
	}
	return lanes;
}

/* Pads the rows of a tile that is copied transposed, so that adjacent rows
 * start in different banks and at aligned addresses. False after a failure. */
static bool
pad_rows(struct rules *r, const struct gemm_tile *t, int copy, int64_t lanes)
{
	struct sched_value args[] = {
		sv_block(copy),
		sv_int(0),
		sv_int(func_find(r->s.func, copy)->u.block->n_iters - 2),
		sv_int(target_warp(r->target)),
		sv_int(lanes),
	};
	struct sched_value none;

	return lanes == 1 || t->side[PART_ROW] < RUN ||
	       sched_apply(&r->s, "storage_align", args, 5, &none);
}

/* Makes the threads of a block copy the tile together: adjacent threads copy
 * adjacent elements. False after a failure. */
static bool
copy_together(struct rules *r, const struct gemm_tile *t, int copy, int at,
	      enum part side, const char *name)
{
	bool across = gemm_copy_is_transposed(r, copy);
	int64_t lanes = copied_at_once(r, t, copy, side, across);
	int *loops, n, order[2], fused, parts[3], runs[2];

	if (!sched_set_scope(&r->s, copy, 0, "shared") ||
	    !sched_compute_at(&r->s, copy, at) ||
	    !sched_rename_buffer(&r->s, copy, 0, name) ||
	    !sched_get_loops(&r->s, copy, &loops, &n) || n < 2) {
		return false;
	}
	order[0] = loops[n - 2 + across];
	order[1] = loops[n - 1 - across];
	if ((across && !sched_reorder(&r->s, order, 2)) ||
	    (across && !pad_rows(r, t, copy, lanes))) {
		return false;
	}
	if (lanes > 1) {
		if (!sched_split(&r->s, order[1], (int64_t[]){ 0, lanes }, 2,
				 runs) ||
		    !sched_vectorize(&r->s, runs[1])) {
			return false;
		}
		order[1] = runs[0];
	}
	return sched_fuse(&r->s, order, 2, &fused) &&
	       sched_split(&r->s, fused,
			   (int64_t[]){ 0, t->threads[PART_ROW],
					t->threads[PART_COLUMN] },
			   3, parts) &&
	       sched_rename_loop(&r->s, parts[0], "copy") &&
	       sched_unroll(&r->s, parts[0]) &&
	       sched_bind(&r->s, parts[1], "threadIdx.y") &&
	       sched_bind(&r->s, parts[2], "threadIdx.x");
}

/* Loads the elements of a tile that a thread needs into registers, as vectors.
 * False after a failure. */
static bool
read_runs(struct rules *r, const struct gemm_tile *t, int block, int copy,
	  int at, enum part side, const char *name)
{
	const struct buffer *tile =
		func_find(r->s.func, copy)->u.block->writes[0].buffer;
	int *loops, n, own;

	if (t->run[side] == 1 || target_wide_bytes(r->target) == 0) {
		return true;
	}
	return sched_cache_read(&r->s, block, rules_read_index(r, block, tile),
				"local", &own) &&
	       sched_compute_at(&r->s, own, at) &&
	       sched_rename_buffer(&r->s, own, 0, name) &&
	       sched_get_loops(&r->s, own, &loops, &n) &&
	       sched_vectorize(&r->s, loops[n - 1]);
}

/* Pipelines the copies: while one pair of tiles is multiplied, the next pair is
 * copied. Each shared array is allocated twice, and one barrier is saved;
 * elements that are being copied need registers. False after a failure. */
static bool
copy_ahead(struct rules *r, const struct gemm_tile *t, int loop)
{
	struct sched_value stages[] = { sv_int(0), sv_int(0), sv_int(1) };
	struct sched_value order[] = { sv_int(0), sv_int(1), sv_int(2) };

	return t->extent[PART_SUM] <= t->side[PART_SUM] ||
	       r->target->copy_ahead_registers == 0 ||
	       r->target->vector_registers < r->target->copy_ahead_registers ||
	       (sched_annotate(&r->s, loop, "software_pipeline_stage",
			       sv_list(r->module, stages, 3)) &&
		sched_annotate(&r->s, loop, "software_pipeline_order",
			       sv_list(r->module, order, 3)));
}

static bool
build_nest(struct rules *r, const struct gemm_tile *t, int block, int store,
	   const int *copies)
{
	const char *const *grid = gemm_grid_axes(r, t);
	const char *const threads[] = {
		grid[0],     grid[1],       "vthread.y",
		"vthread.x", "threadIdx.y", "threadIdx.x",
	};
	static const char *const axes[] = { "b", "k", "m", "n" };
	int first = gemm_first_part(t);
	int *l, n, k[2], m[4], c[4], loops[PARTS] = { 0 };

	if (!sched_get_loops(&r->s, block, &l, &n) || n != PARTS - first) {
		return false;
	}
	for (int i = first; i < PARTS; i++) {
		loops[t->order[i]] = l[i - first];
		if (!sched_rename_loop(&r->s, l[i - first],
				       axes[t->order[i]])) {
			return false;
		}
	}
	if (!split_side(r, t, PART_ROW, loops[PART_ROW], m) ||
	    !split_side(r, t, PART_COLUMN, loops[PART_COLUMN], c) ||
	    !sched_split(&r->s, loops[PART_SUM],
			 (int64_t[]){ 0, t->side[PART_SUM] }, 2, k) ||
	    !sched_reorder(&r->s,
			   (int[]){ m[0], c[0], m[1], c[1], m[2], c[2], k[0],
				    k[1], m[3], c[3] },
			   10) ||
	    (first == 0 &&
	     !sched_bind(&r->s, loops[PART_BATCH], "blockIdx.z")) ||
	    !bind_all(r, (int[]){ m[0], c[0], m[1], c[1], m[2], c[2] }, threads,
		      6) ||
	    !sched_set_scope(&r->s, block, 0, "local") ||
	    !sched_reverse_compute_at(&r->s, store, c[2]) ||
	    !unroll_inside(r, store, c[2]) ||
	    !sched_rename_buffer(&r->s, block, 0, "acc")) {
		return false;
	}
	return copy_together(r, t, copies[0], k[0], PART_ROW, "rows") &&
	       copy_together(r, t, copies[1], k[0], PART_COLUMN, "columns") &&
	       read_runs(r, t, block, copies[0], k[1], PART_ROW, "row") &&
	       read_runs(r, t, block, copies[1], k[1], PART_COLUMN, "column") &&
	       sched_unroll(&r->s, k[1]) && sched_unroll(&r->s, m[3]) &&
	       sched_unroll(&r->s, c[3]) && copy_ahead(r, t, k[0]);
}

bool
rule_shared_memory_tile(struct rules *r, const struct kernel_blocks *k)
{
	int block = k->block;
	const char *implicit;
	struct gemm_tile t = {
		.order = { PART_BATCH, PART_SUM, PART_ROW, PART_COLUMN },
	};
	struct gemm_blocks blocks;

	if (!rules_access(r, block, &t.x) || !gemm_find_axes(r, &t)) {
		return rules_no(r, "it is not a product of two operands, each "
				   "with an axis of its own");
	}
	if (!gemm_choose_tiles(r, &t)) {
		return rules_no(r, "the product is too small, or the device "
				   "has too few threads");
	}
	implicit = gemm_describe(r, &t);
	if (!gemm_copy_operands(r, &t, block, &blocks) ||
	    !build_nest(r, &t, block, blocks.store, blocks.copies)) {
		return false;
	}
	strbuf_printf(&r->words,
		      "%sstaged  %stiles of %lld x %lld, %lld at a "
		      "time, %lld x %lld per thread",
		      r->words.len > 0 ? ", " : "", implicit,
		      (long long)t.side[PART_ROW],
		      (long long)t.side[PART_COLUMN],
		      (long long)t.side[PART_SUM],
		      (long long)(t.side[PART_ROW] / t.threads[PART_ROW]),
		      (long long)(t.side[PART_COLUMN] /
				  t.threads[PART_COLUMN]));
	return true;
}
