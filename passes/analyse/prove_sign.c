/* SPDX-License-Identifier: Apache-2.0 */
/* Proves that a linear form is never positive: by constant bounds, by known
 * facts, and by substituting the maximum of a variable with a symbolic range
 * (in reverse order of binding, as ranges may use earlier variables), or that
 * of a min, a max or a quotient. */
#include "iterate.h"
#include "linear.h"

/* The limits of one proof: the depth of nested substitutions, and their number.
 * Each min and max doubles the search. */
enum { DECIDE_DEPTH = 8, DECIDE_STEPS = 400 };

/* For a form with more terms, a counterexample is searched first. */
enum { FEW_TERMS = 4 };

static bool never_positive(struct analyser *a, const struct linear *l,
			   int depth);

static bool
by_bounds(struct analyser *a, const struct linear *l)
{
	struct bounds b;

	if (l->broken) {
		return false;
	}
	b = linear_bounds(a, l);
	return b.max <= 0;
}

/* Tries to prove l <= 0, where term i of l is replaced by scale * by, an upper
 * bound of the term. */
static bool
with_replaced(struct analyser *a, const struct linear *l, int i,
	      const struct linear *by, int64_t scale, int depth)
{
	struct linear next;
	struct term t = *linear_at(l, i);

	linear_copy(&next, l);
	linear_add_term(&next, t.atom, -t.coeff);
	linear_add(&next, by, scale);
	return !next.broken && never_positive(a, &next, depth + 1);
}

/* The index of the variable in a->vars; -1 if the atom is not a variable with a
 * symbolic range or a value. */
static int
ranged_variable(const struct analyser *a, const struct expr *atom)
{
	if (atom->kind != EXPR_VAR) {
		return -1;
	}
	for (int i = a->vars.n - 1; i >= 0; i--) {
		const struct analyser_var *v = &a->vars.data[i];

		if (v->var == atom->u.var) {
			return v->value || v->extent ? i : -1;
		}
	}
	return -1;
}

/* Sets *out to the largest (or smallest) value of a variable, as a linear
 * form. */
static void
range_end(struct analyser *a, const struct analyser_var *v, bool largest,
	  struct linear *out)
{
	if (v->value) {
		linear_of(a, v->value, out);
		return;
	}
	linear_of(a, v->min, out);
	if (largest) {
		linear_add_expr(out, v->extent, 1);
		linear_add_constant(out, -1);
	}
}

static bool
by_variable(struct analyser *a, const struct linear *l, int depth)
{
	int latest = -1, at = -1;
	struct linear end;
	int64_t coeff;

	for (int i = 0; i < l->n; i++) {
		int position = ranged_variable(a, linear_at(l, i)->atom);

		if (position > latest) {
			latest = position;
			at = i;
		}
	}
	if (at < 0) {
		return false;
	}
	coeff = linear_at(l, at)->coeff;
	range_end(a, &a->vars.data[latest], coeff > 0, &end);
	return with_replaced(a, l, at, &end, coeff, depth);
}

/* l += scale * sum * p; broken if a factor is loaded: the product may wrap. */
static void
add_multiplied(struct analyser *a, struct linear *l, const struct linear *sum,
	       int64_t scale, const struct product *p)
{
	for (int i = -1; i < sum->n; i++) {
		struct product q = *p;
		int64_t k = i < 0 ? sum->constant : linear_at(sum, i)->coeff;

		l->broken |= sum->broken ||
			     __builtin_mul_overflow(k, scale, &k) ||
			     __builtin_mul_overflow(q.scale, k, &q.scale) ||
			     (i >= 0 &&
			      !product_add(&q, linear_at(sum, i)->atom));
		for (int j = 0; j < q.n && !l->broken; j++) {
			l->broken = holds_data(a, q.factor[j]);
		}
		if (!l->broken && k != 0) {
			linear_add_product(a, l, &q);
		}
	}
}

/* Bounds term i of l, a product, by bounding one factor of it, if the other
 * factors are not negative: o * n <= (m - 1) * n for 0 <= o < m. */
static bool
by_factor(struct analyser *a, const struct linear *l, int i, int depth)
{
	struct term term = *linear_at(l, i);
	struct product p = { .scale = 1 };

	if (may_wrap(a, term.atom) || !product_add(&p, term.atom)) {
		return false;
	}
	for (int j = 0; j < p.n; j++) {
		int position = ranged_variable(a, p.factor[j]);
		struct product others = { .scale = 1 };
		struct linear end, next;
		bool positive = true;

		for (int k = 0; k < p.n; k++) {
			if (k != j) {
				others.factor[others.n++] = p.factor[k];
				positive &=
					analyse_bounds(a, p.factor[k]).min >= 0;
			}
		}
		if (position < 0 || !positive) {
			continue;
		}
		range_end(a, &a->vars.data[position], term.coeff > 0, &end);
		linear_copy(&next, l);
		linear_add_term(&next, term.atom, -term.coeff);
		add_multiplied(a, &next, &end, term.coeff, &others);
		if (!next.broken && never_positive(a, &next, depth + 1)) {
			return true;
		}
	}
	return false;
}

/* l = fact + rest, fact <= 0 */
static bool
by_fact(struct analyser *a, const struct linear *l)
{
	for (int i = 0; i < a->sums.n; i++) {
		const struct linear *fact = &a->sums.data[i]->sum;
		struct linear rest;

		linear_copy(&rest, l);
		linear_add(&rest, fact, -1);
		if (rest.n < l->n + fact->n &&
		    never_positive(a, &rest, DECIDE_DEPTH - 2)) {
			return true;
		}
	}
	return false;
}

/* An integer v is <= 0 if k * v < k: x // c - n + 1 <= 0 follows from x - c * n
 * + 1 <= 0. */
static bool
by_whole_quotient(struct analyser *a, const struct linear *l, int i, int64_t c,
		  int depth)
{
	struct term t = *linear_at(l, i);
	int64_t k = c / gcd(c, t.coeff);
	struct linear next, x;

	linear_of(a, t.atom->args[0], &x);
	if (t.coeff < 0) {
		linear_add_constant(&x, 1 - c);
	}
	linear_init(&next, a);
	linear_add(&next, l, k);
	linear_add_constant(&next, 1 - k);
	t.coeff = linear_coeff(&next, t.atom);
	linear_add_term(&next, t.atom, -t.coeff);
	linear_add(&next, &x, t.coeff / c);
	return !next.broken && ((depth == 0 && by_fact(a, &next)) ||
				never_positive(a, &next, depth + 1));
}

static bool
by_atom(struct analyser *a, const struct linear *l, int depth)
{
	struct linear end;

	for (int i = 0; i < l->n; i++) {
		const struct expr *e = linear_at(l, i)->atom;
		int64_t coeff = linear_at(l, i)->coeff, c;

		if (e->kind == (coeff > 0 ? EXPR_MIN : EXPR_MAX)) {
			for (int side = 0; side < 2; side++) {
				linear_of(a, e->args[side], &end);
				if (with_replaced(a, l, i, &end, coeff,
						  depth)) {
					return true;
				}
			}
			return false;
		}
		/* x - c + 1 <= c * (x // c) <= x */
		if (e->kind == EXPR_FLOORDIV && expr_is_int(e->args[1], &c) &&
		    c > 0 && coeff % c == 0) {
			linear_of(a, e->args[0], &end);
			if (coeff < 0) {
				linear_add_constant(&end, 1 - c);
			}
			return with_replaced(a, l, i, &end, coeff / c, depth);
		}
		if (e->kind == EXPR_FLOORDIV && expr_is_int(e->args[1], &c) &&
		    c > 1 && by_whole_quotient(a, l, i, c, depth)) {
			return true;
		}
		if (e->kind == EXPR_MUL && by_factor(a, l, i, depth)) {
			return true;
		}
	}
	return false;
}

static bool
never_positive(struct analyser *a, const struct linear *l, int depth)
{
	if (l->broken) {
		return false;
	}
	if (by_bounds(a, l)) {
		return true;
	}
	if (l->n == 0 || depth >= DECIDE_DEPTH || --a->steps < 0) {
		return false;
	}
	if (depth == 0 && l->n > FEW_TERMS && linear_has_counterexample(a, l)) {
		return false;
	}
	if (depth == 0 && by_fact(a, l)) {
		return true;
	}
	return by_variable(a, l, depth) || by_atom(a, l, depth);
}

bool
linear_never_positive(struct analyser *a, const struct linear *l)
{
	a->steps = DECIDE_STEPS;
	return never_positive(a, l, 0);
}

bool
linear_never_negative(struct analyser *a, const struct linear *l)
{
	struct linear negated;

	linear_init(&negated, a);
	linear_add(&negated, l, -1);
	a->steps = DECIDE_STEPS;
	return never_positive(a, &negated, 0);
}

bool
linear_is_index(struct analyser *a, const struct linear *l)
{
	for (int i = 0; i < l->n; i++) {
		const struct expr *e = linear_at(l, i)->atom;
		struct bounds b;

		if (e->kind == EXPR_VAR) {
			continue;
		}
		b = analyse_bounds(a, e);
		if (b.min != BOUND_NEG_INF && b.max != BOUND_POS_INF) {
			continue;
		}
		if (expr_has(e, EXPR_LOAD)) {
			return false;
		}
	}
	return true;
}

bool
linear_difference(struct analyser *a, const struct expr *x,
		  const struct expr *y, struct linear *out)
{
	struct linear ly;

	linear_of(a, x, out);
	linear_of(a, y, &ly);
	if (out->broken || ly.broken || !linear_is_index(a, out) ||
	    !linear_is_index(a, &ly)) {
		return false;
	}
	linear_add(out, &ly, -1);
	return !out->broken;
}

static bool
is_false(const struct expr *e)
{
	return expr_is_value(e, 0);
}

static bool
is_true(const struct expr *e)
{
	return expr_is_value(e, 1);
}

bool
prove(struct analyser *a, const struct expr *condition)
{
	const struct expr *s;

	if (condition->type.lanes != 1) {
		return false;
	}
	s = simplify(a, condition);
	if (is_true(s)) {
		return true;
	}
	if (is_false(s)) {
		return false;
	}
	for (int i = 0; i < a->facts.n; i++) {
		if (a->facts.data[i] == s || a->facts.data[i] == condition) {
			return true;
		}
	}
	if (s->kind == EXPR_AND) {
		return prove(a, s->args[0]) && prove(a, s->args[1]);
	}
	if (s->kind == EXPR_OR) {
		return prove(a, s->args[0]) || prove(a, s->args[1]);
	}
	return false;
}

bool
prove_equal(struct analyser *a, const struct expr *x, const struct expr *y)
{
	struct linear l;

	if (x == y) {
		return true;
	}
	if (!dtype_is_int(x->type) || !dtype_is_int(y->type)) {
		return simplify(a, x) == simplify(a, y);
	}
	x = simplify(a, x);
	y = simplify(a, y);
	if (x == y || (x->kind == EXPR_INT && y->kind == EXPR_INT)) {
		return x == y ||
		       (x->kind == EXPR_INT && x->u.ival == y->u.ival);
	}
	if (!type_is_index(x->type) || !type_is_index(y->type)) {
		return false;
	}
	if (!linear_difference(a, x, y, &l)) {
		return false;
	}
	return linear_never_positive(a, &l) && linear_never_negative(a, &l);
}

/* Sets *out to x - y for x <= y, x - y + 1 for x < y: a linear form that is <=
 * 0 if e holds. False if e is not a comparison x <= y or x < y of indices, or x
 * - y has no linear form. */
static bool
comparison_sum(struct analyser *a, const struct expr *e, struct linear *out)
{
	if ((e->kind != EXPR_LT && e->kind != EXPR_LE) ||
	    !type_is_index(e->args[0]->type)) {
		return false;
	}
	if (!linear_difference(a, e->args[0], e->args[1], out)) {
		return false;
	}
	linear_add_constant(out, e->kind == EXPR_LT);
	return !out->broken;
}

bool
condition_implies(struct analyser *a, const struct expr *p,
		  const struct expr *q)
{
	struct linear lp, lq;

	if (p == q) {
		return true;
	}
	if (!comparison_sum(a, p, &lp) || !comparison_sum(a, q, &lq)) {
		return false;
	}
	/* q = p + (q - p) <= q - p */
	linear_add(&lq, &lp, -1);
	return !lq.broken && linear_bounds(a, &lq).max <= 0;
}
