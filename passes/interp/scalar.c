/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and intrinsics of one element; see scalar.h. */
#include "scalar.h"

#include <math.h>

/* ---- binary operators */

static double
float_binary(enum expr_kind kind, double x, double y)
{
	double r;

	switch (kind) {
	case EXPR_ADD:
		return x + y;
	case EXPR_SUB:
		return x - y;
	case EXPR_MUL:
		return x * y;
	case EXPR_DIV:
		return x / y;
	case EXPR_TRUNCMOD:
		return fmod(x, y);
	case EXPR_FLOORDIV:
		return floor(x / y);
	case EXPR_FLOORMOD:
		r = fmod(x, y);
		return r != 0 && (r < 0) != (y < 0) ? r + y : r;
	case EXPR_MIN:
		return isnan(x) || isnan(y) ? (double)NAN : x < y ? x : y;
	case EXPR_MAX:
		return isnan(x) || isnan(y) ? (double)NAN : x > y ? x : y;
	default:
		return 0;
	}
}

static bool
is_division(enum expr_kind kind)
{
	return kind == EXPR_DIV || kind == EXPR_TRUNCMOD ||
	       kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
}

/* The quotient or remainder of x and y by kind: DIV and TRUNCMOD truncate,
 * FLOORDIV and FLOORMOD round down. y must not be 0; INT_MIN / -1 wraps. */
static int64_t
signed_division(enum expr_kind kind, int64_t x, int64_t y)
{
	bool quotient = kind == EXPR_DIV || kind == EXPR_FLOORDIV;

	if (y == -1) {
		return quotient ? (int64_t)(0 - (uint64_t)x) : 0;
	}
	bool down = x % y != 0 && (x < 0) != (y < 0);

	switch (kind) {
	case EXPR_DIV:
		return x / y;
	case EXPR_TRUNCMOD:
		return x % y;
	case EXPR_FLOORDIV:
		return x / y - down;
	default:
		return x % y + (down ? y : 0);
	}
}

static union number
int_binary(enum expr_kind kind, bool is_signed, union number a, union number b,
	   enum scalar_fault *fault)
{
	union number n = { .u = 0 };
	bool less = is_signed ? a.i < b.i : a.u < b.u;

	if (is_division(kind)) {
		if (b.u == 0) {
			*fault = SCALAR_DIVISION;
		} else if (is_signed) {
			n.i = signed_division(kind, a.i, b.i);
		} else if (kind == EXPR_DIV || kind == EXPR_FLOORDIV) {
			n.u = a.u / b.u;
		} else {
			n.u = a.u % b.u;
		}
		return n;
	}
	switch (kind) {
	case EXPR_ADD:
		n.u = a.u + b.u;
		break;
	case EXPR_SUB:
		n.u = a.u - b.u;
		break;
	case EXPR_MUL:
		n.u = a.u * b.u;
		break;
	case EXPR_MIN:
		n = less ? a : b;
		break;
	case EXPR_MAX:
		n = less ? b : a;
		break;
	default:
		break;
	}
	return n;
}

static bool
compare(enum expr_kind kind, bool less, bool equal, bool ordered)
{
	switch (kind) {
	case EXPR_EQ:
		return equal;
	case EXPR_NE:
		return !equal;
	case EXPR_LT:
		return less;
	case EXPR_LE:
		return less || equal;
	case EXPR_GT:
		return ordered && !less && !equal;
	default:
		return ordered && !less;
	}
}

union number
scalar_binary(enum expr_kind kind, struct dtype t, union number a,
	      union number b, enum scalar_fault *fault)
{
	union number n = { .u = 0 };
	enum dtype_class class = dtype_class(t);
	bool is_float = class == DTC_FLOAT;
	bool is_signed = !is_float && class != DTC_UINT && class != DTC_HANDLE;

	if (kind >= EXPR_EQ && kind <= EXPR_GE) {
		bool less = is_float    ? a.f < b.f
			    : is_signed ? a.i < b.i
					: a.u < b.u;
		bool equal = is_float ? a.f == b.f : a.u == b.u;
		bool ordered = !is_float || !(isnan(a.f) || isnan(b.f));

		n.i = compare(kind, less, equal, ordered);
		return n;
	}
	if (is_float) {
		n.f = float_binary(kind, a.f, b.f);
		if (t.kind == DT_F32) {
			n.f = (double)(float)n.f;
			return n;
		}
		return t.kind == DT_F64 ? n : number_round(t, n);
	}
	return number_round(t, int_binary(kind, is_signed, a, b, fault));
}

/* ---- intrinsics of floats */

/* A function of one float argument, computed in double precision and not
 * rounded to the type. */
static double
scalar_float1(enum intrin op, double x, enum scalar_fault *fault)
{
	switch (op) {
	case INTRIN_EXP:
		return exp(x);
	case INTRIN_EXP2:
		return exp2(x);
	case INTRIN_LOG:
		return log(x);
	case INTRIN_LOG2:
		return log2(x);
	case INTRIN_LOG1P:
		return log1p(x);
	case INTRIN_SQRT:
		return sqrt(x);
	case INTRIN_RSQRT:
		return 1 / sqrt(x);
	case INTRIN_SIN:
		return sin(x);
	case INTRIN_COS:
		return cos(x);
	case INTRIN_TAN:
		return tan(x);
	case INTRIN_ASIN:
		return asin(x);
	case INTRIN_ACOS:
		return acos(x);
	case INTRIN_ATAN:
		return atan(x);
	case INTRIN_SINH:
		return sinh(x);
	case INTRIN_COSH:
		return cosh(x);
	case INTRIN_TANH:
		return tanh(x);
	case INTRIN_ASINH:
		return asinh(x);
	case INTRIN_ACOSH:
		return acosh(x);
	case INTRIN_ATANH:
		return atanh(x);
	case INTRIN_ERF:
		return erf(x);
	case INTRIN_SIGMOID:
		return 1 / (1 + exp(-x));
	case INTRIN_FLOOR:
		return floor(x);
	case INTRIN_CEIL:
		return ceil(x);
	case INTRIN_TRUNC:
		return trunc(x);
	case INTRIN_ROUND:
		return round(x);
	case INTRIN_NEARBYINT:
		return nearbyint(x);
	case INTRIN_ABS:
		return fabs(x);
	case INTRIN_LIKELY:
		return x;
	default:
		*fault = SCALAR_UNDEFINED;
		return 0;
	}
}

static double
scalar_float2(enum intrin op, double x, double y, enum scalar_fault *fault)
{
	switch (op) {
	case INTRIN_POW:
		return pow(x, y);
	case INTRIN_FMOD:
		return fmod(x, y);
	case INTRIN_ATAN2:
		return atan2(x, y);
	case INTRIN_COPYSIGN:
		return copysign(x, y);
	case INTRIN_FMAX:
		return y > x || isnan(x) ? y : x;
	default:
		*fault = SCALAR_UNDEFINED;
		return 0;
	}
}

static union number
float_call(enum intrin op, struct dtype t, const union number *args,
	   enum scalar_fault *fault)
{
	union number n = { .u = 0 };

	if (op == INTRIN_FMA) {
		/* For f32, a product and sum in double precision would be
		 * rounded twice. */
		n.f = t.kind == DT_F32
			      ? (double)fmaf((float)args[0].f, (float)args[1].f,
					     (float)args[2].f)
			      : fma(args[0].f, args[1].f, args[2].f);
	} else if (intrin_arity(op) == 2) {
		n.f = scalar_float2(op, args[0].f, args[1].f, fault);
	} else {
		n.f = scalar_float1(op, args[0].f, fault);
	}
	return number_round(t, n);
}

/* ---- intrinsics of integers */

/* An integer power, which wraps. A negative power is 0, also of 0, except for 1
 * and -1. */
static uint64_t
int_power(union number base, union number exponent, bool is_signed)
{
	uint64_t result = 1;
	uint64_t square = base.u;
	uint64_t left = exponent.u;

	if (is_signed && exponent.i < 0) {
		if (base.i == -1) {
			return exponent.u & 1 ? base.u : 1;
		}
		return base.i == 1;
	}
	for (; left; left >>= 1) {
		if (left & 1) {
			result *= square;
		}
		square *= square;
	}
	return result;
}

static union number
shift(enum intrin op, struct dtype t, union number x, union number amount)
{
	uint64_t bits = (uint64_t)dtype_bits(t);
	union number n = { .u = 0 };

	if (op == INTRIN_SHL) {
		n.u = amount.u >= bits ? 0 : x.u << amount.u;
	} else if (dtype_class(t) == DTC_INT) {
		n.i = amount.u >= bits ? (x.i < 0 ? -1 : 0) : x.i >> amount.u;
	} else {
		n.u = amount.u >= bits ? 0 : x.u >> amount.u;
	}
	return n;
}

static int
count_bits(uint64_t x)
{
	int n = 0;

	for (; x; x &= x - 1) {
		n++;
	}
	return n;
}

static int64_t
scale_nearest(int64_t x, double factor)
{
	double v = (double)x * factor;

	v = v > INT32_MIN ? v : INT32_MIN;
	return (int64_t)nearbyint(v < INT32_MAX ? v : INT32_MAX);
}

/* Returns x * m * 2^(e - 31), rounded twice. The product, shifted left by e if
 * e > 0, is divided by 2^31 and rounded half up; if e < 0, the result is
 * divided by 2^-e and rounded half away from zero. */
static int64_t
scale_fixed(int64_t x, int64_t m, int64_t e)
{
	uint64_t product = (uint64_t)x * (uint64_t)m;
	int64_t v, half;

	e = e > 31 ? 31 : e < -31 ? -31 : e;
	v = (int64_t)((product << (e > 0 ? e : 0)) + ((uint64_t)1 << 30));
	v >>= 31;
	if (e >= 0) {
		return v;
	}
	half = (int64_t)1 << (-e - 1);
	return v < 0 ? -((half - v) >> -e) : (v + half) >> -e;
}

static union number
int_call(enum intrin op, struct dtype t, const union number *args,
	 enum scalar_fault *fault)
{
	union number n = args[0];
	bool is_signed = dtype_class(t) == DTC_INT;

	switch (op) {
	case INTRIN_FLOOR:
	case INTRIN_CEIL:
	case INTRIN_TRUNC:
	case INTRIN_ROUND:
	case INTRIN_NEARBYINT:
	case INTRIN_LIKELY:
		break;
	case INTRIN_ABS:
		if (is_signed && n.i < 0) {
			n.u = 0 - n.u;
		}
		break;
	case INTRIN_POW:
		n.u = int_power(args[0], args[1], is_signed);
		break;
	case INTRIN_FMA:
		n.u = args[0].u * args[1].u + args[2].u;
		break;
	case INTRIN_FMOD:
		if (args[1].u == 0) {
			*fault = SCALAR_DIVISION;
			n.u = 0;
		} else if (is_signed) {
			n.i = signed_division(EXPR_TRUNCMOD, args[0].i,
					      args[1].i);
		} else {
			n.u = args[0].u % args[1].u;
		}
		break;
	case INTRIN_BITAND:
		n.u = args[0].u & args[1].u;
		break;
	case INTRIN_BITOR:
		n.u = args[0].u | args[1].u;
		break;
	case INTRIN_BITXOR:
		n.u = args[0].u ^ args[1].u;
		break;
	case INTRIN_BITNOT:
		n.u = dtype_class(t) == DTC_BOOL ? !args[0].u : ~args[0].u;
		break;
	case INTRIN_SHL:
	case INTRIN_SHR:
		n = shift(op, t, args[0], args[1]);
		break;
	case INTRIN_MUL_HIGH:
		n.i = (args[0].i * args[1].i) >> 32;
		break;
	case INTRIN_SCALE_NEAREST:
		n.i = scale_nearest(args[0].i, args[1].f);
		break;
	case INTRIN_SCALE_FIXED:
		n.i = scale_fixed(args[0].i, args[1].i, args[2].i);
		break;
	case INTRIN_POPCOUNT:
		if (dtype_bits(t) < 64) {
			n.u &= ((uint64_t)1 << dtype_bits(t)) - 1;
		}
		n.i = count_bits(n.u);
		break;
	default:
		*fault = SCALAR_UNDEFINED;
		n.u = 0;
		break;
	}
	return number_round(t, n);
}

union number
scalar_call(enum intrin op, struct dtype to, struct dtype t,
	    const union number *args, enum scalar_fault *fault)
{
	union number n = { .u = 0 };
	unsigned char bits[8] = { 0 };

	switch (op) {
	case INTRIN_ISNAN:
		n.i = dtype_is_float(t) && isnan(args[0].f);
		return n;
	case INTRIN_ISINF:
		n.i = dtype_is_float(t) && isinf(args[0].f);
		return n;
	case INTRIN_REINTERPRET:
		if (dtype_bytes(to) != dtype_bytes(t)) {
			*fault = SCALAR_UNDEFINED;
			return n;
		}
		number_store(t, bits, 0, args[0]);
		return number_load(to, bits, 0);
	case INTRIN_TO_INT:
		return number_cast(to, t, args[0]);
	case INTRIN_NIBBLE:
		n.u = args[1].u < 16 ? args[0].u >> (4 * args[1].u) : 0;
		return number_round(dtype_of(dtype_is_signed(to) ? DT_I4
								 : DT_U4),
				    n);
	default:
		return dtype_is_float(t) ? float_call(op, t, args, fault)
					 : int_call(op, t, args, fault);
	}
}
