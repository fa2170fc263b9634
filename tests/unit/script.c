/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: what is written by hand (tests/script/by_hand.py)
 * prints as tests/script/by_hand.txt, mistakes are answered with their place,
 * and func_equal sees differences. Functions that are printed read back:
 * tests/property. */
#include <stdlib.h>

#include "check.h"

#include "script.h"

/* What most of the bad texts stand in, indented. */
static const char prelude[] =
	"@T.prim_func\n"
	"def f(A: T.Buffer((8, 8), \"float32\"), I: T.Buffer((8,), "
	"\"int32\"), n: T.int32):\n";

static const struct {
	bool body; /* text follows the prelude */
	const char *text, *message, *excerpt;
} mistakes[] = {
	{ true, "    A[0] = 1.0\n",
	  "t.py:3:5: 1 index for the 2 dimensions of 'A'; give one "
	  "for each",
	  "        A[0] = 1.0\n        ^^^^" },
	{ true, "    I[0] = A[0, 0]\n",
	  "t.py:3:12: a value of type float32 where int32 is needed"
	  "; write T.Cast(\"int32\", ...)",
	  "        I[0] = A[0, 0]\n               ^^^^^^^" },
	{ true, "    I[roww] = 1\n    \n",
	  "t.py:3:7: nothing is named roww here; define it before its use",
	  "        I[roww] = 1\n          ^^^^" },
	{ true, "    for row in range(8):\n        I[ro] = 1\n",
	  "t.py:4:11: nothing is named ro here; did you mean row?",
	  "            I[ro] = 1\n              ^^" },
	{ true, "    I[0] = T.mx(1, 2)\n",
	  "t.py:3:12: T.mx is not known; did you mean T.max?",
	  "        I[0] = T.mx(1, 2)\n               ^^^^^^^^^^" },
	{ true, "    I[0] = T.unheard(1)\n",
	  "t.py:3:12: T.unheard is not known to tirc; express it by"
	  " other means",
	  "        I[0] = T.unheard(1)\n               ^^^^^^^^^^^^" },
	{ true, "    I[0] = T.int8(300)\n",
	  "t.py:3:19: 300 does not fit int8; use a smaller number, or a wider type",
	  "        I[0] = T.int8(300)\n                      ^^^" },
	{ true, "    I[0] = T.Cast(\"flaot32\", 1)\n",
	  "t.py:3:19: 'flaot32' is not a data type; did you mean float32?",
	  "        I[0] = T.Cast(\"flaot32\", 1)\n                    "
	  "  ^^^^^^^^^" },
	{ true, "    I[0] = n / 2\n",
	  "t.py:3:12: '/' between integers could round either way; "
	  "write // or T.truncdiv",
	  "        I[0] = n / 2\n               ^^^^^" },
	{ true, "    A[0, 0] = A[0, 0] and A[0, 1]\n",
	  "t.py:3:15: a condition is needed, not float32; compare it with something",
	  "        A[0, 0] = A[0, 0] and A[0, 1]\n                  "
	  "^^^^^^^^^^^^^^^^^^^" },
	{ true, "    I[A[0, 0]] = 1\n",
	  "t.py:3:7: an index of type float32; use an integer",
	  "        I[A[0, 0]] = 1\n          ^^^^^^^" },
	{ true, "    I[0] = I\n",
	  "t.py:3:12: a whole buffer where a number is needed; say "
	  "which element, as in A[i]",
	  "        I[0] = I\n               ^" },
	{ true, "    A[0, 0] = T.exp(n)\n",
	  "t.py:3:15: exp() does not work on int32; cast the argument first",
	  "        A[0, 0] = T.exp(n)\n                  ^^^^^^^^" },
	{ true, "    I[0] = 1.5\n",
	  "t.py:3:12: a number with a fraction where int32 is neede"
	  "d; write a whole number, or T.Cast",
	  "        I[0] = 1.5\n               ^^^" },
	{ true, "    for i in A:\n        pass\n",
	  "t.py:3:14: no loop of a tensor program; loop over range,"
	  " T.serial, T.grid, T.parallel, T.vectorized, T.unroll or"
	  " T.thread_binding",
	  "        for i in A:\n                 ^" },
	{ true, "    for i, j in T.grid(8):\n        pass\n",
	  "t.py:3:5: 2 loop variables for 1 extents; give equally m"
	  "any",
	  "        for i, j in T.grid(8):\n        ^^^^^^^^^^^^^^^^^"
	  "^^^^^" },
	{ true, "    for i in T.serial(8, annotatons={}):\n        pass\n",
	  "t.py:3:26: T.serial() has no parameter annotatons; did you mean annotations?",
	  "        for i in T.serial(8, annotatons={}):\n           "
	  "                  ^^^^^^^^^^^^^" },
	{ true, "    for i in T.serial(8, start=0):\n        pass\n",
	  "t.py:3:26: start is given twice; give it once",
	  "        for i in T.serial(8, start=0):\n           "
	  "                  ^^^^^^^" },
	{ true, "    for i in T.serial(*[8]):\n        pass\n",
	  "t.py:3:23: arguments from a list; write them out",
	  "        for i in T.serial(*[8]):\n           "
	  "               ^^^^" },
	{ true, "    for i in T.parallel(annotations={}):\n        pass\n",
	  "t.py:3:14: T.parallel() needs an argument start",
	  "        for i in T.parallel(annotations={}):\n           "
	  "      ^^^^^^^^^^^^^^^^^^^^^^^^^^" },
	{ true, "    I[0] = 1 << -1\n",
	  "t.py:3:12: a shift by a negative number of bits; shift the "
	  "other way",
	  "        I[0] = 1 << -1\n               ^^^^^^^" },
	{ true, "    for i in T.thread_binding(8):\n        pass\n",
	  "t.py:3:14: no thread; add thread=\"threadIdx.x\"",
	  "        for i in T.thread_binding(8):\n                 ^"
	  "^^^^^^^^^^^^^^^^^^" },
	{ true, "    T.reads(A[0, 0])\n",
	  "t.py:3:5: T.reads outside of a block; move it into one",
	  "        T.reads(A[0, 0])\n        ^^^^^^^^^^^^^^^^" },
	{ true,
	  "    with T.sblock(\"B\"):\n        v = T.axis.spatial(8, n)"
	  "\n        T.reads(A[v])\n        T.writes(I[v])\n        I["
	  "v] = 1\n",
	  "t.py:5:17: 1 ranges for the 2 dimensions of 'A'; give on"
	  "e for each",
	  "            T.reads(A[v])\n                    ^^^^" },
	{ true,
	  "    for i in range(8):\n        with T.sblock(\"B\"):\n     "
	  "       v, w = T.axis.remap(\"SS\", [i, n])\n            I[v"
	  "] = 1\n",
	  "t.py:5:43: a binding that is not a loop around the block; u"
	  "se T.axis.spatial or T.axis.reduce",
	  "                v, w = T.axis.remap(\"SS\", [i, n])\n      "
	  "                                        ^" },
	{ true,
	  "    for i in range(8):\n        with T.sblock(\"B\"):\n     "
	  "       v = T.axis.spatail(8, i)\n            I[v] = 1\n",
	  "t.py:5:17: T.axis.spatail is not known; did you mean T.a"
	  "xis.spatial?",
	  "                v = T.axis.spatail(8, i)\n               "
	  "     ^^^^^^^^^^^^^^^^^^^^" },
	{ true, "    n = 3\n    n += 1\n",
	  "t.py:4:5: a variable is not changed; name the new value "
	  "otherwise, or use a buffer",
	  "        n += 1\n        ^^^^^^" },
	{ true, "    break\n",
	  "t.py:3:5: no loop around it that it can leave; guard what "
	  "follows with a condition",
	  "        break\n        ^^^^^" },
	{ true, "    print(n)\n",
	  "t.py:3:5: a call of something that is not T's; functions"
	  " of Python cannot be called here",
	  "        print(n)\n        ^^^^^^^^" },
	{ true, "    I[0] = {1: 2}\n",
	  "t.py:3:12: a dict where a value is needed; only attribut"
	  "es and annotations take one",
	  "        I[0] = {1: 2}\n               ^^^^^^" },
	{ true, "    I[0] = I.dta\n",
	  "t.py:3:12: a whole buffer has no attribute dta; did you mean data?",
	  "        I[0] = I.dta\n               ^^^^^" },
	{ true, "    if T.float32(n):\n        pass\n",
	  "t.py:3:8: a condition of type float32; compare it with s"
	  "omething",
	  "        if T.float32(n):\n           ^^^^^^^^^^^^" },
	{ true, "    for i in range(0, 8, 0):\n        pass\n",
	  "t.py:3:26: a step of 0; use one from 1 on",
	  "        for i in range(0, 8, 0):\n                             ^" },
	{ true, "    I[0:8:2] = 1\n",
	  "t.py:3:7: a slice with the step 2; use T.Ramp, or a loop",
	  "        I[0:8:2] = 1\n          ^^^^^" },
	{ true, "    I[n:n + n] = 1\n",
	  "t.py:3:7: a slice of an element whose length is not a con"
	  "stant from 1 to 1024; write a loop",
	  "        I[n:n + n] = 1\n          ^^^^^^^" },
	{ true, "    I[0] = T.max(1)\n",
	  "t.py:3:12: T.max() needs an argument b",
	  "        I[0] = T.max(1)\n               ^^^^^^^^" },
	{ true, "    I[0] = 1 // 0\n",
	  "t.py:3:12: a division by zero; divide by another number",
	  "        I[0] = 1 // 0\n               ^^^^^^" },
	{ true, "    I[0] = 9223372036854775807 + 1\n",
	  "t.py:3:12: an integer of more than 64 bits; use smaller numbers",
	  "        I[0] = 9223372036854775807 + 1\n               ^^"
	  "^^^^^^^^^^^^^^^^^^^^^" },
	{ true, "    I[0] = T.Ramp(0, 1, 1)\n",
	  "t.py:3:25: a vector of 1 lanes; 2 to 4096 are possible",
	  "        I[0] = T.Ramp(0, 1, 1)\n                         "
	  "   ^" },
	{ true, "    x = T.decl_buffer((-1,), \"int32\")\n",
	  "t.py:3:24: a negative size; give one from 0",
	  "        x = T.decl_buffer((-1,), \"int32\")\n              "
	  "             ^^" },
	{ true, "    x = T.decl_buffer((8,), \"handle\")\n",
	  "t.py:3:29: no buffer can hold elements of type handle; u"
	  "se a numeric type",
	  "        x = T.decl_buffer((8,), \"handle\")\n              "
	  "                  ^^^^^^^^" },
	{ true, "    B = T.match_buffer(n, (8,), \"int32\")\n",
	  "t.py:3:24: something that is not a handle of the signature;"
	  " match a parameter of type T.handle",
	  "        B = T.match_buffer(n, (8,), \"int32\")\n           "
	  "                ^" },
	{ true,
	  "    T.tvm_thread_allreduce(T.uint32(1), I[0], True, I[0], n)\n",
	  "t.py:3:5: no reducer around it; write T.attr(T.comm_redu"
	  "cer(lambda x, y: x + y, [T.float32(0)]), \"reduce_scope\", 0)",
	  "        T.tvm_thread_allreduce(T.uint32(1), I[0], True, I[0], n)\n"
	  "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^" },
	{ true,
	  "    T.attr(T.comm_reducer(lambda x, y: x + y, [0]), \"reduce_scope\", 0)\n"
	  "    T.tvm_thread_allreduce(T.uint32(1), I[0], True, I[0], n)\n",
	  "t.py:4:59: no index of a thread; name the variable of a "
	  "loop that is bound to threadIdx.x, y or z",
	  "        T.tvm_thread_allreduce(T.uint32(1), I[0], True, I[0], n)\n"
	  "                                                              ^" },
	{ true, "    with T.init():\n        pass\n",
	  "t.py:3:10: T.init outside of a block; move it into one",
	  "        with T.init():\n             ^^^^^^^^" },
	{ true, "    with open(n):\n        pass\n",
	  "t.py:3:10: no scope of a tensor program; use T.sblock, T"
	  ".init, T.LetStmt, T.attr, T.decl_buffer or T.launch_thre"
	  "ad",
	  "        with open(n):\n             ^^^^^^^" },
	{ true, "    T.func_attr({\"tir_var_upper_bound\": {\"k\": 3}})\n",
	  "t.py:3:42: bounds of 'k', which is not a size; name one that "
	  "is declared above",
	  "        T.func_attr({\"tir_var_upper_bound\": {\"k\": 3}})\n "
	  "                                            ^^^" },
	{ true, "    m = T.int32()\n    I[m] = 1\n",
	  "t.py:4:5: a variable used outside of its scope: m; corre"
	  "ct it",
	  "        I[m] = 1\n        ^" },
	{ false, "@T.prim_func\ndef f(A):\n    pass\n",
	  "t.py:2:7: parameter 'A' without a type; write A: T.Buffe"
	  "r((8,), \"float32\") or A: T.int32",
	  "    def f(A):\n          ^" },
	{ false, "@T.prim_func\ndef f(A: list):\n    pass\n",
	  "t.py:2:10: no type of a parameter; write T.Buffer((8,), "
	  "\"float32\"), T.handle or T.int32",
	  "    def f(A: list):\n             ^^^^" },
	{ false, "@T.prim_func\ndef f(A: T.flaot32):\n    pass\n",
	  "t.py:2:10: 'flaot32' is not a data type; did you mean float32?",
	  "    def f(A: T.flaot32):\n             ^^^^^^^^^" },
	{ false, "x = 1\n",
	  "t.py:1:1: no function and no module of TVMScript; mark i"
	  "t with @T.prim_func or @I.ir_module",
	  "    x = 1\n    ^^^^^" },
	{ false, "",
	  "t.py:1:1: no function here; TVMScript is a 'def' marked "
	  "with @T.prim_func",
	  "    \n    ^" },
	{ false,
	  "@T.prim_func\ndef f():\n    pass\n@T.prim_func\ndef f():\n   "
	  " pass\n",
	  "t.py:5:1: a second function named 'f'; give it another n"
	  "ame",
	  "    def f():\n    ^^^^^^^^" },
};

static void
test_mistakes(void)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct module *m = module_new();
		struct strbuf text, out;

		strbuf_init(&text);
		strbuf_init(&out);
		strbuf_puts(&text, mistakes[i].body ? prelude : "");
		strbuf_puts(&text, mistakes[i].text);

		struct source src = { "t.py", text.data ? text.data : "",
				      text.len };

		CHECK(!script_read(m, &src));
		CHECK(m->diags.list.n == 1 && m->funcs.n == 0);
		if (m->diags.list.n == 1) {
			diag_format(&m->diags.list.data[0], &out);
			CHECK_STR_EQ(out.data, mistakes[i].message);
			CHECK_STR_EQ(m->diags.list.data[0].place.excerpt,
				     mistakes[i].excerpt);
		}
		strbuf_release(&text);
		strbuf_release(&out);
		module_free(m);
	}
}

static void
read_whole(const char *name, struct strbuf *out)
{
	struct strbuf path;
	FILE *file;
	int c;

	strbuf_init(out);
	strbuf_init(&path);
	strbuf_printf(&path, "%s/tests/script/%s",
		      getenv("TIRC_ROOT") ? getenv("TIRC_ROOT") : ".", name);
	file = fopen(path.data, "rb");
	if (CHECK(file)) {
		while ((c = getc(file)) != EOF) {
			strbuf_putc(out, (char)c);
		}
		fclose(file);
	}
	strbuf_release(&path);
}

static void
test_by_hand(void)
{
	struct module *m = module_new();
	struct strbuf text, want, got, seen;

	read_whole("by_hand.py", &text);
	read_whole("by_hand.txt", &want);
	strbuf_init(&got);
	strbuf_init(&seen);

	struct source src = { "by_hand.py", text.data, text.len };

	CHECK(script_read(m, &src));
	for (int i = 0; i < m->funcs.n; i++) {
		CHECK(func_verify(m->funcs.data[i]));
		CHECK(func_verify_text(m->funcs.data[i]));
		CHECK(func_verify_new_text(m->funcs.data[i], &seen));
		CHECK(strstr(seen.data, m->funcs.data[i]->name) != NULL);
		func_print(m->funcs.data[i], SCRIPT_CURRENT, &got);
		/* A keyword is printed with another name. */
		m->funcs.data[i]->name = "from";
		CHECK(func_verify_text(m->funcs.data[i]));
	}
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &got);
	}
	CHECK_STR_EQ(got.data, want.data);
	strbuf_release(&text);
	strbuf_release(&want);
	strbuf_release(&got);
	strbuf_release(&seen);
	module_free(m);
}

/* Buffers that are called b and b_2, beside a size called b: the text, which
 * names the first one b_1, is read and printed as the same text. */
static void
test_numbered_names(void)
{
	static const char text[] =
		"# from tvm.script import tir as T\n"
		"@T.prim_func\n"
		"def f(var_b: T.handle, var_b_2: T.handle, b: T.int32):\n"
		"    b_1 = T.match_buffer(var_b, (b,), \"float32\")\n"
		"    b_2 = T.match_buffer(var_b_2, (b,), \"float32\")\n"
		"    for i in range(b):\n"
		"        b_1[i] = b_2[i]\n";
	struct module *m = module_new();
	struct source src = { "t.py", text, sizeof text - 1 };
	struct strbuf got;

	strbuf_init(&got);
	if (CHECK(script_read(m, &src) && m->funcs.n == 1)) {
		const struct func *f = m->funcs.data[0];

		CHECK_STR_EQ(f->params.data[0].buffer->name, "b");
		CHECK_STR_EQ(f->params.data[1].buffer->name, "b_2");
		func_print(f, SCRIPT_CURRENT, &got);
		CHECK_STR_EQ(got.data, text);
	}
	strbuf_release(&got);
	module_free(m);
}

/* The text of a function with one line in its body. */
static const struct func *
read_line(struct module *m, const char *line)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_printf(&text, "%s    %s\n", prelude, line);

	struct source src = { "t.py", text.data, text.len };

	m->funcs.n = 0;
	CHECK(script_read(m, &src));
	strbuf_release(&text);
	return m->funcs.n ? m->funcs.data[0] : NULL;
}

static void
test_equal(void)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} pairs[] = {
		{ "x: T.int32 = n", "y: T.int32 = n", true },
		{ "I[0] = 1", "I[0] = 2", false },
		{ "I[0] = 1", "I[1] = 1", false },
		{ "I[0] = n + 1", "I[0] = 1 + n", false },
		{ "A[0, 0] = 0", "A[0, 0] = -0.0", false },
		{ "x = T.decl_buffer((8,), \"int32\")",
		  "y = T.decl_buffer((8,), \"int32\")", true },
		{ "x = T.decl_buffer((8,), \"int32\")",
		  "x = T.decl_buffer((8,), \"int32\", scope=\"local\")",
		  false },
		{ "T.func_attr({\"k\": 1})", "T.func_attr({\"k\": 2})", false },
		{ "pass", "T.evaluate(0)", false },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct module *m = module_new();
		const struct func *a = read_line(m, pairs[i].a);
		const struct func *b = read_line(m, pairs[i].b);
		struct strbuf why;

		strbuf_init(&why);
		if (a && b) {
			CHECK_EQ(func_equal(a, b, &why), pairs[i].equal);
			CHECK((why.len == 0) == pairs[i].equal);
		}
		strbuf_release(&why);
		module_free(m);
	}
}

/* Hashes that do not tell functions apart make the search for equal ones
 * quadratic: only a literal that is stored is left out. */
static void
test_hashes(void)
{
	static const struct {
		const char *a, *b;
		bool same, same_but_literals;
		int literals; /* other ones, if all else is the same */
	} pairs[] = {
		{ "I[0] = n + 1", "I[0] = n + 1", true, true, 0 },
		{ "I[0] = n + 1", "I[0] = n + 2", false, true, 1 },
		{ "I[0] = n * 3 + n * 3 * 5", "I[0] = n * 4 + n * 4 * 7", false,
		  true, 2 },
		{ "I[0] = n + 1", "I[1] = n + 1", false, false, 0 },
		{ "for i in range(8): I[i] = 1", "for i in range(9): I[i] = 1",
		  false, false, 0 },
		{ "for i in range(8): I[i] = 1", "for i in range(8): I[i] = 2",
		  false, true, 1 },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct module *m = module_new();
		const struct func *a = read_line(m, pairs[i].a);
		const struct func *b = read_line(m, pairs[i].b);

		if (CHECK(a && b)) {
			CHECK_EQ(func_hash(a, false) == func_hash(b, false),
				 pairs[i].same);
			CHECK_EQ(func_hash(a, true) == func_hash(b, true),
				 pairs[i].same_but_literals);
			CHECK_EQ(funcs_equal(&a, &b, 1, true),
				 pairs[i].same_but_literals);
			if (pairs[i].same_but_literals) {
				struct literal_pairs other = { 0 };

				funcs_other_literals(&m->arena, &a, &b, 1,
						     &other);
				CHECK_EQ(other.list.n, pairs[i].literals);
			}
		}
		module_free(m);
	}
}

/* Names that are no identifiers, and two of them equal: of arrays of symbolic
 * shape, whose handles have names made from them, of a size and a loop. */
static void
test_odd_names(void)
{
	static const char *const names[] = { "0",    "",     "_", "_0",
					     "a b",  "var_", "T", "for",
					     "v_0",  "0_1",  "b", "b_1",
					     "b_1_1" };
	enum { N = sizeof names / sizeof *names };

	for (int k = 0; k < N * N; k++) {
		struct module *m = module_new();
		struct dtype f32 = dtype_of(DT_F32), i32 = dtype_of(DT_I32);
		const char *one = names[k / N], *two = names[k % N];
		struct var *n = var_new(m, one, i32), *i = var_new(m, two, i32);
		const struct expr *size = n->expr;
		struct buffer_spec spec = {
			.name = one, .type = f32, .ndim = 1, .shape = &size
		};
		const struct buffer *x = buffer_new(m, &spec), *y;
		struct func *f = func_new(m, "f");
		const struct expr *at = i->expr;

		spec.name = two;
		y = buffer_new(m, &spec);
		func_add_param(f, NULL, x);
		func_add_param(f, NULL, y);
		func_add_param(f, n, NULL);
		f->body = stmt_for(f, i, expr_i32(m, 0), size, FOR_SERIAL,
				   stmt_store(f, y, expr_load(m, x, &at, 1),
					      &at, 1));
		if (!CHECK(func_verify(f) && func_verify_text(f))) {
			fprintf(stderr, "\t'%s', '%s'\n", one, two);
		}
		module_free(m);
	}
}

/* ---- steps */

static const char steps_text[] = "def half(v):\n"
				 "    part = T.meta_var(v // 2)\n"
				 "    return part\n"
				 "def all_are(size):\n"
				 "    found = True\n"
				 "    for j in range(size):\n"
				 "        found = found and x[j] == values[j]\n"
				 "    return found\n"
				 "def f(x, y, n, is_long):\n"
				 "    count = T.alloc_local((), \"int32\")\n"
				 "    if is_long:\n"
				 "        more = T.alloc_local((), \"int32\")\n"
				 "    def add(by):\n"
				 "        was = count\n"
				 "        count += by\n"
				 "        y[half(n), was] = x[was]\n"
				 "    count = 0\n"
				 "    add(n)\n"
				 "    if is_long:\n"
				 "        more = count\n"
				 "    elif all_are(2):\n"
				 "        add(1)\n"
				 "def unknown(z):\n"
				 "    pass\n"
				 "def no_value():\n"
				 "    n2 = half_of(n)\n"
				 "def open_branch():\n"
				 "    a = sign(x[0])\n"
				 "def sign(v):\n"
				 "    if v < 0:\n"
				 "        return -1\n"
				 "    return 1\n"
				 "def endless():\n"
				 "    endless()\n";

/* Reads the function of the text above for x [4], of which all indices are given by the
 * steps, and y [4][3][4], of which the steps give the first and the last. */
static struct stmt *
read_steps(struct module *m, struct func *f, const char *name, bool is_long)
{
	struct dtype i32 = dtype_of(DT_I32);
	const struct expr *four = expr_i32(m, 4), *two = expr_i32(m, 2);
	const struct expr *const shape[] = { four, expr_i32(m, 3), four };
	const struct expr *const at[] = { NULL, two, NULL };
	const struct script_outer items[] = { { .e = four, .weak = true },
					      { .e = two, .weak = true } };
	struct buffer_spec x = {
		.name = "x", .type = i32, .ndim = 1, .shape = &four
	};
	struct buffer_spec y = {
		.name = "y", .type = i32, .ndim = 3, .shape = shape
	};
	struct script_binding list[] = {
		{ .name = "x", .buffer = buffer_new(m, &x) },
		{ .name = "y", .buffer = buffer_new(m, &y), .at = at },
		{ .name = "n", .value.e = expr_i32(m, 3) },
		{ .name = "is_long",
		  .value = { .e = expr_bool(m, is_long), .weak = true } },
		{ .name = "values", .value = { .items = items, .n_items = 2 } },
	};
	struct source src = { "steps.py", steps_text, sizeof steps_text - 1 };

	func_add_param(f, list[0].buffer->data, list[0].buffer);
	func_add_param(f, list[1].buffer->data, list[1].buffer);
	return script_read_steps(f, &src, name, list, 5);
}

static void
test_steps(void)
{
	static const struct {
		const char *name, *message;
	} wrong[] = {
		{ "unknown", "nothing is given for z" },
		{ "no_value", "that is not T's" },
		{ "open_branch", "is chosen when the text is read" },
		{ "endless", "macros in macros" },
	};

	for (int is_long = 0; is_long < 2; is_long++) {
		struct module *m = module_new();
		struct func *f = func_new(m, "f");
		struct strbuf text;

		strbuf_init(&text);
		f->body = read_steps(m, f, "f", is_long);
		if (CHECK(f->body && func_verify(f))) {
			func_print(f, SCRIPT_CURRENT, &text);
			CHECK(strstr(text.data, "y[1, 2, was] = x[was]"));
			CHECK(is_long !=
			      (strstr(text.data, "x[0] == 4 and "
						 "x[1] == 2") != NULL));
			CHECK(is_long == (strstr(text.data, "more[()] = count"
							    "[()]") != NULL));
		}
		strbuf_release(&text);
		module_free(m);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct module *m = module_new();

		CHECK(!read_steps(m, func_new(m, "f"), wrong[i].name, false));
		if (!CHECK(m->diags.list.n == 1 &&
			   strstr(m->diags.list.data[0].message,
				  wrong[i].message))) {
			fprintf(stderr, "\t%s: %s\n", wrong[i].name,
				m->diags.list.n ? m->diags.list.data[0].message
						: "none");
		}
		module_free(m);
	}
}

int
main(void)
{
	test_mistakes();
	test_steps();
	test_by_hand();
	test_numbered_names();
	test_odd_names();
	test_equal();
	test_hashes();
	return check_done();
}
