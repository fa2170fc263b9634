/* SPDX-License-Identifier: Apache-2.0 */
/* Scans, externs, loops with a condition and reducers of one's own as source,
 * at sizes that are and are not multiples of the tiles.
 * argv: dialect, folder to work in, compiler and flags. */
#include "source_run.h"

#include "intrinsic_make.h"
#include "intrinsics_attach.h"
#include "primitive.h"
#include "schedule.h"
#include "te.h"

static const int64_t small_sizes[][3] = {
	{ 1, 1, 1 },
	{ 5, 3, 2 },
	{ 8, 16, 4 },
	{ 9, 33, 7 },
};

enum { N_SIZES = sizeof small_sizes / sizeof *small_sizes };

struct make {
	struct source_run *r;
	struct module *m;
	struct var *dim[3];
};

static struct make
begin(struct source_run *r)
{
	struct make k = { r, r->m, { NULL } };
	static const char *const names[] = { "m", "n", "p" };

	for (int i = 0; i < 3; i++) {
		k.dim[i] = var_new_dim(r->m, names[i], 1, 64);
	}
	return k;
}

static struct te_tensor *
input(struct make *k, const char *name, int ndim, const int *dims)
{
	const struct expr *shape[4];

	for (int d = 0; d < ndim; d++) {
		shape[d] = k->dim[dims[d]]->expr;
	}
	return te_placeholder(k->m, name, dtype_of(DT_F32), ndim, shape);
}

#define DIMS(...)                                                              \
	(const int[])                                                          \
	{                                                                      \
		__VA_ARGS__                                                    \
	}

static struct iter_var *
axes(struct make *k, int ndim, const struct expr *const *shape,
     const char *const *names)
{
	return te_axes(k->m, ndim, shape, names);
}

static const struct expr *
at2(struct make *k, struct te_tensor *t, const struct expr *i,
    const struct expr *j)
{
	const struct expr *index[] = { i, j };

	return te_at(k->m, t, index, 2);
}

static bool
add(struct make *k, const char *name, struct te_tensor **params, int n,
    struct func **out)
{
	const char *why = NULL;
	struct func *f;

	if (!te_check_params(k->m, params, n, &why)) {
		fprintf(stderr, "%s: %s\n", name, why);
		return false;
	}
	f = te_to_func(k->m, name, params, n);
	/* All sizes, so that every function is called alike. */
	for (int i = 0; i < 3; i++) {
		bool known = false;

		for (int p = 0; p < f->params.n; p++) {
			known |= f->params.data[p].var == k->dim[i];
		}
		if (!known) {
			func_add_param(f, k->dim[i], NULL);
		}
	}
	/* In their order. */
	f->params.n -= 3;
	for (int i = 0; i < 3; i++) {
		func_add_param(f, k->dim[i], NULL);
	}
	if (out) {
		*out = f;
	}
	return source_add(k->r, f, N_SIZES, small_sizes);
}

/* ---- scans */

/* Y[t] = Y[t - 1] + X[t] along the first axis. */
static struct te_tensor *
cumsum(struct make *k, struct te_tensor **x)
{
	const struct expr *m = k->dim[0]->expr, *n = k->dim[1]->expr;
	const struct expr *one = expr_i32(k->m, 1);
	static const char *const names[] = { "t", "i" };
	struct te_tensor *state = input(k, "state", 2, DIMS(0, 1));
	struct te_tensor *init, *update, *out = NULL;
	struct iter_var *a = axes(k, 2, (const struct expr *[]){ one, n },
				  names);
	struct iter_var *b = axes(k, 2, (const struct expr *[]){ m, n }, names);
	const char *why = NULL;

	*x = input(k, "X", 2, DIMS(0, 1));
	init = te_compute(k->m, "s_init", "scan", 2, a,
			  at2(k, *x, expr_i32(k->m, 0), a[1].var->expr), x, 1);
	update = te_compute(k->m, "s_update", "scan", 2, b,
			    expr_add(k->m,
				     at2(k, state,
					 expr_sub(k->m, b[0].var->expr, one),
					 b[1].var->expr),
				     at2(k, *x, b[0].var->expr,
					 b[1].var->expr)),
			    (struct te_tensor *[]){ state, *x }, 2);
	if (!te_scan(k->m, "Y", "scan", &init, &update, &state, 1, x, 1, &out,
		     &why)) {
		fprintf(stderr, "cumsum: %s\n", why);
	}
	return out;
}

static bool
add_cumsum(struct source_run *r)
{
	struct make k = begin(r);
	struct te_tensor *x, *y = cumsum(&k, &x);

	return add(&k, "cumsum", (struct te_tensor *[]){ x, y }, 2, NULL);
}

/* The spatial axes of a scan split, reordered among each other and
 * vectorized; time stays where it is. */
static bool
add_scheduled(struct source_run *r)
{
	struct make k = begin(r);
	struct te_tensor *x, *y = cumsum(&k, &x);
	struct func *f;
	struct sched s;
	int *loops, n, parts[2], refused = 0;
	int64_t factors[] = { 0, 8 };

	if (!add(&k, "cumsum_split", (struct te_tensor *[]){ x, y }, 2, &f)) {
		return false;
	}
	sched_init(&s, f);
	if (!sched_get_loops(&s, sched_get_block(&s, "s_update"), &loops, &n) ||
	    n != 2) {
		return false;
	}
	refused += !sched_parallel(&s, loops[0]);
	refused += !sched_vectorize(&s, loops[0]);
	if (refused != 2 ||
	    !sched_reorder(&s, (int[]){ loops[1], loops[0] }, 2) ||
	    !sched_reorder(&s, (int[]){ loops[0], loops[1] }, 2) ||
	    !sched_split(&s, loops[1], factors, 2, parts) ||
	    !sched_vectorize(&s, parts[1]) || !sched_parallel(&s, parts[0]) ||
	    !sched_split(&s, loops[0], (int64_t[]){ 0, 4 }, 2, parts)) {
		fprintf(stderr, "cumsum_split: %d refused\n", refused);
		return false;
	}
	func_commit(f);
	return true;
}

/* h[t, i] = max(X[t, i] + sum over j of W[i, j] * g[t, j], 0) where g doubles
 * h[t - 1]; c[t, i] = c[t - 1, i] - h[t, i]. Clamped, so that it stays
 * exact. */
static bool
add_recurrent(struct source_run *r)
{
	struct make k = begin(r);
	struct module *m = r->m;
	const struct expr *times = k.dim[0]->expr, *n = k.dim[1]->expr;
	const struct expr *one = expr_i32(m, 1), *shape[] = { times, n };
	const struct expr *first[] = { one, n };
	static const char *const names[] = { "t", "i" };
	struct te_tensor *x = input(&k, "X", 2, DIMS(0, 1));
	struct te_tensor *w = input(&k, "W", 2, DIMS(1, 1));
	struct te_tensor *h0 = input(&k, "H0", 1, DIMS(1));
	struct te_tensor *state[] = { input(&k, "h_state", 2, DIMS(0, 1)),
				      input(&k, "c_state", 2, DIMS(0, 1)) };
	struct te_tensor *init[2], *update[2], *out[2], *doubled, *product;
	struct iter_var *a, sum;
	const struct expr *t, *i, *e;
	const char *why = NULL;

	a = axes(&k, 2, first, names);
	init[0] = init[1] = te_compute(m, "first", "scan", 2, a,
				       te_at(m, h0, &a[1].var->expr, 1), &h0,
				       1);
	a = axes(&k, 2, shape, names);
	t = a[0].var->expr;
	doubled = te_compute(m, "doubled", "scan", 2, a,
			     expr_mul(m,
				      at2(&k, state[0], expr_sub(m, t, one),
					  a[1].var->expr),
				      expr_float(m, dtype_of(DT_F32), 2)),
			     state, 1);
	a = axes(&k, 2, shape, names);
	sum = te_reduce_axis(m, "j", n);
	e = expr_mul(m, at2(&k, w, a[1].var->expr, sum.var->expr),
		     at2(&k, doubled, a[0].var->expr, sum.var->expr));
	product = te_compute(m, "product", "scan", 2, a, te_sum(m, e, &sum, 1),
			     (struct te_tensor *[]){ w, doubled }, 2);
	a = axes(&k, 2, shape, names);
	t = a[0].var->expr;
	i = a[1].var->expr;
	e = expr_add(m, at2(&k, x, t, i), at2(&k, product, t, i));
	e = expr_min(m, expr_max(m, e, expr_float(m, dtype_of(DT_F32), 0)),
		     expr_float(m, dtype_of(DT_F32), 9));
	update[0] = te_compute(m, "h", "scan", 2, a, e,
			       (struct te_tensor *[]){ x, product }, 2);
	a = axes(&k, 2, shape, names);
	t = a[0].var->expr;
	i = a[1].var->expr;
	e = expr_sub(m, at2(&k, state[1], expr_sub(m, t, one), i),
		     at2(&k, update[0], t, i));
	update[1] = te_compute(m, "c", "scan", 2, a, e,
			       (struct te_tensor *[]){ state[1], update[0] },
			       2);
	if (!te_scan(m, "rnn", "scan", init, update, state, 2, NULL, 0, out,
		     &why)) {
		fprintf(stderr, "recurrent: %s\n", why);
		return false;
	}
	return add(&k, "recurrent",
		   (struct te_tensor *[]){ x, w, h0, out[0], out[1] }, 5, NULL);
}

/* ---- reducers */

/* The largest value of each row and where it is first. */
static bool
add_argmax(struct source_run *r, const char *name, bool factored)
{
	struct make k = begin(r);
	struct module *m = r->m;
	struct te_tensor *x = input(&k, "X", 2, DIMS(0, 1)), *out[2];
	struct dtype types[] = { dtype_of(DT_I32), dtype_of(DT_F32) };
	struct reducer *red = te_reducer_declare(m, "argmax", 2, types);
	struct iter_var *a = axes(&k, 1, &k.dim[0]->expr, NULL);
	struct iter_var j = te_reduce_axis(m, "j", k.dim[1]->expr);
	const struct expr *better, *result[2], *identity[2], *bodies[2];
	const struct expr *sources[] = { j.var->expr, at2(&k, x, a[0].var->expr,
							  j.var->expr) };
	static const char *const names[] = { "at", "best" };
	const char *why = NULL;
	struct func *f;
	struct sched s;
	int *loops, n, parts[2], made;

	/* Of equal values the first. */
	better = expr_or(m, expr_lt(m, red->lhs[1]->expr, red->rhs[1]->expr),
			 expr_and(m,
				  expr_eq(m, red->lhs[1]->expr,
					  red->rhs[1]->expr),
				  expr_lt(m, red->rhs[0]->expr,
					  red->lhs[0]->expr)));
	for (int i = 0; i < 2; i++) {
		result[i] = expr_select(m, better, red->rhs[i]->expr,
					red->lhs[i]->expr);
	}
	identity[0] = expr_i32(m, INT32_MAX);
	identity[1] = expr_float(m, dtype_of(DT_F32),
				 dtype_lowest(dtype_of(DT_F32)));
	if (!te_reducer_define(m, red, result, identity, &why)) {
		fprintf(stderr, "%s: %s\n", name, why);
		return false;
	}
	te_reduce_multi(m, red, sources, &j, 1, NULL, bodies);
	te_compute_multi(m, names, "reduce", 1, a, bodies, 2, &x, 1, out);
	if (!add(&k, name, (struct te_tensor *[]){ x, out[0], out[1] }, 3,
		 &f)) {
		return false;
	}
	if (!factored) {
		return true;
	}
	sched_init(&s, f);
	if (!sched_get_loops(&s, sched_get_block(&s, "at"), &loops, &n) ||
	    !sched_split(&s, loops[1], (int64_t[]){ 0, 4 }, 2, parts) ||
	    !sched_rfactor_inside(&s, parts[1], -1, &made)) {
		fprintf(stderr, "%s: %s\n", name,
			s.diags.list.n ? s.diags.list.data[0].message
				       : "no loops");
		return false;
	}
	func_commit(f);
	return true;
}

/* Two values that depend on each other: (sum, sum of products so far), as
 * complex multiplication: both are computed before either is stored. */
static bool
add_complex(struct source_run *r)
{
	struct make k = begin(r);
	struct module *m = r->m;
	struct te_tensor *x = input(&k, "X", 2, DIMS(0, 2)), *out[2];
	struct dtype types[] = { dtype_of(DT_I32), dtype_of(DT_I32) };
	struct reducer *red = te_reducer_declare(m, "times", 2, types);
	struct iter_var *a = axes(&k, 1, &k.dim[0]->expr, NULL);
	struct iter_var j = te_reduce_axis(m, "j", k.dim[2]->expr);
	const struct expr *x0 = red->lhs[0]->expr, *x1 = red->lhs[1]->expr;
	const struct expr *y0 = red->rhs[0]->expr, *y1 = red->rhs[1]->expr;
	const struct expr *value = expr_cast(m, types[0],
					     at2(&k, x, a[0].var->expr,
						 j.var->expr));
	const struct expr *result[] = {
		expr_sub(m, expr_mul(m, x0, y0), expr_mul(m, x1, y1)),
		expr_add(m, expr_mul(m, x0, y1), expr_mul(m, x1, y0)),
	};
	const struct expr *identity[] = { expr_i32(m, 1), expr_i32(m, 0) };
	const struct expr *sources[] = { value, expr_i32(m, 1) };
	const struct expr *bodies[2];
	static const char *const names[] = { "re", "im" };
	const char *why = NULL;

	if (!te_reducer_define(m, red, result, identity, &why)) {
		fprintf(stderr, "complex: %s\n", why);
		return false;
	}
	te_reduce_multi(m, red, sources, &j, 1, NULL, bodies);
	te_compute_multi(m, names, "reduce", 1, a, bodies, 2, &x, 1, out);
	return add(&k, "complex", (struct te_tensor *[]){ x, out[0], out[1] },
		   3, NULL);
}

/* ---- externs */

static const struct expr *
address(struct module *m, const struct buffer *b)
{
	const struct expr *zero[4];
	const struct expr *load;

	for (int d = 0; d < b->ndim; d++) {
		zero[d] = expr_i32(m, 0);
	}
	load = expr_load(m, b, zero, b->ndim);
	return expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE), &load, 1);
}

/* What the outside function below does, for the interpreter. */
static struct func *
twice_in_tir(struct make *k)
{
	struct module *m = k->m;
	struct func *f = func_new(m, "outside_twice");
	struct buffer_spec spec = { .name = "x",
				    .type = dtype_of(DT_F32),
				    .ndim = 1,
				    .shape = &k->dim[0]->expr };
	const struct buffer *x = buffer_new(m, &spec), *y;
	struct var *n = var_new(m, "count", dtype_of(DT_I32));
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	const struct expr *at = i->expr, *shape = n->expr;

	spec.shape = &shape;
	x = buffer_new(m, &spec);
	spec.name = "y";
	y = buffer_new(m, &spec);
	func_add_param(f, x->data, x);
	func_add_param(f, y->data, y);
	func_add_param(f, n, NULL);
	f->body = stmt_for(f, i, expr_i32(m, 0), n->expr, FOR_SERIAL,
			   stmt_store(f, y,
				      expr_mul(m, expr_load(m, x, &at, 1),
					       expr_float(m, x->type, 2)),
				      &at, 1));
	return f;
}

static const char outside[] =
	"#include <stdint.h>\n\n"
	"int32_t outside_twice(const float *x, float *y, int32_t n);\n"
	"int32_t\noutside_twice(const float *x, float *y, int32_t n)\n{\n"
	"\tfor (int32_t i = 0; i < n; ++i) {\n"
	"\t\ty[i] = x[i] * 2.0f;\n\t}\n\treturn 0;\n}\n\n";

/* B = outside_twice(A + 1), C = B - A */
static bool
add_extern(struct source_run *r)
{
	struct make k = begin(r);
	struct module *m = r->m;
	const struct expr *shape[] = { k.dim[0]->expr, k.dim[1]->expr };
	const struct expr *const *shapes[] = { shape };
	struct te_tensor *x = input(&k, "A", 2, DIMS(0, 1)), *b, *c, *more;
	struct iter_var *a = axes(&k, 2, shape, NULL);
	const struct expr *i = a[0].var->expr, *j = a[1].var->expr;
	const struct expr *args[4];
	struct dtype type = dtype_of(DT_F32);
	const char *why = NULL;
	int ndim = 2;

	more = te_compute(m, "more", "elementwise", 2, a,
			  expr_add(m, at2(&k, x, i, j), expr_float(m, type, 1)),
			  &x, 1);
	te_extern(m, "B", "extern", &type, &ndim, shapes, 1, &more, 1, &b);
	args[0] = expr_string(m, "outside_twice");
	args[1] = address(m, more->buffer);
	args[2] = address(m, b->buffer);
	args[3] = expr_mul(m, shape[0], shape[1]);
	if (!te_extern_body(m, b, NULL,
			    expr_call(m, INTRIN_CALL_EXTERN, dtype_of(DT_I32),
				      args, 4),
			    NULL, &why)) {
		fprintf(stderr, "extern: %s\n", why);
		return false;
	}
	a = axes(&k, 2, shape, NULL);
	i = a[0].var->expr;
	j = a[1].var->expr;
	c = te_compute(m, "C", "elementwise", 2, a,
		       expr_sub(m, at2(&k, b, i, j), at2(&k, x, i, j)),
		       (struct te_tensor *[]){ b, x }, 2);
	vec_push(&m->arena, &m->funcs, twice_in_tir(&k));
	return add(&k, "with_extern", (struct te_tensor *[]){ x, c }, 2, NULL);
}

/* A function as the body, of a while: how often each element can be halved
 * until it is below 1. */
static bool
add_while(struct source_run *r)
{
	struct make k = begin(r);
	struct module *m = r->m;
	const struct expr *shape[] = { k.dim[0]->expr };
	const struct expr *const *shapes[] = { shape };
	struct te_tensor *x = input(&k, "A", 1, DIMS(0)), *out;
	struct dtype type = dtype_of(DT_I32);
	struct var *size = var_new(m, "size", dtype_of(DT_I32));
	struct buffer_spec spec = { .name = "from",
				    .type = x->buffer->type,
				    .ndim = 1,
				    .shape = &size->expr };
	struct func *f = func_new(m, "halve");
	const struct buffer *from = buffer_new(m, &spec), *to, *v, *n;
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	const struct expr *at = i->expr, *now;
	struct stmt *list[4], *body;
	const char *why = NULL;
	int ndim = 1;

	spec.name = "to";
	spec.type = type;
	to = buffer_new(m, &spec);
	spec = (struct buffer_spec){ .name = "v",
				     .type = from->type,
				     .scope = "local" };
	v = buffer_new(m, &spec);
	spec.name = "n";
	spec.type = type;
	n = buffer_new(m, &spec);
	now = expr_load(m, v, NULL, 0);
	list[0] = stmt_store(f, v,
			     expr_mul(m, now, expr_float(m, v->type, 0.5)),
			     NULL, 0);
	list[1] = stmt_store(f, n,
			     expr_add(m, expr_load(m, n, NULL, 0),
				      expr_i32(m, 1)),
			     NULL, 0);
	body = stmt_while(f, expr_le(m, expr_float(m, v->type, 1), now),
			  stmt_seq(f, list, 2));
	list[0] = stmt_store(f, v, expr_load(m, from, &at, 1), NULL, 0);
	list[1] = stmt_store(f, n, expr_i32(m, 0), NULL, 0);
	list[2] = body;
	list[3] = stmt_store(f, to, expr_load(m, n, NULL, 0), &at, 1);
	body = stmt_alloc(f, v, stmt_alloc(f, n, stmt_seq(f, list, 4)));
	f->body = stmt_for(f, i, expr_i32(m, 0), size->expr, FOR_SERIAL, body);
	func_add_param(f, from->data, from);
	func_add_param(f, to->data, to);
	te_extern(m, "halvings", "extern", &type, &ndim, shapes, 1, &x, 1,
		  &out);
	if (!te_extern_body(m, out, NULL, NULL, f, &why)) {
		fprintf(stderr, "while: %s\n", why);
		return false;
	}
	return add(&k, "with_while", (struct te_tensor *[]){ x, out }, 2, NULL);
}

/* ---- tensor intrinsics */

static struct te_tensor *
fixed(struct module *m, const char *name, struct dtype type, int rows, int cols)
{
	const struct expr *shape[] = { expr_i32(m, rows), expr_i32(m, cols) };

	return te_placeholder(m, name, type, 2, shape);
}

/* C[i, j] = sum over k of A[i, k] * B[j, k], into type. */
static struct te_tensor *
product(struct module *m, const char *name, struct dtype type,
	struct te_tensor *a, struct te_tensor *b)
{
	static const char *const names[] = { "i", "j" };
	const struct expr *shape[] = { a->buffer->shape[0],
				       b->buffer->shape[0] };
	struct iter_var *ij = te_axes(m, 2, shape, names);
	struct iter_var k = te_reduce_axis(m, "k", a->buffer->shape[1]);
	const struct expr *x[] = { ij[0].var->expr, k.var->expr };
	const struct expr *y[] = { ij[1].var->expr, k.var->expr };
	const struct expr *e = expr_mul(m,
					expr_cast(m, type, te_at(m, a, x, 2)),
					expr_cast(m, type, te_at(m, b, y, 2)));

	return te_compute(m, name, "matmul", 2, ij, te_sum(m, e, &k, 1),
			  (struct te_tensor *[]){ a, b }, 2);
}

static bool
apply(struct sched *s, const char *name, struct sched_value *args, int n,
      struct sched_value *out)
{
	bool good = sched_apply(s, name, args, n, out);

	for (int i = 0; !good && i < s->diags.list.n; i++) {
		fprintf(stderr, "%s\n", s->diags.list.data[i].message);
	}
	return good;
}

/* Splits the loops of block C by tiles and makes the inner ones intrinsic. */
static bool
tensorize(struct sched *s, const int *tiles, bool apart, const char *intrin)
{
	int *loops, n, outer[3][2], order[6], block, made;

	block = sched_get_block(s, "C");
	if (!sched_get_loops(s, block, &loops, &n) || n != 3) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		int64_t factors[] = { 0, tiles[i] };

		if (!sched_split(s, loops[i], factors, 2, outer[i])) {
			return false;
		}
		order[i] = outer[i][0];
		order[3 + i] = outer[i][1];
	}
	if (!sched_reorder(s, order, 6) ||
	    (apart && !sched_decompose_reduction(s, block, order[2], &made))) {
		return false;
	}
	for (n = 3; n < 5 && tiles[n - 3] == 1; n++) {
	}
	return apply(s, "tensorize",
		     (struct sched_value[]){ sv_loop(order[n]),
					     sv_string(intrin) },
		     2, NULL);
}

/* The example's instruction, declared by the program; its symbols are what the
 * declaration says. */
static bool
add_declared(struct source_run *r)
{
	struct make k = begin(r);
	struct module *m = r->m;
	struct dtype t = dtype_of(DT_F32);
	struct te_tensor *w = fixed(m, "w", t, 8, 8);
	struct te_tensor *x = fixed(m, "x", t, 8, 8);
	struct te_tensor *y = product(m, "y", t, w, x);
	struct te_tensor *a = fixed(m, "A", t, 64, 64);
	struct te_tensor *b = fixed(m, "B", t, 64, 64), *c;
	const struct tensor_intrin *gemm = NULL;
	struct tensor_intrins known;
	const struct buffer **views;
	const struct expr *calls[3], *args[4];
	static const char *const symbols[] = { "gemm8x8", "fill_zero",
					       "fuse_gemm8x8_add" };
	const char *why = NULL;
	struct sched s;
	struct func *f;
	int n, first = m->funcs.n;

	views = tensor_intrin_views(m, y, &n);
	for (int i = 0; i < 3; i++) {
		int from = i == 1 ? 2 : 0;

		args[0] = expr_string(m, symbols[i]);
		for (int v = from; v < 3; v++) {
			args[1 + v - from] = address(m, views[v]);
		}
		calls[i] = expr_call(m, INTRIN_CALL_EXTERN, dtype_of(DT_I32),
				     args, 4 - from);
	}
	c = product(m, "C", t, a, b);
	if (n != 3 ||
	    !te_tensor_intrin(m, "gemm8x8_declared", y, views, calls[0],
			      calls[1], calls[2], &gemm, &why) ||
	    !add(&k, "declared", (struct te_tensor *[]){ a, b, c }, 3, &f)) {
		fprintf(stderr, "declared: %s\n", why ? why : "");
		return false;
	}
	tensor_intrins_init(&known, &m->arena);
	tensor_intrins_add(&known, gemm);
	sched_init(&s, f);
	s.intrins = &known;
	if (!tensorize(&s, (int[]){ 8, 8, 8 }, false, "gemm8x8_declared") ||
	    !intrinsic_references(m, &known, &why)) {
		fprintf(stderr, "declared: %s\n", why ? why : "");
		return false;
	}
	func_commit(f);
	for (int i = first; i < m->funcs.n; i++) {
		if (!func_verify(m->funcs.data[i])) {
			return false;
		}
		source_helper(r, m->funcs.data[i]);
	}
	return source_again(r, f);
}

/* Intrinsics that ship: their text is written into the source. */
static bool
add_shipped(struct source_run *r, const char *name, const char *intrin,
	    struct dtype ta, struct dtype tb, struct dtype tc, const int *sizes,
	    const int *tiles, bool apart)
{
	static const int64_t aligned[] = { 1, 4, 1 }; /* constants are */
	struct make k = begin(r);
	struct module *m = r->m;
	struct te_tensor *a = fixed(m, "A", ta, sizes[0], sizes[2]);
	struct te_tensor *b = fixed(m, "B", tb, sizes[1], sizes[2]);
	struct te_tensor *c = product(m, "C", tc, a, b);
	struct tensor_intrins known;
	struct sched s;
	struct func *f;

	tensor_intrins_init(&known, &m->arena);
	intrinsics_attach(m, NULL, &known);
	if (!add(&k, name, (struct te_tensor *[]){ a, b, c }, 3, &f)) {
		return false;
	}
	sched_init(&s, f);
	s.intrins = &known;
	s.param_align = aligned;
	if (!tensorize(&s, tiles, apart, intrin)) {
		fprintf(stderr, "%s cannot be tensorized\n", name);
		return false;
	}
	func_commit(f);
	return true;
}

int
main(int argc, char **argv)
{
	struct source_run r = { .m = module_new(), .state = 7 };
	struct dtype f32 = dtype_of(DT_F32), i8 = dtype_of(DT_I8);
	struct dtype i16 = dtype_of(DT_I16), i32 = dtype_of(DT_I32);
	const struct target *target;
	bool good;

	if (argc != 4) {
		fprintf(stderr, "usage: %s dialect folder 'compiler'\n",
			argv[0]);
		return 2;
	}
	r.folder = argv[2];
	r.cc = argv[3];
	target = target_load(r.m, argv[1], NULL);
	r.dialect = target ? dialect_load(r.m, target->dialect, NULL) : NULL;
	good = r.dialect && add_cumsum(&r) && add_scheduled(&r) &&
	       add_recurrent(&r) && add_argmax(&r, "argmax", false) &&
	       add_argmax(&r, "argmax_parts", true) && add_complex(&r) &&
	       add_extern(&r) && add_while(&r) && add_declared(&r) &&
	       add_shipped(&r, "gemm", "gemm8x8", f32, f32, f32,
			   (int[]){ 16, 24, 32 }, (int[]){ 8, 8, 8 }, false) &&
	       add_shipped(&r, "gemm_rows", "gemm8x8", f32, f32, f32,
			   (int[]){ 8, 16, 8 }, (int[]){ 8, 8, 8 }, false) &&
	       add_shipped(&r, "smlad", "dot_2_smlad", i16, i16, i32,
			   (int[]){ 3, 5, 8 }, (int[]){ 1, 1, 2 }, true) &&
	       add_shipped(&r, "smlad_bytes", "dot_2x4_smlad", i8, i8, i32,
			   (int[]){ 6, 6, 4 }, (int[]){ 1, 2, 4 }, true) &&
	       add_shipped(&r, "dp4a", "dot_4_dp4a", i8, i8, i32,
			   (int[]){ 4, 5, 12 }, (int[]){ 1, 1, 4 }, true) &&
	       add_shipped(&r, "vnni", "dot_16x4_vnni", dtype_of(DT_U8), i8,
			   i32, (int[]){ 6, 32, 4 }, (int[]){ 1, 16, 4 },
			   true) &&
	       add_shipped(&r, "sdot", "dot_4x4_sdot", i8, i8, i32,
			   (int[]){ 6, 12, 4 }, (int[]){ 1, 4, 4 }, true);
	/* From here on that function is outside. */
	for (int i = 0; i < r.m->funcs.n; i++) {
		if (strcmp(r.m->funcs.data[i]->name, "outside_twice") == 0) {
			r.m->funcs.data[i]->name = "hidden";
		}
	}
	good = good && source_finish(&r, "te", outside);
	source_diags(&r);
	module_free(r.m);
	return !good;
}
