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
 *
 * Where no operand has such an axis (depthwise convolutions, pools), but all
 * have one in blocks that lie together, a block is the lanes.
 *
 * Several vectors of lanes are an axis of their own, so that the last one is
 * a vector: acc[ow_1][oc_c][oc_v]. An axis that is summed over and lies in
 * blocks is walked block by block, its rest inside of the other sums.
 *
 * Where a picture is small and the constants of a block of lanes are large, the
 * sums go part by part, so that each part of the constants is used for the
 * whole picture while it is near:
 *
 *   for oc_0:                              sum[oh][ow][oc_1] = 0
 *     for ic_0, oh:                        acc[ow][oc_1] = 0
 *       for ic_1, kh, kw, ow, oc_1:        acc += x * w
 *       for ow, oc_1:                      sum += acc */
#include <stdlib.h>
#include <string.h>

#include "sched_edit.h"
#include "sched_rules.h"

/* With more uses of what is loaded, loading it is a small part. */
enum { MOST_USES = 1024, LEAST_PARTS = 16 };

struct tiling {
	struct block_access x;
	int lane, tile;         /* iter vars of the reduction; tile -1: none */
	struct load_access *operand; /* the one with the lane axis, or NULL:
				      * all have it, in blocks */
	int64_t lanes, tiles;
	int64_t granularity;    /* lanes must divide it; 0: free */
	int64_t tile_granularity; /* so must the tile */
	int64_t vector;         /* lanes are several of these; 0: not split */
	int64_t out_block;      /* by which the result has them; 0: it has not */
	int part;               /* an iter var that walks through a part of an
				 * axis that lies in blocks; -1: none */
	int64_t part_block;     /* of these */
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

/* constants: may the lanes be an axis of one? */
static bool
find_lane(struct tiling *t, bool constants)
{
	struct block_access *x = &t->x;
	int best = -1;

	for (int l = 0; l < x->n_loads; l++) {
		struct load_access *a = &x->loads[l];

		if (!reads_reduce_axis(x, a) ||
		    (a->weight != NULL && !constants)) {
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

/* An axis that lies in blocks wherever it appears. */
static bool
find_blocked_lane(struct tiling *t)
{
	const struct block_access *x = &t->x;

	t->operand = NULL;
	t->granularity = 0;
	for (int i = 0; i < x->n_spatial; i++) {
		t->lanes = rules_blocked_by(x, i, false);
		if (t->lanes > 1) {
			t->lane = i;
			return true;
		}
	}
	return false;
}

static void
find_tile(struct tiling *t)
{
	struct block_access *x = &t->x;

	t->tile = -1;
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind != ITER_SPATIAL || i == t->lane ||
		    extent_of(x, i) < 2) {
			continue;
		}
		if (t->operand == NULL ||
		    t->operand->use[i] == AXIS_UNUSED) {
			t->tile = i;
			t->tile_granularity = 0;
		} else if (t->operand->use[i] == AXIS_GRANULAR &&
			   t->operand->granularity[i] > 1) {
			t->tile = i;
			t->tile_granularity = t->operand->granularity[i];
		}
	}
}

/* The number of lanes: whole vectors that divide the axis if there are such,
 * the whole axis if it is short, else vectors with a padded end. */
static int64_t
choose_lanes(int64_t extent, int64_t vector, int64_t most, int64_t granularity)
{
	int64_t limit = granularity > 0 ? granularity : extent;
	int64_t best = 0;

	for (int64_t d = 1; d <= limit && d <= most; d++) {
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

/* As many rows as the registers hold, least waste first; all in one run. */
static int64_t
choose_tiles(int64_t extent, int64_t most, int64_t granularity)
{
	int64_t best = 1, best_waste = INT64_MAX;

	if (granularity > 0) {
		for (int64_t d = 1; d <= most; d++) {
			best = granularity % d == 0 ? d : best;
		}
		return best;
	}

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

/* Cycles of one step of the reduction, for vectors times rows accumulators:
 * two products or two loads in each, sums that come four cycles later, and the
 * loop itself. */
static double
step_cycles(int64_t vectors, int64_t rows)
{
	double work = (double)(vectors * rows) / 2;
	double loads = (double)(vectors + rows) / 2;

	work = work < loads ? loads : work;
	return (work < 4 ? 4 : work) + 1;
}

/* Takes fewer lanes where then more rows fit: accumulators, a row of the lanes'
 * operand and one element of the other are to stay in registers. */
static void
fit_registers(struct rules *r, struct tiling *t, int64_t vector)
{
	int64_t registers = r->target->vector_registers;
	int64_t rows = t->tile >= 0 ? extent_of(&t->x, t->tile) : 1;
	int64_t all = t->lanes / vector;
	double best = 0;

	for (int64_t n = all; n >= 1; n--) {
		int64_t most = (registers - 1 - n) / n;
		int64_t tiles, blocks;
		double cycles;

		if (all % n != 0 || most < 1) {
			continue;
		}
		tiles = t->tile < 0 ? 1 : choose_tiles(rows, most,
						       t->tile_granularity);
		blocks = (rows + tiles - 1) / tiles;
		cycles = (double)blocks * step_cycles(n, tiles) / (double)n;
		if (best == 0 || cycles < best) {
			best = cycles;
			t->lanes = n * vector;
			t->tiles = tiles;
		}
	}
}

static void
choose_sizes(struct rules *r, struct tiling *t)
{
	int bytes = dtype_bytes(t->x.out->type);
	int64_t vector = r->target->vector_bytes / bytes;
	int64_t registers = r->target->vector_registers;
	int64_t extent = extent_of(&t->x, t->lane);
	int64_t per_row, most;
	bool states_vectors;

	if (vector < 4) {
		vector = 4;
	}
	most = 4 * vector;
	if (r->target->block_elems > 0 && t->out_block > 0 &&
	    t->out_block < vector) {
		vector = t->out_block;
	}
	if (t->operand != NULL) {
		t->lanes = choose_lanes(extent, vector, most, t->granularity);
		if (t->operand->weight == NULL && t->granularity == 0 &&
		    t->lanes % vector != 0 && extent > vector) {
			t->lanes = vector; /* and a rest */
		}
	}
	states_vectors = r->target->vectors != NULL &&
			 r->target->vectors[0] != '\0' &&
			 t->operand != NULL && t->lanes % vector == 0;
	if (states_vectors) {
		fit_registers(r, t, vector);
	}
	t->vector = 0;
	if (r->target->block_elems > 0 && t->lanes > vector &&
	    t->lanes % vector == 0 && extent % vector == 0) {
		t->vector = vector;
	}
	if (states_vectors) {
		return;
	}
	t->tiles = 1;
	per_row = (t->lanes + vector - 1) / vector;
	if (t->tile >= 0) {
		most = (registers * 7 / 8) / per_row;
		/* Nothing is used twice: enough to hide what an add takes. */
		if (t->operand == NULL) {
			most = registers / 4;
		}

		t->tiles = choose_tiles(extent_of(&t->x, t->tile),
					most < 1 ? 1 : most,
					t->tile_granularity);
	}
}

static const struct expr *
quotient(struct module *m, const struct expr *e, int64_t c)
{
	return expr_floordiv(m, e, expr_i32(m, c));
}

static const struct expr *
rest(struct module *m, const struct expr *e, int64_t c)
{
	return expr_floormod(m, e, expr_i32(m, c));
}

/* The lanes of l, as whole vectors if there are several. */
static void
put_lanes(struct module *m, const struct tiling *t, struct index_map *map,
	  const struct expr *l)
{
	if (t->vector > 0) {
		rules_map_put(map, quotient(m, l, t->vector));
		l = rest(m, l, t->vector);
	}
	rules_map_put(map, l);
}

/* By how many an axis that is summed over is blocked; 0: it is not. */
static int64_t
block_of(const struct tiling *t, int iter)
{
	if (iter == t->part) {
		return t->part_block;
	}
	return t->x.info->iters[iter].kind == ITER_REDUCE
		? rules_blocked_by(&t->x, iter, false) : 0;
}

/* [..][d][..] -> [..][d / lanes][..][lanes]: the lanes last, and before them
 * what is left of axes that others have in blocks. */
static const struct index_map *
lanes_last(struct rules *r, const struct tiling *t,
	   const struct load_access *operand)
{
	struct module *m = r->module;
	const struct buffer *b = operand->load->u.buffer;
	struct index_map *map = rules_map_new(m, b->ndim, 2 * b->ndim + 2);
	int lane = operand->dim[t->lane];
	const struct expr *l = map->logical[lane]->expr;
	int64_t *block = arena_array(&m->arena, int64_t, b->ndim + 1);
	int64_t extent;

	if (!expr_is_int(b->shape[lane], &extent)) {
		return NULL;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int d = operand->dim[i];

		if (d >= 0 && block_of(t, i) > 0) {
			block[d] = block_of(t, i);
		}
	}
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = map->logical[d]->expr;

		rules_map_put(map, d == lane ? quotient(m, i, t->lanes)
			     : block[d] > 0 ? quotient(m, i, block[d]) : i);
	}
	for (int d = 0; d < b->ndim; d++) {
		if (block[d] > 0) {
			rules_map_put(map, rest(m, map->logical[d]->expr,
					    block[d]));
		}
	}
	put_lanes(m, t, map, rest(m, l, t->lanes));
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
	map = lanes_last(r, t, operand);
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
	int n = b->ndim;
	struct index_map *map = rules_map_new(r->module, n, n + 1);

	for (int i = 0; i < n; i++) {
		if (i != t->lane) {
			rules_map_put(map, map->logical[i]->expr);
		}
	}
	put_lanes(r->module, t, map, map->logical[t->lane]->expr);
	return (t->lane == n - 1 && t->vector == 0) ||
	       sched_transform_layout(&r->s, t->x.block->id, true, 0, map);
}

/* The lanes' loop as one over vectors and one over the lanes of a vector;
 * vectors is 0 where there is one. */
static bool
split_vectors(struct rules *r, const struct tiling *t, int *vectors,
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

/* The loops of a tile, outermost first; 0 where there is none. */
struct tile_loops {
	int tile, vectors, lanes;
};

/* The iter var that the loop drives, -1 if none. */
static int
driven_by(const struct stmt *block, const struct stmt *loop)
{
	int drives = -1;

	for (int k = 0; k < block->u.block->n_iters; k++) {
		if (expr_uses_var(block->args[1 + k], loop->u.loop.var)) {
			drives = k;
		}
	}
	return drives;
}

/* Loops of the reduction below the tile's loop: those that sum, then their
 * parts within blocks, then the tile and the lanes. */
static bool
order_reduction(struct rules *r, const struct tiling *t, int reduction,
		int below, struct tile_loops *tile)
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
		drives = driven_by(block, loop);
		c = drives >= 0 ? block_of(t, drives) : 0;
		if (drives == t->lane) {
			tile->lanes = loops[i];
		} else if (drives == t->tile && t->tile >= 0) {
			tile->tile = loops[i];
		} else if (n_order + n_inner >= 2 * MAX_AXES - 3) {
			return false;
		} else if (c == 0) {
			order[n_order++] = loops[i];
		} else if (extent_of(&t->x, drives) == c) {
			inner[n_inner++] = loops[i];
		} else {
			if (!sched_split(&r->s, loops[i],
					 (int64_t[]){ 0, c }, 2, parts)) {
				return false;
			}
			order[n_order++] = parts[0];
			inner[n_inner++] = parts[1];
		}
	}
	if (!split_vectors(r, t, &tile->vectors, &tile->lanes)) {
		return false;
	}
	for (int i = 0; i < n_inner; i++) {
		order[n_order++] = inner[i];
	}
	for (int i = 0; i < 3; i++) {
		int loop = i == 0 ? tile->tile
			 : i == 1 ? tile->vectors : tile->lanes;

		if (loop != 0) {
			order[n_order++] = loop;
		}
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

static void
finish_tile(struct rules *r, const struct tile_loops *tile)
{
	if (tile->lanes != 0) {
		sched_vectorize(&r->s, tile->lanes);
	}
	if (tile->vectors != 0) {
		sched_unroll(&r->s, tile->vectors);
	}
	if (tile->tile != 0) {
		sched_unroll(&r->s, tile->tile);
	}
}

/* The lanes of the best operand; where they would fill no vectors, those of
 * the pixels of a picture, if they lie in one row. */
static bool
find_operand(struct rules *r, struct tiling *t, int reduction, int *output)
{
	int64_t vector = r->target->vector_bytes / dtype_bytes(t->x.out->type);
	struct sched_mark mark = sched_checkpoint(&r->s);
	struct tiling fused = { .tile = -1, .part = -1 };
	int first_output = *output;

	if (t->x.n_loads < 2 || !find_lane(t, true)) {
		return false;
	}
	if (vector < 2 || choose_lanes(extent_of(&t->x, t->lane), vector,
				       4 * vector, t->granularity) %
				  vector == 0) {
		return true;
	}
	if (rules_fuse_pixels(r, &t->x, reduction, output) &&
	    rules_access(r, reduction, &fused.x) && find_lane(&fused, false) &&
	    fused.operand->dim[fused.lane] ==
		    fused.operand->load->n_args - 1 &&
	    extent_of(&fused.x, fused.lane) >= 2 * vector) {
		*t = fused;
		return true;
	}
	sched_rollback(&r->s, mark);
	*output = first_output;
	return rules_access(r, reduction, &t->x) && find_lane(t, true);
}

/* By how many the output has the lanes' axis in blocks. */
static int64_t
output_block(struct rules *r, int output, int lane)
{
	struct block_access e;

	return rules_access(r, output, &e) && lane < e.n_spatial &&
			       e.store.use[lane] == AXIS_BLOCKED
		       ? e.store.granularity[lane] : 0;
}

/* All that the reduction sums over, and all that its lanes are used with. */
static void
count_points(const struct tiling *t, int64_t *sums, int64_t *uses)
{
	*sums = *uses = 1;
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			*sums *= extent_of(&t->x, i);
		} else if (i != t->lane && t->operand->use[i] == AXIS_UNUSED) {
			*uses *= extent_of(&t->x, i);
		}
	}
}

/* The constants of one block of lanes come from memory once, and then from the
 * second cache. With few uses of each, the first takes as long as all of the
 * others: it is asked for ahead of time. */
static bool
is_far(const struct rules *r, const struct tiling *t)
{
	int64_t sums, uses;

	if (r->target->prefetch_bytes == 0 || t->operand == NULL ||
	    t->operand->weight == NULL ||
	    extent_of(&t->x, t->lane) == t->lanes) {
		return false;
	}
	count_points(t, &sums, &uses);
	return sums * t->lanes * dtype_bytes(t->operand->load->type) >=
		       r->target->l1_bytes &&
	       uses >= 2 * t->tiles && uses <= MOST_USES;
}

static bool
fetch_ahead(struct rules *r, const struct tiling *t, int loop)
{
	if (!is_far(r, t)) {
		return true;
	}
	strbuf_puts(&r->words, ", next ones fetched ahead");
	return sched_annotate(&r->s, loop, "prefetch",
			      sv_int(r->target->prefetch_bytes));
}

/* The axis in blocks that is to be summed in parts, and how long these are:
 * as many blocks as leave a part of the constants half of the first cache. -1:
 * the sums stay whole. That is so where accumulators fill the registers: then
 * each constant is used often enough for the second cache to keep up. */
static int
choose_part(const struct rules *r, const struct tiling *t, int64_t *size)
{
	int64_t bytes = dtype_bytes(t->x.out->type), near = r->target->l1_bytes;
	int64_t sums, uses, rest, c = 0;
	int axis = -1;

	if (!is_far(r, t) || t->tile < 0 || t->vector == 0 ||
	    t->tiles != extent_of(&t->x, t->tile) ||
	    2 * t->tiles * (t->lanes / t->vector) >
		    r->target->vector_registers) {
		return -1;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (block_of(t, i) > 0) {
			axis = axis < 0 ? i : -2;
			c = block_of(t, i);
		}
	}
	count_points(t, &sums, &uses);
	if (axis < 0 || uses * t->lanes * bytes > near / 2) {
		return -1;
	}
	rest = sums / extent_of(&t->x, axis) * t->lanes * bytes;
	if (rest * c > near) {
		return -1;
	}
	*size = c;
	for (int64_t n = 2 * c; n * rest <= near / 2; n += c) {
		*size = extent_of(&t->x, axis) % n == 0 ? n : *size;
	}
	/* The first part of each block of lanes is not asked for ahead. */
	return extent_of(&t->x, axis) >= LEAST_PARTS * *size ? axis : -1;
}

/* Loops of the sums of parts below the loop at: parts, then pictures, then the
 * tile and the lanes. *last is the innermost of those outside of the tile. */
static bool
order_sums(struct rules *r, const struct tiling *t, int block, int at,
	   int parts, struct tile_loops *tile, int *last)
{
	const struct stmt *b = func_find(r->s.func, block);
	int *loops, n, order[2 * MAX_AXES], n_order = 0;
	bool inside = false;

	*tile = (struct tile_loops){ 0 };
	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	order[n_order++] = parts;
	for (int i = 0; i < n; i++) {
		int drives = driven_by(b, func_find(r->s.func, loops[i]));

		if (inside && drives == t->lane) {
			tile->lanes = loops[i];
		} else if (inside && drives == t->tile) {
			tile->tile = loops[i];
		} else if (inside && loops[i] != parts) {
			order[n_order++] = loops[i];
		}
		inside |= loops[i] == at;
	}
	*last = order[n_order - 1];
	if (!split_vectors(r, t, &tile->vectors, &tile->lanes)) {
		return false;
	}
	order[n_order++] = tile->tile;
	if (tile->vectors != 0) {
		order[n_order++] = tile->vectors;
	}
	order[n_order++] = tile->lanes;
	return sched_reorder(&r->s, order, n_order);
}

/* The loop that the block's sums of parts run over, after compute_at. */
static int
loop_over(struct rules *r, int block, const char *name)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(func_find(r->s.func, loops[i])->u.loop.var->name,
			   name) == 0) {
			return loops[i];
		}
	}
	return 0;
}

static bool
sum_parts(struct rules *r, struct tiling *t, int reduction, int axis,
	  int64_t size, int at)
{
	const char *name = iter_axis_name(t->x.info->iters[axis].var->name);
	int loops[MAX_AXES], parts[2], partial, last;
	struct tile_loops inner, outer;
	struct tiling p = *t;
	const char *part_name;

	p.part_block = block_of(t, axis);
	if (!rules_axis_loops(r, reduction, loops) || loops[axis] == 0 ||
	    !sched_split(&r->s, loops[axis], (int64_t[]){ 0, size }, 2,
			 parts)) {
		return false;
	}
	part_name = func_find(r->s.func, parts[0])->u.loop.var->name;
	if (!sched_rfactor(&r->s, parts[0], -1, &partial)) {
		return false;
	}
	p.part = driven_by(func_find(r->s.func, partial),
			   func_find(r->s.func, parts[1]));
	if (p.part < 0 || !sched_compute_at(&r->s, reduction, at) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !sched_rename_buffer(&r->s, reduction, 0, "sum")) {
		return false;
	}
	t->x.block = func_find(r->s.func, reduction);
	t->x.out = t->x.block->u.block->writes[0].buffer;
	parts[0] = loop_over(r, reduction, part_name);
	if (parts[0] == 0 || !accumulator_lanes_last(r, t) ||
	    !order_sums(r, t, reduction, at, parts[0], &outer, &last) ||
	    !sched_compute_at(&r->s, partial, last) ||
	    !sched_set_scope(&r->s, partial, 0, "local") ||
	    !rules_accumulator(r, partial, &p.x.out) ||
	    !rules_access(r, partial, &p.x) ||
	    !accumulator_lanes_last(r, &p) ||
	    !order_reduction(r, &p, partial, last, &inner)) {
		return false;
	}
	finish_tile(r, &inner);
	finish_tile(r, &outer);
	strbuf_printf(&r->words, ", %s in parts of %lld", name,
		      (long long)size);
	return fetch_ahead(r, t, parts[0]);
}

/* The reduction's accumulators, one tile of them, below the loop at. */
static bool
sum_tiles(struct rules *r, struct tiling *t, int reduction, int at,
	  int lane_loop)
{
	struct tile_loops inner;

	if ((at != 0 && !sched_compute_at(&r->s, reduction, at)) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &t->x.out) ||
	    !accumulator_lanes_last(r, t) ||
	    !order_reduction(r, t, reduction, at, &inner)) {
		return false;
	}
	finish_tile(r, &inner);
	return fetch_ahead(r, t, lane_loop);
}

bool
rule_matmul(struct rules *r, int reduction, int output)
{
	struct tiling t;
	int loops[MAX_AXES], order[2 * MAX_AXES], n = 0, at = 0;
	int lane_split[2], tile_split[2] = { 0, 0 }, vectors;
	struct tile_loops inner;
	int64_t part_size = 0;
	int part;

	t.part = -1;
	if (!rules_access(r, reduction, &t.x) ||
	    (!find_operand(r, &t, reduction, &output) &&
	     !find_blocked_lane(&t))) {
		return false;
	}
	find_tile(&t);
	t.out_block = output_block(r, output, t.lane);
	choose_sizes(r, &t);
	if (t.lanes < 2 ||
	    (output != reduction && !rules_same_axes(r, &t.x, output))) {
		return false;
	}
	part = choose_part(r, &t, &part_size);
	put_tile(r, "tiled ", t.x.info->iters[t.lane].var, t.lanes);
	if (t.tiles > 1) {
		put_tile(r, ",", t.x.info->iters[t.tile].var, t.tiles);
	}
	if (!pack_operands(r, &t)) {
		return false;
	}
	if (!rules_own_accumulator(r, &t.x, reduction, &output)) {
		return false;
	}
	rules_name_loops(r, &t.x, output);
	if (!rules_axis_loops(r, output, loops)) {
		return false;
	}
	if (!split_axis(r, &t, t.lane, t.lanes, loops, lane_split) ||
	    (t.tiles > 1 &&
	     !split_axis(r, &t, t.tile, t.tiles, loops, tile_split)) ||
	    !split_vectors(r, &t, &vectors, &lane_split[1])) {
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
	if (vectors != 0) {
		order[n++] = vectors;
	}
	order[n++] = lane_split[1];
	if (!sched_reorder(&r->s, order, n) ||
	    !(part >= 0 ? sum_parts(r, &t, reduction, part, part_size,
				    lane_split[0])
			: sum_tiles(r, &t, reduction, at, lane_split[0]))) {
		return false;
	}
	inner = (struct tile_loops){ tile_split[1], vectors, lane_split[1] };
	finish_tile(r, &inner);
	return true;
}
