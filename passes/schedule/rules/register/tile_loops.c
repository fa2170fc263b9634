/* SPDX-License-Identifier: Apache-2.0 */
/* Splits and orders the loops of a register tile. */
#include "decision.h"
#include "edit.h"
#include "iterate.h"
#include "nest.h"
#include "register_tile.h"

enum { MOST_STEPS = 4, MOST_ODD_STEPS = 7 };

/* The largest number of operations of a block that stores results and counts as
 * short. */
enum { MOST_SHORT = 12 };

bool
tiling_split_vectors(struct rules *r, const struct tiling *t, int *vectors,
		     int *lane_loop)
{
	const char *axis = iter_axis_name(t->x.info->iters[t->lane].var->name);
	struct arena *a = &r->module->arena;
	int parts[2];

	*vectors = 0;
	if (t->vector == 0 || *lane_loop == 0) {
		return true;
	}
	if (!sched_split(&r->s, *lane_loop, (int64_t[]){ 0, t->vector }, 2,
			 parts) ||
	    !sched_rename_loop(&r->s, parts[0],
			       arena_printf(a, "%s_c", axis)) ||
	    !sched_rename_loop(&r->s, parts[1],
			       arena_printf(a, "%s_v", axis))) {
		return false;
	}
	*vectors = parts[0];
	*lane_loop = parts[1];
	return true;
}

int
tiling_loop_order(const struct rules *r, const struct tile_loops *tile,
		  int *order)
{
	const int vectors_last[4] = { tile->rows, tile->vectors, tile->lanes,
				      tile->dot };
	const int rows_last[4] = { tile->vectors, tile->lanes, tile->rows, 0 };
	const int lanes_first[4] = { tile->lanes, tile->vectors, 0, 0 };
	const int *loops = r->target->complete_unroll == 0 || tile->dot != 0 ||
					   tile->lanes_last
				   ? vectors_last
			   : tile->rows != 0 ? rows_last
					     : lanes_first;
	int n = 0;

	for (int i = 0; i < 4; i++) {
		if (loops[i] != 0) {
			order[n++] = loops[i];
		}
	}
	return n;
}

/* The number of steps of the reduction that are unrolled together in sums that
 * no instruction computes. Compilers unroll short loops themselves; they do not
 * unroll a long loop without vectors, whose overhead for each iteration is as
 * long as a few products. The loads of several rows and steps would take too
 * many registers. */
static int64_t
steps_of_sums(const struct rules *r, const struct tiling *t, int64_t extent)
{
	int64_t most = t->rows > 1 ? 2 : MOST_STEPS, n = most;

	if (extent <= TILING_SHORT || !tiling_sums_in_general_registers(r, t)) {
		return 1;
	}
	while (extent % n != 0) {
		n--;
	}
	for (int64_t k = most + 1;
	     n < most && t->rows == 1 && k <= MOST_ODD_STEPS; k++) {
		n = extent % k == 0 ? k : n;
	}
	return n;
}

/* The number of steps that are unrolled together: that which the caller of the
 * rules prefers, else the result of steps_of_sums. */
static int64_t
open_steps(struct rules *r, const struct tiling *t, int64_t extent)
{
	struct candidates c = { 0 };

	candidates_add(r, &c, 1);
	for (int64_t n = 2; n <= MOST_STEPS && c.list.n == 1; n++) {
		if (extent % n == 0) {
			candidates_add(r, &c, n);
		}
	}
	return rules_way(r, "unroll", &c, steps_of_sums(r, t, extent));
}

/* Splits up to MOST_STEPS iterations off the innermost reduction loop, the last
 * of order[0..n), to unroll them (tile->steps): the sums of a step are in few
 * registers, so the instructions of the loop itself would take as long as half
 * of its products. At most 3 if the code must be small. False after a
 * failure. */
static bool
split_steps(struct rules *r, const struct tiling *t, int *order, int *n,
	    struct tile_loops *tile)
{
	bool of_dot = t->dot.intrin != NULL;
	const char *goal = r->target->goal;
	bool small = goal != NULL && strcmp(goal, "size") == 0;
	int64_t extent, steps = MOST_STEPS;
	struct candidates c = { 0 };
	int last = order[*n - 1], parts[2];

	if (!expr_is_int(func_find(r->s.func, last)->args[1], &extent)) {
		return true;
	}
	while (extent % steps != 0) {
		steps--;
	}
	if (small && steps == MOST_STEPS) {
		steps /= 2;
	}
	if (!of_dot) {
		steps = open_steps(r, t, extent);
	}
	tile->steps = steps > 1 ? last : 0;
	if (steps == 1 || steps == extent) {
		return true;
	}
	candidates_add_steps(r, &c, 2,
			     2 * MOST_STEPS < extent ? 2 * MOST_STEPS
						     : extent - 1,
			     1, extent);
	if (!rules_split(r, last, rules_decide(r, "steps", &c, &steps),
			 parts)) {
		return false;
	}
	tile->first = tile->first == last ? parts[0] : tile->first;
	tile->steps = parts[1];
	order[*n - 1] = parts[0];
	order[(*n)++] = parts[1];
	return true;
}

/* Moves the longest of n reduction loops last if the last one is short, as the
 * columns of a window are: if the axis of the rows is symbolic, compilers that
 * unroll such a short loop keep the accumulators in memory. */
static void
longest_last(struct rules *r, const struct tiling *t, int *order, int n)
{
	int64_t extent, most = TILING_SHORT;
	int longest = -1, loop;

	if (t->row < 0 || tiling_extent(&t->x, t->row) > 0 || n < 2 ||
	    !expr_is_int(func_find(r->s.func, order[n - 1])->args[1],
			 &extent) ||
	    extent > TILING_SHORT) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (expr_is_int(func_find(r->s.func, order[i])->args[1],
				&extent) &&
		    extent > most) {
			longest = i;
			most = extent;
		}
	}
	if (longest < 0) {
		return;
	}
	loop = order[longest];
	for (int i = longest; i < n - 1; i++) {
		order[i] = order[i + 1];
	}
	order[n - 1] = loop;
}

bool
tiling_order(struct rules *r, const struct tiling *t, int reduction, int below,
	     struct tile_loops *tile)
{
	int *loops, n;
	struct stmt *block = func_find(r->s.func, reduction);
	int order[4 * MAX_AXES], n_order = 0, inner[2 * MAX_AXES], n_inner = 0;
	bool inside = below == 0;

	*tile = (struct tile_loops){ 0 };
	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int drives, parts[2];
		int64_t c;

		if (!inside) {
			inside = loops[i] == below;
			continue;
		}
		drives = rules_driven_iter(block, loop);
		c = drives >= 0 ? tiling_block(t, drives) : 0;
		if (drives == t->lane) {
			tile->lanes = loops[i];
		} else if (drives == t->row && t->row >= 0) {
			tile->rows = loops[i];
		} else if (n_order + n_inner >= 2 * MAX_AXES - 3) {
			return false;
		} else if (c == 0) {
			order[n_order++] = loops[i];
		} else if (tiling_extent(&t->x, drives) == c) {
			inner[n_inner++] = loops[i];
		} else {
			if (!sched_split(&r->s, loops[i], (int64_t[]){ 0, c },
					 2, parts)) {
				return false;
			}
			order[n_order++] = parts[0];
			inner[n_inner++] = parts[1];
		}
	}
	if (!tiling_split_vectors(r, t, &tile->vectors, &tile->lanes)) {
		return false;
	}
	if (n_inner == 0 && t->dot.intrin == NULL) {
		longest_last(r, t, order, n_order);
	}
	for (int i = 0; i < n_inner; i++) {
		order[n_order++] = inner[i];
	}
	tile->first = n_order > 0 ? order[0] : 0;
	if (t->dot.intrin != NULL &&
	    !tiling_split_dot(r, t, reduction, order, &n_order, tile)) {
		return false;
	}
	if (!target_has_vectors(r->target) && n_order > 0 &&
	    !split_steps(r, t, order, &n_order, tile)) {
		return false;
	}
	n_order += tiling_loop_order(r, tile, order + n_order);
	return n_order < 2 || sched_reorder(&r->s, order, n_order);
}

bool
tiling_is_long(const struct rules *r, int output)
{
	const struct stmt *store = func_find(r->s.func, output)->children[0];
	const struct expr *e;
	int n = 0;

	if (store->kind != STMT_STORE) {
		return true;
	}
	for (struct expr_iter it = expr_each(store->args[0]);
	     (e = expr_next(&it));) {
		n += e->kind == EXPR_CALL ? MOST_SHORT : e->n_args > 0;
	}
	return n > MOST_SHORT;
}

bool
tiling_split(struct rules *r, const struct tiling *t, int axis, int64_t size,
	     struct sched_value number, const int *loops, int *split)
{
	split[0] = 0;
	split[1] = loops[axis];
	return tiling_extent(&t->x, axis) == size ||
	       rules_split(r, loops[axis], number, split);
}

bool
tiling_hoist_loads(struct rules *r, const struct tiling *t,
		   const struct tile_loops *tile)
{
	int order[4], n = tiling_loop_order(r, tile, order);

	if (tile->rows == 0 || order[n - 1] != tile->rows) {
		return true;
	}
	return !rules_tests_var(t->x.block->children[0]->args[0],
				t->x.info->iters[t->row].var, false) ||
	       sched_annotate(&r->s, order[0], "read_before", sv_int(1));
}

void
tiling_finish(struct rules *r, const struct tile_loops *tile)
{
	int order[4], n = tiling_loop_order(r, tile, order);

	if (tile->lanes != 0 && order[n - 1] == tile->lanes) {
		sched_vectorize(&r->s, tile->lanes);
	} else if (tile->lanes != 0) {
		sched_unroll(&r->s, tile->lanes);
	}
	if (tile->vectors != 0) {
		sched_unroll(&r->s, tile->vectors);
	}
	if (tile->rows != 0) {
		sched_unroll(&r->s, tile->rows);
	}
	if (tile->steps != 0) {
		sched_unroll(&r->s, tile->steps);
	}
}
