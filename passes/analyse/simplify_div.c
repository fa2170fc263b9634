/* SPDX-License-Identifier: Apache-2.0 */
/* Floor division and modulo of sums:
 *
 *	(x * 8 + y) // 4        x * 2 + y // 4
 *	(x * 4 + y) // 4        x             if 0 <= y < 4
 *	(x * 56 + y) // 3136    x // 56       if 0 <= y < 56
 *	(x * n + y) // n        x             if 0 <= y < n
 *	(x // 4) // 7           x // 28
 *	(x % 28) // 4           x // 4 % 7
 *	x // 28 * 28 + x // 4 % 7 * 4 + x % 4     x
 *	(x * 16 + y) // 3 * 3 + (x + y) % 3       x * 16 + y
 */
#include "linear.h"

static const struct expr *div_const(struct analyser *a, const struct linear *x,
				    int64_t c, struct dtype t);
static const struct expr *mod_const(struct analyser *a, const struct linear *x,
				    int64_t c, struct dtype t);

static bool
same_quotient(struct bounds b, int64_t c, int64_t *quotient)
{
	if (b.min == BOUND_NEG_INF || b.max == BOUND_POS_INF) {
		return false;
	}
	*quotient = floor_div(b.min, c);
	return floor_div(b.max, c) == *quotient;
}

/* Splits x into quotient * c + rest: terms that are multiples of c, and the
 * other terms with a constant in 0 <= constant < c. */
static void
split_multiples(struct analyser *a, const struct linear *x, int64_t c,
		struct linear *quotient, struct linear *rest)
{
	linear_init(quotient, a);
	linear_init(rest, a);
	quotient->constant = floor_div(x->constant, c);
	rest->constant = floor_mod(x->constant, c);
	for (int i = 0; i < x->n; i++) {
		const struct term *t = linear_at(x, i);

		if (t->coeff % c == 0) {
			linear_add_term(quotient, t->atom, t->coeff / c);
		} else {
			linear_add_term(rest, t->atom, t->coeff);
		}
	}
}

/* x = g * high + low with 0 <= low < g, for the largest g > 1 that divides c
 * and is a coefficient of x. */
static bool
split_scale(struct analyser *a, const struct linear *x, int64_t c,
	    int64_t *g_out, struct linear *high, struct linear *low)
{
	int64_t tried = INT64_MAX;

	for (;;) {
		int64_t g = 1;
		struct bounds b;

		for (int i = 0; i < x->n; i++) {
			int64_t k = linear_at(x, i)->coeff;

			k = k < 0 && k != INT64_MIN ? -k : k;
			k = gcd(k, c);
			if (k > g && k < tried) {
				g = k;
			}
		}
		if (g == 1) {
			return false;
		}
		split_multiples(a, x, g, high, low);
		b = linear_bounds(a, low);
		if (high->n > 0 && b.min >= 0 && b.max < g) {
			*g_out = g;
			return true;
		}
		tried = g;
	}
}

static bool
is_op_const(const struct expr *e, enum expr_kind kind, int64_t *c)
{
	return e->kind == kind && expr_is_int(e->args[1], c) && *c > 0;
}

/* Restores the original constant if equivalent: `(x - 1) // 4` is clearer than
 * `(x + 3) // 4 - 1`, but is not used if x - 1 may be negative. */
static void
keep_constant(struct analyser *a, const struct linear *x, int64_t c,
	      struct linear *quotient, struct linear *rest)
{
	struct linear plain;

	if (x->constant >= 0 || x->constant <= -c || rest->n == 0 ||
	    rest->constant != x->constant + c) {
		return;
	}
	linear_copy(&plain, rest);
	plain.constant = x->constant;
	if (linear_bounds(a, &plain).min >= 0 ||
	    linear_bounds(a, rest).min < 0) {
		rest->constant = x->constant;
		quotient->constant = 0;
	}
}

static const struct expr *
div_single(struct analyser *a, const struct linear *x, int64_t c,
	   struct dtype t)
{
	const struct expr *e = linear_at(x, 0)->atom;
	struct linear inner;
	int64_t d, both, shift;

	if (x->n != 1 || linear_at(x, 0)->coeff != 1) {
		return NULL;
	}
	if (is_op_const(e, EXPR_FLOORDIV, &d) &&
	    !__builtin_mul_overflow(c, d, &both) &&
	    !__builtin_mul_overflow(x->constant, d, &shift) &&
	    both <= (int64_t)dtype_max_int(t)) {
		/* y // d + k == (y + k * d) // d */
		linear_of(a, e->args[0], &inner);
		linear_add_constant(&inner, shift);
		return inner.broken ? NULL : div_const(a, &inner, both, t);
	}
	if (x->constant == 0 && is_op_const(e, EXPR_FLOORMOD, &d) &&
	    d % c == 0) {
		linear_of(a, e->args[0], &inner);
		linear_of(a, div_const(a, &inner, c, t), &inner);
		return mod_const(a, &inner, d / c, t);
	}
	return NULL;
}

static const struct expr *
div_const(struct analyser *a, const struct linear *x, int64_t c, struct dtype t)
{
	struct linear quotient, rest, high, low;
	const struct expr *e;
	int64_t k, g;

	if (c == 1) {
		return linear_emit(a, x, t);
	}
	split_multiples(a, x, c, &quotient, &rest);
	if (same_quotient(linear_bounds(a, &rest), c, &k)) {
		linear_add_constant(&quotient, k);
		return linear_emit(a, &quotient, t);
	}
	if (split_scale(a, &rest, c, &g, &high, &low)) {
		e = div_const(a, &high, c / g, t);
	} else {
		e = div_single(a, &rest, c, t);
	}
	if (!e) {
		keep_constant(a, x, c, &quotient, &rest);
		e = expr_floordiv(a->module, linear_emit(a, &rest, t),
				  expr_int(a->module, t, c));
	}
	linear_add_expr(&quotient, e, 1);
	return linear_emit(a, &quotient, t);
}

/* Reduces x modulo c: removes multiples of c, and expands inner moduli: k * (y
 * % d) = k * y modulo c if c divides k * d. */
static void
mod_reduce(struct analyser *a, const struct linear *x, int64_t c,
	   struct linear *out)
{
	bool opened = false;
	int64_t d, kd;

	linear_init(out, a);
	out->constant = floor_mod(x->constant, c);
	for (int i = 0; i < x->n; i++) {
		struct term t = *linear_at(x, i);

		t.coeff %= c;
		if (is_op_const(t.atom, EXPR_FLOORMOD, &d) &&
		    !__builtin_mul_overflow(t.coeff, d, &kd) && kd % c == 0) {
			linear_add_expr(out, t.atom->args[0], t.coeff);
			opened = true;
		} else {
			linear_add_term(out, t.atom, t.coeff);
		}
	}
	if (opened && !out->broken) {
		struct linear again;

		linear_copy(&again, out);
		mod_reduce(a, &again, c, out);
	}
}

/* Restores the coefficients of x that were reduced modulo c, unless the sum
 * could become negative, so that the dividend equals the dividend of the
 * matching quotient. */
static void
keep_coefficients(struct analyser *a, const struct linear *x, int64_t c,
		  struct linear *rest)
{
	struct linear plain;
	struct term *terms;

	linear_copy(&plain, rest);
	terms = linear_terms(&plain);
	for (int i = 0; i < plain.n; i++) {
		int64_t k = linear_coeff(x, terms[i].atom);

		/* parts of the coefficient may come from expanded moduli: if
		 * they do not fit, the coefficient is not restored */
		if (k % c == terms[i].coeff) {
			terms[i].coeff = k;
		}
	}
	if (linear_bounds(a, &plain).min >= 0) {
		linear_copy(rest, &plain);
	}
}

static const struct expr *
mod_const(struct analyser *a, const struct linear *x, int64_t c, struct dtype t)
{
	struct linear rest, high, low, plain;
	const struct expr *e;
	int64_t k, g;

	if (c == 1) {
		return expr_int(a->module, t, 0);
	}
	/* If all values of x have the same quotient by c, the remainder is x
	 * minus a multiple of c. */
	if (same_quotient(linear_bounds(a, x), c, &k) &&
	    !__builtin_mul_overflow(k, c, &k)) {
		linear_copy(&plain, x);
		linear_add_constant(&plain, -k);
		return linear_emit(a, &plain, t);
	}
	mod_reduce(a, x, c, &rest);
	if (rest.broken) {
		return expr_floormod(a->module, linear_emit(a, x, t),
				     expr_int(a->module, t, c));
	}
	if (same_quotient(linear_bounds(a, &rest), c, &k)) {
		linear_add_constant(&rest, -k * c);
		return linear_emit(a, &rest, t);
	}
	if (split_scale(a, &rest, c, &g, &high, &low)) {
		/* (g * high + low) % c == high % (c / g) * g + low */
		linear_add_expr(&low, mod_const(a, &high, c / g, t), g);
		return linear_emit(a, &low, t);
	}
	linear_init(&plain, a);
	keep_constant(a, x, c, &plain, &rest);
	keep_coefficients(a, x, c, &rest);
	e = linear_emit(a, &rest, t);
	return expr_floormod(a->module, e, expr_int(a->module, t, c));
}

/* -- divisors that are not constants */

/* Divides a term by d: adds coeff * atom / d to *quotient. False, with *quotient
 * unchanged, unless d is a product of some factors of the term. */
static bool
divide_term(struct analyser *a, struct term term, const struct product *d,
	    struct linear *quotient)
{
	struct product p = { .scale = term.coeff };

	if (may_wrap(a, term.atom) || !product_add(&p, term.atom) ||
	    !product_divide(&p, d)) {
		return false;
	}
	linear_add_product(a, quotient, &p);
	return true;
}

/* Is 0 <= x < d proven? */
static bool
in_range(struct analyser *a, const struct linear *x, const struct expr *d)
{
	struct linear over;

	if (!linear_is_index(a, x) || !linear_never_negative(a, x)) {
		return false;
	}
	linear_copy(&over, x);
	linear_add_expr(&over, d, -1);
	linear_add_constant(&over, 1);
	return !over.broken && linear_never_positive(a, &over);
}

/* Sets *quotient and *rest so that x = d * quotient + rest for a divisor d that
 * is not constant. True if 0 <= rest < d is proven. */
static bool
split_symbolic(struct analyser *a, const struct expr *x, const struct expr *d,
	       struct linear *quotient, struct linear *rest)
{
	struct product p = { .scale = 1 };
	struct linear l;

	linear_init(quotient, a);
	linear_init(rest, a);
	linear_of(a, x, &l);
	linear_fit(&l, x->type);
	if (l.broken || !linear_is_index(a, &l) || !product_add(&p, d) ||
	    p.scale <= 0) {
		linear_add_expr(rest, x, 1);
		return false;
	}
	rest->constant = l.constant;
	for (int i = 0; i < l.n; i++) {
		struct term term = *linear_at(&l, i);

		if (!divide_term(a, term, &p, quotient)) {
			linear_add_term(rest, term.atom, term.coeff);
		}
	}
	return in_range(a, rest, d);
}

/* x // d or x % d, by arithmetic of unlimited integers. */
static const struct expr *
floor_unlimited(struct analyser *a, enum expr_kind kind, const struct expr *x,
		const struct expr *d)
{
	bool divides = kind == EXPR_FLOORDIV;
	struct linear l, rest;
	struct dtype t = x->type;
	int64_t c;

	if (expr_is_int(d, &c)) {
		linear_of(a, x, &l);
		linear_fit(&l, t);
		if (c <= 0 || l.broken || !linear_is_index(a, &l)) {
			return expr_binary(a->module, kind, x, d);
		}
		return divides ? div_const(a, &l, c, t)
			       : mod_const(a, &l, c, t);
	}
	if (analyse_bounds(a, d).min <= 0) {
		return expr_binary(a->module, kind, x, d);
	}
	if (split_symbolic(a, x, d, &l, &rest)) {
		return linear_emit(a, divides ? &l : &rest, t);
	}
	if (rest.broken || (divides && (l.n == 0 || l.broken))) {
		return expr_binary(a->module, kind, x, d);
	}
	x = expr_binary(a->module, kind, linear_emit(a, &rest, t), d);
	if (!divides) {
		return x;
	}
	linear_add_expr(&l, x, 1);
	return linear_emit(a, &l, t);
}

const struct expr *
simplify_floor(struct analyser *a, enum expr_kind kind, const struct expr *x,
	       const struct expr *d)
{
	const struct expr *e = floor_unlimited(a, kind, x, d);

	return wraps_anew(a, e, x, d) ? expr_binary(a->module, kind, x, d) : e;
}

/* -- recombining quotient and remainder */

/* Does l contain scale times the given sum, term by term? */
static bool
holds_sum(const struct linear *l, const struct linear *sum, int64_t scale)
{
	int64_t k;

	for (int i = 0; i < sum->n; i++) {
		const struct term *t = linear_at(sum, i);

		if (__builtin_mul_overflow(t->coeff, scale, &k) ||
		    linear_coeff(l, t->atom) != k) {
			return false;
		}
	}
	return sum->n > 0;
}

/* Are x and the sum congruent modulo c for all values of their variables? */
static bool
same_remainder(struct analyser *a, const struct expr *x,
	       const struct linear *sum, int64_t c)
{
	struct linear diff;

	linear_of(a, x, &diff);
	if (!linear_is_index(a, &diff) || !linear_is_index(a, sum)) {
		return false;
	}
	linear_add(&diff, sum, -1);
	for (int i = 0; i < diff.n && !diff.broken; i++) {
		if (linear_at(&diff, i)->coeff % c != 0) {
			return false;
		}
	}
	return !diff.broken && diff.constant % c == 0;
}

/* For the term k * (x % c), x being the sum: looks for k * c * (y // c) with y
 * congruent to x. */
static bool
merge_congruent(struct analyser *a, struct linear *l, struct term term,
		const struct linear *sum, int64_t c, int64_t scale)
{
	int64_t d;

	for (int j = 0; j < l->n; j++) {
		struct term other = *linear_at(l, j);

		if (other.coeff == scale &&
		    is_op_const(other.atom, EXPR_FLOORDIV, &d) && d == c &&
		    same_remainder(a, other.atom->args[0], sum, c)) {
			linear_add_term(l, other.atom, -other.coeff);
			linear_add_term(l, term.atom, -term.coeff);
			linear_add_modulo(l, other.atom->args[0], term.coeff);
			return true;
		}
	}
	return false;
}

/* For the term k * (x % c): looks for k * c * (x // c), or for k * c * (x // c
 * % d), which gives k * (x % (c * d)). */
static bool
merge_term(struct analyser *a, struct linear *l, int i, struct dtype t)
{
	struct term term = *linear_at(l, i);
	const struct expr *x, *q, *rest;
	struct linear sum, sx;
	int64_t c, d, scale, both;
	bool candidate = false;

	if (!is_op_const(term.atom, EXPR_FLOORMOD, &c) ||
	    __builtin_mul_overflow(term.coeff, c, &scale)) {
		return false;
	}
	for (int j = 0; j < l->n; j++) {
		candidate |= j != i && linear_at(l, j)->coeff % scale == 0;
	}
	if (!candidate) {
		return false;
	}
	x = term.atom->args[0];
	linear_of(a, x, &sx);
	q = sx.broken ? NULL : div_const(a, &sx, c, t);
	if (!q || wraps_anew(a, q, x, NULL)) {
		return false;
	}
	linear_of(a, q, &sum);
	if (!sum.broken && holds_sum(l, &sum, scale)) {
		linear_add(l, &sum, -scale);
		linear_add_term(l, term.atom, -term.coeff);
		linear_add(l, &sx, term.coeff);
		return true;
	}
	if (merge_congruent(a, l, term, &sx, c, scale)) {
		return true;
	}
	for (int j = 0; j < l->n; j++) {
		struct term other = *linear_at(l, j);

		if (other.coeff != scale || other.atom->n_args != 2 ||
		    other.atom->args[0] != q ||
		    !is_op_const(other.atom, EXPR_FLOORMOD, &d) ||
		    __builtin_mul_overflow(c, d, &both) ||
		    both > (int64_t)dtype_max_int(t)) {
			continue;
		}
		rest = mod_const(a, &sx, both, t);
		if (wraps_anew(a, rest, x, NULL)) {
			continue;
		}
		linear_add_term(l, other.atom, -other.coeff);
		linear_add_term(l, term.atom, -term.coeff);
		linear_add_modulo(l, rest, term.coeff);
		return true;
	}
	return false;
}

/* Like merge_term, for k * (x % d) with a symbolic d. */
static bool
merge_symbolic(struct analyser *a, struct linear *l, int i)
{
	struct term term = *linear_at(l, i);
	const struct expr *x, *d, *q;
	struct linear sum, whole;
	int64_t c;

	if (term.atom->kind != EXPR_FLOORMOD ||
	    expr_is_int(term.atom->args[1], &c)) {
		return false;
	}
	x = term.atom->args[0];
	d = term.atom->args[1];
	if (analyse_bounds(a, d).min <= 0) {
		return false;
	}
	q = simplify_floor(a, EXPR_FLOORDIV, x, d);
	linear_of(a, q, &sum);
	linear_init(&whole, a);
	for (int k = 0; k < sum.n && !sum.broken; k++) {
		struct product p = { .scale = linear_at(&sum, k)->coeff };

		if (!product_add(&p, d) ||
		    !product_add(&p, linear_at(&sum, k)->atom)) {
			return false;
		}
		linear_add_product(a, &whole, &p);
	}
	if (sum.broken || sum.constant != 0 || whole.broken ||
	    !holds_sum(l, &whole, term.coeff)) {
		return false;
	}
	linear_add(l, &whole, -term.coeff);
	linear_add_term(l, term.atom, -term.coeff);
	linear_add_modulo(l, x, term.coeff);
	return true;
}

void
linear_merge_division(struct analyser *a, struct linear *l, struct dtype t)
{
	for (int i = 0; i < l->n && l->n > 1 && !l->broken; i++) {
		if (merge_term(a, l, i, t) || merge_symbolic(a, l, i)) {
			/* start again from the first term: the merged terms are
			 * gone, so this ends */
			i = -1;
		}
	}
}
