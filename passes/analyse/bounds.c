/* SPDX-License-Identifier: Apache-2.0 */
/* Interval arithmetic. Sums are normalized first, so that equal terms cancel;
 * i32 and i64 arithmetic is assumed not to overflow. */
#include "linear.h"

static const struct bounds anything = { BOUND_NEG_INF, BOUND_POS_INF };

static bool
is_inf(int64_t v)
{
	return v == BOUND_NEG_INF || v == BOUND_POS_INF;
}

/* Lower and upper ends never have opposite infinities added. */
static int64_t
end_add(int64_t x, int64_t y, int64_t inf)
{
	int64_t v;

	if (is_inf(x) || is_inf(y) || __builtin_add_overflow(x, y, &v)) {
		return inf;
	}
	return v;
}

static struct bounds
bounds_add(struct bounds x, struct bounds y)
{
	return (struct bounds){ end_add(x.min, y.min, BOUND_NEG_INF),
				end_add(x.max, y.max, BOUND_POS_INF) };
}

static int64_t
end_mul(int64_t x, int64_t y)
{
	int64_t v;

	if (x == 0 || y == 0) {
		return 0;
	}
	if (is_inf(x) || is_inf(y) || __builtin_mul_overflow(x, y, &v)) {
		return (x < 0) == (y < 0) ? BOUND_POS_INF : BOUND_NEG_INF;
	}
	return v;
}

static struct bounds
bounds_scale(struct bounds x, int64_t by)
{
	int64_t p = end_mul(x.min, by), q = end_mul(x.max, by);

	return by < 0 ? (struct bounds){ q, p } : (struct bounds){ p, q };
}

static struct bounds
bounds_mul(struct bounds x, struct bounds y)
{
	struct bounds a = bounds_scale(y, x.min), b = bounds_scale(y, x.max);

	return (struct bounds){ a.min < b.min ? a.min : b.min,
				a.max > b.max ? a.max : b.max };
}

struct bounds
bounds_union(struct bounds x, struct bounds y)
{
	return (struct bounds){ x.min < y.min ? x.min : y.min,
				x.max > y.max ? x.max : y.max };
}

struct bounds
bounds_meet(struct bounds x, struct bounds y)
{
	return (struct bounds){ x.min > y.min ? x.min : y.min,
				x.max < y.max ? x.max : y.max };
}

bool
bounds_within(struct bounds x, struct bounds y)
{
	return x.min >= y.min && x.max <= y.max;
}

static struct bounds
type_bounds(struct dtype t)
{
	if (dtype_class(t) == DTC_BOOL) {
		return (struct bounds){ 0, 1 };
	}
	if (!dtype_is_int(t) || (dtype_is_signed(t) && dtype_bits(t) >= 32)) {
		return anything;
	}
	if (dtype_bits(t) == 64) {
		return (struct bounds){ 0, BOUND_POS_INF };
	}
	return (struct bounds){ dtype_min_int(t), (int64_t)dtype_max_int(t) };
}

/* floor(x / d); truncating division agrees where x is not negative. */
static struct bounds
bounds_div(struct bounds x, struct bounds d)
{
	struct bounds r = anything;

	if (d.min <= 0) {
		return anything;
	}
	if (x.min >= 0) {
		r.min = is_inf(d.max) || is_inf(x.min) ? 0 : x.min / d.max;
	} else if (!is_inf(x.min)) {
		r.min = floor_div(x.min, d.min);
	}
	if (is_inf(x.max)) {
		return r;
	}
	if (x.max >= 0) {
		r.max = x.max / d.min;
	} else {
		r.max = is_inf(d.max) ? -1 : floor_div(x.max, d.max);
	}
	return r;
}

static struct bounds
bounds_mod(struct bounds x, struct bounds d)
{
	struct bounds r = { 0, BOUND_POS_INF };

	if (d.min <= 0) {
		return anything;
	}
	if (!is_inf(d.max)) {
		r.max = d.max - 1;
	}
	if (x.min >= 0 && x.max < d.min) {
		return x;
	}
	if (d.min == d.max && !is_inf(x.min) && !is_inf(x.max) &&
	    floor_div(x.min, d.min) == floor_div(x.max, d.min)) {
		return (struct bounds){ floor_mod(x.min, d.min),
					floor_mod(x.max, d.min) };
	}
	if (x.min >= 0 && x.max < r.max) {
		r.max = x.max;
	}
	return r;
}

static struct bounds
variable_bounds(struct analyser *a, const struct var *v)
{
	const struct analyser_var *known = analyser_find(a, v);

	if (known) {
		return known->bounds;
	}
	if (v->min <= v->max) {
		return (struct bounds){ v->min, v->max };
	}
	return type_bounds(v->type);
}

static struct bounds
call_bounds(struct analyser *a, const struct expr *e)
{
	struct bounds x, y, all = type_bounds(e->type);

	switch (e->u.intrin) {
	case INTRIN_LIKELY:
		return analyse_bounds(a, e->args[0]);
	case INTRIN_ABS:
		x = analyse_bounds(a, e->args[0]);
		if (is_inf(x.min)) {
			return all;
		}
		y = bounds_union(bounds_scale(x, -1), x);
		y.min = x.min > 0 ? x.min : x.max < 0 ? -x.max : 0;
		return y;
	case INTRIN_NIBBLE:
		return type_bounds(
			dtype_of(dtype_is_signed(e->type) ? DT_I4 : DT_U4));
	case INTRIN_BITAND:
		y = analyse_bounds(a, e->args[1]);
		return y.min >= 0 ? (struct bounds){ 0, y.max } : all;
	default:
		return all;
	}
}

struct bounds
bounds_binary(enum expr_kind kind, struct bounds x, struct bounds y)
{
	switch (kind) {
	case EXPR_ADD:
		return bounds_add(x, y);
	case EXPR_SUB:
		return bounds_add(x, bounds_scale(y, -1));
	case EXPR_MUL:
		return bounds_mul(x, y);
	case EXPR_DIV:
		return x.min >= 0 ? bounds_div(x, y) : anything;
	case EXPR_FLOORDIV:
		return bounds_div(x, y);
	case EXPR_TRUNCMOD:
		return x.min >= 0 ? bounds_mod(x, y) : anything;
	case EXPR_FLOORMOD:
		return bounds_mod(x, y);
	case EXPR_MIN:
		return (struct bounds){ x.min < y.min ? x.min : y.min,
					x.max < y.max ? x.max : y.max };
	case EXPR_MAX:
		return (struct bounds){ x.min > y.min ? x.min : y.min,
					x.max > y.max ? x.max : y.max };
	default:
		return anything;
	}
}

/* The interval of an expression other than a sum. */
static struct bounds
atom_bounds(struct analyser *a, const struct expr *e)
{
	struct bounds x, all = type_bounds(e->type);

	switch (e->kind) {
	case EXPR_INT:
		if (e->u.ival < 0 && !dtype_is_signed(e->type)) {
			return all; /* the upper half of uint64 */
		}
		return (struct bounds){ e->u.ival, e->u.ival };
	case EXPR_VAR:
		return variable_bounds(a, e->u.var);
	case EXPR_CALL:
		return call_bounds(a, e);
	case EXPR_CAST:
		if (!dtype_is_int(e->args[0]->type) &&
		    dtype_class(e->args[0]->type) != DTC_BOOL) {
			return all;
		}
		x = analyse_bounds(a, e->args[0]);
		if (!dtype_is_int(e->type)) {
			return all;
		}
		/* A cast of values beyond the type wraps. */
		return bounds_within(x, all) ? x : all;
	case EXPR_SELECT:
	case EXPR_IF:
		return bounds_union(analyse_bounds(a, e->args[1]),
				    analyse_bounds(a, e->args[2]));
	default:
		break;
	}
	if (e->n_args != 2 || e->kind < EXPR_ADD || e->kind > EXPR_MAX) {
		return all;
	}
	x = bounds_binary(e->kind, analyse_bounds(a, e->args[0]),
			  analyse_bounds(a, e->args[1]));
	if (!type_is_index(e->type) && !bounds_within(x, all)) {
		return all; /* narrow integers wrap */
	}
	return x;
}

static bool
is_quotient(const struct expr *e, int64_t *divisor)
{
	return e->kind == EXPR_FLOORDIV && expr_is_int(e->args[1], divisor) &&
	       *divisor > 0;
}

/* Bounds k * (p // c) - k * (q // c) by the bounds of p - q, more tightly than
 * term by term. Returns the index of the second term, or -1. */
static int
quotient_pair(struct analyser *a, const struct linear *l, int i,
	      struct bounds *out)
{
	const struct term *s = linear_at(l, i);
	struct linear d;
	struct bounds b;
	int64_t c, c2;

	if (!is_quotient(s->atom, &c)) {
		return -1;
	}
	for (int j = i + 1; j < l->n; j++) {
		const struct term *t = linear_at(l, j);

		if (t->coeff == INT64_MIN || t->coeff != -s->coeff ||
		    !is_quotient(t->atom, &c2) || c2 != c) {
			continue;
		}
		linear_of(a, s->atom->args[0], &d);
		linear_add_expr(&d, t->atom->args[0], -1);
		if (d.broken || d.n > 0) {
			continue; /* constant distances only */
		}
		b.min = floor_div(d.constant, c);
		b.max = d.constant > INT64_MAX - c
				? BOUND_POS_INF
				: floor_div(d.constant + c - 1, c);
		*out = bounds_scale(b, s->coeff);
		return j;
	}
	return -1;
}

static struct bounds
plain_bounds(struct analyser *a, const struct linear *l)
{
	struct bounds sum = { l->constant, l->constant }, pair;
	bool used[64] = { false };

	for (int i = 0; i < l->n; i++) {
		const struct term *t = linear_at(l, i);
		int other;

		if (i < 64 && used[i]) {
			continue;
		}
		other = quotient_pair(a, l, i, &pair);
		if (other >= 0 && other < 64) {
			used[other] = true;
			sum = bounds_add(sum, pair);
			continue;
		}
		sum = bounds_add(sum, bounds_scale(analyse_bounds(a, t->atom),
						   t->coeff));
	}
	return sum;
}

/* Do a fact and l have an atom in common? */
static bool
shares_atom(const struct linear *l, const struct linear *fact)
{
	for (int i = 0; i < l->n; i++) {
		if (linear_coeff(fact, linear_at(l, i)->atom) != 0) {
			return true;
		}
	}
	return false;
}

struct bounds
linear_bounds(struct analyser *a, const struct linear *l)
{
	struct bounds sum;

	if (l->broken) {
		return anything;
	}
	sum = plain_bounds(a, l);
	if (a->plain) {
		return sum;
	}
	/* A fact contains other atoms, whose bounds may use the fact: no
	 * recursion. */
	a->plain = true;
	for (int i = 0; i < a->sums.n; i++) {
		const struct linear *fact = &a->sums.data[i]->sum;
		struct linear rest;

		if (!shares_atom(l, fact)) {
			continue;
		}
		/* fact <= 0: l = fact + (l - fact) <= max(l - fact) */
		linear_copy(&rest, l);
		linear_add(&rest, fact, -1);
		if (!rest.broken && rest.n <= l->n) {
			sum.max = bounds_meet(sum, plain_bounds(a, &rest)).max;
		}
		linear_copy(&rest, l);
		linear_add(&rest, fact, 1);
		if (!rest.broken && rest.n <= l->n) {
			sum.min = bounds_meet(sum, plain_bounds(a, &rest)).min;
		}
	}
	a->plain = false;
	return sum;
}

static struct bounds
fresh_bounds(struct analyser *a, const struct expr *e)
{
	struct linear l;

	if (type_is_index(e->type) &&
	    (e->kind == EXPR_ADD || e->kind == EXPR_SUB ||
	     e->kind == EXPR_MUL)) {
		linear_of(a, e, &l);
		if (!l.broken && !(l.n == 1 && linear_at(&l, 0)->atom == e)) {
			return linear_bounds(a, &l);
		}
	}
	return atom_bounds(a, e);
}

/* The interval of one variable from the facts, with plain bounds for all other
 * atoms. */
static struct bounds
variable_with_facts(struct analyser *a, const struct expr *e)
{
	struct bounds b = variable_bounds(a, e->u.var);

	for (int i = 0; i < a->sums.n; i++) {
		const struct linear *fact = &a->sums.data[i]->sum;
		int64_t coeff = linear_coeff(fact, e);
		struct bounds rest = { fact->constant, fact->constant };

		if (coeff != 1 && coeff != -1) {
			continue;
		}
		for (int j = 0; j < fact->n; j++) {
			const struct term *t = linear_at(fact, j);
			struct bounds x = anything;

			if (t->atom == e) {
				continue;
			}
			if (t->atom->kind == EXPR_VAR) {
				x = variable_bounds(a, t->atom->u.var);
			}
			rest = bounds_add(rest, bounds_scale(x, t->coeff));
		}
		/* coeff * v <= -rest <= -min(rest) */
		if (is_inf(rest.min)) {
			continue;
		}
		if (coeff == 1 && -rest.min < b.max) {
			b.max = -rest.min;
		} else if (coeff == -1 && rest.min > b.min) {
			b.min = rest.min;
		}
	}
	return b;
}

struct bounds
analyse_bounds(struct analyser *a, const struct expr *e)
{
	struct analyser_entry *entry;
	struct bounds b;

	if (e->kind == EXPR_INT) {
		return atom_bounds(a, e);
	}
	if (e->kind == EXPR_VAR) {
		return a->sums.n > 0 && !a->plain && dtype_is_int(e->type)
			       ? variable_with_facts(a, e)
			       : variable_bounds(a, e->u.var);
	}
	entry = analyser_entry(a, e);
	if (entry->bounds_version[a->plain] == a->version) {
		return entry->bounds[a->plain];
	}
	b = fresh_bounds(a, e);
	entry = analyser_entry(a, e);
	entry->bounds[a->plain] = b;
	entry->bounds_version[a->plain] = a->version;
	return b;
}
