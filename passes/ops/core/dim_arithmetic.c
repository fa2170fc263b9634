/* SPDX-License-Identifier: Apache-2.0 */
/* Exact arithmetic of sizes. The builders of expressions compute like the
 * emitted code, in which 32 bits wrap. A size must not wrap:
 *
 *	n + 2147483646, n: int32 from 1 to 8	-> int64(n) + 2147483646
 *	65536 * 65536				-> 4294967296
 *	2^62 * 4				-> INT64_MAX
 *
 * Numbers are computed in 64 bits. A result beyond that range becomes the end
 * of the range, which is larger than any size that inference accepts.
 * Expressions become 64 bits wide if, by the bounds of their variables, 32 bits
 * do not suffice. */
#include "dims.h"

/* Sets *out to a op b, limited to the range of int64. */
static void
limited(enum expr_kind op, int64_t a, int64_t b, int64_t *out)
{
	bool over = op == EXPR_ADD   ? __builtin_add_overflow(a, b, out)
		    : op == EXPR_SUB ? __builtin_sub_overflow(a, b, out)
				     : __builtin_mul_overflow(a, b, out);
	bool negative = op == EXPR_MUL ? (a < 0) != (b < 0) : a < 0;

	if (over) {
		*out = negative ? INT64_MIN : INT64_MAX;
	}
}

static const struct expr *
wide(struct module *m, const struct expr *e)
{
	return expr_cast(m, dtype_of(DT_I64), e);
}

/* The expression a op b, computed without overflow. */
static const struct expr *
exact(struct module *m, enum expr_kind op, const struct expr *a,
      const struct expr *b)
{
	const struct expr *e;
	int64_t x, y, min, max;

	if (expr_is_int(a, &x) && expr_is_int(b, &y)) {
		limited(op, x, y, &x);
		return expr_index(m, x);
	}
	e = expr_binary(m, op, a, b);
	return dtype_bits(e->type) < 64 && size_bounds(e, &min, &max) &&
			       (min < INT32_MIN || max > INT32_MAX)
		       ? expr_binary(m, op, wide(m, a), wide(m, b))
		       : e;
}

const struct expr *
dim_add(struct module *m, const struct expr *a, const struct expr *b)
{
	return exact(m, EXPR_ADD, a, b);
}

const struct expr *
dim_sub(struct module *m, const struct expr *a, const struct expr *b)
{
	return exact(m, EXPR_SUB, a, b);
}

const struct expr *
dim_mul(struct module *m, const struct expr *a, const struct expr *b)
{
	return exact(m, EXPR_MUL, a, b);
}

const struct expr *
dim_div(struct module *m, const struct expr *a, int64_t b)
{
	int64_t x, min, max;
	const struct expr *e;

	if (expr_is_int(a, &x)) {
		return expr_index(m, x / b - (x % b < 0));
	}
	e = expr_floordiv(m, a, expr_index(m, b));
	return dtype_bits(e->type) == 64 && size_bounds(a, &min, &max) &&
			       min >= 0 && max / b <= INT32_MAX
		       ? expr_cast(m, dtype_of(DT_I32), e)
		       : e;
}

const struct expr *
dim_ceil_div(struct module *m, const struct expr *a, int64_t b)
{
	int64_t x, min, max;

	if (expr_is_int(a, &x)) {
		return expr_index(m, x / b + (x % b > 0));
	}
	/* the quotient can only be 0 or 1: a comparison avoids a sum that needs
	 * more bits */
	if (size_bounds(a, &min, &max) && min > -b && max <= b &&
	    max > INT32_MAX - b) {
		a = dim_max(m, a, expr_int(m, a->type, 0));
		return dim_min(m, a, expr_int(m, a->type, 1));
	}
	return dim_div(m, dim_add(m, a, expr_index(m, b - 1)), b);
}

/* Is a <= b proven for every value of the variables? */
static bool
dim_never_above(struct module *m, const struct expr *a, const struct expr *b)
{
	int64_t min, max;

	return a == b ||
	       (a->kind == EXPR_MIN && (a->args[0] == b || a->args[1] == b)) ||
	       (size_bounds(dim_normal(m, dim_sub(m, b, a)), &min, &max) &&
		min >= 0);
}

const struct expr *
dim_min(struct module *m, const struct expr *a, const struct expr *b)
{
	return dim_never_above(m, a, b)   ? a
	       : dim_never_above(m, b, a) ? b
					  : expr_min(m, a, b);
}

const struct expr *
dim_max(struct module *m, const struct expr *a, const struct expr *b)
{
	return dim_never_above(m, a, b)   ? b
	       : dim_never_above(m, b, a) ? a
					  : expr_max(m, a, b);
}

const struct expr *
dim_offset(struct module *m, int64_t v, const struct expr *from,
	   const struct expr *to)
{
	int64_t most, far = INT32_MAX / 2;

	if (!size_max(v < 0 ? from : to, &most)) {
		most = INT64_MAX / 2;
	}
	far = most > far ? most : far;
	return expr_index(m, v > far ? far : v < -far ? -far : v);
}

const struct expr *
dim_shifted(struct module *m, const struct expr *i, const struct expr *size,
	    const struct expr *offset, const struct expr *most)
{
	bool is_wide = dtype_bits(dim_add(m, size, most)->type) == 64;

	return expr_add(m, is_wide ? wide(m, i) : i, offset);
}
