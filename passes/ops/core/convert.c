/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of one element between types, as ONNX defines them. */
#include "define.h"

#include <string.h>

const struct expr *
convert_to(struct define *c, struct dtype t, const struct expr *e)
{
	if (dtype_class(t) == DTC_BOOL && dtype_class(e->type) != DTC_BOOL) {
		return expr_binary(c->module, EXPR_NE, e, like(c, e, 0));
	}
	if (dtype_is_int(t) && dtype_is_float(e->type)) {
		/* A conversion to an integer of fewer than 8 bits keeps the low
		 * bits of an int32. */
		struct dtype wide = dtype_bits(t) < 8 ? dtype_of(DT_I32) : t;

		e = expr_call(c->module, INTRIN_TO_INT, wide, &e, 1);
	}
	return expr_cast(c->module, t, e);
}

/* The number to add to the bits of a float before its exponent is extracted, so
 * that the exponent is rounded as `mode` says. Floats below 2^-126, which have
 * no exponent bits, are a special case: 2^-127, which is a value of e8m0, is a
 * bit of their fraction. */
static const struct expr *
exponent_rounding(struct define *c, const char *mode, const struct expr *bits)
{
	struct module *m = c->module;
	const struct expr *normal = expr_le(m, like(c, bits, 0x800000), bits);

	if (strcmp(mode, "up") == 0) {
		return expr_select(m, normal, like(c, bits, 0x7fffff),
				   like(c, bits, 0x3fffff));
	}
	if (strcmp(mode, "nearest") == 0) {
		return expr_select(m, normal, like(c, bits, 0x400000),
				   like(c, bits, 0x200000));
	}
	return like(c, bits, 0);
}

/* The element of type e8m0 (a power of two) for the float e: the exponent of
 * its magnitude, rounded as the attribute round_mode says. Magnitudes out of
 * range, including infinity, become the smallest or the largest power of two,
 * or, without `saturate`, NaN. */
static const struct expr *
to_exponent(struct define *c, const struct node *n, const struct expr *e)
{
	const char *mode = node_attr_string(n, "round_mode", "up");
	bool saturates = node_attr_int(n, "saturate", 1) != 0;
	struct module *m = c->module;
	const struct expr *bits, *power, *is_nan;

	e = expr_cast(m, dtype_of(DT_F32), e);
	bits = expr_call(m, INTRIN_REINTERPRET, dtype_of(DT_U32), &e, 1);
	bits = expr_call2(m, INTRIN_BITAND, bits, like(c, bits, 0x7fffffff));
	power = expr_add(m, bits, exponent_rounding(c, mode, bits));
	power = expr_call2(m, INTRIN_SHR, power, like(c, bits, 23));
	power = expr_min(m, power, like(c, bits, saturates ? 254 : 255));
	is_nan = saturates ? expr_lt(m, like(c, bits, 0x7f800000), bits)
			   : expr_lt(m, bits, like(c, bits, 0x400000));
	power = expr_select(m, is_nan, like(c, bits, 255), power);
	return expr_cast(m, dtype_of(DT_E8M0), power);
}

/* The number that the element e, of type e8m0, stands for, as a float: a power
 * of two, or NaN. */
static const struct expr *
from_exponent(struct define *c, const struct expr *e)
{
	struct module *m = c->module;
	const struct expr *power;

	e = expr_cast(m, dtype_of(DT_U32), e);
	power = expr_max(m, like(c, e, 0x400000),
			 expr_call2(m, INTRIN_SHL, e, like(c, e, 23)));
	power = expr_select(m, expr_eq(m, e, like(c, e, 255)),
			    like(c, e, 0x7fc00000), power);
	return expr_call(m, INTRIN_REINTERPRET, dtype_of(DT_F32), &power, 1);
}

/* Does the float type t have all values of the integer type? */
static bool
holds_ints(struct dtype t, struct dtype ints)
{
	return !dtype_is_float(ints) && dtype_lowest(ints) >= dtype_lowest(t) &&
	       dtype_highest(ints) <= dtype_highest(t);
}

const struct expr *
saturate_to(struct define *c, const struct node *n, struct dtype t,
	    const struct expr *e)
{
	struct module *m = c->module;
	double most = dtype_highest(t);

	if (t.kind == DT_E8M0 && dtype_is_float(e->type)) {
		return to_exponent(c, n, e);
	}
	if (e->type.kind == DT_E8M0 && dtype_is_float(t)) {
		return expr_cast(m, t, from_exponent(c, e));
	}
	if (!dtype_is_float(t) || dtype_bits(t) != 8 ||
	    node_attr_int(n, "saturate", 1) == 0 || holds_ints(t, e->type)) {
		return convert_to(c, t, e);
	}
	/* The limits of the integer type are exact in float64; larger numbers
	 * are beyond them. */
	if (e->type.kind != DT_F64) {
		e = expr_cast(m, dtype_of(DT_F32), e);
	}
	e = expr_max(m, expr_min(m, e, like(c, e, most)), like(c, e, -most));
	return expr_cast(m, t, e);
}
