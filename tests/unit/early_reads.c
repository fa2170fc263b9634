/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with the note "read_before": what becomes of small programs, word by
 * word, and that they compute what they did. */
#include "check.h"

#include "interp.h"
#include "lower.h"
#include "script.h"

/* y[i, c] += w[k, c] * x[..] where that is inside, for rows i, sums k. */
#define HEAD \
	"from tvm.script import tir as T\n@T.prim_func\n" \
	"def f(x: T.Buffer((6,)), w: T.Buffer((3, 4)), " \
	"y: T.Buffer((5, 4))):\n"
#define START \
	"    for c in range(4):\n" \
	"        for i in range(5):\n" \
	"            y[i, c] = T.float32(0)\n"

#define FILL \
	"        for i_1 in T.serial(5, annotations={\"early\": 1}):\n" \
	"            ii: T.int32 = i_1 + k - 1\n"

struct program {
	const char *what;
	const char *body;   /* of the loop over c */
	const char *want;   /* of the loop over k; NULL: as without the note */
};

static const struct program programs[] = {
	{
		"a condition of rows and of the sum",
		"            for i in range(5):\n"
		"                y[i, c] = y[i, c] + T.if_then_else(1 <= i + k and "
		"i + k < 7, x[i + k - 1], T.float32(0)) * w[k, c]\n",
		"        row = T.decl_buffer((5,), \"float32\", scope=\"local\")\n"
		FILL
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
		"        row = T.decl_buffer((5,), \"float32\", scope=\"local\")\n"
		FILL
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

/* The program lowered, with its note or without. */
static struct func *
make(struct module *m, const struct program *p, bool noted)
{
	struct source src = { .name = "program" };
	const char *note = !noted ? ""
				  : ", annotations={\"read_before\": 1}";

	src.text = arena_printf(&m->arena, HEAD START
				"    for k in range(3):\n"
				"        for c in T.serial(4%s):\n%s", note,
				p->body);
	src.length = strlen(src.text);
	if (!script_read(m, &src) || m->funcs.n != 1 ||
	    !lower_func(m->funcs.data[0], NULL) ||
	    !func_verify_text(m->funcs.data[0])) {
		for (int i = 0; i < m->diags.list.n; i++) {
			fprintf(stderr, "%s\n", m->diags.list.data[i].message);
		}
		return NULL;
	}
	return m->funcs.data[0];
}

static bool
run(struct func *f, float *y)
{
	float x[6], w[12];
	struct run_arg args[3] = { { .data = x }, { .data = w },
				   { .data = y } };

	for (int i = 0; i < 12; i++) {
		x[i % 6] = (float)(i * 37 % 41 - 20) / 16;
		w[i] = (float)(i * 23 % 29 - 14) / 8;
	}
	return func_verify(f) && interp_run(f, args, 3);
}

/* The text of the loop over k. */
static const char *
body_of(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = arena_strdup(&m->arena, out.data);
	strbuf_release(&out);
	text = strstr(text, "for k in ");
	text = text != NULL ? strchr(text, '\n') : NULL;
	return text != NULL ? text + 1 : "";
}

static void
test_program(const struct program *p)
{
	struct module *plain = module_new(), *m = module_new();
	struct func *before = make(plain, p, false), *after = make(m, p, true);
	float expected[20] = { 0 }, got[20] = { 0 };
	const char *want;

	if (CHECK(before != NULL && after != NULL)) {
		CHECK(run(before, expected) && run(after, got));
		CHECK(memcmp(expected, got, sizeof got) == 0);
		want = p->want != NULL ? p->want : body_of(plain, before);
		if (!CHECK(strcmp(body_of(m, after), want) == 0)) {
			fprintf(stderr, "%s:\n%s", p->what,
				body_of(m, after));
		}
	}
	module_free(plain);
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
