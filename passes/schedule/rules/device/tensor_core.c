/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by tensor cores: an instruction that the threads of a warp
 * execute together, on fragments of both operands and of the sums:
 *
 *   for m_o, n_o in blocks:
 *     for m_w, n_w in warps:
 *       fill(sums)
 *       for k_o:
 *         rows = .., columns = ..            # all threads, to shared memory
 *         for k_f:
 *           load(rows), load(columns)        # to fragments
 *           for m_f, n_f: sync(sums, rows, columns)
 *       for m_f, n_f in parts of the warp's tile:
 *         store(sums)                        # to shared memory
 *         y[..] = sums + ..                  # each thread some of them
 *
 * The instructions are data: the target names the instructions that multiply,
 * best first, and for each of these the instructions that fill, load and store.
 * The descriptions of all these instructions give types and scopes, the extents
 * of a fragment, and the order of its axes.
 *
 * An instruction of a group of warps may read operands directly from shared
 * memory, in parts: there are no load instructions then. If the device has a
 * unit that copies boxes (TMA), one thread starts the copies. */
#include "edit.h"
#include "element_threads.h"
#include "layout_map.h"
#include "warp_tiles.h"

/* -- layouts */

/* Gives the block's output a layout in which its last two dimensions are
 * divided into tiles of size[0] x size[1], with the dimensions of a tile last.
 * If outer[d] exceeds size[d], tiles are grouped to larger tiles of outer[d]
 * elements along dimension d. False after a failure. */
static bool
tile_last(struct rules *r, int block, const int64_t *outer, const int64_t *size)
{
	struct module *m = r->module;
	const struct buffer *b =
		func_find(r->s.func, block)->u.block->writes[0].buffer;
	struct index_map *map = rules_map_new(m, b->ndim, b->ndim + 4);
	const struct expr *v[2], *tile[2];

	for (int i = 0; i < b->ndim - 2; i++) {
		rules_map_put(map, map->logical[i]->expr);
	}
	for (int d = 0; d < 2; d++) {
		tile[d] = expr_i32(m, size[d]);
		v[d] = map->logical[b->ndim - 2 + d]->expr;
		if (outer[d] > size[d]) {
			const struct expr *group = expr_i32(m, outer[d]);

			rules_map_put(map, expr_floordiv(m, v[d], group));
			rules_map_put(map, expr_floordiv(m,
							 expr_floormod(m, v[d],
								       group),
							 tile[d]));
		} else {
			rules_map_put(map, expr_floordiv(m, v[d], tile[d]));
		}
	}
	for (int d = 0; d < 2; d++) {
		rules_map_put(map, expr_floormod(m, v[d], tile[d]));
	}
	return sched_transform_layout(&r->s, block, true, 0, map);
}

/* Pads the rows (of `elements` elements) of the block's output by `bytes`, so
 * that adjacent rows start in different banks. back: how many dimensions come
 * after the dimension of the rows. False after a failure. */
static bool
skew(struct rules *r, int block, int back, int64_t elements, int64_t bytes)
{
	const struct buffer *b =
		func_find(r->s.func, block)->u.block->writes[0].buffer;
	struct sched_value args[] = {
		sv_block(block),
		sv_int(0),
		sv_int(b->ndim - 1 - back),
		sv_int(elements),
		sv_int(bytes / dtype_bytes(b->type)),
	};

	return sched_apply(&r->s, "storage_align", args, 5, NULL);
}

/* Splits the last two loops of the block by the size of a fragment, and
 * replaces the loops over a fragment by the instruction intrin. False after a
 * failure. */
static bool
tensorize_fragments(struct rules *r, int block, const int64_t *size,
		    const char *intrin)
{
	int *loops, n, row[2], column[2];

	return sched_get_loops(&r->s, block, &loops, &n) && n >= 2 &&
	       sched_split(&r->s, loops[n - 2], (int64_t[]){ 0, size[0] }, 2,
			   row) &&
	       sched_split(&r->s, loops[n - 1], (int64_t[]){ 0, size[1] }, 2,
			   column) &&
	       sched_reorder(&r->s,
			     (int[]){ row[0], column[0], row[1], column[1] },
			     4) &&
	       sched_unroll(&r->s, row[0]) && sched_unroll(&r->s, column[0]) &&
	       rules_tensorize(r, row[1], intrin);
}

/* -- copies */

/* Sets, for each operand, the number of contiguous elements that a thread
 * copies at a time: the largest number with which every thread copies some
 * elements. */
static void
choose_lanes(struct rules *r, struct warp_tiles *x, const int *copies)
{
	for (int i = 0; i < 2; i++) {
		const struct block *b =
			func_find(r->s.func, copies[i])->u.block;
		int64_t tile[2], n;
		int64_t threads = x->threads * x->warps[PART_ROW] *
				  x->warps[PART_COLUMN];

		warp_tiles_operand(x, i, x->t.side, tile);
		n = rules_access_width(r, copies[i], b->n_iters - 1, true);
		while (n > 1 && tile[0] * tile[1] % (threads * n) != 0) {
			n /= 2;
		}
		x->lanes[i] = n;
		x->async |= x->stages > 1 && r->target->async_stages > 1 &&
			    n * dtype_bytes(x->p.operand[i]->type) >= 4;
	}
	if (!x->async && x->stages > 2) {
		x->stages = 2;
	}
}

/* Gives the shared-memory copy of an operand its layout. False after a
 * failure. */
static bool
lay_out_copy(struct rules *r, const struct warp_tiles *x, int operand, int copy,
	     const int64_t *all)
{
	int64_t one[2] = { all[0], x->part[operand] };
	int64_t further = warp_tiles_skew_bytes(x, operand);

	if (one[1] == 0) {
		return tile_last(r, copy, all, all) &&
		       (further == 0 || skew(r, copy, 1, all[1], further));
	}
	return tile_last(r, copy, all, one) &&
	       (further == 0 || skew(r, copy, 2, one[0] * one[1], further));
}

/* Are the rows of the array that is copied aligned as bulk copies require? */
static bool
rows_are_aligned(struct rules *r, int copy)
{
	struct block_access a;
	const struct buffer *b;

	if (!rules_access(r, copy, &a) || a.n_loads != 1) {
		return false;
	}
	b = a.loads[0].load->u.buffer;
	for (int d = 0; d < b->ndim - 1; d++) {
		int64_t step;

		if (!expr_is_value(b->shape[d], 1) &&
		    (!expr_is_int(buffer_stride(r->module, b, d), &step) ||
		     step * dtype_bytes(b->type) % r->target->box_bytes != 0)) {
			return false;
		}
	}
	return true;
}

/* Makes one thread start bulk copies (TMA) of an operand's tile, one box for
 * each part of the rows. False after a failure. */
static bool
copy_boxes(struct rules *r, const struct warp_tiles *x, int operand, int copy)
{
	static const char *const threads[] = { "threadIdx.x", "threadIdx.y",
					       "threadIdx.z" };
	int *loops, n, box, parts[2];

	if (!rows_are_aligned(r, copy) ||
	    !sched_get_loops(&r->s, copy, &loops, &n) || n < 2) {
		return false;
	}
	box = loops[n - 2];
	if (x->part[operand] > 0 &&
	    (!sched_split(&r->s, loops[n - 1],
			  (int64_t[]){ 0, x->part[operand] }, 2, parts) ||
	     !sched_reorder(&r->s, (int[]){ parts[0], box }, 2) ||
	     !sched_unroll(&r->s, parts[0]) ||
	     !sched_rename_loop(&r->s, parts[0], "part"))) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		struct sched_value around = sv_loop(x->part[operand] > 0
							    ? parts[0]
							    : box),
				   one;

		if (!sched_apply(&r->s, "add_unit_loop", &around, 1, &one) ||
		    !sched_bind(&r->s, one.u.id, threads[i])) {
			return false;
		}
	}
	struct sched_value loop = sv_loop(box);

	return sched_apply(&r->s, "copy_box", &loop, 1, NULL);
}

/* Makes the threads of a block copy the tile together: adjacent threads copy
 * adjacent elements. False after a failure. */
static bool
copy_together(struct rules *r, const struct warp_tiles *x, int operand,
	      int copy, bool across)
{
	int *loops, n, order[2], fused, parts[5];
	int64_t lanes = x->lanes[operand];

	if (!sched_get_loops(&r->s, copy, &loops, &n) || n < 2) {
		return false;
	}
	order[0] = loops[n - 2 + across];
	order[1] = loops[n - 1 - across];
	return (!across || sched_reorder(&r->s, order, 2)) &&
	       sched_fuse(&r->s, order, 2, &fused) &&
	       sched_split(&r->s, fused,
			   (int64_t[]){ 0, x->warps[PART_ROW],
					x->warps[PART_COLUMN], x->threads,
					lanes },
			   lanes > 1 ? 5 : 4, parts) &&
	       (lanes == 1 || sched_vectorize(&r->s, parts[4])) &&
	       sched_unroll(&r->s, parts[0]) &&
	       sched_rename_loop(&r->s, parts[0], "part") &&
	       sched_bind(&r->s, parts[1], "threadIdx.z") &&
	       sched_bind(&r->s, parts[2], "threadIdx.y") &&
	       sched_bind(&r->s, parts[3], "threadIdx.x");
}

static bool
copy_tile(struct rules *r, const struct warp_tiles *x, int operand, int copy,
	  int at)
{
	bool across = gemm_copy_is_transposed(r, copy);
	int64_t tile[2];

	warp_tiles_operand(x, operand, x->t.side, tile);
	return sched_compute_at(&r->s, copy, at) &&
	       sched_rename_buffer(&r->s, copy, 0,
				   operand == 0 ? "rows" : "columns") &&
	       lay_out_copy(r, x, operand, copy, tile) &&
	       (x->boxes ? copy_boxes(r, x, operand, copy)
			 : copy_together(r, x, operand, copy, across));
}

static bool
load_fragments(struct rules *r, const struct warp_tiles *x, int operand,
	       int load)
{
	int64_t tile[2];

	warp_tiles_operand(x, operand, x->size, tile);
	return tile_last(r, load, tile, tile) &&
	       tensorize_fragments(r, load, tile, x->p.instr->load[operand]);
}

/* -- results */

/* Stores the sums through shared memory, some fragments at a time; the threads
 * of the warp read them there. False after a failure. */
static bool
store_results(struct rules *r, const struct warp_tiles *x, int sums, int store)
{
	int64_t tile[2] = { x->size[PART_ROW],
			    x->together * x->size[PART_COLUMN] };
	int64_t warp[2] = { x->frags[PART_ROW] * x->size[PART_ROW],
			    x->frags[PART_COLUMN] * x->size[PART_COLUMN] };
	int *l, n, row[2], column[2], fused, parts[2];
	int64_t threads[2] = { 0, x->threads };

	if (!sched_get_loops(&r->s, store, &l, &n) || n < 2 ||
	    !sched_split(&r->s, l[n - 2], (int64_t[]){ 0, tile[0] }, 2, row) ||
	    !sched_split(&r->s, l[n - 1], (int64_t[]){ 0, tile[1] }, 2,
			 column) ||
	    !sched_reorder(&r->s,
			   (int[]){ row[0], column[0], row[1], column[1] },
			   4) ||
	    !sched_unroll(&r->s, row[0]) || !sched_unroll(&r->s, column[0]) ||
	    !sched_compute_at(&r->s, sums, column[0])) {
		return false;
	}
	/* The threads of one warp share the sums. Their scope is set after
	 * compute_at, which computes the region of one warp only for buffers
	 * that are not shared. */
	return sched_set_scope(&r->s, sums, 0, "shared") &&
	       tile_last(r, sums, warp, tile) &&
	       (!x->skewed_sums || skew(r, sums, 1, tile[1], SKEW_BYTES)) &&
	       tensorize_fragments(r, sums,
				   (int64_t[]){ x->size[PART_ROW],
						x->size[PART_COLUMN] },
				   x->p.instr->store) &&
	       sched_fuse(&r->s, (int[]){ row[1], column[1] }, 2, &fused) &&
	       sched_split(&r->s, fused, threads, 2, parts) &&
	       sched_unroll(&r->s, parts[0]) &&
	       sched_rename_loop(&r->s, parts[0], "part") &&
	       sched_bind(&r->s, parts[1], "threadIdx.x");
}

/* Pipelines the copies: the next tiles are copied while the current tiles are
 * multiplied. Each shared array is allocated once for each stage. False after a
 * failure. */
static bool
copy_ahead(struct rules *r, const struct warp_tiles *x, int loop)
{
	struct sched_value stages[] = { sv_int(0), sv_int(0),
					sv_int(x->stages - 1) };
	struct sched_value order[] = { sv_int(0), sv_int(1), sv_int(2) };
	struct sched_value later = sv_int(0);

	return x->stages < 2 ||
	       (sched_annotate(&r->s, loop, "software_pipeline_stage",
			       sv_list(r->module, stages, 3)) &&
		sched_annotate(&r->s, loop, "software_pipeline_order",
			       sv_list(r->module, order, 3)) &&
		(!x->async ||
		 sched_annotate(&r->s, loop, "software_pipeline_async_stages",
				sv_list(r->module, &later, 1))));
}

/* -- the nest */

struct nest {
	/* the loops over blocks, warps, fragments and elements, in this
	 * order */
	int row[4], column[4], sum[3];
};

static bool
make_loops(struct rules *r, const struct warp_tiles *x, int block,
	   struct nest *l)
{
	static const char *const axes[] = { "b", "k", "m", "n" };
	const char *const *grid = gemm_grid_axes(r, &x->t);
	int first = gemm_first_part(&x->t), *all, n, loops[PARTS] = { 0 };

	if (!sched_get_loops(&r->s, block, &all, &n) || n != PARTS - first) {
		return false;
	}
	for (int i = first; i < PARTS; i++) {
		enum part p = x->t.order[i];

		loops[p] = all[i - first];
		if (!sched_rename_loop(&r->s, loops[p], axes[p])) {
			return false;
		}
	}
	return sched_split(&r->s, loops[PART_ROW],
			   (int64_t[]){ 0, x->warps[PART_ROW],
					x->frags[PART_ROW], x->size[PART_ROW] },
			   4, l->row) &&
	       sched_split(&r->s, loops[PART_COLUMN],
			   (int64_t[]){ 0, x->warps[PART_COLUMN],
					x->frags[PART_COLUMN],
					x->size[PART_COLUMN] },
			   4, l->column) &&
	       sched_split(&r->s, loops[PART_SUM],
			   (int64_t[]){ 0, x->frags[PART_SUM],
					x->size[PART_SUM] },
			   3, l->sum) &&
	       sched_reorder(&r->s,
			     (int[]){ l->row[0], l->column[0], l->row[1],
				      l->column[1], l->sum[0], l->sum[1],
				      l->row[2], l->column[2], l->row[3],
				      l->column[3], l->sum[2] },
			     11) &&
	       (first > 0 ||
		sched_bind(&r->s, loops[PART_BATCH], "blockIdx.z")) &&
	       sched_bind(&r->s, l->row[0], grid[0]) &&
	       sched_bind(&r->s, l->column[0], grid[1]) &&
	       sched_bind(&r->s, l->row[1], "threadIdx.z") &&
	       sched_bind(&r->s, l->column[1], "threadIdx.y") &&
	       sched_unroll(&r->s, l->sum[1]) &&
	       sched_unroll(&r->s, l->row[2]) &&
	       sched_unroll(&r->s, l->column[2]);
}

static bool
build_nest(struct rules *r, struct warp_tiles *x, int block,
	   const struct gemm_blocks *b)
{
	int64_t tile[2] = { x->size[PART_ROW], x->size[PART_COLUMN] };
	int load[2], sums, init, n, *l;
	struct nest nest;

	if (!sched_cache_write(&r->s, block, 0, x->p.sum->scope, &sums) ||
	    !sched_set_scope(&r->s, sums, 0, "local") ||
	    !sched_rename_buffer(&r->s, block, 0, "acc") ||
	    !sched_rename_buffer(&r->s, sums, 0, "sums")) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		const struct stmt *copy;

		if (!sched_set_scope(&r->s, b->copies[i], 0,
				     x->p.instr->load[i] != NULL
					     ? "shared"
					     : x->p.operand[i]->scope)) {
			return false;
		}
		copy = func_find(r->s.func, b->copies[i]);
		if (x->p.instr->load[i] == NULL) {
			continue;
		}
		if (!sched_cache_read(&r->s, block,
				      rules_read_index(r, block,
						       copy->u.block->writes[0]
							       .buffer),
				      x->p.operand[i]->scope, &load[i]) ||
		    !sched_rename_buffer(&r->s, load[i], 0,
					 i == 0 ? "a" : "b")) {
			return false;
		}
	}
	if (x->boxes) {
		x->async = true;
	} else {
		choose_lanes(r, x, b->copies);
	}
	if (!make_loops(r, x, block, &nest) ||
	    !sched_reverse_compute_at(&r->s, sums, nest.column[1]) ||
	    !sched_reverse_compute_at(&r->s, b->store, nest.column[1]) ||
	    !tile_last(r, block, tile, tile)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		bool loads = x->p.instr->load[i] != NULL;

		if ((loads && !sched_compute_at(&r->s, load[i], nest.sum[1])) ||
		    !copy_tile(r, x, i, b->copies[i], nest.sum[0]) ||
		    (loads && !load_fragments(r, x, i, load[i]))) {
			return false;
		}
	}
	return store_results(r, x, sums, b->store) &&
	       sched_decompose_reduction(&r->s, block, nest.sum[0], &init) &&
	       sched_get_loops(&r->s, init, &l, &n) && n >= 2 &&
	       rules_tensorize(r, l[n - 2], x->p.instr->fill) &&
	       rules_tensorize(r, nest.row[3], x->p.instr->multiply) &&
	       copy_ahead(r, x, nest.sum[0]);
}

/* Can the tile of the columns be copied to shared memory without a
 * transposition? Windows of an image are best read along the rows of the
 * image. */
static bool
columns_are_contiguous(struct rules *r, const struct warp_tiles *x, int copy)
{
	return x->t.sum_last[1] ? gemm_copy_is_contiguous(r, copy)
				: !gemm_copy_is_transposed(r, copy);
}

/* Schedules the block with the instruction p. untransposed: fail if the copy to
 * shared memory would transpose the operand of the columns. False after a
 * failure; then the caller must roll the schedule back. */
static bool
try_instruction(struct rules *r, int block, const struct product_desc *p,
		bool untransposed)
{
	struct warp_tiles x = { .p = *p };
	struct gemm_blocks blocks;
	const int64_t *side = x.t.side;
	const char *implicit;

	if (!rules_access(r, block, &x.t.x) || !gemm_find_axes(r, &x.t) ||
	    !warp_tiles_read(r, &x)) {
		return rules_no(r, "the target lacks something that %s needs",
				p->instr->multiply);
	}
	if (!warp_tiles_choose(r, &x)) {
		return rules_no(r,
				"the product is too small for %s, or its tiles "
				"do not fit shared memory",
				p->instr->multiply);
	}
	implicit = gemm_describe(r, &x.t);
	if (!gemm_copy_operands(r, &x.t, block, &blocks) ||
	    (untransposed &&
	     !columns_are_contiguous(r, &x, blocks.copies[1])) ||
	    !build_nest(r, &x, block, &blocks)) {
		return false;
	}
	strbuf_printf(&r->words,
		      "%stensor  %stiles of %lld x %lld, %lld at a "
		      "time, %lld x %lld per %s, %s",
		      r->words.len > 0 ? ", " : "", implicit,
		      (long long)side[PART_ROW], (long long)side[PART_COLUMN],
		      (long long)side[PART_SUM],
		      (long long)(side[PART_ROW] / x.warps[PART_ROW]),
		      (long long)(side[PART_COLUMN] / x.warps[PART_COLUMN]),
		      warp_tiles_in_groups(&x) ? "group of warps" : "warp",
		      p->instr->multiply);
	return true;
}

/* Sets *types to the element types of the block's two operands and of its sum.
 * False if the block is not a product of two operands. */
static bool
find_types(struct rules *r, int block, struct product_types *types)
{
	struct gemm_tile t = { .run = { 0 } };
	const struct load_access *loads;
	bool second;

	if (!rules_access(r, block, &t.x) || !gemm_find_axes(r, &t)) {
		return false;
	}
	loads = t.x.loads;
	second = loads[1].load->u.buffer == t.operand[1];
	*types = (struct product_types){
		.operand = { loads[!second].load->type,
			     loads[second].load->type },
		.sum = t.x.out->type,
	};
	return true;
}

static bool
try_instructions(struct rules *r, int block, const struct product_types *types,
		 bool untransposed)
{
	struct product_desc p;
	int next = 0;

	rules_no(r, "no instruction multiplies these types");
	while (rules_next_product(r, types, &next, &p)) {
		struct rules_mark mark = rules_checkpoint(r);

		if (try_instruction(r, block, &p, untransposed)) {
			return true;
		}
		rules_undo(r, mark);
	}
	return false;
}

bool
rule_tensor_core(struct rules *r, const struct kernel_blocks *k)
{
	struct product_types types;

	if (!find_types(r, k->block, &types)) {
		return rules_no(r, "it is not a product of two operands, each "
				   "with an axis of its own");
	}
	return try_instructions(r, k->block, &types, true) ||
	       try_instructions(r, k->block, &types, false);
}
