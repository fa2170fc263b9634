/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule primitives and lowering: the results stay, the loops change. */
#include "schedule_help.h"

static int
block(struct trial *t, const char *name)
{
	int id = sched_get_block(&t->s, name);

	CHECK(id > 0);
	return id;
}

static int *
loops(struct trial *t, const char *name, int want)
{
	int *list = NULL, n = 0;

	CHECK(sched_get_loops(&t->s, block(t, name), &list, &n));
	CHECK_EQ(n, want);
	return list;
}

static void
test_plain_lowering(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	trial_lower(&t);
	trial_start(&t, m, make_conv(m, 3, 6, 4, 3, 1));
	trial_lower(&t);
	trial_start(&t, m, make_conv(m, 3, 9, 4, 3, 2));
	trial_lower(&t);
	module_free(m);
}

static void
test_split_fuse(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, out[3], fused;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	l = loops(&t, "c", 3);
	CHECK(sched_split(&t.s, l[0], (int64_t[]){ 0, 2 }, 2, out));
	CHECK(sched_split(&t.s, l[1], (int64_t[]){ 0, 4 }, 2, out));
	CHECK(sched_split(&t.s, l[2], (int64_t[]){ 2, 0 }, 2, out));
	trial_same(&t);
	l = loops(&t, "y", 2);
	CHECK(sched_fuse(&t.s, l, 2, &fused));
	trial_same(&t);
	CHECK(sched_split(&t.s, fused, (int64_t[]){ 0, 16 }, 2, out));
	CHECK(sched_vectorize(&t.s, out[1]));
	trial_same(&t);
	trial_lower(&t);
	module_free(m);
}

static void
test_illegal_steps(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, out[2];

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	l = loops(&t, "c", 3);
	CHECK(!sched_split(&t.s, l[0], (int64_t[]){ 0, 0 }, 2, out));
	CHECK(!sched_split(&t.s, l[0], (int64_t[]){ 2, 2 }, 2, out));
	CHECK(!sched_vectorize(&t.s, l[2]));
	CHECK(!sched_parallel(&t.s, l[2]));
	CHECK(!sched_compute_inline(&t.s, block(&t, "c")));
	CHECK(!sched_compute_inline(&t.s, block(&t, "y")));
	CHECK(!sched_fuse(&t.s, (int[]){ l[0], l[2] }, 2, out));
	CHECK(!sched_reorder(&t.s, (int[]){ l[0], l[0] }, 2));
	CHECK(!sched_reverse_compute_at(&t.s, block(&t, "y"), l[2]));
	CHECK(!sched_split(&t.s, 12345, (int64_t[]){ 0, 2 }, 2, out));
	CHECK_EQ(t.s.diags.list.n, 10);
	for (int i = 0; i < t.s.diags.list.n; i++) {
		CHECK(t.s.diags.list.data[i].id == DIAG_BAD_SCHEDULE);
	}
	for (int i = 0; i < t.s.trace.n; i++) {
		CHECK(t.s.trace.data[i].primitive->is_query);
	}
	t.s.diags.list.n = 0;
	trial_same(&t);
	module_free(m);
}

static void
tile_matmul(struct trial *t)
{
	int *l, i[2], j[2], copy;

	CHECK(sched_cache_write(&t->s, block(t, "c"), 0, "local", &copy));
	CHECK(sched_reverse_compute_inline(&t->s, block(t, "y")));
	l = loops(t, "c", 3);
	CHECK(sched_split(&t->s, l[0], (int64_t[]){ 0, 4 }, 2, i));
	CHECK(sched_split(&t->s, l[1], (int64_t[]){ 0, 8 }, 2, j));
	CHECK(sched_reorder(&t->s, (int[]){ i[0], j[0], l[2], i[1], j[1] }, 5));
	trial_same(t);
	CHECK(sched_reverse_compute_at(&t->s, copy, j[0]));
	trial_same(t);
	CHECK(sched_vectorize(&t->s, j[1]));
	CHECK(sched_unroll(&t->s, i[1]));
	trial_same(t);
	trial_lower(t);
}

static void
test_register_tile(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 8, 5, 16));
	tile_matmul(&t);
	CHECK_EQ(lower_stack_bytes(t.f), 4 * 8 * 4);
	trial_start(&t, m, make_matmul(m, 7, 5, 19));
	tile_matmul(&t);
	CHECK_EQ(lower_stack_bytes(t.f), 4 * 8 * 4);
	module_free(m);
}

static void
tile_conv(struct trial *t, int w_tile)
{
	int *l, c[2], w[2], copy;

	CHECK(sched_compute_inline(&t->s, block(t, "pad")));
	trial_same(t);
	CHECK(sched_cache_write(&t->s, block(t, "conv"), 0, "local", &copy));
	CHECK(sched_reverse_compute_inline(&t->s, block(t, "y")));
	trial_same(t);
	l = loops(t, "conv", 7);
	CHECK(sched_split(&t->s, l[1], (int64_t[]){ 0, 4 }, 2, c));
	CHECK(sched_split(&t->s, l[3], (int64_t[]){ 0, w_tile }, 2, w));
	CHECK(sched_reorder(&t->s,
			    (int[]){ l[2], w[0], c[0], l[4], l[5], l[6], w[1],
				     c[1] },
			    8));
	CHECK(sched_reverse_compute_at(&t->s, copy, c[0]));
	trial_same(t);
	trial_lower(t);
	CHECK_EQ(lower_stack_bytes(t->f), w_tile * 4 * 4);
}

static void
test_conv_tile(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_conv(m, 3, 6, 8, 3, 1));
	tile_conv(&t, 3);
	trial_start(&t, m, make_conv(m, 3, 6, 8, 3, 1));
	tile_conv(&t, 4);
	trial_start(&t, m, make_conv(m, 2, 9, 4, 3, 2));
	tile_conv(&t, 1);
	module_free(m);
}

static void
test_compute_at(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l;

	trial_start(&t, m, make_conv(m, 3, 6, 4, 3, 1));
	l = loops(&t, "conv", 7);
	CHECK(sched_compute_at(&t.s, block(&t, "pad"), l[2]));
	trial_same(&t);
	l = loops(&t, "y", 4);
	CHECK(sched_compute_at(&t.s, block(&t, "conv"), l[3]));
	trial_same(&t);
	trial_lower(&t);
	module_free(m);
}

static void
test_decompose(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, init;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	l = loops(&t, "c", 3);
	CHECK(sched_reorder(&t.s, (int[]){ l[2], l[1] }, 2));
	CHECK(sched_decompose_reduction(&t.s, block(&t, "c"), l[2], &init));
	trial_same(&t);
	CHECK(sched_get_block(&t.s, "c_init") == init);
	trial_lower(&t);
	module_free(m);
}

static void
test_cache_read(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, copy;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	CHECK(sched_cache_read(&t.s, block(&t, "c"), 1, "local", &copy));
	trial_same(&t);
	l = loops(&t, "c", 3);
	CHECK(sched_compute_at(&t.s, copy, l[1]));
	trial_same(&t);
	trial_lower(&t);
	module_free(m);
}

/* b[k, j] as [j / 4][k][j % 4] */
static void
test_transform_layout(void)
{
	struct module *m = module_new();
	struct trial t;
	struct index_map map = { .n_logical = 2, .n_physical = 3 };
	struct dtype i32 = dtype_of(DT_I32);
	struct var *k, *j;
	int *l, out[2], copy;

	trial_start(&t, m, make_matmul(m, 6, 5, 8));
	CHECK(sched_cache_read(&t.s, block(&t, "c"), 1, "global", &copy));
	k = var_new(m, "k", i32);
	j = var_new(m, "j", i32);
	map.logical = (struct var *[]){ k, j };
	map.to_physical = (const struct expr *[]){
		expr_floordiv(m, j->expr, expr_i32(m, 4)), k->expr,
		expr_floormod(m, j->expr, expr_i32(m, 4))
	};
	map.physical_shape = (const struct expr *[]){ expr_i32(m, 2),
						      expr_i32(m, 5),
						      expr_i32(m, 4) };
	CHECK(sched_transform_layout(&t.s, block(&t, "c"), false, 1, &map));
	trial_same(&t);
	l = loops(&t, "c", 3);
	CHECK(sched_split(&t.s, l[1], (int64_t[]){ 0, 4 }, 2, out));
	trial_same(&t);
	trial_lower(&t);
	/* the product reads it by the loops, without a division */
	CHECK(trial_text_has(&t, "* b_global[j_o, k_1, j_i]"));
	module_free(m);
}

static void
test_rfactor(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, k[2], part;

	for (int depth = 12; depth <= 13; depth++) {
		trial_start(&t, m, make_matmul(m, 4, depth, 3));
		l = loops(&t, "c", 3);
		CHECK(sched_split(&t.s, l[2], (int64_t[]){ 0, 4 }, 2, k));
		CHECK(sched_rfactor_inside(&t.s, k[1], -1, &part));
		trial_same(&t);
		l = loops(&t, "c_rf", 4);
		CHECK(sched_vectorize(&t.s, l[3]));
		trial_same(&t);
		trial_lower(&t);
		CHECK_EQ(lower_stack_bytes(t.f), 16 + 4 * 3 * 4);
	}
	module_free(m);
}

static void
test_softmax(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l;

	trial_start(&t, m, make_softmax(m, 5, 7));
	l = loops(&t, "y", 2);
	CHECK(sched_compute_at(&t.s, block(&t, "sum"), l[0]));
	CHECK(sched_compute_at(&t.s, block(&t, "e"), l[0]));
	CHECK(sched_compute_at(&t.s, block(&t, "top"), l[0]));
	trial_same(&t);
	trial_lower(&t);
	CHECK_EQ(lower_stack_bytes(t.f), 7 * 4 + 4 + 4);
	CHECK(lower_can_be_in_place(t.f, t.f->params.data[0].buffer,
				    t.f->params.data[1].buffer));
	/* y holds the row of e until it replaces it. */
	CHECK_EQ(lower_scratch(t.f, 16), 0);
	CHECK_EQ(t.f->params.n, 2);
	CHECK_EQ(lower_stack_bytes(t.f), 8);
	CHECK(func_verify(t.f));
	trial_same(&t);
	trial_start(&t, m, make_softmax(m, 5, 7));
	trial_lower(&t);
	CHECK(!lower_can_be_in_place(t.f, t.f->params.data[1].buffer,
				     t.f->params.data[0].buffer));
	CHECK_EQ(lower_scratch(t.f, 16), 2); /* top and sum */
	CHECK_EQ(t.f->params.n, 4);
	CHECK_EQ(lower_stack_bytes(t.f), 0);
	CHECK(func_verify(t.f));
	module_free(m);
}

static void
test_elementwise(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, i, part[2];
	const struct param *p;

	trial_start(&t, m, make_add(m, 4, 5, 6, false));
	l = loops(&t, "y", 4);
	CHECK(sched_fuse(&t.s, l, 4, &i));
	trial_same(&t);
	trial_lower(&t);
	p = t.f->params.data;
	CHECK_EQ(p[0].buffer->ndim, 1);
	CHECK_EQ(p[3].buffer->ndim, 1);
	CHECK(!trial_text_has(&t, "%"));
	CHECK(lower_can_be_in_place(t.f, p[0].buffer, p[3].buffer));
	lower_make_in_place(t.f, p[0].buffer, p[3].buffer);
	CHECK_EQ(t.f->params.n, 3);
	CHECK(func_verify(t.f));

	trial_start(&t, m, make_add(m, 4, 5, 6, true));
	l = loops(&t, "y", 4);
	CHECK(sched_fuse(&t.s, l + 2, 2, &i));
	CHECK(sched_split(&t.s, i, (int64_t[]){ 0, 8 }, 2, part));
	CHECK(sched_vectorize(&t.s, part[1]));
	trial_same(&t);
	trial_lower(&t);
	p = t.f->params.data;
	CHECK_EQ(p[0].buffer->ndim, 2);
	CHECK(!trial_text_has(&t, "%"));
	CHECK(lower_can_be_in_place(t.f, p[0].buffer, p[3].buffer));
	module_free(m);
}

/* A convolution must not overwrite what it still reads. */
static void
test_no_sharing(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_conv(m, 4, 6, 4, 3, 1));
	CHECK(sched_compute_inline(&t.s, block(&t, "pad")));
	CHECK(sched_compute_at(&t.s, block(&t, "conv"), loops(&t, "y", 4)[3]));
	trial_lower(&t);
	CHECK(!lower_can_be_in_place(t.f, t.f->params.data[0].buffer,
				     t.f->params.data[3].buffer));
	module_free(m);
}

/* Only the border tiles test whether they are inside. */
static void
test_partition(void)
{
	struct module *m = module_new();
	struct trial t;
	int *l, w[2], copy;

	trial_start(&t, m, make_conv(m, 2, 16, 4, 3, 1));
	CHECK(sched_compute_inline(&t.s, block(&t, "pad")));
	CHECK(sched_cache_write(&t.s, block(&t, "conv"), 0, "local", &copy));
	l = loops(&t, "conv", 7);
	CHECK(sched_split(&t.s, l[3], (int64_t[]){ 0, 4 }, 2, w));
	CHECK(sched_reorder(&t.s, (int[]){ w[0], l[4], l[5], l[6], w[1] }, 5));
	CHECK(sched_reverse_compute_at(&t.s, copy, w[0]));
	CHECK(sched_vectorize(&t.s, w[1]));
	trial_lower(&t);
	CHECK(trial_text_has(&t, "if 1 <= w_o and w_o < 3:"));
	module_free(m);
}

/* e[n, j] = x[n, j] * 2; y[n, j] = e[n, j] + 1, n between 1 and 6 */
static struct func *
make_dynamic(struct module *m, const struct expr *n)
{
	struct dtype f32 = dtype_of(DT_F32);
	const struct expr *shape[] = { n, expr_i32(m, 7) };
	struct te_tensor *x = te_placeholder(m, "x", f32, 2, shape);
	struct iter_var *i = te_axes(m, 2, shape, NULL);
	const struct expr *at[] = { i[0].var->expr, i[1].var->expr };
	struct te_tensor *e = te_compute(m, "e", "elementwise", 2, i,
					 expr_mul(m, te_at(m, x, at, 2),
						  expr_float(m, f32, 2)),
					 &x, 1);
	struct iter_var *k = te_axes(m, 2, shape, NULL);
	const struct expr *at2[] = { k[0].var->expr, k[1].var->expr };
	struct te_tensor *y = te_compute(m, "y", "elementwise", 2, k,
					 expr_add(m, te_at(m, e, at2, 2),
						  expr_float(m, f32, 1)),
					 &e, 1);

	return te_to_func(m, "dynamic", (struct te_tensor *[]){ x, y }, 2);
}

static void
check_dynamic(struct func *f, int n)
{
	float x[42], y[42];
	struct run_arg args[3] = { { .data = x },
				   { .data = y },
				   { .scalar = n } };

	for (int i = 0; i < 42; i++) {
		x[i] = (float)i;
		y[i] = -1;
	}
	CHECK(func_verify(f));
	CHECK(interp_run(f, args, 3));
	for (int i = 0; i < 42; i++) {
		CHECK(y[i] == (i < n * 7 ? x[i] * 2 + 1 : -1));
	}
}

static void
test_dynamic(void)
{
	static const int floats[] = { 6 * 7, 0, 4 * 7, 7 };

	for (int way = 0; way < 4; way++) {
		struct module *m = module_new();
		const struct expr *n = var_new_dim(m, "n", 1, 6)->expr;
		struct trial t = { .m = m, .f = make_dynamic(m, n) };
		int *l, out[2];

		sched_init(&t.s, t.f);
		CHECK_EQ(t.f->params.n, 3);
		l = loops(&t, "y", 2);
		if (way == 1) {
			CHECK(sched_compute_inline(&t.s, block(&t, "e")));
			CHECK(sched_fuse(&t.s, l, 2, out));
		} else if (way == 2) {
			CHECK(sched_split(&t.s, l[0], (int64_t[]){ 0, 4 }, 2,
					  out));
			CHECK(sched_compute_at(&t.s, block(&t, "e"), out[0]));
		} else if (way == 3) {
			CHECK(sched_compute_at(&t.s, block(&t, "e"), l[0]));
		}
		check_dynamic(t.f, 5);
		func_commit(t.f);
		CHECK(lower_func(t.f, NULL));
		check_dynamic(t.f, 1);
		check_dynamic(t.f, 6);
		CHECK_EQ(lower_stack_bytes(t.f), floats[way] * 4);
		if (getenv("PRINT")) {
			trial_print(t.f);
		}
		module_free(m);
	}
}

int
main(void)
{
	test_dynamic();
	test_partition();
	test_rfactor();
	test_softmax();
	test_elementwise();
	test_no_sharing();
	test_plain_lowering();
	test_split_fuse();
	test_illegal_steps();
	test_register_tile();
	test_conv_tile();
	test_compute_at();
	test_decompose();
	test_cache_read();
	test_transform_layout();
	return check_done();
}
