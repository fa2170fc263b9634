/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensor programs; see random_te.h. */
#include "random_te.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t
rng_next(struct rng *r)
{
	/* splitmix64 */
	uint64_t z = (r->state += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

int
rng_below(struct rng *r, int n)
{
	return (int)(rng_next(r) % (uint64_t)n);
}

/* SYMBOLIC stands for n where extents are plain numbers. */
enum { MAX_DIMS = 4, MAX_TENSORS = 24, SYMBOLIC = 1000003 };

struct maker {
	struct module *m;
	struct rng *r;
	const struct random_options *options;
	struct te_tensor *tensors[MAX_TENSORS]; /* all so far */
	int n_tensors;
	struct te_tensor *params[RANDOM_MAX_PARAMS];
	int bound[RANDOM_MAX_PARAMS];
	int n_params;
	int n_stages;
	struct var *dim;
	/* Of the stage being made. */
	struct te_tensor *inputs[MAX_TENSORS];
	int n_inputs;
};

static int
extent_of(const struct te_tensor *t, int d)
{
	int64_t v = SYMBOLIC;

	expr_is_int(t->buffer->shape[d], &v);
	return (int)v;
}

static const struct expr *
extent_expr(struct maker *k, int extent)
{
	return extent == SYMBOLIC ? k->dim->expr : expr_i32(k->m, extent);
}

static bool
is_symbolic(const struct te_tensor *t)
{
	for (int d = 0; d < t->buffer->ndim; d++) {
		if (extent_of(t, d) == SYMBOLIC) {
			return true;
		}
	}
	return false;
}

static int
random_extent(struct maker *k)
{
	int max = k->options->max_extent ? k->options->max_extent : 9;

	/* Now and then longer than a strip of the executor. */
	if (!k->options->max_extent && rng_below(k->r, 12) == 0) {
		return 250 + rng_below(k->r, 300);
	}
	return 1 + rng_below(k->r, max);
}

static struct dtype
random_type(struct maker *k)
{
	static const enum dtype_kind kinds[] = {
		DT_F32, DT_F32, DT_F32, DT_F64, DT_I32, DT_I64, DT_U8,
		DT_I8,  DT_F16, DT_BF16, DT_U16, DT_U32, DT_U64, DT_BOOL,
		DT_I16,
	};

	if (k->options->floats_only) {
		return dtype_of(DT_F32);
	}
	struct dtype t = dtype_of(kinds[rng_below(k->r,
				(int)(sizeof kinds / sizeof *kinds))]);
	bool half = t.kind == DT_F16 || t.kind == DT_BF16;

	return half && k->options->no_halves ? dtype_of(DT_F32) : t;
}

static struct te_tensor *
add_param(struct maker *k, struct dtype t, int ndim,
	  const struct expr *const *shape, int bound)
{
	char name[16];

	snprintf(name, sizeof name, "p%d", k->n_params);
	k->params[k->n_params] = te_placeholder(k->m, name, t, ndim, shape);
	k->bound[k->n_params] = bound;
	return k->params[k->n_params++];
}

static struct te_tensor *
random_placeholder(struct maker *k)
{
	const struct expr *shape[MAX_DIMS];
	int ndim = rng_below(k->r, MAX_DIMS + 1);
	int64_t elems = 1;

	for (int d = 0; d < ndim; d++) {
		int extent = random_extent(k);

		if (elems * extent > 4000) {
			extent = 2;
		}
		elems *= extent;
		if (k->dim && rng_below(k->r, 3) == 0) {
			extent = SYMBOLIC;
		}
		shape[d] = extent_expr(k, extent);
	}
	return add_param(k, random_type(k), ndim, shape, 0);
}

static struct te_tensor *
random_tensor(struct maker *k)
{
	return k->tensors[rng_below(k->r, k->n_tensors)];
}

static const struct expr *
read_at(struct maker *k, struct te_tensor *t,
	const struct expr *const *index)
{
	bool known = false;

	for (int i = 0; i < k->n_inputs; i++) {
		known |= k->inputs[i] == t;
	}
	if (!known) {
		k->inputs[k->n_inputs++] = t;
	}
	return te_at(k->m, t, index, t->buffer->ndim);
}

static const struct expr *
convert(struct maker *k, struct dtype t, const struct expr *e)
{
	return expr_cast(k->m, t, e);
}

/* Reads some tensor that broadcasts to the axes, or makes a constant. */
static const struct expr *
read_broadcast(struct maker *k, const struct iter_var *axes, int ndim,
	       const int *extent, struct dtype type)
{
	for (int tries = 0; tries < 6; tries++) {
		struct te_tensor *t = random_tensor(k);
		const struct expr *index[MAX_DIMS];
		int n = t->buffer->ndim;
		bool fits = n <= ndim;

		for (int d = 0; d < n && fits; d++) {
			int have = extent_of(t, d);
			int axis = ndim - n + d;

			fits = have == 1 || have == extent[axis];
			index[d] = have == 1 ? expr_i32(k->m, 0)
					     : axes[axis].var->expr;
		}
		if (fits) {
			return convert(k, type, read_at(k, t, index));
		}
	}
	return expr_const(k->m, type, 1 + rng_below(k->r, 3));
}

static const struct expr *
random_unary(struct maker *k, const struct expr *x)
{
	static const enum intrin floats[] = {
		INTRIN_ABS, INTRIN_FLOOR, INTRIN_CEIL, INTRIN_TRUNC,
		INTRIN_ROUND, INTRIN_NEARBYINT, INTRIN_SQRT, INTRIN_EXP,
		INTRIN_TANH, INTRIN_SIGMOID, INTRIN_ERF, INTRIN_SIN,
		INTRIN_LOG1P, INTRIN_RSQRT,
	};
	int n_floats = k->options->exact ? 6
		: (int)(sizeof floats / sizeof *floats);

	if (dtype_is_float(x->type)) {
		return expr_call1(k->m, floats[rng_below(k->r, n_floats)], x);
	}
	if (dtype_class(x->type) == DTC_BOOL) {
		return expr_not(k->m, x);
	}
	if (k->options->exact) {
		return expr_call1(k->m, INTRIN_ABS, x);
	}
	return expr_call1(k->m, rng_below(k->r, 2) ? INTRIN_ABS
						   : INTRIN_BITNOT, x);
}

static const struct expr *
random_binary(struct maker *k, const struct expr *x, const struct expr *y)
{
	static const enum expr_kind kinds[] = {
		EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_MIN, EXPR_MAX, EXPR_DIV,
		EXPR_FLOORMOD, EXPR_FLOORDIV,
	};
	static const enum intrin bits[] = { INTRIN_BITAND, INTRIN_BITOR,
					    INTRIN_BITXOR, INTRIN_SHL,
					    INTRIN_SHR };
	struct module *m = k->m;
	int which = rng_below(k->r, k->options->exact ? 5 : 8);

	if (dtype_class(x->type) == DTC_BOOL) {
		return expr_binary(m, rng_below(k->r, 2) ? EXPR_AND : EXPR_OR,
				   x, y);
	}
	if (dtype_is_int(x->type)) {
		if (which >= 5) { /* never by zero */
			y = expr_max(m, y, expr_const(m, y->type, 1));
		} else if (!k->options->exact && rng_below(k->r, 4) == 0) {
			return expr_call2(m, bits[rng_below(k->r, 5)], x, y);
		}
	} else if (which >= 6) {
		which = 5;
	}
	return expr_binary(m, kinds[which], x, y);
}

/* A tree of operators over what read() gives. */
static const struct expr *
random_tree(struct maker *k, const struct iter_var *axes, int ndim,
	    const int *extent, struct dtype type, int depth)
{
	const struct expr *x, *y, *c;

	if (depth == 0) {
		return read_broadcast(k, axes, ndim, extent, type);
	}
	x = random_tree(k, axes, ndim, extent, type, depth - 1);
	switch (rng_below(k->r, 8)) {
	case 0:
	case 1:
		return random_unary(k, x);
	case 2:
		y = random_tree(k, axes, ndim, extent, type, depth - 1);
		c = dtype_class(type) == DTC_BOOL ? x
		    : expr_lt(k->m, x, y);
		return expr_select(k->m, c, y, x);
	case 3: /* by way of another type */
		if (k->options->exact || k->options->floats_only) {
			return x;
		}
		return convert(k, type, convert(k, random_type(k), x));
	default:
		y = random_tree(k, axes, ndim, extent, type, depth - 1);
		return random_binary(k, x, y);
	}
}

static struct te_tensor *
finish(struct maker *k, struct iter_var *axes, int ndim,
       const struct expr *body)
{
	char name[16];
	struct te_tensor *t;

	snprintf(name, sizeof name, "t%d", k->n_stages++);
	t = te_compute(k->m, name, "random", ndim, axes, body, k->inputs,
		       k->n_inputs);
	k->tensors[k->n_tensors++] = t;
	k->n_inputs = 0;
	return t;
}

static struct iter_var *
axes_of(struct maker *k, int ndim, const int *extent)
{
	const struct expr *shape[MAX_DIMS + 1];

	for (int d = 0; d < ndim; d++) {
		shape[d] = extent_expr(k, extent[d]);
	}
	return te_axes(k->m, ndim, shape, NULL);
}

/* ---- kinds of stages */

static void
make_elementwise(struct maker *k)
{
	struct te_tensor *like = random_tensor(k);
	int ndim = like->buffer->ndim;
	int extent[MAX_DIMS] = { 0 };
	struct iter_var *axes;

	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(like, d);
	}
	axes = axes_of(k, ndim, extent);
	finish(k, axes, ndim,
	       random_tree(k, axes, ndim, extent, random_type(k),
			   1 + rng_below(k->r, 3)));
}

static void
make_reduction(struct maker *k)
{
	struct te_tensor *t = random_tensor(k);
	int ndim = t->buffer->ndim;
	const struct expr *index[MAX_DIMS];
	struct iter_var reduced[MAX_DIMS];
	int extent[MAX_DIMS] = { 0 };
	int n_kept = 0, n_reduced = 0;
	bool keep[MAX_DIMS];
	struct iter_var *axes;
	const struct expr *x;
	struct dtype type = t->buffer->type;
	const struct reducer *r;

	if (ndim == 0) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		keep[d] = rng_below(k->r, 2);
	}
	keep[rng_below(k->r, ndim)] = false;
	for (int d = 0; d < ndim; d++) {
		if (keep[d]) {
			extent[n_kept++] = extent_of(t, d);
		}
	}
	axes = axes_of(k, n_kept, extent);
	n_kept = 0;
	for (int d = 0; d < ndim; d++) {
		if (keep[d]) {
			index[d] = axes[n_kept++].var->expr;
			continue;
		}
		reduced[n_reduced] = te_reduce_axis(k->m, "k",
						    t->buffer->shape[d]);
		index[d] = reduced[n_reduced++].var->expr;
	}
	x = read_at(k, t, index);
	if (dtype_class(type) == DTC_BOOL) {
		type = dtype_of(DT_I32);
		x = convert(k, type, x);
	}
	switch (rng_below(k->r, k->options->exact ? 3 : 4)) {
	case 0:
		r = reducer_max(k->m, type);
		break;
	case 1:
		r = reducer_min(k->m, type);
		break;
	case 3:
		r = reducer_prod(k->m, type);
		break;
	default:
		r = reducer_sum(k->m, type);
		break;
	}
	finish(k, axes, n_kept, te_reduce(k->m, r, x, reduced, n_reduced));
}

/* y[.., i] = op over w of x[.., i * stride + w * dilation - pad], guarded. */
static void
make_window(struct maker *k)
{
	struct te_tensor *t = random_tensor(k);
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 };
	int window = 1 + rng_below(k->r, 3), stride = 1 + rng_below(k->r, 2);
	int pad = rng_below(k->r, 3), dilation = 1 + rng_below(k->r, 2);
	const struct expr *index[MAX_DIMS], *at, *inside, *x;
	struct module *m = k->m;
	struct dtype type = t->buffer->type;
	struct iter_var *axes, w;
	int last = ndim - 1, length, reach = (window - 1) * dilation + 1;

	if (ndim == 0 || dtype_class(type) == DTC_BOOL) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	length = extent[last];
	if (length == SYMBOLIC || length + 2 * pad < reach) {
		make_elementwise(k);
		return;
	}
	extent[last] = (length + 2 * pad - reach) / stride + 1;
	axes = axes_of(k, ndim, extent);
	w = te_reduce_axis(m, "w", expr_i32(m, window));
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	at = expr_sub(m, expr_add(m, expr_mul(m, index[last],
					      expr_i32(m, stride)),
				  expr_mul(m, w.var->expr,
					   expr_i32(m, dilation))),
		      expr_i32(m, pad));
	index[last] = at;
	inside = expr_and(m, expr_le(m, expr_i32(m, 0), at),
			  expr_lt(m, at, expr_i32(m, length)));
	x = expr_if(m, inside, read_at(k, t, index), expr_const(m, type, 0));
	finish(k, axes, ndim,
	       te_reduce(m, rng_below(k->r, 2) ? reducer_sum(m, type)
					       : reducer_max(m, type),
			 x, &w, 1));
}

/* y[i, ..] = x[index[i], ..] */
static void
make_gather(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *positions;
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 };
	const struct expr *index[MAX_DIMS], *shape[1];
	struct iter_var *axes;
	int axis;

	if (ndim == 0 || k->n_params >= RANDOM_MAX_PARAMS - 1) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	axis = rng_below(k->r, ndim);
	if (extent[axis] == SYMBOLIC) {
		make_elementwise(k);
		return;
	}
	int bound = extent[axis];

	extent[axis] = random_extent(k);
	shape[0] = expr_i32(k->m, extent[axis]);
	positions = add_param(k, dtype_of(rng_below(k->r, 2) ? DT_I32
							      : DT_I64),
			      1, shape, bound);
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	index[axis] = convert(k, dtype_of(DT_I32),
			      read_at(k, positions, &index[axis]));
	finish(k, axes, ndim, read_at(k, t, index));
}

static void
make_transpose(struct maker *k)
{
	struct te_tensor *t = random_tensor(k);
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 }, place[MAX_DIMS];
	const struct expr *index[MAX_DIMS];
	struct iter_var *axes;

	for (int d = 0; d < ndim; d++) {
		place[d] = d;
	}
	for (int d = ndim - 1; d > 0; d--) {
		int other = rng_below(k->r, d + 1);
		int kept = place[d];

		place[d] = place[other];
		place[other] = kept;
	}
	for (int d = 0; d < ndim; d++) {
		extent[place[d]] = extent_of(t, d);
	}
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		const struct expr *i = axes[place[d]].var->expr;

		if (rng_below(k->r, 4) == 0) { /* backwards */
			i = expr_sub(k->m,
				     expr_sub(k->m, t->buffer->shape[d],
					      expr_i32(k->m, 1)), i);
		}
		index[d] = i;
	}
	finish(k, axes, ndim, read_at(k, t, index));
}

/* All elements in one dimension, or one dimension in two. */
static void
make_reshape(struct maker *k)
{
	struct te_tensor *t = random_tensor(k);
	int ndim = t->buffer->ndim;
	int total = 1, extent[2], n = 1;
	const struct expr *index[MAX_DIMS], *flat;
	struct iter_var *axes;

	if (is_symbolic(t)) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		total *= extent_of(t, d);
	}
	extent[0] = total;
	for (int f = 2; f <= 8 && n == 1; f++) {
		if (total % f == 0 && rng_below(k->r, 2)) {
			extent[0] = total / f;
			extent[1] = f;
			n = 2;
		}
	}
	axes = axes_of(k, n, extent);
	flat = axes[0].var->expr;
	if (n == 2) {
		flat = expr_add(k->m, expr_mul(k->m, flat,
					       expr_i32(k->m, extent[1])),
				axes[1].var->expr);
	}
	for (int d = ndim - 1; d >= 0; d--) {
		const struct expr *size = t->buffer->shape[d];

		index[d] = d > 0 ? expr_floormod(k->m, flat, size) : flat;
		flat = expr_floordiv(k->m, flat, size);
	}
	finish(k, axes, n, read_at(k, t, index));
}

/* Two tensors (or one twice) behind each other in one dimension. */
static void
make_concat(struct maker *k)
{
	struct te_tensor *t = random_tensor(k);
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 }, axis, length;
	const struct expr *index[MAX_DIMS], *first, *second, *inside;
	struct iter_var *axes;

	if (ndim == 0) {
		make_elementwise(k);
		return;
	}
	axis = rng_below(k->r, ndim);
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	length = extent[axis];
	if (length == SYMBOLIC) {
		make_elementwise(k);
		return;
	}
	extent[axis] = 2 * length;
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	inside = expr_lt(k->m, index[axis], expr_i32(k->m, length));
	first = read_at(k, t, index);
	index[axis] = expr_sub(k->m, index[axis], expr_i32(k->m, length));
	second = read_at(k, t, index);
	finish(k, axes, ndim,
	       expr_if(k->m, inside, first, random_unary(k, second)));
}

/* The largest value and the first place where it is. */
static const struct reducer *
largest_at(struct module *m, struct dtype t)
{
	struct reducer *r = arena_new(&m->arena, struct reducer);
	struct dtype types[] = { t, dtype_of(DT_I32) };
	const struct expr *better, *equal;

	r->name = "largest_at";
	r->n = 2;
	r->lhs = arena_array(&m->arena, struct var *, 2);
	r->rhs = arena_array(&m->arena, struct var *, 2);
	r->result = arena_array(&m->arena, const struct expr *, 2);
	r->identity = arena_array(&m->arena, const struct expr *, 2);
	for (int i = 0; i < 2; i++) {
		r->lhs[i] = var_new(m, i ? "i" : "x", types[i]);
		r->rhs[i] = var_new(m, i ? "k" : "y", types[i]);
	}
	equal = expr_and(m, expr_eq(m, r->rhs[0]->expr, r->lhs[0]->expr),
			 expr_lt(m, r->rhs[1]->expr, r->lhs[1]->expr));
	better = expr_or(m, expr_lt(m, r->lhs[0]->expr, r->rhs[0]->expr),
			 equal);
	for (int i = 0; i < 2; i++) {
		r->result[i] = expr_select(m, better, r->rhs[i]->expr,
					   r->lhs[i]->expr);
	}
	r->identity[0] = dtype_is_float(t)
		? expr_float(m, t, dtype_lowest(t))
		: expr_int(m, t, dtype_min_int(t));
	r->identity[1] = expr_i32(m, INT32_MAX);
	return r;
}

static void
make_largest(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *out[2];
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 }, axis, kept = 0;
	const struct expr *index[MAX_DIMS], *sources[2], *bodies[2];
	const char *names[] = { "largest", "place" };
	struct iter_var *axes, reduced;
	struct reduction r = { .n_axes = 1 };

	if (ndim == 0 || dtype_class(t->buffer->type) == DTC_BOOL) {
		make_elementwise(k);
		return;
	}
	axis = rng_below(k->r, ndim);
	for (int d = 0; d < ndim; d++) {
		if (d != axis) {
			extent[kept++] = extent_of(t, d);
		}
	}
	axes = axes_of(k, ndim - 1, extent);
	reduced = te_reduce_axis(k->m, "k", t->buffer->shape[axis]);
	kept = 0;
	for (int d = 0; d < ndim; d++) {
		index[d] = d == axis ? reduced.var->expr
				     : axes[kept++].var->expr;
	}
	r.reducer = largest_at(k->m, t->buffer->type);
	r.axes = &reduced;
	sources[0] = read_at(k, t, index);
	sources[1] = reduced.var->expr;
	for (int i = 0; i < 2; i++) {
		r.index = i;
		bodies[i] = expr_reduce(k->m, &r, sources, 2);
	}
	te_compute_multi(k->m, names, "random", ndim - 1, axes, bodies, 2,
			 k->inputs, k->n_inputs, out);
	k->n_inputs = 0;
	k->n_stages++;
	k->tensors[k->n_tensors++] = out[rng_below(k->r, 2)];
	k->tensors[k->n_tensors++] = out[0];
}

/* y[.., n] = sum over k of x[.., k] * w[k, n] (or w[n, k]) */
static void
make_matmul(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *w;
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 };
	const struct expr *index[MAX_DIMS], *shape[2], *at[2];
	struct iter_var *axes, reduced;
	bool turned = rng_below(k->r, 2);
	struct dtype type = t->buffer->type;

	if (ndim == 0 || dtype_class(type) == DTC_BOOL ||
	    k->n_params >= RANDOM_MAX_PARAMS - 1) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim - 1; d++) {
		extent[d] = extent_of(t, d);
	}
	extent[ndim - 1] = 1 + rng_below(k->r, 20);
	shape[turned] = t->buffer->shape[ndim - 1];
	shape[!turned] = expr_i32(k->m, extent[ndim - 1]);
	w = add_param(k, type, 2, shape, 0);
	axes = axes_of(k, ndim, extent);
	reduced = te_reduce_axis(k->m, "k", t->buffer->shape[ndim - 1]);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	at[turned] = reduced.var->expr;
	at[!turned] = index[ndim - 1];
	index[ndim - 1] = reduced.var->expr;
	finish(k, axes, ndim,
	       te_sum(k->m, expr_mul(k->m, read_at(k, t, index),
				     read_at(k, w, at)), &reduced, 1));
}

/* y[o, h, w] = sum over c, p, q of x[c, h * stride + p - pad, …] * f[o, c,
 * p, q], guarded; what stands before c stays in front. */
static void
make_convolution(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *f;
	struct module *m = k->m;
	int ndim = t->buffer->ndim;
	int extent[MAX_DIMS] = { 0 };
	int size = 1 + rng_below(k->r, 3), stride = 1 + rng_below(k->r, 2);
	int pad = rng_below(k->r, 2);
	const struct expr *index[MAX_DIMS], *shape[4], *at[4], *x;
	const struct expr *inside = expr_bool(m, true);
	struct iter_var *axes, reduced[3];
	struct dtype type = t->buffer->type;

	if (ndim < 3 || dtype_class(type) == DTC_BOOL ||
	    k->n_params >= RANDOM_MAX_PARAMS - 1 || is_symbolic(t) ||
	    extent_of(t, ndim - 1) + 2 * pad < size ||
	    extent_of(t, ndim - 2) + 2 * pad < size) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	shape[0] = expr_i32(m, 1 + rng_below(k->r, 18));
	shape[1] = t->buffer->shape[ndim - 3];
	shape[2] = shape[3] = expr_i32(m, size);
	f = add_param(k, type, 4, shape, 0);
	extent[ndim - 3] = extent_of(f, 0);
	for (int i = 0; i < 3; i++) {
		reduced[i] = te_reduce_axis(m, i == 0 ? "c" : i == 1 ? "p"
						: "q", shape[1 + i]);
		at[1 + i] = reduced[i].var->expr;
	}
	for (int d = ndim - 2; d < ndim; d++) {
		extent[d] = (extent_of(t, d) + 2 * pad - size) / stride + 1;
	}
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	at[0] = index[ndim - 3];
	index[ndim - 3] = at[1];
	for (int i = 0; i < 2; i++) {
		int d = ndim - 2 + i;

		index[d] = expr_sub(m, expr_add(m,
				expr_mul(m, index[d], expr_i32(m, stride)),
				at[2 + i]), expr_i32(m, pad));
		inside = expr_and(m, inside, expr_and(m,
				expr_le(m, expr_i32(m, 0), index[d]),
				expr_lt(m, index[d], t->buffer->shape[d])));
	}
	x = read_at(k, t, index);
	if (pad > 0) {
		x = expr_if(m, inside, x, expr_const(m, type, 0));
	}
	finish(k, axes, ndim,
	       te_sum(m, expr_mul(m, x, read_at(k, f, at)), reduced, 3));
}

void
random_te(struct module *m, struct rng *r,
	  const struct random_options *options, struct random_program *out)
{
	static void (*const stages[])(struct maker *k) = {
		make_elementwise, make_elementwise, make_elementwise,
		make_reduction,   make_reduction,   make_window,
		make_gather,      make_transpose,   make_reshape,
		make_concat,      make_matmul,      make_convolution,
		make_largest,
	};
	struct maker k = { .m = m, .r = r, .options = options };
	int n_inputs = 1 + rng_below(r, 3);
	int n_stages = 1 + rng_below(r, options->max_stages
						? options->max_stages : 4);

	if (options->symbolic) {
		k.dim = var_new_dim(m, "n", 1, RANDOM_MAX_SIZE);
	}
	for (int i = 0; i < n_inputs; i++) {
		k.tensors[k.n_tensors++] = random_placeholder(&k);
	}
	for (int i = 0; i < n_stages; i++) {
		stages[rng_below(r, (int)(sizeof stages /
					  sizeof *stages))](&k);
	}
	k.params[k.n_params++] = k.tensors[k.n_tensors - 1];
	out->func = te_to_func(m, "main", k.params, k.n_params);
	out->n_params = k.n_params;
	out->output = k.n_params - 1;
	for (int i = 0; i < k.n_params; i++) {
		out->buffer[i] = k.params[i]->buffer;
		out->index_bound[i] = i < k.n_params - 1 ? k.bound[i] : 0;
	}
	out->n_args = out->func->params.n;
	out->dim = out->n_args > k.n_params ? k.dim : NULL;
	random_resize(out, 5);
}

void
random_resize(struct random_program *p, int size)
{
	p->size = size;
	for (int i = 0; i < p->n_params; i++) {
		const struct buffer *b = p->buffer[i];

		p->elems[i] = 1;
		for (int d = 0; d < b->ndim; d++) {
			int64_t extent = size;

			expr_is_int(b->shape[d], &extent);
			p->elems[i] *= extent;
		}
	}
}

/* ---- data */

static union number
random_element(struct dtype t, struct rng *r, int bound, bool exact)
{
	union number n = { .i = 0 };

	if (bound > 0) {
		n.i = rng_below(r, bound);
	} else if (dtype_class(t) == DTC_BOOL) {
		n.i = rng_below(r, 2);
	} else if (dtype_is_float(t)) {
		n.f = exact ? rng_below(r, 7) - 3
			    : (double)rng_below(r, 4000001) / 1e6 - 2;
		n = number_round(t, n);
	} else if (exact) {
		n.i = rng_below(r, 4) - (dtype_is_signed(t) ? 1 : 0);
	} else {
		n.u = rng_next(r);
		n = number_round(t, n);
	}
	return n;
}

void
random_data(const struct random_program *p, struct rng *r,
	    const struct random_options *options, struct run_arg *args)
{
	for (int i = 0; i < p->n_params; i++) {
		struct dtype t = p->buffer[i]->type;
		size_t bytes = (size_t)(p->elems[i] * dtype_bytes(t));

		args[i].scalar = 0;
		args[i].data = malloc(bytes + 1);
		memset(args[i].data, 0xFF, bytes);
		for (int64_t k = 0; k < p->elems[i] && i != p->output; k++) {
			number_store(t, args[i].data, (size_t)k,
				     random_element(t, r, p->index_bound[i],
						    options->exact));
		}
	}
	if (p->dim) {
		args[p->n_params].data = NULL;
		args[p->n_params].scalar = p->size;
	}
}

void
random_release(const struct random_program *p, struct run_arg *args)
{
	for (int i = 0; i < p->n_params; i++) {
		free(args[i].data);
	}
}

int64_t
random_difference(const struct random_program *p, const void *a,
		  const void *b, double tolerance)
{
	struct dtype t = p->buffer[p->output]->type;

	for (int64_t i = 0; i < p->elems[p->output]; i++) {
		union number x = number_load(t, a, (size_t)i);
		union number y = number_load(t, b, (size_t)i);
		bool same = x.u == y.u;

		if (dtype_is_float(t)) {
			double scale = fabs(x.f) > 1 ? fabs(x.f) : 1;

			same = x.f == y.f || (isnan(x.f) && isnan(y.f)) ||
			       fabs(x.f - y.f) <= tolerance * scale;
		}
		if (!same) {
			return i;
		}
	}
	return -1;
}
