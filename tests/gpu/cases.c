/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <string.h>

#define F32 dtype_of(DT_F32)

static const struct expr *
size(struct module *m, const struct gpu_case *c, int i)
{
	static const char *const names[] = { "m", "n", "k" };

	return c->symbolic ? var_new_dim(m, names[i], 1, 1 << 14)->expr
			   : expr_i32(m, c->sizes[i]);
}

/* -- vector_add: C[i] = A[i] + B[i] */

static struct func *
make_vector_add(struct module *m, const struct gpu_case *c)
{
	const struct expr *n = size(m, c, 1);
	struct te_tensor *io[3];
	struct iter_var *axes;
	const char *names[] = { "i" };

	io[0] = te_placeholder(m, "A", F32, 1, &n);
	io[1] = te_placeholder(m, "B", F32, 1, &n);
	axes = te_axes(m, 1, &n, names);
	io[2] = te_compute(m, "C", "", 1, axes,
			   expr_add(m, te_at(m, io[0], &axes[0].var->expr, 1),
				    te_at(m, io[1], &axes[0].var->expr, 1)),
			   io, 2);
	return te_to_func(m, "vector_add", io, 3);
}

/* As in the example of TVM's users: the thread's loop is the outer one. */
static bool
schedule_vector_add(struct sched *s)
{
	int *l, n, o[2];

	return sched_get_loops(s, sched_get_block(s, "C"), &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, 32 }, 2, o) &&
	       sched_reorder(s, (int[]){ o[1], o[0] }, 2) &&
	       sched_bind(s, o[0], "blockIdx.x") &&
	       sched_bind(s, o[1], "threadIdx.x");
}

/* -- matmul: C[i, j] = sum A[i, k] B[k, j], tiles of 16 in shared memory */

static struct func *
make_matmul(struct module *m, const struct gpu_case *c)
{
	const struct expr *d[3] = { size(m, c, 0), size(m, c, 1),
				    size(m, c, 2) };
	const struct expr *a[2] = { d[0], d[2] }, *b[2] = { d[2], d[1] };
	const char *names[] = { "i", "j" };
	struct iter_var *axes = te_axes(m, 2, d, names);
	struct iter_var k = te_reduce_axis(m, "k", d[2]);
	const struct expr *ia[2] = { axes[0].var->expr, k.var->expr };
	const struct expr *ib[2] = { k.var->expr, axes[1].var->expr };
	struct te_tensor *io[3];

	io[0] = te_placeholder(m, "A", F32, 2, a);
	io[1] = te_placeholder(m, "B", F32, 2, b);
	io[2] = te_compute(m, "C", "", 2, axes,
			   te_sum(m,
				  expr_mul(m, te_at(m, io[0], ia, 2),
					   te_at(m, io[1], ib, 2)),
				  &k, 1),
			   io, 2);
	return te_to_func(m, "matmul", io, 3);
}

/* A block's loops inside its k_o: fused, and bound to the block's threads. */
static bool
load_together(struct sched *s, int block, int n_threads, int width)
{
	int *l, n, fused, o[3];

	return sched_get_loops(s, block, &l, &n) &&
	       sched_fuse(s, (int[]){ l[n - 2], l[n - 1] }, 2, &fused) &&
	       sched_split(s, fused, (int64_t[]){ 0, n_threads / width, width },
			   3, o) &&
	       sched_bind(s, o[1], "threadIdx.y") &&
	       sched_bind(s, o[2], "threadIdx.x");
}

static bool
schedule_matmul(struct sched *s)
{
	int b = sched_get_block(s, "C"), copy, as, bs, *l, n;
	int i[2], j[2], k[2];

	return sched_cache_write(s, b, 0, "local", &copy) &&
	       sched_get_loops(s, b, &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, 16 }, 2, i) &&
	       sched_split(s, l[1], (int64_t[]){ 0, 16 }, 2, j) &&
	       sched_split(s, l[2], (int64_t[]){ 0, 16 }, 2, k) &&
	       sched_reorder(s, (int[]){ i[0], j[0], i[1], j[1], k[0], k[1] },
			     6) &&
	       sched_bind(s, i[0], "blockIdx.y") &&
	       sched_bind(s, j[0], "blockIdx.x") &&
	       sched_bind(s, i[1], "threadIdx.y") &&
	       sched_bind(s, j[1], "threadIdx.x") &&
	       sched_reverse_compute_at(s, copy, j[1]) &&
	       sched_cache_read(s, b, 0, "shared", &as) &&
	       sched_cache_read(s, b, 1, "shared", &bs) &&
	       sched_compute_at(s, as, k[0]) && sched_compute_at(s, bs, k[0]) &&
	       load_together(s, as, 256, 16) && load_together(s, bs, 256, 16);
}

/* Each thread has two virtual ones along j. */
static bool
schedule_matmul_virtual(struct sched *s)
{
	int b = sched_get_block(s, "C"), copy, as, bs, *l, n;
	int i[2], j[3], k[2];

	return sched_cache_write(s, b, 0, "local", &copy) &&
	       sched_get_loops(s, b, &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, 8 }, 2, i) &&
	       sched_split(s, l[1], (int64_t[]){ 0, 2, 8 }, 3, j) &&
	       sched_split(s, l[2], (int64_t[]){ 0, 8 }, 2, k) &&
	       sched_reorder(s,
			     (int[]){ i[0], j[0], j[1], i[1], j[2], k[0],
				      k[1] },
			     7) &&
	       sched_bind(s, i[0], "blockIdx.y") &&
	       sched_bind(s, j[0], "blockIdx.x") &&
	       sched_bind(s, j[1], "vthread.x") &&
	       sched_bind(s, i[1], "threadIdx.y") &&
	       sched_bind(s, j[2], "threadIdx.x") &&
	       sched_reverse_compute_at(s, copy, j[2]) &&
	       sched_cache_read(s, b, 0, "shared", &as) &&
	       sched_cache_read(s, b, 1, "shared", &bs) &&
	       sched_compute_at(s, as, k[0]) && sched_compute_at(s, bs, k[0]) &&
	       load_together(s, as, 64, 8) && load_together(s, bs, 64, 8);
}

/* While one tile is used the next one is loaded. */
static bool
schedule_matmul_ahead(struct sched *s)
{
	struct sched_value stages[] = { sv_int(0), sv_int(0), sv_int(1) };
	struct sched_value order[] = { sv_int(0), sv_int(1), sv_int(2) };
	int *l, n;

	return schedule_matmul(s) &&
	       sched_get_loops(s, sched_get_block(s, "C"), &l, &n) &&
	       sched_annotate(s, l[4], "software_pipeline_stage",
			      sv_list(s->module, stages, 3)) &&
	       sched_annotate(s, l[4], "software_pipeline_order",
			      sv_list(s->module, order, 3));
}

/* -- row_sum: B[i] = sum A[i, k] */

static struct func *
make_row_sum(struct module *m, const struct gpu_case *c)
{
	const struct expr *d[2] = { size(m, c, 0), size(m, c, 2) };
	const char *names[] = { "i" };
	struct iter_var *axes = te_axes(m, 1, d, names);
	struct iter_var k = te_reduce_axis(m, "k", d[1]);
	const struct expr *ia[2] = { axes[0].var->expr, k.var->expr };
	struct te_tensor *io[2];

	io[0] = te_placeholder(m, "A", F32, 2, d);
	io[1] = te_compute(m, "B", "", 1, axes,
			   te_sum(m, te_at(m, io[0], ia, 2), &k, 1), io, 1);
	return te_to_func(m, "row_sum", io, 2);
}

/* A row per block; the threads sum columns, then each other's sums. */
static bool
schedule_row_sum(struct sched *s)
{
	int *l, n, k[2];

	return sched_get_loops(s, sched_get_block(s, "B"), &l, &n) &&
	       sched_split(s, l[1], (int64_t[]){ 0, 32 }, 2, k) &&
	       sched_bind(s, l[0], "blockIdx.x") &&
	       sched_bind(s, k[1], "threadIdx.x");
}

/* -- stencil: the mean of a cell and its four neighbours, zeros around */

static struct func *
make_stencil(struct module *m, const struct gpu_case *c)
{
	const struct expr *d[2] = { size(m, c, 0), size(m, c, 1) };
	const struct expr *in[2];
	const char *names[] = { "y", "x" };
	struct iter_var *axes = te_axes(m, 2, d, names);
	static const int dy[] = { 1, 0, 1, 2, 1 }, dx[] = { 1, 1, 0, 1, 2 };
	const struct expr *sum = NULL;
	struct te_tensor *io[2];

	for (int i = 0; i < 2; i++) {
		in[i] = expr_add(m, d[i], expr_i32(m, 2));
	}
	io[0] = te_placeholder(m, "A", F32, 2, in);
	for (int i = 0; i < 5; i++) {
		const struct expr *at[2] = {
			expr_add(m, axes[0].var->expr, expr_i32(m, dy[i])),
			expr_add(m, axes[1].var->expr, expr_i32(m, dx[i])),
		};
		const struct expr *e = te_at(m, io[0], at, 2);

		sum = sum ? expr_add(m, sum, e) : e;
	}
	io[1] = te_compute(m, "B", "", 2, axes,
			   expr_mul(m, sum, expr_float(m, F32, 0.2)), io, 1);
	return te_to_func(m, "stencil", io, 2);
}

static bool
schedule_stencil(struct sched *s)
{
	int b = sched_get_block(s, "B"), as, *l, n, y[2], x[2], fused, o[3];

	return sched_cache_read(s, b, 0, "shared", &as) &&
	       sched_get_loops(s, b, &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, 8 }, 2, y) &&
	       sched_split(s, l[1], (int64_t[]){ 0, 32 }, 2, x) &&
	       sched_reorder(s, (int[]){ y[0], x[0], y[1], x[1] }, 4) &&
	       sched_bind(s, y[0], "blockIdx.y") &&
	       sched_bind(s, x[0], "blockIdx.x") &&
	       sched_bind(s, y[1], "threadIdx.y") &&
	       sched_bind(s, x[1], "threadIdx.x") &&
	       sched_compute_at(s, as, x[0]) &&
	       sched_get_loops(s, as, &l, &n) &&
	       sched_fuse(s, (int[]){ l[n - 2], l[n - 1] }, 2, &fused) &&
	       sched_split(s, fused, (int64_t[]){ 0, 8, 32 }, 3, o) &&
	       sched_bind(s, o[1], "threadIdx.y") &&
	       sched_bind(s, o[2], "threadIdx.x");
}

/* -- two stages that meet in no scope: T[i] = A[i] * A[i], B[i] = T[i] + T[i^1]
 * as two kernels with memory of the device between them */

static struct func *
make_two_stages(struct module *m, const struct gpu_case *c)
{
	const struct expr *n = size(m, c, 1);
	const char *names[] = { "i" };
	struct iter_var *t = te_axes(m, 1, &n, names);
	struct iter_var *b = te_axes(m, 1, &n, names);
	struct te_tensor *io[2], *mid;
	const struct expr *e, *last;

	io[0] = te_placeholder(m, "A", F32, 1, &n);
	e = te_at(m, io[0], &t[0].var->expr, 1);
	mid = te_compute(m, "T", "", 1, t, expr_mul(m, e, e), io, 1);
	last = expr_sub(m, expr_sub(m, n, expr_i32(m, 1)), b[0].var->expr);
	io[1] = te_compute(m, "B", "", 1, b,
			   expr_add(m, te_at(m, mid, &b[0].var->expr, 1),
				    te_at(m, mid, &last, 1)),
			   &mid, 1);
	return te_to_func(m, "mirror", io, 2);
}

static bool
bind_1d(struct sched *s, const char *block, int64_t threads)
{
	int *l, n, o[2];

	return sched_get_loops(s, sched_get_block(s, block), &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, threads }, 2, o) &&
	       sched_bind(s, o[0], "blockIdx.x") &&
	       sched_bind(s, o[1], "threadIdx.x");
}

static bool
schedule_two_stages(struct sched *s)
{
	return bind_1d(s, "T", 64) && bind_1d(s, "B", 128);
}

/* -- the same, the first stage within the second's block: 64 threads make
 * what 32 use. */
static struct func *
make_smooth(struct module *m, const struct gpu_case *c)
{
	const struct expr *n = size(m, c, 1);
	const struct expr *wide = expr_add(m, n, expr_i32(m, 2));
	const char *names[] = { "i" };
	struct iter_var *t = te_axes(m, 1, &wide, names);
	struct iter_var *b = te_axes(m, 1, &n, names);
	struct te_tensor *io[2], *mid;
	const struct expr *e, *sum = NULL;

	io[0] = te_placeholder(m, "A", F32, 1, &wide);
	e = te_at(m, io[0], &t[0].var->expr, 1);
	mid = te_compute(m, "T", "", 1, t, expr_call1(m, INTRIN_EXP, e), io, 1);
	for (int i = 0; i < 3; i++) {
		const struct expr *at = expr_add(m, b[0].var->expr,
						 expr_i32(m, i));
		const struct expr *x = te_at(m, mid, &at, 1);

		sum = sum ? expr_add(m, sum, x) : x;
	}
	io[1] = te_compute(m, "B", "", 1, b, sum, &mid, 1);
	return te_to_func(m, "smooth", io, 2);
}

static bool
schedule_smooth(struct sched *s)
{
	int b = sched_get_block(s, "B"), t = sched_get_block(s, "T"), *l, n;
	int o[2], p[2];

	return sched_get_loops(s, b, &l, &n) &&
	       sched_split(s, l[0], (int64_t[]){ 0, 32 }, 2, o) &&
	       sched_bind(s, o[0], "blockIdx.x") &&
	       sched_bind(s, o[1], "threadIdx.x") &&
	       sched_set_scope(s, t, 0, "shared") &&
	       sched_compute_at(s, t, o[0]) && sched_get_loops(s, t, &l, &n) &&
	       sched_split(s, l[n - 1], (int64_t[]){ 0, 64 }, 2, p) &&
	       sched_bind(s, p[1], "threadIdx.x");
}

const struct gpu_case gpu_cases[] = {
	{ "vector_add",
	  { 0, 1000, 0 },
	  true,
	  make_vector_add,
	  schedule_vector_add },
	{ "vector_add_even",
	  { 0, 1024, 0 },
	  false,
	  make_vector_add,
	  schedule_vector_add },
	{ "matmul", { 64, 48, 80 }, false, make_matmul, schedule_matmul },
	{ "matmul_odd", { 50, 37, 70 }, false, make_matmul, schedule_matmul },
	{ "matmul_any", { 33, 47, 19 }, true, make_matmul, schedule_matmul },
	{ "matmul_virtual",
	  { 32, 48, 40 },
	  false,
	  make_matmul,
	  schedule_matmul_virtual },
	{ "matmul_virtual_odd",
	  { 30, 50, 37 },
	  false,
	  make_matmul,
	  schedule_matmul_virtual },
	{ "matmul_ahead",
	  { 32, 48, 64 },
	  false,
	  make_matmul,
	  schedule_matmul_ahead },
	{ "row_sum", { 20, 0, 128 }, false, make_row_sum, schedule_row_sum },
	{ "row_sum_odd", { 7, 0, 100 }, false, make_row_sum, schedule_row_sum },
	{ "row_sum_any", { 9, 0, 77 }, true, make_row_sum, schedule_row_sum },
	{ "stencil", { 32, 64, 0 }, false, make_stencil, schedule_stencil },
	{ "stencil_odd", { 19, 45, 0 }, false, make_stencil, schedule_stencil },
	{ "stencil_any", { 23, 70, 0 }, true, make_stencil, schedule_stencil },
	{ "two_stages",
	  { 0, 1000, 0 },
	  true,
	  make_two_stages,
	  schedule_two_stages },
	{ "smooth", { 0, 130, 0 }, false, make_smooth, schedule_smooth },
	{ "smooth_any", { 0, 131, 0 }, true, make_smooth, schedule_smooth },
};
const int gpu_case_count = sizeof gpu_cases / sizeof gpu_cases[0];

const struct gpu_case *
gpu_case_find(const char *name)
{
	for (int i = 0; i < gpu_case_count; i++) {
		if (strcmp(gpu_cases[i].name, name) == 0) {
			return &gpu_cases[i];
		}
	}
	return NULL;
}
