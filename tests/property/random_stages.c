/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of stages of random programs. */
#include "random_maker.h"

#include <stdio.h>

void
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

/* A reducer that is none of the known ones. */
static const struct reducer *
any_bit(struct module *m, struct dtype t)
{
	struct reducer *r = te_reducer_declare(m, "any_bit", 1, &t);
	const struct expr *result = expr_call2(m, INTRIN_BITOR, r->lhs[0]->expr,
					       r->rhs[0]->expr);
	const struct expr *zero = expr_const(m, t, 0);
	const char *why;

	if (!te_reducer_define(m, r, &result, &zero, &why)) {
		fprintf(stderr, "%s\n", why);
	}
	return r;
}

void
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
	if (dtype_is_int(type) && rng_below(k->r, 4) == 0) {
		finish(k, axes, n_kept,
		       te_reduce(k->m, any_bit(k->m, type), x, reduced,
				 n_reduced));
		return;
	}
	switch (rng_below(k->r,
			  k->options->exact || k->options->positive ? 3 : 4)) {
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
void
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
	at = expr_sub(m,
		      expr_add(m, expr_mul(m, index[last], expr_i32(m, stride)),
			       expr_mul(m, w.var->expr, expr_i32(m, dilation))),
		      expr_i32(m, pad));
	index[last] = at;
	inside = expr_and(m, expr_le(m, expr_i32(m, 0), at),
			  expr_lt(m, at, expr_i32(m, length)));
	x = expr_if(m, inside, read_at(k, t, index), expr_const(m, type, 0));
	finish(k, axes, ndim,
	       te_reduce(m,
			 rng_below(k->r, 2) ? reducer_sum(m, type)
					    : reducer_max(m, type),
			 x, &w, 1));
}

/* y[i, ..] = x[index[i], ..] */
void
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
	positions = add_param(k, dtype_of(rng_below(k->r, 2) ? DT_I32 : DT_I64),
			      1, shape, bound);
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	index[axis] = convert(k, dtype_of(DT_I32),
			      read_at(k, positions, &index[axis]));
	finish(k, axes, ndim, read_at(k, t, index));
}

void
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
					      expr_i32(k->m, 1)),
				     i);
		}
		index[d] = i;
	}
	finish(k, axes, ndim, read_at(k, t, index));
}

/* All elements in one dimension, or one dimension in two. */
void
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
		flat = expr_add(k->m,
				expr_mul(k->m, flat, expr_i32(k->m, extent[1])),
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
void
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
	r->identity[0] = dtype_is_float(t) ? expr_float(m, t, dtype_lowest(t))
					   : expr_int(m, t, dtype_min_int(t));
	r->identity[1] = expr_i32(m, INT32_MAX);
	return r;
}

void
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
	/* Rounding may change the place. */
	k->tensors[k->n_tensors++] =
		out[rng_below(k->r, 2) && !k->options->positive];
	k->tensors[k->n_tensors++] = out[0];
}

/* y[.., n] = sum over k of x[.., k] * w[k, n] (or w[n, k]) */
void
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
	       te_sum(k->m,
		      expr_mul(k->m, read_at(k, t, index), read_at(k, w, at)),
		      &reduced, 1));
}

/* y[o, h, w] = sum over c, p, q of x[c, h * stride + p - pad, …] * f[o, c,
 * p, q], guarded; what stands before c stays in front. */
void
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
		reduced[i] = te_reduce_axis(m,
					    i == 0   ? "c"
					    : i == 1 ? "p"
						     : "q",
					    shape[1 + i]);
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

		index[d] = expr_sub(m,
				    expr_add(m,
					     expr_mul(m, index[d],
						      expr_i32(m, stride)),
					     at[2 + i]),
				    expr_i32(m, pad));
		inside = expr_and(m, inside,
				  expr_and(m,
					   expr_le(m, expr_i32(m, 0), index[d]),
					   expr_lt(m, index[d],
						   t->buffer->shape[d])));
	}
	x = read_at(k, t, index);
	if (pad > 0) {
		x = expr_if(m, inside, x, expr_const(m, type, 0));
	}
	finish(k, axes, ndim,
	       te_sum(m, expr_mul(m, x, read_at(k, f, at)), reduced, 3));
}

/* s[..] = sum over the last dimension of x[.., k]; y[..] = s[..] + bias[..] */
void
make_biased_sum(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *sum, *bias;
	int ndim = t->buffer->ndim - 1;
	int extent[MAX_DIMS] = { 0 };
	const struct expr *index[MAX_DIMS];
	struct iter_var *axes, reduced;
	struct dtype type = t->buffer->type;

	if (ndim < 0 || dtype_class(type) == DTC_BOOL ||
	    k->n_params >= RANDOM_MAX_PARAMS - 1) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	axes = axes_of(k, ndim, extent);
	reduced = te_reduce_axis(k->m, "k", t->buffer->shape[ndim]);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	index[ndim] = reduced.var->expr;
	sum = finish(k, axes, ndim,
		     te_sum(k->m, read_at(k, t, index), &reduced, 1));
	bias = add_param(k, type, ndim, sum->buffer->shape, 0);
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	finish(k, axes, ndim,
	       expr_add(k->m, read_at(k, sum, index), read_at(k, bias, index)));
}

/* y[.., i] = x[.., i - pad] where there is one, else 0; then a window over
 * it, as rings are made for. */
void
make_padded(struct maker *k)
{
	struct te_tensor *t = random_tensor(k), *padded;
	struct module *m = k->m;
	int ndim = t->buffer->ndim, last = ndim - 1;
	int extent[MAX_DIMS] = { 0 }, pad = 1 + rng_below(k->r, 2);
	const struct expr *index[MAX_DIMS], *at, *inside;
	struct dtype type = t->buffer->type;
	struct iter_var *axes, w;

	if (ndim == 0 || dtype_class(type) == DTC_BOOL || is_symbolic(t)) {
		make_elementwise(k);
		return;
	}
	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	extent[last] += 2 * pad;
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	at = expr_sub(m, index[last], expr_i32(m, pad));
	inside = expr_and(m, expr_le(m, expr_i32(m, pad), index[last]),
			  expr_lt(m, index[last],
				  expr_i32(m, extent[last] - pad)));
	index[last] = at;
	padded = finish(k, axes, ndim,
			expr_if(m, inside, read_at(k, t, index),
				expr_const(m, type, 0)));
	extent[last] -= 2;
	axes = axes_of(k, ndim, extent);
	w = te_reduce_axis(m, "w", expr_i32(m, 3));
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	index[last] = expr_add(m, index[last], w.var->expr);
	finish(k, axes, ndim,
	       te_reduce(m, reducer_max(m, type), read_at(k, padded, index), &w,
			 1));
}
