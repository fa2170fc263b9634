/* float8: from float8.py, tirc 0.1.0, target misra
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O2
 */
#include "float8.h"

#include <math.h>
#include <stdint.h>

/* The value of a float of 4 bits of exponent, biased by 7, and 3 behind
 * the point. */
static float
f8e4m3fn_to_f32(uint8_t bits)
{
	const uint32_t magnitude = (uint32_t)bits & 0x7fu;
	const uint32_t exponent = magnitude >> 3;
	uint32_t part = magnitude - (exponent << 3);
	int32_t scale = (int32_t)exponent;
	float value;

	if (exponent != 0u) {
		part += UINT32_C(1) << 3; /* its leading one */
		scale -= 1;
	}
	value = ldexpf((float)part, scale - 9);
	if (magnitude > 0x7eu) {
		value = NAN;
	}
	if (((uint32_t)bits & 0x80u) != 0u) {
		value = -value;
	}
	return value;
}

/* The nearest float of 4 bits of exponent, biased by 7, and 3 behind
 * the point, the even one of two; NaN beyond the largest. */
static uint8_t
f32_to_f8e4m3fn(float x)
{
	const float magnitude = fabsf(x);
	uint32_t rest;

	if (isnan(x) != 0) {
		rest = 0x7fu;
	} else if (magnitude >= 512.0f) {
		rest = 0x7fu;
	} else {
		int32_t exponent = (ilogbf(magnitude) + 7) - 1;
		float part;

		exponent = (exponent < 0) ? 0 : exponent;
		part = nearbyintf(ldexpf(magnitude, 9 - exponent));
		rest = (uint32_t)exponent << 3;
		rest += (uint32_t)part; /* its leading one adds to the exponent */
		rest = (rest > 0x7eu) ? 0x7fu : rest;
	}
	if (signbit(x) != 0) {
		rest |= 0x80u;
	}
	return (uint8_t)rest;
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
	const float magnitude = fabsf(x);
	uint32_t rest;

	if (isnan(x) != 0) {
		rest = 0x80u;
	} else if (magnitude >= 65536.0f) {
		rest = 0x80u;
	} else {
		int32_t exponent = (ilogbf(magnitude) + 16) - 1;
		float part;

		exponent = (exponent < 0) ? 0 : exponent;
		part = nearbyintf(ldexpf(magnitude, 17 - exponent));
		rest = (uint32_t)exponent << 2;
		rest += (uint32_t)part; /* its leading one adds to the exponent */
		rest = (rest > 0x7fu) ? 0x80u : rest;
	}
	if ((signbit(x) != 0) && (rest != 0u)) {
		rest |= 0x80u;
	}
	return (uint8_t)rest;
}

/* The value of a float of 5 bits of exponent, biased by 16, and 2 behind
 * the point. */
static float
f8e5m2fnuz_to_f32(uint8_t bits)
{
	const uint32_t magnitude = (uint32_t)bits & 0x7fu;
	const uint32_t exponent = magnitude >> 2;
	uint32_t part = magnitude - (exponent << 2);
	int32_t scale = (int32_t)exponent;
	float value;

	if (exponent != 0u) {
		part += UINT32_C(1) << 2; /* its leading one */
		scale -= 1;
	}
	value = ldexpf((float)part, scale - 17);
	if ((uint32_t)bits == 0x80u) {
		value = NAN;
	}
	if (((uint32_t)bits & 0x80u) != 0u) {
		value = -value;
	}
	return value;
}

static float
max_f32(float a, float b) /* NaN if one is */
{
	return ((a > b) || (isnan(a) != 0)) ? a : b;
}

/* The nearest float of 5 bits of exponent, biased by 15, and 2 behind
 * the point, the even one of two; infinity beyond the largest. */
static uint8_t
f32_to_f8e5m2(float x)
{
	const float magnitude = fabsf(x);
	uint32_t rest;

	if (isnan(x) != 0) {
		rest = 0x7eu;
	} else if (magnitude >= 65536.0f) {
		rest = 0x7cu;
	} else {
		int32_t exponent = (ilogbf(magnitude) + 15) - 1;
		float part;

		exponent = (exponent < 0) ? 0 : exponent;
		part = nearbyintf(ldexpf(magnitude, 16 - exponent));
		rest = (uint32_t)exponent << 2;
		rest += (uint32_t)part; /* its leading one adds to the exponent */
		rest = (rest > 0x7bu) ? 0x7cu : rest;
	}
	if (signbit(x) != 0) {
		rest |= 0x80u;
	}
	return (uint8_t)rest;
}

/* The value of a float of 5 bits of exponent, biased by 15, and 2 behind
 * the point. */
static float
f8e5m2_to_f32(uint8_t bits)
{
	const uint32_t magnitude = (uint32_t)bits & 0x7fu;
	const uint32_t exponent = magnitude >> 2;
	uint32_t part = magnitude - (exponent << 2);
	int32_t scale = (int32_t)exponent;
	float value;

	if (exponent != 0u) {
		part += UINT32_C(1) << 2; /* its leading one */
		scale -= 1;
	}
	value = ldexpf((float)part, scale - 16);
	if (magnitude > 0x7bu) {
		value = (magnitude == 0x7cu) ? INFINITY : NAN;
	}
	if (((uint32_t)bits & 0x80u) != 0u) {
		value = -value;
	}
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
scale(const uint8_t A[8], uint8_t B[8], uint8_t C[8])
{
	for (int32_t i = 0; i < 8; ++i) {
		B[i] = f32_to_f8e5m2fnuz(f32_as_f8e4m3fn(f32_as_f8e4m3fn(f8e4m3fn_to_f32(A[i])
		                                                       * 0.1015625f)
		                                       + 448.0f));
	}
	for (int32_t i = 0; i < 8; ++i) {
		C[i] = f32_to_f8e5m2((f8e5m2fnuz_to_f32(B[i]) < 0.0f)
		                   ? -INFINITY
		                   : max_f32(f32_as_f8e5m2(f8e5m2fnuz_to_f32(B[i])),
		                             NAN));
	}
}
