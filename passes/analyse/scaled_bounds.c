/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of a sum by multiples of facts. bounds.c subtracts a fact once; where
 * coefficients differ, the sum and the fact are multiplied first:
 *
 *	16 * ty + tx <= 127, tx >= 0       # the fact
 *	16 * (ty) <= 127 - tx, so ty <= 127 // 16 = 7
 */
#include "linear.h"

/* An upper bound of l: l and the fact (a sum that is at most 0) are multiplied
 * so that atom i cancels in the difference. `most` if the bound is not
 * better. */
static int64_t
max_by_fact(struct analyser *a, const struct linear *l,
	    const struct linear *fact, int i, int64_t most)
{
	const struct term *t = linear_at(l, i);
	int64_t own = t->coeff, other = linear_coeff(fact, t->atom), g;
	struct linear rest;
	struct bounds b;

	if (other == 0 || (own > 0) != (other > 0) || own == INT64_MIN ||
	    other == INT64_MIN) {
		return most;
	}
	own = own < 0 ? -own : own;
	other = other < 0 ? -other : other;
	g = gcd(own, other);
	linear_init(&rest, a);
	linear_add(&rest, l, other / g);
	linear_add(&rest, fact, -(own / g));
	if (rest.broken) {
		return most;
	}
	b = linear_bounds(a, &rest);
	if (b.max == BOUND_POS_INF || b.max == BOUND_NEG_INF) {
		return most;
	}
	b.max = floor_div(b.max, other / g);
	return b.max < most ? b.max : most;
}

static int64_t
tight_max(struct analyser *a, const struct linear *l)
{
	int64_t most = linear_bounds(a, l).max;

	for (int f = 0; f < a->sums.n; f++) {
		for (int i = 0; i < l->n; i++) {
			most = max_by_fact(a, l, &a->sums.data[f]->sum, i,
					   most);
		}
	}
	return most;
}

struct bounds
analyse_tight_bounds(struct analyser *a, const struct expr *e)
{
	struct bounds b = analyse_bounds(a, e);
	struct linear l, negative;
	int64_t most;

	if (!type_is_index(e->type) || may_wrap(a, e)) {
		return b;
	}
	linear_of(a, e, &l);
	linear_init(&negative, a);
	linear_add(&negative, &l, -1);
	if (l.broken || negative.broken) {
		return b;
	}
	most = tight_max(a, &l);
	b.max = most < b.max ? most : b.max;
	most = tight_max(a, &negative);
	if (most != BOUND_POS_INF && most != BOUND_NEG_INF && -most > b.min) {
		b.min = -most;
	}
	return b;
}
