/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with the note "prefetch": what becomes of small programs, word by word,
 * and that they compute what they did. */
#include "check.h"

#include "interp.h"
#include "lower.h"
#include "script.h"

/* y[o, h] = sum over i of w[o, i] * x[h, i], for 3, 4 and 8. */
#define HEAD \
	"from tvm.script import tir as T\n@T.prim_func\n" \
	"def f(w: T.Buffer((3, 8)), x: T.Buffer((4, 8)), " \
	"y: T.Buffer((3, 4))):\n"
#define SUM(indent, index) \
	indent "y[o, h] = T.float32(0)\n" \
	indent "for i in range(8):\n" \
	indent "    y[o, h] = y[o, h] + " index " * x[h, i]\n"

struct program {
	const char *what;
	int extent, line;  /* of the loop over o, of a prefetch */
	const char *body;  /* of the loop */
	const char *want;  /* NULL: as without the note */
};

static const struct program programs[] = {
	{
		"elements that each are a line",
		3, 4,
		"        for h in range(4):\n"
		SUM("            ", "w[o, i]"),
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
	}, {
		"lines of several elements, fewer than repetitions",
		3, 16,
		"        for h in range(4):\n"
		SUM("            ", "w[o, i]"),
		"    for o in range(3):\n"
		"        o_next: T.int32 = T.min(o + 1, 2)\n"
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            if h < 2:\n"
		"                T.evaluate(T.prefetch(T.read_address_of("
		"\"handle\", w[o_next, h * 4])))\n"
		"            for i in range(8):\n"
		"                y[o, h] = y[o, h] + w[o, i] * x[h, i]\n",
	}, {
		"a last repetition with less",
		3, 4,
		"        for h in range(3):\n"
		SUM("            ", "w[o, i]"),
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
	}, {
		"elements of which it is not told where they lie",
		3, 4,
		"        for h in range(4):\n"
		"            y[o, h] = T.float32(0)\n"
		"            for i in range(3):\n"
		"                for j in T.unroll(2):\n"
		"                    y[o, h] = y[o, h] + w[o, i * 2 + j]\n",
		NULL,
	}, {
		"nothing that is read again",
		3, 4,
		"        for h in range(4):\n"
		"            y[o, h] = w[o, h] + x[h, o]\n",
		NULL,
	}, {
		"what the function writes",
		2, 4,
		"        for h in range(4):\n"
		"            y[o + 1, h] = T.float32(0)\n"
		"            for i in range(4):\n"
		"                y[o + 1, h] = y[o + 1, h] + y[o, i]\n",
		NULL,
	},
};

/* The program lowered, with its note or without. */
static struct func *
make(struct module *m, const struct program *p, bool noted)
{
	struct source src = { .name = "program" };
	const char *note = !noted ? ""
		: arena_printf(&m->arena, ", annotations={\"prefetch\": %d}",
			       p->line);

	src.text = arena_printf(&m->arena, HEAD "    for o in T.serial(%d%s):"
				"\n%s", p->extent, note, p->body);
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
	float w[24], x[32];
	struct run_arg args[3] = { { .data = w }, { .data = x },
				   { .data = y } };

	for (int i = 0; i < 32; i++) {
		x[i] = (float)(i * 37 % 41 - 20) / 16;
		w[i % 24] = (float)(i * 23 % 29 - 14) / 8;
	}
	return func_verify(f) && interp_run(f, args, 3);
}

/* The body's text: what stands behind the signature. */
static const char *
body_of(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = arena_strdup(&m->arena, out.data);
	strbuf_release(&out);
	text = strstr(text, "):\n");
	return text != NULL ? text + 3 : "";
}

static void
test_program(const struct program *p)
{
	struct module *plain = module_new(), *m = module_new();
	struct func *before = make(plain, p, false), *after = make(m, p, true);
	float expected[12] = { 0 }, got[12] = { 0 };
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
