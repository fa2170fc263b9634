/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes along a contiguous axis, for reductions in which the elements of a tile
 * share no operand: pools, depthwise convolutions, sums over outer axes. If
 * lanes would be tested one by one (padding) or would not fill a vector, one
 * accumulator is faster.
 *
 *   for c, oh, ow:                 for c, oh, ow_o:
 *     for kh, kw:                    acc[16] = 0
 *       y += x[c][h][w] * k   ->     for kh, kw:
 *                                      for ow_i: acc[ow_i] += x[..][w] * k
 *                                    for ow_i: y[c][oh][..] = acc[ow_i] */
#include "decision.h"
#include "kernel_blocks.h"
#include "nest.h"
#include "register_tile.h"
#include "scope.h"
#include "window_lanes.h"

static bool
tests_lanes(const struct block_access *x, int lane)
{
	return rules_tests_var(x->block->children[0]->args[0],
			       x->info->iters[lane].var, true);
}

/* The number of lanes for an axis: all of it if it has at most two vectors;
 * else a divisor of it from three quarters of a vector to two vectors; else one
 * vector, with a remainder. */
static int64_t
choose_lanes(int64_t extent, int64_t vector)
{
	if (extent <= 2 * vector) {
		return extent;
	}
	for (int64_t n = 2 * vector; n * 4 >= vector * 3; n--) {
		if (extent % n == 0) {
			return n;
		}
	}
	return vector;
}

/* Moves the loop inside of `at` that drives the lane axis innermost, and sets
 * *lane_loop to it. False after a failure. */
static bool
lane_innermost(struct rules *r, int reduction, int lane, int at, int *lane_loop)
{
	const struct stmt *b = func_find(r->s.func, reduction);
	int order[MAX_AXES * 2], *loops, n, count = 0;
	bool below = at == 0;

	*lane_loop = 0;
	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n && count < MAX_AXES * 2 - 1; i++) {
		const struct stmt *l = func_find(r->s.func, loops[i]);

		if (below && expr_uses_var(b->args[lane + 1], l->u.loop.var)) {
			*lane_loop = loops[i];
		} else if (below) {
			order[count++] = loops[i];
		}
		below |= loops[i] == at;
	}
	if (*lane_loop == 0) {
		return false;
	}
	order[count++] = *lane_loop;
	return count < 2 || sched_reorder(&r->s, order, count);
}

bool
rule_window(struct rules *r, const struct kernel_blocks *k)
{
	struct block_access x;
	const struct buffer *acc;
	int loops[MAX_AXES], split[2] = { 0, 0 };
	int lane, lane_loop, at = 0, reduction = k->reduction;
	int output = k->output;
	int64_t extent, lanes, vector;

	if (!rules_access(r, reduction, &x) || x.n_reduce == 0) {
		return rules_no(r, "the reduction's accesses are not plain");
	}
	lane = window_find_lanes(r, &x);
	vector = r->target->vector_bytes / dtype_bytes(x.out->type);
	vector = vector < WINDOW_LEAST_LANES ? WINDOW_LEAST_LANES : vector;
	if (lane < 0) {
		return rules_no(r, "no axis is contiguous in the result and in "
				   "all operands");
	}
	extent = tiling_extent(&x, lane);
	if (x.most[lane] < vector) {
		return rules_no(r,
				"the contiguous axis has %lld elements, fewer "
				"than the %lld lanes of a vector",
				(long long)x.most[lane], (long long)vector);
	}
	if (tests_lanes(&x, lane)) {
		return rules_no(r, "a condition (padding) would be tested for "
				   "each lane");
	}
	if (output != reduction && !rules_same_axes(r, &x, output)) {
		return rules_no(r, "the epilogue reads the sums at other axes");
	}
	if (!rules_separate_accumulator(r, &x, reduction, &output)) {
		return false;
	}
	rules_name_loops(r, &x, output);
	if (!rules_axis_loops(r, output, loops) || loops[lane] == 0) {
		return false;
	}
	lanes = extent > 0 ? choose_lanes(extent, vector) : vector;
	split[1] = loops[lane];
	if (lanes != extent) {
		struct candidates c = { 0 };

		candidates_add_steps(r, &c, vector / 2,
				     4 * vector < x.most[lane]
					     ? 4 * vector
					     : x.most[lane] - 1,
				     vector / 2,
				     extent % lanes == 0 ? extent : 0);
		if (!rules_split(r, loops[lane], rules_decide(r, &c, lanes),
				 split)) {
			return false;
		}
	}
	for (int i = 0; i < x.n_spatial; i++) {
		int loop = i == lane ? split[0] : loops[i];

		at = loop != 0 ? loop : at;
	}
	if ((at != 0 && !sched_compute_at(&r->s, reduction, at)) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &acc) ||
	    !lane_innermost(r, reduction, lane, at, &lane_loop)) {
		return false;
	}
	sched_vectorize(&r->s, split[1]);
	sched_vectorize(&r->s, lane_loop);
	strbuf_printf(&r->words, "window  %s_lanes %lld",
		      iter_axis_name(x.info->iters[lane].var->name),
		      (long long)lanes);
	return tiling_overlap(r, output, split[0], x.info->iters[lane].var,
			      tiling_rest(r, &x, lane, lanes),
			      tiling_lanes_time(r, x.out->type, extent, lanes),
			      true);
}
