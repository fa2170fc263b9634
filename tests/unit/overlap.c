/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with the note "overlap": what becomes of small programs, word by word,
 * and that they compute what they did. */
#include "lowered.h"

/* Of 19 elements in tiles of 8: y[i], made of x and of w. */
#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((24,)), w: T.Buffer((3,)), "                        \
	"y: T.Buffer((19,))):\n"

#define OUTER "    for i_o in range(3):\n"
#define START "        i_start: T.int32 = T.min(i_o * 8, 11)\n"

struct program {
	const char *what;
	const char *kind; /* of the loop over tiles */
	const char *body;
	const char *want; /* NULL: as without the note */
};

static const struct program programs[] = {
	{
		"a tile goes back over elements that are stored",
		"serial",
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = x[i_o * 8 + i_i + 3] * w[1]\n",
		OUTER START
		"        for i_i in T.unroll(8):\n"
		"            y[i_start + i_i] = x[i_start + i_i + 3] * w[1]\n",
	},
	{
		"sums of a tile",
		"serial",
		"        acc = T.decl_buffer((8,), scope=\"local\")\n"
		"        for i_i in T.unroll(8):\n"
		"            acc[i_i] = T.float32(0)\n"
		"        for k in range(3):\n"
		"            for i_i in T.unroll(8):\n"
		"                if i_o * 8 + i_i < 19:\n"
		"                    acc[i_i] = acc[i_i] + x[i_o * 8 + i_i + k] * w[k]\n"
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = acc[i_i]\n",
		OUTER START
		"        acc = T.decl_buffer((8,), \"float32\", scope=\"local\")\n"
		"        for i_i in T.unroll(8):\n"
		"            acc[i_i] = T.float32(0)\n"
		"        for k in range(3):\n"
		"            for i_i_1 in T.unroll(8):\n"
		"                acc[i_i_1] = acc[i_i_1] + x[i_start + i_i_1 + k] "
		"* w[k]\n"
		"        for i_i_2 in T.unroll(8):\n"
		"            y[i_start + i_i_2] = acc[i_i_2]\n",
	},
	{
		"digits of an element",
		"serial",
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = x[i_o * 2 + i_i // 4] + "
		"x[i_i % 4]\n",
		OUTER START
		"        for i_i in T.unroll(8):\n"
		"            y[i_start + i_i] = x[(i_start + i_i) // 4] + "
		"x[(i_start + i_i) % 4]\n",
	},
	{
		"a result that is added to",
		"serial",
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = y[i_o * 8 + i_i] + "
		"x[i_o * 8 + i_i]\n",
		NULL,
	},
	{
		"a sum that goes on from one element to the next",
		"serial",
		"        acc = T.decl_buffer((1,), scope=\"local\")\n"
		"        acc[0] = T.float32(0)\n"
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                acc[0] = acc[0] + x[i_o * 8 + i_i]\n"
		"                y[i_o * 8 + i_i] = acc[0]\n",
		NULL,
	},
	{
		"what depends on the place in a tile",
		"serial",
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = x[i_i]\n",
		NULL,
	},
	{
		"threads would store one element at the same time",
		"parallel",
		"        for i_i in T.unroll(8):\n"
		"            if i_o * 8 + i_i < 19:\n"
		"                y[i_o * 8 + i_i] = x[i_o * 8 + i_i]\n",
		NULL,
	},
};

static void
test_program(const struct program *p)
{
	struct module *m = module_new();
	float x[24], w[3], y[19];
	struct run_arg args[] = { { .data = x }, { .data = w }, { .data = y } };
	struct lowered_case c = {
		.what = p->what,
		.args = args,
		.n = 3,
		.result = y,
		.elements = 19,
		.want = p->want,
		.plain = arena_printf(&m->arena,
				      HEAD "    for i_o in T.%s(3):\n%s",
				      p->kind, p->body),
		.text = arena_printf(&m->arena,
				     HEAD "    for i_o in T.%s(3, annotations="
					  "{\"overlap\": 1}):\n%s",
				     p->kind, p->body),
	};

	for (int i = 0; i < 24; i++) {
		x[i] = (float)(i * 37 % 41 - 20) / 16;
		w[i % 3] = (float)(i * 23 % 29 - 14) / 8;
	}
	check_lowered(&c);
	module_free(m);
}

/* A result that is written twice is no place for what is read again. A variable
 * may hold the element that the statement below it stores, but no other one. */
static void
test_in_place(void)
{
	static const struct {
		const char *body;
		bool may;
	} cases[] = {
		{ "    for i_o in range(3):\n"
		  "        for i_i in range(8):\n"
		  "            y[T.min(i_o * 8, 11) + i_i] = "
		  "x[T.min(i_o * 8, 11) + i_i] * T.float32(2)\n",
		  false },
		{ "    for i in range(19):\n"
		  "        y[i] = x[i] * T.float32(2)\n",
		  true },
		{ "    for i in range(19):\n"
		  "        v: T.float32 = x[i] * T.float32(2)\n"
		  "        y[i] = T.max(v, T.float32(0)) * v\n",
		  true },
		{ "    for i in range(19):\n"
		  "        v: T.float32 = x[18 - i] * T.float32(2)\n"
		  "        y[i] = T.max(v, T.float32(0)) * v\n",
		  false },
		{ "    v: T.float32 = x[0] * T.float32(2)\n"
		  "    for i in range(19):\n"
		  "        y[i] = v * x[i]\n",
		  false },
		/* blocks of four elements, of which a loop has two */
		{ "    for o in range(8):\n"
		  "        for v in range(2):\n"
		  "            y[o // 2 * 4 + (v + o % 2 * 2)] = "
		  "x[o // 2 * 4 + (v + o % 2 * 2)] * T.float32(2)\n",
		  true },
		{ "    for o in range(8):\n"
		  "        block: T.int32 = o // 2 * 4\n"
		  "        for v in range(2):\n"
		  "            y[block + (v + o % 2 * 2)] = "
		  "x[block + (v + o % 2 * 2)] * T.float32(2)\n"
		  "    y[18] = T.float32(3)\n",
		  true },
		{ "    for o in range(8):\n"
		  "        for v in range(2):\n"
		  "            y[o // 2 * 2 + v] = x[o // 2 * 2 + v] * "
		  "T.float32(2)\n",
		  false },
		{ "    for i in range(9):\n"
		  "        for j in range(9):\n"
		  "            y[i + j] = x[i + j] * T.float32(2)\n",
		  false },
		{ "    for i in range(19):\n"
		  "        y[i // 2] = x[i // 2] * T.float32(2)\n",
		  false },
		{ "    y[15] = T.float32(3)\n"
		  "    for o in range(8):\n"
		  "        for v in range(2):\n"
		  "            y[o * 2 + v] = x[o * 2 + v] * T.float32(2)\n",
		  false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct module *m = module_new();
		struct func *f = lowered(
			m,
			arena_printf(
				&m->arena,
				"from tvm.script import tir as T\n@T.prim_func\n"
				"def f(x: T.Buffer((19,)), y: T.Buffer((19,))):\n%s",
				cases[i].body));

		if (CHECK(f != NULL)) {
			CHECK(lower_can_be_in_place(f, f->params.data[0].buffer,
						    f->params.data[1].buffer) ==
			      cases[i].may);
		}
		module_free(m);
	}
}

int
main(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		test_program(&programs[i]);
	}
	test_in_place();
	return check_done();
}
