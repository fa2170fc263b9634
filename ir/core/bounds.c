/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of intervals. An end that is unknown, or that leaves int64, is an
 * infinity. The lower end of an interval never is BOUND_POS_INF, and the upper
 * end never BOUND_NEG_INF. */
#include "bounds.h"

static const struct bounds anything = { BOUND_NEG_INF, BOUND_POS_INF };
static const struct bounds zero = { 0, 0 };

int64_t
floor_div(int64_t x, int64_t c)
{
	return x / c - (x % c != 0 && (x < 0) != (c < 0));
}

int64_t
floor_mod(int64_t x, int64_t c)
{
	int64_t r = x % c;

	return r != 0 && (r < 0) != (c < 0) ? r + c : r;
}

static bool
is_inf(int64_t v)
{
	return v == BOUND_NEG_INF || v == BOUND_POS_INF;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The interval [min, max]. An end that overflowed to the infinity of the other
 * side is replaced by the infinity of its own side, "not known". */
static struct bounds
from_ends(int64_t min, int64_t max)
{
	return (struct bounds){ min == BOUND_POS_INF ? BOUND_NEG_INF : min,
				max == BOUND_NEG_INF ? BOUND_POS_INF : max };
}

struct bounds
bounds_of_value(int64_t v)
{
	if (v == BOUND_POS_INF) {
		return (struct bounds){ v - 1, v };
	}
	return (struct bounds){ v, v == BOUND_NEG_INF ? v + 1 : v };
}

/* The bounds of the values of type t. Signed integers of at least 32 bits are
 * assumed not to overflow, so they are treated as unbounded. */
static struct bounds
bounds_of_type(struct dtype t)
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

struct bounds
bounds_union(struct bounds x, struct bounds y)
{
	return (struct bounds){ least(x.min, y.min), most(x.max, y.max) };
}

struct bounds
bounds_meet(struct bounds x, struct bounds y)
{
	return (struct bounds){ most(x.min, y.min), least(x.max, y.max) };
}

bool
bounds_within(struct bounds x, struct bounds y)
{
	return x.min >= y.min && x.max <= y.max;
}

/* -- sums and products -- */

/* The sum of two lower or two upper ends. inf: the infinity that stands for
 * "not known" on this side; it is the result if x or y is not known or the sum
 * does not fit in int64. */
static int64_t
end_add(int64_t x, int64_t y, int64_t inf)
{
	int64_t v;

	if (is_inf(x) || is_inf(y) || __builtin_add_overflow(x, y, &v)) {
		return inf;
	}
	return v;
}

struct bounds
bounds_add(struct bounds x, struct bounds y)
{
	return from_ends(end_add(x.min, y.min, BOUND_NEG_INF),
			 end_add(x.max, y.max, BOUND_POS_INF));
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

struct bounds
bounds_scale(struct bounds x, int64_t by)
{
	int64_t p = end_mul(x.min, by), q = end_mul(x.max, by);

	return by < 0 ? from_ends(q, p) : from_ends(p, q);
}

static struct bounds
bounds_mul(struct bounds x, struct bounds y)
{
	int64_t v[] = { end_mul(x.min, y.min), end_mul(x.min, y.max),
			end_mul(x.max, y.min), end_mul(x.max, y.max) };

	return from_ends(least(least(v[0], v[1]), least(v[2], v[3])),
			 most(most(v[0], v[1]), most(v[2], v[3])));
}

/* -- divisions -- */

static struct bounds
negated(struct bounds x)
{
	return bounds_scale(x, -1);
}

/* One end of the bounds of a quotient, x / d with d > 0: rounded down for
 * FLOORDIV, toward zero for DIV. */
static int64_t
end_div(enum expr_kind kind, int64_t x, int64_t d)
{
	bool down = kind == EXPR_FLOORDIV;

	if (d == BOUND_POS_INF) {
		return down && x < 0 ? -1 : 0;
	}
	return is_inf(x) ? x : down ? floor_div(x, d) : x / d;
}

typedef struct bounds divide_fn(enum expr_kind kind, struct bounds x,
				struct bounds d);

/* The bounds of the quotients of values in x by values in d, which are all
 * above 0. A quotient is monotonic in both the dividend and the divisor. */
static struct bounds
quotients(enum expr_kind kind, struct bounds x, struct bounds d)
{
	int64_t v[] = { end_div(kind, x.min, d.min),
			end_div(kind, x.min, d.max),
			end_div(kind, x.max, d.min),
			end_div(kind, x.max, d.max) };

	return (struct bounds){ least(v[0], v[1]), most(v[2], v[3]) };
}

/* The bounds of x mod d (FLOORMOD) for values in d above 0: the results are 0
 * or more. */
static struct bounds
moduli(struct bounds x, struct bounds d)
{
	struct bounds r = { 0, is_inf(d.max) ? d.max : d.max - 1 };

	if (x.min >= 0 && x.max < d.min) {
		return x;
	}
	if (d.min == d.max && !is_inf(x.min) && !is_inf(x.max) &&
	    floor_div(x.min, d.min) == floor_div(x.max, d.min)) {
		return (struct bounds){ floor_mod(x.min, d.min),
					floor_mod(x.max, d.min) };
	}
	if (x.min >= 0) {
		r.max = least(r.max, x.max);
	}
	return r;
}

/* The bounds of remainders for values in d above 0: of FLOORMOD, which has the
 * divisor's sign, or of TRUNCMOD, which has the dividend's. */
static struct bounds
remainders(enum expr_kind kind, struct bounds x, struct bounds d)
{
	struct bounds below, above;

	if (kind == EXPR_FLOORMOD || x.min >= 0) {
		return moduli(x, d);
	}
	below = (struct bounds){ x.min, least(x.max, -1) };
	below = negated(moduli(negated(below), d));
	if (x.max < 0) {
		return below;
	}
	above = (struct bounds){ 0, x.max };
	return bounds_union(below, moduli(above, d));
}

/* The bounds of quotients or remainders for divisors of either sign. For
 * divisors below 0: x / -d is -x / d, x mod -d is -(-x mod d), and a truncated
 * remainder does not depend on the divisor's sign. */
static struct bounds
divided(enum expr_kind kind, struct bounds x, struct bounds d)
{
	bool quotient = kind == EXPR_DIV || kind == EXPR_FLOORDIV;
	divide_fn *by = quotient ? quotients : remainders;
	struct bounds r = zero, part;
	bool any = d.min <= 0 && d.max >= 0;

	if (d.min == 0 && d.max == 0) {
		return anything; /* division by the constant 0, a mistake in the
				  * program, gives no bounds */
	}
	if (d.max > 0) {
		part = by(kind, x, (struct bounds){ most(d.min, 1), d.max });
		r = any ? bounds_union(r, part) : part;
		any = true;
	}
	if (d.min < 0) {
		d = negated((struct bounds){ d.min, least(d.max, -1) });
		part = by(kind, kind == EXPR_TRUNCMOD ? x : negated(x), d);
		part = kind == EXPR_FLOORMOD ? negated(part) : part;
		r = any ? bounds_union(r, part) : part;
	}
	return r;
}

struct bounds
bounds_binary(enum expr_kind kind, struct bounds x, struct bounds y)
{
	switch (kind) {
	case EXPR_ADD:
		return bounds_add(x, y);
	case EXPR_SUB:
		return bounds_add(x, negated(y));
	case EXPR_MUL:
		return bounds_mul(x, y);
	case EXPR_DIV:
	case EXPR_FLOORDIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORMOD:
		return divided(kind, x, y);
	case EXPR_MIN:
		return (struct bounds){ least(x.min, y.min),
					least(x.max, y.max) };
	case EXPR_MAX:
		return (struct bounds){ most(x.min, y.min),
					most(x.max, y.max) };
	default:
		return anything;
	}
}

/* -- expressions -- */

static struct bounds
of_call(const struct expr *e, bounds_fn *of, void *state)
{
	struct bounds x, y, all = bounds_of_type(e->type);

	switch (e->u.intrin) {
	case INTRIN_LIKELY:
		return of(state, e->args[0]);
	case INTRIN_ABS:
		x = of(state, e->args[0]);
		if (is_inf(x.min)) {
			return all;
		}
		y = bounds_union(negated(x), x);
		y.min = x.min > 0 ? x.min : x.max < 0 ? -x.max : 0;
		/* the absolute value of the least integer of a type wraps */
		return bounds_within(y, all) ? y : all;
	case INTRIN_NIBBLE:
		return bounds_of_type(
			dtype_of(dtype_is_signed(e->type) ? DT_I4 : DT_U4));
	case INTRIN_BITAND:
		y = of(state, e->args[1]);
		return y.min >= 0 ? (struct bounds){ 0, y.max } : all;
	default:
		return all;
	}
}

static bool
is_uint64(struct dtype t)
{
	return dtype_class(t) == DTC_UINT && dtype_bits(t) == 64;
}

static struct bounds
of_cast(const struct expr *e, bounds_fn *of, void *state)
{
	struct bounds x, all = bounds_of_type(e->type);
	struct dtype from = e->args[0]->type;

	if (!dtype_is_int(e->type) ||
	    (!dtype_is_int(from) && dtype_class(from) != DTC_BOOL)) {
		return all;
	}
	/* if the values do not fit in the type, they wrap, and nothing is known
	 * about the result */
	x = of(state, e->args[0]);
	return bounds_within(x, all) &&
			       !(is_uint64(from) && x.max == BOUND_POS_INF)
		       ? x
		       : all;
}

struct bounds
bounds_of_operation(const struct expr *e, bounds_fn *of, void *state)
{
	struct bounds x, all = bounds_of_type(e->type);

	switch (e->kind) {
	case EXPR_INT:
		if (e->u.ival < 0 && !dtype_is_signed(e->type)) {
			return all; /* the literal is in the upper half of
				     * uint64, beyond int64 */
		}
		return bounds_of_value(e->u.ival);
	case EXPR_VAR:
		return e->u.var->min <= e->u.var->max
			       ? from_ends(e->u.var->min, e->u.var->max)
			       : all;
	case EXPR_CALL:
		return of_call(e, of, state);
	case EXPR_CAST:
		return of_cast(e, of, state);
	case EXPR_SELECT:
	case EXPR_IF:
		return bounds_union(of(state, e->args[1]),
				    of(state, e->args[2]));
	default:
		break;
	}
	if (e->kind < EXPR_ADD || e->kind > EXPR_MAX ||
	    !dtype_is_int(e->type)) {
		return all;
	}
	x = bounds_binary(e->kind, of(state, e->args[0]),
			  of(state, e->args[1]));
	if (is_uint64(e->type) && x.max == BOUND_POS_INF &&
	    (e->kind == EXPR_ADD || e->kind == EXPR_MUL)) {
		return all;
	}
	return bounds_within(x, all) ? x : all; /* narrow integers wrap */
}
