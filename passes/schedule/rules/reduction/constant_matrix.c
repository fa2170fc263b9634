/* SPDX-License-Identifier: Apache-2.0 */
/* Products with small constant matrices (as in Winograd convolutions): stages
 * that consist of written-out sums, one sum for each of a few points. An axis
 * selects the sum:
 *
 *   d[t, j, i, c] = select(i == 0, x[..] - x[..], select(i == 1, …))
 *
 * All stages of a tile t are computed together, for a block of channels c,
 * which are the lanes. The loops over points are unrolled; the loops over the
 * selecting axes are unrolled when the schedule is made:
 *
 *   for c_o, t:
 *     for j: unrolled
 *       d[0][j] = x[..] - x[..]
 *       d[1][j] = …
 *     …
 *
 * In the output, tiles are an axis, or several axes lie in tiles: s[…, oh % 4,
 * …]. */
#include "iterate.h"
#include "kernel_blocks.h"
#include "nest.h"

/* A block and, for each of its axes, the number of points of a tile that the
 * axis runs over: the axis's extent, or the tile's size; 0: it does not run
 * over points. */
struct stage {
	struct block_access x;
	int64_t points[MAX_AXES];
	/* the axis that lies in blocks, whose elements become the lanes; -1: no
	 * axis does */
	int lane;
};

/* The axis that is the index in dimension d of the stage's buffer; -1: the
 * index is no axis. */
static int
axis_of_dim(const struct stage *s, int d)
{
	return block_iter_of(s->x.info, s->x.block->children[0]->args[1 + d]);
}

/* If the index e is v or v % m, where v is an axis: returns v, and sets *points
 * to the number of points, which is the extent of v, or m. -1: e has another
 * form. */
static int
axis_of_index(const struct stage *s, const struct expr *e, int64_t *points)
{
	int axis;

	if (e->kind == EXPR_FLOORMOD && expr_is_int(e->args[1], points)) {
		return block_iter_of(s->x.info, e->args[0]);
	}
	axis = block_iter_of(s->x.info, e);
	return axis >= 0 && expr_is_int(s->x.info->iters[axis].extent, points)
		       ? axis
		       : -1;
}

/* Copies the points and the lane axis of an earlier stage, `made`, to the axes
 * with which the stage reads it. */
static void
adopt_axes(struct stage *s, const struct stage *made)
{
	for (int l = 0; l < s->x.n_loads; l++) {
		const struct expr *load = s->x.loads[l].load;

		if (load->u.buffer != made->x.out) {
			continue;
		}
		for (int d = 0; d < load->n_args; d++) {
			int from = axis_of_dim(made, d);
			int64_t points;
			int axis = axis_of_index(s, load->args[d], &points);

			if (from < 0 || axis < 0) {
				continue;
			}
			if (made->points[from] == points) {
				s->points[axis] = points;
			}
			if (from == made->lane) {
				s->lane = axis;
			}
		}
	}
}

static bool
read_stage(struct rules *r, int block, struct stage *stages, int n)
{
	struct stage *s = &stages[n];
	int selects = block_select_axis(func_find(r->s.func, block));

	if (!rules_access(r, block, &s->x) || s->x.n_reduce > 0) {
		return false;
	}
	s->lane = -1;
	if (selects >= 0) {
		expr_is_int(s->x.info->iters[selects].extent,
			    &s->points[selects]);
		s->lane = axis_of_dim(s, s->x.out->ndim - 1);
	}
	for (int i = 0; i < n; i++) {
		adopt_axes(s, &stages[i]);
	}
	return true;
}

/* The number of lanes: the size of the blocks in which some access has the lane
 * axis; 0: no access has it in blocks. */
static int64_t
find_block(const struct stage *stages, int n)
{
	int64_t c = 0;

	for (int i = 0; i < n; i++) {
		const struct block_access *x = &stages[i].x;
		int lane = stages[i].lane;

		for (int l = -1; l < x->n_loads && lane >= 0; l++) {
			const struct load_access *a = l < 0 ? &x->store
							    : &x->loads[l];

			if (a->use[lane] == AXIS_BLOCKED) {
				c = a->granularity[lane];
			}
		}
	}
	return c;
}

/* The smallest c > 1 for which e contains v % c; 0: e contains no v % c. */
static int64_t
least_modulus(const struct expr *e, const struct var *v)
{
	int64_t c, least = 0;

	for (struct expr_iter it = expr_each_of(e, EXPR_FLOORMOD);
	     (e = expr_next(&it));) {
		if (e->args[0] == v->expr && expr_is_int(e->args[1], &c) &&
		    c > 1 && (least == 0 || c < least)) {
			least = c;
		}
	}
	return least;
}

/* The number of tiles in a row, if the axis numbers the tiles of an image row
 * by row; 0: the number is not known. */
static int64_t
row_of_tiles(const struct stage *first, const struct stage *last, int axis)
{
	int64_t extent;

	for (int l = 0; l < last->x.n_loads; l++) {
		const struct expr *load = last->x.loads[l].load;

		for (int d = 0; d < load->n_args; d++) {
			int64_t length;
			int from;

			if (load->u.buffer != first->x.out ||
			    block_iter_of(last->x.info, load->args[d]) !=
				    axis) {
				continue;
			}
			from = axis_of_dim(first, d);
			if (from < 0) {
				return 0;
			}
			length = least_modulus(first->x.block->children[0]
						       ->args[0],
					       first->x.info->iters[from].var);
			if (length > 0 &&
			    expr_is_int(last->x.info->iters[axis].extent,
					&extent) &&
			    extent % length == 0 && extent > length) {
				return length;
			}
		}
	}
	return 0;
}

/* Orders the output's loops: tiles, then points, then lanes. *at: the innermost
 * loop over tiles. False after a failure. */
static bool
order_output(struct rules *r, int output, const struct stage *stages, int n,
	     int64_t lanes, int *at)
{
	const struct stage *s = &stages[n - 1];
	int loops[MAX_AXES], tiles[3 * MAX_AXES], points[MAX_AXES];
	int n_tiles = 0, n_points = 0, lane = 0;
	int selects = block_select_axis(s->x.block), select_loop = 0;

	if (!rules_axis_loops(r, output, loops, s->x.n_spatial)) {
		return false;
	}
	for (int i = 0; i < s->x.n_spatial; i++) {
		int64_t extent = 0, part = s->points[i], row;
		int parts[2];

		expr_is_int(s->x.info->iters[i].extent, &extent);
		part = i == s->lane ? lanes : part;
		row = part == 0 ? row_of_tiles(&stages[0], s, i) : 0;
		part = row > 0 ? row : part;
		if (loops[i] == 0) {
			continue;
		}
		parts[0] = 0;
		parts[1] = loops[i];
		if (part != 0 && part != extent &&
		    !sched_split(&r->s, loops[i], (int64_t[]){ 0, part }, 2,
				 parts)) {
			return false;
		}
		if (parts[0] != 0) {
			tiles[n_tiles++] = parts[0];
		}
		if (part != 0 && extent % part != 0) {
			/* The stores test the bound one by one: a loop
			 * partition would copy the whole body. */
			sched_annotate(&r->s, parts[0], "partition", sv_int(0));
		}
		if (i == s->lane) {
			lane = parts[1];
		} else if (i == selects) {
			select_loop = parts[1];
		} else if (s->points[i] != 0) {
			points[n_points++] = parts[1];
		} else {
			tiles[n_tiles++] = parts[1];
		}
	}
	if (n_tiles == 0 || lane == 0) {
		return false;
	}
	*at = tiles[n_tiles - 1];
	memcpy(tiles + n_tiles, points, sizeof *points * (size_t)n_points);
	n_tiles += n_points;
	if (select_loop != 0) {
		tiles[n_tiles++] = select_loop;
	}
	tiles[n_tiles++] = lane;
	if (!sched_reorder(&r->s, tiles, n_tiles) ||
	    !sched_vectorize(&r->s, lane)) {
		return false;
	}
	for (int i = 0; i < n_points; i++) {
		sched_unroll(&r->s, points[i]);
	}
	return select_loop == 0 ||
	       sched_annotate(&r->s, select_loop, "unroll_now", sv_int(1));
}

/* Orders the loops of a stage that is inside of the loop `at`: points, the
 * selecting axis, lanes. False after a failure. */
static bool
order_stage(struct rules *r, int block, const struct stage *s, int at)
{
	const struct stmt *b = func_find(r->s.func, block);
	int *loops, n, order[MAX_AXES + 2], count = 0, lane = 0,
					    select_loop = 0;
	bool below = false;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct var *v =
			func_find(r->s.func, loops[i])->u.loop.var;

		if (below && expr_uses_var(b->args[1 + s->lane], v)) {
			lane = loops[i];
		} else if (below &&
			   expr_uses_var(b->args[1 + block_select_axis(b)],
					 v)) {
			select_loop = loops[i];
		} else if (below) {
			order[count++] = loops[i];
			sched_unroll(&r->s, loops[i]);
		}
		below |= loops[i] == at;
	}
	if (lane == 0 || select_loop == 0) {
		return false;
	}
	order[count++] = select_loop;
	order[count++] = lane;
	return sched_reorder(&r->s, order, count) &&
	       sched_vectorize(&r->s, lane) &&
	       sched_annotate(&r->s, select_loop, "unroll_now", sv_int(1));
}

bool
rule_constant_matrix(struct rules *r, const struct kernel_blocks *k)
{
	const int *blocks = k->list;
	int n = k->n, output = k->output;
	struct stage *stages = arena_array(&r->module->arena, struct stage, n);
	int64_t lanes;
	int at;

	if (blocks[n - 1] != output) {
		return rules_no(r, "the last block is not the output");
	}
	for (int i = 0; i < n; i++) {
		if ((blocks[i] != output &&
		     block_select_axis(func_find(r->s.func, blocks[i])) < 0) ||
		    !read_stage(r, blocks[i], stages, i) ||
		    stages[i].lane < 0) {
			return rules_no(r,
					"block %s does not select one of a few "
					"sums",
					func_find(r->s.func, blocks[i])
						->u.block->name);
		}
	}
	lanes = find_block(stages, n);
	if (lanes < 2) {
		return rules_no(r, "the channels do not lie in blocks");
	}
	if (!order_output(r, output, stages, n, lanes, &at)) {
		return false;
	}
	for (int i = n - 2; i >= 0; i--) {
		if (!sched_compute_at(&r->s, blocks[i], at) ||
		    !sched_set_scope(&r->s, blocks[i], 0, "local") ||
		    !order_stage(r, blocks[i], &stages[i], at)) {
			return false;
		}
	}
	strbuf_printf(&r->words, "tiles of points  %d stages per %lld lanes", n,
		      (long long)lanes);
	return true;
}
