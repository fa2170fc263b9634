/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that models compute with floats:
 *
 *	Floor(Cast<float32>(n) * 0.5)		n // 2
 *	Ceil((Cast<float32>(n) + 1.0) / 4.0)	(n + 4) // 4
 *
 * If all numerators fit in the digits of the float type and all denominators
 * are powers of two, no operation rounds. Any other quotient of integers is
 * rounded, but its floor is the floor of the exact fraction. For a product with
 * 1 / c, this is checked for all values that the size may have. */
#include "fraction.h"

#include <math.h>

enum {
	MOST_EXPRS = 256,
	MOST_DENOMINATOR = 1 << 20,
	MOST_VALUES = 1 << 12 /* the most values of a size for which products
			       * are checked */
};

/* Can type t represent every value of the numerator, and the denominator,
 * exactly? */
static bool
fits(struct dtype t, const struct fraction *f)
{
	double most = 2 / dtype_epsilon(t);
	int64_t min, max;

	return size_bounds(f->numerator, &min, &max) && (double)min >= -most &&
	       (double)max <= most && (double)f->denominator < most;
}

static bool
of_literal(struct module *m, double v, struct fraction *out)
{
	for (out->denominator = 1; out->denominator <= MOST_DENOMINATOR;
	     out->denominator *= 2) {
		double numerator = v * (double)out->denominator;

		if (fabs(numerator) < 1e15 && numerator == floor(numerator)) {
			out->numerator = expr_index(m, (int64_t)numerator);
			return true;
		}
	}
	return false;
}

void
fraction_align(struct module *m, struct fraction *a, struct fraction *b)
{
	struct fraction *small = a->denominator < b->denominator ? a : b;
	int64_t denominator = a->denominator < b->denominator ? b->denominator
							      : a->denominator;

	small->numerator = dim_mul(m, small->numerator,
				   expr_index(m, denominator /
							 small->denominator));
	small->denominator = denominator;
}

static bool
is_power_of_two(int64_t v)
{
	return v > 0 && (v & (v - 1)) == 0;
}

/* Sets *out to the fraction a / b, for a number b; false if that is not
 * possible. */
static bool
quotient(struct module *m, const struct fraction *a, const struct fraction *b,
	 struct fraction *out)
{
	const struct expr *numerator = dim_mul(m, a->numerator,
					       expr_index(m, b->denominator));
	const struct expr *rest;
	int64_t by;

	if (!expr_is_int(b->numerator, &by) || by == 0 || by == INT64_MIN) {
		return false;
	}
	if (by < 0) {
		numerator = dim_sub(m, expr_index(m, 0), numerator);
		by = -by;
	}
	rest = dim_normal(m, expr_floormod(m, numerator, expr_index(m, by)));
	if (expr_is_value(rest, 0)) {
		*out = (struct fraction){
			dim_normal(m, dim_div(m, numerator, by)), a->denominator
		};
		return true;
	}
	if (!is_power_of_two(by) || by > MOST_DENOMINATOR) {
		return false;
	}
	*out = (struct fraction){ numerator, a->denominator * by };
	return out->denominator <= MOST_DENOMINATOR;
}

static bool of_expr(struct module *m, const struct expr *e, int *room,
		    struct fraction *out);

static bool
of_operation(struct module *m, const struct expr *e, int *room,
	     struct fraction *out)
{
	struct fraction a, b;

	if (!of_expr(m, e->args[0], room, &a) ||
	    !of_expr(m, e->args[1], room, &b)) {
		return false;
	}
	if (e->kind == EXPR_DIV) {
		return quotient(m, &a, &b, out);
	}
	if (e->kind == EXPR_MUL) {
		*out = (struct fraction){ dim_mul(m, a.numerator, b.numerator),
					  a.denominator * b.denominator };
		return out->denominator <= MOST_DENOMINATOR;
	}
	fraction_align(m, &a, &b);
	out->denominator = a.denominator;
	out->numerator = e->kind == EXPR_ADD
				 ? dim_add(m, a.numerator, b.numerator)
			 : e->kind == EXPR_SUB
				 ? dim_sub(m, a.numerator, b.numerator)
			 : e->kind == EXPR_MIN
				 ? dim_min(m, a.numerator, b.numerator)
				 : dim_max(m, a.numerator, b.numerator);
	return true;
}

/* Does what fraction_of does for a part of an expression. *room: the number of
 * nodes that may still be visited; a shared node is visited once for each
 * use. */
static bool
of_expr(struct module *m, const struct expr *e, int *room, struct fraction *out)
{
	if (--*room < 0) {
		return false;
	}
	if (dtype_is_int(e->type)) {
		*out = (struct fraction){ e, 1 };
		return true;
	}
	if (!dtype_is_float(e->type)) {
		return false;
	}
	switch (e->kind) {
	case EXPR_FLOAT:
		return of_literal(m, e->u.fval, out);
	case EXPR_CAST:
		return of_expr(m, e->args[0], room, out) && fits(e->type, out);
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_MIN:
	case EXPR_MAX:
		return of_operation(m, e, room, out) && fits(e->type, out);
	default:
		return false;
	}
}

bool
fraction_of(struct module *m, const struct expr *e, struct fraction *out)
{
	int room = MOST_EXPRS;

	return of_expr(m, e, &room, out);
}

const struct expr *
fraction_whole(struct module *m, const struct expr *e)
{
	struct fraction f;
	const struct expr *rest;

	if (!fraction_of(m, e, &f)) {
		return NULL;
	}
	if (f.denominator == 1) {
		return f.numerator;
	}
	rest = dim_normal(m, expr_floormod(m, f.numerator,
					   expr_index(m, f.denominator)));
	return expr_is_value(rest, 0) ? dim_div(m, f.numerator, f.denominator)
				      : NULL;
}

/* The number v, rounded to type t as kernels round it. */
static double
rounded(struct dtype t, double v)
{
	return t.kind == DT_F64 ? v : (double)(float)v;
}

/* Is floor(x * by), computed in type t, equal to floor(x / c) for all values of
 * x (if `up` is set: ceil in place of floor)? Tries all values; false if there
 * are more than MOST_VALUES. */
static bool
same_as_quotient(struct dtype t, const struct expr *x, double by, int64_t c,
		 bool up)
{
	int64_t min, max;

	if (!size_bounds(x, &min, &max) || max - min > MOST_VALUES) {
		return false;
	}
	for (int64_t v = min; v <= max; v++) {
		double product = rounded(t, (double)v * by);
		double exact = (double)v / (double)c;

		if ((up ? ceil(product) : floor(product)) !=
		    (up ? ceil(exact) : floor(exact))) {
			return false;
		}
	}
	return true;
}

/* Is e a rounded quotient of integers, x / c or x * (1 / c), whose floor (if
 * `up` is set: ceiling) is that of the exact fraction? If so, sets *x and *c.
 * The floor of a quotient that is rounded to at least 24 bits is that of the
 * exact fraction if x fits in these bits. */
static bool
integers_of(struct module *m, const struct expr *e, bool up,
	    const struct expr **x, int64_t *c)
{
	const struct expr *by;
	double inverse;

	if ((e->kind != EXPR_DIV && e->kind != EXPR_MUL) ||
	    (e->type.kind != DT_F32 && e->type.kind != DT_F64)) {
		return false;
	}
	*x = fraction_whole(m, e->args[0]);
	if (*x == NULL) {
		return false;
	}
	if (e->kind == EXPR_DIV) {
		by = fraction_whole(m, e->args[1]);
		return by != NULL && expr_is_int(by, c) && *c > 0;
	}
	by = e->args[1];
	if (by->kind != EXPR_FLOAT || !(by->u.fval > 1e-9)) {
		return false;
	}
	inverse = floor(1 / by->u.fval + 0.5);
	*c = (int64_t)inverse;
	return *c > 0 && same_as_quotient(e->type, *x, by->u.fval, *c, up);
}

const struct expr *
fraction_floor(struct module *m, const struct expr *e)
{
	struct fraction f;
	const struct expr *x;
	int64_t c;

	if (fraction_of(m, e, &f)) {
		return f.denominator == 1
			       ? f.numerator
			       : dim_div(m, f.numerator, f.denominator);
	}
	return integers_of(m, e, false, &x, &c) ? dim_div(m, x, c) : NULL;
}

const struct expr *
fraction_ceil(struct module *m, const struct expr *e)
{
	struct fraction f;
	const struct expr *x;
	int64_t c;

	if (fraction_of(m, e, &f)) {
		return f.denominator == 1
			       ? f.numerator
			       : dim_ceil_div(m, f.numerator, f.denominator);
	}
	return integers_of(m, e, true, &x, &c) ? dim_ceil_div(m, x, c) : NULL;
}

const struct expr *
fraction_trunc(struct module *m, const struct expr *e)
{
	const struct expr *whole = fraction_whole(m, e);
	int64_t min, max;

	if (whole != NULL) {
		return whole;
	}
	whole = fraction_floor(m, e);
	return whole != NULL && size_bounds(whole, &min, &max) && min >= 0
		       ? whole
		       : NULL;
}
