/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as numbers: bit-exact conversions between storage and a double or a
 * 64-bit integer, round to nearest even. One pair of functions converts all
 * float types of up to 16 bits, from the description of their format (struct
 * float_form). */
#include "dtype.h"

#include <math.h>
#include <string.h>

uint32_t
float_form_sign(struct float_form f)
{
	return 1u << (f.exp_bits + f.frac_bits);
}

uint32_t
float_form_highest(struct float_form f)
{
	uint32_t top = float_form_sign(f) - 1;

	switch (f.specials) {
	case SPECIALS_IEEE:
		/* the highest exponent is that of infinities and NaN: the
		 * largest finite pattern is that with all fraction bits and the
		 * exponent below it */
		return top - (1u << f.frac_bits);
	case SPECIALS_ONE_NAN:
		return top - 1;
	default:
		return top;
	}
}

uint32_t
float_form_nan(struct float_form f)
{
	uint32_t top = float_form_sign(f) - 1;

	switch (f.specials) {
	case SPECIALS_IEEE: /* quiet */
		return top - ((1u << (f.frac_bits - 1)) - 1);
	case SPECIALS_ONE_NAN:
		return top;
	case SPECIALS_ONE_ZERO:
		return float_form_sign(f);
	default:
		return 0;
	}
}

uint32_t
float_form_beyond(struct float_form f)
{
	switch (f.specials) {
	case SPECIALS_ONE_ZERO:
		return float_form_nan(f);
	case SPECIALS_FINITE:
		return float_form_highest(f);
	default:
		return float_form_highest(f) + 1;
	}
}

static uint32_t
form_encode(struct float_form f, double v)
{
	uint32_t sign = signbit(v) ? float_form_sign(f) : 0;
	bool one_zero = f.specials == SPECIALS_ONE_ZERO;
	double a = fabs(v);
	uint32_t bits;
	int e;

	if (isnan(v)) {
		return sign | float_form_nan(f);
	}
	if (isinf(v)) {
		return sign | float_form_beyond(f);
	}
	if (a == 0) {
		return one_zero ? 0 : sign;
	}
	frexp(a, &e);
	e -= 1; /* now a has the form 1.x * 2^e */
	if (e < 1 - f.bias) {
		e = 1 - f.bias; /* subnormal */
	}
	/* The scaling is exact; nearbyint then rounds once, half to even. */
	a = nearbyint(ldexp(a, f.frac_bits - e));
	if (a >= ldexp(2, f.frac_bits)) {
		a /= 2;
		e += 1;
	}
	if (e + f.bias >= 1 << f.exp_bits) {
		return sign | float_form_beyond(f);
	}
	if (a < ldexp(1, f.frac_bits)) {
		bits = (uint32_t)a; /* subnormal or zero */
	} else {
		bits = ((uint32_t)(e + f.bias) << f.frac_bits) +
		       ((uint32_t)a - (1u << f.frac_bits));
	}
	if (bits > float_form_highest(f)) {
		return sign | float_form_beyond(f);
	}
	if (bits == 0 && one_zero) {
		return 0;
	}
	return sign | bits;
}

static double
form_decode(struct float_form f, uint32_t bits)
{
	uint32_t sign = bits & float_form_sign(f);
	uint32_t rest = bits & (float_form_sign(f) - 1);
	int e = (int)(rest >> f.frac_bits);
	uint32_t frac = rest & ((1u << f.frac_bits) - 1);
	double v;

	if (f.specials == SPECIALS_ONE_ZERO && bits == float_form_sign(f)) {
		return (double)NAN;
	}
	if (rest > float_form_highest(f)) {
		if (f.specials == SPECIALS_IEEE && frac == 0) {
			return sign ? -(double)INFINITY : (double)INFINITY;
		}
		return copysign((double)NAN, sign ? -1.0 : 1.0);
	}
	if (e == 0) {
		v = ldexp(frac, 1 - f.bias - f.frac_bits);
	} else {
		v = ldexp(frac + (1u << f.frac_bits), e - f.bias - f.frac_bits);
	}
	return sign ? -v : v;
}

static uint64_t
load_bits(const void *base, size_t index, int bytes)
{
	const unsigned char *p = (const unsigned char *)base +
				 index * (size_t)bytes;
	uint8_t b1;
	uint16_t b2;
	uint32_t b4;
	uint64_t b8;

	switch (bytes) {
	case 1:
		memcpy(&b1, p, 1);
		return b1;
	case 2:
		memcpy(&b2, p, 2);
		return b2;
	case 4:
		memcpy(&b4, p, 4);
		return b4;
	case 8:
		memcpy(&b8, p, 8);
		return b8;
	default:
		return 0;
	}
}

static void
store_bits(void *base, size_t index, int bytes, uint64_t bits)
{
	unsigned char *p = (unsigned char *)base + index * (size_t)bytes;
	uint8_t b1 = (uint8_t)bits;
	uint16_t b2 = (uint16_t)bits;
	uint32_t b4 = (uint32_t)bits;

	switch (bytes) {
	case 1:
		memcpy(p, &b1, 1);
		break;
	case 2:
		memcpy(p, &b2, 2);
		break;
	case 4:
		memcpy(p, &b4, 4);
		break;
	case 8:
		memcpy(p, &bits, 8);
		break;
	default:
		break;
	}
}

/* The low bits of `bits`, as many as t has, as an integer of type t. */
static union number
int_wrap(struct dtype t, uint64_t bits)
{
	union number v = { .u = bits };
	int unused = 64 - dtype_bits(t);

	if (dtype_class(t) == DTC_BOOL) {
		v.i = bits != 0;
	} else if (dtype_class(t) == DTC_INT) {
		v.u = bits << unused;
		v.i = v.i >> unused;
	} else if (unused < 64) {
		v.u = bits << unused >> unused;
	}
	return v;
}

bool
number_bools_valid(struct dtype t, const void *data, int64_t elems,
		   int64_t *bad)
{
	const unsigned char *at = data;

	for (int64_t i = 0; dtype_class(t) == DTC_BOOL && i < elems; i++) {
		if (at[i] > 1) {
			*bad = i;
			return false;
		}
	}
	return true;
}

union number
number_load(struct dtype t, const void *base, size_t index)
{
	union number v;
	uint64_t bits;
	uint32_t low;
	float single;

	switch (t.kind) {
	case DT_F64:
		v.u = load_bits(base, index, 8);
		return v;
	case DT_F32:
		low = (uint32_t)load_bits(base, index, 4);
		memcpy(&single, &low, sizeof single);
		v.f = (double)single;
		return v;
	default:
		break;
	}
	bits = load_bits(base, index, dtype_bytes(t));
	if (dtype_is_float(t)) {
		low = (uint32_t)bits & ((1u << dtype_bits(t)) - 1);
		v.f = form_decode(dtype_float_form(t), low);
		return v;
	}
	return int_wrap(t, bits);
}

void
number_store(struct dtype t, void *base, size_t index, union number v)
{
	int bytes = dtype_bytes(t);
	uint32_t low;
	float single;

	switch (t.kind) {
	case DT_F64:
		store_bits(base, index, bytes, v.u);
		return;
	case DT_F32:
		single = (float)v.f;
		memcpy(&low, &single, sizeof low);
		store_bits(base, index, bytes, low);
		return;
	default:
		break;
	}
	if (dtype_is_float(t)) {
		store_bits(base, index, bytes,
			   form_encode(dtype_float_form(t), v.f));
		return;
	}
	store_bits(base, index, bytes, int_wrap(t, v.u).u);
}

union number
number_round(struct dtype t, union number v)
{
	struct float_form form;

	if (!dtype_is_float(t)) {
		return int_wrap(t, v.u);
	}
	if (t.kind == DT_F32) {
		v.f = (double)(float)v.f;
	} else if (t.kind != DT_F64) {
		form = dtype_float_form(t);
		v.f = form_decode(form, form_encode(form, v.f));
	}
	return v;
}

/* Converts u to a double, rounded to odd: a second rounding, to a type with at
 * most 51 bits of precision, then gives the correctly rounded result. */
static double
magnitude_to_odd(uint64_t u)
{
	int shift = 0;
	uint64_t sticky = 0;

	while (u >> 53) {
		sticky |= u & 1;
		u >>= 1;
		shift++;
	}
	return ldexp((double)(u | sticky), shift);
}

static union number
float_from_int(struct dtype to, struct dtype from, union number v)
{
	bool negative = dtype_is_signed(from) && v.i < 0;
	uint64_t magnitude = negative ? 0 - v.u : v.u;

	if (to.kind == DT_F64) {
		v.f = (double)magnitude;
	} else {
		v.f = magnitude_to_odd(magnitude);
	}
	if (negative) {
		v.f = -v.f;
	}
	return number_round(to, v);
}

/* Converts f to an integer of type `to`, toward zero; values out of range
 * saturate, NaN gives 0. */
static union number
int_from_float(struct dtype to, double f)
{
	union number v = { .u = 0 };
	double whole = trunc(f);

	if (isnan(f)) {
		return v;
	}
	if (dtype_class(to) == DTC_INT) {
		/* The limits of the integer type are -limit and limit - 1;
		 * `limit` is a power of two, so that a double holds it
		 * exactly. */
		double limit = ldexp(1, dtype_bits(to) - 1);

		if (whole >= limit) {
			v.i = (int64_t)dtype_max_int(to);
		} else if (whole < -limit) {
			v.i = dtype_min_int(to);
		} else {
			v.i = (int64_t)whole;
		}
	} else if (whole >= ldexp(1, dtype_bits(to))) {
		v.u = dtype_max_int(to);
	} else if (whole > 0) {
		v.u = (uint64_t)whole;
	}
	return v;
}

union number
number_cast(struct dtype to, struct dtype from, union number v)
{
	if (dtype_is_float(from)) {
		if (dtype_is_float(to)) {
			return number_round(to, v);
		}
		if (dtype_class(to) == DTC_BOOL) {
			v.i = v.f != 0;
			return v;
		}
		return int_from_float(to, v.f);
	}
	if (dtype_is_float(to)) {
		return float_from_int(to, from, v);
	}
	return int_wrap(to, v.u);
}
