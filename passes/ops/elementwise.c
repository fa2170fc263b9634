/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of one element: y[i] = f(x[i]). */
#include "define.h"

#include <math.h>

#define UNARY(name) \
	const struct expr * \
	body_##name(struct define *c, const struct node *n, \
		    const struct expr *const *x)

/* Those that are one intrinsic. */
#define INTRINSIC(name, INTRIN_ID) \
	UNARY(name) \
	{ \
		(void)n; \
		return expr_call1(c->module, INTRIN_##INTRIN_ID, x[0]); \
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
		? x[0] : expr_call1(c->module, INTRIN_ABS, x[0]);
}

UNARY(neg)
{
	(void)n;
	return expr_neg(c->module, x[0]);
}

/* x itself where it is neither above nor below: 0, -0, NaN. */
UNARY(sign)
{
	const struct expr *zero = like(c, x[0], 0);
	const struct expr *below = x[0];

	(void)n;
	if (dtype_class(x[0]->type) != DTC_UINT) {
		below = expr_select(c->module, expr_lt(c->module, x[0], zero),
				    like(c, x[0], -1), x[0]);
	}
	return expr_select(c->module, expr_lt(c->module, zero, x[0]),
			   like(c, x[0], 1), below);
}

UNARY(reciprocal)
{
	(void)n;
	return expr_div(c->module, like(c, x[0], 1), x[0]);
}

/* Of integers: erf's value truncated, as the reference has it. */
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

UNARY(not)
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

/* ONNX's numbers of types (TensorProto.DataType), as the attribute `to` of
 * Cast and others have them. */
bool
dtype_of_onnx(int64_t number, struct dtype *t)
{
	static const enum dtype_kind kinds[] = {
		DT_VOID, DT_F32, DT_U8, DT_I8, DT_U16, DT_I16, DT_I32, DT_I64,
		DT_STRING, DT_BOOL, DT_F16, DT_F64, DT_U32, DT_U64, DT_VOID,
		DT_VOID, DT_BF16, DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2,
		DT_F8E5M2FNUZ, DT_U4, DT_I4
	};

	if (number <= 0 || number >= (int)(sizeof kinds / sizeof kinds[0]) ||
	    kinds[number] == DT_VOID) {
		return false;
	}
	*t = dtype_of(kinds[number]);
	return true;
}

bool
infer_cast(struct infer *c, struct node *n)
{
	int64_t to = node_attr_int(n, "to", 0);
	struct dtype t;

	if (!dtype_of_onnx(to, &t) || dtype_class(t) == DTC_STRING) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "Cast to ONNX type %lld is not supported; "
				   "choose a numeric type of 4 bits or more",
				   (long long)to);
	}
	infer_set(c, n->outputs[0], t, n->inputs[0]->ndim,
		  n->inputs[0]->shape);
	return true;
}

bool
infer_cast_like(struct infer *c, struct node *n)
{
	infer_set(c, n->outputs[0], n->inputs[1]->type, n->inputs[0]->ndim,
		  n->inputs[0]->shape);
	return true;
}

const struct expr *
convert_to(struct define *c, struct dtype t, const struct expr *e)
{
	if (dtype_class(t) == DTC_BOOL && dtype_class(e->type) != DTC_BOOL) {
		return expr_binary(c->module, EXPR_NE, e, like(c, e, 0));
	}
	if (dtype_is_int(t) && dtype_is_float(e->type)) {
		/* The narrowest integers keep the low bits. */
		struct dtype wide = dtype_bits(t) < 8 ? dtype_of(DT_I32) : t;

		e = expr_call(c->module, INTRIN_TO_INT, wide, &e, 1);
	}
	return expr_cast(c->module, t, e);
}

/* Largest values of the 8-bit floats, and from where on a value rounds
 * beyond it. */
static const struct {
	enum dtype_kind kind;
	double largest, beyond;
} eight_bits[] = {
	{ DT_F8E4M3FN, 448, 464.0001 },
	{ DT_F8E4M3FNUZ, 240, 248 },
	{ DT_F8E5M2, 57344, 61440 },
	{ DT_F8E5M2FNUZ, 57344, 61440 },
};

/* The attribute saturate: what lies outside becomes the largest value, or
 * without it NaN. */
static const struct expr *
saturated(struct define *c, const struct node *n, struct dtype t,
	  const struct expr *e)
{
	struct module *m = c->module;
	bool saturate = node_attr_int(n, "saturate", 1) != 0;

	for (size_t i = 0; i < sizeof eight_bits / sizeof eight_bits[0]; i++) {
		if (eight_bits[i].kind != (enum dtype_kind)t.kind ||
		    !dtype_is_float(e->type)) {
			continue;
		}
		if (saturate) {
			double most = eight_bits[i].largest;

			return expr_max(m, like(c, e, -most),
					expr_min(m, e, like(c, e, most)));
		}
		return expr_select(
			m, expr_le(m, like(c, e, eight_bits[i].beyond),
				   expr_call1(m, INTRIN_ABS, e)),
			like(c, e, NAN), e);
	}
	return e;
}

UNARY(cast)
{
	struct dtype t = n->outputs[0]->type;

	return convert_to(c, t, saturated(c, n, t, x[0]));
}

UNARY(cast_like)
{
	struct dtype t = n->outputs[0]->type;

	return convert_to(c, t, saturated(c, n, t, x[0]));
}
