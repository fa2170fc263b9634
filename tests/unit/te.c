/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions beyond plain stages: the text of scans, externs and
 * reductions with several values, and what is refused. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "interp.h"
#include "intrinsic_make.h"
#include "reduction_match.h"
#include "schedule.h"
#include "script.h"

struct setup {
	struct module *m;
	struct dtype f32;
	const struct expr *n; /* 6 */
	const struct expr *t; /* 5 */
};

static struct setup
begin(void)
{
	struct setup s = { .m = module_new(), .f32 = dtype_of(DT_F32) };

	s.n = expr_i32(s.m, 6);
	s.t = expr_i32(s.m, 5);
	return s;
}

static struct te_tensor *
matrix(struct setup *s, const char *name, const struct expr *rows,
       const struct expr *cols)
{
	const struct expr *shape[] = { rows, cols };

	return te_placeholder(s->m, name, s->f32, 2, shape);
}

/* out[t, i] = from[t + back, i] (+ more[t, i]) */
static struct te_tensor *
step(struct setup *s, const char *name, const struct expr *times,
     struct te_tensor *from, int back, struct te_tensor *more)
{
	static const char *const names[] = { "t", "i" };
	const struct expr *shape[] = { times, s->n };
	struct iter_var *a = te_axes(s->m, 2, shape, names);
	const struct expr *now[] = { a[0].var->expr, a[1].var->expr };
	const struct expr *then[] = {
		expr_add(s->m, now[0], expr_i32(s->m, back)), now[1]
	};
	const struct expr *e = te_at(s->m, from, then, 2);

	if (more) {
		e = expr_add(s->m, e, te_at(s->m, more, now, 2));
	}
	return te_compute(s->m, name, "scan", 2, a, e,
			  (struct te_tensor *[]){ from, more }, more ? 2 : 1);
}

static void
check_body(const struct func *f, const char *want)
{
	struct strbuf out;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	CHECK_STR_EQ(strstr(out.data, "    # with"), want);
	strbuf_release(&out);
}

/* ---- scans */

static void
test_scan_text(void)
{
	struct setup s = begin();
	struct te_tensor *x = matrix(&s, "X", s.t, s.n);
	struct te_tensor *state = matrix(&s, "state", s.t, s.n);
	struct te_tensor *init = step(&s, "s_init", expr_i32(s.m, 1), x, 0,
				      NULL);
	struct te_tensor *between = step(&s, "between", s.t, state, -1, NULL);
	struct te_tensor *update = step(&s, "s_update", s.t, between, 0, x);
	struct te_tensor *y = NULL;
	const char *why = NULL;
	struct func *f;

	if (!CHECK(te_scan(s.m, "Y", "scan", &init, &update, &state, 1, NULL, 0,
			   &y, &why))) {
		return;
	}
	CHECK(te_check_params(s.m, (struct te_tensor *[]){ x, y }, 2, &why));
	f = te_to_func(s.m, "main", (struct te_tensor *[]){ x, y }, 2);
	CHECK(func_verify(f));
	CHECK(func_verify_text(f));
	check_body(
		f,
		"    # with T.sblock(\"root\"):\n"
		"    between = T.sblock_alloc_buffer((5, 6), \"float32\")\n"
		"    for t, i in T.grid(1, 6):\n"
		"        with T.sblock(\"s_init\"):\n"
		"            v_t, v_i = T.axis.remap(\"SS\", [t, i])\n"
		"            T.reads(X[v_t, v_i])\n"
		"            T.writes(Y[v_t, v_i])\n"
		"            Y[v_t, v_i] = X[v_t, v_i]\n"
		"    for t_1 in range(1, 5):\n"
		"        for i_1 in range(6):\n"
		"            with T.sblock(\"between\"):\n"
		"                v_t_1 = T.axis.scan((1, 5), t_1)\n"
		"                v_i_1 = T.axis.spatial(6, i_1)\n"
		"                T.reads(Y[v_t_1 + -1, v_i_1])\n"
		"                T.writes(between[v_t_1, v_i_1])\n"
		"                between[v_t_1, v_i_1] = Y[v_t_1 + -1, v_i_1]\n"
		"        for i_2 in range(6):\n"
		"            with T.sblock(\"s_update\"):\n"
		"                v_t_2 = T.axis.scan((1, 5), t_1)\n"
		"                v_i_2 = T.axis.spatial(6, i_2)\n"
		"                T.reads(between[v_t_2, v_i_2], "
		"X[v_t_2, v_i_2])\n"
		"                T.writes(Y[v_t_2, v_i_2])\n"
		"                Y[v_t_2, v_i_2] = between[v_t_2, v_i_2] + "
		"X[v_t_2, v_i_2]\n");
	module_free(s.m);
}

/* The primitives keep a scan's time in order and work on the other axes. */
static void
test_scan_schedule(void)
{
	struct setup s = begin();
	struct te_tensor *x = matrix(&s, "X", s.t, s.n);
	struct te_tensor *state = matrix(&s, "state", s.t, s.n);
	struct te_tensor *init = step(&s, "s_init", expr_i32(s.m, 1), x, 0,
				      NULL);
	struct te_tensor *update = step(&s, "s_update", s.t, state, -1, x);
	struct te_tensor *y = NULL;
	const char *why = NULL;
	float in[30], want[30], got[30];
	struct run_arg args[] = { { .data = in }, { .data = want } };
	struct func *f;
	struct sched sched;
	int *loops, n, parts[2], block, cached;

	CHECK(te_scan(s.m, "Y", "scan", &init, &update, &state, 1, NULL, 0, &y,
		      &why));
	f = te_to_func(s.m, "main", (struct te_tensor *[]){ x, y }, 2);
	for (int i = 0; i < 30; i++) {
		in[i] = (float)(i % 7 - 3);
	}
	CHECK(interp_run(f, args, 2));
	for (int i = 6; i < 30; i++) {
		CHECK(want[i] == want[i - 6] + in[i]);
	}
	sched_init(&sched, f);
	block = sched_get_block(&sched, "s_update");
	CHECK(sched_get_loops(&sched, block, &loops, &n));
	if (!CHECK_EQ(n, 2)) {
		return;
	}
	CHECK(!sched_parallel(&sched, loops[0]));
	CHECK(!sched_vectorize(&sched, loops[0]));
	CHECK(!sched_bind(&sched, loops[0], "threadIdx.x"));
	CHECK(sched_reorder(&sched, (int[]){ loops[1], loops[0] }, 2));
	CHECK(sched_reorder(&sched, (int[]){ loops[0], loops[1] }, 2));
	CHECK(!sched_cache_write(&sched, block, 0, "local", &cached));
	CHECK(sched_split(&sched, loops[1], (int64_t[]){ 0, 4 }, 2, parts));
	CHECK(sched_vectorize(&sched, parts[1]));
	CHECK(sched_parallel(&sched, parts[0]));
	CHECK(sched_split(&sched, loops[0], (int64_t[]){ 0, 3 }, 2, parts));
	args[1].data = got;
	CHECK(func_verify(f) && interp_run(f, args, 2));
	CHECK(memcmp(want, got, sizeof got) == 0);
	module_free(s.m);
}

static void
refused(struct setup *s, struct te_tensor *init, struct te_tensor *update,
	struct te_tensor *state, const char *want)
{
	struct te_tensor *out = NULL;
	const char *why = NULL;

	CHECK(!te_scan(s->m, "Y", "scan", &init, &update, &state, 1, NULL, 0,
		       &out, &why));
	CHECK(why && strstr(why, want));
	if (!why || !strstr(why, want)) {
		fprintf(stderr, "\tgot %s\n", why ? why : "(null)");
	}
}

static void
test_scan_refusals(void)
{
	struct setup s = begin();
	struct module *m = s.m;
	const struct expr *one = expr_i32(m, 1);
	struct te_tensor *x = matrix(&s, "X", s.t, s.n);
	struct te_tensor *state = matrix(&s, "state", s.t, s.n);
	struct te_tensor *wide = matrix(&s, "wide", s.t, s.t);
	struct te_tensor *init = step(&s, "first", one, x, 0, NULL);
	struct te_tensor *good = step(&s, "next", s.t, state, -1, x);
	struct te_tensor *other, *y = NULL, *inner;
	const struct expr *shape[] = { s.t, s.n };
	struct iter_var *a = te_axes(m, 2, shape, NULL);
	const struct expr *index[2];
	const char *why = NULL;

	refused(&s, init, good, good, "a state is a placeholder");
	refused(&s, init, state, state, "not computed by te.compute");
	refused(&s, init, step(&s, "short", one, state, 0, NULL), state,
		"and its state");
	refused(&s, wide, good, state, "all but the first dimension");
	refused(&s, matrix(&s, "long", s.n, s.n), good, state,
		"no more than the scan's steps");
	refused(&s, init, step(&s, "now", s.t, state, 0, x), state,
		"not earlier");
	refused(&s, init, step(&s, "ago", s.t, state, -2, x), state,
		"2 steps back, but there are 1");
	/* At a time that has nothing to do with the step's. */
	index[0] = expr_floordiv(m, a[0].var->expr, expr_i32(m, 2));
	index[1] = a[1].var->expr;
	other = te_compute(m, "half", "scan", 2, a, te_at(m, state, index, 2),
			   &state, 1);
	refused(&s, init, other, state, "plus or minus a constant");
	/* A scan inside a step. */
	CHECK(te_scan(m, "Y", "scan", &init, &good, &state, 1, NULL, 0, &y,
		      &why));
	CHECK(!te_check_params(m, (struct te_tensor *[]){ x, good }, 2, &why));
	CHECK(strstr(why, "is read but is not among"));
	other = step(&s, "after", s.t, state, 0, y);
	CHECK(!te_check_params(m, (struct te_tensor *[]){ x, other }, 2, &why));
	CHECK(strstr(why, "has no value outside"));
	other = step(&s, "after", s.t, good, 0, y);
	CHECK(!te_check_params(m, (struct te_tensor *[]){ x, other }, 2, &why));
	CHECK(strstr(why, "use the scan's result"));
	inner = step(&s, "outer", s.t, y, 0, state);
	refused(&s, init, inner, state, "not earlier");
	module_free(s.m);
}

/* ---- reducers */

/* The last of two, or the sum of one and half the other: neither commutes. */
static struct reducer *
make_reducer(struct setup *s, const char *name, bool last)
{
	struct reducer *r = te_reducer_declare(s->m, name, 1, &s->f32);
	const struct expr *x = r->lhs[0]->expr, *y = r->rhs[0]->expr;
	const struct expr *zero = expr_float(s->m, s->f32, 0);
	const struct expr *result = last ? expr_select(s->m,
						       expr_eq(s->m, y, zero),
						       x, y)
					 : expr_sub(s->m, x, y);
	const char *why = NULL;

	CHECK(te_reducer_define(s->m, r, &result, &zero, &why));
	return r;
}

static struct func *
reduce_rows(struct setup *s, const struct reducer *r, struct sched *sched,
	    int *loops)
{
	struct te_tensor *x = matrix(s, "X", s->t, s->n), *y;
	struct iter_var *a = te_axes(s->m, 1, &s->t, NULL);
	struct iter_var k = te_reduce_axis(s->m, "k", s->n);
	const struct expr *index[] = { a[0].var->expr, k.var->expr };
	int64_t factors[] = { 2, 3 };
	struct func *f;
	int *all, n;

	y = te_compute(s->m, "Y", "reduce", 1, a,
		       te_reduce(s->m, r, te_at(s->m, x, index, 2), &k, 1), &x,
		       1);
	f = te_to_func(s->m, "main", (struct te_tensor *[]){ x, y }, 2);
	CHECK(func_verify(f));
	CHECK(func_verify_text(f));
	sched_init(sched, f);
	CHECK(sched_get_loops(sched, sched_get_block(sched, "Y"), &all, &n));
	CHECK(sched_split(sched, all[1], factors, 2, loops));
	return f;
}

static void
test_reducer_text(void)
{
	struct setup s = begin();
	struct sched sched;
	int loops[2], part;
	struct func *f = reduce_rows(&s, make_reducer(&s, "last", true), &sched,
				     loops);
	float in[30], want[5], got[5];
	struct run_arg args[] = { { .data = in }, { .data = want } };
	struct stmt *block = func_find_block(f, "Y");
	struct block_reduction red;
	struct reducer_facts facts;
	const char *why = NULL;

	if (CHECK(match_reduction(f, block, &red, &why))) {
		facts = reducer_try(s.m, red.reducer);
		CHECK(facts.neutral && facts.associative && !facts.commutative);
	}
	for (int i = 0; i < 30; i++) {
		in[i] = (float)(i % 3);
	}
	CHECK(interp_run(f, args, 2));
	for (int i = 0; i < 5; i++) {
		CHECK(want[i] == 2);
	}
	/* The order matters: only the outermost loop may be set apart. */
	CHECK(!sched_rfactor_inside(&sched, loops[1], -1, &part));
	CHECK(strstr(sched.diags.list.data[0].message,
		     "the update of block Y is not commutative; factor its "
		     "outermost reduction loop k_o"));
	CHECK(sched_rfactor_inside(&sched, loops[0], -1, &part));
	args[1].data = got;
	CHECK(func_verify(f) && interp_run(f, args, 2));
	CHECK(memcmp(want, got, sizeof got) == 0);
	check_body(
		f,
		"    # with T.sblock(\"root\"):\n"
		"    Y_part = T.sblock_alloc_buffer((5, 2), \"float32\", "
		"scope=\"local\")\n"
		"    for i0 in range(5):\n"
		"        for k_o, k_i in T.grid(2, 3):\n"
		"            with T.sblock(\"Y_rf\"):\n"
		"                v_i0, v_k_o, v_k_i = T.axis.remap(\"SSR\", "
		"[i0, k_o, k_i])\n"
		"                T.reads(X[v_i0, v_k_o * 3 + v_k_i])\n"
		"                T.writes(Y_part[v_i0, v_k_o])\n"
		"                with T.init():\n"
		"                    Y_part[v_i0, v_k_o] = T.float32(0)\n"
		"                y0: T.float32 = X[v_i0, v_k_o * 3 + v_k_i]\n"
		"                Y_part[v_i0, v_k_o] = T.Select(y0 == "
		"T.float32(0), Y_part[v_i0, v_k_o], y0)\n"
		"        for k_o_1 in range(2):\n"
		"            with T.sblock(\"Y\"):\n"
		"                v_i0_1, v_k_o_1 = T.axis.remap(\"SR\", "
		"[i0, k_o_1])\n"
		"                T.reads(Y_part[v_i0_1, v_k_o_1])\n"
		"                T.writes(Y[v_i0_1])\n"
		"                with T.init():\n"
		"                    Y[v_i0_1] = T.float32(0)\n"
		"                y0_1: T.float32 = Y_part[v_i0_1, v_k_o_1]\n"
		"                Y[v_i0_1] = T.Select(y0_1 == T.float32(0), "
		"Y[v_i0_1], y0_1)\n");
	module_free(s.m);
}

/* No element changes the identity of max or min: neither an infinity nor the
 * extreme finite values of types without one. */
static void
test_identities(void)
{
	struct module *m = module_new();

	for (int kind = 0; kind < DT_COUNT; kind++) {
		struct dtype t = dtype_of((enum dtype_kind)kind);
		double most, least;

		if (!dtype_is_float(t) || dtype_bits(t) > 16) {
			continue;
		}
		most = reducer_min(m, t)->identity[0]->u.fval;
		least = reducer_max(m, t)->identity[0]->u.fval;
		for (uint32_t bits = 0; bits < 1u << dtype_bits(t); bits++) {
			uint8_t bytes[] = { (uint8_t)bits,
					    (uint8_t)(bits >> 8) };
			double v = number_load(t, bytes, 0).f;

			if (!CHECK(isnan(v) || (v <= most && v >= least))) {
				printf("%s: %g\n", dtype_name(t), v);
				break;
			}
		}
	}
	module_free(m);
}

static void
test_reducer_refusals(void)
{
	struct setup s = begin();
	struct module *m = s.m;
	struct sched sched;
	int loops[2], part;
	struct reducer *r = te_reducer_declare(m, "bad", 1, &s.f32);
	struct te_tensor *x = matrix(&s, "X", s.t, s.n);
	const struct expr *at[] = { expr_i32(m, 0), expr_i32(m, 0) };
	const struct expr *zero = expr_float(m, s.f32, 0);
	const struct expr *result = expr_i32(m, 1);
	const char *why = NULL;

	CHECK(!te_reducer_define(m, r, &result, &zero, &why));
	CHECK(strstr(why, "its combination is int32"));
	result = expr_add(m, r->lhs[0]->expr, te_at(m, x, at, 2));
	CHECK(!te_reducer_define(m, r, &result, &zero, &why));
	CHECK(strstr(why, "depends on 'X'"));
	result = r->lhs[0]->expr;
	CHECK(!te_reducer_define(m, r, &result, &r->lhs[0]->expr, &why));
	CHECK(strstr(why, "depends on 'x'"));
	/* x - y: 0 is not neutral on the left. */
	reduce_rows(&s, make_reducer(&s, "minus", false), &sched, loops);
	CHECK(!sched_rfactor_inside(&sched, loops[0], -1, &part));
	CHECK(strstr(sched.diags.list.data[0].message,
		     "is not the identity of its update"));
	module_free(s.m);
}

/* ---- externs */

static const struct expr *
call_of(struct setup *s, const struct buffer *a, const struct buffer *b)
{
	const struct expr *args[3] = { expr_string(s->m, "copy_it") };
	const struct expr *zero[] = { expr_i32(s->m, 0), expr_i32(s->m, 0) };

	for (int i = 0; i < 2; i++) {
		const struct expr *load = expr_load(s->m, i ? b : a, zero, 2);

		args[1 + i] = expr_call(s->m, INTRIN_ADDRESS_OF,
					dtype_of(DT_HANDLE), &load, 1);
	}
	return expr_call(s->m, INTRIN_CALL_EXTERN, dtype_of(DT_I32), args, 3);
}

static void
test_extern(void)
{
	struct setup s = begin();
	const struct expr *shape[] = { s.t, s.n };
	const struct expr *const *shapes[] = { shape };
	struct te_tensor *x = matrix(&s, "X", s.t, s.n), *y;
	struct te_tensor *params[] = { x, NULL };
	struct buffer_spec spec = {
		.name = "v", .type = dtype_of(DT_I32), .ndim = 2, .shape = shape
	};
	const struct buffer *views[2];
	const char *why = NULL;
	int ndim = 2;
	struct func *f;
	float data[30] = { 0 };
	struct run_arg args[] = { { .data = data }, { .data = data } };

	te_extern(s.m, "Y", "extern", &s.f32, &ndim, shapes, 1, &x, 1, &y);
	params[1] = y;
	CHECK(!te_check_params(s.m, params, 2, &why));
	CHECK(strstr(why, "'Y' has no body"));
	views[0] = views[1] = buffer_new(s.m, &spec);
	CHECK(!te_extern_body(s.m, y, views, call_of(&s, x->buffer, y->buffer),
			      NULL, &why));
	CHECK(strstr(why, "has another rank or type"));
	CHECK(!te_extern_body(s.m, y, NULL, NULL, NULL, &why));
	CHECK(!te_extern_body(s.m, x, NULL, call_of(&s, x->buffer, y->buffer),
			      NULL, &why));
	CHECK(te_extern_body(s.m, y, NULL, call_of(&s, x->buffer, y->buffer),
			     NULL, &why));
	CHECK(te_check_params(s.m, params, 2, &why));
	f = te_to_func(s.m, "main", params, 2);
	CHECK(func_verify(f));
	CHECK(func_verify_text(f));
	check_body(f,
		   "    # with T.sblock(\"root\"):\n"
		   "    with T.sblock(\"Y\"):\n"
		   "        T.reads(X[0:5, 0:6])\n"
		   "        T.writes(Y[0:5, 0:6])\n"
		   "        T.evaluate(T.call_extern(\"int32\", \"copy_it\", "
		   "T.address_of(\"handle\", X[0, 0]), "
		   "T.address_of(\"handle\", Y[0, 0])))\n");
	CHECK(!interp_run(f, args, 2));
	CHECK(strstr(s.m->diags.list.data[s.m->diags.list.n - 1].message,
		     "'copy_it' is outside of the module"));
	module_free(s.m);
}

/* ---- declared instructions */

static void
test_intrin_refusals(void)
{
	struct setup s = begin();
	struct te_tensor *x = matrix(&s, "X", s.t, s.n);
	struct te_tensor *y = step(&s, "Y", s.t, x, 0, NULL);
	struct te_tensor *z = step(&s, "Z", s.t, y, 0, NULL);
	const struct tensor_intrin *made = NULL;
	const struct buffer **views;
	const struct expr *call;
	const char *why = NULL;
	struct tensor_call use;
	struct func *f;
	int n;

	views = tensor_intrin_views(s.m, y, &n);
	if (!CHECK_EQ(n, 2)) {
		return;
	}
	call = call_of(&s, views[0], views[1]);
	CHECK(!te_tensor_intrin(s.m, "p", x, views, call, NULL, NULL, &made,
				&why));
	CHECK(strstr(why, "te.compute"));
	CHECK(!te_tensor_intrin(s.m, "c", y, views, NULL, NULL, NULL, &made,
				&why));
	CHECK(strstr(why, "returns no call"));
	CHECK(!te_tensor_intrin(s.m, "i", z, tensor_intrin_views(s.m, z, &n),
				call, NULL, NULL, &made, &why));
	CHECK(strstr(why, "'Y' is computed"));
	CHECK(!te_tensor_intrin(s.m, "f", y, views,
				call_of(&s, x->buffer, views[1]), NULL, NULL,
				&made, &why));
	CHECK(strstr(why, "not one of its buffers"));
	CHECK(te_tensor_intrin(s.m, "copy", y, views, call, call, NULL, &made,
			       &why));
	use = (struct tensor_call){ made, "copy_it", made->reset, views };
	CHECK(!intrinsic_reference(s.m, &use, &why));
	CHECK(strstr(why, "is not a reduction"));
	use.part = made->impl;
	f = intrinsic_reference(s.m, &use, &why);
	if (CHECK(f != NULL)) {
		float in[30], out[30];
		struct run_arg args[] = { { .data = in }, { .data = out } };

		for (int i = 0; i < 30; i++) {
			in[i] = (float)i;
		}
		CHECK_STR_EQ(f->name, "copy_it");
		CHECK(func_verify(f) && interp_run(f, args, 2));
		CHECK(memcmp(in, out, sizeof in) == 0);
	}
	module_free(s.m);
}

int
main(void)
{
	test_scan_text();
	test_scan_schedule();
	test_scan_refusals();
	test_reducer_text();
	test_identities();
	test_reducer_refusals();
	test_extern();
	test_intrin_refusals();
	return check_done();
}
