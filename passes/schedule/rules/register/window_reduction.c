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

/* Should the last two axes be fused? Yes if the number of lanes in a vector
 * does not divide the extent of the last axis, but divides that of the fused
 * axis. */
static bool
is_better_fused(const struct block_access *x, int lane, int64_t vector)
{
	int64_t columns = tiling_extent(x, lane);
	int64_t rows = lane > 0 ? tiling_extent(x, lane - 1) : 0;

	return lane == x->n_spatial - 1 && rows > 1 && columns % vector != 0 &&
	       rows % vector * (columns % vector) % vector == 0;
}

/* Fuses the last two axes of the reduction and of the output if
 * is_better_fused() is true; then *lane becomes the fused axis, *x what the
 * fused block accesses, and *name the name for the fused loops. False after a
 * failed step. */
static bool
fuse_rows(struct rules *r, struct block_access *x, int reduction, int *output,
	  int *lane, const char **name)
{
	const struct iter_var *axes = x->info->iters;
	const char *words;

	if (!is_better_fused(x, *lane, window_vector(r, x))) {
		return true;
	}
	words = arena_printf(&r->module->arena, "%s_%s",
			     iter_axis_name(axes[*lane - 1].var->name),
			     iter_axis_name(axes[*lane].var->name));
	if (!rules_access(r, reduction, x)) {
		return false;
	}
	if (!rules_fuse_spatial_axes(r, x, reduction, output)) {
		return true;
	}
	if (!rules_access(r, reduction, x)) {
		return false;
	}
	*name = words;
	*lane = window_find_lanes(r, x);
	return *lane >= 0;
}

bool
rule_window(struct rules *r, const struct kernel_blocks *k)
{
	struct block_access x;
	const struct buffer *acc;
	const char *name = NULL;
	int loops[MAX_AXES], split[2];
	int lane, lane_loop, at = 0, reduction = k->reduction;
	int output = k->output;
	int64_t extent, lanes, vector;

	if (!rules_access(r, reduction, &x) || x.n_reduce == 0) {
		return rules_no(r, "the reduction's accesses are not plain");
	}
	lane = window_find_lanes(r, &x);
	vector = window_vector(r, &x);
	if (lane < 0) {
		return rules_no(r, "no axis is contiguous in the result and in "
				   "all operands");
	}
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
	if (!rules_separate_accumulator(r, &x, reduction, &output) ||
	    !fuse_rows(r, &x, reduction, &output, &lane, &name)) {
		return false;
	}
	rules_name_loops(r, &x, output);
	if (!rules_axis_loops(r, output, loops, x.n_spatial) ||
	    loops[lane] == 0 ||
	    (name != NULL && !sched_rename_loop(&r->s, loops[lane], name))) {
		return false;
	}
	extent = tiling_extent(&x, lane);
	lanes = extent > 0 ? window_lanes(extent, vector) : vector;
	if (!window_split(r, &x, lane, loops[lane], lanes, split)) {
		return false;
	}
	for (int i = 0; i < x.n_spatial; i++) {
		int loop = i == lane ? split[0] : loops[i];

		at = loop != 0 ? loop : at;
	}
	if ((at != 0 && !sched_compute_at(&r->s, reduction, at)) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &acc) ||
	    !window_lane_innermost(r, reduction, lane, at, &lane_loop) ||
	    (name != NULL && !sched_rename_loop(&r->s, lane_loop,
						arena_printf(&r->module->arena,
							     "%s_i", name)))) {
		return false;
	}
	sched_vectorize(&r->s, split[1]);
	sched_vectorize(&r->s, lane_loop);
	strbuf_printf(&r->words, "window  %s_lanes %lld",
		      name != NULL
			      ? name
			      : iter_axis_name(x.info->iters[lane].var->name),
		      (long long)lanes);
	return tiling_overlap(r, output, split[0], x.info->iters[lane].var,
			      tiling_rest(r, &x, lane, lanes),
			      tiling_lanes_time(r, x.out->type, extent, lanes),
			      true);
}
