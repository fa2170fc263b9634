/* SPDX-License-Identifier: Apache-2.0 */
/* How large a register tile is: lanes and rows, from the target's registers. */
#include "register_tile.h"

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

/* What takes one of 4 bits out of a byte. */
enum { NIBBLE_OPERATIONS = 3 };

/* The operations on lanes that e takes, without those that differ from row to
 * row. That a byte is widened costs no more than to load it. */
static int64_t
count_shared(const struct expr *e, const struct var *lane,
	     const struct var *row)
{
	bool widens = e->kind == EXPR_CAST && e->args[0]->kind == EXPR_LOAD;
	int64_t n = 0;

	if (e->kind == EXPR_LOAD || !expr_uses_var(e, lane)) {
		return 0;
	}
	if (!expr_uses_var(e, row)) {
		n = !widens                             ? 1
		    : dtype_bits(e->args[0]->type) == 4 ? NIBBLE_OPERATIONS
							: 0;
	}
	for (int i = 0; i < e->n_args; i++) {
		n += count_shared(e->args[i], lane, row);
	}
	return n;
}

/* How many operations make a vector of the lanes' operand what rows are
 * multiplied by: weights are scaled, or taken out of a byte. */
static int64_t
shared_operations(const struct tiling *t)
{
	const struct iter_var *iters = t->x.info->iters;
	const struct stmt *store = t->x.block->children[0];

	return t->tile < 0 || store->kind != STMT_STORE
		       ? 0
		       : count_shared(store->args[0], iters[t->lane].var,
				      iters[t->tile].var);
}

/* Cycles of one step of the reduction, for vectors times rows accumulators:
 * two products or two loads in each, sums that come four cycles later, what is
 * done to each vector for all rows, and the loop itself. Without multiply-adds
 * sums are work as well, and so is making a vector of a number. */
static double
step_cycles(const struct target *target, int64_t vectors, int64_t rows,
	    int64_t shared)
{
	int64_t operations = vectors * (rows + shared);
	double work, loads = (double)(vectors + rows) / 2;

	if (target->without_fma) {
		operations += vectors * rows + rows;
	}
	work = (double)operations / 2;
	work = work < loads ? loads : work;
	return (work < 4 ? 4 : work) + 1;
}

/* The most rows of n vectors that stay in registers: accumulators, a row of the
 * lanes' operand and one element of the other; without multiply-adds a product as
 * well. With many vectors a compiler loads the next element before it is done
 * with this one. Where the compiler finds the vectors, rows have to be written
 * out; and if there are several vectors, it goes through them one by one, and
 * keeps an element for each row. */
static int64_t
most_rows(const struct target *target, int64_t n)
{
	int64_t registers = target->vector_registers - target->without_fma;
	int64_t rows = (registers - 1 - n - (n > 2)) / n;

	if (target->complete_unroll == 0) {
		return rows;
	}
	if (n > 1) {
		rows = (registers - 1) / (n + 1);
	}
	return rows < target->complete_unroll ? rows : target->complete_unroll;
}

/* What a tile of so many vectors and rows takes for all rows of one of its
 * vectors. */
struct tile_cost {
	int64_t vectors, rows;
	double cycles; /* 0: none was found */
	bool divides;  /* no row is computed twice, or by a second copy */
};

/* A tile that divides the rows may take so much longer than the fastest: the
 * last tile of the others goes back over rows that are done (the pass
 * "overlap"), or is a second copy of the loops. */
static const double DIVIDING_MAY_TAKE = 1.02;

/* The faster; or the one that divides, where that takes hardly longer. */
static struct tile_cost
better_cost(struct tile_cost x, struct tile_cost y)
{
	double more = x.divides == y.divides ? 1
		      : x.divides            ? DIVIDING_MAY_TAKE
					     : 1 / DIVIDING_MAY_TAKE;

	if (x.cycles == 0 || y.cycles == 0) {
		return x.cycles == 0 ? y : x;
	}
	return x.cycles <= y.cycles * more ? x : y;
}

/* The best number of rows for tiles of so many vectors. */
static struct tile_cost
tile_cycles(const struct rules *r, const struct tiling *t, int64_t vectors)
{
	int64_t all = t->tile >= 0 ? tiling_extent(&t->x, t->tile) : 1;
	int64_t most = most_rows(r->target, vectors);
	int64_t shared = shared_operations(t);
	struct tile_cost best = { .vectors = vectors };

	for (int64_t rows = most < all ? most : all; rows >= 1; rows--) {
		double step = step_cycles(r->target, vectors, rows, shared);
		struct tile_cost x = {
			vectors,
			rows,
			(double)((all + rows - 1) / rows) * step /
				(double)vectors,
			all % rows == 0,
		};

		if (t->tile_granularity == 0 ||
		    t->tile_granularity % rows == 0) {
			best = better_cost(best, x);
		}
	}
	return best;
}

/* Takes fewer lanes where then more rows fit. */
static void
fit_registers(struct rules *r, struct tiling *t, int64_t vector)
{
	int64_t all = t->lanes / vector;
	struct tile_cost best = { 0 };

	for (int64_t n = all; n >= 1; n--) {
		if (all % n == 0) {
			best = better_cost(best, tile_cycles(r, t, n));
		}
	}
	if (best.cycles > 0) {
		t->lanes = best.vectors * vector;
		t->tiles = best.rows;
	}
}

/* Cycles for one pixel: products, two vectors at a time, and stores. */
static double
lanes_cycles(int64_t vectors, double sums, int64_t stores)
{
	return (double)vectors * (sums / 2 + (double)stores);
}

/* Makes the lanes whole vectors, with a rest beyond the end of the axis, where
 * that is better than shorter vectors that divide it. */
static void
pad_lanes(struct rules *r, struct tiling *t, int64_t vector)
{
	int64_t extent = tiling_extent(&t->x, t->lane), part = vector;
	double sums = 1, uses = 1, now;
	struct tile_cost best = { 0 };
	int64_t padded;

	while (vector > 4 && extent < vector) {
		vector /= 2;
	}
	if (t->operand == NULL || t->operand->weight == NULL ||
	    r->target->block_elems == 0 || t->granularity > 0 ||
	    !dtype_is_float(t->x.out->type) || extent < vector ||
	    extent % vector == 0) {
		return;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			sums *= (double)tiling_extent(&t->x, i);
		} else if (i != t->lane) {
			uses *= (double)tiling_extent(&t->x, i);
		}
	}
	/* What is used once takes as long as it has bytes, and much of what is
	 * far. */
	padded = (extent + vector - 1) / vector * vector;
	if (uses < 2 ||
	    (padded * 8 > extent * 9 &&
	     sums * (double)padded * dtype_bytes(t->operand->load->type) >
		     (double)r->target->l1_bytes)) {
		return;
	}
	while (part > 1 && t->lanes % part != 0) {
		part /= 2;
	}
	now = lanes_cycles((extent + part - 1) / part, sums,
			   part == t->out_block ? 1 : part);
	if (extent % t->lanes == 0 &&
	    lanes_cycles(padded / vector, sums, vector) >= 0.9 * now) {
		return;
	}
	for (int64_t n = 1; n <= 4; n++) {
		int64_t blocks = (extent + n * vector - 1) / (n * vector);
		struct tile_cost x = tile_cycles(r, t, n);

		x.cycles *= (double)(blocks * n);
		best = better_cost(best, x);
	}
	if (best.cycles > 0) {
		t->lanes = best.vectors * vector;
		t->tiles = best.rows;
	}
	t->vector = vector;
	t->padded = true;
}

double
tiling_overlap_time(const struct rules *r, const struct tiling *t)
{
	int64_t elements = r->target->vector_bytes /
			   dtype_bytes(t->x.out->type);
	int64_t vector = elements < 4 ? 4 : elements;
	int64_t vectors = (t->lanes + vector - 1) / vector;
	int64_t all = tiling_extent(&t->x, t->tile), rest = all % t->tiles;
	int64_t shared = shared_operations(t);
	double step = step_cycles(r->target, vectors, t->tiles, shared);
	double tiles = (double)(all / t->tiles) * step;

	return rest == 0 ? 1
			 : (tiles + step) /
				   (tiles + step_cycles(r->target, vectors,
							rest, shared));
}

double
tiling_lanes_time(const struct rules *r, struct dtype type, int64_t extent,
		  int64_t lanes)
{
	int64_t vector = target_has_vectors(r->target)
				 ? r->target->vector_bytes / dtype_bytes(type)
				 : 1;
	int64_t step = (lanes + vector - 1) / vector;
	int64_t rest = extent % lanes, tiles = extent / lanes * step;

	return rest == 0
		       ? 1
		       : (double)(tiles + step) /
				 (double)(tiles + (rest + vector - 1) / vector);
}

void
tiling_sizes(struct rules *r, struct tiling *t)
{
	int bytes = dtype_bytes(t->x.out->type);
	int64_t vector = r->target->vector_bytes / bytes;
	int64_t registers = r->target->vector_registers;
	int64_t extent = tiling_extent(&t->x, t->lane);
	int64_t per_row, most, whole;
	bool fits;

	if (vector < 4) {
		vector = 4;
	}
	most = 4 * vector;
	whole = vector;
	t->padded = false;
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
	fits = target_has_vectors(r->target);
	if (fits) {
		pad_lanes(r, t, whole);
	}
	if (t->padded) {
		return;
	}
	fits &= t->operand != NULL && t->lanes % vector == 0;
	if (fits) {
		fit_registers(r, t, vector);
	}
	t->vector = 0;
	if (r->target->block_elems > 0 && t->lanes > vector &&
	    t->lanes % vector == 0 && extent % vector == 0) {
		t->vector = vector;
	}
	if (fits) {
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
