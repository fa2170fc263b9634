/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as text: exact when read back, no longer than needed. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "dialect.h"

static void
check_single(double v, const char *want)
{
	char text[40];

	format_float(text, sizeof text, v, true);
	CHECK_STR_EQ(text, want);
	CHECK(strtof(text, NULL) == (float)v);
}

static void
check_back(float v)
{
	char text[40];

	format_float(text, sizeof text, (double)v, true);
	if (!CHECK(strtof(text, NULL) == v)) {
		fprintf(stderr, "  %a became %s\n", (double)v, text);
	}
	CHECK(strpbrk(text, ".e") != NULL);
}

static float
float_of(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

int
main(void)
{
	uint32_t state = 1;

	check_single(0.0, "0.0");
	check_single(-0.0, "-0.0");
	check_single(1.0, "1.0");
	check_single(-1.5, "-1.5");
	check_single(100.0, "100.0");
	check_single(224.0, "224.0");
	check_single(16777216.0, "16777216.0");
	check_single(0.1f, "0.1");
	check_single(0.001f, "0.001");
	check_single(1e-5f, "1e-5");
	check_single(1e20f, "1e20");
	check_single(2147483648.0, "2147483648.0");
	check_single(3.40282347e38f, "3.4028235e38");
	check_single(1.17549435e-38f, "1.1754944e-38");
	check_single(1.4e-45f, "1.4013e-45");
	for (int i = 0; i < 300000; i++) {
		float v;

		state = state * 1664525u + 1013904223u;
		v = float_of(state);
		if (isfinite(v)) {
			check_back(v);
		}
		check_back((float)(int32_t)state * 4.6566129e-10f);
	}
	for (int i = 0; i < 100000; i++) {
		char text[40];
		double v;

		state = state * 1664525u + 1013904223u;
		v = (double)state * 1.2345678901234567e-7;
		format_float(text, sizeof text, v, false);
		CHECK(strtod(text, NULL) == v);
	}
	return check_done();
}
