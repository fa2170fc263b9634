/* SPDX-License-Identifier: Apache-2.0 */
/* The script printer, to the character. */
#include "check.h"

#include "schedule.h"
#include "size_words.h"
#include "te.h"

static void
check_print(const struct func *f, enum script_version version, const char *want)
{
	struct strbuf out;

	strbuf_init(&out);
	func_print(f, version, &out);
	CHECK_STR_EQ(out.data, want);
	strbuf_release(&out);
}

static struct func *
add_one(struct module *m)
{
	struct dtype f32 = dtype_of(DT_F32);
	const struct expr *shape[] = { expr_i32(m, 8) };
	struct te_tensor *a = te_placeholder(m, "A", f32, 1, shape);
	struct iter_var *axes = te_axes(m, 1, shape, NULL);
	const struct expr *body = expr_add(m,
					   te_at(m, a, &axes[0].var->expr, 1),
					   expr_float(m, f32, 1));
	struct te_tensor *params[] = { a, NULL };

	params[1] = te_compute(m, "B", "elementwise", 1, axes, body, &a, 1);

	struct func *f = te_to_func(m, "main", params, 2);

	func_set_note(f, "global_symbol", expr_string(m, "main"));
	func_set_note(f, "tir.noalias", expr_bool(m, true));
	return f;
}

static void
test_add_one(void)
{
	struct module *m = module_new();
	struct func *f = add_one(m);
	struct strbuf out;

	CHECK(func_verify(f));
	vec_push(&m->arena, &m->funcs, f);
	strbuf_init(&out);
	module_print(m, SCRIPT_OLD, &out);
	CHECK_STR_EQ(out.data,
		     "# from tvm.script import tir as T\n"
		     "@tvm.script.ir_module\n"
		     "class Module:\n"
		     "    @T.prim_func\n"
		     "    def main(A: T.Buffer[8, \"float32\"], "
		     "B: T.Buffer[8, \"float32\"]) -> None:\n"
		     "        # function attr dict\n"
		     "        T.func_attr({\"global_symbol\": \"main\", "
		     "\"tir.noalias\": True})\n"
		     "        # body\n"
		     "        # with T.block(\"root\")\n"
		     "        for i0 in T.serial(8):\n"
		     "            with T.block(\"B\"):\n"
		     "                i0_1 = T.axis.spatial(8, i0)\n"
		     "                T.reads(A[i0_1])\n"
		     "                T.writes(B[i0_1])\n"
		     "                B[i0_1] = A[i0_1] + T.float32(1)\n");
	strbuf_release(&out);
	strbuf_init(&out);
	module_print(m, SCRIPT_CURRENT, &out);
	CHECK_STR_EQ(out.data,
		     "# from tvm.script import ir as I\n"
		     "# from tvm.script import tir as T\n"
		     "\n"
		     "@I.ir_module\n"
		     "class Module:\n"
		     "    @T.prim_func\n"
		     "    def main(A: T.Buffer((8,), \"float32\"), "
		     "B: T.Buffer((8,), \"float32\")):\n"
		     "        T.func_attr({\"global_symbol\": \"main\", "
		     "\"tir.noalias\": T.bool(True)})\n"
		     "        # with T.sblock(\"root\"):\n"
		     "        for i0 in range(8):\n"
		     "            with T.sblock(\"B\"):\n"
		     "                v_i0 = T.axis.spatial(8, i0)\n"
		     "                T.reads(A[v_i0])\n"
		     "                T.writes(B[v_i0])\n"
		     "                B[v_i0] = A[v_i0] + T.float32(1)\n");
	strbuf_release(&out);
	module_free(m);
}

/* The same after split, reorder and bind: a schedule's names and loops. */
static void
check_body(const struct func *f, const char *want)
{
	struct strbuf out;
	const char *body;

	strbuf_init(&out);
	func_print(f, SCRIPT_OLD, &out);
	body = strstr(out.data, "    for ");
	CHECK_STR_EQ(body, want);
	strbuf_release(&out);
}

static void
test_scheduled(void)
{
	struct module *m = module_new();
	struct func *f = add_one(m);
	struct sched s;
	int *loops, n, i[3];
	int64_t factors[] = { 2, 2, 2 };

	sched_init(&s, f);
	CHECK(sched_get_loops(&s, sched_get_block(&s, "B"), &loops, &n));
	CHECK_EQ(n, 1);
	CHECK(sched_split(&s, loops[0], factors, 3, i));
	check_body(f,
		   "    for i0_0, i0_1, i0_2 in T.grid(2, 2, 2):\n"
		   "        with T.block(\"B\"):\n"
		   "            i0 = T.axis.spatial(8, i0_0 * 4 + i0_1 * 2 + "
		   "i0_2)\n"
		   "            T.reads(A[i0])\n"
		   "            T.writes(B[i0])\n"
		   "            B[i0] = A[i0] + T.float32(1)\n");

	int order[] = { i[0], i[2], i[1] };

	CHECK(sched_reorder(&s, order, 3));
	CHECK(sched_bind(&s, i[0], "blockIdx.x"));
	CHECK(sched_bind(&s, i[2], "threadIdx.x"));
	check_body(f, "    for i0_0 in T.thread_binding(2, "
		      "thread=\"blockIdx.x\"):\n"
		      "        for i0_2 in T.thread_binding(2, "
		      "thread=\"threadIdx.x\"):\n"
		      "            for i0_1 in T.serial(2):\n"
		      "                with T.block(\"B\"):\n"
		      "                    i0 = T.axis.spatial(8, i0_0 * 4 + "
		      "i0_1 * 2 + i0_2)\n"
		      "                    T.reads(A[i0])\n"
		      "                    T.writes(B[i0])\n"
		      "                    B[i0] = A[i0] + T.float32(1)\n");
	CHECK(func_verify(f));
	module_free(m);
}

/* Sizes as parameters, an intermediate buffer, a reduction. */
static void
test_symbolic_matmul(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32);
	struct var *n = var_new_dim(m, "n", 1, 64);
	const struct expr *a_shape[] = { n->expr, expr_i32(m, 16) };
	const struct expr *b_shape[] = { expr_i32(m, 16), expr_i32(m, 8) };
	const struct expr *c_shape[] = { n->expr, expr_i32(m, 8) };
	struct te_tensor *a = te_placeholder(m, "A", f32, 2, a_shape);
	struct te_tensor *b = te_placeholder(m, "B", f32, 2, b_shape);
	struct te_tensor *in[] = { a, b };
	struct iter_var *ij = te_axes(m, 2, c_shape,
				      (const char *const[]){ "i", "j" });
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, 16));
	const struct expr *a_at[] = { ij[0].var->expr, k.var->expr };
	const struct expr *b_at[] = { k.var->expr, ij[1].var->expr };
	struct te_tensor *c = te_compute(m, "C", "matmul", 2, ij,
					 te_sum(m,
						expr_mul(m,
							 te_at(m, a, a_at, 2),
							 te_at(m, b, b_at, 2)),
						&k, 1),
					 in, 2);
	struct iter_var *xy = te_axes(m, 2, c_shape,
				      (const char *const[]){ "i", "j" });
	const struct expr *at[] = { xy[0].var->expr, xy[1].var->expr };
	struct te_tensor *d = te_compute(m, "D", "relu", 2, xy,
					 expr_max(m, te_at(m, c, at, 2),
						  expr_float(m, f32, 0)),
					 &c, 1);
	struct te_tensor *params[] = { a, b, d };
	struct func *f = te_to_func(m, "main", params, 3);

	CHECK(func_verify(f));
	check_print(
		f, SCRIPT_CURRENT,
		"# from tvm.script import tir as T\n"
		"@T.prim_func\n"
		"def main(var_A: T.handle, B: T.Buffer((16, 8), \"float32\"), "
		"var_D: T.handle, n: T.int32):\n"
		"    T.func_attr({\"tir_var_lower_bound\": {\"n\": 1}, "
		"\"tir_var_upper_bound\": {\"n\": 64}})\n"
		"    A = T.match_buffer(var_A, (n, 16), \"float32\")\n"
		"    D = T.match_buffer(var_D, (n, 8), \"float32\")\n"
		"    # with T.sblock(\"root\"):\n"
		"    C = T.sblock_alloc_buffer((n, 8), \"float32\")\n"
		"    for i, j, k in T.grid(n, 8, 16):\n"
		"        with T.sblock(\"C\"):\n"
		"            v_i, v_j, v_k = T.axis.remap(\"SSR\", [i, j, k])\n"
		"            T.reads(A[v_i, v_k], B[v_k, v_j])\n"
		"            T.writes(C[v_i, v_j])\n"
		"            with T.init():\n"
		"                C[v_i, v_j] = T.float32(0)\n"
		"            C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * "
		"B[v_k, v_j]\n"
		"    for i_1, j_1 in T.grid(n, 8):\n"
		"        with T.sblock(\"D\"):\n"
		"            v_i_1, v_j_1 = T.axis.remap(\"SS\", [i_1, j_1])\n"
		"            T.reads(C[v_i_1, v_j_1])\n"
		"            T.writes(D[v_i_1, v_j_1])\n"
		"            D[v_i_1, v_j_1] = T.max(C[v_i_1, v_j_1], "
		"T.float32(0))\n");
	module_free(m);
}

/* Every kind of statement of a lowered function. */
static void
test_lowered(void)
{
	struct module *m = module_new();
	struct dtype f32 = dtype_of(DT_F32), i32 = dtype_of(DT_I32);
	struct func *f = func_new(m, "kernel");
	const struct expr *shape[] = { expr_i32(m, 4), expr_i32(m, 8) };
	struct buffer_spec spec = {
		.name = "class", .type = f32, .ndim = 2, .shape = shape
	};
	const struct buffer *x = buffer_new(m, &spec);
	struct buffer_spec local = { .name = "acc",
				     .type = f32,
				     .ndim = 1,
				     .shape = shape + 1,
				     .scope = "local",
				     .align_bytes = 64 };
	const struct buffer *acc = buffer_new(m, &local);
	struct var *i = var_new(m, "i", i32), *v = var_new(m, "v", i32);
	struct var *t = var_new(m, "t", i32), *u = var_new(m, "u", i32);
	const struct expr *ramp = expr_ramp(m, expr_i32(m, 0), expr_i32(m, 1),
					    8);
	const struct expr *xv[] = { i->expr, v->expr };
	const struct expr *row[] = { i->expr, ramp };
	const struct expr *ae[] = { v->expr };
	struct stmt *zero = stmt_store(f, acc,
				       expr_broadcast(m, expr_float(m, f32, 0),
						      8),
				       &ramp, 1);
	struct stmt *body = stmt_store(f, acc,
				       expr_call1(m, INTRIN_EXP,
						  expr_load(m, x, xv, 2)),
				       ae, 1);
	struct stmt *inner = stmt_for(f, v, expr_i32(m, 1), expr_i32(m, 7),
				      FOR_VECTORIZED, body);
	struct stmt *guard =
		stmt_if(f,
			expr_and(m, expr_lt(m, i->expr, t->expr),
				 expr_not(m,
					  expr_eq(m, t->expr, expr_i32(m, 3)))),
			inner, stmt_evaluate(f, expr_i32(m, 0)));
	struct stmt *back = stmt_store(f, x, expr_load(m, acc, &ramp, 1), row,
				       2);
	struct stmt *list[4];
	struct stmt *loop;

	list[0] = zero;
	list[1] = stmt_let(f, t,
			   expr_mul(m,
				    expr_sub(m, i->expr,
					     expr_sub(m, expr_i32(m, 2),
						      i->expr)),
				    expr_i32(m, 2)),
			   guard);
	list[2] = stmt_let(f, u, expr_floordiv(m, i->expr, expr_i32(m, 2)),
			   stmt_assert(f, expr_lt(m, u->expr, expr_i32(m, 2)),
				       "too \"many\""));
	list[3] = back;
	loop = stmt_for(f, i, expr_i32(m, 0), expr_i32(m, 4), FOR_PARALLEL,
			stmt_alloc(f, acc, stmt_seq(f, list, 4)));
	stmt_set_note(f, loop, "pragma", expr_string(m, "x"));
	list[0] = loop;
	list[1] = stmt_return(f, expr_i32(m, 0));
	f->ret = i32;
	f->body = stmt_seq(f, list, 2);
	func_add_param(f, NULL, x);
	CHECK(func_verify(f));
	check_print(f, SCRIPT_CURRENT,
		    "# from tvm.script import tir as T\n"
		    "@T.prim_func\n"
		    "def kernel(class_1: T.Buffer((4, 8), \"float32\")) -> "
		    "T.int32:\n"
		    "    for i in T.parallel(4, annotations={\"pragma\": "
		    "\"x\"}):\n"
		    "        acc = T.decl_buffer((8,), \"float32\", "
		    "scope=\"local\", align=64)\n"
		    "        acc[T.Ramp(0, 1, 8)] = "
		    "T.Broadcast(T.float32(0), 8)\n"
		    "        with T.LetStmt((i - (2 - i)) * 2) as t:\n"
		    "            if i < t and not t == 3:\n"
		    "                for v in T.vectorized(1, 8):\n"
		    "                    acc[v] = T.exp(class_1[i, v])\n"
		    "            else:\n"
		    "                T.evaluate(0)\n"
		    "        with T.LetStmt(i // 2) as u:\n"
		    "            assert u < 2, \"too \\\"many\\\"\"\n"
		    "        class_1[i, T.Ramp(0, 1, 8)] = "
		    "acc[T.Ramp(0, 1, 8)]\n"
		    "    T.ret(0)\n");
	module_free(m);
}

static void
check_expr(const struct expr *e, const char *want)
{
	struct strbuf out;

	strbuf_init(&out);
	expr_print(e, &out);
	CHECK_STR_EQ(out.data, want);
	strbuf_release(&out);
}

static void
check_size(const struct expr *e, const char *want)
{
	struct strbuf out;

	strbuf_init(&out);
	strbuf_puts(&out, "T.");
	size_words(e, &out);
	CHECK_STR_EQ(out.data, want);
	strbuf_release(&out);
}

static const struct expr *
raw(struct module *m, enum expr_kind kind, struct dtype t, const struct expr *a,
    const struct expr *b)
{
	struct expr payload = { .kind = kind, .type = t };
	const struct expr *args[] = { a, b };

	return expr_make(m, &payload, args, b ? 2 : 1);
}

static void
test_expressions(void)
{
	struct module *m = module_new();
	struct dtype i32 = dtype_of(DT_I32), f32 = dtype_of(DT_F32);
	struct dtype f64 = dtype_of(DT_F64), boolean = dtype_of(DT_BOOL);
	const struct expr *x = var_new(m, "x", i32)->expr;
	const struct expr *y = var_new(m, "y", i32)->expr;
	const struct expr *f = var_new(m, "f", f32)->expr;
	const struct expr *less = expr_lt(m, x, y);

	check_expr(expr_float(m, f32, 0.1f), "T.float32(0.1)");
	check_expr(expr_float(m, f64, 0.1), "T.float64(0.1)");
	check_expr(expr_float(m, f64, (double)0.1f),
		   "T.float64(0.10000000149011612)");
	check_expr(expr_float(m, f32, 1e30), "T.float32(1e+30)");
	check_expr(expr_float(m, f32, -0.0), "T.float32(-0.0)");
	check_expr(expr_float(m, f32, 1e300), "T.float32(\"inf\")");
	check_expr(expr_float(m, dtype_of(DT_F16), 0.1), "T.float16(0.1)");
	check_expr(expr_float(m, f32, 100000), "T.float32(100000)");
	check_expr(expr_int(m, dtype_of(DT_I64), -5), "T.int64(-5)");
	check_expr(expr_int(m, dtype_of(DT_U64), -1),
		   "T.uint64(18446744073709551615)");
	check_expr(expr_i32(m, INT32_MIN), "-2147483648");
	check_expr(raw(m, EXPR_SUB, i32, x, raw(m, EXPR_ADD, i32, y, x)),
		   "x - (y + x)");
	check_expr(raw(m, EXPR_MUL, i32, raw(m, EXPR_ADD, i32, x, y), x),
		   "(x + y) * x");
	check_expr(raw(m, EXPR_ADD, i32, raw(m, EXPR_MUL, i32, x, y), x),
		   "x * y + x");
	check_expr(raw(m, EXPR_FLOORDIV, i32, x,
		       raw(m, EXPR_FLOORMOD, i32, y, x)),
		   "x // (y % x)");
	check_expr(raw(m, EXPR_EQ, boolean, less, less), "(x < y) == (x < y)");
	check_expr(expr_and(m, expr_not(m, less),
			    expr_or(m, less, expr_eq(m, x, y))),
		   "not x < y and (x < y or x == y)");
	check_expr(raw(m, EXPR_NOT, boolean,
		       expr_and(m, less, expr_eq(m, x, y)), NULL),
		   "not (x < y and x == y)");
	check_expr(expr_div(m, x, y), "T.truncdiv(x, y)");
	check_expr(expr_div(m, f, f), "f / f");
	check_expr(expr_cast(m, f32, x), "T.Cast(\"float32\", x)");
	check_expr(expr_call(m, INTRIN_TO_INT, i32, &f, 1),
		   "T.float_to_int(\"int32\", f)");
	check_expr(expr_if(m, less, f, expr_float(m, f32, 2)),
		   "T.if_then_else(x < y, f, T.float32(2))");
	check_size(expr_max(m, expr_min(m, x, y), expr_i32(m, 1)),
		   "T.max(min(x, y), 1)");
	check_size(expr_add(m, x, expr_max(m, y, x)), "T.x + max(y, x)");
	module_free(m);
}

int
main(void)
{
	test_add_one();
	test_scheduled();
	test_symbolic_matmul();
	test_lowered();
	test_expressions();
	return check_done();
}
