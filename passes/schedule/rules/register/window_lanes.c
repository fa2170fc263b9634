/* SPDX-License-Identifier: Apache-2.0 */
/* A contiguous axis whose elements are the lanes of a window's reduction. */
#include "window_lanes.h"

#include "decision.h"
#include "register_tile.h"

/* Are the last two of the n indices of an access v // columns and v % columns,
 * the row and the column of v in the buffer, and does no other index use v? */
static bool
walks_rows(const struct buffer *b, const struct expr *const *index, int n,
	   const struct var *v)
{
	for (int d = 0; d < n - 2; d++) {
		if (expr_uses_var(index[d], v)) {
			return false;
		}
	}
	return n >= 2 && index[n - 2]->kind == EXPR_FLOORDIV &&
	       index[n - 1]->kind == EXPR_FLOORMOD &&
	       index[n - 2]->args[0] == v->expr &&
	       index[n - 1]->args[0] == v->expr &&
	       index[n - 2]->args[1] == b->shape[n - 1] &&
	       index[n - 1]->args[1] == b->shape[n - 1];
}

/* Is the load contiguous along v? It is if v occurs only in the index of the
 * last dimension, with step 1; or numbers the elements of the last two
 * dimensions; or occurs in no index. *is_indexed is set to true if an index
 * contains v. */
static bool
is_contiguous_in(struct rules *r, const struct expr *load, struct var *v,
		 bool *is_indexed)
{
	struct analyser a;
	const struct expr *rest;
	int64_t step;

	analyser_init(&a, r->module);
	if (walks_rows(load->u.buffer, load->args, load->n_args, v)) {
		*is_indexed = true;
		return true;
	}
	for (int d = 0; d < load->n_args; d++) {
		if (!expr_uses_var(load->args[d], v)) {
			continue;
		}
		if (d != load->n_args - 1 ||
		    !analyse_affine(&a, load->args[d], &v, 1, &step, &rest) ||
		    step != 1) {
			return false;
		}
		*is_indexed = true;
	}
	return true;
}

int
window_find_lanes(struct rules *r, const struct block_access *x)
{
	const struct stmt *store = x->block->children[0];
	const struct expr *last = store->args[store->n_args - 1];
	bool is_indexed = false;
	int lane = -1;

	for (int i = 0; i < x->info->n_iters; i++) {
		const struct iter_var *axis = &x->info->iters[i];

		if (store->n_args > 1 && axis->kind == ITER_SPATIAL &&
		    (last == axis->var->expr ||
		     walks_rows(store->u.buffer, store->args + 1,
				store->n_args - 1, axis->var))) {
			lane = i;
		}
	}
	if (lane < 0 || x->most[lane] < WINDOW_LEAST_LANES) {
		return -1;
	}
	for (int l = 0; l < x->n_loads; l++) {
		if (!is_contiguous_in(r, x->loads[l].load,
				      x->info->iters[lane].var, &is_indexed)) {
			return -1;
		}
	}
	return is_indexed ? lane : -1;
}

int64_t
window_vector(const struct rules *r, const struct block_access *x)
{
	int64_t lanes = r->target->vector_bytes / dtype_bytes(x->out->type);

	return lanes < WINDOW_LEAST_LANES ? WINDOW_LEAST_LANES : lanes;
}

int64_t
window_lanes(int64_t extent, int64_t vector)
{
	if (extent <= 2 * vector) {
		return extent;
	}
	if (extent % vector == 0) {
		return extent % (2 * vector) == 0 ? 2 * vector : vector;
	}
	for (int64_t n = 2 * vector; n * 4 >= vector * 3; n--) {
		if (extent % n == 0) {
			return n;
		}
	}
	return vector;
}

bool
window_split(struct rules *r, const struct block_access *x, int lane, int loop,
	     int64_t lanes, int *split)
{
	int64_t vector = window_vector(r, x), extent = tiling_extent(x, lane);
	struct candidates c = { 0 };

	split[0] = 0;
	split[1] = loop;
	if (lanes == extent) {
		return true;
	}
	candidates_add_steps(r, &c, vector / 2,
			     4 * vector < x->most[lane] ? 4 * vector
							: x->most[lane] - 1,
			     vector / 2, extent % lanes == 0 ? extent : 0);
	return rules_split(r, loop, rules_decide(r, "lanes", &c, &lanes),
			   split);
}

bool
window_lane_innermost(struct rules *r, int reduction, int lane, int at,
		      int *lane_loop)
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
