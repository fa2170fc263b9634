/* SPDX-License-Identifier: Apache-2.0 */
/* Pools whose windows share columns. The column of a row of results (or of a small
 * plane) is the reduction over the window's height: lanes compute the columns
 * first, then each window reduces its columns. Columns beyond the row have the
 * identity of the reduction.
 *
 *   for c, oh, w, kh: columns[..] = max(..)     for c, oh:
 *   for c, oh, w:                                 for w: bordered[w] = nan
 *     bordered[..] = columns[..] or nan     ->    for w_o:
 *   for c, oh, ow, kw:                              for kh, w_i: acc[w_i] = max
 *     pool[..] = max(.., bordered[..])              for w_i: bordered[..] = acc
 *                                                 for ow:
 *                                                   for kw: pool = max(..)
 *                                                   y[c][oh][ow] = pool */
#include "border.h"
#include "kernel_blocks.h"
#include "nest.h"
#include "register_tile.h"
#include "scope.h"
#include "window_lanes.h"

/* The reduction of columns, the block that stores them in the array that the
 * windows read, the reduction of the windows, and the block that stores the
 * results. */
struct columns {
	int reduction, copy, windows, output;
};

/* Is the index in which the block reads columns of a row the sum of an axis of
 * its results and an axis over which it reduces? */
static bool
slides_over_columns(const struct block_access *x)
{
	const struct expr *load = x->n_loads == 1 ? x->loads[0].load : NULL;
	bool slides = false, reduces = false;

	for (int i = 0; load != NULL && i < x->info->n_iters; i++) {
		if (expr_uses_var(load->args[load->n_args - 1],
				  x->info->iters[i].var)) {
			slides |= x->info->iters[i].kind == ITER_SPATIAL;
			reduces |= x->info->iters[i].kind == ITER_REDUCE;
		}
	}
	return slides && reduces;
}

/* Finds the blocks, and gives both reductions an accumulator. */
static bool
find_blocks(struct rules *r, const struct kernel_blocks *k, struct columns *c)
{
	struct block_access x;
	int *readers, n;

	*c = (struct columns){ k->list[0], k->list[0], k->reduction,
			       k->output };
	if (!rules_access(r, c->windows, &x) || !slides_over_columns(&x)) {
		return rules_no(r, "no window slides over columns");
	}
	if (!block_reduces(func_find(r->s.func, c->reduction)) ||
	    !rules_access(r, c->reduction, &x)) {
		return rules_no(r, "the first block does not reduce columns");
	}
	if (k->padded_copy != 0) {
		c->copy = k->padded_copy;
	} else if (!rules_separate_accumulator(r, &x, c->reduction, &c->copy)) {
		return false;
	}
	if (!sched_get_consumers(&r->s, c->reduction, &readers, &n) || n != 1 ||
	    readers[0] != c->copy ||
	    !sched_get_consumers(&r->s, c->copy, &readers, &n) || n != 1 ||
	    readers[0] != c->windows || !rules_access(r, c->windows, &x)) {
		return rules_no(r, "others than the windows read the columns");
	}
	if (c->output != c->windows && !rules_same_axes(r, &x, c->output)) {
		return rules_no(r, "the epilogue reads the windows at other "
				   "axes");
	}
	return rules_separate_accumulator(r, &x, c->windows, &c->output);
}

/* Moves a reduction into the loop `at`, with its accumulators in a local
 * array. */
static bool
accumulate_at(struct rules *r, int reduction, int at)
{
	const struct buffer *acc;

	return sched_compute_at(&r->s, reduction, at) &&
	       sched_set_scope(&r->s, reduction, 0, "local") &&
	       rules_accumulator(r, reduction, &acc);
}

/* Computes the columns of a row by lanes, or one after the other if there are
 * fewer columns than lanes of a vector. False after a failure. */
static bool
reduce_columns(struct rules *r, const struct columns *c)
{
	struct block_access x;
	int *loops, n, split[2], lane, lane_loop, at;
	int64_t lanes, extent;

	if (!rules_access(r, c->reduction, &x) ||
	    !sched_get_loops(&r->s, c->copy, &loops, &n) || n < 2) {
		return false;
	}
	lane = window_find_lanes(r, &x);
	lanes = window_vector(r, &x);
	/* A loop over lanes inside of one over rows would be unrolled before the
	 * compiler vectorizes it. */
	if (lane < 0 || x.most[lane] < lanes ||
	    r->target->complete_unroll > 0) {
		return accumulate_at(r, c->reduction, loops[n - 1]);
	}
	extent = tiling_extent(&x, lane);
	lanes *= extent > 0 && extent % (2 * lanes) == 0 ? 2 : 1;
	if (!window_split(r, &x, lane, loops[n - 1], lanes, split)) {
		return false;
	}
	at = split[0] != 0 ? split[0] : n - 2;
	if (!accumulate_at(r, c->reduction, at) ||
	    !window_lane_innermost(r, c->reduction, lane, at, &lane_loop)) {
		return false;
	}
	sched_vectorize(&r->s, split[1]);
	sched_vectorize(&r->s, lane_loop);
	strbuf_printf(&r->words, "  %s_lanes %lld",
		      iter_axis_name(x.info->iters[lane].var->name),
		      (long long)lanes);
	return tiling_overlap(r, c->copy, split[0], x.info->iters[lane].var,
			      tiling_rest(r, &x, lane, lanes),
			      tiling_lanes_time(r, x.out->type, extent, lanes),
			      true);
}

/* The most bytes of columns that are stored before windows read them. */
static double
most_bytes(const struct target *t)
{
	double cache = (double)t->l1_bytes / 2;
	double stack = (double)t->stack_limit_bytes / 4;

	return cache < stack ? cache : stack;
}

/* The loop in which columns are stored before windows read them, as an index of
 * the n loops around the copy: if the plane has few columns, the loop around
 * the rows of a plane, so that a window does not wait for values that were
 * stored just before; else the loop over rows. */
static int
place_of_columns(struct rules *r, int copy, int n)
{
	const struct stmt *b = func_find(r->s.func, copy);
	const struct buffer *columns = b->u.block->writes[0].buffer;
	int64_t row, rows, bytes = dtype_bytes(columns->type);
	int last = columns->ndim - 1;

	if (n < 3 || last < 2 || !expr_is_int(columns->shape[last], &row) ||
	    !expr_is_int(columns->shape[last - 1], &rows)) {
		return n - 2;
	}
	return (double)row * (double)rows * (double)bytes <=
			       most_bytes(r->target)
		       ? n - 3
		       : n - 2;
}

bool
rule_window_columns(struct rules *r, const struct kernel_blocks *k)
{
	struct columns c;
	int *loops, *own, n, n_own, place;

	if (!find_blocks(r, k, &c) ||
	    !sched_get_loops(&r->s, c.copy, &loops, &n) || n < 2 ||
	    !sched_get_loops(&r->s, c.output, &own, &n_own) || n_own != n ||
	    !accumulate_at(r, c.windows, own[n - 1])) {
		return false;
	}
	/* Merges the nests. The copy keeps whole rows, although the windows may
	 * read slightly shorter rows. */
	place = place_of_columns(r, c.copy, n);
	if (!sched_merge(&r->s, loops[place], own[place]) ||
	    !sched_set_scope(&r->s, c.copy, 0, "local")) {
		return false;
	}
	if (k->padded_copy != 0) {
		border_split(r, c.copy, loops[place]);
	}
	strbuf_printf(&r->words, "windows over columns of a %s",
		      place == n - 2 ? "row" : "plane");
	return reduce_columns(r, &c);
}
