/* SPDX-License-Identifier: Apache-2.0 */
/* Col2Im: the sum of the blocks that cover each element of an image. In two
 * dimensions, for blocks of bh x bw = K elements,
 *
 *	y[n, c, h, w] = sum over kh, kw of x[n, c K + kh bw + kw, l]
 *
 * where l is the block in which element (kh, kw) is at (h, w), if there is
 * one. */
#include "define.h"
#include "quota.h"

enum { MOST_DIMS = 8 };

struct blocks {
	int n; /* the number of dimensions of the image */
	const int64_t *image, *block;
	int64_t stride[MOST_DIMS], dilation[MOST_DIMS], pad[MOST_DIMS];
	/* by dimension: the number of blocks along it */
	int64_t count[MOST_DIMS];
	int64_t elems; /* the number of elements of a block */
	int64_t all;   /* the number of blocks in all dimensions together */
};

static void
attr_values(const struct node *n, const char *name, int64_t *out, int count)
{
	const int64_t *v;
	int given = node_attr_ints(n, name, &v);

	for (int d = 0; d < count && d < given; d++) {
		out[d] = v[d];
	}
}

/* Are all sizes of dimension d small enough for 64-bit sums of their
 * products? */
static bool
is_moderate(const struct blocks *b, const int64_t *pads, int d)
{
	const int64_t sizes[] = { b->image[d],    b->block[d], b->stride[d],
				  b->dilation[d], pads[d],     pads[b->n + d] };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		if (sizes[i] < 0 || sizes[i] > INT32_MAX) {
			return false;
		}
	}
	return true;
}

/* Reads the attributes and inputs of a Col2Im into *b. False if a size of the
 * image or the block is not constant or is above INT32_MAX, or if sizes and
 * attributes contradict each other. */
static bool
read_blocks(struct module *m, const struct node *n, struct blocks *b)
{
	int64_t pads[2 * MOST_DIMS] = { 0 };
	int dims;

	if (!input_ints(m, n, 1, &b->image, &b->n) ||
	    !input_ints(m, n, 2, &b->block, &dims) || dims != b->n ||
	    b->n < 1 || b->n > MOST_DIMS) {
		return false;
	}
	for (int d = 0; d < b->n; d++) {
		b->stride[d] = b->dilation[d] = 1;
	}
	attr_values(n, "strides", b->stride, b->n);
	attr_values(n, "dilations", b->dilation, b->n);
	attr_values(n, "pads", pads, 2 * b->n);
	b->elems = b->all = 1;
	for (int d = 0; d < b->n; d++) {
		int64_t room;

		if (!is_moderate(b, pads, d) || b->stride[d] < 1 ||
		    b->dilation[d] < 1 || b->block[d] < 1) {
			return false;
		}
		room = b->image[d] + pads[d] + pads[b->n + d] -
		       b->dilation[d] * (b->block[d] - 1) - 1;
		if (room < 0) {
			return false;
		}
		b->pad[d] = pads[d];
		b->count[d] = room / b->stride[d] + 1;
		b->elems = quota_times(b->elems, b->block[d]);
		b->all = quota_times(b->all, b->count[d]);
	}
	return true;
}

bool
infer_col2im(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *shape[2 + MOST_DIMS];
	struct blocks b = { 0 };
	int64_t rows;

	if (!read_blocks(c->module, n, &b)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the sizes of the image and of a block must "
				   "be constants that fit each other and the "
				   "attributes; make them constant");
	}
	if (x->ndim != 3 || !expr_is_int(x->shape[1], &rows) ||
	    rows % b.elems != 0 ||
	    !dims_equal(c, x->shape[2], expr_index(c->module, b.all))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "'%s' does not have multiples of %lld rows "
				   "and %lld columns, one for each block; "
				   "correct the model",
				   x->name, (long long)b.elems,
				   (long long)b.all);
	}
	shape[0] = x->shape[0];
	shape[1] = expr_index(c->module, rows / b.elems);
	for (int d = 0; d < b.n; d++) {
		shape[2 + d] = expr_index(c->module, b.image[d]);
	}
	infer_set(c, n->outputs[0], x->type, 2 + b.n, shape);
	return true;
}

/* The number, along dimension d, of the block whose element k is at position i
 * of the image; *inside: the condition that a block has this element there. */
static const struct expr *
block_at(struct module *m, const struct blocks *b, int d, const struct expr *i,
	 const struct expr *k, const struct expr **inside)
{
	struct dtype t = i->type;
	const struct expr *stride = expr_int(m, t, b->stride[d]);
	const struct expr *zero = expr_int(m, t, 0);
	const struct expr *at;

	at = expr_sub(m, expr_add(m, i, expr_int(m, t, b->pad[d])),
		      expr_mul(m, k, expr_int(m, t, b->dilation[d])));
	*inside = expr_and(m, *inside, expr_le(m, zero, at));
	if (b->stride[d] > 1) {
		*inside = expr_and(m, *inside,
				   expr_binary(m, EXPR_EQ,
					       expr_floormod(m, at, stride),
					       zero));
		at = expr_floordiv(m, at, stride);
	}
	*inside = expr_and(m, *inside,
			   expr_lt(m, at, expr_int(m, t, b->count[d])));
	return at;
}

/* The flat index outer * size + inner. */
static const struct expr *
flatten(struct module *m, const struct expr *outer, int64_t size,
	const struct expr *inner)
{
	return expr_add(m, expr_mul(m, outer, expr_int(m, outer->type, size)),
			inner);
}

bool
define_col2im(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "k0", "k1", "k2", "k3",
					     "k4", "k5", "k6", "k7" };
	static const char *const plane[] = { "kh", "kw" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y), over[MOST_DIMS];
	const struct expr **at = axes_exprs(c, axes, y->ndim), *index[3];
	const struct expr *inside = expr_bool(m, true), *source, *sum;
	struct dtype wide = accumulator_type(y->type);
	struct te_tensor *total;
	struct blocks b = { 0 };

	if (!read_blocks(m, n, &b)) {
		return false;
	}
	index[0] = at[0];
	index[1] = at[1];
	index[2] = expr_int(m, at[0]->type, 0);
	for (int d = 0; d < b.n; d++) {
		const struct expr *k;

		over[d] = te_reduce_axis(m, b.n == 2 ? plane[d] : names[d],
					 expr_index(m, b.block[d]));
		k = over[d].var->expr;
		index[1] = flatten(m, index[1], b.block[d], k);
		index[2] = flatten(m, index[2], b.count[d],
				   block_at(m, &b, d, at[2 + d], k, &inside));
	}
	source = expr_cast(m, wide, te_at(m, in[0], index, 3));
	te_reduce_multi(m, reducer_sum(m, wide), &source, over, b.n, inside,
			&sum);
	total = define_stage(c, "sum", "reduce", y->ndim, axes, sum);
	out[0] = define_narrow(c, total, y->type);
	return true;
}
