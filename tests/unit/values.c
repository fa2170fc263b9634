/* SPDX-License-Identifier: Apache-2.0 */
/* What gets a name of its own: values that a store uses twice, and the steps of
 * long ones. Word by word, and that the program computes what it did. */
#include "lowered.h"

enum { N = 24 };

struct program {
	const char *what;
	const char *body, *want;
};

#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((24,), \"int8\"), s: T.Buffer((24,)), "             \
	"c: T.Buffer((24,), \"float64\"), acc: T.Buffer((24,), \"int32\"), "   \
	"bias: T.Buffer((24,), \"int32\"), y: T.Buffer((24,))):\n"

static const struct program programs[] = {
	{
		"what is used twice",
		"    for i in range(24):\n"
		"        y[i] = (s[i] + T.float32(1)) * (s[i] + T.float32(1))\n",
		"    for i in range(24):\n"
		"        v: T.float32 = s[i] + T.float32(1)\n"
		"        y[i] = v * v\n",
	},
	{
		"functions in functions, from the inside",
		"    for i in range(24):\n"
		"        y[i] = T.Cast(\"float32\", T.min(T.max(T.scale_nearest("
		"\"int32\", acc[i] + bias[i], c[i]), -128), 127) - 3)\n",
		"    for i in range(24):\n"
		"        scaled: T.int32 = T.scale_nearest(\"int32\", "
		"acc[i] + bias[i], c[i])\n"
		"        y[i] = T.Cast(\"float32\", T.min(T.max(scaled, -128), "
		"127) - 3)\n",
	},
	{
		"a product and its sum stay together",
		"    for i in range(24):\n"
		"        y[i] = T.nearbyint(T.cos(s[i] * T.float32(0.25) + "
		"T.Cast(\"float32\", x[i]) * T.float32(0.125)) / "
		"T.float32(0.5))\n",
		"    for i in range(24):\n"
		"        sum: T.float32 = s[i] * T.float32(0.25) + "
		"T.Cast(\"float32\", x[i]) * T.float32(0.125)\n"
		"        y[i] = T.nearbyint(T.cos(sum) / T.float32(0.5))\n",
	},
	{
		"also where the sum is with a number",
		"    for i in range(24):\n"
		"        y[i] = (s[i] + T.Cast(\"float32\", x[i]) + "
		"T.Cast(\"float32\", acc[i])) * T.Cast(\"float32\", bias[i]) "
		"+ T.float32(0.125)\n",
		"    for i in range(24):\n"
		"        y[i] = (s[i] + T.Cast(\"float32\", x[i]) + "
		"T.Cast(\"float32\", acc[i])) * T.Cast(\"float32\", bias[i]) "
		"+ T.float32(0.125)\n",
	},
	{
		"a choice, outside of the loop that does not decide it",
		"    for i in range(24):\n"
		"        y[i] = T.float32(0)\n"
		"    for i in range(4):\n"
		"        for k in range(6):\n"
		"            y[i * 6 + k] = y[i * 6 + k] + T.Cast(\"float32\", "
		"T.if_then_else(1 <= i, x[i * 5 - 5], T.int8(7))) * s[k]\n",
		"    for i in range(24):\n"
		"        y[i] = T.float32(0)\n"
		"    for i_1 in range(4):\n"
		"        x_v: T.int8 = T.if_then_else(1 <= i_1, "
		"x[i_1 * 5 - 5], T.int8(7))\n"
		"        for k in range(6):\n"
		"            ii: T.int32 = i_1 * 6 + k\n"
		"            y[ii] = y[ii] + T.Cast(\"float32\", x_v) * s[k]\n",
	},
	{
		"what is read only under a condition stays there",
		"    for i in range(24):\n"
		"        y[i] = T.if_then_else(i + 4 < 24, T.nearbyint(T.cos("
		"s[i + 4] * T.float32(0.25) + s[i + 3] * T.float32(0.125)) / "
		"T.float32(0.5)), T.float32(0))\n",
		"    for i in range(24):\n"
		"        y[i] = T.if_then_else(i + 4 < 24, T.nearbyint(T.cos("
		"s[i + 4] * T.float32(0.25) + s[i + 3] * T.float32(0.125)) / "
		"T.float32(0.5)), T.float32(0))\n",
	},
};

static void
test_program(const struct program *p)
{
	struct module *m = module_new();
	const char *text = arena_printf(&m->arena, HEAD "%s", p->body);
	struct source src = {
		.name = "program",
		.text = text,
		.length = strlen(text),
	};
	int8_t x[N];
	float s[N], y[N], want[N];
	double c[N];
	int32_t acc[N], bias[N];
	struct run_arg args[6] = {
		{ .data = x },   { .data = s },    { .data = c },
		{ .data = acc }, { .data = bias }, { .data = y },
	};

	for (int i = 0; i < N; i++) {
		x[i] = (int8_t)(i * 37 - 100);
		s[i] = (float)(i - 7) * 0.5f;
		c[i] = (i - 9) * 0.03125;
		acc[i] = i * 977 - 9000;
		bias[i] = 13 - i;
	}
	if (CHECK(script_read(m, &src) && m->funcs.n == 1)) {
		CHECK(interp_run(m->funcs.data[0], args, 6));
		memcpy(want, y, sizeof want);
		memset(y, 0, sizeof y);
		CHECK(lower_func(m->funcs.data[0], NULL));
		CHECK(func_verify(m->funcs.data[0]));
		CHECK(interp_run(m->funcs.data[0], args, 6));
		CHECK(memcmp(want, y, sizeof want) == 0);
		if (!CHECK(strcmp(body_of(m, m->funcs.data[0]), p->want) ==
			   0)) {
			fprintf(stderr, "%s:\n%s", p->what,
				body_of(m, m->funcs.data[0]));
		}
	}
	module_free(m);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		test_program(&programs[i]);
	}
	return check_done();
}
