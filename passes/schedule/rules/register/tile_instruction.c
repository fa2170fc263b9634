/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by an instruction of the target that keeps its sums in tile
 * registers, such as AMX:
 *
 *   acc[oh][ow][oc] = 0               for oc_o, oh, ow_o:
 *   for oc, oh, ow:                     zero(tile)
 *     for ic, kh, kw:             ->    for ic_o, kh, kw:
 *       acc += x * w                      dot(x[..][ow_o * 28][0], w[..], tile)
 *                                       store(tile, acc)
 *
 * The three instructions are data. The description of dot says how many columns
 * a tile has and how many constants a column consists of; the limits of the
 * description's variables are the largest numbers of rows and depth. In
 * dialects and compilers without the instruction, the tile is an array. */
#include <string.h>

#include "edit.h"
#include "layout_map.h"
#include "nest.h"
#include "register_tile.h"

/* With a shorter row or fewer rows, most of a tile would be idle. */
enum { LEAST_BYTES = 16, LEAST_ROWS = 4 };

/* The sizes of dot(A[rows][depth], B[depth / per][vectors][vector][per],
 * C[rows][vectors][vector]); rows and depth are the largest that the
 * instruction allows. */
struct tile_sizes {
	int64_t rows, depth, vectors, vector, per;
};

static bool
tile_sizes(const struct product_desc *p, struct tile_sizes *out)
{
	const struct buffer *a = p->operand[0], *b = p->operand[1];

	if (a->ndim != 2 || b->ndim != 4 ||
	    !expr_is_int(b->shape[1], &out->vectors) ||
	    !expr_is_int(b->shape[2], &out->vector) ||
	    !expr_is_int(b->shape[3], &out->per)) {
		return false;
	}
	out->rows = tensor_intrin_most(p->multiply, a->shape[0]);
	out->depth = tensor_intrin_most(p->multiply, a->shape[1]);
	return true;
}

/* The number of rows per call, at most `most`, that minimises the total time
 * for an axis of this extent; 0: no number fits. Calls with at most half of
 * `most` rows use only one half of the tile. Loading the constants takes as
 * long as a few rows. */
static int64_t
choose_rows(int64_t most, int64_t extent, int64_t granularity)
{
	int64_t half = most / 2, best = 0;
	double least = 0;

	for (int64_t d = LEAST_ROWS; d <= most; d++) {
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

/* The number of elements of the axis that one call multiplies: a whole block if
 * the axis is in blocks, or, if it is contiguous, the largest divisor of its
 * extent that a call can take. 0: these are too few elements. */
static int64_t
elements_per_call(const struct tiling *t, const struct load_access *data,
		  int iter, const struct tile_sizes *s)
{
	int64_t bytes = dtype_bytes(data->load->type);
	int64_t extent = tiling_extent(&t->x, iter), best = 0;

	if (t->x.info->iters[iter].kind != ITER_REDUCE ||
	    t->operand->use[iter] != AXIS_PLAIN) {
		return 0;
	}
	if (data->use[iter] == AXIS_BLOCKED) {
		best = data->granularity[iter];
	} else if (data->use[iter] == AXIS_PLAIN &&
		   data->dim[iter] == data->load->n_args - 1) {
		for (int64_t d = s->per; d <= s->depth; d += s->per) {
			best = extent % d == 0 ? d : best;
		}
	}
	return best <= s->depth && best % s->per == 0 &&
			       best * bytes >= LEAST_BYTES && extent >= best
		       ? best
		       : 0;
}

bool
tiling_find_tile(const struct rules *r, struct tiling *t,
		 const struct product_desc *p)
{
	const struct load_access *data =
		&t->x.loads[t->operand == &t->x.loads[0]];
	struct tile_sizes s;
	int64_t lanes, rows;

	if (r->target->cores > 1 || t->row < 0 || !tile_sizes(p, &s)) {
		return false;
	}
	lanes = s.vectors * s.vector;
	rows = choose_rows(s.rows, tiling_extent(&t->x, t->row),
			   t->row_granularity);
	if (rows == 0 || tiling_extent(&t->x, t->lane) % lanes != 0 ||
	    t->granularity % lanes != 0 || t->out_block % lanes != 0) {
		return false;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int64_t taken = elements_per_call(t, data, i, &s);

		if (taken > 0) {
			t->dot.intrin = p->multiply->name;
			t->dot.fill = p->instr->fill;
			t->dot.store = p->instr->store;
			t->dot.iter = i;
			t->dot.depth = s.per;
			t->dot.block = t->dot.per_call = taken;
		}
	}
	if (t->dot.intrin == NULL) {
		return false;
	}
	t->lanes = lanes;
	t->vector = s.vector;
	t->rows = rows;
	t->padded = false;
	return true;
}

/* Gives the accumulators a layout in which each tile is contiguous. False after
 * a failure. */
static bool
make_tiles_contiguous(struct rules *r, const struct tiling *t)
{
	struct module *m = r->module;
	const struct expr *lanes = expr_i32(m, t->lanes);
	const struct expr *rows = expr_i32(m, t->rows);
	const struct expr *vector = expr_i32(m, t->vector);
	int n = t->x.out->ndim;
	struct index_map *map = rules_map_new(m, n, n + 3);
	const struct expr *row = map->logical[t->row]->expr;
	const struct expr *lane = map->logical[t->lane]->expr;

	for (int i = 0; i < n; i++) {
		const struct expr *e = map->logical[i]->expr;

		rules_map_put(map, i == t->row    ? expr_floordiv(m, e, rows)
				   : i == t->lane ? expr_floordiv(m, e, lanes)
						  : e);
	}
	rules_map_put(map, expr_floormod(m, row, rows));
	lane = expr_floormod(m, lane, lanes);
	rules_map_put(map, expr_floordiv(m, lane, vector));
	rules_map_put(map, expr_floormod(m, lane, vector));
	return sched_transform_layout(&r->s, t->x.block->id, true, 0, map);
}

/* Orders the loops of the block `copy`, which stores the tile, rows before
 * columns, and replaces them by the store instruction. False after a
 * failure. */
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
		int drives = rules_driven_iter(block,
					       func_find(r->s.func, loops[i]));

		if (inside && drives == t->row) {
			last[0] = loops[i];
		} else if (inside && drives == t->lane) {
			last[1] = loops[i];
		}
		inside |= loops[i] == at;
	}
	return last[0] != 0 && last[1] != 0 && sched_reorder(&r->s, last, 2) &&
	       rules_tensorize(r, last[0], t->dot.store);
}

bool
tiling_sum_tile(struct rules *r, struct tiling *t, int reduction, int at)
{
	struct tile_loops inner;
	struct tiling c;
	int copy, init, *loops, n;

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
	if (!rules_accumulator(r, copy, &c.x.out) ||
	    !make_tiles_contiguous(r, t) || !make_tiles_contiguous(r, &c) ||
	    !tiling_order(r, t, reduction, at, &inner) || inner.rows == 0 ||
	    !sched_decompose_reduction(&r->s, reduction,
				       inner.first != 0 ? inner.first
							: inner.rows,
				       &init) ||
	    !sched_get_loops(&r->s, init, &loops, &n) || n < 3 ||
	    !rules_tensorize(r, loops[n - 3], t->dot.fill) ||
	    !rules_tensorize(r, inner.rows, t->dot.intrin) ||
	    !use_store(r, t, copy, at)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s", t->dot.intrin);
	return true;
}
