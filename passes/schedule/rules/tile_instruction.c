/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows by columns by an instruction of the target that keeps a tile
 * of sums of its own:
 *
 *   acc[oh][ow][oc] = 0               for oc_o, oh, ow_o:
 *   for oc, oh, ow:                     zero(tile)
 *     for ic, kh, kw:             ->    for ic_o, kh, kw:
 *       acc += x * w                      dot(x[..][ow_o * 28][0], w[..], tile)
 *                                       store(tile, acc)
 *
 * Three instructions, all data. What dot computes says how many columns it takes
 * and of how many constants each is; the target, how many rows, and how many
 * bytes of each, there are at most. In other dialects, and where the compiler
 * does not have the instruction, the tile is an array. */
#include <string.h>

#include "edit.h"
#include "register_tile.h"
#include "tensor_intrin.h"

/* With fewer bytes of a row, or rows, most of a tile would be idle. */
enum { LEAST_BYTES = 16, LEAST_ROWS = 4 };

/* What dot(A[rows][depth], B[depth / per][vectors][vector][per],
 * C[rows][vectors][vector]) says. */
struct tile_sizes {
	int64_t vectors, vector, per;
};

static bool
tile_sizes(const struct tensor_intrin *intrin, struct tile_sizes *out)
{
	const struct func *f = intrin->desc;
	const struct buffer *b;

	if (f->params.n != 3 || f->params.data[1].buffer == NULL ||
	    f->params.data[0].buffer == NULL ||
	    f->params.data[2].buffer == NULL) {
		return false;
	}
	b = f->params.data[1].buffer;
	return b->ndim == 4 && f->params.data[0].buffer->ndim == 2 &&
	       expr_is_int(b->shape[1], &out->vectors) &&
	       expr_is_int(b->shape[2], &out->vector) &&
	       expr_is_int(b->shape[3], &out->per);
}

/* The rows of one call that take least time for all: half as many as there are
 * at most fill the first half of the tile, and loading constants takes as long
 * as some rows. 0: there are none. */
static int64_t
choose_rows(const struct target *target, int64_t extent, int64_t granularity)
{
	int64_t half = target->tile_rows / 2, best = 0;
	double least = 0;

	for (int64_t d = LEAST_ROWS; d <= target->tile_rows; d++) {
		int64_t halves = d > half ? 2 : 1;
		int64_t busy = d / halves < half / 2 ? half / 2 : d / halves;
		double time = (double)(halves * busy + half / 2) / (double)d;

		if (extent % d != 0 || d % halves != 0 ||
		    (granularity > 0 && granularity % d != 0)) {
			continue;
		}
		if (best == 0 || time < least) {
			best = d;
			least = time;
		}
	}
	return best;
}

/* How much of the axis one call takes: all of a block, or of what lies in one
 * row as much as divides it. 0: too little. */
static int64_t
taken_of(const struct rules *r, const struct tiling *t,
	 const struct load_access *data, int iter, int64_t per)
{
	int64_t bytes = dtype_bytes(data->load->type);
	int64_t most = r->target->tile_bytes / bytes;
	int64_t extent = tiling_extent(&t->x, iter), best = 0;

	if (t->x.info->iters[iter].kind != ITER_REDUCE ||
	    t->operand->use[iter] != AXIS_PLAIN) {
		return 0;
	}
	if (data->use[iter] == AXIS_BLOCKED) {
		best = data->granularity[iter];
	} else if (data->use[iter] == AXIS_PLAIN &&
		   data->dim[iter] == data->load->n_args - 1) {
		for (int64_t d = per; d <= most; d += per) {
			best = extent % d == 0 ? d : best;
		}
	}
	return best <= most && best % per == 0 && best * bytes >= LEAST_BYTES &&
			       extent >= best
		       ? best
		       : 0;
}

bool
tiling_find_tile(struct rules *r, struct tiling *t,
		 const struct tile_intrins *tile)
{
	struct tensor_intrins *all = r->target->intrins;
	const struct tensor_intrin *intrin;
	const struct load_access *data;
	struct tile_sizes s;
	int64_t lanes, rows;

	if (r->without_tile || tile->dot == NULL || all == NULL ||
	    r->target->cores > 1 || t->operand == NULL ||
	    t->operand->weight == NULL || t->x.n_loads != 2 || t->tile < 0) {
		return false;
	}
	intrin = tensor_intrins_find(all, tile->dot);
	data = &t->x.loads[t->operand == &t->x.loads[0]];
	if (intrin == NULL || !tile_sizes(intrin, &s) ||
	    !tiling_has_types(t, intrin, data)) {
		return false;
	}
	lanes = s.vectors * s.vector;
	rows = choose_rows(r->target, tiling_extent(&t->x, t->tile),
			   t->tile_granularity);
	if (rows == 0 || tiling_extent(&t->x, t->lane) % lanes != 0 ||
	    t->granularity % lanes != 0 || t->out_block % lanes != 0) {
		return false;
	}
	if (tensor_intrins_find(all, tile->zero) == NULL ||
	    tensor_intrins_find(all, tile->store) == NULL) {
		return false;
	}
	t->dot.zero = tile->zero;
	t->dot.store = tile->store;
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int64_t taken = taken_of(r, t, data, i, s.per);

		if (taken > 0) {
			t->dot.intrin = intrin->name;
			t->dot.iter = i;
			t->dot.depth = s.per;
			t->dot.block = t->dot.taken = taken;
		}
	}
	if (t->dot.intrin == NULL) {
		return false;
	}
	r->took_tile = true;
	t->lanes = lanes;
	t->vector = s.vector;
	t->tiles = rows;
	t->padded = false;
	return true;
}

/* Sums by tiles: rows and columns of one lie together, as calls want them. */
static bool
lay_out(struct rules *r, const struct tiling *t)
{
	struct module *m = r->module;
	const struct expr *lanes = expr_i32(m, t->lanes);
	const struct expr *rows = expr_i32(m, t->tiles);
	const struct expr *vector = expr_i32(m, t->vector);
	int n = t->x.out->ndim;
	struct index_map *map = rules_map_new(m, n, n + 3);
	const struct expr *row = map->logical[t->tile]->expr;
	const struct expr *lane = map->logical[t->lane]->expr;

	for (int i = 0; i < n; i++) {
		const struct expr *e = map->logical[i]->expr;

		rules_map_put(map, i == t->tile   ? expr_floordiv(m, e, rows)
				   : i == t->lane ? expr_floordiv(m, e, lanes)
						  : e);
	}
	rules_map_put(map, expr_floormod(m, row, rows));
	lane = expr_floormod(m, lane, lanes);
	rules_map_put(map, expr_floordiv(m, lane, vector));
	rules_map_put(map, expr_floormod(m, lane, vector));
	return sched_transform_layout(&r->s, t->x.block->id, true, 0, map);
}

static bool
use(struct rules *r, int loop, const char *intrin)
{
	struct sched_value args[2] = { sv_loop(loop), sv_string(intrin) };

	return sched_apply(&r->s, "tensorize", args, 2, NULL);
}

/* The loops of the block that brings the sums to memory, over rows and then
 * over columns. */
static bool
use_store(struct rules *r, const struct tiling *t, int copy, int at)
{
	const struct stmt *block = func_find(r->s.func, copy);
	int *loops, n, last[2] = { 0, 0 };
	bool inside = at == 0;

	if (!sched_get_loops(&r->s, copy, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		int drives = tiling_driven(block,
					   func_find(r->s.func, loops[i]));

		if (inside && drives == t->tile) {
			last[0] = loops[i];
		} else if (inside && drives == t->lane) {
			last[1] = loops[i];
		}
		inside |= loops[i] == at;
	}
	return last[0] != 0 && last[1] != 0 && sched_reorder(&r->s, last, 2) &&
	       use(r, last[0], t->dot.store);
}

bool
tiling_sum_tile(struct rules *r, struct tiling *t, int reduction, int at)
{
	struct tile_loops inner;
	struct tiling c;
	int copy, start, *loops, n;

	if (!sched_cache_write(&r->s, reduction, 0, "local", &copy) ||
	    (at != 0 && (!sched_compute_at(&r->s, copy, at) ||
			 !sched_compute_at(&r->s, reduction, at))) ||
	    !sched_set_scope(&r->s, copy, 0, "local") ||
	    !sched_rename_buffer(&r->s, reduction, 0, "tile")) {
		return false;
	}
	c = *t;
	c.x.block = func_find(r->s.func, copy);
	t->x.block = func_find(r->s.func, reduction);
	t->x.out = t->x.block->u.block->writes[0].buffer;
	if (!rules_accumulator(r, copy, &c.x.out) || !lay_out(r, t) ||
	    !lay_out(r, &c) || !tiling_order(r, t, reduction, at, &inner) ||
	    inner.tile == 0 ||
	    !sched_decompose_reduction(&r->s, reduction,
				       inner.first != 0 ? inner.first
							: inner.tile,
				       &start) ||
	    !sched_get_loops(&r->s, start, &loops, &n) || n < 3 ||
	    !use(r, loops[n - 3], t->dot.zero) ||
	    !use(r, inner.tile, t->dot.intrin) || !use_store(r, t, copy, at)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s", t->dot.intrin);
	return true;
}
