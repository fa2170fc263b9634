/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules against the interpreter: each kernel is run as te_to_func
 * made it, after its rule, and after lowering, on small integers: the three
 * must agree to the bit. So must the schedules with each other candidate of
 * each decision in the trace. Prints the lowered text when given an argument. */
#include <stdlib.h>

#include "check.h"
#include "default_schedule.h"
#include "interp.h"
#include "kernels.h"
#include "layouts.h"
#include "lower.h"
#include "te.h"
#include "trace.h"

struct kit {
	struct module *m;
	struct te_tensor *params[8];
	bool constant[8];
	int n;
	bool show;
	bool vectors; /* a target that states them */
	bool narrow;  /* its vectors have 16 bytes */
	int warp; /* a device, whose threads run so many together; 0: none */
	int l2_bytes; /* of the target; 0: as much as most have */
};

/* Decisions in the traces of all kernels. */
static int decisions_seen;

static const struct expr *
num(struct kit *k, int64_t v)
{
	return expr_i32(k->m, v);
}

static struct te_tensor *
input(struct kit *k, const char *name, int ndim, const int64_t *dims,
      bool constant)
{
	const struct expr *shape[6];

	for (int d = 0; d < ndim; d++) {
		shape[d] = num(k, dims[d]);
	}
	k->constant[k->n] = constant;
	return k->params[k->n++] = te_placeholder(k->m, name, dtype_of(DT_F32),
						  ndim, shape);
}

static struct iter_var *
axes(struct kit *k, int ndim, const int64_t *dims, const char *const *names)
{
	const struct expr *shape[6];

	for (int d = 0; d < ndim; d++) {
		shape[d] = num(k, dims[d]);
	}
	return te_axes(k->m, ndim, shape, names);
}

static void
result(struct kit *k, struct te_tensor *t)
{
	k->params[k->n++] = t;
}

/* Physical contents of a packed constant. */
static void
pack(struct kit *k, const struct index_map *map, const struct buffer *logical,
     const float *from, const struct buffer *physical, float *to)
{
	int64_t elems;

	buffer_const_elems(physical, &elems);
	for (int64_t i = 0; i < elems; i++) {
		const struct expr *at[8];
		struct var_map values = { map->physical, at, map->n_physical };
		int64_t rest = i, offset = 0, v, inside = 1;

		for (int d = map->n_physical - 1; d >= 0; d--) {
			expr_is_int(physical->shape[d], &v);
			at[d] = num(k, rest % v);
			rest /= v;
		}
		if (map->in_range != NULL) {
			expr_is_int(expr_substitute(k->m, map->in_range,
						    &values),
				    &inside);
		}
		for (int d = 0; d < map->n_logical; d++) {
			int64_t extent;

			expr_is_int(logical->shape[d], &extent);
			expr_is_int(expr_substitute(k->m, map->to_logical[d],
						    &values),
				    &v);
			offset = offset * extent + v;
		}
		to[i] = inside ? from[offset] : 0.0f;
	}
}

static void
verify(void *ctx, const char *pass, const struct func *f)
{
	(void)ctx;
	if (!CHECK(func_verify(f))) {
		fprintf(stderr, "after %s\n", pass);
	}
}

static void
print(const struct func *f)
{
	struct strbuf s;

	strbuf_init(&s);
	func_print(f, SCRIPT_CURRENT, &s);
	puts(s.data);
	strbuf_release(&s);
}

/* Runs f; the output is params[n-1]. */
static void
execute(struct kit *k, struct func *f, float **data, float *out)
{
	struct run_arg args[8] = { 0 };

	for (int i = 0; i < k->n; i++) {
		args[i].data = i == k->n - 1 ? out : data[i];
	}
	CHECK(interp_run(f, args, f->params.n));
}

/* The kernel before its schedule. */
static struct kernel
make_kernel(struct kit *k, const char *name, const struct target *target)
{
	struct kernel kernel = { .name = name };

	kernel.func = te_to_func(k->m, name, k->params, k->n);
	for (int i = 0; i < k->n; i++) {
		struct kernel_arg arg = { .buffer = k->params[i]->buffer };

		if (k->constant[i]) {
			arg.weight = arena_new(&k->m->arena, struct weight);
			arg.weight->buffer = arg.buffer;
		}
		vec_push(&k->m->arena, &kernel.args, arg);
	}
	layouts_widen_rows(k->m, &kernel, target);
	return kernel;
}

/* What the kernel's function must give, and what it reads. */
struct results {
	float *data[8], *want, *got;
	size_t bytes;
};

/* Runs the scheduled kernel, then its lowered function. */
static bool
runs_right(struct kit *k, struct kernel *kernel, const struct target *target,
	   const struct results *r)
{
	const struct pass_hooks hooks = { .after_func = verify };
	float *packed[8];
	bool right;

	verify(NULL, "schedule", kernel->func);
	for (int i = 0; i < k->n; i++) {
		const struct weight *w = kernel->args.data[i].weight;
		const struct buffer *b = kernel->func->params.data[i].buffer;
		int64_t n;

		packed[i] = r->data[i];
		if (w == NULL || w->map == NULL) {
			continue;
		}
		buffer_const_elems(b, &n);
		packed[i] = arena_array(&k->m->arena, float, n);
		pack(k, w->map, w->buffer, r->data[i], b, packed[i]);
	}
	if (k->show) {
		print(kernel->func);
	}
	memset(r->got, 0, r->bytes);
	execute(k, kernel->func, packed, r->got);
	right = CHECK(memcmp(r->want, r->got, r->bytes) == 0);
	kernel_note_vectors(target, kernel->func);
	right &= CHECK(lower_func(kernel->func, &hooks));
	if (k->show) {
		print(kernel->func);
	}
	memset(r->got, 0, r->bytes);
	execute(k, kernel->func, packed, r->got);
	return CHECK(memcmp(r->want, r->got, r->bytes) == 0) && right;
}

/* Applies the steps with another candidate as the decision of step `at`. */
static void
check_candidate(struct kit *k, const char *name, const struct target *target,
		const struct sched *first, int at, int candidate,
		const struct results *r)
{
	struct kernel kernel = make_kernel(k, name, target);
	int n = first->trace.n;
	struct sched_step *steps = arena_copy(&k->m->arena, first->trace.data,
					      sizeof *steps * (size_t)n);
	struct sched_value args[3] = { steps[at].args[0], steps[at].args[1],
				       sv_int(candidate) };
	struct sched s;
	bool right;

	steps[at].args = args;
	sched_init(&s, kernel.func);
	sched_for_kernel(&s, &kernel, target);
	right = CHECK(sched_replay(&s, steps, n)) &&
		CHECK(sched_adopt_layouts(&s, &kernel)) &&
		runs_right(k, &kernel, target, r);
	if (!right) {
		fprintf(stderr, "%s: %lld for decision %d: %s\n", name,
			(long long)args[0].items[candidate].u.ival,
			(int)args[2].u.ival,
			s.diags.list.n > 0
				? s.diags.list.data[s.diags.list.n - 1].message
				: "other results");
	}
}

/* Each candidate of each decision gives a legal schedule with the same
 * results. Returns the number of decisions. */
static int
check_decisions(struct kit *k, const char *name, const struct target *target,
		const struct sched *first, const struct results *r)
{
	int decisions = 0;

	for (int i = 0; i < first->trace.n; i++) {
		const struct sched_step *step = &first->trace.data[i];

		if (strcmp(step->primitive->name, "sample_categorical") != 0) {
			continue;
		}
		decisions++;
		for (int c = 0; c < step->args[0].n; c++) {
			check_candidate(k, name, target, first, i, c, r);
		}
	}
	return decisions;
}

static void
check_kernel(struct kit *k, const char *name, const char *schedule)
{
	static const struct dtype vectors[] = { { DT_F32, 8 }, { DT_F32, 4 } };
	const struct target target = {
		.name = "test",
		.vector_bytes = k->narrow ? 16 : 32,
		.vector_registers = 16,
		.stack_limit_bytes = 4096,
		.align_bytes = 32,
		.l1_bytes = 1 << 15,
		.l2_bytes = k->l2_bytes > 0 ? k->l2_bytes : 1 << 20,
		.block_elems = k->vectors ? 8 : 0,
		.vectors = { vectors, k->vectors ? 2 : 0 },
		.max_threads = k->warp > 0 ? 256 : 0,
		.shared_bytes = 1 << 15,
		.warp_size = k->warp,
		.units = 1,
	};
	struct kernel kernel = make_kernel(k, name, &target);
	struct results r = { .bytes = 0 };
	struct sched s;

	for (int i = 0; i < k->n; i++) {
		int64_t n;

		buffer_const_elems(k->params[i]->buffer, &n);
		r.bytes = sizeof(float) * (size_t)n;
		r.data[i] = arena_array(&k->m->arena, float, n + 1);
		for (int64_t e = 0; e < n; e++) {
			r.data[i][e] = (float)((e * 7 + i * 3) % 11 - 5);
		}
	}
	r.want = arena_alloc(&k->m->arena, r.bytes);
	r.got = arena_alloc(&k->m->arena, r.bytes);
	execute(k, te_to_func(k->m, name, k->params, k->n), r.data, r.want);
	CHECK(default_schedule(&kernel, &target, k->m, &s));
	if (schedule != NULL &&
	    !CHECK(strstr(kernel.schedule, schedule) == kernel.schedule)) {
		fprintf(stderr, "%s: %s\n", name, kernel.schedule);
	}
	if (k->show) {
		printf("# %s\n", kernel.schedule);
	}
	if (!runs_right(k, &kernel, &target, &r)) {
		fprintf(stderr, "%s: other results\n", name);
	}
	decisions_seen += check_decisions(k, name, &target, &s, &r);
	for (int i = 0; i < k->m->diags.list.n; i++) {
		fprintf(stderr, "%s: %s\n", name,
			k->m->diags.list.data[i].message);
	}
}

static void
matmul(struct kit *k, int64_t m, int64_t n, int64_t depth, bool constant,
       bool transposed, bool relu)
{
	const int64_t a_dims[] = { m, depth }, c_dims[] = { m, n };
	const int64_t b_dims[] = { transposed ? n : depth,
				   transposed ? depth : n };
	static const char *const names[] = { "i", "j" };
	struct te_tensor *a = input(k, "a", 2, a_dims, false);
	struct te_tensor *b = input(k, "b", 2, b_dims, constant);
	struct te_tensor *in[2] = { a, b }, *c;
	struct iter_var *ij = axes(k, 2, c_dims, names);
	struct iter_var r = te_reduce_axis(k->m, "k", num(k, depth));
	const struct expr *ai[2] = { ij[0].var->expr, r.var->expr };
	const struct expr *bi[2] = { r.var->expr, ij[1].var->expr };

	if (transposed) {
		bi[0] = ij[1].var->expr;
		bi[1] = r.var->expr;
	}
	c = te_compute(k->m, "c", "matmul", 2, ij,
		       te_sum(k->m,
			      expr_mul(k->m, te_at(k->m, a, ai, 2),
				       te_at(k->m, b, bi, 2)),
			      &r, 1),
		       in, 2);
	if (relu) {
		struct iter_var *xy = axes(k, 2, c_dims, NULL);
		const struct expr *i[2] = { xy[0].var->expr, xy[1].var->expr };

		c = te_compute(k->m, "relu", "elementwise", 2, xy,
			       expr_max(k->m, te_at(k->m, c, i, 2),
					expr_float(k->m, dtype_of(DT_F32), 0)),
			       &c, 1);
	}
	result(k, c);
}

/* c[b][i][j] = sum a[b][i][k] * w[k][j] with one batch, nothing behind it */
static void
batched(struct kit *k)
{
	const int64_t a_dims[] = { 1, 6, 5 }, w_dims[] = { 5, 16 };
	const int64_t c_dims[] = { 1, 6, 16 };
	struct te_tensor *in[2] = { input(k, "a", 3, a_dims, false),
				    input(k, "w", 2, w_dims, true) };
	struct iter_var *o = axes(k, 3, c_dims, NULL);
	struct iter_var r = te_reduce_axis(k->m, "k", num(k, 5));
	const struct expr *ai[3] = { o[0].var->expr, o[1].var->expr,
				     r.var->expr };
	const struct expr *wi[2] = { r.var->expr, o[2].var->expr };

	result(k, te_compute(k->m, "c", "matmul", 3, o,
			     te_sum(k->m,
				    expr_mul(k->m, te_at(k->m, in[0], ai, 3),
					     te_at(k->m, in[1], wi, 2)),
				    &r, 1),
			     in, 2));
}

/* y[oc][oh][ow] = relu(sum x[ic][oh*s + kh - 1][ow*s + kw - 1] * w) */
static void
conv(struct kit *k, int64_t ic, int64_t oc, int64_t size, int64_t stride,
     bool depthwise)
{
	struct module *m = k->m;
	int64_t out = (size - 1) / stride + 1;
	const int64_t x_dims[] = { ic, size, size };
	const int64_t w_dims[] = { oc, depthwise ? 1 : ic, 3, 3 };
	const int64_t y_dims[] = { oc, out, out };
	static const char *const names[] = { "oc", "oh", "ow" };
	struct te_tensor *x = input(k, "x", 3, x_dims, false);
	struct te_tensor *w = input(k, "w", 4, w_dims, true);
	struct te_tensor *in[2] = { x, w }, *y;
	struct iter_var *o = axes(k, 3, y_dims, names);
	struct iter_var r[3] = {
		te_reduce_axis(m, "ic", num(k, depthwise ? 1 : ic)),
		te_reduce_axis(m, "kh", num(k, 3)),
		te_reduce_axis(m, "kw", num(k, 3)),
	};
	const struct expr *ih = expr_sub(m,
					 expr_add(m,
						  expr_mul(m, o[1].var->expr,
							   num(k, stride)),
						  r[1].var->expr),
					 num(k, 1));
	const struct expr *iw = expr_sub(m,
					 expr_add(m,
						  expr_mul(m, o[2].var->expr,
							   num(k, stride)),
						  r[2].var->expr),
					 num(k, 1));
	const struct expr *xi[3] = { depthwise ? o[0].var->expr
					       : r[0].var->expr,
				     ih, iw };
	const struct expr *wi[4] = { o[0].var->expr, r[0].var->expr,
				     r[1].var->expr, r[2].var->expr };
	const struct expr *inside =
		expr_and(m,
			 expr_and(m, expr_le(m, num(k, 0), ih),
				  expr_lt(m, ih, num(k, size))),
			 expr_and(m, expr_le(m, num(k, 0), iw),
				  expr_lt(m, iw, num(k, size))));
	const struct expr *zero = expr_float(m, dtype_of(DT_F32), 0);
	struct iter_var *e = axes(k, 3, y_dims, NULL);
	const struct expr *ei[3] = { e[0].var->expr, e[1].var->expr,
				     e[2].var->expr };

	y = te_compute(m, "conv", "conv", 3, o,
		       te_sum(m,
			      expr_mul(m,
				       expr_if(m, inside, te_at(m, x, xi, 3),
					       zero),
				       te_at(m, w, wi, 4)),
			      r, 3),
		       in, 2);
	result(k, te_compute(m, "relu", "elementwise", 3, e,
			     expr_max(m, te_at(m, y, ei, 3), zero), &y, 1));
}

/* y[n][c][oh] = sum x[n][c // 8][oh + kh][c % 8] * w[c // 8][kh][c % 8] */
static void
images(struct kit *k, int64_t n, int64_t c, int64_t size)
{
	struct module *m = k->m;
	const int64_t x_dims[] = { n, c / 8, size + 2, 8 };
	const int64_t w_dims[] = { c / 8, 3, 8 };
	const int64_t y_dims[] = { n, c, size };
	static const char *const names[] = { "n", "c", "oh" };
	struct te_tensor *in[2] = { input(k, "x", 4, x_dims, false),
				    input(k, "w", 3, w_dims, true) };
	struct iter_var *o = axes(k, 3, y_dims, names);
	struct iter_var r = te_reduce_axis(m, "kh", num(k, 3));
	const struct expr *block = expr_floordiv(m, o[1].var->expr, num(k, 8));
	const struct expr *lane = expr_floormod(m, o[1].var->expr, num(k, 8));
	const struct expr *xi[4] = { o[0].var->expr, block,
				     expr_add(m, o[2].var->expr, r.var->expr),
				     lane };
	const struct expr *wi[3] = { block, r.var->expr, lane };

	result(k, te_compute(m, "y", "conv", 3, o,
			     te_sum(m,
				    expr_mul(m, te_at(m, in[0], xi, 4),
					     te_at(m, in[1], wi, 3)),
				    &r, 1),
			     in, 2));
}

/* y[oc][oh][ow] = relu(sum x[oc // 4 * 2 + ic][oh + kh - 1][ow + kw - 1] * w) or
 * relu(sum x[oc + r - 1][oh][ow]) */
static void
near(struct kit *k, bool grouped)
{
	struct module *m = k->m;
	const int64_t dims[] = { 8, 12, 12 }, w_dims[] = { 8, 2, 3, 3 };
	static const char *const names[] = { "oc", "oh", "ow" };
	struct te_tensor *in[2] = { input(k, "x", 3, dims, false) }, *y;
	struct iter_var *o = axes(k, 3, dims, names), *e;
	struct iter_var r[3] = {
		te_reduce_axis(m, "ic", num(k, grouped ? 2 : 3)),
		te_reduce_axis(m, "kh", num(k, 3)),
		te_reduce_axis(m, "kw", num(k, 3)),
	};
	const struct expr *c = o[0].var->expr, *h = o[1].var->expr;
	const struct expr *w = o[2].var->expr, *value;
	const struct expr *zero = expr_float(m, dtype_of(DT_F32), 0);
	const struct expr *ei[3];

	if (grouped) {
		const struct expr *ih = expr_sub(m,
						 expr_add(m, h, r[1].var->expr),
						 num(k, 1));
		const struct expr *iw = expr_sub(m,
						 expr_add(m, w, r[2].var->expr),
						 num(k, 1));
		const struct expr *at[3] = {
			expr_add(m,
				 expr_mul(m, expr_floordiv(m, c, num(k, 4)),
					  num(k, 2)),
				 r[0].var->expr),
			ih, iw
		};
		const struct expr *wi[4] = { c, r[0].var->expr, r[1].var->expr,
					     r[2].var->expr };
		const struct expr *inside =
			expr_and(m,
				 expr_and(m, expr_le(m, num(k, 0), ih),
					  expr_lt(m, ih, num(k, 12))),
				 expr_and(m, expr_le(m, num(k, 0), iw),
					  expr_lt(m, iw, num(k, 12))));

		in[1] = input(k, "w", 4, w_dims, true);
		value = expr_mul(m,
				 expr_if(m, inside, te_at(m, in[0], at, 3),
					 zero),
				 te_at(m, in[1], wi, 4));
	} else {
		const struct expr *ic = expr_sub(m,
						 expr_add(m, c, r[0].var->expr),
						 num(k, 1));
		const struct expr *at[3] = { ic, h, w };

		value = expr_if(m,
				expr_and(m, expr_le(m, num(k, 0), ic),
					 expr_lt(m, ic, num(k, 8))),
				te_at(m, in[0], at, 3), zero);
	}
	y = te_compute(m, "sum", "sum", 3, o,
		       te_sum(m, value, r, grouped ? 3 : 1), in,
		       grouped ? 2 : 1);
	e = axes(k, 3, dims, NULL);
	for (int d = 0; d < 3; d++) {
		ei[d] = e[d].var->expr;
	}
	result(k, te_compute(m, "relu", "elementwise", 3, e,
			     expr_max(m, te_at(m, y, ei, 3), zero), &y, 1));
}

/* The rows of a matrix minus their maximum, over their sum. */
static void
rowwise(struct kit *k, int64_t rows, int64_t columns)
{
	struct module *m = k->m;
	const int64_t dims[] = { rows, columns };
	struct te_tensor *x = input(k, "x", 2, dims, false), *in[3] = { x };
	struct iter_var *a = axes(k, 1, dims, NULL), *b, *o;
	struct iter_var r = te_reduce_axis(m, "k", num(k, columns));
	const struct expr *at[2] = { a[0].var->expr, r.var->expr };
	const struct expr *value;

	in[1] = te_compute(m, "top", "reduce", 1, a,
			   te_reduce(m, reducer_max(m, dtype_of(DT_F32)),
				     te_at(m, x, at, 2), &r, 1),
			   in, 1);
	b = axes(k, 1, dims, NULL);
	r = te_reduce_axis(m, "k", num(k, columns));
	at[0] = b[0].var->expr;
	at[1] = r.var->expr;
	in[2] = te_compute(m, "total", "reduce", 1, b,
			   te_sum(m,
				  expr_sub(m, te_at(m, in[1], at, 1),
					   te_at(m, x, at, 2)),
				  &r, 1),
			   in, 2);
	o = axes(k, 2, dims, NULL);
	at[0] = o[0].var->expr;
	at[1] = o[1].var->expr;
	value = expr_add(m,
			 expr_sub(m, te_at(m, x, at, 2),
				  te_at(m, in[1], at, 1)),
			 te_at(m, in[2], at, 1));
	result(k, te_compute(m, "out", "elementwise", 2, o, value, in, 3));
}

static void
elementwise(struct kit *k, bool bias)
{
	const int64_t dims[] = { 3, 4, 5 }, one[] = { 3 };
	struct te_tensor *in[2] = { input(k, "x", 3, dims, false) };
	struct iter_var *o = axes(k, 3, dims, NULL);
	const struct expr *at[3] = { o[0].var->expr, o[1].var->expr,
				     o[2].var->expr };
	const struct expr *v = te_at(k->m, in[0], at, 3);

	if (bias) {
		in[1] = input(k, "b", 1, one, true);
		v = expr_add(k->m, v, te_at(k->m, in[1], at, 1));
	}
	result(k, te_compute(k->m, "y", "elementwise", 3, o,
			     expr_max(k->m, v,
				      expr_float(k->m, dtype_of(DT_F32), 0)),
			     in, bias ? 2 : 1));
}

/* y[leading axes] = sum over the last n_sums axes of x */
static void
sums(struct kit *k, int ndim, const int64_t *dims, int n_sums)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	int n = ndim - n_sums;
	struct te_tensor *x = input(k, "x", ndim, dims, false);
	struct iter_var *o = axes(k, n, dims, names);
	struct iter_var r[4];
	const struct expr *at[4];

	for (int d = 0; d < ndim; d++) {
		if (d >= n) {
			r[d - n] = te_reduce_axis(k->m, names[d],
						  num(k, dims[d]));
		}
		at[d] = d < n ? o[d].var->expr : r[d - n].var->expr;
	}
	result(k, te_compute(k->m, "y", "sum", n, o,
			     te_sum(k->m, te_at(k->m, x, at, ndim), r, n_sums),
			     &x, 1));
}

#define SUMS(n_sums, ...)                                                      \
	sums(&k, (int)(sizeof(int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)),    \
	     (int64_t[]){ __VA_ARGS__ }, n_sums)
#define CASE(name, schedule, build)                                            \
	CASE_OF(false, false, 0, name, schedule, build)
#define CASE_NARROW(name, schedule, build)                                     \
	CASE_OF(false, true, 0, name, schedule, build)
#define CASE_VECTORS(name, schedule, build)                                    \
	CASE_OF(true, false, 0, name, schedule, build)
#define CASE_WARP(threads, name, schedule, build)                              \
	CASE_OF(false, false, threads, name, schedule, build)
#define CASE_OF(with_vectors, with_narrow, threads, name, schedule, build)     \
	do {                                                                   \
		struct kit k = { .m = module_new(),                            \
				 .show = show,                                 \
				 .vectors = with_vectors,                      \
				 .narrow = with_narrow,                        \
				 .warp = threads };                            \
		build;                                                         \
		check_kernel(&k, name, schedule);                              \
		module_free(k.m);                                              \
	} while (0)

int
main(int argc, char **argv)
{
	bool show = argc > 1;

	(void)argv;
	CASE("flat", "elementwise", elementwise(&k, false));
	CASE("biased", "elementwise", elementwise(&k, true));
	CASE_NARROW("few_terms", "reduction  one accumulator", SUMS(1, 2, 256));
	CASE_NARROW("many_terms",
		    "reduction  one accumulator, sums in blocks of 256",
		    SUMS(1, 2, 1031));
	CASE_NARROW("rows_of_terms",
		    "reduction  one accumulator, sums in blocks of 256",
		    SUMS(3, 1, 3, 50, 40));
	CASE_NARROW("planes_of_terms",
		    "reduction  one accumulator, sums in blocks of 256",
		    SUMS(2, 2, 20, 40));
	CASE("terms_by_loops", "rowwise  2 stages per row, sums by lanes",
	     SUMS(1, 2, 256));
	CASE_VECTORS("terms_by_lanes",
		     "rowwise  2 stages per row, sums by lanes",
		     SUMS(1, 2, 2501));
	CASE_VECTORS("many_terms_by_lanes",
		     "rowwise  2 stages per row, sums by lanes, sums in blocks "
		     "of 256",
		     SUMS(1, 2, 20501));
	CASE_VECTORS("rows_by_lanes", NULL, SUMS(3, 1, 5, 60, 44));
	CASE("many_products",
	     "tiled  j_tile 16, i_tile 2, sums in blocks of 1024",
	     matmul(&k, 2, 16, 2050, false, false, false));
	CASE("matmul", "tiled", matmul(&k, 12, 32, 5, false, false, false));
	CASE("odd", "tiled", matmul(&k, 7, 13, 5, false, false, true));
	CASE("prime", "tiled", matmul(&k, 3, 37, 5, false, false, true));
	CASE("gemv", "tiled", matmul(&k, 1, 10, 6, true, false, true));
	CASE("packed", "tiled", matmul(&k, 4, 24, 6, true, true, true));
	CASE("padded", "tiled", matmul(&k, 4, 37, 6, true, true, false));
	CASE("turned", "tiled  j_tile 8, i_tile 5, b copied by 8 lanes",
	     matmul(&k, 5, 8, 6, false, true, false));
	CASE("turned_rest", "tiled  j_tile 8, i_tile 14, b copied by 8 lanes",
	     matmul(&k, 14, 37, 5, false, true, true));
	/* Not worth a copy. */
	CASE("turned_row", "tiled  j_tile 32",
	     matmul(&k, 1, 32, 6, false, true, false));
	CASE("batched", "tiled", batched(&k));
	CASE("conv3x3", "tiled", conv(&k, 3, 16, 14, 1, false));
	CASE("strided", "tiled", conv(&k, 5, 8, 9, 2, false));
	CASE("depthwise", NULL, conv(&k, 6, 6, 7, 1, true));
	CASE_WARP(32, "warp32", "together  32 threads",
		  matmul(&k, 2, 3, 70, false, false, false));
	CASE_WARP(64, "warp64", "together  64 threads",
		  matmul(&k, 2, 3, 70, false, false, false));
	/* More terms than a block of sums has, and more weights than the cache
	 * holds. */
	CASE_VECTORS("strips", "tiled  j_tile 16, i_tile 4, b packed by 16",
		     k.l2_bytes = 1 << 18;
		     matmul(&k, 4, 64, 1031, true, false, false));
	CASE_VECTORS("padded_lanes",
		     "tiled  j_tile 16, i_tile 4, b packed by 16",
		     matmul(&k, 4, 37, 6, true, true, true));
	CASE_VECTORS("padded_vectors",
		     "tiled  j_tile 16, i_tile 4, b packed by 16",
		     matmul(&k, 4, 43, 6, true, false, true));
	CASE_VECTORS("padded_row", "tiled  j_tile 8",
		     matmul(&k, 1, 43, 6, true, false, true));
	CASE_VECTORS("padded_conv",
		     "tiled  oc_tile 16, ow_tile 6, w packed by "
		     "16",
		     conv(&k, 3, 11, 6, 1, false));
	/* Elements of the rows are spread by loads, which are fewer for several
	 * vectors of lanes, also where only single ones divide the axis. */
	CASE_VECTORS("wide", "tiled  j_tile 16, i_tile 5, b packed by 16",
		     matmul(&k, 15, 64, 40, true, true, true));
	CASE_VECTORS("wide_padded",
		     "tiled  j_tile 16, i_tile 6, b packed by 16",
		     matmul(&k, 12, 88, 40, true, true, true));
	/* With few results the additions of a tile would wait for each other. */
	CASE_VECTORS("few_results", "rowwise  2 stages per row, sums by lanes",
		     matmul(&k, 1, 10, 256, true, false, true));
	CASE_VECTORS("few_results_turned",
		     "rowwise  2 stages per row, sums by lanes",
		     matmul(&k, 1, 10, 250, true, true, false));
	CASE_VECTORS("few_results_of_rows",
		     "rowwise  2 stages per row, sums by lanes",
		     matmul(&k, 8, 2, 256, true, false, true));
	CASE_VECTORS("enough_rows", "tiled",
		     matmul(&k, 8, 8, 256, true, false, true));
	CASE_VECTORS("enough_results", "tiled",
		     matmul(&k, 1, 64, 256, true, false, true));
	/* The channels are in blocks; images lie apart. */
	CASE_VECTORS("one_image", "tiled  c_tile 8, oh_tile 4",
		     images(&k, 1, 16, 12));
	CASE_VECTORS("images", "tiled  c_tile 8, oh_tile 4",
		     images(&k, 8, 16, 12));
	CASE_VECTORS("window8", "window over copied rows  ow_lanes 8",
		     conv(&k, 3, 3, 7, 1, true));
	CASE_VECTORS("window16", "window over copied rows  ow_lanes 16",
		     conv(&k, 3, 3, 14, 1, true));
	CASE_VECTORS("window12", "window over copied rows  ow_lanes 12",
		     conv(&k, 2, 2, 11, 1, true));
	CASE_VECTORS("window40", "window over copied rows  ow_lanes 8",
		     conv(&k, 2, 2, 40, 1, true));
	CASE_VECTORS("window_short", "reduction", conv(&k, 2, 2, 3, 1, true));
	CASE_VECTORS("window_groups", "tiled", near(&k, true));
	CASE_VECTORS("window_channels", "window  oh_ow_lanes 16",
		     near(&k, false));
	CASE_VECTORS("window_by_2", "reduction", conv(&k, 2, 2, 14, 2, true));
	CASE("rows", "rowwise", rowwise(&k, 5, 9));
	CASE_NARROW("sum", "reduction  one accumulator", SUMS(1, 5, 64));
	CASE_VECTORS("sum_lanes", "rowwise  2 stages per row, sums by lanes",
		     SUMS(1, 5, 64));
	CASE_VECTORS("sum_rest", "rowwise  2 stages per row, sums by lanes",
		     SUMS(1, 5, 37));
	CASE_VECTORS("sum_axes", "rowwise  2 stages per row, sums by lanes",
		     SUMS(2, 5, 3, 16));
	CASE_VECTORS("sum_fused", "rowwise  2 stages per row, sums by lanes",
		     SUMS(2, 2, 3, 7, 7));
	CASE_VECTORS("sum_all",
		     "rowwise  2 stages one after the other, sums by lanes",
		     SUMS(4, 3, 2, 7, 7));
	/* A matrix by one vector: its elements are read once, in order. */
	CASE_VECTORS("sum_products", "rowwise  2 stages per row, sums by lanes",
		     matmul(&k, 1, 32, 64, false, true, false));
	CASE_VECTORS("sum_products_fused",
		     "rowwise  2 stages per row, sums by lanes",
		     matmul(&k, 1, 32, 64, false, true, true));
	CASE_VECTORS("sum_products_packed", "tiled",
		     matmul(&k, 1, 32, 64, true, true, false));
	CASE_VECTORS("sum_short", "reduction  one accumulator", SUMS(1, 5, 12));
	/* Decisions of several kinds: rows and lanes of tiles, tiles along the
	 * sum, threads, vectors. */
	CASE("open_tile", "tiled", matmul(&k, 14, 48, 5, true, true, true));
	CASE("open_rest", "tiled", matmul(&k, 13, 48, 5, true, true, true));
	CASE("open_conv", "tiled", conv(&k, 2, 24, 14, 1, false));
	CASE_VECTORS("open_vectors", "tiled",
		     matmul(&k, 28, 48, 5, true, true, true));
	CASE_VECTORS("open_strips", "tiled",
		     matmul(&k, 4, 96, 5, true, true, true));
	CASE_VECTORS("open_copy", "tiled",
		     matmul(&k, 14, 48, 5, false, true, true));
	CASE_VECTORS("open_conv_vectors", "tiled",
		     conv(&k, 2, 32, 14, 1, false));
	CASE_VECTORS("open_window", "window", conv(&k, 2, 2, 48, 1, true));
	CASE_VECTORS("open_channels", "window", near(&k, false));
	CASE_WARP(32, "open_threads", "threads", elementwise(&k, true));
	CASE_WARP(32, "open_sums", "threads", SUMS(1, 70, 8));
	CASE_WARP(32, "open_rows", "together", SUMS(1, 70, 128));
	CASE_WARP(16, "open_shared", "staged",
		  matmul(&k, 32, 32, 16, false, false, true));
	CHECK(decisions_seen >= 26);
	return check_done();
}
