/* float8: from float8.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#include "float8.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The value of a float of 4 bits of exponent, biased by 7, and 3 behind
 * the point. */
static float
f8e4m3fn_to_f32(uint8_t bits)
{
	const uint32_t magnitude = bits & 0x7fu;
	uint32_t wide = (magnitude << 20) + (UINT32_C(120) << 23);
	float value;

	if (magnitude > 0x7eu) {
		wide = 0x7fc00000u; /* NaN */
	} else if (magnitude < UINT32_C(1) << 3) {
		value = (float)magnitude * 0.001953125f;
		memcpy(&wide, &value, sizeof wide);
	}
	wide |= (uint32_t)(bits & 0x80u) << 24;
	memcpy(&value, &wide, sizeof value);
	return value;
}

/* The nearest float of 4 bits of exponent, biased by 7, and 3 behind
 * the point, the even one of two; NaN beyond the largest. */
static uint8_t
f32_to_f8e4m3fn(float x)
{
	uint32_t bits, magnitude, lost, rest;

	memcpy(&bits, &x, sizeof bits);
	magnitude = bits & 0x7fffffffu;
	if (magnitude >> 23 >= 121u) {
		lost = 20u;
		rest = magnitude - (UINT32_C(120) << 23);
	} else { /* it has no leading one there */
		lost = 20u + 121u - (magnitude >> 23);
		lost = lost < 25u ? lost : 25u;
		rest = (magnitude & 0x7fffffu) | 0x800000u;
	}
	rest += (UINT32_C(1) << (lost - 1u)) - 1u + (rest >> lost & 1u);
	rest >>= lost;
	rest = rest > 0x7eu ? 0x7fu : rest;
	return (uint8_t)((bits >> 24 & 0x80u) | rest);
}

/* The nearest number that f8e4m3fn has. */
static float
f32_as_f8e4m3fn(float x)
{
	return f8e4m3fn_to_f32(f32_to_f8e4m3fn(x));
}

/* The nearest float of 5 bits of exponent, biased by 16, and 2 behind
 * the point, the even one of two; NaN beyond the largest. */
static uint8_t
f32_to_f8e5m2fnuz(float x)
{
	uint32_t bits, magnitude, lost, rest;

	memcpy(&bits, &x, sizeof bits);
	magnitude = bits & 0x7fffffffu;
	if (magnitude >> 23 >= 112u) {
		lost = 21u;
		rest = magnitude - (UINT32_C(111) << 23);
	} else { /* it has no leading one there */
		lost = 21u + 112u - (magnitude >> 23);
		lost = lost < 25u ? lost : 25u;
		rest = (magnitude & 0x7fffffu) | 0x800000u;
	}
	rest += (UINT32_C(1) << (lost - 1u)) - 1u + (rest >> lost & 1u);
	rest >>= lost;
	rest = rest > 0x7fu ? 0x80u : rest;
	return (uint8_t)(rest == 0u ? 0u : (bits >> 24 & 0x80u) | rest);
}

/* The value of a float of 5 bits of exponent, biased by 16, and 2 behind
 * the point. */
static float
f8e5m2fnuz_to_f32(uint8_t bits)
{
	const uint32_t magnitude = bits & 0x7fu;
	uint32_t wide = (magnitude << 21) + (UINT32_C(111) << 23);
	float value;

	if (bits == 0x80u) {
		wide = 0x7fc00000u; /* NaN */
	} else if (magnitude < UINT32_C(1) << 2) {
		value = (float)magnitude * 7.6293945e-6f;
		memcpy(&wide, &value, sizeof wide);
	}
	wide |= (uint32_t)(bits & 0x80u) << 24;
	memcpy(&value, &wide, sizeof value);
	return value;
}

static float
max_f32(float a, float b) /* NaN if one is */
{
	const float larger = b > a ? b : a; /* a, where one is NaN */

	return b != b ? b : larger;
}

/* The nearest float of 5 bits of exponent, biased by 15, and 2 behind
 * the point, the even one of two; infinity beyond the largest. */
static uint8_t
f32_to_f8e5m2(float x)
{
	uint32_t bits, magnitude, lost, rest;

	memcpy(&bits, &x, sizeof bits);
	magnitude = bits & 0x7fffffffu;
	if (magnitude >> 23 >= 113u) {
		lost = 21u;
		rest = magnitude - (UINT32_C(112) << 23);
	} else { /* it has no leading one there */
		lost = 21u + 113u - (magnitude >> 23);
		lost = lost < 25u ? lost : 25u;
		rest = (magnitude & 0x7fffffu) | 0x800000u;
	}
	rest += (UINT32_C(1) << (lost - 1u)) - 1u + (rest >> lost & 1u);
	rest >>= lost;
	rest = rest > 0x7bu ? 0x7cu : rest;
	rest = magnitude > 0x7f800000u ? 0x7eu : rest;
	return (uint8_t)((bits >> 24 & 0x80u) | rest);
}

/* The value of a float of 5 bits of exponent, biased by 15, and 2 behind
 * the point. */
static float
f8e5m2_to_f32(uint8_t bits)
{
	const uint32_t magnitude = bits & 0x7fu;
	uint32_t wide = (magnitude << 21) + (UINT32_C(112) << 23);
	float value;

	if (magnitude > 0x7bu) {
		wide += UINT32_C(112) << 23; /* infinity and NaN */
	} else if (magnitude < UINT32_C(1) << 2) {
		value = (float)magnitude * 1.5258789e-5f;
		memcpy(&wide, &value, sizeof wide);
	}
	wide |= (uint32_t)(bits & 0x80u) << 24;
	memcpy(&value, &wide, sizeof value);
	return value;
}

/* The nearest number that f8e5m2 has. */
static float
f32_as_f8e5m2(float x)
{
	return f8e5m2_to_f32(f32_to_f8e5m2(x));
}

/* scale
 *   A         f8e4m3fn [8]
 *   B         f8e5m2fnuz [8], read and written
 *   C         f8e5m2 [8], written
 */
void
scale(const uint8_t A[restrict 8], uint8_t B[restrict 8], uint8_t C[restrict 8])
{
	for (int32_t i = 0; i < 8; ++i) {
		B[i] = f32_to_f8e5m2fnuz(f32_as_f8e4m3fn(f32_as_f8e4m3fn(f8e4m3fn_to_f32(A[i])
		                                                       * 0.1015625f)
		                                       + 448.0f));
	}
	for (int32_t i = 0; i < 8; ++i) {
		C[i] = f32_to_f8e5m2(f8e5m2fnuz_to_f32(B[i]) < 0.0f ? -INFINITY
		                   : max_f32(f32_as_f8e5m2(f8e5m2fnuz_to_f32(B[i])),
		                             NAN));
	}
}
