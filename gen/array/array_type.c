/* SPDX-License-Identifier: Apache-2.0 */
/* The types of results: NumPy 2's promotion (its documentation, "Data type
 * promotion in NumPy"; NEP 50). */
#include "array.h"

static struct dtype
int_type(bool is_signed, int bits)
{
	switch (bits) {
	case 8:
		return dtype_of(is_signed ? DT_I8 : DT_U8);
	case 16:
		return dtype_of(is_signed ? DT_I16 : DT_U16);
	case 32:
		return dtype_of(is_signed ? DT_I32 : DT_U32);
	default:
		return dtype_of(is_signed ? DT_I64 : DT_U64);
	}
}

struct dtype
array_float_type(struct dtype t)
{
	int bits = dtype_class(t) == DTC_BOOL ? 8 : dtype_bits(t);

	if (dtype_is_float(t)) {
		return t;
	}
	return dtype_of(bits <= 8 ? DT_F16 : bits <= 16 ? DT_F32 : DT_F64);
}

static struct dtype
wider(struct dtype a, struct dtype b)
{
	if (dtype_is_float(a) && dtype_is_float(b) && a.kind != b.kind &&
	    dtype_bits(a) == dtype_bits(b)) {
		return dtype_of(DT_F32); /* float16 and bfloat16 */
	}
	return dtype_bits(a) >= dtype_bits(b) ? a : b;
}

/* Of two types. */
static struct dtype
common(struct dtype a, struct dtype b)
{
	bool a_signed = dtype_is_signed(a), b_signed = dtype_is_signed(b);
	int bits;

	if (a.kind == b.kind || dtype_class(b) == DTC_BOOL) {
		return a;
	}
	if (dtype_class(a) == DTC_BOOL) {
		return b;
	}
	if (dtype_is_float(a) || dtype_is_float(b)) {
		return wider(array_float_type(a), array_float_type(b));
	}
	if (a_signed == b_signed) {
		return wider(a, b);
	}
	bits = 2 * dtype_bits(a_signed ? b : a);
	if (bits > 64) {
		return dtype_of(DT_F64);
	}
	return wider(a_signed ? a : b, int_type(true, bits));
}

/* The type of y, if x is a number of Python. */
static struct dtype
beside_weak(const struct array *x, struct dtype t)
{
	if (x->weak == ARRAY_WEAK_FLOAT) {
		return dtype_is_float(t) ? t : dtype_of(DT_F64);
	}
	return x->weak == ARRAY_WEAK_INT && dtype_class(t) == DTC_BOOL
		       ? dtype_of(DT_I64)
		       : t;
}

struct dtype
array_common(const struct array *x, const struct array *y)
{
	if (x->weak && !y->weak) {
		return beside_weak(x, y->type);
	}
	if (y->weak && !x->weak) {
		return beside_weak(y, x->type);
	}
	return common(x->type, y->type);
}
