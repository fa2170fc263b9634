/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a C program that tests the emitter: a function for every operation
 * and type, its inputs, and what the interpreter says it must give.
 *
 *	emit_cases DIALECT > cases.c; cc cases.c -lm; ./a.out
 *
 * Each function is one loop over the values of interest and some random ones:
 *
 *	for (int32_t i = 0; i < 64; ++i) { y[i] = op(a[i], b[i], c[i]); } */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp.h"
#include "lower.h"
#include "unit.h"

#include "../../includes.h"

#define N 64

struct maker {
	struct module *m;
	struct unit u;
	struct strbuf funcs, calls;
	uint32_t state;
	int n;
};

static uint32_t
random_bits(struct maker *k)
{
	k->state = k->state * 1664525u + 1013904223u;
	return k->state >> 8 ^ k->state << 20;
}

static double
some_float(struct maker *k, int i)
{
	static const double fixed[] = {
		0.0, -0.0, 1.0,   -1.0,   64.0, 0.5,   -0.5, 1.5,
		2.5, -2.5, 300.0, -300.0, 1e10, -1e10, 1e30, -1e30,
	};

	if (i < 16) {
		return fixed[(i * 5) % 16];
	}
	if (i == 20) {
		return INFINITY;
	}
	if (i == 21) {
		return -INFINITY;
	}
	if (i == 22) {
		return NAN;
	}
	return ((double)random_bits(k) / 4294967296.0 - 0.5) * 16.0;
}

static union number
some_value(struct maker *k, struct dtype t, int i, bool zero)
{
	union number v = { .i = 0 };
	uint64_t bits = (uint64_t)random_bits(k) << 32 | random_bits(k);

	switch (dtype_class(t)) {
	case DTC_FLOAT:
		v.f = some_float(k, i);
		return number_round(t, v);
	case DTC_BOOL:
		v.i = (int64_t)(bits & 1);
		return v;
	case DTC_UINT:
		v.u = i % 7 == 0   ? dtype_max_int(t)
		      : i % 7 == 1 ? 0
		      : i % 7 == 2 ? 1
				   : bits >> (i % 60);
		break;
	default:
		v.i = i % 9 == 0   ? dtype_min_int(t)
		      : i % 9 == 1 ? (int64_t)dtype_max_int(t)
		      : i % 9 == 2 ? 0
		      : i % 9 == 3 ? -1
		      : i % 9 == 4 ? 1
				   : (int64_t)bits >> (i % 60);
		break;
	}
	v = number_round(t, v);
	if (!zero && v.u == 0) {
		v.u = 3;
	}
	return v;
}

static const struct buffer *
array(struct maker *k, const char *name, struct dtype t)
{
	const struct expr *n = expr_i32(k->m, N);
	struct buffer_spec spec = {
		.name = name,
		.type = t,
		.ndim = 1,
		.shape = &n,
	};

	return buffer_new(k->m, &spec);
}

static void
put_array(struct maker *k, const char *name, struct dtype t, const void *data)
{
	struct strbuf *s = &k->calls;
	struct dtype of = dtype_stored(t);

	strbuf_printf(s, "\tTABLE %s %s_%d[%d] = {",
		      k->u.d->types[of.kind].spelling, name, k->n, N);
	/* What is only stored is in memory by its bits. */
	if (k->u.d->types[t.kind].is_stored_only) {
		of = dtype_of(dtype_bytes(t) == 1 ? DT_U8 : DT_U16);
	}
	for (int i = 0; i < N; i++) {
		strbuf_printf(s, "%s%s,", i % 8 == 0 ? "\n\t\t" : " ",
			      unit_literal(&k->u, of,
					   number_load(of, data, (size_t)i)));
	}
	strbuf_puts(s, "\n\t};\n");
}

/* One case: y = value(a, b, c). loose: libm's last bits may differ. */
struct one_case {
	struct dtype in, out;
	const struct expr *a, *b, *c; /* loads at i */
	bool no_nan; /* compilers' literals have NaN of either sign */
};

static struct func *
build(struct maker *k, const char *name, struct one_case *c,
      const struct buffer **buffers)
{
	struct func *f = func_new(k->m, name);
	struct var *i = var_new(k->m, "i", dtype_of(DT_I32));
	const struct expr *index = i->expr;

	buffers[0] = array(k, "a", c->in);
	buffers[1] = array(k, "b", c->in);
	buffers[2] = array(k, "c", c->in);
	buffers[3] = array(k, "y", c->out);
	c->a = expr_load(k->m, buffers[0], &index, 1);
	c->b = expr_load(k->m, buffers[1], &index, 1);
	c->c = expr_load(k->m, buffers[2], &index, 1);
	f->body = stmt_for(f, i, expr_i32(k->m, 0), expr_i32(k->m, N),
			   FOR_SERIAL, NULL);
	return f;
}

/* Lowers f if it has types that dialects lack. The executor and the interpreter
 * must compute the same y again. */
static void
run_again(struct func *f, struct run_arg *args, int n, const unsigned char *y)
{
	const struct param *last = &f->params.data[n - 1];
	size_t bytes = N * (size_t)dtype_bytes(last->buffer->type);
	unsigned char again[N * 8] = { 0 };
	struct run_arg to = args[n - 1];
	bool good = true;

	for (int i = 0; i < n; i++) {
		struct dtype t = f->params.data[i].buffer->type;

		if (!dtype_equal(dtype_stored(t), t)) {
			good = lower_func(f, NULL);
			break;
		}
	}
	args[n - 1].data = again;
	good = good && run_func(f, args, n) && memcmp(again, y, bytes) == 0;
	memset(again, 0, sizeof again);
	good = good && interp_run(f, args, n) && memcmp(again, y, bytes) == 0;
	args[n - 1] = to;
	if (!good) {
		fprintf(stderr,
			"%s: the lowered or executed function differs\n",
			f->name);
		exit(1);
	}
}

static void
finish(struct maker *k, struct func *f, struct one_case *c,
       const struct buffer **buffers, const struct expr *value, bool zero,
       bool loose)
{
	static const char *const names[] = { "a", "b", "c", "y" };
	unsigned char memory[4][N * 8];
	struct run_arg args[4] = { { .data = NULL } };
	const struct expr *index = f->body->u.loop.var->expr;
	const char *value_of = k->u.d->types[c->out.kind].is_stored_only
				       ? "half_value"
				       : "(double)";
	struct strbuf call;
	int n = 0;

	memset(memory, 0, sizeof memory);
	stmt_set_child(f, f->body, 0,
		       stmt_store(f, buffers[3], value, &index, 1));
	for (int j = 0; j < 4; j++) {
		for (int i = 0; j < 3 && i < N; i++) {
			/* Every value of one meets many of the others. */
			int at = j == 0 ? i : j == 1 ? i * 5 + i / 8 : i * 3;
			union number v = some_value(k, c->in, at % N,
						    zero || j != 1);

			if (c->no_nan && dtype_is_float(c->in) && isnan(v.f)) {
				v.f = 2;
			}
			number_store(c->in, memory[j], (size_t)i, v);
		}
		if (j == 3 || expr_uses_buffer(value, buffers[j])) {
			func_add_param(f, buffers[j]->data, buffers[j]);
			args[n++].data = memory[j];
		}
	}
	if (!interp_run(f, args, n)) {
		fprintf(stderr, "%s: the interpreter refused it\n", f->name);
		exit(1);
	}
	run_again(f, args, n, memory[3]);
	if (!unit_func(&k->u, f, &k->funcs)) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&k->m->diags.list.data[k->m->diags.list.n - 1], &s);
		fprintf(stderr, "%s: %s\n", f->name, s.data);
		exit(1);
	}
	strbuf_putc(&k->funcs, '\n');
	strbuf_printf(&k->calls, "static int\ncheck_%d(void)\n{\n", k->n);
	strbuf_init(&call);
	for (int j = 0; j < 4; j++) {
		if (j == 3 || expr_uses_buffer(value, buffers[j])) {
			put_array(k, names[j], j < 3 ? c->in : c->out,
				  memory[j]);
		}
		if (j < 3 && expr_uses_buffer(value, buffers[j])) {
			strbuf_printf(&call, "%s_%d, ", names[j], k->n);
		}
	}
	strbuf_printf(&k->calls,
		      "\t%s y[%d];\n"
		      "\tint failed = 0;\n\n\t%s(%sy);\n"
		      "\tfor (int i = 0; i < %d; ++i) {\n"
		      "\t\tfailed += differ(\"%s\", i, %s(y[i]), "
		      "%s(y_%d[i]), %s);\n\t}\n\treturn failed;\n}\n\n",
		      k->u.d->types[dtype_stored(c->out).kind].spelling, N,
		      f->name, call.data != NULL ? call.data : "", N, f->name,
		      value_of, value_of, k->n,
		      !loose                  ? "0.0"
		      : c->out.kind == DT_F64 ? "1e-14"
		      : c->out.kind == DT_F16 ? "1e-3"
					      : "3e-7");
	strbuf_release(&call);
	k->n++;
}

/* The last one is for dialects that have it. */
static const enum dtype_kind floats[] = { DT_F32, DT_F64, DT_F16 };
static const enum dtype_kind ints[] = {
	DT_I8, DT_I16, DT_I32, DT_I64, DT_U8, DT_U16, DT_U32, DT_U64,
};

static void
binaries(struct maker *k, struct dtype t)
{
	static const enum expr_kind kinds[] = {
		EXPR_ADD,      EXPR_SUB,      EXPR_MUL, EXPR_DIV, EXPR_TRUNCMOD,
		EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_MIN, EXPR_MAX, EXPR_EQ,
		EXPR_NE,       EXPR_LT,       EXPR_LE,  EXPR_GT,  EXPR_GE,
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool division = kinds[i] >= EXPR_DIV &&
				kinds[i] <= EXPR_FLOORMOD;
		bool compares = kinds[i] >= EXPR_EQ && kinds[i] <= EXPR_GE;
		struct one_case c = { .in = t,
				      .out = compares ? dtype_of(DT_BOOL) : t };
		const struct buffer *buffers[4];
		char name[64];
		struct func *f;

		if (dtype_is_float(t) && division && kinds[i] != EXPR_DIV) {
			continue;
		}
		snprintf(name, sizeof name, "%s_%s", expr_kind_name(kinds[i]),
			 dtype_short(t));
		f = build(k, arena_strdup(&k->m->arena, name), &c, buffers);
		finish(k, f, &c, buffers, expr_binary(k->m, kinds[i], c.a, c.b),
		       !division || dtype_is_float(t), false);
	}
}

static void
intrinsics(struct maker *k, struct dtype t)
{
	for (int op = 0; op < INTRIN_COUNT; op++) {
		bool is_float = dtype_is_float(t);
		bool any = op == INTRIN_ABS || op == INTRIN_POW ||
			   op == INTRIN_LIKELY;
		bool only_int = op >= INTRIN_BITAND && op <= INTRIN_POPCOUNT;
		struct one_case c = { .in = t, .out = t };
		const struct buffer *buffers[4];
		const struct expr *args[3];
		char name[64];
		struct func *f;

		if ((op >= INTRIN_REINTERPRET && op != INTRIN_LIKELY) ||
		    op == INTRIN_NIBBLE) {
			continue; /* cells of the self-test, or of their own */
		}
		if (any ? false : is_float ? only_int : !only_int) {
			continue;
		}
		if (op == INTRIN_ISNAN || op == INTRIN_ISINF) {
			c.out = dtype_of(DT_BOOL);
		}
		snprintf(name, sizeof name, "f_%s_%s",
			 intrin_name((enum intrin)op), dtype_short(t));
		f = build(k, arena_strdup(&k->m->arena, name), &c, buffers);
		args[0] = c.a;
		args[1] = c.b;
		args[2] = c.c;
		finish(k, f, &c, buffers,
		       expr_call(k->m, (enum intrin)op, c.out, args,
				 intrin_arity((enum intrin)op)),
		       true, is_float && op != INTRIN_ABS);
	}
}

static void
nearest_scale(struct maker *k)
{
	struct module *m = k->m;
	struct dtype t = dtype_of(DT_I32);
	struct one_case c = { .in = t, .out = t };
	const struct buffer *buffers[4];
	struct func *f = build(k, "scale_nearest", &c, buffers);
	const struct expr *args[2] = {
		c.a, expr_mul(m, expr_cast(m, dtype_of(DT_F64), c.b),
			      expr_float(m, dtype_of(DT_F64), 0.5))
	};

	finish(k, f, &c, buffers,
	       expr_call(m, INTRIN_SCALE_NEAREST, t, args, 2), true, false);
}

static void
high_word(struct maker *k)
{
	struct module *m = k->m;
	struct dtype t = dtype_of(DT_I32);
	struct one_case c = { .in = t, .out = t };
	const struct buffer *buffers[4];
	struct func *f = build(k, "mul_high", &c, buffers);
	const struct expr *args[2] = { c.a, c.b };

	finish(k, f, &c, buffers, expr_call(m, INTRIN_MUL_HIGH, t, args, 2),
	       true, false);
}

/* All exponents, and multipliers of all sizes. */
static void
fixed_scale(struct maker *k)
{
	struct module *m = k->m;
	struct dtype t = dtype_of(DT_I32);
	struct one_case c = { .in = t, .out = t };
	const struct buffer *buffers[4];
	struct func *f = build(k, "scale_fixed", &c, buffers);
	const struct expr *args[3] = {
		c.a, c.b,
		expr_sub(m, expr_floormod(m, c.c, expr_i32(m, 63)),
			 expr_i32(m, 31))
	};

	finish(k, f, &c, buffers, expr_call(m, INTRIN_SCALE_FIXED, t, args, 3),
	       true, false);
}

static void
casts(struct maker *k, struct dtype from, struct dtype to)
{
	struct one_case c = { .in = from, .out = to };
	const struct buffer *buffers[4];
	struct func *f;

	f = build(k,
		  arena_printf(&k->m->arena, "cast_%s_%s", dtype_short(from),
			       dtype_short(to)),
		  &c, buffers);
	finish(k, f, &c, buffers, expr_cast(k->m, to, c.a), true, false);
}

/* Nested operations: parentheses, and the narrow types' promotions. */
static void
nests(struct maker *k, struct dtype t)
{
	struct module *m = k->m;
	struct one_case c = { .in = t, .out = t };
	const struct buffer *buffers[4];
	const struct expr *e[12];
	int n = 0;

	for (int i = 0; i < 10; i++) {
		struct func *f = build(k,
				       arena_printf(&m->arena, "nest_%d_%s", i,
						    dtype_short(t)),
				       &c, buffers);
		const struct expr *lt = expr_lt(m, c.a, c.b);
		const struct expr *eq = expr_eq(m, c.b, c.c);

		n = 0;
		e[n++] = expr_sub(m, c.a, expr_sub(m, c.b, c.c));
		e[n++] = expr_mul(m, expr_add(m, c.a, c.b),
				  expr_sub(m, c.b, c.c));
		e[n++] = expr_sub(m, expr_neg(m, expr_neg(m, c.a)),
				  expr_neg(m, c.b));
		e[n++] = expr_neg(m, expr_neg(m, expr_mul(m, c.a, c.b)));
		e[n++] = expr_add(m, c.a, expr_const(m, t, 3));
		e[n++] = expr_select(m,
				     expr_or(m, expr_and(m, lt, eq),
					     expr_not(m, lt)),
				     expr_select(m, eq, c.a, c.b), c.c);
		e[n++] = expr_max(m,
				  expr_min(m, expr_add(m, c.a, c.b),
					   expr_const(m, t, 6)),
				  expr_const(m, t, 0));
		e[n++] = expr_max(m, expr_max(m, c.a, c.b), c.c);
		e[n++] = expr_if(m, expr_lt(m, expr_add(m, c.a, c.b), c.c),
				 expr_mul(m, c.a, expr_mul(m, c.b, c.c)), c.b);
		e[n++] = expr_cast(m, t,
				   expr_not(m,
					    expr_eq(m,
						    expr_cast(m,
							      dtype_of(DT_BOOL),
							      c.a),
						    lt)));
		e[n++] = expr_add(m, expr_mul(m, c.a, expr_const(m, t, 2)),
				  expr_mul(m, c.b, expr_const(m, t, 5)));
		finish(k, f, &c, buffers, e[i], true, false);
	}
}

static void
reinterprets(struct maker *k, struct dtype from, struct dtype to)
{
	struct one_case c = { .in = from, .out = to, .no_nan = true };
	const struct buffer *buffers[4];
	struct func *f = build(k,
			       arena_printf(&k->m->arena, "bits_%s_%s",
					    dtype_short(from), dtype_short(to)),
			       &c, buffers);

	finish(k, f, &c, buffers,
	       expr_call(k->m, INTRIN_REINTERPRET, to, &c.a, 1), true, false);
}

static bool
has_bits(const struct maker *k, struct dtype t)
{
	return (dtype_is_int(t) || dtype_is_float(t)) &&
	       k->u.d->types[dtype_stored(t).kind].rejected == NULL;
}

/* All pairs of numeric types with equal bits. */
static void
all_reinterprets(struct maker *k)
{
	for (int i = 0; i < DT_COUNT; i++) {
		struct dtype from = dtype_of((enum dtype_kind)i);

		for (int j = 0; j < DT_COUNT; j++) {
			struct dtype to = dtype_of((enum dtype_kind)j);

			if (i != j && dtype_bits(from) == dtype_bits(to) &&
			    has_bits(k, from) && has_bits(k, to)) {
				reinterprets(k, from, to);
			}
		}
	}
}

static void
all_cases(struct maker *k)
{
	size_t n = k->u.d->types[DT_F16].rejected == NULL ? 3 : 2;

	for (size_t i = 0; i < n; i++) {
		struct dtype t = dtype_of(floats[i]);

		binaries(k, t);
		intrinsics(k, t);
		nests(k, t);
		for (size_t j = 0; j < n; j++) {
			casts(k, t, dtype_of(floats[j]));
		}
		casts(k, t, dtype_of(DT_BOOL));
		casts(k, dtype_of(DT_BOOL), t);
	}
	for (size_t i = 0; i < 8; i++) {
		struct dtype t = dtype_of(ints[i]);

		binaries(k, t);
		intrinsics(k, t);
		nests(k, t);
		casts(k, t, dtype_of(DT_BOOL));
		casts(k, dtype_of(DT_BOOL), t);
		for (size_t j = 0; j < 8; j++) {
			casts(k, t, dtype_of(ints[j]));
		}
		for (size_t j = 0; j < n; j++) {
			casts(k, t, dtype_of(floats[j]));
			casts(k, dtype_of(floats[j]), t);
		}
	}
	high_word(k);
	fixed_scale(k);
	nearest_scale(k);
	/* a dialect may forbid to look at bits */
	if (k->u.d->forms[FORM_REINTERPRET][DT_I32]->kind != FORM_IS_REJECTED) {
		all_reinterprets(k);
	}
}

static void
print(struct maker *k)
{
	struct strbuf helpers;

	strbuf_init(&helpers);
	if (!unit_print_helpers(&k->u, &helpers)) {
		exit(1);
	}
	printf("#include <math.h>\n#include <stdio.h>\n");
	print_includes(stdout, &k->u);
	printf("\n%s%s", helpers.data != NULL ? helpers.data : "",
	       k->funcs.data);
	if (strstr(k->calls.data, "half_value(") != NULL) {
		printf("\nstatic double\nhalf_value(int bits)\n{\n"
		       "\tint e = bits >> 10 & 31, part = bits & 1023;\n"
		       "\tdouble x = e == 31 ? (double)(part != 0 ? NAN : INFINITY)\n"
		       "\t\t : e == 0 ? ldexp(part, -24)\n"
		       "\t\t : ldexp(part + 1024, e - 25);\n\n"
		       "\treturn (bits & 0x8000) != 0 ? -x : x;\n}\n");
	}
	printf("\nstatic int\n"
	       "differ(const char *name, int i, double got, double want, "
	       "double tolerance)\n{\n"
	       "\tdouble d = fabs(got - want);\n"
	       "\tint fine = got == want || (isnan(got) && isnan(want)) ||\n"
	       "\t\t   d <= tolerance * fabs(want) || "
	       "(tolerance > 0.0 && d < (tolerance > 1e-4 ? 6e-8 : 1e-37));"
	       "\n\n"
	       "\tif (!fine) {\n"
	       "\t\tprintf(\"%%s[%%d]: got %%.17g, want %%.17g\\n\", name, i, "
	       "got, want);\n\t}\n\treturn !fine;\n}\n");
	/* Arrays on the stack take compilers long; tcc takes NAN for no
	 * constant. */
	printf("\n#ifdef __TINYC__\n#define TABLE const\n#else\n"
	       "#define TABLE static const\n#endif\n\n%s",
	       k->calls.data);
	/* A table: called by name, all of them would become part of main, and
	 * that would take long too. */
	printf("static int (*const checks[])(void) = {\n");
	for (int i = 0; i < k->n; i++) {
		printf("\tcheck_%d,\n", i);
	}
	printf("};\n\nint\nmain(void)\n{\n\tint failed = 0;\n\n"
	       "\tfor (int i = 0; i < %d; ++i) {\n"
	       "\t\tfailed += checks[i]();\n\t}\n",
	       k->n);
	printf("\tprintf(\"%d functions, %%d values wrong\\n\", failed);\n"
	       "\treturn failed != 0;\n}\n",
	       k->n);
	strbuf_release(&helpers);
}

int
main(int argc, char **argv)
{
	struct maker k = { .m = module_new(), .state = 1 };
	const struct dialect *d = dialect_load(k.m, argc > 1 ? argv[1] : "",
					       NULL);

	if (d == NULL) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&k.m->diags.list.data[0], &s);
		fprintf(stderr, "%s\n", s.data);
		return 1;
	}
	unit_init(&k.u, k.m, d);
	strbuf_init(&k.funcs);
	strbuf_init(&k.calls);
	all_cases(&k);
	print(&k);
	strbuf_release(&k.funcs);
	strbuf_release(&k.calls);
	module_free(k.m);
	return 0;
}
