/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on two or more elements: arithmetic, comparison, logic. Cases that
 * ONNX leaves undefined are defined: an integer quotient or remainder by 0 is
 * 0; the most negative integer divided by -1 wraps. */
#include "define.h"

#define BODY(name)                                                             \
	const struct expr *body_##name(struct define *c, const struct node *n, \
				       const struct expr *const *x)

/* Operators that are one expression of x[0] and x[1]. */
#define BINARY(name, KIND)                                                     \
	BODY(name)                                                             \
	{                                                                      \
		(void)n;                                                       \
		return expr_binary(c->module, EXPR_##KIND, x[0], x[1]);        \
	}
#define INTRINSIC(name, INTRIN_ID)                                             \
	BODY(name)                                                             \
	{                                                                      \
		(void)n;                                                       \
		return expr_call2(c->module, INTRIN_##INTRIN_ID, x[0], x[1]);  \
	}

BINARY(add, ADD)
BINARY(sub, SUB)
BINARY(mul, MUL)
BINARY(and, AND)
BINARY(or, OR)
BINARY(xor, NE)
BINARY(equal, EQ)
BINARY(greater, GT)
BINARY(greater_or_equal, GE)
BINARY(less, LT)
BINARY(less_or_equal, LE)
INTRINSIC(bitwise_and, BITAND)
INTRINSIC(bitwise_or, BITOR)
INTRINSIC(bitwise_xor, BITXOR)

/* x op y for integers, op a quotient or remainder: 0 if y is 0, and minus_one
 * if y is -1, because x op y could overflow then. */
static const struct expr *
guarded_division(struct define *c, enum expr_kind kind, const struct expr *x,
		 const struct expr *y, const struct expr *minus_one)
{
	struct module *m = c->module;
	const struct expr *q;

	if (y->kind == EXPR_INT) {
		if (y->u.ival == 0) {
			return like(c, x, 0);
		}
		if (y->u.ival == -1 && dtype_is_signed(y->type)) {
			return minus_one;
		}
		return expr_binary(m, kind, x, y);
	}
	q = expr_binary(m, kind, x, y);
	if (dtype_is_signed(x->type)) {
		q = expr_if(m, expr_eq(m, y, like(c, y, -1)), minus_one, q);
	}
	return expr_if(m, expr_eq(m, y, like(c, y, 0)), like(c, x, 0), q);
}

/* Integer quotients are rounded toward zero. */
BODY(div)
{
	(void)n;
	if (dtype_is_float(x[0]->type)) {
		return expr_div(c->module, x[0], x[1]);
	}
	return guarded_division(c, EXPR_DIV, x[0], x[1],
				expr_neg(c->module, x[0]));
}

/* The result has the sign of the divisor (as in Python), or, with fmod, that of
 * the dividend (as in C). */
BODY(mod)
{
	bool c_like = node_attr_int(n, "fmod", 0) != 0;
	struct module *m = c->module;
	const struct expr *r, *wrong;

	if (!dtype_is_float(x[0]->type)) {
		return guarded_division(c,
					c_like ? EXPR_TRUNCMOD : EXPR_FLOORMOD,
					x[0], x[1], like(c, x[0], 0));
	}
	r = expr_call2(m, INTRIN_FMOD, x[0], x[1]);
	if (c_like) {
		return r;
	}
	wrong = expr_lt(m, expr_mul(m, r, x[1]), like(c, r, 0));
	return expr_select(m, wrong, expr_add(m, r, x[1]), r);
}

/* An integer to the power of an integer, wrapped to the base's type; for a
 * negative exponent, rounded toward zero. */
static const struct expr *
integer_power(struct define *c, const struct expr *base,
	      const struct expr *exponent)
{
	struct module *m = c->module;
	bool wide = dtype_bits(exponent->type) == 64 ||
		    dtype_bits(base->type) == 64;
	bool is_signed = dtype_is_signed(base->type) &&
			 dtype_is_signed(exponent->type);
	struct dtype t = dtype_of(is_signed ? wide ? DT_I64 : DT_I32
				  : wide    ? DT_U64
					    : DT_U32);
	const struct expr *r, *fraction;

	r = expr_cast(m, base->type,
		      expr_call2(m, INTRIN_POW, expr_cast(m, t, base),
				 expr_cast(m, t, exponent)));
	if (is_signed || !dtype_is_signed(exponent->type)) {
		return r;
	}
	fraction = expr_cast(m, base->type, expr_eq(m, base, like(c, base, 1)));
	return expr_select(m, expr_lt(m, exponent, like(c, exponent, 0)),
			   fraction, r);
}

/* The result has the base's type. Powers with small constant exponents are
 * written as products. */
BODY(pow)
{
	struct module *m = c->module;
	struct dtype t = x[0]->type, f;
	double e;

	if (input_scalar(n, 1, &e)) {
		if (e == 1) {
			return x[0];
		}
		if (e == 2) {
			return expr_mul(m, x[0], x[0]);
		}
		if (e == 3) {
			return expr_mul(m, expr_mul(m, x[0], x[0]), x[0]);
		}
		if (e == 0.5 && dtype_is_float(t)) {
			return expr_call1(m, INTRIN_SQRT, x[0]);
		}
		if (e == -1 && dtype_is_float(t)) {
			return expr_div(m, like(c, x[0], 1), x[0]);
		}
	}
	if (!dtype_is_float(t) && !dtype_is_float(x[1]->type)) {
		return integer_power(c, x[0], x[1]);
	}
	f = dtype_is_float(t) ? t : dtype_of(DT_F64);
	return convert_to(c, t,
			  expr_call2(m, INTRIN_POW, expr_cast(m, f, x[0]),
				     expr_cast(m, f, x[1])));
}

/* The intrinsics shift out all bits if the amount is negative, or not less than
 * the number of bits. */
BODY(bit_shift)
{
	bool left = strcmp(node_attr_string(n, "direction", ""), "LEFT") == 0;

	return expr_call2(c->module, left ? INTRIN_SHL : INTRIN_SHR, x[0],
			  x[1]);
}

BODY(where)
{
	(void)n;
	return expr_select(c->module, x[0], x[1], x[2]);
}

/* ---- any number of inputs ---- */

static const struct expr *
fold_inputs(struct define *c, enum expr_kind kind, const struct node *n,
	    const struct expr *const *x)
{
	const struct expr *y = x[0];

	for (int i = 1; i < n->n_inputs; i++) {
		y = expr_binary(c->module, kind, y, x[i]);
	}
	return y;
}

BODY(min)
{
	return fold_inputs(c, EXPR_MIN, n, x);
}

BODY(max)
{
	return fold_inputs(c, EXPR_MAX, n, x);
}

BODY(sum)
{
	return fold_inputs(c, EXPR_ADD, n, x);
}

BODY(mean)
{
	const struct expr *y = fold_inputs(c, EXPR_ADD, n, x);

	return expr_div(c->module, y, like(c, y, n->n_inputs));
}
