/* SPDX-License-Identifier: Apache-2.0 */
/* Products as instructions for tiles take them: of float16, bfloat16, float and
 * bytes, summed in float or int32, by rows and columns that tiles divide and that
 * they do not, turned, in batches, of rows that an index chooses, of a picture's
 * windows; with an epilogue or none. */
#include "random_maker.h"

struct product {
	struct maker *k;
	struct dtype type[2], sum;
	int batch, rows, columns, depth; /* batch 0: none */
};

/* -- types and sizes */

static void
choose_types(struct product *p)
{
	static const struct {
		enum dtype_kind a, b, sum;
	} kinds[] = {
		{ DT_F16, DT_F16, DT_F32 }, { DT_BF16, DT_BF16, DT_F32 },
		{ DT_F32, DT_F32, DT_F32 }, { DT_I8, DT_I8, DT_I32 },
		{ DT_U8, DT_U8, DT_I32 },   { DT_U8, DT_I8, DT_I32 },
	};
	int i = rng_below(p->k->r, p->k->options->positive ? 3 : 6);

	p->type[0] = dtype_of(kinds[i].a);
	p->type[1] = dtype_of(kinds[i].b);
	p->sum = dtype_of(kinds[i].sum);
}

/* A multiple of what tiles have, or what is not. */
static int
tile_extent(struct maker *k, int most)
{
	int n = 16 * (1 + rng_below(k->r, most / 16 + 1));

	switch (rng_below(k->r, 4)) {
	case 0:
		return 1 + rng_below(k->r, most);
	case 1:
		return n + rng_below(k->r, 15) - 7;
	default:
		return n;
	}
}

static int
known(int extent)
{
	return extent == SYMBOLIC ? RANDOM_MAX_SIZE : extent;
}

/* The longest gets shorter until there is no more to multiply than is asked
 * for. */
static void
choose_sizes(struct product *p)
{
	struct maker *k = p->k;
	int64_t most = k->options->product_size;
	int side = most > 10000 ? 48 : 20;

	p->batch = rng_below(k->r, 3) == 0 ? 1 + rng_below(k->r, 3) : 0;
	p->rows = tile_extent(k, side);
	p->columns = tile_extent(k, side);
	p->depth = tile_extent(k, side);
	if (most > 100000) { /* about one of the largest tiles */
		p->batch = p->batch != 0;
		p->rows = 32 + tile_extent(k, 48);
		p->columns = 80 + tile_extent(k, 48);
		p->depth = 64 + tile_extent(k, 64);
	}
	if (k->dim && rng_below(k->r, 2)) {
		*(p->batch ? &p->batch : &p->rows) = SYMBOLIC;
	}
	for (;;) {
		int rows = known(p->rows);
		int batch = p->batch ? known(p->batch) : 1;
		int *longest = &p->columns;

		if ((int64_t)batch * rows * p->columns * p->depth <= most) {
			return;
		}
		longest = p->depth > *longest ? &p->depth : longest;
		longest = p->rows != SYMBOLIC && p->rows > *longest ? &p->rows
								    : longest;
		*longest -= *longest > 16 ? 8 : (*longest + 1) / 2;
	}
}

/* -- operands */

/* A parameter, or what is made of one element by element. */
static struct te_tensor *
operand(struct product *p, int which, int ndim, const int *extent)
{
	struct maker *k = p->k;
	struct iter_var *axes = axes_of(k, ndim, extent);
	const struct expr *shape[MAX_DIMS], *index[MAX_DIMS], *x;
	struct dtype type = p->type[which];
	int how = rng_below(k->r, 8);
	bool narrowed = how == 0 && dtype_is_float(type);
	struct te_tensor *given;

	for (int d = 0; d < ndim; d++) {
		shape[d] = axes[d].extent;
		index[d] = axes[d].var->expr;
	}
	given = add_param(k, narrowed ? dtype_of(DT_F32) : type, ndim, shape,
			  0);
	if (which == 1) {
		k->constant = k->n_params - 1;
	}
	if (how > 1) {
		return given;
	}
	x = read_at(k, given, index);
	return finish(k, axes, ndim,
		      narrowed ? convert(k, type, x)
			       : expr_max(k->m, x, expr_const(k->m, type, 1)));
}

static const struct expr *
times(struct product *p, const struct expr *a, const struct expr *b)
{
	struct maker *k = p->k;

	a = convert(k, p->sum, a);
	b = convert(k, p->sum, b);
	return rng_below(k->r, 4) ? expr_mul(k->m, a, b) : expr_mul(k->m, b, a);
}

/* A matrix, of each of a batch where there is one: its extents, how many there
 * are, and an element of it. turned: inner first. */
struct matrix {
	bool batched, turned;
};

static int
extents_of(struct matrix x, int batch, int outer, int inner, int *extent)
{
	extent[0] = batch;
	extent[x.batched + x.turned] = outer;
	extent[x.batched + !x.turned] = inner;
	return x.batched + 2;
}

static const struct expr *
element(struct maker *k, struct te_tensor *t, struct matrix x,
	const struct expr *batch, const struct expr *outer,
	const struct expr *inner)
{
	const struct expr *index[MAX_DIMS];

	index[0] = batch;
	index[x.batched + x.turned] = outer;
	index[x.batched + !x.turned] = inner;
	return read_at(k, t, index);
}

/* y[b, m, n] = sum over k of x[b, m, k] * w[b, k, n]; w has no batch, now and
 * then, and either may be turned. chosen: x[b, i[m], k]. */
static struct te_tensor *
multiply_matrices(struct product *p, bool chosen)
{
	struct maker *k = p->k;
	bool batched = p->batch != 0;
	struct matrix left = { batched, rng_below(k->r, 4) == 0 };
	struct matrix right = { batched && rng_below(k->r, 2),
				rng_below(k->r, 2) };
	int extent[MAX_DIMS], n, given = chosen ? 24 : p->rows;
	struct te_tensor *x, *w;
	const struct expr *row, *column;
	struct iter_var *axes, sum;

	n = extents_of(left, p->batch, given, p->depth, extent);
	x = operand(p, 0, n, extent);
	n = extents_of(right, p->batch, p->depth, p->columns, extent);
	w = operand(p, 1, n, extent);
	n = extents_of((struct matrix){ batched, false }, p->batch, p->rows,
		       p->columns, extent);
	axes = axes_of(k, n, extent);
	sum = te_reduce_axis(k->m, "k", expr_i32(k->m, p->depth));
	row = axes[n - 2].var->expr;
	column = axes[n - 1].var->expr;
	if (chosen) {
		row = read_at(k,
			      add_param(k, dtype_of(DT_I32), 1,
					&axes[n - 2].extent, given),
			      &row);
	}
	return finish(k, axes, n,
		      te_sum(k->m,
			     times(p,
				   element(k, x, left, axes[0].var->expr, row,
					   sum.var->expr),
				   element(k, w, right, axes[0].var->expr,
					   sum.var->expr, column)),
			     &sum, 1));
}

/* y[o, h, w] = sum over c, p, q of x[c, h * s + p - pad, ..] * f[o, c, p, q], or
 * with the channels last: y[h, w, o], x[h, w, c], f[p, q, c, o]. */
static struct te_tensor *
multiply_windows(struct product *p)
{
	struct maker *k = p->k;
	struct module *m = k->m;
	int size = 1 + rng_below(k->r, 3), pad = rng_below(k->r, 2);
	int stride = 1 + rng_below(k->r, 2), side = 4, channels;
	bool last = rng_below(k->r, 2);
	int place = last ? 2 : 0, pixel = last ? 0 : 1;
	int given[MAX_DIMS], filter[MAX_DIMS], made[MAX_DIMS];
	const struct expr *at[MAX_DIMS], *of[MAX_DIMS], *value;
	const struct expr *inside = expr_bool(m, true);
	struct iter_var *axes, sum[3];
	struct te_tensor *x, *f;

	while (side < 12 && side * side < known(p->rows)) {
		side++;
	}
	channels = (p->depth + size * size - 1) / (size * size);
	made[place] = p->columns;
	made[pixel] = made[pixel + 1] = side;
	given[place] = channels;
	given[pixel] = given[pixel + 1] = (side - 1) * stride + size - 2 * pad >
							  0
						  ? (side - 1) * stride + size -
							    2 * pad
						  : 1;
	filter[last ? 3 : 0] = p->columns;
	filter[last ? 2 : 1] = channels;
	filter[last ? 0 : 2] = filter[last ? 1 : 3] = size;
	x = operand(p, 0, 3, given);
	f = operand(p, 1, 4, filter);
	axes = axes_of(k, 3, made);
	sum[0] = te_reduce_axis(m, "c", expr_i32(m, channels));
	sum[1] = te_reduce_axis(m, "p", expr_i32(m, size));
	sum[2] = te_reduce_axis(m, "q", expr_i32(m, size));
	at[place] = of[last ? 2 : 1] = sum[0].var->expr;
	of[last ? 3 : 0] = axes[place].var->expr;
	for (int i = 0; i < 2; i++) {
		of[(last ? 0 : 2) + i] = sum[1 + i].var->expr;
		at[pixel + i] =
			expr_sub(m,
				 expr_add(m,
					  expr_mul(m, axes[pixel + i].var->expr,
						   expr_i32(m, stride)),
					  sum[1 + i].var->expr),
				 expr_i32(m, pad));
		inside = expr_and(m, inside,
				  expr_and(m,
					   expr_le(m, expr_i32(m, 0),
						   at[pixel + i]),
					   expr_lt(m, at[pixel + i],
						   x->buffer->shape[pixel +
								    i])));
	}
	value = read_at(k, x, at);
	if (pad > 0) {
		value = expr_if(m, inside, value, expr_const(m, p->type[0], 0));
	}
	return finish(k, axes, 3,
		      te_sum(m, times(p, value, read_at(k, f, of)), sum, 3));
}

/* -- epilogues */

/* t and a parameter, of its shape or (bias) of its last dimension. */
static const struct expr *
plus_given(struct maker *k, const struct expr *x, const struct iter_var *axes,
	   int ndim, bool bias)
{
	int first = bias ? ndim - 1 : 0;
	const struct expr *shape[MAX_DIMS], *index[MAX_DIMS];
	struct te_tensor *other;

	for (int d = first; d < ndim; d++) {
		shape[d - first] = axes[d].extent;
		index[d - first] = axes[d].var->expr;
	}
	other = add_param(k, x->type, ndim - first, shape, 0);
	return expr_add(k->m, x, read_at(k, other, index));
}

/* Sums of bytes as bytes: scaled by a power of two, rounded, cut off. */
static const struct expr *
as_bytes(struct product *p, const struct expr *x)
{
	struct maker *k = p->k;
	struct dtype f = dtype_of(DT_F32), to = p->type[rng_below(k->r, 2)];
	double low = dtype_is_signed(to) ? -128 : 0;

	x = expr_mul(k->m, convert(k, f, x), expr_float(k->m, f, 0x1p-9));
	x = expr_call1(k->m, INTRIN_NEARBYINT, x);
	x = expr_max(k->m, expr_min(k->m, x, expr_float(k->m, f, low + 255)),
		     expr_float(k->m, f, low));
	return convert(k, to, x);
}

static struct te_tensor *
continue_with(struct product *p, struct te_tensor *t)
{
	struct maker *k = p->k;
	int ndim = t->buffer->ndim, extent[MAX_DIMS];
	const struct expr *index[MAX_DIMS], *x;
	struct iter_var *axes;
	bool bytes = dtype_bytes(t->buffer->type) == 1;

	for (int d = 0; d < ndim; d++) {
		extent[d] = extent_of(t, d);
	}
	axes = axes_of(k, ndim, extent);
	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	x = read_at(k, t, index);
	/* Two bytes may be too much for one. */
	switch (bytes ? 1 : rng_below(k->r, 4)) {
	case 0:
		x = plus_given(k, x, axes, ndim, rng_below(k->r, 2));
		break;
	case 1:
		x = expr_max(k->m, x, expr_const(k->m, x->type, 0));
		break;
	case 2:
		if (dtype_equal(x->type, p->sum)) {
			x = dtype_is_float(x->type) ? convert(k, p->type[0], x)
						    : as_bytes(p, x);
			break;
		}
		/* fallthrough */
	default:
		x = expr_add(k->m, x, x);
		break;
	}
	return finish(k, axes, ndim, x);
}

void
make_product(struct maker *k, int n_epilogues)
{
	struct product p = { .k = k };
	struct te_tensor *t;
	int form = rng_below(k->r, 6);

	choose_types(&p);
	choose_sizes(&p);
	t = form == 0 ? multiply_windows(&p) : multiply_matrices(&p, form == 1);
	for (int i = 0; i < n_epilogues; i++) {
		t = continue_with(&p, t);
	}
}
