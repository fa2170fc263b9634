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
#include "edit.h"
#include "register_tile.h"

enum { SMALLEST = 4, LARGEST_STEP = 1, MOST_VECTORS = 4 };

struct tests {
	const struct var *lane;
	bool found;
};

static void
see_test(void *ctx, const struct expr *e)
{
	struct tests *t = ctx;

	t->found |= (e->kind == EXPR_IF || e->kind == EXPR_SELECT) &&
		    expr_uses_var(e->args[0], t->lane);
}

static bool
tests_lanes(const struct block_access *x, int lane)
{
	struct tests t = { x->info->iters[lane].var, false };

	expr_visit(x->block->children[0]->args[0], see_test, &t);
	return t.found;
}

/* Is the load contiguous in v: does v index its last dimension only, with step
 * 1, or no dimension? *is_indexed is set if v indexes it. */
static bool
is_contiguous_in(struct rules *r, const struct expr *load, struct var *v,
		 bool *is_indexed)
{
	struct analyser a;
	const struct expr *rest;
	int64_t step;

	analyser_init(&a, r->module);
	for (int d = 0; d < load->n_args; d++) {
		if (!expr_uses_var(load->args[d], v)) {
			continue;
		}
		if (d != load->n_args - 1 ||
		    !analyse_affine(&a, load->args[d], &v, 1, &step, &rest) ||
		    step < 1 || step > LARGEST_STEP) {
			return false;
		}
		*is_indexed = true;
	}
	return true;
}

/* The iter var that indexes the last dimension of the store; -1: its lanes
 * would not be contiguous. */
static int
find_lanes(struct rules *r, const struct block_access *x, int64_t *extent)
{
	const struct stmt *store = x->block->children[0];
	const struct expr *last = store->args[store->n_args - 1];
	bool is_indexed = false;
	int lane = -1;

	for (int i = 0; i < x->info->n_iters; i++) {
		if (store->n_args > 1 && last == x->info->iters[i].var->expr &&
		    x->info->iters[i].kind == ITER_SPATIAL) {
			lane = i;
		}
	}
	if (lane < 0 || !expr_is_int(x->info->iters[lane].extent, extent) ||
	    *extent < SMALLEST) {
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

/* All of a short axis; else a divisor between one vector and two; else one
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

/* Moves the loop inside of `at` that drives the lane axis innermost. */
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
rule_window(struct rules *r, int reduction, int output)
{
	struct block_access x;
	const struct buffer *acc;
	int loops[MAX_AXES], split[2] = { 0, 0 };
	int lane, lane_loop, at = 0;
	int64_t extent, lanes, vector;

	if (!rules_access(r, reduction, &x) || x.n_reduce == 0) {
		return false;
	}
	lane = find_lanes(r, &x, &extent);
	vector = r->target->vector_bytes / dtype_bytes(x.out->type);
	vector = vector < SMALLEST ? SMALLEST : vector;
	if (lane < 0 || extent < vector || tests_lanes(&x, lane) ||
	    (output != reduction && !rules_same_axes(r, &x, output))) {
		return false;
	}
	if (!rules_separate_accumulator(r, &x, reduction, &output)) {
		return false;
	}
	rules_name_loops(r, &x, output);
	if (!rules_axis_loops(r, output, loops) || loops[lane] == 0) {
		return false;
	}
	lanes = choose_lanes(extent, vector);
	split[1] = loops[lane];
	if (lanes != extent &&
	    !sched_split(&r->s, loops[lane], (int64_t[]){ 0, lanes }, 2,
			 split)) {
		return false;
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
			      extent % lanes,
			      tiling_lanes_time(r, x.out->type, extent, lanes));
}

/* The largest number of vectors, up to MOST_VECTORS, that divides the
 * columns. */
static int64_t
lanes_of_row(int64_t columns, int64_t vector)
{
	for (int64_t n = MOST_VECTORS; n > 1; n--) {
		if (columns % (n * vector) == 0) {
			return n * vector;
		}
	}
	return columns % vector == 0 ? vector : columns;
}

/* Orders the loops of the reduction: spatial loops with the lanes innermost,
 * then reduction loops. *at: the innermost spatial loop outside of the
 * lanes. */
static bool
row_loops(struct rules *r, const struct block_access *x, int reduction,
	  int lane, int64_t lanes, int *at, int *lane_loop)
{
	int loops[MAX_AXES], order[MAX_AXES + 2], n = 0, split[2];

	*at = 0;
	if (!rules_axis_loops(r, reduction, loops) || loops[lane] == 0) {
		return false;
	}
	split[0] = 0;
	split[1] = loops[lane];
	if (tiling_extent(x, lane) != lanes &&
	    !sched_split(&r->s, loops[lane], (int64_t[]){ 0, lanes }, 2,
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
	/* If vectorization is left to the compiler, reduction loops are inside
	 * of the lane loop, so that it is not unrolled before it is
	 * vectorized. */
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

/* The innermost loop in which each element of the rows is copied once: that of
 * the last axis before those along which the window slides. */
static int
loop_of_rows(struct rules *r, int rows, const struct block_access *x,
	     int reduction)
{
	const struct stmt *b = func_find(r->s.func, reduction);
	const struct buffer *made =
		func_find(r->s.func, rows)->u.block->writes[0].buffer;
	int *loops, n, at = 0;

	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		int axis = rules_driven_iter(b, func_find(r->s.func, loops[i]));

		for (int l = 0; l < x->n_loads && axis >= 0; l++) {
			if (x->loads[l].load->u.buffer == made &&
			    x->loads[l].use[axis] != AXIS_PLAIN) {
				return at;
			}
		}
		at = loops[i];
	}
	return at;
}

/* Splits off what fills the border, so that the rest is copied without
 * conditions. */
static void
split_border(struct rules *r, int rows, int place)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, rows, &loops, &n)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (loops[i] == place && i + 1 < n) {
			struct sched_value args[2] = { sv_block(rows),
						       sv_loop(loops[i + 1]) };

			sched_apply(&r->s, "decompose_padding", args, 2, NULL);
			return;
		}
	}
}

bool
rule_padded_rows(struct rules *r, int rows, int reduction, int output)
{
	struct block_access x;
	const struct buffer *acc;
	int lane, lane_loop, at, place, *loops, n;
	int64_t extent, lanes, vector;

	if (!rules_access(r, reduction, &x) || x.n_reduce == 0) {
		return false;
	}
	lane = find_lanes(r, &x, &extent);
	vector = r->target->vector_bytes / dtype_bytes(x.out->type);
	if (lane < 0 || vector < SMALLEST || extent % SMALLEST != 0 ||
	    !rules_same_axes(r, &x, output)) {
		return false;
	}
	lanes = lanes_of_row(extent, vector);
	place = loop_of_rows(r, rows, &x, reduction);
	if (place == 0 ||
	    !row_loops(r, &x, reduction, lane, lanes, &at, &lane_loop) ||
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
	split_border(r, rows, place);
	strbuf_printf(&r->words, "window over copied rows  %s_lanes %lld",
		      iter_axis_name(x.info->iters[lane].var->name),
		      (long long)lanes);
	return true;
}

/* How the copy is read along an axis of the results. */
static enum axis_use
use_of_rows(const struct rules *r, const struct block_access *x, int axis)
{
	for (int l = 0; l < x->n_loads && axis >= 0; l++) {
		if (x->loads[l].load->u.buffer == r->bordered) {
			return x->loads[l].use[axis];
		}
	}
	return AXIS_UNUSED;
}

/* Does a window slide along the axis? */
static bool
slides(const struct rules *r, const struct block_access *x, int axis)
{
	enum axis_use use = use_of_rows(r, x, axis);

	return use != AXIS_UNUSED && use != AXIS_PLAIN && use != AXIS_BLOCKED &&
	       !expr_is_value(x->info->iters[axis].extent, 1);
}

/* The loop in which rows are copied: the last one over channels of their own,
 * else that over the rows of the results. */
static int
place_of_border(struct rules *r, const struct block_access *x, int output)
{
	const struct stmt *b = func_find(r->s.func, output);
	int *loops, n, plain = 0;

	if (!sched_get_loops(&r->s, output, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		enum axis_use use = use_of_rows(r, x,
						rules_driven_iter(b, loop));

		if (use == AXIS_UNUSED || expr_is_value(loop->args[1], 1)) {
			continue;
		}
		if (use != AXIS_PLAIN && use != AXIS_BLOCKED) {
			return plain != 0 ? plain : loops[i];
		}
		plain = loops[i];
	}
	return 0;
}

void
rules_order_axes(const struct rules *r, const struct block_access *x, int *axes)
{
	int n = 0, first = 0;

	while (first < x->n_spatial && !slides(r, x, first)) {
		first++;
	}
	for (int i = 0; i < 2 * x->n_spatial; i++) {
		int axis = i % x->n_spatial;
		bool later = first < x->n_spatial &&
			     (axis > first ||
			      (axis < first &&
			       use_of_rows(r, x, axis) == AXIS_UNUSED));

		if (later == (i >= x->n_spatial)) {
			axes[n++] = axis;
		}
	}
}

bool
rule_bordered_product(struct rules *r, int rows, int reduction, int output)
{
	struct block_access x;
	bool tiled;
	int place;

	if (!r->target->copied_borders || !rules_access(r, reduction, &x) ||
	    !rules_same_axes(r, &x, output)) {
		return false;
	}
	r->bordered = func_find(r->s.func, rows)->u.block->writes[0].buffer;
	tiled = rule_matmul(r, reduction, output);
	place = tiled ? place_of_border(r, &x, output) : 0;
	r->bordered = NULL;
	if (place == 0 || !sched_compute_at(&r->s, rows, place) ||
	    !sched_set_scope(&r->s, rows, 0, "local")) {
		return false;
	}
	split_border(r, rows, place);
	strbuf_puts(&r->words, ", copied border");
	return true;
}
