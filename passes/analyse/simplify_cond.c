/* SPDX-License-Identifier: Apache-2.0 */
/* Simplifies conditions. Comparisons of indices are proved or refuted if
 * possible. All other comparisons are normalized to positive terms on the left,
 * negative ones on the right and one constant:
 *
 *	0 <= h + kh - 1        1 <= h + kh
 *	h * 2 + 2 < w * 2      h + 1 < w */
#include "access.h"
#include "linear.h"

enum { MAX_CONDITIONS = 24 };

static const struct expr *
truth(struct analyser *a, bool v)
{
	return expr_bool(a->module, v);
}

/* Decides the condition l == 0 (if `equal` is set) or l != 0: returns a bool
 * literal if l is provably 0, or provably not 0; else NULL. */
static const struct expr *
decide_equal(struct analyser *a, const struct linear *l, bool equal)
{
	int64_t g = linear_gcd(l);
	struct linear next;

	if (g > 1 && l->constant % g != 0) {
		return truth(a, !equal);
	}
	linear_copy(&next, l);
	linear_add_constant(&next, 1);
	if (linear_never_positive(a, &next)) { /* the sum is negative */
		return truth(a, !equal);
	}
	linear_add_constant(&next, -2);
	if (linear_never_negative(a, &next)) { /* the sum is positive */
		return truth(a, !equal);
	}
	if (linear_never_positive(a, l) && linear_never_negative(a, l)) {
		return truth(a, equal);
	}
	return NULL;
}

/* Decides l < 0 or l <= 0, by the kind: a bool literal; NULL if it cannot be
 * decided. */
static const struct expr *
decide_order(struct analyser *a, enum expr_kind kind, const struct linear *l)
{
	struct linear next;

	linear_copy(&next, l);
	linear_add_constant(&next, kind == EXPR_LT);
	if (linear_never_positive(a, &next)) {
		return truth(a, true);
	}
	linear_copy(&next, l);
	linear_add_constant(&next, kind == EXPR_LT ? 0 : -1);
	if (linear_never_negative(a, &next)) {
		return truth(a, false);
	}
	return NULL;
}

/* Divides the linear form of a comparison with 0 by the common divisor of its
 * terms; the constant of an inequality is rounded. */
static void
divide_common(enum expr_kind kind, struct linear *l)
{
	int64_t g = linear_gcd(l);

	if (g <= 1 || l->constant == INT64_MIN) {
		return;
	}
	for (int i = 0; i < l->n; i++) {
		linear_terms(l)[i].coeff /= g;
	}
	if (kind == EXPR_LE) {
		/* terms / g + constant / g <= 0, the constant rounded up */
		l->constant = -floor_div(-l->constant, g);
	} else {
		l->constant = floor_div(l->constant, g);
	}
}

static const struct expr *
write_compare(struct analyser *a, enum expr_kind kind, struct linear *l,
	      const struct expr *x, const struct expr *y)
{
	const struct expr *sides[2];
	struct dtype t = x->type;
	struct linear left, right;
	bool swap;

	divide_common(kind, l);
	linear_init(&left, a);
	linear_init(&right, a);
	for (int i = 0; i < l->n; i++) {
		const struct term *term = linear_at(l, i);

		if (term->coeff > 0) {
			linear_add_term(&left, term->atom, term->coeff);
		} else if (term->coeff == INT64_MIN) {
			return NULL;
		} else {
			linear_add_term(&right, term->atom, -term->coeff);
		}
	}
	if (l->constant == INT64_MIN) {
		return NULL;
	}
	if (left.n > 0 && right.n > 0) {
		/* prefer x <= y to x < y + 1 */
		if (kind == EXPR_LT && l->constant == -1) {
			kind = EXPR_LE;
			l->constant = 0;
		} else if (kind == EXPR_LE && l->constant == 1) {
			kind = EXPR_LT;
			l->constant = 0;
		}
	}
	/* The constant goes to the side where it is alone or is added, not
	 * subtracted. */
	if (left.n == 0 || (right.n > 0 && l->constant > 0)) {
		left.constant = l->constant;
	} else {
		right.constant = -l->constant;
	}
	linear_fit(&left, t);
	linear_fit(&right, t);
	if (left.broken || right.broken) {
		return NULL;
	}
	/* prefer x == 3 to 3 == x */
	swap = left.n == 0 && (kind == EXPR_EQ || kind == EXPR_NE);
	sides[swap] = linear_emit(a, &left, t);
	sides[!swap] = linear_emit(a, &right, t);
	if (wraps_anew(a, sides[0], x, y) || wraps_anew(a, sides[1], x, y)) {
		return NULL;
	}
	return expr_binary(a->module, kind, sides[0], sides[1]);
}

static bool
may_multiply(struct analyser *a, const struct expr *e, int64_t c)
{
	struct bounds b = analyse_bounds(a, e);

	return b.min >= dtype_min_int(e->type) / c &&
	       b.max <= (int64_t)dtype_max_int(e->type) / c;
}

/* Rewrites x // c < y as x < y * c, and y <= x // c as y * c <= x, if the
 * product cannot overflow. */
static const struct expr *
compare_dividend(struct analyser *a, const struct expr *e)
{
	bool less = e->kind == EXPR_LT;
	const struct expr *quotient = e->args[!less], *y = e->args[less];
	const struct expr *product;
	int64_t c;

	if ((!less && e->kind != EXPR_LE) || quotient->kind != EXPR_FLOORDIV ||
	    !expr_is_int(quotient->args[1], &c) || c <= 0 ||
	    !may_multiply(a, y, c)) {
		return e;
	}
	product = expr_mul(a->module, y, quotient->args[1]);
	return simplify_compare(a, e->kind, less ? quotient->args[0] : product,
				less ? product : quotient->args[0]);
}

/* Decides a comparison by the intervals of x and y alone, for types that may
 * wrap. NULL if undecided. */
static const struct expr *
compare_bounds(struct analyser *a, enum expr_kind kind, const struct expr *x,
	       const struct expr *y)
{
	struct bounds p = analyse_bounds(a, x), q = analyse_bounds(a, y);
	bool below = p.max<q.min, above = p.min> q.max;

	if ((kind == EXPR_EQ || kind == EXPR_NE) && (below || above)) {
		return truth(a, kind == EXPR_NE);
	}
	if (kind == EXPR_LT && (below || p.min >= q.max)) {
		return truth(a, below);
	}
	if (kind == EXPR_LE && (above || p.max <= q.min)) {
		return truth(a, !above);
	}
	return NULL;
}

const struct expr *
simplify_compare(struct analyser *a, enum expr_kind kind, const struct expr *x,
		 const struct expr *y)
{
	const struct expr *plain = expr_binary(a->module, kind, x, y);
	const struct expr *result;
	struct linear l;

	if (plain->kind != kind || !dtype_is_int(x->type) ||
	    x->type.lanes != 1) {
		return plain;
	}
	if (kind == EXPR_GT || kind == EXPR_GE) {
		const struct expr *swap = x;

		kind = kind == EXPR_GT ? EXPR_LT : EXPR_LE;
		x = y;
		y = swap;
	}
	if (!type_is_index(x->type) || !linear_difference(a, x, y, &l)) {
		result = compare_bounds(a, kind, x, y);
		return result ? result : plain;
	}
	if (kind == EXPR_EQ || kind == EXPR_NE) {
		result = decide_equal(a, &l, kind == EXPR_EQ);
	} else {
		result = decide_order(a, kind, &l);
	}
	if (!result) {
		result = write_compare(a, kind, &l, x, y);
		result = result ? compare_dividend(a, result) : NULL;
	}
	return result ? result : plain;
}

/* -- and, or */

struct conditions {
	const struct expr *list[MAX_CONDITIONS];
	int n;
};

static bool
flatten(enum expr_kind kind, const struct expr *e, struct conditions *c)
{
	if (e->kind == kind) {
		return flatten(kind, e->args[0], c) &&
		       flatten(kind, e->args[1], c);
	}
	if (c->n == MAX_CONDITIONS) {
		return false;
	}
	c->list[c->n++] = e;
	return true;
}

/* Is q redundant in p and q (p implies q), or in p or q (q implies p)? */
static bool
makes_redundant(struct analyser *a, enum expr_kind kind, const struct expr *p,
		const struct expr *q)
{
	return kind == EXPR_AND ? condition_implies(a, p, q)
				: condition_implies(a, q, p);
}

static const struct expr *
negated(struct analyser *a, const struct expr *e)
{
	if ((e->kind == EXPR_LT || e->kind == EXPR_LE) &&
	    dtype_is_int(e->args[0]->type)) {
		return expr_binary(a->module,
				   e->kind == EXPR_LT ? EXPR_LE : EXPR_LT,
				   e->args[1], e->args[0]);
	}
	return expr_not(a->module, e);
}

/* For AND: does p imply not q, so that p and q is false? For OR: does not p
 * imply q, so that p or q is true? */
static bool
excludes(struct analyser *a, enum expr_kind kind, const struct expr *p,
	 const struct expr *q)
{
	return kind == EXPR_AND ? condition_implies(a, p, negated(a, q))
				: condition_implies(a, negated(a, p), q);
}

/* Can conditions i + 1 to j be evaluated even if condition i, which is tested
 * before them, does not hold? */
static bool
are_total(struct analyser *a, const struct conditions *c, int i, int j)
{
	bool total = true;

	for (i++; i <= j && total; i++) {
		total = !c->list[i] || expr_is_total(a, c->list[i]);
	}
	return total;
}

/* Drops condition i if condition j makes it redundant. Conditions are evaluated
 * in order, so condition i may guard loads and divisions in the conditions
 * after it. If j is later than i and conditions i + 1 to j contain loads or
 * divisions, condition j takes the place of i if j itself contains none; else
 * both stay. */
static void
drop_redundant(struct analyser *a, enum expr_kind kind, struct conditions *c,
	       int i, int j)
{
	if (!makes_redundant(a, kind, c->list[j], c->list[i])) {
		return;
	}
	if (j < i || are_total(a, c, i, j)) {
		c->list[i] = NULL;
	} else if (expr_is_total(a, c->list[j])) {
		c->list[i] = c->list[j];
		c->list[j] = NULL;
	}
}

const struct expr *
simplify_logical(struct analyser *a, enum expr_kind kind, const struct expr *x,
		 const struct expr *y)
{
	struct conditions c = { .n = 0 };
	const struct expr *result = NULL;

	if (x->type.lanes != 1 || y->type.lanes != 1 || !flatten(kind, x, &c) ||
	    !flatten(kind, y, &c)) {
		return expr_binary(a->module, kind, x, y);
	}
	for (int i = 0; i < c.n; i++) {
		for (int j = 0; j < c.n && c.list[i]; j++) {
			if (i == j || !c.list[j]) {
				continue;
			}
			if (excludes(a, kind, c.list[i], c.list[j])) {
				return truth(a, kind == EXPR_OR);
			}
			drop_redundant(a, kind, &c, i, j);
		}
	}
	for (int i = 0; i < c.n; i++) {
		if (c.list[i]) {
			result = result ? expr_binary(a->module, kind, result,
						      c.list[i])
					: c.list[i];
		}
	}
	return result;
}
