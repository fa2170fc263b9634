/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of one element: y[i] = f(x[i]). */
#include "define.h"

#include <math.h>
#include <string.h>

#define UNARY(name)                                                            \
	const struct expr *body_##name(struct define *c, const struct node *n, \
				       const struct expr *const *x)

/* Operators that are one intrinsic. */
#define INTRINSIC(name, INTRIN_ID)                                             \
	UNARY(name)                                                            \
	{                                                                      \
		(void)n;                                                       \
		return expr_call1(c->module, INTRIN_##INTRIN_ID, x[0]);        \
	}

INTRINSIC(floor, FLOOR)
INTRINSIC(ceil, CEIL)
INTRINSIC(round, NEARBYINT)
INTRINSIC(sqrt, SQRT)
INTRINSIC(exp, EXP)
INTRINSIC(log, LOG)
INTRINSIC(sin, SIN)
INTRINSIC(cos, COS)
INTRINSIC(tan, TAN)
INTRINSIC(asin, ASIN)
INTRINSIC(acos, ACOS)
INTRINSIC(atan, ATAN)
INTRINSIC(sinh, SINH)
INTRINSIC(cosh, COSH)
INTRINSIC(tanh, TANH)
INTRINSIC(asinh, ASINH)
INTRINSIC(acosh, ACOSH)
INTRINSIC(atanh, ATANH)
INTRINSIC(sigmoid, SIGMOID)
INTRINSIC(is_nan, ISNAN)
INTRINSIC(bitwise_not, BITNOT)

UNARY(abs)
{
	(void)n;
	return dtype_class(x[0]->type) == DTC_UINT
		       ? x[0]
		       : expr_call1(c->module, INTRIN_ABS, x[0]);
}

UNARY(neg)
{
	(void)n;
	return expr_neg(c->module, x[0]);
}

/* The sign of -0 is 0, that of NaN is NaN. */
UNARY(sign)
{
	const struct expr *zero = like(c, x[0], 0);
	const struct expr *below = x[0];

	(void)n;
	if (dtype_is_float(x[0]->type)) {
		below = expr_select(c->module, expr_eq(c->module, x[0], zero),
				    zero, x[0]);
	}
	if (dtype_class(x[0]->type) != DTC_UINT) {
		below = expr_select(c->module, expr_lt(c->module, x[0], zero),
				    like(c, x[0], -1), below);
	}
	return expr_select(c->module, expr_lt(c->module, zero, x[0]),
			   like(c, x[0], 1), below);
}

UNARY(reciprocal)
{
	(void)n;
	return expr_div(c->module, like(c, x[0], 1), x[0]);
}

/* For integers, erf's value is truncated, as in ONNX's reference
 * implementation. */
UNARY(erf)
{
	struct dtype f = dtype_of(DT_F64);
	const struct expr *e;

	(void)n;
	if (dtype_is_float(x[0]->type)) {
		return expr_call1(c->module, INTRIN_ERF, x[0]);
	}
	e = expr_call1(c->module, INTRIN_ERF, expr_cast(c->module, f, x[0]));
	return expr_call(c->module, INTRIN_TO_INT, x[0]->type, &e, 1);
}

UNARY(is_inf)
{
	bool negative = node_attr_int(n, "detect_negative", 1) != 0;
	bool positive = node_attr_int(n, "detect_positive", 1) != 0;

	if (negative && positive) {
		return expr_call1(c->module, INTRIN_ISINF, x[0]);
	}
	if (!negative && !positive) {
		return expr_bool(c->module, false);
	}
	return expr_eq(c->module, x[0],
		       like(c, x[0], positive ? INFINITY : -INFINITY));
}

UNARY(not )
{
	(void)n;
	return expr_not(c->module, x[0]);
}

UNARY(identity)
{
	(void)c;
	(void)n;
	return x[0];
}

/* ---- casts ---- */

/* Refuses casts between e8m0 and integers. */
static bool
check_exponents(struct infer *c, const struct node *n, struct dtype to)
{
	struct dtype from = n->inputs[0]->type;
	bool is_to = to.kind == DT_E8M0;

	return is_to == (from.kind == DT_E8M0) ||
	       dtype_is_float(is_to ? from : to) ||
	       infer_error(c, DIAG_BAD_TYPE,
			   "a cast from %s to %s is not defined; cast to "
			   "float32 in between",
			   dtype_name(from), dtype_name(to));
}

bool
infer_cast(struct infer *c, struct node *n)
{
	int64_t to = node_attr_int(n, "to", 0);
	struct dtype t;

	if (!dtype_from_onnx(to, &t) || dtype_class(t) == DTC_STRING) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "Cast to ONNX type %lld is not supported; "
				   "choose a numeric type",
				   (long long)to);
	}
	infer_set(c, n->outputs[0], t, n->inputs[0]->ndim, n->inputs[0]->shape);
	return strcmp(n->op_type, "Cast") != 0 || check_exponents(c, n, t);
}

bool
infer_cast_like(struct infer *c, struct node *n)
{
	infer_set(c, n->outputs[0], n->inputs[1]->type, n->inputs[0]->ndim,
		  n->inputs[0]->shape);
	return check_exponents(c, n, n->outputs[0]->type);
}

bool
infer_bit_cast(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (!infer_cast(c, n)) {
		return false;
	}
	if (dtype_bits(n->outputs[0]->type) != dtype_bits(x->type) &&
	    !(dtype_class(x->type) == DTC_BOOL &&
	      dtype_bits(n->outputs[0]->type) == 8) &&
	    !(dtype_class(n->outputs[0]->type) == DTC_BOOL &&
	      dtype_bits(x->type) == 8)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "%s and %s differ in the number of bits; "
				   "correct the model",
				   dtype_name(x->type),
				   dtype_name(n->outputs[0]->type));
	}
	return true;
}

UNARY(cast)
{
	return saturate_to(c, n, n->outputs[0]->type, x[0]);
}

/* The element converted to another type of the same size with the same bits.
 * The byte of a bool is 0 or 1. */
UNARY(bit_cast)
{
	struct module *m = c->module;
	struct dtype t = n->outputs[0]->type, byte = dtype_of(DT_U8);
	const struct expr *e = x[0];

	if (dtype_class(e->type) == DTC_BOOL) {
		e = expr_cast(m, dtype_class(t) == DTC_BOOL ? t : byte, e);
	}
	if (dtype_class(t) == DTC_BOOL && !dtype_equal(e->type, t)) {
		e = expr_call(m, INTRIN_REINTERPRET, byte, &e, 1);
		return convert_to(c, t, e);
	}
	return dtype_equal(e->type, t)
		       ? e
		       : expr_call(m, INTRIN_REINTERPRET, t, &e, 1);
}

UNARY(cast_like)
{
	return saturate_to(c, n, n->outputs[0]->type, x[0]);
}
