/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of bytes as dot products of rows, for which compilers use
 * instructions that multiply bytes, or pairs of 16-bit numbers:
 *
 *   for oc, oh, ow:                  for oh, ow_o:
 *     for ic, kh, kw:                  for ow_i, k: rows[ow_i][k] = x[..]
 *       sum += x * w            ->     for oc_o:
 *   for oc, oh, ow: y = f(sum)           for k:
 *                                          for oc_i, ow_i:
 *                                            acc[oc_i][ow_i] +=
 *                                              rows[ow_i][k] * w[oc][k]
 *                                        for oc_i, ow_i:
 *                                          sums[ow_i][oc] = acc[oc_i][ow_i]
 *                                      for ow_i, oc: y = f(sums)
 *
 * k runs through all summed axes, in the order of x in memory, and beyond them
 * up to a whole number of vectors; beyond them, the rows and the constants are
 * zero. The target's fact dot_loops is the number of bits of an element of the
 * rows. Data whose elements have this number of bits, and are next to each
 * other, are not copied. The loops over oc_i and ow_i, the tile, are written
 * out, so that its sums are variables and share loads. */
#include "access_pattern.h"
#include "edit.h"
#include "kernel_blocks.h"
#include "layout_map.h"
#include "nest.h"

/* STEP: a sum runs through a multiple of STEP elements, the bytes of a vector;
 * compilers sum a rest one by one. LEAST: with fewer terms, adding up the lanes
 * of a vector takes longer than the products. MOST_ROWS, MOST_SUMS: the most
 * rows and sums of a tile, where the target has registers for the sums and for
 * two OPERANDS; four rows by four or by two results are fastest. */
enum {
	STEP = 32,
	LEAST = 40,
	LEAST_RUN = 8,
	MOST_ROWS = 8,
	MOST_SUMS = 16,
	OPERANDS = 2,
	USUAL_SIDE = 4
};

/* A part of a summed axis: an expression of the logical variable, and the
 * dimension of the data that it indexes. */
struct piece {
	int iter;
	/* the value is v // divisor; 0: v itself, or v % modulus */
	int64_t divisor;
	/* the value is v % modulus; 0: no remainder is taken */
	int64_t modulus;
	int64_t extent;
	int place; /* the dimension of the data that the part indexes */
};

struct dots {
	struct block_access x;
	const struct load_access *data, *constant;
	/* numbers of iter vars; row is -1 if the block has no such axis */
	int lane, row;
	int64_t terms; /* the number of summed elements */
	/* the length of the runs of summed elements that are contiguous */
	int64_t inner;
	/* the number of summed elements, including zeros that are added */
	int64_t padded;
	/* the number of rows, and of results in a row, of a tile */
	int64_t rows, lanes;
	struct piece pieces[2 * MAX_AXES];
	int n_pieces;
	/* by spatial iter var: its index among the iter vars with extents above
	 * 1; -1: its extent is 1 */
	int axis[MAX_AXES];
	int n_axes;
	bool wide;   /* rows have 16 bits */
	bool copies; /* the data are copied into rows */
};

static bool
extent_of(const struct dots *d, int iter, int64_t *extent)
{
	return expr_is_int(d->x.info->iters[iter].extent, extent) &&
	       expr_is_value(d->x.info->iters[iter].min, 0);
}

/* The first dimension of the load (if `last` is set, the last one) whose index
 * uses v; -1: no index does. */
static int
place_of(const struct load_access *a, const struct var *v, bool last)
{
	int found = -1;

	for (int i = 0; i < a->load->n_args; i++) {
		if (expr_uses_var(a->load->args[i], v) && (found < 0 || last)) {
			found = i;
		}
	}
	return found;
}

static void
add_piece(struct dots *d, struct piece p)
{
	int at = d->n_pieces++;

	while (at > 0 && d->pieces[at - 1].place > p.place) {
		d->pieces[at] = d->pieces[at - 1];
		at--;
	}
	d->pieces[at] = p;
}

/* Adds to d the parts of the summed axis, iter var `iter`. False if its extent
 * is not known, or is not a multiple of the block in which the data has the
 * axis. */
static bool
add_axis(struct dots *d, int iter)
{
	const struct var *v = d->x.info->iters[iter].var;
	int64_t extent, block = d->data->granularity[iter];

	if (!extent_of(d, iter, &extent)) {
		return false;
	}
	d->terms *= extent;
	if (d->data->use[iter] == AXIS_BLOCKED && extent > block) {
		add_piece(d, (struct piece){ iter, block, 0, extent / block,
					     place_of(d->data, v, false) });
		add_piece(d, (struct piece){ iter, 0, block, block,
					     place_of(d->data, v, true) });
		return extent % block == 0;
	}
	add_piece(d, (struct piece){ iter, 0, 0, extent,
				     place_of(d->data, v, true) });
	return true;
}

/* Is x the product of two bytes, each converted to 32 bits? A byte is a load,
 * or a choice between a load and a constant. */
static bool
is_product(const struct expr *x)
{
	for (int i = 0; i < 2; i++) {
		const struct expr *e;

		if (x->kind != EXPR_MUL || x->args[i]->kind != EXPR_CAST) {
			return false;
		}
		e = x->args[i]->args[0];
		while (e->kind == EXPR_IF) {
			e = e->args[1];
		}
		if (e->kind != EXPR_LOAD) {
			return false;
		}
	}
	return true;
}

/* Sets d->data and d->constant to the loads of bytes whose products are summed
 * in 32 bits: unsigned by signed bytes, where rows have bytes. False if the block
 * sums anything else. */
static bool
find_operands(struct dots *d)
{
	const struct load_access *l = d->x.loads;
	int w = d->x.n_loads == 2 && l[0].weight == NULL;
	const struct stmt *store = d->x.block->children[0];

	if (d->x.n_loads != 2 || d->x.out->type.kind != DT_I32 ||
	    store->kind != STMT_STORE || store->args[0]->kind != EXPR_ADD ||
	    (!is_product(store->args[0]->args[0]) &&
	     !is_product(store->args[0]->args[1]))) {
		return false;
	}
	d->constant = &l[w];
	d->data = &l[!w];
	return d->constant->weight != NULL && !d->constant->weight->paired &&
	       d->data->weight == NULL &&
	       d->constant->load->type.kind == DT_I8 &&
	       (d->data->load->type.kind == DT_U8 ||
		(d->data->load->type.kind == DT_I8 && d->wide));
}

/* Finds the axes: an axis that only the constant has, for the results of a row;
 * summed axes, which both operands have; other axes, which only the data have.
 * False if the block has an axis of another kind. */
static bool
find_axes(struct dots *d)
{
	d->lane = d->row = -1;
	d->terms = 1;
	for (int i = 0; i < d->x.info->n_iters; i++) {
		enum axis_use w = d->constant->use[i];
		bool data = d->data->use[i] != AXIS_UNUSED;
		int64_t extent;

		if (!extent_of(d, i, &extent)) {
			return false;
		}
		if (i < d->x.n_spatial) {
			d->axis[i] = extent > 1 ? d->n_axes++ : -1;
		}
		if (extent == 1) {
			continue;
		}
		if (d->x.info->iters[i].kind != ITER_SPATIAL) {
			if (w != AXIS_PLAIN || !data || !add_axis(d, i)) {
				return false;
			}
		} else if (w == AXIS_PLAIN && !data && d->lane < 0) {
			d->lane = i;
		} else if (w != AXIS_UNUSED) {
			return false;
		} else {
			d->row = i;
		}
	}
	return d->lane >= 0 && d->n_pieces > 0;
}

/* Is the number of terms of the data that are adjacent in memory so large that
 * copying them takes less time than a few products? */
static bool
has_runs(const struct dots *d)
{
	const struct piece *last = &d->pieces[d->n_pieces - 1];

	return last->place == d->data->load->n_args - 1 &&
	       last->extent >= LEAST_RUN;
}

/* The number of terms, rounded up by zeros. */
static int64_t
whole(int64_t terms)
{
	return (terms + STEP - 1) / STEP * STEP;
}

/* USUAL_SIDE, the usual number of rows or results in a tile, if it divides the
 * axis; else the largest divisor of the axis up to `most`. */
static int64_t
choose_side(int64_t extent, int64_t most)
{
	if (extent % USUAL_SIDE == 0 && most >= USUAL_SIDE) {
		return USUAL_SIDE;
	}
	for (int64_t n = most; n > 1; n--) {
		if (extent % n == 0) {
			return n;
		}
	}
	return 1;
}

static void
choose_sizes(struct dots *d, const struct target *target)
{
	const struct piece *last = &d->pieces[d->n_pieces - 1];
	int64_t extent, sums = target->vector_registers - OPERANDS;

	if (sums > MOST_SUMS) {
		sums = MOST_SUMS;
	}
	d->rows = d->row >= 0 && extent_of(d, d->row, &extent)
			  ? choose_side(extent, MOST_ROWS)
			  : 1;
	d->lanes = extent_of(d, d->lane, &extent)
			   ? choose_side(extent, sums / d->rows > 2
							 ? sums / d->rows
							 : 2)
			   : 1;
	d->inner = last->extent;
	d->padded = whole(d->terms);
	while (d->padded % d->inner != 0) {
		d->padded += STEP;
	}
	if (d->padded != whole(d->terms) || d->inner == d->terms) {
		d->inner = 1;
		d->padded = whole(d->terms);
	}
	d->copies = d->wide || d->padded != d->terms || d->n_pieces > 1 ||
		    expr_has(d->x.block->children[0]->args[0], EXPR_IF);
}

static const struct expr *
piece_expr(struct module *m, const struct piece *p, const struct expr *v)
{
	return p->divisor > 0   ? expr_floordiv(m, v, expr_i32(m, p->divisor))
	       : p->modulus > 0 ? expr_floormod(m, v, expr_i32(m, p->modulus))
				: v;
}

/* The position of an element in a row, as an expression of the summed axes
 * v(iter). */
static const struct expr *
place_in_row(struct module *m, const struct dots *d,
	     const struct expr *const *v)
{
	const struct expr *sum = NULL;

	for (int i = 0; i < d->n_pieces; i++) {
		const struct piece *p = &d->pieces[i];
		const struct expr *e = piece_expr(m, p, v[p->iter]);

		sum = sum == NULL ? e
				  : expr_add(m,
					     expr_mul(m, sum,
						      expr_i32(m, p->extent)),
					     e);
	}
	return sum;
}

/* Stores the constants as [oc][k]. False after a failure. */
static bool
pack_constant(struct rules *r, const struct dots *d, int block)
{
	struct module *m = r->module;
	const struct load_access *w = d->constant;
	const struct buffer *b = w->load->u.buffer;
	struct index_map *map = rules_map_new(m, b->ndim, b->ndim + 1);
	const struct expr **v = arena_array(&m->arena, const struct expr *,
					    d->x.info->n_iters + 1);
	struct sched_value shape[2];
	int index = rules_read_index(r, block, b);
	int64_t lanes;

	for (int i = 0; i < d->x.info->n_iters; i++) {
		v[i] = w->dim[i] >= 0 ? map->logical[w->dim[i]]->expr : NULL;
	}
	if (!extent_of(d, d->lane, &lanes)) {
		return false;
	}
	rules_map_put(map, v[d->lane]);
	rules_map_put(map, place_in_row(m, d, v));
	if (!sched_transform_layout(&r->s, block, false, index, map)) {
		return false;
	}
	if (d->padded == d->terms) {
		return true;
	}
	shape[0] = sv_int(lanes);
	shape[1] = sv_int(d->padded);
	return sched_apply(
		&r->s, "pad_parameter",
		(struct sched_value[]){
			sv_block(block),
			sv_int(rules_read_index(r, block,
						func_find(r->s.func, block)
							->u.block->reads[index]
							.buffer)),
			sv_list(m, shape, 2) },
		3, NULL);
}

/* The index map from the block's iter vars to the spatial iter vars with
 * extents above 1 and the position in a row. The position is given by two axes,
 * the number of a run of d->inner elements and the number of the element in the
 * run; by one axis if d->inner is 1. */
static const struct index_map *
row_map(struct rules *r, const struct dots *d)
{
	struct module *m = r->module;
	int n = d->x.info->n_iters;
	struct index_map *map = rules_map_new(m, n, n + 2);
	const struct expr **v = arena_array(&m->arena, const struct expr *,
					    n + 1);
	const struct expr *k, *inner = expr_i32(m, d->inner);

	for (int i = 0; i < n; i++) {
		v[i] = map->logical[i]->expr;
		if (i < d->x.n_spatial && d->axis[i] >= 0) {
			rules_map_put(map, v[i]);
		}
	}
	k = place_in_row(m, d, v);
	if (d->inner == 1) {
		rules_map_put(map, k);
	} else {
		rules_map_put(map, expr_floordiv(m, k, inner));
		rules_map_put(map, expr_floormod(m, k, inner));
	}
	return map;
}

/* The index map that fuses the last two of n axes into one; `inner` is the
 * extent of the last axis. */
static const struct index_map *
flat_map(struct rules *r, int n, int64_t inner)
{
	struct module *m = r->module;
	struct index_map *map = rules_map_new(m, n, n);
	const struct expr *outer = map->logical[n - 2]->expr;

	for (int i = 0; i < n - 2; i++) {
		rules_map_put(map, map->logical[i]->expr);
	}
	rules_map_put(map, expr_add(m, expr_mul(m, outer, expr_i32(m, inner)),
				    map->logical[n - 1]->expr));
	return map;
}

static bool
pad_axis(struct rules *r, int block, int axis, int64_t extent, bool zeros)
{
	struct sched_value args[4] = { sv_block(block), sv_int(axis),
				       sv_int(extent), sv_bool(zeros) };

	return sched_apply(&r->s, "pad_axis", args, 4, NULL);
}

/* Copies the data into rows, by the block *copy. False after a failure. */
static bool
copy_rows(struct rules *r, const struct dots *d, int block, int *copy)
{
	struct sched_value which[2], made, args[2] = { sv_block(block) };
	const struct block *info;
	int index = rules_read_index(r, block, d->data->load->u.buffer);

	which[0] = sv_string("read");
	which[1] = sv_int(index);
	args[1] = sv_list(r->module, which, 2);
	if (index < 0 || !sched_apply(&r->s, "reindex", args, 2, &made)) {
		return false;
	}
	*copy = made.u.id;
	info = func_find(r->s.func, *copy)->u.block;
	if (d->padded != d->terms &&
	    !pad_axis(r, *copy, info->n_iters - 1 - (d->inner > 1),
		      d->padded / d->inner, true)) {
		return false;
	}
	if (d->wide) {
		struct sched_value type[3] = { sv_block(*copy), sv_int(0),
					       sv_string("int16") };

		if (!sched_apply(&r->s, "unsafe_set_dtype", type, 3, NULL)) {
			return false;
		}
	}
	return sched_rename_buffer(&r->s, *copy, 0, "rows");
}

/* Makes the block sum over the elements of rows. *copy: the block that copies
 * the rows; 0: rows are not copied. False after a failure. */
static bool
sum_rows(struct rules *r, const struct dots *d, int block, int *copy)
{
	int n = d->n_axes;

	*copy = 0;
	return pack_constant(r, d, block) &&
	       rules_transform_block(r, block, row_map(r, d)) &&
	       (!d->copies || copy_rows(r, d, block, copy)) &&
	       (d->inner == 1 ||
		rules_transform_block(r, block,
				      flat_map(r, n + 2, d->inner))) &&
	       (d->padded == d->terms ||
		pad_axis(r, block, n, d->padded, false));
}

/* Splits the loop over rows. rows[1]: the loop in a tile, 0 if a tile has one
 * row; rows[0]: the loop over tiles, 0 if there is one tile. False after a
 * failure. */
static bool
split_rows(struct rules *r, const struct dots *d, const int *loops, int *rows)
{
	int64_t extent;

	rows[0] = rows[1] = 0;
	if (d->row < 0 || !extent_of(d, d->row, &extent)) {
		return true;
	}
	if (d->rows == 1 || d->rows == extent) {
		rows[d->rows > 1] = loops[d->row];
		return true;
	}
	return sched_split(&r->s, loops[d->row], (int64_t[]){ 0, d->rows }, 2,
			   rows);
}

/* The loop that drives the axis of the block, searched inside of the loop `at`
 * (0: among all its loops); 0: there is none. */
static int
loop_of(struct rules *r, int block, int axis, int at)
{
	const struct stmt *b = func_find(r->s.func, block);
	int *loops, n, found = 0;
	bool inside = at == 0;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (inside && axis >= 0 &&
		    rules_driven_iter(b, func_find(r->s.func, loops[i])) ==
			    axis) {
			found = loops[i];
		}
		inside |= loops[i] == at;
	}
	return found;
}

/* Gives the array of the sums a layout in which the results of a row are last.
 * False after a failure. */
static bool
lanes_last(struct rules *r, const struct dots *d, int sums)
{
	const struct buffer *b =
		func_find(r->s.func, sums)->u.block->writes[0].buffer;
	struct index_map *map = rules_map_new(r->module, b->ndim, b->ndim);

	for (int i = 0; i < b->ndim; i++) {
		if (i != d->lane) {
			rules_map_put(map, map->logical[i]->expr);
		}
	}
	rules_map_put(map, map->logical[d->lane]->expr);
	return d->lane == b->ndim - 1 ||
	       sched_transform_layout(&r->s, sums, true, 0, map);
}

/* Writes out (unrolls) the tile's loops over results and over rows, in this
 * order, inside of the loop k if k is not 0. False after a failure. */
static bool
write_out(struct rules *r, int k, const int *tile)
{
	int order[3], n = 0;

	if (k != 0) {
		order[n++] = k;
	}
	for (int i = 0; i < 2; i++) {
		if (tile[i] != 0) {
			order[n++] = tile[i];
			if (!sched_annotate(&r->s, tile[i], "unroll_last",
					    sv_int(1))) {
				return false;
			}
		}
	}
	return n < 2 || sched_reorder(&r->s, order, n);
}

/* Sums a tile of rows and results in variables, which `sums` stores. at: the
 * loop over tiles of rows. False after a failure. */
static bool
place_sums(struct rules *r, const struct dots *d, int block, int sums, int at)
{
	int lanes[2] = { 0, 0 }, k, tile[2] = { 0, 0 };
	const struct buffer *acc;

	if (at != 0 && !sched_compute_at(&r->s, sums, at)) {
		return false;
	}
	lanes[0] = loop_of(r, sums, d->lane, at);
	if (lanes[0] == 0 ||
	    (d->lanes > 1 &&
	     !sched_split(&r->s, lanes[0], (int64_t[]){ 0, d->lanes }, 2,
			  lanes))) {
		return false;
	}
	tile[0] = lanes[1];
	tile[1] = d->rows > 1 ? loop_of(r, sums, d->row, at) : 0;
	if (!write_out(r, lanes[0], tile) ||
	    !sched_set_scope(&r->s, sums, 0, "local") ||
	    !sched_rename_buffer(&r->s, sums, 0, "sums") ||
	    !sched_compute_at(&r->s, block, lanes[0]) ||
	    !sched_set_scope(&r->s, block, 0, "local") ||
	    !rules_accumulator(r, block, &acc)) {
		return false;
	}
	k = loop_of(r, block, d->n_axes, lanes[0]);
	tile[0] = d->lanes > 1 ? loop_of(r, block, d->axis[d->lane], lanes[0])
			       : 0;
	tile[1] = d->rows > 1 ? loop_of(r, block, d->axis[d->row], lanes[0])
			      : 0;
	return k != 0 && sched_rename_loop(&r->s, k, "k") &&
	       write_out(r, k, tile);
}

/* Names the loops of the copy, and splits off the loop that fills the end of
 * rows with zeros. False after a failure. */
static bool
name_copy(struct rules *r, const struct dots *d, int copy, int at)
{
	int n = func_find(r->s.func, copy)->u.block->n_iters;
	int outer = loop_of(r, copy, n - 1 - (d->inner > 1), at);
	int inner = d->inner > 1 ? loop_of(r, copy, n - 1, at) : 0;
	struct sched_value parts[2] = { sv_int(d->terms / d->inner),
					sv_none() };
	struct sched_value args[2] = { sv_loop(outer),
				       sv_list(r->module, parts, 2) };

	return outer != 0 &&
	       sched_rename_loop(&r->s, outer, inner != 0 ? "k_o" : "k") &&
	       (inner == 0 || sched_rename_loop(&r->s, inner, "k_i")) &&
	       (d->padded == d->terms ||
		sched_apply(&r->s, "loop_partition", args, 2, NULL));
}

/* Moves the block `copy`, which copies rows, into the loop `at` (0: leaves the
 * block where it is), and gives the copy a single dimension for the elements of
 * a row. False after a failure. */
static bool
place_copy(struct rules *r, const struct dots *d, int copy, int at)
{
	const struct buffer *rows;

	if (copy == 0) {
		return true;
	}
	if ((at != 0 && !sched_compute_at(&r->s, copy, at)) ||
	    !sched_set_scope(&r->s, copy, 0, "local")) {
		return false;
	}
	rows = func_find(r->s.func, copy)->u.block->writes[0].buffer;
	if (d->inner > 1 &&
	    !sched_transform_layout(&r->s, copy, true, 0,
				    flat_map(r, rows->ndim, d->inner))) {
		return false;
	}
	return name_copy(r, d, copy, at);
}

/* Schedules the dot products. False after a failure. */
static bool
schedule_dots(struct rules *r, const struct dots *d, int block, int output)
{
	int loops[MAX_AXES], order[MAX_AXES + 2], n = 0, at = 0;
	int rows[2], copy, sums;

	if (!sum_rows(r, d, block, &copy) ||
	    !sched_cache_write(&r->s, block, 0, "local", &sums) ||
	    !lanes_last(r, d, sums) ||
	    !rules_axis_loops(r, output, loops, d->x.n_spatial) ||
	    !split_rows(r, d, loops, rows)) {
		return false;
	}
	for (int i = 0; i < d->x.n_spatial; i++) {
		int loop = i == d->row ? rows[0] : loops[i];

		if (i != d->lane && loop != 0) {
			at = order[n++] = loop;
		}
	}
	if (rows[1] != 0) {
		order[n++] = rows[1];
	}
	order[n++] = loops[d->lane];
	return (n < 2 || sched_reorder(&r->s, order, n)) &&
	       place_sums(r, d, block, sums, at) && place_copy(r, d, copy, at);
}

bool
rule_dot_loops(struct rules *r, const struct kernel_blocks *k)
{
	int reduction = k->reduction, output = k->output;
	struct dots d = { .wide = r->target->dot_loops > 8 };

	if (k->padded_copy != 0 && k->padded_copy != output &&
	    !sched_compute_inline(&r->s, k->padded_copy)) {
		return false;
	}
	if (!rules_access(r, reduction, &d.x) || d.x.n_reduce == 0 ||
	    !find_operands(&d) || !find_axes(&d)) {
		return rules_no(r, "the sum is not one of products of bytes "
				   "with constants that have an axis of their "
				   "own");
	}
	if (d.terms < LEAST) {
		return rules_no(r, "the sum has %lld terms, fewer than %d",
				(long long)d.terms, LEAST);
	}
	if (!has_runs(&d)) {
		return rules_no(r,
				"the data have fewer than %d terms next to "
				"each other",
				LEAST_RUN);
	}
	choose_sizes(&d, r->target);
	if (!rules_separate_accumulator(r, &d.x, reduction, &output)) {
		return false;
	}
	if (!rules_same_axes(r, &d.x, output)) {
		return rules_no(r, "the epilogue reads the sums at other axes");
	}
	rules_name_loops(r, &d.x, output);
	if (!schedule_dots(r, &d, reduction, output)) {
		return false;
	}
	strbuf_printf(&r->words, "dot products of rows, %lld terms",
		      (long long)d.terms);
	if (d.padded != d.terms) {
		strbuf_printf(&r->words, " and zeros up to %lld",
			      (long long)d.padded);
	}
	strbuf_printf(&r->words, ", tiles of %lld rows and %lld results",
		      (long long)d.rows, (long long)d.lanes);
	return true;
}
