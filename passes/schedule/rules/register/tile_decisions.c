/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of a register tile: the numbers of its lanes and rows. A number
 * is a candidate if the same schedule steps make a tile of this size: the axis
 * is split, into whole vectors if there are several vectors of lanes, and it is
 * the same for all candidates whether tiles overlap. */
#include "decision.h"
#include "register_tile.h"

/* The largest number of vectors of lanes among the candidates. */
enum { MOST_VECTORS = 8 };

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void
decide_lanes(struct rules *r, struct tiling *t)
{
	int64_t extent = tiling_extent(&t->x, t->lane);
	int64_t vector = r->target->vector_bytes / dtype_bytes(t->x.out->type);
	int64_t of = t->granularity > 0 ? t->granularity : extent;
	struct candidates c = { 0 };

	if (t->operand == NULL || t->padded || t->dot.intrin != NULL ||
	    t->lanes >= extent || extent % t->lanes != 0) {
		return;
	}
	vector = vector < 4 ? 4 : vector;
	if (t->vector > 0) {
		candidates_add_steps(r, &c, 2 * t->vector,
				     least(MOST_VECTORS * t->vector,
					   extent - 1),
				     t->vector, of);
	} else if (target_has_vectors(r->target)) {
		/* here the lanes are one vector, or a part of one vector */
		candidates_add_steps(r, &c, 2, least(t->lanes, extent - 1), 1,
				     least(t->lanes, of));
	} else {
		candidates_add_steps(r, &c, 2,
				     least(MOST_VECTORS * vector, extent - 1),
				     1, of);
	}
	t->lanes_number = rules_decide(r, "lanes", &c, &t->lanes);
}

static void
decide_rows(struct rules *r, struct tiling *t)
{
	int64_t extent = t->rows > 1 ? t->x.most[t->row] : 0;
	struct candidates c = { 0 };

	if (t->rows < 2 || t->rows >= extent || t->dot.fill != NULL) {
		return;
	}
	candidates_add_steps(r, &c, 2,
			     least(r->target->vector_registers, extent - 1), 1,
			     t->row_granularity > 0 ? t->row_granularity
			     : tiling_rest(r, &t->x, t->row, t->rows) != 0 ? 0
			     : tiling_extent(&t->x, t->row) > 0 ? extent
								: t->rows);
	t->rows_number = rules_decide(r, "rows", &c, &t->rows);
}

void
tiling_decide(struct rules *r, struct tiling *t)
{
	t->lanes_number = sv_int(t->lanes);
	t->rows_number = sv_int(t->rows);
	decide_lanes(r, t);
	decide_rows(r, t);
}

void
tiling_open_sizes(struct rules *r, struct tiling *t)
{
	int64_t extent = t->row >= 0 ? t->x.most[t->row] : 0;
	int64_t lanes = tiling_extent(&t->x, t->lane);
	struct candidates rows = { 0 }, words = { 0 };

	if (t->padded || t->lane_by_lane || t->lanes < 2) {
		return;
	}
	if (t->rows == 1 && t->row_granularity == 0 && extent > 1) {
		for (int64_t n = 1; n <= 4 && n < extent; n++) {
			candidates_add(r, &rows, n);
		}
		t->rows = rules_way(r, "tile_rows", &rows, 1);
	}
	if (t->dot_lanes > 0 && !target_has_vectors(r->target) &&
	    t->granularity == 0) {
		for (int64_t n = t->dot_lanes; n <= 4 * t->dot_lanes; n *= 2) {
			if (lanes % n == 0) {
				candidates_add(r, &words, n);
			}
		}
		t->lanes = rules_way(r, "tile_lanes", &words, t->lanes);
	}
}

/* Ways to order the outer loops. */
enum { ORDER_OF_RULES, ORDER_LANES_FIRST, ORDER_LANES_LAST, N_ORDERS };

void
tiling_open_order(struct rules *r, const struct tiling *t, int *axes, int n)
{
	struct candidates c = { 0 };
	int64_t way;
	int kept = 0;

	for (int i = 0; i < N_ORDERS; i++) {
		candidates_add(r, &c, i);
	}
	way = n > 1 ? rules_way(r, "order", &c, ORDER_OF_RULES)
		    : ORDER_OF_RULES;
	if (way == ORDER_OF_RULES) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (axes[i] != t->lane) {
			axes[kept++] = axes[i];
		}
	}
	if (kept == n) {
		return;
	}
	for (int i = kept; i > 0 && way == ORDER_LANES_FIRST; i--) {
		axes[i] = axes[i - 1];
	}
	axes[way == ORDER_LANES_FIRST ? 0 : kept] = t->lane;
}
