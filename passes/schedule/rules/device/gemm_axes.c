/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies the axes of a product by the operands that they index, and chooses
 * tiles for the axes and for the device. */
#include "gemm_tile.h"

/* -- axes */

static bool
uses(const struct load_access *a, int iter)
{
	return a->use[iter] != AXIS_UNUSED;
}

/* Does the block load from two buffers, both of which a reduction axis
 * indexes? */
static bool
find_operands(struct gemm_tile *t)
{
	const struct block_access *x = &t->x;

	if (x->n_loads != 2 ||
	    x->loads[0].load->u.buffer == x->loads[1].load->u.buffer) {
		return false;
	}
	for (int l = 0; l < 2; l++) {
		bool sums = false;

		for (int i = 0; i < x->info->n_iters; i++) {
			sums |= x->info->iters[i].kind == ITER_REDUCE &&
				uses(&x->loads[l], i);
		}
		if (!sums) {
			return false;
		}
	}
	return true;
}

/* The number (0 or 1) of the operand that has the columns: the operand that the
 * last of those axes indexes which index only one operand, because results are
 * contiguous along this axis. -1: no axis indexes only one operand. */
static int
column_operand(const struct gemm_tile *t)
{
	for (int i = t->x.info->n_iters - 1; i >= 0; i--) {
		const struct iter_var *it = &t->x.info->iters[i];
		const struct load_access *l = t->x.loads;

		if (it->kind == ITER_SPATIAL &&
		    uses(&l[0], i) != uses(&l[1], i) &&
		    !expr_is_value(it->extent, 1)) {
			return uses(&l[1], i);
		}
	}
	return -1;
}

static bool
find_part(struct gemm_tile *t, int columns, int i)
{
	const struct iter_var *it = &t->x.info->iters[i];
	const struct load_access *r = &t->x.loads[!columns];
	const struct load_access *c = &t->x.loads[columns];
	int64_t extent, g = 0;

	if (!expr_is_int(it->extent, &extent) || !expr_is_value(it->min, 0)) {
		return false;
	}
	t->part[i] = PART_BATCH;
	if (it->kind != ITER_SPATIAL) {
		t->part[i] = PART_SUM;
	} else if (uses(r, i) && uses(c, i)) {
		/* In a grouped convolution, one operand is the same for all
		 * channels of a group. */
		if (r->use[i] == AXIS_GRANULAR) {
			g = r->granularity[i];
			t->part[i] = PART_COLUMN;
		} else if (c->use[i] == AXIS_GRANULAR) {
			g = c->granularity[i];
			t->part[i] = PART_ROW;
		}
		if (g > 0 && extent % g != 0) {
			return false;
		}
	} else if (uses(r, i)) {
		t->part[i] = PART_ROW;
	} else if (uses(c, i)) {
		t->part[i] = PART_COLUMN;
	}
	t->granularity[i] = g;
	if (g > 0) {
		t->extent[PART_BATCH] *= extent / g;
		t->extent[t->part[i]] *= g;
	} else {
		t->extent[t->part[i]] *= extent;
	}
	return true;
}

bool
gemm_find_axes(struct rules *r, struct gemm_tile *t)
{
	int n = t->x.info->n_iters, columns;

	t->part = arena_array(&r->module->arena, enum part, n + 1);
	t->granularity = arena_array(&r->module->arena, int64_t, n + 1);
	for (int p = 0; p < PARTS; p++) {
		t->extent[p] = 1;
	}
	if (!find_operands(t)) {
		return false;
	}
	columns = column_operand(t);
	if (columns < 0) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!find_part(t, columns, i)) {
			return false;
		}
	}
	t->operand[0] = t->x.loads[!columns].load->u.buffer;
	t->operand[1] = t->x.loads[columns].load->u.buffer;
	return true;
}

/* -- sizes */

static int64_t
round_up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

static int64_t
blocks_of(const struct gemm_tile *t, enum part p)
{
	return round_up(t->extent[p], t->side[p]) / t->side[p];
}

/* Sets the side of the tile along part p: `threads` times 8, 4, 2 or 1 results.
 * Takes the largest of these numbers that pads the extent by at most a quarter;
 * if none does, the number that pads the least. */
static void
choose_side(struct gemm_tile *t, enum part p, int64_t threads)
{
	int64_t n = t->extent[p], best = 0;

	t->threads[p] = threads;
	for (int64_t per = 2 * RUN; per >= 1; per /= 2) {
		int64_t all = round_up(n, per * threads);

		if (best == 0 || (best * 4 > n * 5 && all < best)) {
			best = all;
			t->side[p] = per * threads;
		}
	}
}

static void
set_runs(struct gemm_tile *t, enum part p)
{
	int64_t per = t->side[p] / t->threads[p];

	t->run[p] = per < RUN ? per : RUN;
	t->runs[p] = per / t->run[p];
}

const char *const *
gemm_grid_axes(const struct rules *r, const struct gemm_tile *t)
{
	static const char *const usual[] = { "blockIdx.y", "blockIdx.x" };
	static const char *const tall[] = { "blockIdx.x", "blockIdx.y" };

	return target_takes_blocks(r->target, blocks_of(t, PART_ROW)) ? usual
								      : tall;
}

/* Chooses tiles that are as large as extents and registers allow, as long as
 * there are at least as many tiles as multiprocessors. */
bool
gemm_choose_tiles(struct rules *r, struct gemm_tile *t)
{
	int64_t most = target_block_threads(r->target);
	int64_t side = 16, bytes = dtype_bytes(t->x.out->type), k = 16;

	while (side * side > most) {
		side /= 2;
	}
	if (side < 4 ||
	    !target_takes_blocks(r->target, t->extent[PART_BATCH]) ||
	    t->extent[PART_ROW] < 8 || t->extent[PART_COLUMN] < 8 ||
	    t->extent[PART_SUM] < 8) {
		return false;
	}
	choose_side(t, PART_ROW, side);
	choose_side(t, PART_COLUMN, side);
	while (blocks_of(t, PART_ROW) * blocks_of(t, PART_COLUMN) *
		       t->extent[PART_BATCH] <
	       r->target->units) {
		enum part p = t->side[PART_ROW] > t->side[PART_COLUMN]
				      ? PART_ROW
				      : PART_COLUMN;

		if (t->side[p] <= 2 * side) {
			break;
		}
		t->side[p] /= 2;
	}
	set_runs(t, PART_ROW);
	set_runs(t, PART_COLUMN);
	/* The tile of each operand is in shared memory twice: one is multiplied
	 * while the other is filled. */
	while (k > 4 &&
	       (k / 2 >= t->extent[PART_SUM] ||
		2 * k * (t->side[PART_ROW] + t->side[PART_COLUMN] + 2 * RUN) *
				bytes >
			r->target->shared_bytes)) {
		k /= 2;
	}
	t->side[PART_SUM] = k;
	t->side[PART_BATCH] = 1;
	return true;
}
