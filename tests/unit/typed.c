/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and functions on typed values: the expressions and types that they
 * give in TVMScript and in programs, and their mistakes. */
#include "check.h"

#include "func.h"
#include "typed.h"

/* What a case computes with. */
struct given {
	struct module *m;
	struct typing t;
	struct typed u8, i32, f16, bf16, flag; /* variables */
	struct typed two, big, half, yes;      /* numbers of Python */
};

static struct typed
variable(struct module *m, const char *name, enum dtype_kind kind)
{
	return typed_expr(var_new(m, name, dtype_of(kind))->expr);
}

static struct typed
number(struct module *m, struct py_number n)
{
	return typed_number(m, &n);
}

static void
begin(struct given *g, const struct typing_rules *rules)
{
	static const struct source src = { "t.py", "x", 1 };

	g->m = module_new();
	g->t = (struct typing){ g->m, &src, rules };
	g->u8 = variable(g->m, "u8", DT_U8);
	g->i32 = variable(g->m, "i32", DT_I32);
	g->f16 = variable(g->m, "f16", DT_F16);
	g->bf16 = variable(g->m, "bf16", DT_BF16);
	g->flag = variable(g->m, "flag", DT_BOOL);
	g->two = number(g->m, py_int(2));
	g->big = number(g->m, py_int(70000));
	g->half = number(g->m, py_float(0.5));
	g->yes = number(g->m, py_bool(true));
}

/* The expression and its type, or the message. */
static void
check_result(struct given *g, bool ok, const struct typed *x, const char *want)
{
	const struct diags *d = &g->m->diags;
	struct strbuf text;

	strbuf_init(&text);
	if (ok) {
		strbuf_printf(&text, "%s%s ", x->weak ? "weak " : "",
			      typed_name(g->m, x->e->type));
		expr_print(x->e, &text);
	} else {
		strbuf_puts(&text, d->list.data[d->list.n - 1].message);
	}
	CHECK_STR_EQ(text.data, want);
	strbuf_release(&text);
}

#define AT(member) offsetof(struct given, member)
#define NOTHING ((size_t)-1)

static const struct typed *
operand(const struct given *g, size_t at)
{
	return (const struct typed *)((const char *)g + at);
}

static void
test_binary(void)
{
	static const struct {
		enum py_operator op;
		size_t x, y;
		const char *script, *program; /* NULL: the same */
	} cases[] = {
		{ PY_OP_SUB, AT(u8), AT(two), "int32 T.Cast(\"int32\", u8) - 2",
		  NULL },
		{ PY_OP_ADD, AT(f16), AT(two), "float16 f16 + T.float16(2)",
		  NULL },
		{ PY_OP_MUL, AT(i32), AT(half),
		  "float32 T.Cast(\"float32\", i32) * T.float32(0.5)", NULL },
		{ PY_OP_LT, AT(u8), AT(two), "bool u8 < T.uint8(2)",
		  "bool T.Cast(\"int32\", u8) < 2" },
		{ PY_OP_BITAND, AT(u8), AT(two),
		  "uint8 T.bitwise_and(u8, T.uint8(2))", NULL },
		{ PY_OP_BITAND, AT(u8), AT(big),
		  "int32 T.bitwise_and(T.Cast(\"int32\", u8), 70000)", NULL },
		{ PY_OP_BITOR, AT(flag), AT(yes),
		  "bool T.bitwise_or(flag, T.bool(True))",
		  "bool T.bool(True)" },
		{ PY_OP_ADD, AT(flag), AT(yes),
		  "there is no arithmetic on bool; cast it to an integer",
		  "int32 T.Cast(\"int32\", flag) + 1" },
		{ PY_OP_FLOORDIV, AT(f16), AT(two),
		  "float16 f16 // T.float16(2)",
		  "float16 T.floor(f16 / T.float16(2))" },
		{ PY_OP_DIV, AT(i32), AT(two),
		  "'/' between integers could round either way; write // or "
		  "T.truncdiv",
		  "'/' between integers could round either way; write // or "
		  "tvm.tir.truncdiv" },
		{ PY_OP_ADD, AT(f16), AT(big),
		  "70000 does not fit float16; cast the other operand to a "
		  "wider type",
		  NULL },
		{ PY_OP_ADD, AT(f16), AT(bf16),
		  "float16 and bfloat16 do not go together; cast one of them",
		  NULL },
		{ PY_OP_AND, AT(i32), AT(flag),
		  "a condition is needed, not int32; compare it with something",
		  NULL },
		{ PY_OP_POW, AT(two), AT(two), "weak int64 T.int64(4)", NULL },
		{ PY_OP_DIV, AT(two), AT(big),
		  "weak float64 T.float64(2.857142857142857e-05)", NULL },
		{ PY_OP_LE, AT(half), AT(yes), "weak bool T.bool(True)", NULL },
		{ PY_OP_BITXOR, AT(half), AT(two),
		  "an operator of integers, and one of them is a float; make it "
		  "an int",
		  NULL },
	};

	for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		bool script = i % 2 == 0;
		const char *want = script || !cases[i / 2].program
					   ? cases[i / 2].script
					   : cases[i / 2].program;
		struct typed x;
		struct given g;

		begin(&g, script ? &typing_of_scripts : &typing_of_programs);
		check_result(&g,
			     typed_binary(&g.t, (struct py_span){ 1, 1, 1, 2 },
					  cases[i / 2].op,
					  operand(&g, cases[i / 2].x),
					  operand(&g, cases[i / 2].y), &x),
			     &x, want);
		module_free(g.m);
	}
}

static void
test_functions(void)
{
	static const struct {
		const char *name;
		size_t args[3];
		const char *want;
	} cases[] = {
		{ "truncdiv", { AT(big), AT(two), NOTHING }, "int32 35000" },
		{ "ceildiv", { AT(big), AT(two), NOTHING }, "int32 35000" },
		{ "exp",
		  { AT(two), NOTHING, NOTHING },
		  "float32 T.exp(T.float32(2))" },
		{ "exp",
		  { AT(i32), NOTHING, NOTHING },
		  "exp() does not work on int32; cast the argument first" },
		{ "floor", { AT(i32), NOTHING, NOTHING }, "int32 i32" },
		{ "pow",
		  { AT(f16), AT(two), NOTHING },
		  "float16 T.pow(f16, T.float16(2))" },
		{ "if_then_else",
		  { AT(flag), AT(u8), AT(two) },
		  "int32 T.if_then_else(flag, T.Cast(\"int32\", u8), 2)" },
		{ "Select",
		  { AT(i32), AT(u8), AT(two) },
		  "a condition is needed, not int32; compare it with something" },
		{ "all", { AT(flag), AT(yes), NOTHING }, "bool flag" },
		{ "all",
		  { AT(flag), AT(i32), NOTHING },
		  "a condition is needed, not int32; compare it with something" },
		{ "min_value",
		  { AT(u8), NOTHING, NOTHING },
		  "no type; write one, such as \"float32\"" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct typed_arg args[3];
		struct typed x = { 0 };
		struct given g;
		struct typed_call c = { .t = &g.t, .args = args };

		begin(&g, &typing_of_scripts);
		c.f = typed_function_find(cases[i].name);
		while (c.n < 3 && cases[i].args[c.n] != NOTHING) {
			args[c.n].x = *operand(&g, cases[i].args[c.n]);
			args[c.n++].at = (struct py_span){ 1, 1, 1, 2 };
		}
		check_result(&g, c.f && typed_call(&c, &x), &x, cases[i].want);
		module_free(g.m);
	}
	CHECK(!typed_function_find("call_extern"));
	CHECK(!typed_function_find("floordivide"));
}

int
main(void)
{
	test_binary();
	test_functions();
	return check_done();
}
