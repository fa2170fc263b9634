/* SPDX-License-Identifier: Apache-2.0 */
/* blockize and tensorize: the results stay, and what is no match is refused
 * and leaves the program as it was. */
#include "schedule_help.h"

#include "intrinsic_make.h"

static const struct expr *
call_on(struct module *m, const char *symbol, const struct buffer *const *b,
	int n)
{
	const struct expr *args[5] = { expr_string(m, symbol) };

	for (int i = 0; i < n; i++) {
		const struct expr *zero[4], *first;

		for (int d = 0; d < b[i]->ndim; d++) {
			zero[d] = expr_i32(m, 0);
		}
		first = expr_load(m, b[i], zero, b[i]->ndim);
		args[i + 1] = expr_call(m, INTRIN_ADDRESS_OF,
					dtype_of(DT_HANDLE), &first, 1);
	}
	return expr_call(m, INTRIN_CALL_EXTERN, dtype_of(DT_I32), args, n + 1);
}

/* TE's form: y[i, j] = sum(w[i, k] * x[k, j]) by three symbols. */
static const struct tensor_intrin *
declare_gemm(struct module *m, const char *name, int rows, int depth, int cols,
	     bool has_update)
{
	static const char *const names[] = { "i", "j" };
	struct te_tensor *w = input(m, "w", 2, (int[]){ rows, depth });
	struct te_tensor *x = input(m, "x", 2, (int[]){ depth, cols });
	struct iter_var *ij = axes(m, 2, (int[]){ rows, cols }, names);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, depth));
	const struct expr *i = ij[0].var->expr, *j = ij[1].var->expr;
	const struct expr *product =
		expr_mul(m,
			 te_at(m, x, (const struct expr *[]){ k.var->expr, j },
			       2),
			 te_at(m, w, (const struct expr *[]){ i, k.var->expr },
			       2));
	struct te_tensor *y = te_compute(m, "z", "matmul", 2, ij,
					 te_sum(m, product, &k, 1),
					 (struct te_tensor *[]){ w, x }, 2);
	const struct tensor_intrin *made = NULL;
	const struct buffer **views;
	const char *why = NULL;
	char symbol[3][40];
	int n;

	views = tensor_intrin_views(m, y, &n);
	CHECK_EQ(n, 3);
	for (int p = 0; p < 3; p++) {
		static const char *const ends[] = { "", "_zero", "_add" };

		snprintf(symbol[p], sizeof symbol[p], "%s%s", name, ends[p]);
	}
	CHECK(te_tensor_intrin(m, name, y, views,
			       call_on(m, arena_strdup(&m->arena, symbol[0]),
				       views, 3),
			       has_update ? call_on(m,
						    arena_strdup(&m->arena,
								 symbol[1]),
						    views + 2, 1)
					  : NULL,
			       has_update ? call_on(m,
						    arena_strdup(&m->arena,
								 symbol[2]),
						    views, 3)
					  : NULL,
			       &made, &why));
	return made;
}

/* A block of iter vars i, j, k around a body, under their loops. */
static struct stmt *
nest(struct func *f, const char *name, struct iter_var *iters, int n,
     struct stmt *body)
{
	struct module *m = f->module;
	struct block b = {
		.name = name,
		.n_iters = n,
		.iters = arena_copy(&m->arena, iters,
				    sizeof *iters * (size_t)n),
	};
	const struct expr *bindings[4];
	struct var *loops[4];
	struct stmt *s;

	for (int i = 0; i < n; i++) {
		loops[i] = var_new(m, iters[i].var->name + 2, dtype_of(DT_I32));
		bindings[i] = loops[i]->expr;
	}
	s = stmt_block(f, &b, expr_bool(m, true), bindings, NULL, body);
	for (int i = n - 1; i >= 0; i--) {
		s = stmt_for(f, loops[i], expr_i32(m, 0), iters[i].extent,
			     FOR_SERIAL, s);
	}
	return s;
}

static const struct buffer *
strided(struct module *m, struct func *f, const char *name, int rows, int cols,
	struct var **stride)
{
	const struct expr *shape[2] = { expr_i32(m, rows), expr_i32(m, cols) };
	const struct expr *strides[2];
	struct buffer_spec spec = {
		.name = name,
		.type = dtype_of(DT_F32),
		.ndim = 2,
		.shape = shape,
		.strides = strides,
	};
	const struct buffer *b;

	*stride = var_new(m, "s", dtype_of(DT_I32));
	strides[0] = (*stride)->expr;
	strides[1] = expr_i32(m, 1);
	b = buffer_new(m, &spec);
	func_add_param(f, b->data, b);
	return b;
}

/* TVM's form: c += a * b on 4x4x4, written with vectors along j. */
static struct tensor_intrin *
vector_gemm(struct module *m)
{
	struct tensor_intrin *t = arena_new(&m->arena, struct tensor_intrin);
	struct iter_var it[3];
	const struct expr *at[3], *value;
	struct var *stride, *i, *k;
	const struct buffer *a, *b, *c;
	struct stmt *s;

	t->name = "gemm_4x4x4";
	t->what = "c += a * b";
	t->desc = func_new(m, "desc");
	a = strided(m, t->desc, "A", 4, 4, &stride);
	b = strided(m, t->desc, "B", 4, 4, &stride);
	c = strided(m, t->desc, "C", 4, 4, &stride);
	for (int d = 0; d < 3; d++) {
		static const char *const names[] = { "v_i", "v_j", "v_k" };

		it[d].var = var_new(m, names[d], dtype_of(DT_I32));
		it[d].min = expr_i32(m, 0);
		it[d].extent = expr_i32(m, 4);
		it[d].kind = d == 2 ? ITER_REDUCE : ITER_SPATIAL;
		at[d] = it[d].var->expr;
	}
	value = expr_add(m, expr_load(m, c, at, 2),
			 expr_mul(m,
				  expr_load(m, a,
					    (const struct expr *[]){ at[0],
								     at[2] },
					    2),
				  expr_load(m, b,
					    (const struct expr *[]){ at[2],
								     at[1] },
					    2)));
	s = stmt_store(t->desc, c, value, at, 2);
	s = nest(t->desc, "update", it, 3, s);
	t->desc->body = stmt_block(t->desc, &(struct block){ .name = "root" },
				   expr_bool(m, true), NULL, NULL, s);

	t->impl = func_new(m, "impl");
	a = strided(m, t->impl, "A", 4, 4, &stride);
	b = strided(m, t->impl, "B", 4, 4, &stride);
	c = strided(m, t->impl, "C", 4, 4, &stride);
	i = var_new(m, "i", dtype_of(DT_I32));
	k = var_new(m, "k", dtype_of(DT_I32));
	at[0] = i->expr;
	at[1] = expr_ramp(m, expr_i32(m, 0), expr_i32(m, 1), 4);
	value = expr_add(m, expr_load(m, c, at, 2),
			 expr_mul(m,
				  expr_broadcast(m,
						 expr_load(m, a,
							   (const struct expr
								    *[]){
								   i->expr,
								   k->expr },
							   2),
						 4),
				  expr_load(m, b,
					    (const struct expr *[]){ k->expr,
								     at[1] },
					    2)));
	s = stmt_store(t->impl, c, value, at, 2);
	s = stmt_for(t->impl, k, expr_i32(m, 0), expr_i32(m, 4), FOR_SERIAL, s);
	t->impl->body = stmt_for(t->impl, i, expr_i32(m, 0), expr_i32(m, 4),
				 FOR_SERIAL, s);
	return t;
}

struct fixture {
	struct trial t;
	struct tensor_intrins known;
};

static void
start(struct fixture *x, struct module *m, struct func *f,
      const struct tensor_intrin *intrin)
{
	trial_start(&x->t, m, f);
	tensor_intrins_init(&x->known, &m->arena);
	tensor_intrins_add(&x->known, intrin);
	x->t.s.intrins = &x->known;
}

static bool
references(struct fixture *x)
{
	const char *why = NULL;
	bool ok = intrinsic_references(x->t.m, &x->known, &why);

	if (!CHECK(ok)) {
		fprintf(stderr, "%s\n", why);
	}
	return ok;
}

/* Loops i_o j_o k_o i_i j_i k_i of block c; returns i_i. */
static int
tile(struct trial *t, int rows, int cols, int depth, int *k_outer)
{
	int *l = NULL, n = 0, i[2], j[2], k[2];
	int order[6];

	CHECK(sched_get_loops(&t->s, sched_get_block(&t->s, "c"), &l, &n));
	CHECK(sched_split(&t->s, l[0], (int64_t[]){ 0, rows }, 2, i));
	CHECK(sched_split(&t->s, l[1], (int64_t[]){ 0, cols }, 2, j));
	CHECK(sched_split(&t->s, l[2], (int64_t[]){ 0, depth }, 2, k));
	order[0] = i[0];
	order[1] = j[0];
	order[2] = k[0];
	order[3] = i[1];
	order[4] = j[1];
	order[5] = k[1];
	CHECK(sched_reorder(&t->s, order, 6));
	*k_outer = k[0];
	return i[1];
}

static bool
tensorize(struct trial *t, struct sched_value at, const char *name)
{
	struct sched_value args[2] = { at, sv_string(name) };

	return sched_apply(&t->s, "tensorize", args, 2, NULL);
}

/* Fails with text in the message, the program staying as it was. */
static void
refuses(struct trial *t, struct sched_value at, const char *name,
	const char *text)
{
	struct strbuf before, after;
	int n = t->s.diags.list.n;

	strbuf_init(&before);
	strbuf_init(&after);
	func_print(t->f, SCRIPT_CURRENT, &before);
	CHECK(!tensorize(t, at, name));
	func_print(t->f, SCRIPT_CURRENT, &after);
	CHECK_STR_EQ(after.data, before.data);
	if (CHECK_EQ(t->s.diags.list.n, n + 1)) {
		const char *message = t->s.diags.list.data[n].message;

		if (!CHECK(strstr(message, text))) {
			fprintf(stderr, "%s\n", message);
		}
	}
	t->s.diags.list.n = n;
	strbuf_release(&before);
	strbuf_release(&after);
}

static void
test_update(void)
{
	struct module *m = module_new();
	struct fixture x;
	int at, k;

	start(&x, m, make_matmul(m, 8, 12, 16),
	      declare_gemm(m, "gemm", 4, 4, 8, true));
	at = tile(&x.t, 4, 8, 4, &k);
	CHECK(tensorize(&x.t, sv_loop(at), "gemm"));
	CHECK(trial_text_has(&x.t, "\"gemm_add\""));
	CHECK(trial_text_has(&x.t, "\"gemm_zero\""));
	references(&x);
	trial_same(&x.t);
	trial_lower(&x.t);
	module_free(m);
}

static void
test_whole(void)
{
	struct module *m = module_new();
	struct fixture x;
	int at, k;

	start(&x, m, make_matmul(m, 8, 12, 16),
	      declare_gemm(m, "gemm", 4, 12, 8, false));
	at = tile(&x.t, 4, 8, 12, &k);
	CHECK(tensorize(&x.t, sv_loop(at), "gemm"));
	CHECK(trial_text_has(&x.t, "\"gemm\""));
	references(&x);
	trial_same(&x.t);
	trial_lower(&x.t);
	module_free(m);
}

static void
test_decomposed(void)
{
	struct module *m = module_new();
	struct fixture x;
	int at, k, init;

	start(&x, m, make_matmul(m, 8, 12, 16),
	      declare_gemm(m, "gemm", 4, 4, 8, true));
	at = tile(&x.t, 4, 8, 4, &k);
	CHECK(sched_decompose_reduction(&x.t.s, sched_get_block(&x.t.s, "c"), k,
					&init));
	CHECK(tensorize(&x.t, sv_loop(at), "gemm"));
	CHECK(!trial_text_has(&x.t, "gemm_zero"));
	references(&x);
	trial_same(&x.t);
	trial_lower(&x.t);
	/* and after */
	start(&x, m, make_matmul(m, 8, 12, 16),
	      declare_gemm(m, "other", 4, 4, 8, true));
	at = tile(&x.t, 4, 8, 4, &k);
	CHECK(tensorize(&x.t, sv_loop(at), "other"));
	CHECK(sched_decompose_reduction(&x.t.s, sched_get_block(&x.t.s, "c_o"),
					k, &init));
	CHECK(trial_text_has(&x.t, "other_zero"));
	references(&x);
	trial_same(&x.t);
	trial_lower(&x.t);
	module_free(m);
}

static void
test_vectors(void)
{
	struct module *m = module_new();
	struct fixture x;
	int at, k;

	start(&x, m, make_matmul(m, 8, 8, 12), vector_gemm(m));
	at = tile(&x.t, 4, 4, 4, &k);
	CHECK(tensorize(&x.t, sv_loop(at), "gemm_4x4x4"));
	CHECK(trial_text_has(&x.t, "T.Ramp") ||
	      trial_text_has(&x.t, ":v_j_o * 4 + 4"));
	trial_same(&x.t);
	trial_lower(&x.t);
	/* all of the reduction inside: its init is set apart */
	start(&x, m, make_matmul(m, 8, 4, 12), vector_gemm(m));
	at = tile(&x.t, 4, 4, 4, &k);
	CHECK(tensorize(&x.t, sv_loop(at), "gemm_4x4x4"));
	trial_same(&x.t);
	trial_lower(&x.t);
	module_free(m);
}

static void
test_orders(void)
{
	struct module *m = module_new();
	static const int order[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };

	for (int o = 0; o < 3; o++) {
		struct fixture x;
		int at, k, *l = NULL, n = 0, inner[3];
		struct sched_value args[2], items[3];
		struct sched_value block;

		start(&x, m, make_matmul(m, 8, 8, 12), vector_gemm(m));
		at = tile(&x.t, 4, 4, 4, &k);
		(void)at;
		block = sv_block(sched_get_block(&x.t.s, "c"));
		CHECK(sched_get_loops(&x.t.s, block.u.id, &l, &n));
		for (int i = 0; i < 3; i++) {
			inner[i] = l[3 + order[o][i]];
			items[i] = sv_int(order[2 - o][i]);
		}
		CHECK(sched_reorder(&x.t.s, inner, 3));
		args[0] = block;
		args[1] = sv_list(m, items, 3);
		CHECK(sched_apply(&x.t.s, "reorder_block_iter_var", args, 2,
				  NULL));
		CHECK(tensorize(&x.t, sv_loop(inner[0]), "gemm_4x4x4"));
		trial_same(&x.t);
	}
	module_free(m);
}

static void
test_refusals(void)
{
	struct module *m = module_new();
	struct fixture x;
	int at, k, tail;

	start(&x, m, make_matmul(m, 8, 12, 16),
	      declare_gemm(m, "gemm", 4, 4, 8, false));
	at = tile(&x.t, 4, 8, 4, &k);
	refuses(&x.t, sv_loop(at), "none", "no tensor intrinsic");
	refuses(&x.t, sv_loop(at), "gemm", "has no update");
	refuses(&x.t, sv_loop(k), "gemm", "another extent");
	refuses(&x.t, sv_block(sched_get_block(&x.t.s, "y")), "gemm",
		"other statements than loops");
	tensor_intrins_add(&x.known, declare_gemm(m, "narrow", 4, 4, 4, true));
	refuses(&x.t, sv_loop(at), "narrow", "another extent");
	/* a tail */
	start(&x, m, make_matmul(m, 7, 12, 16),
	      declare_gemm(m, "gemm", 4, 4, 8, true));
	tail = tile(&x.t, 4, 8, 4, &k);
	refuses(&x.t, sv_loop(tail), "gemm", "whole tiles");
	/* something else */
	{
		int *l = NULL, n = 0;

		CHECK(sched_get_loops(&x.t.s, sched_get_block(&x.t.s, "y"), &l,
				      &n));
		refuses(&x.t, sv_loop(l[0]), "gemm", "iter var");
	}
	module_free(m);
}

/* Intrinsics made by hand: a script's functions are compared before. */
static void
test_parameters(void)
{
	struct module *m = module_new();
	struct tensor_intrin *t = vector_gemm(m);
	struct var *stride;
	struct fixture x;
	int at, k;

	strided(m, t->impl, "D", 4, 4, &stride);
	start(&x, m, make_matmul(m, 8, 8, 12), t);
	at = tile(&x.t, 4, 4, 4, &k);
	refuses(&x.t, sv_loop(at), "gemm_4x4x4",
		"an implementation of gemm_4x4x4 has 4 parameters, but "
		"its description has 3");
	module_free(m);
}

int
main(void)
{
	test_update();
	test_whole();
	test_decomposed();
	test_vectors();
	test_orders();
	test_refusals();
	test_parameters();
	return check_done();
}
