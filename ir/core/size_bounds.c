/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of sizes, by intervals. An end that is not known, or that leaves
 * int64, is the end of int64: LEAST or MOST. */
#include "size_bounds.h"

static const int64_t LEAST = INT64_MIN, MOST = INT64_MAX;

struct range {
	int64_t min, max;
};

static bool
is_end(int64_t v)
{
	return v == LEAST || v == MOST;
}

static bool
is_known(struct range r)
{
	return !is_end(r.min) && !is_end(r.max);
}

/* a + b, or `end` if that is not known. */
static int64_t
sum(int64_t a, int64_t b, int64_t end)
{
	int64_t v;

	return is_end(a) || is_end(b) || __builtin_add_overflow(a, b, &v) ? end
									  : v;
}

static int64_t
difference(int64_t a, int64_t b, int64_t end)
{
	int64_t v;

	return is_end(a) || is_end(b) || __builtin_sub_overflow(a, b, &v) ? end
									  : v;
}

static int64_t
product(int64_t a, int64_t b, int64_t end)
{
	int64_t v;

	return is_end(a) || is_end(b) || __builtin_mul_overflow(a, b, &v) ? end
									  : v;
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

static struct range
either(struct range a, struct range b)
{
	return (struct range){ least(a.min, b.min), most(a.max, b.max) };
}

/* The products of numbers of a and of one number b. */
static struct range
scaled(struct range a, int64_t b)
{
	if (b == 0) {
		return (struct range){ 0, 0 };
	}
	return b > 0 ? (struct range){ product(a.min, b, LEAST),
				       product(a.max, b, MOST) }
		     : (struct range){ product(a.max, b, LEAST),
				       product(a.min, b, MOST) };
}

static struct range
products(struct range a, struct range b)
{
	if (is_end(b.min) && is_end(b.max)) {
		struct range swap = a;

		a = b;
		b = swap;
	}
	if (is_known(b)) {
		return either(scaled(a, b.min), scaled(a, b.max));
	}
	return (struct range){ a.min >= 0 && b.min >= 0
				       ? product(a.min, b.min, LEAST)
				       : LEAST,
			       MOST };
}

/* The quotient of a and b > 0: rounded down, or toward zero. */
static int64_t
quotient(enum expr_kind kind, int64_t a, int64_t b)
{
	return is_end(a) ? a : a / b - (kind == EXPR_FLOORDIV && a % b < 0);
}

/* Of numbers that are divided by 0 or less, the least is not known. */
static struct range
quotients(enum expr_kind kind, struct range a, struct range b)
{
	struct range r = { LEAST, MOST };

	if (b.min > 0) {
		r.min = a.min >= 0 && b.max == MOST
				? 0
				: quotient(kind, a.min,
					   a.min < 0 ? b.min : b.max);
	}
	b.min = most(b.min, 1);
	if (b.max >= b.min) {
		r.max = a.max < 0 && b.max == MOST
				? 0
				: quotient(kind, a.max,
					   a.max < 0 ? b.max : b.min);
	}
	return r;
}

static struct range
range_of(const struct expr *e)
{
	struct range a, b, unknown = { LEAST, MOST };
	int64_t v;

	if (expr_is_int(e, &v)) {
		return (struct range){ v, v };
	}
	if (e->kind == EXPR_VAR) {
		const struct var *var = e->u.var;

		return var->min <= var->max
			       ? (struct range){ var->min, var->max }
			       : unknown;
	}
	if (e->kind == EXPR_CAST && dtype_is_int(e->args[0]->type)) {
		return range_of(e->args[0]);
	}
	if (e->n_args < 2 || !dtype_is_int(e->type)) {
		return unknown;
	}
	a = range_of(e->args[e->n_args - 2]);
	b = range_of(e->args[e->n_args - 1]);
	switch (e->kind) {
	case EXPR_ADD:
		return (struct range){ sum(a.min, b.min, LEAST),
				       sum(a.max, b.max, MOST) };
	case EXPR_SUB:
		return (struct range){ difference(a.min, b.max, LEAST),
				       difference(a.max, b.min, MOST) };
	case EXPR_MUL:
		return products(a, b);
	case EXPR_FLOORDIV:
	case EXPR_DIV:
		return quotients(e->kind, a, b);
	case EXPR_FLOORMOD:
		return (struct range){ b.min > 0 ? 0 : LEAST,
				       is_end(b.max) ? MOST : b.max - 1 };
	case EXPR_MIN:
		return (struct range){ least(a.min, b.min),
				       least(a.max, b.max) };
	case EXPR_MAX:
		return (struct range){ most(a.min, b.min), most(a.max, b.max) };
	case EXPR_SELECT:
	case EXPR_IF:
		return either(a, b);
	default:
		return unknown;
	}
}

bool
size_bounds(const struct expr *e, int64_t *min, int64_t *max)
{
	struct range r = range_of(e);

	*min = r.min;
	*max = r.max;
	return expr_is_int(e, min) || is_known(r);
}

bool
size_max(const struct expr *e, int64_t *max)
{
	*max = range_of(e).max;
	return expr_is_int(e, max) || !is_end(*max);
}

bool
size_may_be_empty(const struct expr *e)
{
	int64_t min, max;

	return !size_bounds(e, &min, &max) || min <= 0;
}
