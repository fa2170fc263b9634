/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes: kernels of one block that does not reduce, and whose loads are
 * contiguous along another axis than the store. With tiles, each part of a row
 * that is in the cache is used completely before it is evicted.
 *
 *   for i, j:                  for i_o, j_o:
 *     y[i, j] = x[j, i]   ->     for i_i, j_i:
 *                                  y[i_o * 8 + i_i, j_o * 8 + j_i] = x[..] */
#include "decision.h"
#include "kernel_blocks.h"
#include "nest.h"

/* The sides of a tile, and the least extents of the axes. */
enum { SIDE = 8, LEAST_EXTENT = 2 * SIDE };

/* The axis that is the last index of an access; -1: the last index is not an
 * axis. */
static int
last_axis(const struct block_access *x, const struct load_access *a,
	  const struct expr *last)
{
	int axis = block_iter_of(x->info, last);

	return axis >= 0 && a->use[axis] == AXIS_PLAIN ? axis : -1;
}

/* Finds the axis along which loads are contiguous, if it differs from `lane`,
 * the axis along which the store is contiguous; -1: there is no such axis, or
 * there are several. */
static int
find_rows(const struct block_access *x, int lane)
{
	int rows = -1;

	for (int l = 0; l < x->n_loads; l++) {
		const struct expr *load = x->loads[l].load;
		int axis = load->n_args == 0
				   ? -1
				   : last_axis(x, &x->loads[l],
					       load->args[load->n_args - 1]);

		if (axis < 0 || axis == lane ||
		    x->loads[l].use[lane] == AXIS_UNUSED) {
			continue;
		}
		if ((rows >= 0 && rows != axis) ||
		    x->loads[l].use[lane] != AXIS_PLAIN ||
		    x->store.use[axis] != AXIS_PLAIN) {
			return -1;
		}
		rows = axis;
	}
	return rows;
}

/* Splits the loop of an axis into tiles: split[1] is the loop over the elements
 * of a tile. A rest becomes a copy of the loops, except for a constant rest of
 * lanes, which gets a condition. False after a failure. */
static bool
split_axis(struct rules *r, const struct block_access *x, int axis,
	   bool is_lanes, const int *loops, int *split)
{
	int64_t extent;
	bool known = expr_is_int(x->info->iters[axis].extent, &extent);

	return rules_split(r, loops[axis], sv_int(SIDE), split) &&
	       ((known && (is_lanes || extent % SIDE == 0)) ||
		sched_annotate(&r->s, split[0], "partition", sv_int(1)));
}

bool
rule_transposed_tiles(struct rules *r, const struct kernel_blocks *k)
{
	struct block_access x;
	const struct stmt *store;
	int *loops, n, lane, rows, order[MAX_AXES + 2], count = 0;
	int split[2][2];

	if (!rules_access(r, k->output, &x) ||
	    !sched_get_loops(&r->s, k->output, &loops, &n) ||
	    n != x.info->n_iters) {
		return rules_no(r, "it does not store one value by plain "
				   "indices, in one loop for each axis");
	}
	store = x.block->children[0];
	lane = store->n_args < 2 ? -1
				 : last_axis(&x, &x.store,
					     store->args[store->n_args - 1]);
	rows = lane < 0 ? -1 : find_rows(&x, lane);
	if (rows < 0) {
		return rules_no(r, "no load is contiguous along another axis "
				   "than the store");
	}
	if (r->target->vector_bytes == 0 || r->target->optimize_memory) {
		return rules_no(r,
				"the target has no vectors, or memory counts "
				"more than speed");
	}
	if (x.most[lane] < LEAST_EXTENT || x.most[rows] < LEAST_EXTENT) {
		return rules_no(r, "an axis is shorter than two tiles");
	}
	if (!split_axis(r, &x, rows, false, loops, split[0]) ||
	    !split_axis(r, &x, lane, true, loops, split[1])) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (i != rows && i != lane) {
			order[count++] = loops[i];
		}
	}
	for (int i = 0; i < 2; i++) {
		order[count++] = split[0][i];
		order[count++] = split[1][i];
	}
	strbuf_printf(&r->words, "transposed by tiles of %d x %d", SIDE, SIDE);
	return sched_reorder(&r->s, order, count);
}
