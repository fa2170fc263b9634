/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter against results worked out by hand (or by libm, rounded to
 * the type), and what it must refuse. */
#include "check.h"

#include <math.h>

#include "interp.h"
#include "rounding.h"
#include "te.h"

/* Runs "out[()] = e" and returns what was stored. */
static union number
value_of(struct module *m, const struct expr *e, bool *ok)
{
	struct func *f = func_new(m, "f");
	struct buffer_spec spec = { .name = "out", .type = e->type };
	const struct buffer *out = buffer_new(m, &spec);
	unsigned char bytes[16] = { 0 };
	struct run_arg arg = { .data = bytes };

	func_add_param(f, NULL, out);
	f->body = stmt_store(f, out, e, NULL, 0);
	*ok = func_verify(f) && interp_run(f, &arg, 1);
	return number_load(e->type, bytes, 0);
}

/* Counts the calls in told[0], and keeps what each says. */
static void
note_steps(void *ctx, int64_t taken)
{
	int64_t *told = ctx;

	told[++told[0] < 3 ? told[0] : 2] = taken;
}

static double
float_of(struct module *m, const struct expr *e)
{
	bool ok;
	double f = value_of(m, e, &ok).f;

	CHECK(ok);
	return f;
}

static int64_t
int_of(struct module *m, const struct expr *e)
{
	bool ok;
	int64_t i = value_of(m, e, &ok).i;

	CHECK(ok);
	return i;
}

static const struct expr *
raw(struct module *m, enum expr_kind kind, struct dtype t, const struct expr *a,
    const struct expr *b)
{
	struct expr payload = { .kind = kind, .type = t };
	const struct expr *args[] = { a, b };

	return expr_make(m, &payload, args, 2);
}

static int
same_float(double a, double b)
{
	return a == b ? signbit(a) == signbit(b) : isnan(a) && isnan(b);
}

static void
test_float_intrinsics(void)
{
	static const struct {
		enum intrin op;
		double (*libm)(double);
	} rows[] = {
		{ INTRIN_EXP, exp },     { INTRIN_EXP2, exp2 },
		{ INTRIN_LOG, log },     { INTRIN_LOG2, log2 },
		{ INTRIN_LOG1P, log1p }, { INTRIN_SQRT, sqrt },
		{ INTRIN_SIN, sin },     { INTRIN_COS, cos },
		{ INTRIN_TAN, tan },     { INTRIN_ASIN, asin },
		{ INTRIN_ACOS, acos },   { INTRIN_ATAN, atan },
		{ INTRIN_SINH, sinh },   { INTRIN_COSH, cosh },
		{ INTRIN_TANH, tanh },   { INTRIN_ASINH, asinh },
		{ INTRIN_ACOSH, acosh }, { INTRIN_ATANH, atanh },
		{ INTRIN_ERF, erf },     { INTRIN_FLOOR, floor },
		{ INTRIN_CEIL, ceil },   { INTRIN_TRUNC, trunc },
		{ INTRIN_ROUND, round }, { INTRIN_NEARBYINT, nearbyint },
		{ INTRIN_ABS, fabs },
	};
	static const double inputs[] = { 0.0,      -0.0,      0.5,  -0.75,
					 1.5,      2.5,       -2.5, 40.25,
					 INFINITY, -INFINITY, NAN };
	static const enum dtype_kind types[] = { DT_F32, DT_F64, DT_F16,
						 DT_BF16 };
	struct module *m = module_new();

	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
			struct dtype t = dtype_of(types[(r + i) % 4]);
			const struct expr *x = expr_float(m, t, inputs[i]);
			union number want = { .f = rows[r].libm(inputs[i]) };
			double got = float_of(m, expr_call1(m, rows[r].op, x));

			want = number_round(t, want);
			if (!CHECK(same_float(got, want.f))) {
				fprintf(stderr, "%s(%g): %g, not %g\n",
					intrin_name(rows[r].op), inputs[i], got,
					want.f);
			}
		}
	}
	module_free(m);
}

static void
test_other_floats(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32), f64 = dtype_of(DT_F64);
	const struct expr *x = expr_float(m, f32, 0.1);
	const struct expr *nan = expr_float(m, f64, NAN);
	const struct expr *one = expr_float(m, f64, 1);
	const struct expr *fma[] = { x, x, expr_float(m, f32, -0.01f) };

	/* f32 arithmetic is single, not double. */
	CHECK(float_of(m, raw(m, EXPR_MUL, f32, x, x)) ==
	      (double)(0.1f * 0.1f));
	CHECK(float_of(m, expr_call(m, INTRIN_FMA, f32, fma, 3)) ==
	      (double)fmaf(0.1f, 0.1f, -0.01f));
	CHECK(float_of(m, expr_call1(m, INTRIN_RSQRT, expr_float(m, f32, 4))) ==
	      0.5);
	CHECK(float_of(m, expr_call1(m, INTRIN_SIGMOID,
				     expr_float(m, f32, 0))) == 0.5);
	CHECK(float_of(m, expr_call1(m, INTRIN_SIGMOID,
				     expr_float(m, f32, -200))) == 0);
	CHECK(float_of(m, expr_call2(m, INTRIN_POW, expr_float(m, f64, 2),
				     expr_float(m, f64, -2))) == 0.25);
	CHECK(float_of(m, expr_call2(m, INTRIN_FMOD, expr_float(m, f64, -7),
				     expr_float(m, f64, 3))) == -1);
	CHECK(float_of(m, raw(m, EXPR_FLOORMOD, f64, expr_float(m, f64, -7),
			      expr_float(m, f64, 3))) == 2);
	CHECK(float_of(m, expr_call2(m, INTRIN_ATAN2, one, one)) ==
	      atan2(1, 1));
	CHECK(float_of(m, expr_call2(m, INTRIN_COPYSIGN, one,
				     expr_float(m, f64, -0.0))) == -1);
	CHECK(isnan(float_of(m, raw(m, EXPR_MIN, f64, nan, one))));
	CHECK(isnan(float_of(m, raw(m, EXPR_MAX, f64, one, nan))));
	CHECK_EQ(int_of(m, raw(m, EXPR_NE, dtype_of(DT_BOOL), nan, nan)), 1);
	CHECK_EQ(int_of(m, raw(m, EXPR_GE, dtype_of(DT_BOOL), nan, nan)), 0);
	CHECK_EQ(int_of(m, expr_call1(m, INTRIN_ISNAN, nan)), 1);
	CHECK_EQ(int_of(m, expr_call1(m, INTRIN_ISINF, nan)), 0);
	CHECK_EQ(int_of(m, expr_call1(m, INTRIN_ISINF,
				      expr_float(m, f64, -INFINITY))),
		 1);
	module_free(m);
}

static int64_t
call_int(struct module *m, enum intrin op, enum dtype_kind kind, int64_t a,
	 int64_t b)
{
	const struct expr *args[] = { expr_int(m, dtype_of(kind), a),
				      expr_int(m, dtype_of(kind), b) };

	return int_of(m,
		      expr_call(m, op, dtype_of(kind), args, intrin_arity(op)));
}

static int64_t
scale(struct module *m, int64_t x, int64_t multiplier, int64_t exponent)
{
	const struct expr *args[] = { expr_i32(m, x), expr_i32(m, multiplier),
				      expr_i32(m, exponent) };

	return int_of(m, expr_call(m, INTRIN_SCALE_FIXED, dtype_of(DT_I32),
				   args, 3));
}

static int64_t
scale_by(struct module *m, int64_t x, double factor)
{
	const struct expr *args[] = { expr_i32(m, x),
				      expr_float(m, dtype_of(DT_F64), factor) };

	return int_of(m, expr_call(m, INTRIN_SCALE_NEAREST, dtype_of(DT_I32),
				   args, 2));
}

static void
test_int_intrinsics(void)
{
	struct module *m = module_new();

	CHECK_EQ(call_int(m, INTRIN_BITAND, DT_U8, 12, 10), 8);
	CHECK_EQ(call_int(m, INTRIN_BITOR, DT_I32, 12, 10), 14);
	CHECK_EQ(call_int(m, INTRIN_BITXOR, DT_I64, 12, 10), 6);
	CHECK_EQ(call_int(m, INTRIN_BITNOT, DT_U8, 12, 0), 243);
	CHECK_EQ(call_int(m, INTRIN_BITNOT, DT_I8, 12, 0), -13);
	CHECK_EQ(call_int(m, INTRIN_SHL, DT_U8, 0x81, 1), 2);
	CHECK_EQ(call_int(m, INTRIN_SHL, DT_U8, 0x81, 8), 0);
	CHECK_EQ(call_int(m, INTRIN_SHL, DT_U64, 1, 64), 0);
	CHECK_EQ(call_int(m, INTRIN_SHR, DT_U8, 0x81, 7), 1);
	CHECK_EQ(call_int(m, INTRIN_SHR, DT_U8, 0x81, 9), 0);
	CHECK_EQ(call_int(m, INTRIN_SHR, DT_I8, -128, 3), -16);
	CHECK_EQ(call_int(m, INTRIN_MUL_HIGH, DT_I32, INT32_MIN, INT32_MIN),
		 1 << 30);
	CHECK_EQ(call_int(m, INTRIN_MUL_HIGH, DT_I32, INT32_MAX, INT32_MIN),
		 -(1 << 30));
	CHECK_EQ(call_int(m, INTRIN_MUL_HIGH, DT_I32, -1, 1), -1);
	CHECK_EQ(call_int(m, INTRIN_MUL_HIGH, DT_I32, 65536, 65535), 0);
	CHECK_EQ(call_int(m, INTRIN_POPCOUNT, DT_I8, -1, 0), 8);
	CHECK_EQ(call_int(m, INTRIN_POPCOUNT, DT_U64, -1, 0), 64);
	CHECK_EQ(call_int(m, INTRIN_ABS, DT_I8, -128, 0), -128);
	CHECK_EQ(call_int(m, INTRIN_ABS, DT_I64, -9, 0), 9);
	CHECK_EQ(call_int(m, INTRIN_POW, DT_I32, -3, 3), -27);
	CHECK_EQ(call_int(m, INTRIN_POW, DT_I32, 2, 32), 0);
	CHECK_EQ(call_int(m, INTRIN_POW, DT_I32, 2, -1), 0);
	CHECK_EQ(call_int(m, INTRIN_POW, DT_I32, -1, -3), -1);
	CHECK_EQ(call_int(m, INTRIN_FMOD, DT_I32, -7, 3), -1);
	CHECK_EQ(call_int(m, INTRIN_FLOOR, DT_I32, -7, 0), -7);
	CHECK_EQ(call_int(m, INTRIN_LIKELY, DT_BOOL, 1, 0), 1);
	CHECK_EQ(scale_by(m, 5, 0.5), 2); /* half to even */
	CHECK_EQ(scale_by(m, 7, 0.5), 4);
	CHECK_EQ(scale_by(m, -1, 1e300), INT32_MIN);
	CHECK_EQ(scale_by(m, 1, 1e300), INT32_MAX);
	CHECK_EQ(scale_by(m, 1, NAN), INT32_MIN);
	CHECK_EQ(scale(m, 3, 1 << 30, 0), 2); /* 1.5: half up */
	CHECK_EQ(scale(m, -3, 1 << 30, 0), -1);
	CHECK_EQ(scale(m, 6, 1 << 30, -1), 2); /* half away from zero */
	CHECK_EQ(scale(m, -6, 1 << 30, -1), -2);
	CHECK_EQ(scale(m, 5, 1 << 30, 3), 20);
	module_free(m);
}

static int64_t
convert(struct module *m, enum dtype_kind to, double v)
{
	const struct expr *x = expr_float(m, dtype_of(DT_F64), v);

	return int_of(m, expr_call(m, INTRIN_TO_INT, dtype_of(to), &x, 1));
}

static void
test_conversions(void)
{
	struct module *m = module_new();
	const struct expr *one = expr_float(m, dtype_of(DT_F32), 1);

	CHECK_EQ(convert(m, DT_I32, -2.9), -2);
	CHECK_EQ(convert(m, DT_I32, 1e20), INT32_MAX);
	CHECK_EQ(convert(m, DT_I32, -INFINITY), INT32_MIN);
	CHECK_EQ(convert(m, DT_I32, NAN), 0);
	CHECK_EQ(convert(m, DT_U8, -3), 0);
	CHECK_EQ(convert(m, DT_U8, 300), 255);
	CHECK_EQ(convert(m, DT_I64, 1e30), INT64_MAX);
	CHECK_EQ(int_of(m, expr_call(m, INTRIN_REINTERPRET, dtype_of(DT_I32),
				     &one, 1)),
		 0x3f800000);
	module_free(m);
}

/* i8 arithmetic at the edges: every operator wraps or is refused. */
static void
test_int_arithmetic(void)
{
	static const struct {
		enum expr_kind kind;
		int a, b, want;
	} rows[] = {
		{ EXPR_ADD, 127, 1, -128 },     { EXPR_SUB, -128, 1, 127 },
		{ EXPR_MUL, 64, 4, 0 },         { EXPR_DIV, -7, 2, -3 },
		{ EXPR_DIV, -128, -1, -128 },   { EXPR_TRUNCMOD, -7, 2, -1 },
		{ EXPR_FLOORDIV, -7, 2, -4 },   { EXPR_FLOORMOD, -7, 2, 1 },
		{ EXPR_FLOORDIV, 7, -2, -4 },   { EXPR_FLOORMOD, 7, -2, -1 },
		{ EXPR_FLOORMOD, -128, -1, 0 }, { EXPR_MIN, -3, 2, -3 },
		{ EXPR_MAX, -3, 2, 2 },
	};
	struct module *m = module_new();
	struct dtype i8 = dtype_of(DT_I8), u8 = dtype_of(DT_U8);
	bool ok;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_EQ(int_of(m, raw(m, rows[i].kind, i8,
				       expr_int(m, i8, rows[i].a),
				       expr_int(m, i8, rows[i].b))),
			 rows[i].want);
	}
	CHECK_EQ(int_of(m, raw(m, EXPR_SUB, u8, expr_int(m, u8, 1),
			       expr_int(m, u8, 2))),
		 255);
	CHECK_EQ(int_of(m, raw(m, EXPR_MAX, u8, expr_int(m, u8, 200),
			       expr_int(m, u8, 2))),
		 200);
	CHECK_EQ(int_of(m, raw(m, EXPR_LT, dtype_of(DT_BOOL),
			       expr_int(m, u8, 200), expr_int(m, u8, 2))),
		 0);
	value_of(m,
		 raw(m, EXPR_FLOORMOD, i8, expr_int(m, i8, 1),
		     expr_int(m, i8, 0)),
		 &ok);
	CHECK(!ok);
	CHECK_EQ(m->diags.list.data[0].id, DIAG_INTERPRET);
	module_free(m);
}

/* Every dtype: load, add one, store. */
static void
test_every_dtype(void)
{
	struct module *m = module_new();

	for (int kind = DT_BOOL + 1; kind < DT_HANDLE; kind++) {
		struct dtype t = dtype_of((enum dtype_kind)kind);
		const struct expr *shape[] = { expr_i32(m, 2) };
		struct te_tensor *a = te_placeholder(m, "a", t, 1, shape);
		struct iter_var *axes = te_axes(m, 1, shape, NULL);
		const struct expr *x = te_at(m, a, &axes->var->expr, 1);
		struct te_tensor *b = te_compute(m, "b", "elementwise", 1, axes,
						 expr_add(m, x,
							  expr_const(m, t, 1)),
						 &a, 1);
		struct te_tensor *params[] = { a, b };
		struct func *f = te_to_func(m, "f", params, 2);
		unsigned char in[16], out[16];
		struct run_arg args[] = { { .data = in }, { .data = out } };

		for (int i = 0; i < 2; i++) {
			union number v = number_cast(t, dtype_of(DT_I32),
						     (union number){ .i = 2 +
									  i });

			number_store(t, in, (size_t)i, v);
		}
		CHECK(func_verify(f) && interp_run(f, args, 2));
		for (int i = 0; i < 2; i++) {
			union number v = number_cast(dtype_of(DT_I64), t,
						     number_load(t, out,
								 (size_t)i));
			union number sum = { .i = 3 + i }; /* may wrap */

			sum = number_cast(t, dtype_of(DT_I64), sum);
			CHECK_EQ(v.i, number_cast(dtype_of(DT_I64), t, sum).i);
		}
	}
	module_free(m);
}

/* sum over k of A[i, k], with n rows given at run time. */
static void
test_reduction(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32);
	struct var *n = var_new_dim(m, "n", 1, 8);
	const struct expr *shape[] = { n->expr, expr_i32(m, 3) };
	struct te_tensor *a = te_placeholder(m, "a", f32, 2, shape);
	struct iter_var *axes = te_axes(m, 1, shape, NULL);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, 3));
	const struct expr *at[] = { axes->var->expr, k.var->expr };
	struct te_tensor *b = te_compute(m, "b", "reduce", 1, axes,
					 te_sum(m, te_at(m, a, at, 2), &k, 1),
					 &a, 1);
	struct te_tensor *params[] = { a, b };
	struct func *f = te_to_func(m, "f", params, 2);
	float in[] = { 1, 2, 3, 4, 5, 6 }, out[] = { NAN, NAN };
	struct run_arg args[] = { { .data = in },
				  { .data = out },
				  { .scalar = 2 } };

	CHECK(interp_run(f, args, 3));
	CHECK(out[0] == 6 && out[1] == 15);
	CHECK(!interp_run(f, args, 2));
	module_free(m);
}

static const char *
last_message(const struct module *m)
{
	return m->diags.list.n == 0
		       ? ""
		       : m->diags.list.data[m->diags.list.n - 1].message;
}

/* The overflows of a run with one array of floats, of which the function changes the
 * first; the executor must find the same ones. */
static bool
overflows(struct func *f, const struct run_arg *arg, struct run_overflow *out)
{
	float *data = arg->data, first = data[0];
	struct run_overflow again;
	struct arena arena;
	const struct exec *x;
	bool ok;

	arena_init(&arena);
	x = exec_compile(&arena, f);
	ok = interp_run_overflow(f, arg, 1, out);
	data[0] = first;
	ok = ok && x != NULL && exec_run_overflow(x, arg, 1, &again) &&
	     again.product == out->product && again.sum == out->sum;
	arena_release(&arena);
	return ok;
}

static void
test_refused(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32);
	const struct expr *four = expr_i32(m, 4);
	struct buffer_spec spec = {
		.name = "a", .type = f32, .ndim = 1, .shape = &four
	};
	const struct buffer *a = buffer_new(m, &spec);
	const struct expr *zero = expr_float(m, f32, 0);
	const struct expr *i = expr_i32(m, 4), *name;
	struct func *f = func_new(m, "f");
	float data[4];
	struct run_arg arg = { .data = data };

	func_add_param(f, NULL, a);
	f->body = stmt_store(f, a, zero, &i, 1);
	CHECK(!interp_run(f, &arg, 1));
	CHECK_STR_EQ(last_message(m),
		     "index 4 of dimension 0 of 'a' is outside of 0..3");

	spec.name = "acc";
	spec.scope = "local";
	const struct buffer *acc = buffer_new(m, &spec);

	i = expr_i32(m, 1);
	f->body = stmt_alloc(f, acc,
			     stmt_store(f, a, expr_load(m, acc, &i, 1), &i, 1));
	CHECK(!interp_run(f, &arg, 1));
	CHECK_STR_EQ(last_message(m),
		     "element 1 of 'acc' is read before it is written");

	name = expr_string(m, "puts");
	f->body = stmt_evaluate(f, expr_call(m, INTRIN_CALL_EXTERN,
					     dtype_of(DT_I32), &name, 1));
	CHECK(!interp_run(f, &arg, 1));
	f->body = stmt_assert(f, expr_bool(m, false), "no luck");
	CHECK(!interp_run(f, &arg, 1));
	CHECK_STR_EQ(last_message(m), "assertion failed: no luck");

	/* The filling of a large local array takes steps. */
	const struct expr *many = expr_i32(m, 1 << 20), *first = expr_i32(m, 0);
	struct run_steps steps = { .left = 10000 };

	spec.shape = &many;
	acc = buffer_new(m, &spec);
	f->body = stmt_alloc(f, acc, stmt_store(f, a, zero, &first, 1));
	CHECK(!interp_run_steps(f, &arg, 1, &steps));
	CHECK_STR_EQ(last_message(m), "its run takes too many steps");
	CHECK(steps.left < 0);
	steps.left = 100000;
	CHECK(interp_run_steps(f, &arg, 1, &steps));

	/* A run notes the overflow of a product, and where it is added. */
	const struct expr *x = expr_load(m, a, &first, 1);
	const struct expr *sum = expr_sub(m,
					  expr_mul(m, expr_float(m, f32, 4), x),
					  x);
	struct run_overflow overflow;

	f->body = stmt_store(f, a, sum, &first, 1);
	CHECK(func_contracts(f));
	for (int big = 0; big < 2; big++) {
		data[0] = big ? 2e38f : 2e30f;
		CHECK(overflows(f, &arg, &overflow));
		CHECK(overflow.product == big && overflow.sum == big);
	}
	f->body = stmt_store(f, a, expr_mul(m, x, x), &first, 1);
	CHECK(!func_contracts(f));
	data[0] = 2e38f;
	CHECK(overflows(f, &arg, &overflow));
	CHECK(overflow.product && !overflow.sum);
	data[0] = INFINITY;
	CHECK(overflows(f, &arg, &overflow));
	CHECK(!overflow.product && !overflow.sum);

	/* A run tells how many steps it has taken. */
	int64_t told[3] = { 0 };
	struct var *loop = var_new(m, "loop", dtype_of(DT_I32));

	f->body = stmt_for(f, loop, first, expr_i32(m, 500), FOR_SERIAL,
			   stmt_store(f, a, zero, &first, 1));
	steps = (struct run_steps){
		.left = 1000, .tell = note_steps, .ctx = told, .every = 200
	};
	CHECK(interp_run_steps(f, &arg, 1, &steps));
	CHECK(told[0] == 2 && told[1] == 201 && told[2] == 402);
	CHECK(steps.left == 499);
	module_free(m);
}

/* What the interpreter refuses of a function whose source will run. */
static void
test_source(void)
{
	struct module *m = module_new();
	struct dtype i32 = dtype_of(DT_I32);
	const struct expr *four = expr_i32(m, 4), *two = expr_i32(m, 2);
	struct buffer_spec spec = {
		.name = "a", .type = i32, .ndim = 1, .shape = &four
	};
	const struct buffer *a = buffer_new(m, &spec);
	const struct buffer *w, *x;
	struct var *n = var_new(m, "n", i32);
	struct func *f = func_new(m, "f"), *g = func_new(m, "g");
	struct run_callee callee = { .name = "g", .func = g };
	int64_t bytes[] = { 16, 0, 16 };
	struct run_source how = { .ending = ", as it runs",
				  .n_given = 2,
				  .bytes = bytes,
				  .callees = &callee,
				  .n_callees = 1 };
	int32_t data[4] = { 0 }, work[4] = { 0 };
	struct run_arg args[] = { { .data = data },
				  { .scalar = INT32_MAX },
				  { .data = work } };
	const struct expr *at = expr_i32(m, 3), *call[3];

	spec.name = "w";
	w = buffer_new(m, &spec);
	func_add_param(f, NULL, a);
	func_add_param(f, n, NULL);
	func_add_param(f, NULL, w);
	f->body = stmt_store(f, a, at, &at, 1);
	CHECK(interp_run_source(f, args, 3, &how));
	args[1].scalar = INT64_C(1) << 32;
	CHECK(!interp_run(f, args, 3));
	CHECK_STR_EQ(last_message(m),
		     "its 'n' is 4294967296, which int32 does not hold");
	args[1].scalar = INT32_MAX;
	bytes[0] = 12;
	CHECK(interp_run(f, args, 3));
	CHECK(!interp_run_source(f, args, 3, &how));
	CHECK_STR_EQ(last_message(m),
		     "element 3 of 'a' is outside of its array of 12 bytes, "
		     "as it runs");
	bytes[0] = 16;
	how.steps = &(struct run_steps){ .left = 3 };
	f->body = stmt_for(f, var_new(m, "i", i32), expr_i32(m, 0),
			   expr_i32(m, 9), FOR_SERIAL, f->body);
	CHECK(!interp_run_source(f, args, 3, &how));
	CHECK_STR_EQ(last_message(m),
		     "its run takes too many steps, as it runs");
	how.steps = NULL;
	f->body = stmt_store(f, a, expr_load(m, w, &at, 1), &at, 1);
	CHECK(!interp_run_source(f, args, 3, &how));
	CHECK_STR_EQ(last_message(m),
		     "element 3 of 'w' is read before it is written, as it "
		     "runs");
	at = expr_add(m, n->expr, expr_i32(m, 1));
	f->body = stmt_if(f, expr_lt(m, at, two),
			  stmt_store(f, a, two, &two, 1), NULL);
	CHECK(!interp_run_source(f, args, 3, &how));
	CHECK_STR_EQ(last_message(m),
		     "a result of indices and sizes, 2147483647 + 1, leaves "
		     "int32, as it runs");
	f->body = stmt_for(f, var_new(m, "i", i32), n->expr, two, FOR_SERIAL,
			   stmt_store(f, a, two, &two, 1));
	CHECK(!interp_run_source(f, args, 3, &how));
	CHECK_STR_EQ(last_message(m),
		     "the loop of 'i' has 2 iterations from 2147483647, which "
		     "int32 does not hold, as it runs");

	/* Calls: what a callee writes is written, and it gets what it needs. */
	spec.name = "x";
	spec.shape = &two;
	x = buffer_new(m, &spec);
	func_add_param(g, NULL, x);
	at = expr_i32(m, 1);
	g->body = stmt_store(g, x, two, &at, 1);
	for (int from = 0; from < 4; from++) {
		struct stmt *list[2];

		at = expr_i32(m, from);
		call[0] = expr_string(m, "g");
		at = expr_load(m, w, &at, 1);
		call[1] = expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE),
				    &at, 1);
		list[0] = stmt_evaluate(f,
					expr_call(m, INTRIN_CALL_FUNC,
						  dtype_of(DT_VOID), call, 2));
		at = expr_i32(m, 3);
		list[1] = stmt_store(f, a, expr_load(m, w, &at, 1), &at, 1);
		f->body = stmt_seq(f, list, 2);
		CHECK(interp_run_source(f, args, 3, &how) == (from == 2));
	}
	CHECK_STR_EQ(last_message(m),
		     "its caller gives 'x' an array of 4 bytes, and its shape "
		     "has 8, as it runs");

	/* A call passes a float as it is. */
	{
		struct var *scale = var_new(m, "scale", dtype_of(DT_F32));
		struct func *h = func_new(m, "h");

		func_add_param(h, NULL, a);
		func_add_param(h, scale, NULL);
		at = expr_i32(m, 0);
		h->body = stmt_store(
			h, a,
			expr_cast(m, i32,
				  expr_mul(m, scale->expr,
					   expr_float(m, dtype_of(DT_F32), 8))),
			&at, 1);
		callee = (struct run_callee){ .name = "h", .func = h };
		call[0] = expr_string(m, "h");
		at = expr_load(m, a, &at, 1);
		call[1] = expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE),
				    &at, 1);
		call[2] = expr_float(m, dtype_of(DT_F32), 0.5);
		f->body = stmt_evaluate(f,
					expr_call(m, INTRIN_CALL_FUNC,
						  dtype_of(DT_VOID), call, 3));
		CHECK(interp_run_source(f, args, 3, &how));
		CHECK_EQ(data[0], 4);
	}

	/* The size of an array that 64 bits do not hold. */
	{
		const struct expr *huge = expr_int(m, dtype_of(DT_I64),
						   INT64_C(1) << 32);
		const struct expr *sizes[] = { huge, huge };

		spec = (struct buffer_spec){
			.name = "h", .type = i32, .ndim = 2, .shape = sizes
		};
		f->body = stmt_alloc(f, buffer_new(m, &spec),
				     stmt_store(f, a, two, &two, 1));
		CHECK(!interp_run(f, args, 3));
	}
	module_free(m);
}

/* An entry that carves a workspace and calls a kernel on vectors. */
static void
test_calls_and_vectors(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32);
	struct dtype ptr = dtype_of(DT_HANDLE), i32 = dtype_of(DT_I32);
	const struct expr *eight = expr_i32(m, 8);
	struct buffer_spec spec = {
		.name = "x", .type = f32, .ndim = 1, .shape = &eight
	};
	const struct buffer *x = buffer_new(m, &spec);
	const struct buffer *y = buffer_new(m, &spec);
	const struct expr *ramp = expr_ramp(m, expr_i32(m, 7), expr_i32(m, -1),
					    8);
	const struct expr *all = expr_ramp(m, expr_i32(m, 0), expr_i32(m, 1),
					   8);
	struct func *k = func_new(m, "reverse_twice");
	struct func *f = func_new(m, "entry");
	struct var *ws = var_new(m, "ws", ptr), *t = var_new(m, "t", ptr);
	struct var *in = var_new(m, "in", ptr), *status;
	const struct expr *load = expr_load(m, x, &ramp, 1);
	const struct expr *offset[] = { ws->expr, expr_i32(m, 32) };
	const struct expr *call[] = { expr_string(m, "reverse_twice"), in->expr,
				      t->expr };
	float data[8], work[16];
	struct run_arg args[] = { { .data = data }, { .data = work } };

	func_add_param(k, NULL, x);
	func_add_param(k, NULL, y);
	k->body = stmt_store(k, y,
			     expr_mul(m, load,
				      expr_broadcast(m, expr_float(m, f32, 2),
						     8)),
			     &all, 1);
	vec_push(&m->arena, &m->funcs, k);
	func_add_param(f, in, NULL);
	func_add_param(f, ws, NULL);
	f->ret = i32;
	status = var_new(m, "status", i32);
	f->body = stmt_let(f, t, expr_call(m, INTRIN_PTR_ADD, ptr, offset, 2),
			   stmt_let(f, status,
				    expr_call(m, INTRIN_CALL_FUNC, i32, call,
					      3),
				    stmt_return(f, status->expr)));
	for (int i = 0; i < 8; i++) {
		data[i] = (float)i;
	}
	CHECK(func_verify(k) && func_verify(f));
	CHECK(!interp_run(f, args, 2));
	CHECK_STR_EQ(last_message(m),
		     "argument 1 of 'reverse_twice' is not an array, but the "
		     "function takes one");
	CHECK(interp_run_entry(f, args, 2));
	CHECK(work[8] == 14 && work[15] == 0);
	module_free(m);
}

/* An array of 8 floats between others, whose values show each write outside. */
struct guarded {
	float before[8], inside[8], after[8];
};

static struct guarded
guarded(void)
{
	struct guarded g;

	for (int i = 0; i < 8; i++) {
		g.before[i] = g.after[i] = -1;
		g.inside[i] = (float)i;
	}
	return g;
}

/* y[at] = x[from] for i in range(8), where `at` and `from` are expressions of i,
 * under a condition unless it is NULL. */
static struct func *
copying(struct module *m, struct var *i, const struct expr *at,
	const struct expr *from, const struct expr *condition)
{
	const struct expr *eight = expr_i32(m, 8);
	struct buffer_spec spec = { .name = "x",
				    .type = dtype_of(DT_F32),
				    .ndim = 1,
				    .shape = &eight };
	const struct buffer *x = buffer_new(m, &spec), *y;
	struct func *f = func_new(m, "f");
	struct stmt *body;

	spec.name = "y";
	y = buffer_new(m, &spec);
	func_add_param(f, NULL, x);
	func_add_param(f, NULL, y);
	body = stmt_store(f, y, expr_load(m, x, &from, 1), &at, 1);
	if (condition != NULL) {
		body = stmt_if(f, condition, body, NULL);
	}
	f->body = stmt_for(f, i, expr_i32(m, 0), eight, FOR_SERIAL, body);
	return f;
}

/* Neither machine accesses memory outside of the arrays, whatever was proven
 * before; both run the function if it has no such access. */
static void
check_accesses(struct module *m, struct func *f, bool good)
{
	struct guarded x = guarded(), y = guarded(), fast = y;
	struct run_arg args[2] = { { .data = x.inside }, { .data = y.inside } };
	struct run_arg again[2] = { { .data = x.inside },
				    { .data = fast.inside } };
	struct arena a;
	const struct exec *exec;

	arena_init(&a);
	exec = exec_compile(&a, f);
	if (CHECK(exec != NULL)) {
		CHECK_EQ(exec_run(exec, again, 2), good);
		CHECK_EQ(interp_run(f, args, 2), good);
		if (!good) {
			CHECK(strstr(last_message(m), "is outside of") != NULL);
		}
	}
	arena_release(&a);
	for (int i = 0; i < 8; i++) {
		CHECK(y.before[i] == -1 && y.after[i] == -1);
		CHECK(fast.before[i] == -1 && fast.after[i] == -1);
	}
}

static void
test_accesses(void)
{
	struct module *m = module_new();
	struct dtype i32 = dtype_of(DT_I32);
	struct var *v = var_new(m, "i", i32);
	const struct expr *i = v->expr, *one = expr_i32(m, 1);
	const struct expr *up = expr_add(m, i, one);
	const struct expr *down = expr_sub(m, i, one);
	const struct expr *twice = expr_mul(m, i, expr_i32(m, 2));
	/* no multiple of i: the addresses are gathered */
	const struct expr *square = expr_mul(m, i, i);
	const struct expr *far = expr_i32(m, 1000000);
	const struct expr *bound = expr_i32(m, 7);

	check_accesses(m, copying(m, v, i, i, NULL), true);
	check_accesses(m, copying(m, v, i, expr_sub(m, bound, i), NULL), true);
	check_accesses(m, copying(m, v, up, i, NULL), false);
	check_accesses(m, copying(m, v, down, i, NULL), false);
	check_accesses(m, copying(m, v, i, up, NULL), false);
	check_accesses(m, copying(m, v, i, down, NULL), false);
	check_accesses(m, copying(m, v, twice, i, NULL), false);
	check_accesses(m, copying(m, v, i, twice, NULL), false);
	check_accesses(m, copying(m, v, square, i, NULL), false);
	check_accesses(m, copying(m, v, i, square, NULL), false);
	check_accesses(m, copying(m, v, i, far, NULL), false);
	check_accesses(m, copying(m, v, expr_neg(m, far), i, NULL), false);
	/* only the iterations that the condition leaves count */
	check_accesses(m, copying(m, v, up, i, expr_lt(m, i, bound)), true);
	check_accesses(m,
		       copying(m, v, i, square, expr_lt(m, i, expr_i32(m, 3))),
		       true);
	check_accesses(m,
		       copying(m, v, i, square, expr_lt(m, i, expr_i32(m, 4))),
		       false);
	check_accesses(m, copying(m, v, down, i, expr_lt(m, i, bound)), false);
	module_free(m);
}

/* An array of fewer bytes than the parameter's shape has. */
static void
test_bytes(void)
{
	struct module *m = module_new();
	struct var *v = var_new(m, "i", dtype_of(DT_I32));
	struct func *f = copying(m, v, v->expr, v->expr, NULL);
	struct guarded x = guarded(), y = guarded();
	struct run_arg args[2] = { { .data = x.inside, .bytes = 32 },
				   { .data = y.inside, .bytes = 31 } };
	struct arena a;

	arena_init(&a);
	CHECK(!exec_run(exec_compile(&a, f), args, 2));
	CHECK(!interp_run(f, args, 2));
	CHECK_STR_EQ(last_message(m),
		     "the array for 'y' has 31 bytes, and its shape 32");
	args[1].bytes = 32;
	CHECK(exec_run(exec_compile(&a, f), args, 2));
	CHECK(interp_run(f, args, 2));
	arena_release(&a);
	module_free(m);
}

/* y = the box of x [4][8] from (row, 4) on, of rows by 8; does it run? */
static bool
run_box(struct module *m, int row, int rows, const float *x, float *y)
{
	struct dtype f32 = dtype_of(DT_F32);
	const struct expr *sizes[2] = { expr_i32(m, 4), expr_i32(m, 8) };
	const struct expr *zero[2] = { expr_i32(m, 0), expr_i32(m, 0) };
	struct buffer_spec from = {
		.name = "x", .type = f32, .ndim = 2, .shape = sizes
	};
	struct buffer_spec to = { .name = "y",
				  .type = f32,
				  .ndim = 2,
				  .shape = (const struct expr *[]){
					  expr_i32(m, 3), sizes[1] } };
	const struct buffer *bx = buffer_new(m, &from);
	const struct buffer *by = buffer_new(m, &to);
	const struct expr *first[2] = { expr_load(m, by, zero, 2),
					expr_load(m, bx, zero, 2) };
	const struct expr *args[10] = {
		expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE), &first[0],
			  1),
		expr_call(m, INTRIN_READ_ADDRESS_OF, dtype_of(DT_HANDLE),
			  &first[1], 1),
		sizes[0],
		sizes[1],
		sizes[1],
		expr_i32(m, 1),
		expr_i32(m, row),
		sizes[0],
		expr_i32(m, rows),
		sizes[1],
	};
	struct func *f = func_new(m, "f");
	struct run_arg data[2] = { { .read = x }, { .data = y } };

	func_add_param(f, NULL, bx);
	func_add_param(f, NULL, by);
	f->body = stmt_evaluate(f, expr_call(m, INTRIN_COPY_BOX,
					     dtype_of(DT_VOID), args, 10));
	CHECK(func_verify(f));
	return interp_run(f, data, 2);
}

static void
test_boxes(void)
{
	struct module *m = module_new();
	float x[32], y[24];

	for (int i = 0; i < 32; i++) {
		x[i] = (float)(i + 1);
	}
	memset(y, -1, sizeof y);
	CHECK(run_box(m, 2, 3, x, y));
	for (int i = 0; i < 24; i++) {
		int row = 2 + i / 8, column = 4 + i % 8;

		CHECK(y[i] ==
		      (row < 4 && column < 8 ? x[8 * row + column] : 0));
	}
	CHECK(run_box(m, -1, 2, x, y));
	CHECK(y[0] == 0 && y[7] == 0 && y[8] == 5 && y[12] == 0);
	CHECK(!run_box(m, 0, 4, x, y));
	CHECK_STR_EQ(last_message(m), "a box exceeds 'y' or 'x'");
	module_free(m);
}

int
main(void)
{
	test_accesses();
	test_bytes();
	test_boxes();
	test_float_intrinsics();
	test_other_floats();
	test_int_intrinsics();
	test_conversions();
	test_int_arithmetic();
	test_every_dtype();
	test_reduction();
	test_refused();
	test_source();
	test_calls_and_vectors();
	return check_done();
}
