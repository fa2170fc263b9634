/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with the note "read_before": what becomes of small programs, word by
 * word, and that they compute what they did. */
#include "lowered.h"

/* y[i, c] += w[k, c] * x[..] where that is inside, for rows i, sums k. */
#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((6,)), w: T.Buffer((3, 4)), "                       \
	"y: T.Buffer((5, 4))):\n"
#define START                                                                  \
	"    for c in range(4):\n"                                             \
	"        for i in range(5):\n"                                         \
	"            y[i, c] = T.float32(0)\n"

#define FILL                                                                   \
	"        for i_1 in T.serial(5, annotations={\"early\": 1}):\n"        \
	"            ii: T.int32 = i_1 + k - 1\n"

/* The start, with its loops joined. */
#define STARTED                                                                \
	"    for c, i in T.grid(4, 5):\n"                                      \
	"        y[i, c] = T.float32(0)\n"

struct program {
	const char *what;
	const char *body; /* of the loop over c */
	const char *want; /* behind the start; NULL: as without the note */
};

static const struct program programs[] = {
	{
		"a condition of rows and of the sum",
		"            for i in range(5):\n"
		"                y[i, c] = y[i, c] + T.if_then_else(1 <= i + k and "
		"i + k < 7, x[i + k - 1], T.float32(0)) * w[k, c]\n",
		"    for k in range(3):\n"
		"        row = T.decl_buffer((5,), \"float32\", scope=\"local\")\n" FILL
		"            row[i_1] = T.if_then_else(0 <= ii, x[ii], "
		"T.float32(0))\n"
		"        for c_1, i_2 in T.grid(4, 5):\n"
		"            y[i_2, c_1] = y[i_2, c_1] + row[i_2] * w[k, c_1]\n",
	},
	{
		"one that is known outside stays there",
		"            for i in range(5):\n"
		"                y[i, c] = y[i, c] + T.if_then_else(1 <= k and "
		"1 <= i, x[i + k - 2], T.float32(0)) * w[k, c]\n",
		"    for k in range(1, 3):\n"
		"        row = T.decl_buffer((5,), \"float32\", scope=\"local\")\n"
		"        for i_1 in T.serial(5, annotations={\"early\": 1}):\n"
		"            row[i_1] = T.if_then_else(1 <= i_1, x[i_1 + k - 2], "
		"T.float32(0))\n"
		"        for c_1, i_2 in T.grid(4, 5):\n"
		"            y[i_2, c_1] = y[i_2, c_1] + row[i_2] * w[k, c_1]\n",
	},
	{
		"rows that are left out are not read",
		"            for i in range(5):\n"
		"                if i < 4:\n"
		"                    y[i, c] = y[i, c] + T.if_then_else(1 <= i + k, "
		"x[i + k - 1], T.float32(0)) * w[k, c]\n",
		"    for k in range(3):\n"
		"        row = T.decl_buffer((5,), \"float32\", scope=\"local\")\n" FILL
		"            row[i_1] = T.if_then_else(i_1 < 4 and 0 <= ii, x[ii], "
		"T.float32(0))\n"
		"        for c_1, i_2 in T.grid(4, 4):\n"
		"            y[i_2, c_1] = y[i_2, c_1] + row[i_2] * w[k, c_1]\n",
	},
	{
		"a value that depends on the loop itself",
		"            for i in range(5):\n"
		"                y[i, c] = y[i, c] + T.if_then_else(1 <= i + c and "
		"i + c < 7, x[i + c - 1], T.float32(0)) * w[k, c]\n",
		NULL,
	},
	{
		"a condition of the loop itself",
		"            for i in range(5):\n"
		"                if c < 3:\n"
		"                    y[i, c] = y[i, c] + T.if_then_else(1 <= i + k "
		"and i + k < 7, x[i + k - 1], T.float32(0)) * w[k, c]\n",
		NULL,
	},
	{
		"no condition",
		"            for i in range(4):\n"
		"                y[i, c] = y[i, c] + x[i + k] * w[k, c]\n",
		NULL,
	},
};

/* The program's text, with its note or without. */
static const char *
text_of(struct module *m, const struct program *p, const char *note)
{
	return arena_printf(&m->arena,
			    HEAD START "    for k in range(3):\n"
				       "        for c in T.serial(4%s):\n%s",
			    note, p->body);
}

static void
test_program(const struct program *p)
{
	struct module *m = module_new();
	float x[6], w[12], y[20];
	struct run_arg args[] = { { .data = x }, { .data = w }, { .data = y } };
	struct lowered_case c = {
		.what = p->what,
		.args = args,
		.n = 3,
		.result = y,
		.elements = 20,
		.plain = text_of(m, p, ""),
		.text = text_of(m, p, ", annotations={\"read_before\": 1}"),
	};

	if (p->want != NULL) {
		c.want = arena_printf(&m->arena, STARTED "%s", p->want);
	}
	for (int i = 0; i < 12; i++) {
		x[i % 6] = (float)(i * 37 % 41 - 20) / 16;
		w[i] = (float)(i * 23 % 29 - 14) / 8;
	}
	check_lowered(&c);
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
