/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with the note "prefetch": what becomes of small programs, word by word,
 * and that they compute what they did. */
#include "lowered.h"

/* y[o, h] = sum over i of w[o, i] * x[h, i], for 3, 4 and 8. */
#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(w: T.Buffer((3, 8)), x: T.Buffer((4, 8)), "                     \
	"y: T.Buffer((3, 4))):\n"
#define SUM(indent, index)                                                     \
	indent "y[o, h] = T.float32(0)\n" indent "for i in range(8):\n" indent \
	       "    y[o, h] = y[o, h] + " index " * x[h, i]\n"

struct program {
	const char *what;
	int extent, line; /* of the loop over o, of a prefetch */
	const char *body; /* of the loop */
	const char *want; /* NULL: as without the note */
};

static const struct program programs[] = {
	{
		"elements that each are a line",
		3,
		4,
		"        for h in range(4):\n" SUM("            ", "w[o, i]"),
		"    for o in range(3):\n"
		"        o_next: T.int32 = T.min(o + 1, 2)\n"
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            for i in T.unroll(2):\n"
		"                i_next: T.int32 = h * 2 + i\n"
		"                T.evaluate(T.prefetch(T.read_address_of("
		"\"handle\", w[o_next, i_next])))\n"
		"            for i_1 in range(8):\n"
		"                y[o, h] = y[o, h] + w[o, i_1] * x[h, i_1]\n",
	},
	{
		"lines of several elements, fewer than repetitions",
		3,
		16,
		"        for h in range(4):\n" SUM("            ", "w[o, i]"),
		"    for o in range(3):\n"
		"        o_next: T.int32 = T.min(o + 1, 2)\n"
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            if h < 2:\n"
		"                T.evaluate(T.prefetch(T.read_address_of("
		"\"handle\", w[o_next, h * 4])))\n"
		"            for i in range(8):\n"
		"                y[o, h] = y[o, h] + w[o, i] * x[h, i]\n",
	},
	{
		"a last repetition with less",
		3,
		4,
		"        for h in range(3):\n" SUM("            ", "w[o, i]"),
		"    for o in range(3):\n"
		"        o_next: T.int32 = T.min(o + 1, 2)\n"
		"        for h in range(3):\n"
		"            y[o, h] = T.float32(0)\n"
		"            for i in T.unroll(3):\n"
		"                i_next: T.int32 = h * 3 + i\n"
		"                if i_next < 8:\n"
		"                    T.evaluate(T.prefetch(T.read_address_of("
		"\"handle\", w[o_next, i_next])))\n"
		"            for i_1 in range(8):\n"
		"                y[o, h] = y[o, h] + w[o, i_1] * x[h, i_1]\n",
	},
	{
		"elements of which it is not told where they lie",
		3,
		4,
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            for i in range(3):\n"
		"                for j in T.unroll(2):\n"
		"                    y[o, h] = y[o, h] + w[o, i * 2 + j]\n",
		NULL,
	},
	{
		"what only some repetitions read",
		3,
		4,
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            if h >= 1 and h < 3:\n"
		"                for i in range(8):\n"
		"                    y[o, h] = y[o, h] + w[o, i] * x[h, i]\n",
		NULL,
	},
	{
		"rows of which some repetitions read a part",
		3,
		4,
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            for i in range(8):\n"
		"                if i + h >= 2:\n"
		"                    y[o, h] = y[o, h] + w[o, i] * x[h, i]\n",
		NULL,
	},
	{
		"nothing that is read again",
		3,
		4,
		"        for h in range(4):\n"
		"            y[o, h] = w[o, h] + x[h, o]\n",
		NULL,
	},
	{
		"what the function writes",
		2,
		4,
		"        for h in range(4):\n"
		"            y[o + 1, h] = T.float32(0)\n"
		"            for i in range(4):\n"
		"                y[o + 1, h] = y[o + 1, h] + y[o, i]\n",
		NULL,
	},
};

static const char *
text_of(struct module *m, const struct program *p, bool noted)
{
	const char *note =
		!noted ? ""
		       : arena_printf(&m->arena,
				      ", annotations={\"prefetch\": %d}",
				      p->line);

	return arena_printf(&m->arena, HEAD "    for o in T.serial(%d%s):\n%s",
			    p->extent, note, p->body);
}

static void
test_program(const struct program *p)
{
	struct module *m = module_new();
	float w[24], x[32], y[12];
	struct run_arg args[3] = { { .data = w },
				   { .data = x },
				   { .data = y } };

	for (int i = 0; i < 32; i++) {
		x[i] = (float)(i * 37 % 41 - 20) / 16;
		w[i % 24] = (float)(i * 23 % 29 - 14) / 8;
	}
	check_lowered(&(struct lowered_case){
		.what = p->what,
		.plain = text_of(m, p, false),
		.text = text_of(m, p, true),
		.want = p->want,
		.args = args,
		.n = 3,
		.result = y,
		.elements = 12,
	});
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
