/* SPDX-License-Identifier: Apache-2.0 */
/* A window that slides over rows with a border: the rows that a row of results
 * reads are copied together with their border, so that no lane needs a test.
 *
 *   for c, h, w: p[c][h][w] = x[..] or 0     for c:
 *   for c, oh, ow:                     ->        for h, w: p[h][w] = x[..] or 0
 *     for kh, kw: y += p[..] * k                 for oh:
 *                                                  for kh, kw:
 *                                                    for ow: acc[ow] += p * k
 *                                                  for ow: y[c][oh][ow] = acc */
#include "border.h"
#include "decision.h"
#include "kernel_blocks.h"
#include "nest.h"
#include "register_tile.h"
#include "scope.h"
#include "window_lanes.h"

enum { MOST_VECTORS = 4 };

/* The number of lanes of a row: as many vectors, up to MOST_VECTORS, as divide
 * the columns; all columns if no number of vectors does; two vectors if the
 * number of columns is symbolic (0). */
static int64_t
lanes_of_row(int64_t columns, int64_t vector)
{
	if (columns == 0) {
		return 2 * vector;
	}
	for (int64_t n = MOST_VECTORS; n > 1; n--) {
		if (columns % (n * vector) == 0) {
			return n * vector;
		}
	}
	return columns % vector == 0 ? vector : columns;
}

/* Orders the loops: spatial, reduction, lanes; the lanes before the reduction
 * if the compiler vectorizes. *at: the innermost spatial loop outside of the
 * lanes. False after a failure. */
static bool
row_loops(struct rules *r, const struct block_access *x, int reduction,
	  int lane, int64_t vector, int64_t lanes, int *at, int *lane_loop)
{
	int loops[MAX_AXES], order[MAX_AXES + 2], n = 0, split[2];
	int64_t columns = tiling_extent(x, lane);
	struct candidates c = { 0 };

	*at = 0;
	if (!rules_axis_loops(r, reduction, loops, x->info->n_iters) ||
	    loops[lane] == 0) {
		return false;
	}
	split[0] = 0;
	split[1] = loops[lane];
	candidates_add_steps(r, &c, WINDOW_LEAST_LANES,
			     MOST_VECTORS * vector < x->most[lane]
				     ? MOST_VECTORS * vector
				     : x->most[lane] - 1,
			     vector, columns);
	if (columns != lanes &&
	    !rules_split(r, loops[lane], rules_decide(r, "lanes", &c, &lanes),
			 split)) {
		return false;
	}
	for (int i = 0; i < x->n_spatial; i++) {
		int loop = i == lane ? split[0] : loops[i];

		if (loop != 0) {
			*at = loop;
			order[n++] = loop;
		}
	}
	/* If vectorization is left to the compiler, the reduction loops are
	 * inside of the loop over lanes, so that compilers do not unroll the
	 * loop over lanes before they vectorize it. */
	if (r->target->complete_unroll > 0) {
		order[n++] = split[1];
	}
	for (int i = x->n_spatial; i < x->info->n_iters; i++) {
		if (loops[i] != 0) {
			order[n++] = loops[i];
		}
	}
	if (r->target->complete_unroll == 0) {
		order[n++] = split[1];
	}
	*lane_loop = split[1];
	return *at != 0 && sched_reorder(&r->s, order, n);
}

/* Because sizes are symbolic, can the rows that are copied at once, which are
 * those along the axes on which the window slides, exceed the second cache? */
static bool
exceeds_cache(struct rules *r, const struct buffer *made,
	      const struct block_access *x)
{
	double bytes = dtype_bytes(made->type);
	bool symbolic = false;

	for (int l = 0; l < x->n_loads; l++) {
		for (int i = 0; i < x->n_spatial; i++) {
			if (x->loads[l].load->u.buffer == made &&
			    x->loads[l].use[i] != AXIS_PLAIN) {
				bytes *= (double)x->most[i];
				symbolic |= tiling_extent(x, i) == 0;
			}
		}
	}
	return symbolic && bytes > (double)r->target->l2_bytes;
}

/* The innermost loop in which each element of the rows is copied only once: the
 * loop over the last axis before the axes along which the window slides. If the
 * rows copied there may exceed the second cache: the next loop inside of it, in
 * which rows are copied for each result. */
static int
loop_of_rows(struct rules *r, int rows, const struct block_access *x,
	     int reduction)
{
	const struct stmt *b = func_find(r->s.func, reduction);
	const struct buffer *made =
		func_find(r->s.func, rows)->u.block->writes[0].buffer;
	bool all = !exceeds_cache(r, made, x);
	int *loops, n, at = 0;

	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		int axis = rules_driven_iter(b, func_find(r->s.func, loops[i]));

		for (int l = 0; l < x->n_loads && axis >= 0; l++) {
			if (x->loads[l].load->u.buffer == made &&
			    x->loads[l].use[axis] != AXIS_PLAIN) {
				return all ? at : loops[i];
			}
		}
		at = loops[i];
	}
	return at;
}

/* Do several elements of another spatial axis, such as the channels of the
 * results, share the copied rows? */
static bool
shares_rows(const struct block_access *x, const struct buffer *made)
{
	for (int l = 0; l < x->n_loads; l++) {
		for (int i = 0; i < x->n_spatial; i++) {
			if (x->loads[l].load->u.buffer == made &&
			    x->loads[l].use[i] == AXIS_UNUSED &&
			    x->most[i] > 1) {
				return true;
			}
		}
	}
	return false;
}

bool
rule_padded_rows(struct rules *r, const struct kernel_blocks *k)
{
	struct block_access x;
	const struct buffer *acc;
	int rows = k->padded_copy, reduction = k->reduction, output = k->output;
	int lane, lane_loop, at, place, *loops, n;
	int64_t extent, lanes, vector;

	if (!rules_access(r, reduction, &x) || x.n_reduce == 0) {
		return rules_no(r, "the reduction's accesses are not plain");
	}
	if (r->target->complete_unroll > 0 &&
	    shares_rows(&x, func_find(r->s.func, rows)
				    ->u.block->writes[0]
				    .buffer)) {
		return rules_no(r, "several results share each copied row");
	}
	lane = window_find_lanes(r, &x);
	vector = r->target->vector_bytes / dtype_bytes(x.out->type);
	if (lane < 0) {
		return rules_no(r, "no axis is contiguous in the result and in "
				   "all operands");
	}
	extent = tiling_extent(&x, lane);
	if (vector < WINDOW_LEAST_LANES || extent % WINDOW_LEAST_LANES != 0) {
		return rules_no(r,
				"the contiguous axis has %lld elements, no "
				"multiple of %d, or the target no vectors",
				(long long)extent, WINDOW_LEAST_LANES);
	}
	if (!rules_same_axes(r, &x, output)) {
		return rules_no(r, "the epilogue reads the sums at other axes");
	}
	lanes = lanes_of_row(extent, vector);
	place = loop_of_rows(r, rows, &x, reduction);
	if (place == 0) {
		return rules_no(r, "no loop copies each element once");
	}
	if (!row_loops(r, &x, reduction, lane, vector, lanes, &at,
		       &lane_loop) ||
	    !sched_reverse_compute_at(&r->s, output, at) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &acc) ||
	    !sched_compute_at(&r->s, rows, place) ||
	    !sched_set_scope(&r->s, rows, 0, "local") ||
	    !sched_get_loops(&r->s, output, &loops, &n) || n == 0) {
		return false;
	}
	sched_vectorize(&r->s, loops[n - 1]);
	if (r->target->complete_unroll == 0) {
		sched_vectorize(&r->s, lane_loop);
	}
	border_split(r, rows, place);
	strbuf_printf(&r->words, "window over copied rows  %s_lanes %lld",
		      iter_axis_name(x.info->iters[lane].var->name),
		      (long long)lanes);
	/* The array of the sums has whole vectors; a row of the results need
	 * not. */
	return extent > 0 ||
	       tiling_overlap(r, output, at, x.info->iters[lane].var, -1, 1,
			      true);
}
