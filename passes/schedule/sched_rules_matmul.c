/* SPDX-License-Identifier: Apache-2.0 */
/* Register tiles for matmul- and convolution-like reductions.
 *
 * One operand has an axis that no other operand has (output channels,
 * columns): it becomes the lanes, innermost and contiguous; a constant operand
 * is stored with the lanes last. Another axis, absent from that operand
 * (pixels, rows), becomes the tile, so that each element loaded is used for
 * every lane and each vector of lanes for every element of the tile:
 *
 *   for oc, oh, ow:                for oc_0, oh, ow_0:
 *     for ic, kh, kw:                acc[ow_1][oc_1] = 0
 *       y += x * w           ->      for ic, kh, kw:
 *                                      for ow_1, oc_1: acc += x * w
 *                                    for ow_1, oc_1: y = acc
 */
#include <stdlib.h>

#include "sched_edit.h"
#include "sched_rules.h"

struct tiling {
	struct block_access x;
	int lane, tile;         /* iter vars of the reduction; tile -1: none */
	struct load_access *operand; /* the one with the lane axis */
	int64_t lanes, tiles;
	int64_t granularity;    /* lanes must divide it; 0: free */
};

/* The axis's extent if constant, else 0. */
static int64_t
extent_of(const struct block_access *x, int iter)
{
	int64_t v;

	return expr_is_int(x->info->iters[iter].extent, &v) ? v : 0;
}

/* Is iter used by operand alone, but for other constants (scales)? Granular
 * uses elsewhere are allowed, since the lanes then stay within one run. */
static bool
exclusive_to(const struct block_access *x, int iter,
	     const struct load_access *operand, int64_t *granularity)
{
	*granularity = 0;
	for (int l = 0; l < x->n_loads; l++) {
		const struct load_access *a = &x->loads[l];

		if (a == operand || a->use[iter] == AXIS_UNUSED ||
		    (operand->weight != NULL && a->weight != NULL &&
		     a->use[iter] == AXIS_PLAIN)) {
			continue;
		}
		if (a->use[iter] != AXIS_GRANULAR) {
			return false;
		}
		*granularity = a->granularity[iter];
	}
	return operand->use[iter] == AXIS_PLAIN;
}

static int
score(const struct block_access *x, const struct load_access *a, int iter)
{
	int s = iter; /* later axes are likelier to be contiguous */

	(void)x;
	if (a->weight != NULL) {
		s += 1000;
	}
	if (a->dim[iter] == a->load->n_args - 1) {
		s += 100;
	}
	return s;
}

static bool
reads_reduce_axis(const struct block_access *x, const struct load_access *a)
{
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind == ITER_REDUCE &&
		    a->use[i] != AXIS_UNUSED) {
			return true;
		}
	}
	return false;
}

static bool
find_lane(struct tiling *t)
{
	struct block_access *x = &t->x;
	int best = -1;

	for (int l = 0; l < x->n_loads; l++) {
		struct load_access *a = &x->loads[l];

		if (!reads_reduce_axis(x, a)) {
			continue;
		}
		for (int i = 0; i < x->info->n_iters; i++) {
			int64_t granularity;

			if (x->info->iters[i].kind != ITER_SPATIAL ||
			    extent_of(x, i) < 2 ||
			    !exclusive_to(x, i, a, &granularity) ||
			    score(x, a, i) <= best) {
				continue;
			}
			best = score(x, a, i);
			t->lane = i;
			t->operand = a;
			t->granularity = granularity;
		}
	}
	return best >= 0;
}

static void
find_tile(struct tiling *t)
{
	struct block_access *x = &t->x;

	t->tile = -1;
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind == ITER_SPATIAL && i != t->lane &&
		    t->operand->use[i] == AXIS_UNUSED && extent_of(x, i) > 1) {
			t->tile = i;
		}
	}
}

/* The number of lanes: whole vectors that divide the axis if there are such,
 * the whole axis if it is short, else vectors with a padded end. */
static int64_t
choose_lanes(int64_t extent, int64_t vector, int64_t granularity)
{
	int64_t limit = granularity > 0 ? granularity : extent;
	int64_t best = 0;

	for (int64_t d = 1; d <= limit && d <= 4 * vector; d++) {
		if (limit % d == 0 && extent % d == 0 &&
		    (d % vector == 0 || best == 0 || best % vector != 0)) {
			best = d;
		}
	}
	if (best % vector == 0 || best == extent || granularity > 0 ||
	    best * 2 >= vector) {
		return best;
	}
	return extent < vector ? extent : vector;
}

/* As many rows as the registers hold, least waste first. */
static int64_t
choose_tiles(int64_t extent, int64_t most)
{
	int64_t best = 1, best_waste = INT64_MAX;

	if (most > extent) {
		most = extent;
	}
	for (int64_t d = most; d >= 1 && d * 3 >= most; d--) {
		int64_t blocks = (extent + d - 1) / d;
		int64_t waste = blocks * d - extent;

		/* A row of waste must save more than a smaller tile does, and
		 * a rest means a second copy of the loops. */
		waste = waste * 8 + (most - d) * blocks +
			(waste > 0 ? extent / 2 : 0);
		if (waste < best_waste) {
			best = d;
			best_waste = waste;
		}
	}
	return best;
}

static void
choose_sizes(struct rules *r, struct tiling *t)
{
	int bytes = dtype_bytes(t->x.out->type);
	int64_t vector = r->target->vector_bytes / bytes;
	int64_t registers = r->target->vector_registers;
	int64_t extent = extent_of(&t->x, t->lane);
	int64_t per_row;

	if (vector < 4) {
		vector = 4;
	}
	t->lanes = choose_lanes(extent, vector, t->granularity);
	t->tiles = 1;
	per_row = (t->lanes + vector - 1) / vector;
	if (t->tile >= 0) {
		int64_t most = (registers * 7 / 8) / per_row;

		t->tiles = choose_tiles(extent_of(&t->x, t->tile),
					most < 1 ? 1 : most);
	}
}

/* Every index as it is; room for n_physical of them. */
static struct index_map *
index_map_new(struct module *m, int n, int n_physical)
{
	struct index_map *map = arena_new(&m->arena, struct index_map);

	map->n_logical = n;
	map->n_physical = n_physical;
	map->logical = arena_array(&m->arena, struct var *, n);
	map->to_physical = arena_array(&m->arena, const struct expr *,
				       n_physical);
	for (int i = 0; i < n; i++) {
		map->logical[i] = var_new(m, "l", dtype_of(DT_I32));
		map->to_physical[i] = map->logical[i]->expr;
	}
	return map;
}

/* [..][d][..] -> [..][d / lanes][..][lanes]: the lanes last. */
static const struct index_map *
lanes_last(struct rules *r, const struct buffer *b, int d, int64_t lanes)
{
	struct module *m = r->module;
	struct index_map *map = index_map_new(m, b->ndim, b->ndim + 1);
	const struct expr *l = map->logical[d]->expr;
	int64_t extent;

	if (!expr_is_int(b->shape[d], &extent)) {
		return NULL;
	}
	map->to_physical[d] = expr_floordiv(m, l, expr_i32(m, lanes));
	map->to_physical[b->ndim] = expr_floormod(m, l, expr_i32(m, lanes));
	return map;
}

/* Stores a constant with the lanes last, unless it is so already. */
static bool
pack_operand(struct rules *r, const struct tiling *t,
	     const struct load_access *operand)
{
	const struct buffer *b = operand->load->u.buffer;
	int d = operand->dim[t->lane], index = 0;
	const struct index_map *map;

	if (operand->weight == NULL || operand->use[t->lane] != AXIS_PLAIN ||
	    d == b->ndim - 1) {
		return true;
	}
	map = lanes_last(r, b, d, t->lanes);
	while (t->x.block->u.block->reads[index].buffer != b) {
		index++;
	}
	if (map == NULL ||
	    !sched_transform_layout(&r->s, t->x.block->id, false, index,
				    map)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s packed by %lld", b->name,
		      (long long)t->lanes);
	return true;
}

static bool
pack_operands(struct rules *r, const struct tiling *t)
{
	for (int l = 0; l < t->x.n_loads; l++) {
		if (!pack_operand(r, t, &t->x.loads[l])) {
			return false;
		}
	}
	return true;
}

/* The accumulators as [..][lanes], so that a row of lanes is a vector. */
static bool
accumulator_lanes_last(struct rules *r, const struct tiling *t)
{
	const struct buffer *b = t->x.out;
	int n = b->ndim, to = 0;
	struct index_map *map = index_map_new(r->module, n, n);

	for (int i = 0; i < n; i++) {
		int at = i == t->lane ? n - 1 : to++;

		map->to_physical[at] = map->logical[i]->expr;
	}
	return t->lane == n - 1 ||
	       sched_transform_layout(&r->s, t->x.block->id, true, 0, map);
}

/* Loops of the reduction below the tile's loop, sorted into reduce loops and
 * the loops of tile and lane by the iter var that their variable drives. */
static bool
order_reduction(struct rules *r, const struct tiling *t, int reduction,
		int below, int *tile_loop, int *lane_loop)
{
	int *loops, n;
	struct stmt *block = func_find(r->s.func, reduction);
	const struct block *info = block->u.block;
	int order[2 * MAX_AXES], n_order = 0;
	bool inside = below == 0;

	*tile_loop = *lane_loop = 0;
	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int drives = -1;

		if (!inside) {
			inside = loops[i] == below;
			continue;
		}

		for (int k = 0; k < info->n_iters; k++) {
			if (expr_uses_var(block->args[1 + k],
					  loop->u.loop.var)) {
				drives = k;
			}
		}
		if (drives == t->lane) {
			*lane_loop = loops[i];
		} else if (drives == t->tile && t->tile >= 0) {
			*tile_loop = loops[i];
		} else if (n_order < 2 * MAX_AXES - 2) {
			order[n_order++] = loops[i];
		}
	}
	if (*tile_loop != 0) {
		order[n_order++] = *tile_loop;
	}
	if (*lane_loop != 0) {
		order[n_order++] = *lane_loop;
	}
	return n_order < 2 || sched_reorder(&r->s, order, n_order);
}

/* Outer and inner loop of an axis; no outer one where the tile is all. */
static bool
split_axis(struct rules *r, const struct tiling *t, int axis, int64_t size,
	   const int *loops, int *split)
{
	const int64_t factors[2] = { 0, size };

	split[0] = 0;
	split[1] = loops[axis];
	return extent_of(&t->x, axis) == size ||
	       sched_split(&r->s, loops[axis], factors, 2, split);
}

static void
put_tile(struct rules *r, const char *before, const struct var *v,
	 int64_t size)
{
	strbuf_printf(&r->words, "%s %s_tile %lld", before,
		      iter_axis_name(v->name), (long long)size);
}

bool
rule_matmul(struct rules *r, int reduction, int output)
{
	struct tiling t;
	int loops[MAX_AXES], order[2 * MAX_AXES], n = 0, at = 0;
	int lane_split[2], tile_split[2] = { 0, 0 };
	int tile_loop, lane_loop;

	if (!rules_access(r, reduction, &t.x) || t.x.n_loads < 2 ||
	    !find_lane(&t)) {
		return false;
	}
	find_tile(&t);
	choose_sizes(r, &t);
	if (t.lanes < 2 ||
	    (output != reduction && !rules_same_axes(r, &t.x, output))) {
		return false;
	}
	put_tile(r, "tiled ", t.x.info->iters[t.lane].var, t.lanes);
	if (t.tiles > 1) {
		put_tile(r, ",", t.x.info->iters[t.tile].var, t.tiles);
	}
	if (!pack_operands(r, &t)) {
		return false;
	}
	if (output == reduction &&
	    (!sched_cache_write(&r->s, reduction, 0, "local", &output) ||
	     !sched_rename_buffer(&r->s, reduction, 0, "acc"))) {
		return false;
	}
	rules_name_loops(r, &t.x, output);
	if (!rules_axis_loops(r, output, loops)) {
		return false;
	}
	if (!split_axis(r, &t, t.lane, t.lanes, loops, lane_split) ||
	    (t.tiles > 1 &&
	     !split_axis(r, &t, t.tile, t.tiles, loops, tile_split))) {
		return false;
	}
	for (int i = 0; i < t.x.n_spatial; i++) {
		int loop = i == t.lane ? lane_split[0]
			 : i == t.tile && t.tiles > 1 ? tile_split[0]
			 : loops[i];

		if (loop != 0) {
			at = loop;
			order[n++] = loop;
		}
	}
	if (t.tiles > 1) {
		order[n++] = tile_split[1];
	}
	order[n++] = lane_split[1];
	if (!sched_reorder(&r->s, order, n) ||
	    (at != 0 && !sched_compute_at(&r->s, reduction, at)) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &t.x.out) ||
	    !accumulator_lanes_last(r, &t) ||
	    !order_reduction(r, &t, reduction, at, &tile_loop, &lane_loop)) {
		return false;
	}
	sched_vectorize(&r->s, lane_split[1]);
	if (tile_split[1] != 0) {
		sched_unroll(&r->s, tile_split[1]);
	}
	if (lane_loop != 0) {
		sched_vectorize(&r->s, lane_loop);
	}
	if (tile_loop != 0) {
		sched_unroll(&r->s, tile_loop);
	}
	return true;
}
