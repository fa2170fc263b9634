/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: y[b, i, j] = sum over k of a[b, i, k] * b[b, k, j]. */
#include "define.h"

/* ---- MatMul ---- */

/* The shape of a product: batch dimensions, then rows and columns; if an
 * operand is a vector, rows or columns are absent. */
struct product {
	int batch; /* the number of batch dimensions */
	bool rows, columns;
	const struct expr **shape;
	int rank;
	const struct expr *inner;
};

static bool
product_shape(struct infer *c, struct module *m, const struct node *n,
	      int second, struct product *p)
{
	const struct tensor *a = n->inputs[0], *b = n->inputs[second];
	int batch_a = a->ndim - 2, batch_b = b->ndim - 2;
	const struct expr *inner_b;

	if (a->ndim < 1 || b->ndim < 1) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "%s has a scalar input; "
				   "use Mul",
				   n->op_type);
	}
	batch_a = batch_a < 0 ? 0 : batch_a;
	batch_b = batch_b < 0 ? 0 : batch_b;
	p->batch = batch_a > batch_b ? batch_a : batch_b;
	p->rows = a->ndim > 1;
	p->columns = b->ndim > 1;
	p->shape = arena_exprs(&m->arena, p->batch + 2);
	p->inner = a->shape[a->ndim - 1];
	inner_b = b->shape[p->columns ? b->ndim - 2 : 0];
	if (!dims_equal(c, p->inner, inner_b)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the last dimension of input 0 and the "
				   "rows of input %d differ; correct the "
				   "shapes",
				   second);
	}
	if (p->inner->kind != EXPR_INT) {
		p->inner = inner_b;
	}
	for (int d = 0; d < p->batch; d++) {
		int at_a = d - (p->batch - batch_a);
		int at_b = d - (p->batch - batch_b);

		p->shape[d] = infer_broadcast_dim(c, m,
						  at_a < 0 ? expr_i32(m, 1)
							   : a->shape[at_a],
						  at_b < 0 ? expr_i32(m, 1)
							   : b->shape[at_b]);
		if (!p->shape[d]) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "batch dimension %d of the inputs "
					   "does not broadcast; correct the "
					   "shapes",
					   d);
		}
	}
	p->rank = p->batch;
	if (p->rows) {
		p->shape[p->rank++] = a->shape[a->ndim - 2];
	}
	if (p->columns) {
		p->shape[p->rank++] = b->shape[b->ndim - 1];
	}
	return true;
}

bool
infer_matmul(struct infer *c, struct node *n)
{
	struct product p;

	if (!infer_same_types(c, n) || !product_shape(c, c->module, n, 1, &p)) {
		return false;
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, p.rank, p.shape);
	return true;
}

/* product_rows: the number of rows of the result, which is the length of a
 * vector with a scale for each row; 1 if the result has no dimension of rows.
 * product_columns: the same for columns. */
static const struct expr *
product_rows(struct module *m, const struct product *p)
{
	return p->rows ? p->shape[p->batch] : expr_i32(m, 1);
}

static const struct expr *
product_columns(struct module *m, const struct product *p)
{
	return p->columns ? p->shape[p->rank - 1] : expr_i32(m, 1);
}

bool
infer_matmul_integer(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	struct product p;

	if (!product_shape(c, m, n, 1, &p) ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 1, INT32_MAX) ||
	    !infer_param(c, n, 2, TYPES_INTEGER, product_rows(m, &p)) ||
	    !infer_param(c, n, 3, TYPES_INTEGER, product_columns(m, &p)) ||
	    !infer_zero_point(c, n, 0, 2) || !infer_zero_point(c, n, 1, 3)) {
		return false;
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I32), p.rank, p.shape);
	return true;
}

static struct iter_var *
product_axes(struct define *c, const struct product *p)
{
	const char **names = arena_array(&c->module->arena, const char *,
					 p->rank + 1);

	for (int d = 0; d < p->batch; d++) {
		names[d] = p->batch == 1
				   ? "b"
				   : arena_printf(&c->module->arena, "b%d", d);
	}
	if (p->rows) {
		names[p->batch] = "i";
	}
	if (p->columns) {
		names[p->rank - 1] = "j";
	}
	return te_axes(c->module, p->rank, p->shape, names);
}

/* The element of operand t at a row and a column of its last two dimensions (a
 * vector has only one of them), and at the batch indices, to which t is
 * broadcast. */
static const struct expr *
operand(struct define *c, const struct product *p, const struct te_tensor *t,
	const struct expr *const *index, const struct expr *row,
	const struct expr *column)
{
	struct module *m = c->module;
	int ndim = t->buffer->ndim, batch = ndim > 2 ? ndim - 2 : 0;
	const struct expr **at = arena_exprs(&m->arena, ndim + 1);

	for (int d = 0; d < batch; d++) {
		int k = p->batch - batch + d;

		at[d] = broadcast_index(m, t->buffer->shape[d], p->shape[k],
					index[k]);
	}
	if (row) {
		at[batch++] = row;
	}
	if (column) {
		at[batch++] = column;
	}
	return te_at(m, t, at, ndim);
}

/* Sets ab[0] to element (i, k) of input 0 and ab[1] to element (k, j) of input
 * 1. */
static void
operands(struct define *c, const struct product *p, struct te_tensor *const *in,
	 const struct expr *const *index, const struct expr *k,
	 const struct expr *ab[2])
{
	ab[0] = operand(c, p, in[0], index, p->rows ? index[p->batch] : NULL,
			k);
	ab[1] = operand(c, p, in[1], index, k,
			p->columns ? index[p->rank - 1] : NULL);
}

bool
define_matmul(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct dtype type = in[0]->buffer->type, t = accumulator_type(type);
	struct te_tensor *const pair[2] = { define_unwidened(c, in[0]),
					    define_unwidened(c, in[1]) };
	struct iter_var *axes, k;
	const struct expr *ab[2];
	struct product p;

	if (!product_shape(NULL, m, n, 1, &p)) {
		return false;
	}
	axes = product_axes(c, &p);
	k = te_reduce_axis(m, "k", p.inner);
	operands(c, &p, pair, axes_exprs(c, axes, p.rank), k.var->expr, ab);
	out[0] = define_stage(c, "matmul", "matmul", p.rank, axes,
			      te_sum(m,
				     expr_mul(m, expr_cast(m, t, ab[0]),
					      expr_cast(m, t, ab[1])),
				     &k, 1));
	out[0] = define_narrow(c, out[0], type);
	return true;
}

struct te_tensor *
define_integer_product(struct define *c, const struct node *n,
		       struct te_tensor *const *in, int second, int zero_a,
		       int zero_b)
{
	struct module *m = c->module;
	struct dtype i32 = dtype_of(DT_I32);
	struct te_tensor *pair[2] = { in[0], in[second] };
	struct iter_var *axes, k;
	const struct expr *ab[2], **index, *row, *column;
	struct product p;

	if (!product_shape(NULL, m, n, second, &p)) {
		return NULL;
	}
	axes = product_axes(c, &p);
	index = axes_exprs(c, axes, p.rank);
	k = te_reduce_axis(m, "k", p.inner);
	operands(c, &p, pair, index, k.var->expr, ab);
	row = p.rows ? index[p.batch] : NULL;
	column = p.columns ? index[p.rank - 1] : NULL;
	ab[0] = expr_sub(m, expr_cast(m, i32, ab[0]),
			 expr_cast(m, i32,
				   define_param(c, n, zero_a, in, row, i32)));
	ab[1] = expr_sub(m, expr_cast(m, i32, ab[1]),
			 expr_cast(m, i32,
				   define_param(c, n, zero_b, in, column,
						i32)));
	return define_stage(c, "matmul", "matmul", p.rank, axes,
			    te_sum(m, expr_mul(m, ab[0], ab[1]), &k, 1));
}

bool
define_matmul_integer(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	out[0] = define_integer_product(c, n, in, 1, 2, 3);
	return out[0] != NULL;
}

bool
infer_bytes_matmul(struct infer *c, struct node *n)
{
	struct product p;

	if (!product_shape(c, c->module, n, 1, &p) ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 1, INT32_MAX) ||
	    !infer_form(c, n, 2, TYPES_INTEGER, 1, 1)) {
		return false;
	}
	if (n->inputs[2]->type.kind != DT_I32 || p.rank < 1 ||
	    !dims_equal(c, n->inputs[2]->shape[0], p.shape[p.rank - 1])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the bias must have one int32 for each "
				   "column");
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I32), p.rank, p.shape);
	return true;
}

/* The sum has no terms for the zero points, because their products are part of
 * the bias; the bias has an element for each column. */
bool
define_bytes_matmul(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct te_tensor *sum = define_integer_product(c, n, in, 1, -1, -1);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *e;

	if (!sum) {
		return false;
	}
	e = expr_add(m, te_at(m, sum, index, y->ndim),
		     te_at(m, in[2], &index[y->ndim - 1], 1));
	out[0] = define_stage(c, "bias", "broadcast", y->ndim, axes, e);
	return true;
}

bool
infer_qlinear_matmul(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct expr *rows, *columns;
	struct product p;

	if (!product_shape(c, m, n, 3, &p)) {
		return false;
	}
	rows = product_rows(m, &p);
	columns = product_columns(m, &p);
	if (!infer_param(c, n, 1, TYPES_FLOAT, rows) ||
	    !infer_param(c, n, 2, TYPES_INTEGER, rows) ||
	    !infer_form(c, n, 3, TYPES_INTEGER, 1, INT32_MAX) ||
	    !infer_param(c, n, 4, TYPES_FLOAT, columns) ||
	    !infer_param(c, n, 5, TYPES_INTEGER, columns) ||
	    !infer_param(c, n, 6, TYPES_FLOAT, rows) ||
	    !infer_param(c, n, 7, TYPES_INTEGER, rows) ||
	    !infer_zero_point(c, n, 0, 2) || !infer_zero_point(c, n, 3, 5)) {
		return false;
	}
	infer_set(c, n->outputs[0], n->inputs[7]->type, p.rank, p.shape);
	return true;
}

/* ---- Gemm: alpha * A' * B' + beta * C ---- */

/* Sets the shape of a Gemm, [rows of A', columns of B'], after checks of ranks,
 * sums and C. False after a diagnostic. */
bool
infer_gemm(struct infer *c, struct node *n)
{
	const struct tensor *a = n->inputs[0], *b = n->inputs[1];
	const struct tensor *bias = node_input(n, 2);
	bool trans_a = node_attr_int(n, "transA", 0) != 0;
	bool trans_b = node_attr_int(n, "transB", 0) != 0;
	const struct expr *shape[2];

	if (!infer_same_types(c, n)) {
		return false;
	}
	if (a->ndim != 2 || b->ndim != 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the inputs have ranks %d and %d, not 2; "
				   "use MatMul",
				   a->ndim, b->ndim);
	}
	if (!dims_equal(c, a->shape[!trans_a], b->shape[trans_b])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the inner dimensions of the two matrices "
				   "differ; correct the shapes");
	}
	shape[0] = a->shape[trans_a];
	shape[1] = b->shape[!trans_b];
	for (int d = 0; bias && d < bias->ndim; d++) {
		if (bias->ndim > 2 ||
		    !infer_broadcasts_to(c, bias->shape[d],
					 shape[2 - bias->ndim + d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "input 2 does not broadcast to the "
					   "result; correct its shape");
		}
	}
	infer_set(c, n->outputs[0], a->type, 2, shape);
	return true;
}

bool
define_gemm(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	static const char *const names[] = { "i", "j" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype t = accumulator_type(y->type);
	bool trans_a = node_attr_int(n, "transA", 0) != 0;
	bool trans_b = node_attr_int(n, "transB", 0) != 0;
	double alpha = node_attr_float(n, "alpha", 1);
	double beta = node_attr_float(n, "beta", 1);
	struct iter_var *axes = te_axes(m, 2, y->shape, names);
	struct iter_var k = te_reduce_axis(m, "k",
					   n->inputs[0]->shape[!trans_a]);
	const struct expr *i = axes[0].var->expr, *j = axes[1].var->expr;
	const struct expr *a_at[2] = { i, k.var->expr };
	const struct expr *b_at[2] = { k.var->expr, j };
	const struct expr *a, *b, *e, **index;

	if (trans_a) {
		a_at[0] = k.var->expr;
		a_at[1] = i;
	}
	if (trans_b) {
		b_at[0] = j;
		b_at[1] = k.var->expr;
	}
	a = expr_cast(m, t, te_at(m, in[0], a_at, 2));
	b = expr_cast(m, t, te_at(m, in[1], b_at, 2));
	out[0] = define_stage(c, "matmul", "matmul", 2, axes,
			      te_sum(m, expr_mul(m, a, b), &k, 1));
	if (alpha == 1 && (!node_input(n, 2) || beta == 0) &&
	    dtype_equal(t, y->type)) {
		return true;
	}
	axes = te_axes(m, 2, y->shape, names);
	index = axes_exprs(c, axes, 2);
	e = te_at(m, out[0], index, 2);
	if (alpha != 1) {
		e = expr_mul(m, like(c, e, alpha), e);
	}
	if (node_input(n, 2) && beta != 0) {
		b = expr_cast(m, t,
			      define_broadcast(c, in[2], index, y->shape, 2));
		e = expr_add(m, e, expr_mul(m, like(c, b, beta), b));
	}
	out[0] = define_stage(c, "gemm", "broadcast", 2, axes,
			      expr_cast(m, y->type, e));
	return true;
}

/* ---- multiply-accumulates ---- */

/* The product of the sizes of the dimensions from .. to - 1 of t, with symbolic
 * dimensions at their upper bounds; 1 if the product has no upper bound. */
static int64_t
dims_product(const struct tensor *t, int from, int to)
{
	const struct tensor part = { .ndim = to - from,
				     .shape = t->shape + from };
	int64_t product;

	return tensor_max_elems(&part, &product) ? product : 1;
}

/* Is n a node of an operator of recurrent.c? */
static bool
op_is_recurrent(const struct node *n)
{
	return strcmp(n->domain, "tirc") == 0 &&
	       (strcmp(n->op_type, "LSTM") == 0 ||
		strcmp(n->op_type, "GRU") == 0 ||
		strcmp(n->op_type, "RNN") == 0);
}

int64_t
op_macs(const struct node *n)
{
	const struct tensor *x = node_input(n, 0), *w = node_input(n, 1);
	const struct tensor *y = node_output(n, 0);
	bool is_conv = strncmp(n->op_type, "Conv", 4) == 0;
	bool quantized = strncmp(n->op_type, "QLinear", 7) == 0;
	int64_t outputs;

	if (op_is_recurrent(n)) {
		return tensor_max_elems(x, &outputs)
			       ? outputs * dims_product(w, 0, 1)
			       : 0;
	}
	if (quantized) {
		w = node_input(n, 3);
		is_conv = strcmp(n->op_type, "QLinearConv") == 0;
	}
	if (strcmp(n->op_type, "Einsum") == 0 || !n->op ||
	    n->op->fuse != FUSE_COMPUTE || !x || !w || !y ||
	    !tensor_max_elems(y, &outputs)) {
		return 0;
	}
	if (strcmp(n->op_type, "ConvTranspose") == 0) {
		int64_t inputs;

		/* Each element of the input is multiplied by each element of a
		 * filter [oc / group, k…]. */
		return tensor_max_elems(x, &inputs)
			       ? inputs * dims_product(w, 1, w->ndim)
			       : 0;
	}
	if (is_conv) {
		return outputs * dims_product(w, 1, w->ndim);
	}
	if (strcmp(n->op_type, "WinogradProduct") == 0) {
		return outputs * dims_product(w, 3, w->ndim);
	}
	if (node_attr_int(n, "transA", 0) && x->ndim == 2) {
		return outputs * dims_product(x, 0, 1);
	}
	return outputs * dims_product(x, x->ndim - 1, x->ndim);
}
