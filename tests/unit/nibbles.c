/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of 4 and of 2 bits after lowering: nothing is of them any more, every
 * operation on every pair of values gives what it gave, constants are read from
 * bytes that hold two. */
#include "lowered.h"

#include <math.h>

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"
#define OF_PAIRS                                                               \
	"def f(a: T.Buffer((16,), \"#\"), b: T.Buffer((16,), \"#\"), "         \
	"x: T.Buffer((16,)), y: T.Buffer((16, 16), \"#\")):\n"                 \
	"    for i, j in T.grid(16, 16):\n"                                    \
	"        y[i, j] = "

/* Division by zero is left open. */
#define NO_ZERO "T.if_then_else(b[j] == T.#(0), T.#(1), b[j])"

/* What the element (i, j) is; # stands for the type, $ for the unsigned one of
 * its bits. */
static const char *const values[] = {
	"a[i] + b[j]",
	"a[i] - b[j]",
	"a[i] * b[j]",
	"(a[i] + b[j]) * a[i] - b[j] * b[j]",
	"T.truncdiv(a[i], " NO_ZERO ")",
	"T.truncmod(a[i], " NO_ZERO ")",
	"a[i] // " NO_ZERO "",
	"a[i] % " NO_ZERO "",
	"T.min(a[i], b[j]) + T.max(a[i], b[j] * b[j])",
	"T.if_then_else(a[i] < b[j], a[i] + T.#(1), b[j])",
	"T.Select(a[i] == b[j] + T.#(1), T.#(1), a[i])",
	"T.bitwise_and(a[i], b[j])",
	"T.bitwise_or(a[i], b[j])",
	"T.bitwise_xor(a[i], b[j])",
	"T.bitwise_not(a[i]) + b[j]",
	"T.shift_left(a[i], b[j])",
	"T.shift_right(a[i], b[j])",
	"T.popcount(a[i]) - b[j]",
	"T.abs(a[i])",
	"T.Cast(\"#\", a[i] < b[j])",
	"T.Cast(\"#\", T.Cast(\"int32\", a[i]) * 37 + "
	"T.Cast(\"int32\", b[j]))",
	"T.Cast(\"#\", T.Cast(\"int4\", T.Cast(\"$\", a[i])) == "
	"T.Cast(\"int4\", b[j]))",
	"T.reinterpret(\"#\", T.reinterpret(\"$\", a[i])) + b[j]",
	"T.float_to_int(\"#\", x[i])",
	"T.Cast(\"#\", x[i])",
	"T.Cast(\"#\", T.Cast(\"float32\", a[i]) * x[j])",
};

static bool
any_short(const struct func *f)
{
	struct strbuf text;
	bool found;

	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &text);
	found = strstr(text.data, "int4\"") != NULL ||
		strstr(text.data, "int4(") != NULL ||
		strstr(text.data, "int2\"") != NULL ||
		strstr(text.data, "int2(") != NULL;
	if (found) {
		fprintf(stderr, "%s", text.data);
	}
	strbuf_release(&text);
	return found;
}

static const char *
with_type(struct arena *a, const char *text, const char *type)
{
	struct strbuf out;

	strbuf_init(&out);
	for (; *text != '\0'; text++) {
		if (*text == '#') {
			strbuf_puts(&out, type);
		} else if (*text == '$') {
			strbuf_printf(&out, "u%s", type + (*type == 'u'));
		} else {
			strbuf_putc(&out, *text);
		}
	}
	text = arena_strdup(a, out.data);
	strbuf_release(&out);
	return text;
}

static void
check_value(enum dtype_kind kind, const char *value)
{
	struct module *m = module_new();
	struct source src = { .name = "program" };
	int8_t a[16], b[16], y[256], want[256];
	float x[16];
	struct run_arg args[4] = {
		{ .data = a },
		{ .data = b },
		{ .data = x },
		{ .data = y },
	};

	src.text = with_type(&m->arena,
			     arena_printf(&m->arena, HEAD OF_PAIRS "%s\n",
					  value),
			     dtype_name(dtype_of(kind)));
	src.length = strlen(src.text);
	for (int i = 0; i < 16; i++) {
		union number number = { .i = i };

		number_store(dtype_stored(dtype_of(kind)), a, (size_t)i,
			     number_round(dtype_of(kind), number));
		b[i] = a[i];
		x[i] = (float)(i - 6) * 2.75f;
	}
	x[15] = NAN;
	if (CHECK(script_read(m, &src) && m->funcs.n == 1)) {
		CHECK(interp_run(m->funcs.data[0], args, 4));
		memcpy(want, y, sizeof want);
		memset(y, 99, sizeof y);
		CHECK(lower_func(m->funcs.data[0], NULL));
		CHECK(func_verify_text(m->funcs.data[0]));
		CHECK(!any_short(m->funcs.data[0]));
		CHECK(interp_run(m->funcs.data[0], args, 4));
		if (!CHECK(memcmp(want, y, sizeof y) == 0)) {
			fprintf(stderr, "%s", src.text);
		}
	} else {
		fprintf(stderr, "%s", src.text);
	}
	module_free(m);
}

/* A variable, an array of its own, a loop's. */
static void
test_variables(void)
{
	struct module *m = module_new();
	struct func *f = lowered(
		m, HEAD
		"def f(k: T.uint4, y: T.Buffer((20,), \"uint4\")):\n"
		"    t = T.alloc_buffer((20,), \"uint4\", scope=\"local\")\n"
		"    for i in range(20):\n"
		"        v: T.uint4 = T.Cast(\"uint4\", i) + k\n"
		"        t[i] = v * v\n"
		"    for i in range(20):\n"
		"        y[i] = t[19 - i] + k\n");
	uint8_t y[20];
	struct run_arg args[2] = { { .scalar = 7 }, { .data = y } };

	if (CHECK(f != NULL)) {
		CHECK(!any_short(f));
		CHECK(interp_run(f, args, 2));
		for (int i = 0; i < 20; i++) {
			int v = (19 - i + 7) & 15;

			CHECK_EQ(y[i], (v * v + 7) & 15);
		}
	}
	module_free(m);
}

/* -- two in a byte -- */

static const struct {
	const char *what, *text, *want;
} packed[] = {
	{
		"rows of an even length",
		"def f(w: T.Buffer((3, 6), \"int4\"), "
		"y: T.Buffer((3, 6), \"int32\")):\n"
		"    T.func_attr({\"packed\": \"w\"})\n"
		"    for i, k in T.grid(3, 6):\n"
		"        y[i, k] = T.Cast(\"int32\", w[i, k])\n",
		"    for i, k in T.grid(3, 6):\n"
		"        y[i, k] = T.Cast(\"int32\", T.nibble(\"int8\", "
		"w[i, k // 2], k % 2))\n",
	},
	{
		"rows of an odd length",
		"def f(x: T.Buffer((3, 6), \"int4\"), "
		"w: T.Buffer((6, 3), \"int4\"), "
		"y: T.Buffer((6, 3), \"int32\")):\n"
		"    T.func_attr({\"packed\": \"v, w\"})\n"
		"    for i, k in T.grid(6, 3):\n"
		"        y[i, k] = T.Cast(\"int32\", w[i, 2 - k]) * "
		"T.Cast(\"int32\", x[k, i])\n",
		"    for i, k in T.grid(6, 3):\n"
		"        ii: T.int32 = i * 3 - k + 2\n"
		"        y[i, k] = T.Cast(\"int32\", T.nibble(\"int8\", "
		"w[ii // 2], ii % 2)) * T.Cast(\"int32\", x[k, i])\n",
	},
	{
		"pairs, without a remainder",
		"def f(w: T.Buffer((18,), \"int4\"), "
		"y: T.Buffer((18,), \"int32\")):\n"
		"    T.func_attr({\"packed\": \"w\"})\n"
		"    for i in range(9):\n"
		"        y[i * 2] = T.Cast(\"int32\", w[i * 2 + 1])\n"
		"        y[i * 2 + 1] = T.Cast(\"int32\", w[i * 2])\n",
		"    for i in range(9):\n"
		"        y[i * 2] = T.Cast(\"int32\", T.nibble(\"int8\", w[i], "
		"1))\n"
		"        y[i * 2 + 1] = T.Cast(\"int32\", T.nibble(\"int8\", "
		"w[i], 0))\n",
	},
};

static void
test_packed(int at)
{
	struct module *m = module_new();
	const char *text = arena_printf(&m->arena, HEAD "%s", packed[at].text);
	struct source src = {
		.name = "program",
		.text = text,
		.length = strlen(text),
	};
	bool two = strstr(text, "def f(x") != NULL;
	int8_t w[18], x[18];
	uint8_t pairs[9];
	int32_t y[18], want[18];
	struct run_arg args[3] = { { .data = x },
				   { .data = w },
				   { .data = y } };
	struct func *f;

	for (int i = 0; i < 18; i++) {
		w[i] = (int8_t)(i * 5 % 16 - 8);
		x[i] = (int8_t)(i * 11 % 16 - 8);
	}
	for (int i = 0; i < 9; i++) {
		pairs[i] = (uint8_t)((w[2 * i] & 15) | (w[2 * i + 1] & 15)
							       << 4);
	}
	if (CHECK(script_read(m, &src) && m->funcs.n == 1)) {
		f = m->funcs.data[0];
		CHECK(interp_run(f, args + !two, 3 - !two));
		memcpy(want, y, sizeof want);
		CHECK(lower_func(f, NULL) && func_verify_text(f));
		args[1].data = pairs;
		CHECK(interp_run(f, args + !two, 3 - !two));
		CHECK(memcmp(want, y, sizeof y) == 0);
		if (!CHECK(strcmp(body_of(m, f), packed[at].want) == 0)) {
			fprintf(stderr, "%s:\n%s", packed[at].what,
				body_of(m, f));
		}
	}
	module_free(m);
}

static void
check_refused(const char *text, const char *why)
{
	struct module *m = module_new();
	struct source src = {
		.name = "program",
		.text = text,
		.length = strlen(text),
	};

	if (CHECK(script_read(m, &src) && m->funcs.n == 1)) {
		CHECK(!lower_func(m->funcs.data[0], NULL));
		CHECK(m->diags.list.n == 1 &&
		      strstr(m->diags.list.data[0].message, why) != NULL);
	}
	module_free(m);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		check_value(DT_I4, values[i]);
		check_value(DT_U4, values[i]);
		check_value(DT_I2, values[i]);
		check_value(DT_U2, values[i]);
	}
	test_variables();
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		test_packed((int)i);
	}
	check_refused(HEAD "def f(w: T.Buffer((4,), \"int4\"), "
			   "y: T.Buffer((4,))):\n"
			   "    T.func_attr({\"packed\": \"w\"})\n"
			   "    T.evaluate(T.call_extern(\"int32\", \"g\", "
			   "T.address_of(w[1]), T.address_of(y[0])))\n",
		      "the address of an element of w");
	check_refused(HEAD "def f(w: T.Buffer((4,), \"int4\"), "
			   "y: T.Buffer((4,), \"int4\")):\n"
			   "    T.func_attr({\"packed\": \"w\"})\n"
			   "    y[0:4] = w[0:4]\n",
		      "a vector of w");
	return check_done();
}
