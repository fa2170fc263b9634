/* SPDX-License-Identifier: Apache-2.0 */
/* How large a register tile is: lanes and rows, from the target's registers. */
#include "sched_tiling.h"

/* The number of lanes: whole vectors that divide the axis if there are such,
 * the whole axis if it is short, else vectors with a padded end. */
int64_t
tiling_lanes(int64_t extent, int64_t vector, int64_t most, int64_t granularity)
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
	int64_t rows = t->tile >= 0 ? tiling_extent(&t->x, t->tile) : 1;
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

void
tiling_sizes(struct rules *r, struct tiling *t)
{
	int bytes = dtype_bytes(t->x.out->type);
	int64_t vector = r->target->vector_bytes / bytes;
	int64_t registers = r->target->vector_registers;
	int64_t extent = tiling_extent(&t->x, t->lane);
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
		t->lanes = tiling_lanes(extent, vector, most, t->granularity);
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

		t->tiles = choose_tiles(tiling_extent(&t->x, t->tile),
					most < 1 ? 1 : most,
					t->tile_granularity);
	}
}
