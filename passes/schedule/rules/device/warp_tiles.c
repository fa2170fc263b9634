/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the tiles of a product by tensor cores: reads the extents of
 * fragments from the instruction's description, and chooses how many fragments
 * a warp and a thread block compute. This file makes no loops: tensor_core.c
 * makes them and binds them to warps and threads. */
#include "warp_tiles.h"

#include <string.h>

#include "iterate.h"

/* The bytes along the summed axis in one copied tile: more bytes save barriers,
 * fewer bytes save shared memory. */
enum { SUM_BYTES = 64 };

/* -- the instruction */

/* The part that iter var number iter of C[row, column] += … belongs to. */
static enum part
part_of_iter(const struct block *b, int iter)
{
	const struct range *sums = b->writes[0].ranges;

	return b->iters[iter].kind == ITER_REDUCE               ? PART_SUM
	       : expr_uses_var(sums[0].min, b->iters[iter].var) ? PART_ROW
								: PART_COLUMN;
}

/* Reads the extents of fragments, and the position of the summed axis in each
 * operand, from the block in the description multiply(A, B, C). False if the
 * block has another form. */
static bool
read_multiply(struct warp_tiles *x)
{
	const struct func *f = x->p.multiply->desc;
	struct stmt *block = NULL, *s;
	const struct block *b;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		block = s->u.block->n_iters > 0 ? s : block;
	}
	if (block == NULL || block->u.block->n_iters != 3 ||
	    block->u.block->n_reads != 2 || block->u.block->n_writes != 1) {
		return false;
	}
	b = block->u.block;
	for (int i = 0; i < 3; i++) {
		const struct buffer *p = f->params.data[i].buffer;

		if ((p->ndim != 2 && (p->ndim != 3 || i == 2)) ||
		    !expr_is_int(b->iters[i].extent,
				 &x->size[part_of_iter(b, i)])) {
			return false;
		}
	}
	for (int i = 0; i < 2; i++) {
		const struct buffer *p = b->reads[i].buffer;
		int of = p == f->params.data[1].buffer;

		x->t.sum_last[of] = false;
		for (int k = 0; k < 3; k++) {
			x->t.sum_last[of] |=
				b->iters[k].kind == ITER_REDUCE &&
				expr_uses_var(b->reads[i]
						      .ranges[p->ndim - 1]
						      .min,
					      b->iters[k].var);
		}
		if (p->ndim == 3 && !expr_is_int(p->shape[2], &x->part[of])) {
			return false;
		}
	}
	x->t.order[0] = PART_BATCH;
	x->t.order[1] = PART_ROW;
	x->t.order[2] = x->t.sum_last[1] ? PART_COLUMN : PART_SUM;
	x->t.order[3] = x->t.sum_last[1] ? PART_SUM : PART_COLUMN;
	return x->t.sum_last[0];
}

void
warp_tiles_operand(const struct warp_tiles *x, int operand, const int64_t *of,
		   int64_t *tile)
{
	enum part p = operand == 0 ? PART_ROW : PART_COLUMN;

	tile[0] = x->t.sum_last[operand] ? of[p] : of[PART_SUM];
	tile[1] = x->t.sum_last[operand] ? of[PART_SUM] : of[p];
}

bool
warp_tiles_in_groups(const struct warp_tiles *x)
{
	return x->p.instr->load[0] == NULL;
}

/* If the size of a fragment's row is not a multiple of the alignment that the
 * operand's tile in shared memory requires, fragments side by side in the tile
 * would not be aligned. Then sets x->part[operand] to the number of columns of
 * a fragment: the tile is stored in parts, each with this number of columns and
 * all rows. */
static void
set_part(struct warp_tiles *x, int operand)
{
	int64_t tile[2];

	warp_tiles_operand(x, operand, x->size, tile);
	if (x->part[operand] == 0 && !warp_tiles_in_groups(x) &&
	    x->align[operand] > 0 &&
	    tile[1] * dtype_bytes(x->p.operand[operand]->type) %
			    x->align[operand] !=
		    0) {
		x->part[operand] = tile[1];
	}
}

/* The alignment that the instruction which reads the operand's tiles in shared
 * memory requires. */
static int64_t
tile_align(const struct rules *r, const struct product_desc *p, int operand)
{
	const char *load = p->instr->load[operand];
	const struct buffer *tile = p->operand[operand];

	if (load != NULL) {
		tile = tensor_intrins_find(r->target->intrins, load)
			       ->desc->params.data[0]
			       .buffer;
	}
	return tile->align_bytes;
}

/* Does the instruction read operands in the layout of bulk copies? Then their
 * scope is a special one of shared memory. */
static bool
reads_boxes(const struct product_desc *p)
{
	return p->instr->load[0] == NULL &&
	       strncmp(p->operand[0]->scope, "shared.", 7) == 0;
}

bool
warp_tiles_read(struct rules *r, struct warp_tiles *x)
{
	x->threads = x->p.multiply->threads;
	x->boxes = reads_boxes(&x->p);
	if (x->p.kind != PRODUCT_TENSOR_CORE || !read_multiply(x) ||
	    (x->boxes && r->target->box_bytes == 0)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		x->align[i] = tile_align(r, &x->p, i);
		set_part(x, i);
	}
	return x->threads % target_warp(r->target) == 0;
}

/* -- sizes */

static int64_t
blocks_of(const struct warp_tiles *x, enum part p)
{
	return (x->t.extent[p] + x->t.side[p] - 1) / x->t.side[p];
}

static void
set_side(struct warp_tiles *x, enum part p, int64_t fragments)
{
	x->warps[p] = fragments > 1 ? 2 : 1;
	x->frags[p] = fragments / x->warps[p];
	x->t.side[p] = fragments * x->size[p];
}

/* The largest number of fragments of a thread block along part p; a fragment of
 * a group of warps is as large as the fragments of four warps together. */
static int64_t
most_fragments(const struct warp_tiles *x, enum part p)
{
	return !warp_tiles_in_groups(x) ? 8 : p == PART_ROW ? 4 : 1;
}

static int64_t
least_fragments(const struct warp_tiles *x)
{
	return warp_tiles_in_groups(x) ? 1 : 2;
}

/* Chooses the number of fragments of a thread block along part p: the largest
 * possible number that pads the extent by at most a quarter; if no number does,
 * the one that pads the least. */
static void
choose_side(struct warp_tiles *x, enum part p)
{
	int64_t best = 0, n = x->t.extent[p];

	for (int64_t fragments = most_fragments(x, p); fragments >= 1;
	     fragments /= 2) {
		int64_t side = fragments * x->size[p];
		int64_t all = (n + side - 1) / side * side;

		if (best == 0 || (best * 4 > n * 5 && all < best)) {
			best = all;
			set_side(x, p, fragments);
		}
	}
}

int64_t
warp_tiles_skew_bytes(const struct warp_tiles *x, int operand)
{
	return x->boxes ? 0
	       : x->part[operand] > 0 && !warp_tiles_in_groups(x)
		       ? x->align[operand]
		       : SKEW_BYTES;
}

static int64_t
copied_bytes(const struct warp_tiles *x, int operand)
{
	int64_t bytes = dtype_bytes(x->p.operand[operand]->type);
	int64_t all[2], part = x->part[operand];

	warp_tiles_operand(x, operand, x->t.side, all);
	return part > 0 ? all[1] / part *
				  (all[0] * part * bytes +
				   warp_tiles_skew_bytes(x, operand))
			: all[0] * (all[1] * bytes +
				    warp_tiles_skew_bytes(x, operand));
}

static int64_t
shared_bytes(const struct warp_tiles *x)
{
	int64_t sums = x->together * x->size[PART_COLUMN] *
			       dtype_bytes(x->p.sum->type) +
		       (x->skewed_sums ? SKEW_BYTES : 0);

	return (x->boxes ? x->align[0] + x->align[1] : 0) +
	       x->stages * (copied_bytes(x, 0) + copied_bytes(x, 1)) +
	       x->warps[PART_ROW] * x->warps[PART_COLUMN] * x->size[PART_ROW] *
		       sums;
}

/* Chooses the number of tiles of each operand that are in shared memory at a
 * time: two; if copies are asynchronous, the number that the target gives, or
 * fewer if shared memory does not hold so many. */
static void
choose_stages(struct rules *r, struct warp_tiles *x)
{
	int64_t most = blocks_of(x, PART_SUM);

	x->together = 1;
	x->stages = most > 1 ? 2 : 1;
	if (most > r->target->async_stages) {
		most = r->target->async_stages;
	}
	while (x->stages < most) {
		x->stages++;
		if (shared_bytes(x) > r->target->shared_bytes) {
			x->stages--;
			break;
		}
	}
}

static int64_t
all_blocks(const struct warp_tiles *x)
{
	return blocks_of(x, PART_ROW) * blocks_of(x, PART_COLUMN) *
	       x->t.extent[PART_BATCH];
}

/* Halves the tiles of thread blocks until there is at least one tile for each
 * multiprocessor. */
static void
fill_units(struct rules *r, struct warp_tiles *x)
{
	static const enum part axes[2] = { PART_ROW, PART_COLUMN };

	while (all_blocks(x) < r->target->units) {
		enum part p = PARTS;

		for (int i = 0; i < 2; i++) {
			enum part q = axes[i];

			if (x->warps[q] * x->frags[q] > least_fragments(x) &&
			    (p == PARTS || x->t.side[q] >= x->t.side[p])) {
				p = q;
			}
		}
		if (p == PARTS) {
			break;
		}
		set_side(x, p, x->warps[p] * x->frags[p] / 2);
	}
}

/* Are large tiles worth it? They are if there is a tile for at least half of
 * the multiprocessors, and if along each axis at most a quarter of the tiles'
 * extent is padding. */
static bool
worth_groups(struct rules *r, const struct warp_tiles *x)
{
	static const enum part axes[] = { PART_SUM, PART_ROW, PART_COLUMN };

	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		enum part p = axes[i];

		if (blocks_of(x, p) * x->t.side[p] * 3 > x->t.extent[p] * 4) {
			return false;
		}
	}
	return all_blocks(x) * 2 >= r->target->units;
}

/* False also for products of which the tiles would pad more than half of a
 * fragment. */
bool
warp_tiles_choose(struct rules *r, struct warp_tiles *x)
{
	int64_t bytes = dtype_bytes(x->p.operand[0]->type);
	int64_t *extent = x->t.extent, *side = x->t.side;

	if (r->target->max_threads <
		    (warp_tiles_in_groups(x) ? 2 : 4) * x->threads ||
	    !target_takes_blocks(r->target, extent[PART_BATCH]) ||
	    extent[PART_ROW] * 2 < x->size[PART_ROW] ||
	    extent[PART_COLUMN] * 2 < x->size[PART_COLUMN] ||
	    extent[PART_SUM] * 2 < x->size[PART_SUM]) {
		return false;
	}
	side[PART_BATCH] = 1;
	choose_side(x, PART_ROW);
	choose_side(x, PART_COLUMN);
	fill_units(r, x);
	x->frags[PART_SUM] = SUM_BYTES / bytes / x->size[PART_SUM];
	if (x->frags[PART_SUM] == 0) {
		x->frags[PART_SUM] = 1;
	}
	while (x->frags[PART_SUM] > 1 &&
	       x->frags[PART_SUM] / 2 * x->size[PART_SUM] >= extent[PART_SUM]) {
		x->frags[PART_SUM] /= 2;
	}
	side[PART_SUM] = x->frags[PART_SUM] * x->size[PART_SUM];
	choose_stages(r, x);
	x->together = x->frags[PART_COLUMN];
	x->skewed_sums = true;
	while (x->together > 1 && shared_bytes(x) > r->target->shared_bytes) {
		x->together /= 2;
	}
	x->skewed_sums = shared_bytes(x) <= r->target->shared_bytes;
	return (!warp_tiles_in_groups(x) || worth_groups(r, x)) &&
	       (!x->boxes || x->stages > 1) &&
	       shared_bytes(x) <= r->target->shared_bytes;
}
