/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the size of a register tile, lanes and rows, by the target's
 * registers. */
#include "register_tile.h"

#include <string.h>

/* MOST_TERMS: the largest number of terms of a sum that is written out, those
 * of a window of 5 x 5. LEAST_PRODUCTS: if a loop over lanes has fewer products
 * in total, compilers unroll it before they vectorize it. LEAST_WIDE: the least
 * lanes for which constants are copied as numbers as wide as the sums. */
enum { MOST_TERMS = 25, LEAST_PRODUCTS = 72, LEAST_WIDE = 8 };

int64_t
tiling_extent(const struct block_access *x, int iter)
{
	int64_t v;

	return expr_is_int(x->info->iters[iter].extent, &v) ? v : 0;
}

int64_t
tiling_rest(struct rules *r, const struct block_access *x, int iter, int64_t n)
{
	const struct expr *extent = x->info->iters[iter].extent;
	struct analyser a;
	int64_t v;

	if (expr_is_int(extent, &v)) {
		return v % n;
	}
	analyser_init(&a, r->module);
	return prove_equal(&a,
			   expr_floormod(r->module, extent,
					 expr_int(r->module, extent->type, n)),
			   expr_int(r->module, extent->type, 0))
		       ? 0
		       : -1;
}

/* See register_tile.h. Whole vectors that divide the axis if possible, the
 * whole axis if it is short, else vectors with a padded end. */
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

/* The number of rows of a tile: at most `most`, the number that the registers
 * hold, and such that the last tile of the axis wastes the least; if
 * granularity is not 0, a divisor of it. */
static int64_t
choose_rows(int64_t extent, int64_t most, int64_t granularity)
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

		/* A wasted row costs more than a smaller tile, and a remainder
		 * means a second copy of the loops. */
		waste = waste * 8 + (most - d) * blocks +
			(waste > 0 ? extent / 2 : 0);
		if (waste < best_waste) {
			best = d;
			best_waste = waste;
		}
	}
	return best;
}

/* The number of operations that unpack an element of fewer than 8 bits. */
enum { NIBBLE_OPERATIONS = 3 };

/* The number of operations in e on a vector of lanes whose results are the same
 * for all rows. Widening a byte counts as part of loading it. */
static int64_t
count_row_invariant(const struct expr *e, const struct var *lane,
		    const struct var *row)
{
	bool widens = e->kind == EXPR_CAST && e->args[0]->kind == EXPR_LOAD;
	int64_t n = 0;

	if (e->kind == EXPR_LOAD || !expr_uses_var(e, lane)) {
		return 0;
	}
	if (!expr_uses_var(e, row)) {
		n = !widens                            ? 1
		    : dtype_bits(e->args[0]->type) < 8 ? NIBBLE_OPERATIONS
						       : 0;
	}
	for (int i = 0; i < e->n_args; i++) {
		n += count_row_invariant(e->args[i], lane, row);
	}
	return n;
}

/* The number of operations on each vector of the lanes' operand whose results
 * all rows share, such as scaling or unpacking weights. */
static int64_t
row_invariant_operations(const struct tiling *t)
{
	const struct iter_var *iters = t->x.info->iters;
	const struct stmt *store = t->x.block->children[0];

	return t->row < 0 || store->kind != STMT_STORE
		       ? 0
		       : count_row_invariant(store->args[0], iters[t->lane].var,
					     iters[t->row].var);
}

/* Does the target need a separate load to spread each element of the rows'
 * operand over a vector? AVX-512 and NEON, which have 32 registers, multiply by
 * an element directly. */
static bool
spreads_elements(const struct target *target)
{
	return !target->without_fma && target->vector_registers <= 16 &&
	       target->complete_unroll == 0;
}

/* The estimated cycles of one step of the reduction with vectors * rows
 * accumulators: two products or two loads per cycle, a latency of four cycles
 * for sums, the operations whose results all rows share, and the instructions
 * of the loop. Three loads that spread an element to all lanes take two cycles,
 * a number fitted to times on an EPYC of Zen 3. Without fused multiply-add,
 * additions and broadcasts are operations too. If vectorization is left to the
 * compiler, several vectors take somewhat longer. */
static double
step_cycles(const struct target *target, const struct tiling *t,
	    int64_t vectors, int64_t rows)
{
	int64_t operations = vectors * (rows + row_invariant_operations(t));
	bool spreads = t->operand != NULL && spreads_elements(target);
	double work, loads = (double)(vectors + rows) / (spreads ? 1.5 : 2);

	if (target->without_fma) {
		operations += vectors * rows + rows;
	}
	work = (double)operations / 2;
	work = work < loads ? loads : work;
	work = (work < 4 ? 4 : work) + 1;
	return target->complete_unroll > 0 && vectors > 1 ? 1.35 * work : work;
}

/* The cycles that the second cache takes to deliver the lanes' operand for one
 * step, at three quarters of a vector per cycle. 0 if the operand for all steps
 * fits in a quarter of the first cache, or if the size of the first cache is
 * not known. Both numbers were fitted to times on an EPYC of Zen 3. */
static double
second_cache_cycles(const struct rules *r, const struct tiling *t,
		    int64_t vectors)
{
	double steps = 1, bytes;

	if (t->operand == NULL || r->target->l1_bytes == 0) {
		return 0;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			steps *= (double)t->x.most[i];
		}
	}
	bytes = (double)(vectors * r->target->vector_bytes) *
		dtype_bytes(t->operand->load->type) /
		dtype_bytes(t->x.out->type);
	return steps * bytes <= (double)r->target->l1_bytes / 4
		       ? 0
		       : bytes / (0.75 * (double)r->target->vector_bytes);
}

/* The number of registers that are kept free for loads ahead. Compilers unroll
 * the innermost reduction loop if it is short, and load the elements of the
 * loop's next step early. If the axis of the rows is symbolic, each of these
 * elements needs a register for its address, and accumulators for which no
 * registers are left are kept in memory. */
static int64_t
loads_ahead(const struct tiling *t)
{
	enum { AHEAD = 2 };
	int64_t longest = 0;

	if (t->row < 0 || tiling_extent(&t->x, t->row) > 0) {
		return 0;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE &&
		    t->x.most[i] > longest) {
			longest = t->x.most[i];
		}
	}
	return longest > 1 && longest <= TILING_SHORT ? AHEAD : 0;
}

/* The most rows of a tile if vectorization is left to the compiler, which
 * unrolls them: the accumulators, `lanes` for each row, leave two registers of
 * `vector` elements for the operands. */
static int64_t
unrolled_rows(const struct target *target, int64_t vector, int64_t lanes)
{
	int64_t rows = (target->vector_registers - 2) * vector / lanes;

	return rows < 1                         ? 1
	       : rows < target->complete_unroll ? rows
						: target->complete_unroll;
}

/* The most rows of n vectors that fit the registers, beside a row of the lanes'
 * operand, one element of the other operand, those loaded ahead, and, without
 * fused multiply-add, a product. With many vectors, compilers load the next
 * element early. */
static int64_t
most_rows(const struct target *target, int64_t n, int64_t ahead)
{
	int64_t registers = target->vector_registers - target->without_fma -
			    ahead;

	return target->complete_unroll > 0 ? unrolled_rows(target, 1, n)
					   : (registers - 1 - n - (n > 2)) / n;
}

/* The cost of a tile of `vectors` vectors and `rows` rows, for all rows of one
 * vector. */
struct tile_cost {
	int64_t vectors, rows;
	/* the estimated cycles of the tile; 0: no tile was found */
	double cycles;
	/* the number of rows divides the axis: no tile overlaps another, and
	 * the loops need no second copy */
	bool divides;
};

/* A tile whose rows divide the axis is preferred if it takes at most this many
 * times as long as the fastest tile: if the rows do not divide the axis, the
 * last tile overlaps the tile before it (the pass "overlap"), or needs a second
 * copy of the loops. */
static const double DIVIDING_MAY_TAKE = 1.02;

/* The better one of two tiles: the faster one, or the one whose rows divide the
 * axis if it is hardly slower. If both are equally fast, the one that loads
 * fewer vectors and elements per step; if these are equal, too, the one with
 * fewer vectors. */
static struct tile_cost
better_cost(struct tile_cost x, struct tile_cost y)
{
	double more = x.divides == y.divides ? 1
		      : x.divides            ? DIVIDING_MAY_TAKE
					     : 1 / DIVIDING_MAY_TAKE;

	if (x.cycles == 0 || y.cycles == 0) {
		return x.cycles == 0 ? y : x;
	}
	if (x.cycles == y.cycles && x.divides == y.divides) {
		int64_t loads = x.vectors + x.rows - y.vectors - y.rows;

		return loads < 0 || (loads == 0 && x.vectors <= y.vectors) ? x
									   : y;
	}
	return x.cycles <= y.cycles * more ? x : y;
}

/* The number of tiles along the rows if a tile has this number of rows. A
 * symbolic axis is assumed to have a medium length, with half of its last tile
 * wasted. */
static double
count_tiles(const struct tiling *t, int64_t all, int64_t rows)
{
	enum { MEDIUM = 64 };

	if (t->row < 0 || tiling_extent(&t->x, t->row) > 0) {
		return (double)((all + rows - 1) / rows);
	}
	all = all < MEDIUM ? all : MEDIUM;
	return ((double)all + (double)(rows - 1) / 2) / (double)rows;
}

/* Compilers choose the number of vector lanes by the smallest type in a loop,
 * so that a vector of sixteen bytes needs several vectors for its sums. So
 * tiles with more lanes are faster for products of bytes, by this factor. */
static const double HALF_VECTORS = 1.8;

/* Are rows of the tile next to each other in the other operand? */
static bool
has_adjacent_rows(const struct tiling *t)
{
	for (int l = 0; l < t->x.n_loads; l++) {
		const struct load_access *a = &t->x.loads[l];

		if (t->row >= 0 && a != t->operand &&
		    expr_uses_var(a->load->args[a->load->n_args - 1],
				  t->x.info->iters[t->row].var)) {
			return true;
		}
	}
	return false;
}

/* The number of terms of each sum; 0: it is not a constant. */
static int64_t
count_terms(const struct tiling *t)
{
	int64_t terms = 1;

	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			terms *= tiling_extent(&t->x, i);
		}
	}
	return terms;
}

/* The bytes of an element of the lanes' operand, as the products read it. */
static int
operand_bytes(const struct tiling *t)
{
	return dtype_bytes(t->widens ? t->x.out->type : t->operand->load->type);
}

/* Is a vector of lanes two registers of a compiler that has sixteen of these,
 * each of half of a vector? So it is if vectorization is left to the compiler and
 * the processor has AVX2. Products of bytes take other vectors (HALF_VECTORS), and
 * compilers write out short sums. */
static bool
takes_two_registers(const struct target *target, const struct tiling *t)
{
	return target->complete_unroll > 0 && target->vector_registers <= 16 &&
	       t->operand != NULL && operand_bytes(t) == 4 &&
	       t->lanes % (target->vector_bytes / 4) == 0 &&
	       count_terms(t) > TILING_SHORT &&
	       (t->widens || !has_adjacent_rows(t));
}

/* The estimated cycles, for each vector, of one step of a tile whose vectors take
 * two registers each; fitted to times on an EPYC of Zen 5, with AVX2 and with
 * AVX-512. clang loads the elements of all rows first, and keeps sums in memory
 * where the sums, the elements and a part of a vector do not fit the registers.
 * Sums of up to three rows of one vector wait for each other where a vector is one
 * register. */
static double
two_register_cycles(const struct tiling *t, int64_t vectors, int64_t rows)
{
	enum { REGISTERS = 16 };
	static const double of_rows[] = { 6, 6, 6, 5.5, 6 };
	bool fits = rows * (2 * vectors + 1) + t->widens < REGISTERS;

	if (vectors > 1) {
		return fits ? 5 : 2 * (double)(rows + 1);
	}
	return fits ? of_rows[rows - 1] : 1.24 * (double)(rows + 1);
}

/* The tile with this number of vectors and the best number of rows for it. */
static struct tile_cost
tile_cycles(struct rules *r, const struct tiling *t, int64_t vectors)
{
	int64_t all = t->row >= 0 ? t->x.most[t->row] : 1;
	int64_t most = most_rows(r->target, vectors, loads_ahead(t));
	struct tile_cost best = { .vectors = vectors };

	for (int64_t rows = most < all ? most : all; rows >= 1; rows--) {
		double step = takes_two_registers(r->target, t)
				      ? (double)vectors *
						two_register_cycles(t, vectors,
								    rows)
				      : step_cycles(r->target, t, vectors,
						    rows);
		double least = second_cache_cycles(r, t, vectors) + 1;
		struct tile_cost x = {
			vectors,
			rows,
			count_tiles(t, all, rows) *
				(step < least ? least : step) / (double)vectors,
			t->row < 0 || tiling_rest(r, &t->x, t->row, rows) == 0,
		};

		if (r->target->complete_unroll > 0 && vectors == 1 &&
		    t->operand != NULL && operand_bytes(t) == 1) {
			x.cycles *= HALF_VECTORS;
		}
		if (t->row_granularity == 0 || t->row_granularity % rows == 0) {
			best = better_cost(best, x);
		}
	}
	return best;
}

/* Sets t->lanes and t->rows to the sizes of the tile that takes the fewest
 * cycles. Fewer lanes, a divisor of t->lanes, may leave registers for more
 * rows. Changes nothing if no tile fits. */
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
		t->rows = best.rows;
	}
}

/* The estimated cycles for one row of a result (a pixel) in `vectors` vectors:
 * each takes `sums` multiply-adds, two per cycle, and `stores` stores, one per
 * cycle. */
static double
lanes_cycles(int64_t vectors, double sums, int64_t stores)
{
	return (double)vectors * (sums / 2 + (double)stores);
}

/* The length of the vectors to which lanes are padded: the dot product's lanes
 * if there is a dot product; else the target's vector, halved (down to four
 * lanes) until the axis fills it. */
static int64_t
padded_vector(const struct tiling *t, int64_t vector)
{
	if (t->dot_lanes > 0) {
		return t->dot_lanes;
	}
	while (vector > 4 && tiling_extent(&t->x, t->lane) < vector) {
		vector /= 2;
	}
	return vector;
}

/* Is padding faster than shorter vectors that divide the axis? */
static bool
gains_by_padding(const struct rules *r, const struct tiling *t, int64_t vector)
{
	int64_t extent = tiling_extent(&t->x, t->lane);
	int64_t padded = (extent + vector - 1) / vector * vector, part;
	double sums = 1, uses = 1, now, then;

	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			sums *= (double)t->x.most[i];
		} else if (i != t->lane) {
			uses *= (double)t->x.most[i];
		}
	}
	/* If an element of the operand is used only once, or the operands
	 * exceed the cache, the time is that of loading the operands' bytes,
	 * which padding increases. */
	if (t->dot_lanes == 0 &&
	    (uses < 2 ||
	     (padded * 8 > extent * 9 &&
	      sums * (double)padded * dtype_bytes(t->operand->load->type) >
		      (double)r->target->l1_bytes))) {
		return false;
	}
	part = r->target->vector_bytes / dtype_bytes(t->x.out->type);
	while (part > 1 && t->lanes % part != 0) {
		part /= 2;
	}
	part = part < 4 ? 1 : part;
	now = lanes_cycles((extent + part - 1) / part, sums,
			   part == t->out_block ? 1 : part);
	then = t->dot_lanes > 0 ? lanes_cycles(padded / vector,
					       sums / (double)t->dot_depth, 0) +
					  (double)extent
				: lanes_cycles(padded / vector, sums, vector);
	return extent % t->lanes != 0 || then < 0.9 * now;
}

/* The fastest tile of at most four vectors. Its cycles are the total for all
 * lanes of the axis, including the zeros after its end. */
static struct tile_cost
padded_cost(struct rules *r, const struct tiling *t, int64_t vector)
{
	int64_t extent = tiling_extent(&t->x, t->lane);
	struct tile_cost best = { 0 };

	for (int64_t n = 1; n <= 4; n++) {
		int64_t blocks = (extent + n * vector - 1) / (n * vector);
		struct tile_cost x = tile_cycles(r, t, n);

		x.cycles *= (double)(blocks * n);
		best = better_cost(best, x);
	}
	return best;
}

/* Are tiles of several vectors faster, padded with zeros at the end, than tiles
 * of one vector, if the number of lanes of only one vector divides the axis?
 * Elements that are spread are loaded once for each tile. */
static bool
gains_by_wide_tiles(struct rules *r, const struct tiling *t, int64_t vector)
{
	struct tile_cost wide;
	double vectors = (double)(tiling_extent(&t->x, t->lane) / vector);

	if (!spreads_elements(r->target) || t->dot_lanes > 0 ||
	    t->lanes != vector || t->row < 0 || t->x.most[t->row] < 2) {
		return false;
	}
	wide = padded_cost(r, t, vector);
	return wide.vectors > 1 &&
	       wide.cycles < 0.9 * vectors * tile_cycles(r, t, 1).cycles;
}

/* Pads the lanes of t to whole vectors of `whole` lanes if that is faster. */
static void
pad_lanes(struct rules *r, struct tiling *t, int64_t whole)
{
	int64_t extent = tiling_extent(&t->x, t->lane);
	int64_t vector = padded_vector(t, whole);
	struct tile_cost best;

	if (!t->may_pad || t->operand == NULL || t->operand->weight == NULL ||
	    r->target->block_elems == 0 || t->granularity > 0 ||
	    (extent % vector == 0 ? !gains_by_wide_tiles(r, t, vector)
				  : !gains_by_padding(r, t, vector))) {
		return;
	}
	best = padded_cost(r, t, vector);
	if (best.cycles > 0) {
		t->lanes = best.vectors * vector;
		t->rows = best.rows;
	}
	t->vector = vector;
	t->padded = true;
	t->widens = false;
}

double
tiling_overlap_time(const struct rules *r, const struct tiling *t)
{
	int64_t elements = r->target->vector_bytes /
			   dtype_bytes(t->x.out->type);
	int64_t vector = elements < 4 ? 4 : elements;
	int64_t vectors = (t->lanes + vector - 1) / vector;
	int64_t all = t->x.most[t->row];
	int64_t rest = tiling_extent(&t->x, t->row) % t->rows;
	double step = step_cycles(r->target, t, vectors, t->rows);
	double tiles = (double)(all / t->rows) * step;

	return rest == 0
		       ? 1
		       : (tiles + step) / (tiles + step_cycles(r->target, t,
							       vectors, rest));
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

/* Takes a different axis for the rows if whole tiles leave a smaller share of
 * that axis's iterations over: left-over iterations get a separate loop, which
 * shares no loads. */
static void
choose_row_axis(struct tiling *t, int64_t rows)
{
	int64_t extent = tiling_extent(&t->x, t->row);

	for (int i = t->x.n_spatial - 1; i >= 0; i--) {
		int64_t other = tiling_extent(&t->x, i);

		if (i != t->lane && other > 1 && t->operand != NULL &&
		    t->operand->use[i] == AXIS_UNUSED &&
		    other % rows * extent < extent % rows * other) {
			t->row = i;
			extent = other;
		}
	}
}

/* Chooses the tile of a dot product whose sums are in general registers, on a
 * target without vectors: the sums take half of the registers. Two rows share
 * the loaded words of the constant; a product without rows has more lanes,
 * which share the loaded word of the data. False: the target has no such dot
 * product. */
static bool
sums_in_words(const struct rules *r, struct tiling *t, int64_t extent)
{
	int64_t calls;

	if (target_has_vectors(r->target) || t->dot_lanes == 0 ||
	    t->granularity > 0 || extent % t->dot_lanes != 0) {
		return false;
	}
	calls = r->target->vector_registers / (2 * t->dot_lanes);
	t->vector = t->lanes = t->dot_lanes;
	t->rows = 1;
	if (t->row >= 0) {
		t->rows = calls > 1 ? calls : 1;
		choose_row_axis(t, t->rows);
	} else if (calls > 1 && extent % (calls * t->dot_lanes) == 0) {
		t->lanes = calls * t->dot_lanes;
	}
	return true;
}

/* Are the sums integers, on a target without vector registers? Then only
 * general registers can hold the sums. */
static bool
needs_general_registers(const struct rules *r, const struct tiling *t)
{
	return r->target->vector_bytes == 0 && !target_has_vectors(r->target) &&
	       !dtype_is_float(t->x.out->type);
}

/* Is speed the goal (--optimize), not small code or little memory? */
static bool
is_for_speed(const struct rules *r)
{
	const char *goal = r->target->goal;

	return goal == NULL || strcmp(goal, "speed") == 0;
}

bool
tiling_sums_in_general_registers(const struct rules *r, const struct tiling *t)
{
	return needs_general_registers(r, t) && is_for_speed(r);
}

/* Chooses the tile of sums in general registers: no more sums than these hold.
 * More than eight lanes leave too few registers for addresses and the counters
 * of a window's loops. False if other registers hold the sums, or no lanes
 * divide the axis. */
static bool
fit_general_registers(const struct rules *r, struct tiling *t, int64_t extent)
{
	enum { MOST_LANES = 8, SHARED = 4 };
	int64_t sums = r->target->vector_registers;
	int64_t most = sums < MOST_LANES ? sums : MOST_LANES, lanes;

	if (t->operand == NULL || extent == 0 ||
	    !tiling_sums_in_general_registers(r, t)) {
		return false;
	}
	lanes = tiling_lanes(extent, most < SHARED ? most : SHARED, most,
			     t->granularity);
	if (lanes < 2) {
		return false;
	}
	t->vector = 0;
	t->lanes = lanes;
	t->rows = t->row < 0 || sums < 2 * lanes
			  ? 1
			  : choose_rows(t->x.most[t->row], sums / lanes,
					t->row_granularity);
	return true;
}

/* Is it better to compute the lanes one after the other, each sum in a
 * variable? It is if vectorization is left to the compiler, the elements of a
 * tile share no operand, and the sum, such as that of a window, is short enough
 * to be written out. An array of sums would be stored and loaded. */
static bool
sums_lane_by_lane(const struct rules *r, const struct tiling *t)
{
	const struct stmt *store = t->x.block->children[0];
	int64_t terms = 1;

	if (r->target->complete_unroll == 0 || t->operand != NULL ||
	    store->kind != STMT_STORE) {
		return false;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		const struct iter_var *v = &t->x.info->iters[i];

		if (rules_tests_var(store->args[0], v->var, false)) {
			return false;
		}
		if (v->kind == ITER_REDUCE) {
			int64_t extent = tiling_extent(&t->x, i);

			if (extent < 1 || extent > MOST_TERMS / terms) {
				return false;
			}
			terms *= extent;
		}
	}
	return terms * t->lanes >= LEAST_PRODUCTS;
}

/* Should the kernel copy the constants, bytes, as numbers as wide as the sums?
 * Where vectorization is left to the compiler, bytes would give its vectors
 * their length, so that sixteen of them make several vectors of sums. */
static bool
gains_by_widening(const struct rules *r, const struct tiling *t, int64_t extent,
		  int64_t vector)
{
	enum { LEAST_USES = 256 };
	const struct load_access *a = t->operand;
	int64_t elems, uses = 1, bytes = dtype_bytes(t->x.out->type);

	if (r->target->complete_unroll == 0 || !is_for_speed(r) || a == NULL ||
	    a->weight == NULL || t->row < 0 || t->x.n_loads != 2 ||
	    extent > vector || dtype_bits(a->load->type) != 8 ||
	    !dtype_is_int(a->load->type) || !dtype_is_int(t->x.out->type) ||
	    !buffer_const_elems(a->load->u.buffer, &elems)) {
		return false;
	}
	for (int i = 0; i < t->x.n_spatial; i++) {
		uses *= a->use[i] == AXIS_UNUSED ? tiling_extent(&t->x, i) : 1;
	}
	return uses >= LEAST_USES &&
	       elems * bytes <= r->target->stack_limit_bytes / 4;
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
	if (t->operand != NULL && extent == 0) {
		int64_t two = 2 * vector, largest = t->x.most[t->lane];

		t->lanes = largest >= two      ? two
			   : largest >= vector ? vector
					       : 0;
	} else if (t->operand != NULL) {
		t->widens = gains_by_widening(r, t, extent, vector);
		t->lanes = tiling_lanes(extent, vector, most, t->granularity);
		t->widens &= t->lanes >= LEAST_WIDE;
		if (t->operand->weight == NULL && t->granularity == 0 &&
		    t->lanes % vector != 0 && extent > vector) {
			/* the tile is one vector, and the axis has a
			 * remainder */
			t->lanes = vector;
		}
	}
	if (sums_in_words(r, t, extent) ||
	    fit_general_registers(r, t, extent)) {
		return;
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
	/* if there are two loops over lanes, the last lanes cannot overlap the
	 * lanes of the tile before them */
	if (r->target->block_elems > 0 && t->lanes > vector && extent > 0 &&
	    t->lanes % vector == 0 && extent % vector == 0) {
		t->vector = vector;
	}
	if (fits) {
		return;
	}
	t->rows = 1;
	t->lane_by_lane = sums_lane_by_lane(r, t);
	if (t->lane_by_lane) {
		return;
	}
	per_row = (t->lanes + vector - 1) / vector;
	if (t->row >= 0) {
		most = needs_general_registers(r, t)
			       ? 1 /* the sums are in memory, not in
				    * registers */
			       : (registers * 7 / 8) / per_row;
		/* If elements are not reused, there are enough rows to hide the
		 * latency of additions. */
		if (t->operand == NULL) {
			most = registers / 4;
		}
		if (r->target->complete_unroll > 0 && t->lanes > 0 &&
		    t->lanes <= vector) {
			most = unrolled_rows(r->target, vector, t->lanes) /
			       (t->widens ? 2 : 1);
		}
		t->rows = choose_rows(t->x.most[t->row], most < 1 ? 1 : most,
				      t->row_granularity);
	}
}
