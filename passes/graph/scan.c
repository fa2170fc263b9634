/* SPDX-License-Identifier: Apache-2.0 */
/* Blocked scan (Blelloch, "Prefix Sums and Their Applications", 1990): running
 * sums and products along a few long rows are computed in blocks, so that more
 * threads share the work:
 *
 *	                                p = Reshape (x), rows of blocks
 *	                                t = ReduceSum (p), of each block
 *	y = CumSum (x)           ->     b = CumSum (t, exclusive)
 *	                                s = CumSum (p), in each block
 *	                                y = Reshape (Add (s, b))
 *
 * The last block is padded with zeros (sums) or ones (products). Sums of
 * float16 and bfloat16 are computed in float32, as in a scan without blocks. If
 * there are many blocks, the scan over their sums is done in blocks, too.
 *
 * Exact for integers. Sums of floats get other rounding errors, so they are not
 * changed if the graph has the setting exact_rewrites. Products of floats are
 * never changed: the product of a block may overflow, and 0 * inf is NaN. */
#include "rewrite.h"

enum {
	/* for shorter rows, the four kernels of a scan in blocks take longer
	 * than one */
	LEAST_ROW = 1024,
	LEAST_PIECE = 64,
	/* with this many rows, each on its own thread, all threads of a device
	 * are busy */
	FULL_DEVICE = 4096,
	/* the largest number of threads over all rows together */
	MOST_THREADS = 16384,
};

struct scan {
	struct graph *g;
	struct node *n;
	int axis, ndim;
	int64_t *shape; /* the shape of n's input x */
	/* the length of a block, and the number of blocks into which a row is
	 * divided */
	int64_t piece, pieces;
	bool product; /* n is a CumProd, not a CumSum */
};

/* The length of a block: the larger of `least` and LEAST_PIECE, or a number up
 * to three times as large if the length of the row is a multiple of this
 * number. */
static int64_t
piece_of(int64_t length, int64_t least)
{
	least = least < LEAST_PIECE ? LEAST_PIECE : least;
	for (int64_t piece = least; piece <= 3 * least; piece++) {
		if (length % piece == 0) {
			return piece;
		}
	}
	return least;
}

/* If n is a running sum or product along few long rows that may be computed in
 * blocks: sets *s to its axis, shape and block length, and returns true. Else
 * returns false. */
static bool
read_scan(struct graph *g, struct node *n, struct scan *s)
{
	const struct tensor *x;
	const int64_t *axis;
	int64_t rows = 1, length, shares;
	int count;

	if (n->match != NULL ||
	    (!node_is(n, "CumSum") && !node_is(n, "CumProd")) ||
	    !input_ints(g->module, n, 1, &axis, &count)) {
		return false;
	}
	x = n->inputs[0];
	*s = (struct scan){
		.g = g,
		.n = n,
		.ndim = x->ndim,
		.axis = (int)(axis[0] < 0 ? axis[0] + x->ndim : axis[0]),
		.shape = arena_array(&g->module->arena, int64_t, x->ndim + 1),
		.product = node_is(n, "CumProd"),
	};
	for (int d = 0; d < x->ndim; d++) {
		if (!expr_is_int(x->shape[d], &s->shape[d])) {
			return false;
		}
		rows *= d != s->axis ? s->shape[d] : 1;
	}
	length = s->shape[s->axis];
	if (dtype_is_float(x->type) &&
	    (s->product || g->settings->exact_rewrites)) {
		return false;
	}
	if (length < LEAST_ROW || rows < 1 || rows >= FULL_DEVICE) {
		return false;
	}
	shares = MOST_THREADS / rows;
	s->piece = piece_of(length, (length + shares - 1) / shares);
	s->pieces = (length + s->piece - 1) / s->piece;
	return true;
}

/* Inserts a node with the operator op_type and the inputs `in` before s->n,
 * with the attribute `attr` (unless that is NULL), and returns its result. This
 * function and the functions after it return NULL after a diagnostic, or if an
 * input is NULL. */
static struct tensor *
compute(const struct scan *s, const char *op_type, struct tensor *const *in,
	int n_in, const char *attr, int64_t value)
{
	struct node *n;

	for (int i = 0; i < n_in; i++) {
		if (in[i] == NULL) {
			return NULL;
		}
	}
	n = insert_node(s->g, s->n, op_type, s->n->outputs[0]->name, in, n_in);
	if (attr != NULL) {
		node_set_attr_int(s->g, n, attr, value);
	}
	return ops_infer_node(s->g, n) ? n->outputs[0] : NULL;
}

static struct tensor *
one_of_type(struct graph *g, struct dtype t)
{
	void *data = arena_alloc(&g->module->arena, sizeof(union number));
	union number one = { .i = 1 };

	if (dtype_is_float(t)) {
		one.f = 1;
	}
	number_store(t, data, 0, one);
	return graph_constant(g, "one", t, 0, NULL, data);
}

/* Inserts a Pad that extends x to whole blocks, and returns its result; x
 * itself if the blocks are whole. */
static struct tensor *
fill_up(const struct scan *s, struct tensor *x)
{
	int64_t more = s->piece * s->pieces - s->shape[s->axis];
	int64_t *pads = arena_array(&s->g->module->arena, int64_t, 2 * s->ndim);
	struct tensor *in[3] = { x };

	if (more == 0) {
		return x;
	}
	for (int i = 0; i < 2 * s->ndim; i++) {
		pads[i] = i == s->ndim + s->axis ? more : 0;
	}
	in[1] = graph_constant_ints(s->g, "pads", 2 * s->ndim, pads);
	in[2] = s->product && x != NULL ? one_of_type(s->g, x->type) : NULL;
	return compute(s, "Pad", in, s->product ? 3 : 2, NULL, 0);
}

/* Inserts a Reshape of x. If `apart`, the axis becomes two axes: the blocks,
 * and the positions in a block; otherwise these two axes become one. */
static struct tensor *
reshape(const struct scan *s, struct tensor *x, bool apart)
{
	int64_t *shape = arena_array(&s->g->module->arena, int64_t,
				     s->ndim + 1);
	struct tensor *in[2] = { x };
	int n = 0;

	for (int d = 0; d < s->ndim; d++) {
		if (d != s->axis) {
			shape[n++] = s->shape[d];
		} else if (apart) {
			shape[n++] = s->pieces;
			shape[n++] = s->piece;
		} else {
			shape[n++] = s->pieces * s->piece;
		}
	}
	in[1] = graph_constant_ints(s->g, "shape", n, shape);
	return compute(s, "Reshape", in, 2, NULL, 0);
}

/* Inserts a node with n's operator on x along another axis, in n's direction,
 * and returns its result. */
static struct tensor *
run_along(const struct scan *s, struct tensor *x, int64_t axis, bool exclusive)
{
	struct tensor *in[2] = {
		x,
		graph_constant(s->g, "axis", dtype_of(DT_I64), 0, NULL,
			       arena_copy(&s->g->module->arena, &axis,
					  sizeof axis)),
	};
	struct tensor *y = compute(s, s->n->op_type, in, 2, "reverse",
				   node_attr_int(s->n, "reverse", 0));

	if (y != NULL) {
		node_set_attr_int(s->g, y->producer, "exclusive", exclusive);
	}
	return y;
}

/* Inserts a Slice that removes the padding from y, and returns its result;
 * returns y itself if there is no padding. */
static struct tensor *
cut(const struct scan *s, struct tensor *y)
{
	int64_t start = 0, axis = s->axis;
	struct tensor *in[4] = {
		y,
		graph_constant_ints(s->g, "starts", 1, &start),
		graph_constant_ints(s->g, "ends", 1, &s->shape[axis]),
		graph_constant_ints(s->g, "axes", 1, &axis),
	};

	return s->piece * s->pieces == s->shape[axis]
		       ? y
		       : compute(s, "Slice", in, 4, NULL, 0);
}

static bool
replace(const struct scan *s)
{
	struct graph *g = s->g;
	struct node *n = s->n;
	struct tensor *x = n->inputs[0], *totals[2], *sums[2], *y;
	bool is_short = dtype_is_float(x->type) && dtype_bits(x->type) < 32;
	int64_t inside = s->axis + 1;

	if (is_short) {
		x = compute(s, "Cast", &x, 1, "to",
			    dtype_onnx_number(dtype_of(DT_F32)));
	}
	x = reshape(s, fill_up(s, x), true);
	totals[0] = x;
	totals[1] = graph_constant_ints(g, "axes", 1, &inside);
	sums[1] = run_along(s,
			    compute(s, s->product ? "ReduceProd" : "ReduceSum",
				    totals, 2, "keepdims", 1),
			    s->axis, true);
	sums[0] = run_along(s, x, inside,
			    node_attr_int(n, "exclusive", 0) != 0);
	y = compute(s, s->product ? "Mul" : "Add", sums, 2, NULL, 0);
	y = cut(s, reshape(s, y, false));
	if (is_short) {
		y = compute(s, "CastLike",
			    (struct tensor *[]){ y, n->inputs[0] }, 2, NULL, 0);
	}
	if (y == NULL) {
		return false;
	}
	graph_note(g, n, "scan", "computed by pieces, in several kernels");
	n->origins.n = 0;
	graph_replace_uses(g, n->outputs[0], y);
	graph_remove_node(g, n, "scan", "");
	return true;
}

bool
graph_scan(struct graph *g)
{
	for (int i = 0; g->settings->by_threads && i < g->nodes.n; i++) {
		struct scan s;

		if (!read_scan(g, g->nodes.data[i], &s)) {
			continue;
		}
		if (!replace(&s)) {
			return false;
		}
		i--; /* the pass continues with the first inserted node */
	}
	return true;
}
