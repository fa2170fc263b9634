/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between storage and numbers: every pattern of the small types
 * survives a round trip, and rounding agrees with its definition. */
#include <float.h>
#include <math.h>

#include "check.h"
#include "dtype.h"

static uint32_t
encode(enum dtype_kind kind, double v)
{
	unsigned char bytes[8] = { 0 };
	union number n = { .f = v };

	number_store(dtype_of(kind), bytes, 0, n);
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static double
decode(enum dtype_kind kind, uint32_t bits)
{
	unsigned char bytes[8] = { (unsigned char)bits,
				   (unsigned char)(bits >> 8),
				   (unsigned char)(bits >> 16),
				   (unsigned char)(bits >> 24) };

	return number_load(dtype_of(kind), bytes, 0).f;
}

/* Every pattern but NaN's comes back; between two neighbours, the middle goes
 * to the even one and what is beside it to the nearer one. */
static void
check_small(enum dtype_kind kind)
{
	uint32_t n = 1u << dtype_bits(dtype_of(kind));
	uint32_t sign = n / 2;
	int wrong = 0;

	for (uint32_t bits = 0; bits < n; bits++) {
		double v = decode(kind, bits);

		if (isnan(v)) {
			wrong += !isnan(decode(kind, encode(kind, v)));
		} else {
			wrong += encode(kind, v) != bits;
		}
	}
	CHECK_EQ(wrong, 0);
	for (uint32_t bits = 0; bits + 1 < sign; bits++) {
		double lo = decode(kind, bits), hi = decode(kind, bits + 1);
		double middle = lo + (hi - lo) / 2;
		uint32_t even = bits % 2 ? bits + 1 : bits;

		if (isnan(hi) || isinf(hi)) {
			break;
		}
		wrong += encode(kind, middle) != even;
		wrong += encode(kind, nextafter(middle, lo)) != bits;
		wrong += encode(kind, nextafter(middle, hi)) != bits + 1;
	}
	CHECK_EQ(wrong, 0);
}

static int64_t
to_int(enum dtype_kind kind, double v)
{
	union number n = { .f = v };

	return number_cast(dtype_of(kind), dtype_of(DT_F64), n).i;
}

static double
from_int(enum dtype_kind kind, int64_t v)
{
	union number n = { .i = v };

	return number_cast(dtype_of(kind), dtype_of(DT_I64), n).f;
}

static void
check_known(void)
{
	/* IEEE 754 binary16, bfloat16, the OCP and Graphcore fp8, OCP fp4. */
	CHECK_EQ(encode(DT_F4E2M1, 6), 7);
	CHECK_EQ(encode(DT_F4E2M1, -0.25), 8);
	CHECK_EQ(encode(DT_F4E2M1, nextafter(0.25, 1)), 1);
	CHECK_EQ(encode(DT_F4E2M1, 2.5), 4);
	CHECK_EQ(encode(DT_F4E2M1, (double)INFINITY), 7);
	CHECK_EQ(encode(DT_F4E2M1, -1e9), 15);
	CHECK_EQ(encode(DT_F4E2M1, (double)NAN), 0);
	CHECK_EQ(dtype_highest(dtype_of(DT_F4E2M1)) == 6, true);
	CHECK_EQ(encode(DT_F16, 1), 0x3c00);
	CHECK_EQ(encode(DT_F16, 65504), 0x7bff);
	CHECK_EQ(encode(DT_F16, 65520), 0x7c00);
	CHECK_EQ(encode(DT_F16, 65519), 0x7bff);
	CHECK_EQ(encode(DT_F16, 0x1p-24), 1);
	CHECK_EQ(encode(DT_F16, 0x1p-25), 0);
	CHECK_EQ(encode(DT_F16, -0.0), 0x8000);
	CHECK_EQ(encode(DT_BF16, 3.1415926535), 0x4049);
	CHECK_EQ(encode(DT_BF16, (double)FLT_MAX), 0x7f80);
	CHECK_EQ(encode(DT_F8E4M3FN, 448), 0x7e);
	CHECK_EQ(encode(DT_F8E4M3FN, 464), 0x7e);
	CHECK_EQ(encode(DT_F8E4M3FN, nextafter(464, 500)), 0x7f);
	CHECK_EQ(encode(DT_F8E4M3FN, 1e9), 0x7f);
	CHECK_EQ(encode(DT_F8E4M3FN, -(double)INFINITY), 0xff);
	CHECK_EQ(encode(DT_F8E4M3FN, 0x1p-9), 1);
	CHECK_EQ(encode(DT_F8E5M2, 57344), 0x7b);
	CHECK_EQ(encode(DT_F8E5M2, nextafter(61440, 0)), 0x7b);
	CHECK_EQ(encode(DT_F8E5M2, 61440), 0x7c);
	CHECK_EQ(encode(DT_F8E5M2, -1e9), 0xfc);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, 240), 0x7f);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, nextafter(248, 0)), 0x7f);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, -248), 0x80);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, (double)INFINITY), 0x80);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, -0.0), 0);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, (double)NAN), 0x80);
	CHECK_EQ(encode(DT_F8E4M3FNUZ, -0x1p-12), 0);
	CHECK_EQ(encode(DT_F8E5M2FNUZ, 57344), 0x7f);
	CHECK_EQ(encode(DT_F8E5M2FNUZ, 61440), 0x80);
	CHECK(isinf(decode(DT_F8E5M2, 0x7c)));
	CHECK(isnan(decode(DT_F8E5M2, 0x7d)));
	CHECK(isnan(decode(DT_F8E4M3FN, 0x7f)));
}

static void
check_ints(void)
{
	unsigned char byte = 0x0f;
	union number n = { .i = 300 };

	CHECK_EQ(number_load(dtype_of(DT_I4), &byte, 0).i, -1);
	CHECK_EQ(number_load(dtype_of(DT_U4), &byte, 0).u, 15);
	CHECK_EQ(number_load(dtype_of(DT_I2), &byte, 0).i, -1);
	CHECK_EQ(number_load(dtype_of(DT_U2), &byte, 0).u, 3);
	CHECK_EQ(to_int(DT_I2, -9), -2);
	CHECK_EQ(number_round(dtype_of(DT_U8), n).u, 44);
	CHECK_EQ(number_round(dtype_of(DT_I8), n).i, 44);
	n.i = 200;
	CHECK_EQ(number_round(dtype_of(DT_I8), n).i, -56);
	CHECK_EQ(to_int(DT_I8, 200), 127);
	CHECK_EQ(to_int(DT_I8, -1e30), -128);
	CHECK_EQ(to_int(DT_U8, -1), 0);
	CHECK_EQ(to_int(DT_U8, 255.9), 255);
	CHECK_EQ(to_int(DT_I32, -2.9), -2);
	CHECK_EQ(to_int(DT_I32, (double)NAN), 0);
	CHECK_EQ(to_int(DT_I64, 1e30), INT64_MAX);
	CHECK_EQ(to_int(DT_I64, -1e30), INT64_MIN);
	CHECK_EQ(to_int(DT_U64, 1e30), -1);
	CHECK_EQ(to_int(DT_BOOL, 0.5), 1);
	/* Through a double, this would round twice. */
	CHECK(from_int(DT_F32, 0x8000008000000001) ==
	      (double)(float)(int64_t)0x8000008000000001);
	CHECK(from_int(DT_F32, INT64_MAX) == 0x1p63);
	CHECK(from_int(DT_F32, INT64_MIN) == -0x1p63);
	CHECK(from_int(DT_F64, -7) == -7);
}

static void
check_names(void)
{
	struct dtype t;

	CHECK(dtype_from_name("float32x4", &t) && t.kind == DT_F32 &&
	      t.lanes == 4);
	CHECK(dtype_from_name("f8e4m3fnuz", &t) && t.kind == DT_F8E4M3FNUZ);
	CHECK(dtype_from_name("float8_e4m3fn", &t) && t.kind == DT_F8E4M3FN);
	CHECK(dtype_from_name("e5m2_float8x4", &t) && t.kind == DT_F8E5M2 &&
	      t.lanes == 4);
	CHECK(dtype_from_name("int4", &t) && t.kind == DT_I4 && t.lanes == 1);
	CHECK(!dtype_from_name("int4x", &t));
	CHECK(!dtype_from_name("int40", &t));
	CHECK(!dtype_from_name("float32x0", &t));
	CHECK_EQ(dtype_min_int(dtype_of(DT_I64)), INT64_MIN);
	CHECK_EQ(dtype_max_int(dtype_of(DT_U64)), UINT64_MAX);
	CHECK_EQ(dtype_min_int(dtype_of(DT_I4)), -8);
}

/* The type of a binary operator whose operands have the types a and b, in
 * either order; NULL: there is none. */
static void
check_common(const char *a, const char *b, const char *expected)
{
	struct dtype x, y, t, same;

	if (!CHECK(dtype_from_name(a, &x) && dtype_from_name(b, &y))) {
		return;
	}
	CHECK_EQ(dtype_common(x, y, &t), expected != NULL);
	CHECK_EQ(dtype_common(y, x, &same), expected != NULL);
	if (expected != NULL && CHECK(dtype_from_name(expected, &x))) {
		CHECK(dtype_equal(t, x) && dtype_equal(same, x));
	}
}

static void
check_operators(void)
{
	check_common("int32", "int64", "int64");
	check_common("uint8", "uint16", "uint16");
	check_common("uint8", "int8", "uint8");
	check_common("uint32", "int8", "uint32");
	check_common("uint8", "int16", "int16");
	check_common("uint64", "int64", "uint64");
	check_common("int64", "float16", "float16");
	check_common("float32", "float16", "float32");
	check_common("bfloat16", "float16", NULL);
	check_common("bool", "uint8", "uint8");
	check_common("bool", "float32", "float32");
	check_common("handle", "int64", NULL);
	check_common("float32x4", "float32", "float32x4");
	check_common("float32x4", "int32x4", "float32x4");
	check_common("float32x4", "float32x2", NULL);
}

int
main(void)
{
	check_small(DT_F4E2M1);
	check_small(DT_F8E4M3FN);
	check_small(DT_F8E4M3FNUZ);
	check_small(DT_F8E5M2);
	check_small(DT_F8E5M2FNUZ);
	check_small(DT_F16);
	check_small(DT_BF16);
	check_known();
	check_ints();
	check_names();
	check_operators();
	return check_done();
}
