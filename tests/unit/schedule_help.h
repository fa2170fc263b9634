/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs to schedule, and running them before and after. */
#ifndef SCHEDULE_HELP_H
#define SCHEDULE_HELP_H

#include <stdlib.h>

#include "check.h"

#include "interp.h"
#include "lower.h"
#include "schedule.h"
#include "te.h"

/* A program with its parameters' data, and what it computed at first. */
struct trial {
	struct module *m;
	struct func *f;
	struct sched s;
	struct run_arg *args;
	int64_t *bytes;
	void **first; /* what each parameter held after the first run */
	int n;
};

static void
trial_fill(struct trial *t)
{
	unsigned state = 1;

	for (int i = 0; i < t->n; i++) {
		float *data = t->args[i].data;

		for (int64_t k = 0; data && k < t->bytes[i] / 4; k++) {
			state = state * 1103515245u + 12345u;
			data[k] = (float)((int)(state >> 16) % 9 - 4);
		}
	}
}

static bool
trial_run(struct trial *t)
{
	bool ok;

	trial_fill(t);
	ok = interp_run(t->f, t->args, t->n);
	for (int i = 0; !ok && i < t->m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", t->m->diags.list.data[i].message);
	}
	return ok;
}

static void
trial_print(const struct func *f)
{
	struct strbuf out;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	fprintf(stderr, "%s\n", out.data);
	strbuf_release(&out);
}

/* All parameters are float buffers of constant shape. */
static inline void
trial_start(struct trial *t, struct module *m, struct func *f)
{
	struct arena *a = &m->arena;

	t->m = m;
	t->f = f;
	t->n = f->params.n;
	t->args = arena_array(a, struct run_arg, t->n);
	t->bytes = arena_array(a, int64_t, t->n);
	t->first = arena_array(a, void *, t->n);
	for (int i = 0; i < t->n; i++) {
		int64_t elems = 0;

		CHECK(buffer_const_elems(f->params.data[i].buffer, &elems));
		t->bytes[i] = elems * 4;
		t->args[i].data = arena_alloc(a, (size_t)elems * 4);
	}
	CHECK(func_verify(f));
	CHECK(trial_run(t));
	for (int i = 0; i < t->n; i++) {
		t->first[i] = arena_copy(a, t->args[i].data,
					 (size_t)t->bytes[i]);
	}
	sched_init(&t->s, f);
}

/* Sums may be taken in another order. */
static inline bool
trial_close(const float *x, const float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float scale = x[i] < 0 ? -x[i] : x[i];
		float error = x[i] < y[i] ? y[i] - x[i] : x[i] - y[i];

		if (!(error <= 1e-5f * scale + 1e-6f)) {
			return false;
		}
	}
	return true;
}

/* The same results as at first? */
static inline bool
trial_same(struct trial *t)
{
	bool same = CHECK(func_verify(t->f)) && CHECK(trial_run(t));

	for (int i = 0; same && i < t->n; i++) {
		same = CHECK(trial_close(t->first[i], t->args[i].data,
					 t->bytes[i] / 4));
	}
	for (int i = 0; i < t->s.diags.list.n; i++) {
		fprintf(stderr, "%s\n", t->s.diags.list.data[i].message);
	}
	for (int i = 0; i < t->m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", t->m->diags.list.data[i].message);
	}
	if (!same || getenv("PRINT")) {
		trial_print(t->f);
	}
	return same;
}

static inline void
trial_after(void *ctx, const char *pass, const struct func *f)
{
	(void)ctx;
	if (getenv("PRINT_AFTER")) {
		fprintf(stderr, "after %s:\n", pass);
		trial_print(f);
	}
	CHECK(func_verify(f));
}

/* Lowers, and checks again. */
static inline bool
trial_lower(struct trial *t)
{
	struct pass_hooks hooks = { .ctx = t, .after_func = trial_after };

	func_commit(t->f);
	return CHECK(lower_func(t->f, &hooks)) && trial_same(t);
}

static inline bool
trial_text_has(const struct trial *t, const char *text)
{
	struct strbuf out;
	bool found;

	strbuf_init(&out);
	func_print(t->f, SCRIPT_CURRENT, &out);
	found = strstr(out.data, text) != NULL;
	strbuf_release(&out);
	return found;
}

static inline struct te_tensor *
input(struct module *m, const char *name, int ndim, const int *shape)
{
	const struct expr *dims[8];

	for (int d = 0; d < ndim; d++) {
		dims[d] = expr_i32(m, shape[d]);
	}
	return te_placeholder(m, name, dtype_of(DT_F32), ndim, dims);
}

static inline struct iter_var *
axes(struct module *m, int ndim, const int *shape, const char *const *names)
{
	const struct expr *dims[8];

	for (int d = 0; d < ndim; d++) {
		dims[d] = expr_i32(m, shape[d]);
	}
	return te_axes(m, ndim, dims, names);
}

/* c[i, j] = max(sum_k a[i, k] * b[k, j] + bias[j], 0): blocks "c", "y" */
static inline struct func *
make_matmul(struct module *m, int rows, int depth, int cols)
{
	static const char *const names[] = { "i", "j" };
	struct te_tensor *a = input(m, "a", 2, (int[]){ rows, depth });
	struct te_tensor *b = input(m, "b", 2, (int[]){ depth, cols });
	struct te_tensor *bias = input(m, "bias", 1, (int[]){ cols });
	struct iter_var *ij = axes(m, 2, (int[]){ rows, cols }, names);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, depth));
	const struct expr *i = ij[0].var->expr, *j = ij[1].var->expr;
	const struct expr *product =
		expr_mul(m,
			 te_at(m, a, (const struct expr *[]){ i, k.var->expr },
			       2),
			 te_at(m, b, (const struct expr *[]){ k.var->expr, j },
			       2));
	struct te_tensor *c = te_compute(m, "c", "matmul", 2, ij,
					 te_sum(m, product, &k, 1),
					 (struct te_tensor *[]){ a, b }, 2);
	struct iter_var *pq = axes(m, 2, (int[]){ rows, cols }, names);
	const struct expr *at[] = { pq[0].var->expr, pq[1].var->expr };
	struct te_tensor *y =
		te_compute(m, "y", "elementwise", 2, pq,
			   expr_max(m,
				    expr_add(m, te_at(m, c, at, 2),
					     te_at(m, bias, at + 1, 1)),
				    expr_float(m, dtype_of(DT_F32), 0)),
			   (struct te_tensor *[]){ c, bias }, 2);

	return te_to_func(m, "matmul", (struct te_tensor *[]){ a, b, bias, y },
			  4);
}

/* Blocks "pad", "conv", "y" (bias and Relu). */
static inline struct func *
make_conv(struct module *m, int channels, int size, int out_channels,
	  int kernel, int stride)
{
	static const char *const names[] = { "n", "oc", "h", "w" };
	int pad = kernel / 2;
	int out = (size + 2 * pad - kernel) / stride + 1;
	int wide = size + 2 * pad;
	struct te_tensor *x = input(m, "x", 4,
				    (int[]){ 1, channels, size, size });
	struct te_tensor *w = input(m, "w", 4,
				    (int[]){ out_channels, channels, kernel,
					     kernel });
	struct te_tensor *bias = input(m, "bias", 1, (int[]){ out_channels });
	struct iter_var *p = axes(m, 4, (int[]){ 1, channels, wide, wide },
				  NULL);
	const struct expr *lo = expr_i32(m, pad), *hi = expr_i32(m, pad + size);
	const struct expr *ph = p[2].var->expr, *pw = p[3].var->expr;
	const struct expr *inside =
		expr_and(m, expr_and(m, expr_le(m, lo, ph), expr_lt(m, ph, hi)),
			 expr_and(m, expr_le(m, lo, pw), expr_lt(m, pw, hi)));
	struct te_tensor *padded =
		te_compute(m, "pad", "injective", 4, p,
			   expr_if(m, inside,
				   te_at(m, x,
					 (const struct expr *[]){
						 p[0].var->expr, p[1].var->expr,
						 expr_sub(m, ph, lo),
						 expr_sub(m, pw, lo) },
					 4),
				   expr_float(m, dtype_of(DT_F32), 0)),
			   &x, 1);
	struct iter_var *o = axes(m, 4, (int[]){ 1, out_channels, out, out },
				  names);
	struct iter_var r[3] = {
		te_reduce_axis(m, "ic", expr_i32(m, channels)),
		te_reduce_axis(m, "kh", expr_i32(m, kernel)),
		te_reduce_axis(m, "kw", expr_i32(m, kernel)),
	};
	const struct expr *s = expr_i32(m, stride);
	const struct expr *xi[] = {
		o[0].var->expr,
		r[0].var->expr,
		expr_add(m, expr_mul(m, o[2].var->expr, s), r[1].var->expr),
		expr_add(m, expr_mul(m, o[3].var->expr, s), r[2].var->expr),
	};
	const struct expr *wi[] = { o[1].var->expr, r[0].var->expr,
				    r[1].var->expr, r[2].var->expr };
	struct te_tensor *conv =
		te_compute(m, "conv", "conv", 4, o,
			   te_sum(m,
				  expr_mul(m, te_at(m, padded, xi, 4),
					   te_at(m, w, wi, 4)),
				  r, 3),
			   (struct te_tensor *[]){ padded, w }, 2);
	struct iter_var *q = axes(m, 4, (int[]){ 1, out_channels, out, out },
				  names);
	const struct expr *at[] = { q[0].var->expr, q[1].var->expr,
				    q[2].var->expr, q[3].var->expr };
	struct te_tensor *y =
		te_compute(m, "y", "elementwise", 4, q,
			   expr_max(m,
				    expr_add(m, te_at(m, conv, at, 4),
					     te_at(m, bias, at + 1, 1)),
				    expr_float(m, dtype_of(DT_F32), 0)),
			   (struct te_tensor *[]){ conv, bias }, 2);

	return te_to_func(m, "conv", (struct te_tensor *[]){ x, w, bias, y },
			  4);
}

/* Softmax along the last axis: blocks "top", "e", "sum", "y". */
static inline struct func *
make_softmax(struct module *m, int rows, int cols)
{
	static const char *const names[] = { "i", "j" };
	struct te_tensor *x = input(m, "x", 2, (int[]){ rows, cols });
	struct iter_var *i = axes(m, 1, (int[]){ rows }, names);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, cols));
	const struct expr *at[] = { i[0].var->expr, k.var->expr };
	struct te_tensor *top =
		te_compute(m, "top", "reduce", 1, i,
			   te_reduce(m, reducer_max(m, dtype_of(DT_F32)),
				     te_at(m, x, at, 2), &k, 1),
			   &x, 1);
	struct iter_var *ij = axes(m, 2, (int[]){ rows, cols }, names);
	const struct expr *at2[] = { ij[0].var->expr, ij[1].var->expr };
	struct te_tensor *e =
		te_compute(m, "e", "elementwise", 2, ij,
			   expr_call1(m, INTRIN_EXP,
				      expr_sub(m, te_at(m, x, at2, 2),
					       te_at(m, top, at2, 1))),
			   (struct te_tensor *[]){ x, top }, 2);
	struct iter_var *p = axes(m, 1, (int[]){ rows }, names);
	struct iter_var q = te_reduce_axis(m, "k", expr_i32(m, cols));
	const struct expr *at3[] = { p[0].var->expr, q.var->expr };
	struct te_tensor *sum = te_compute(m, "sum", "reduce", 1, p,
					   te_sum(m, te_at(m, e, at3, 2), &q,
						  1),
					   &e, 1);
	struct iter_var *ij4 = axes(m, 2, (int[]){ rows, cols }, names);
	const struct expr *at4[] = { ij4[0].var->expr, ij4[1].var->expr };
	struct te_tensor *y = te_compute(m, "y", "elementwise", 2, ij4,
					 expr_div(m, te_at(m, e, at4, 2),
						  te_at(m, sum, at4, 1)),
					 (struct te_tensor *[]){ e, sum }, 2);

	return te_to_func(m, "softmax", (struct te_tensor *[]){ x, y }, 2);
}

/* y[c, h, w] = x[c, h, w] + z[c, h, w] (+ b[c] if with_bias) */
static inline struct func *
make_add(struct module *m, int c, int h, int w, bool with_bias)
{
	static const char *const names[] = { "n", "c", "h", "w" };
	int shape[] = { 1, c, h, w };
	struct te_tensor *x = input(m, "x", 4, shape);
	struct te_tensor *z = input(m, "z", 4, shape);
	struct te_tensor *b = input(m, "b", 1, shape + 1);
	struct iter_var *i = axes(m, 4, shape, names);
	const struct expr *at[] = { i[0].var->expr, i[1].var->expr,
				    i[2].var->expr, i[3].var->expr };
	const struct expr *sum = expr_add(m, te_at(m, x, at, 4),
					  te_at(m, z, at, 4));
	struct te_tensor *y;

	if (with_bias) {
		sum = expr_add(m, sum, te_at(m, b, at + 1, 1));
	}
	y = te_compute(m, "y", "elementwise", 4, i, sum,
		       (struct te_tensor *[]){ x, z, b }, 3);
	return te_to_func(m, "add", (struct te_tensor *[]){ x, z, b, y }, 4);
}

#endif
