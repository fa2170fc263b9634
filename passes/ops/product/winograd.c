/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions 3x3 with stride 1 by tiles of m x m results, with fewer
 * products than m * m * 9: Winograd's F(m x m, 3 x 3), for m = 2 and m = 4.
 *
 *	U = G g Gᵀ       of each filter, 3x3 -> a x a, a = m + 2
 *	V = Bᵀ d B       of each tile of a x a pixels
 *	M = U · V        sums over the channels, one matrix product per point
 *	y = Aᵀ M A       a x a -> m x m
 *
 * The matrices are those of Lavin and Gray, "Fast Algorithms for Convolutional
 * Neural Networks" (arXiv:1509.09308), from the points 0, 1, -1, infinity and,
 * for m = 4, also 2 and -2. A product with a matrix is written out as sums;
 * common terms of two rows are written in the same way, so that they are
 * computed once.
 *
 * Intermediate tensors have the shape [a][channels][a][tiles]: the channels are
 * the second dimension, as in all tensors. */
#include "dims.h"

#include <math.h>

enum {
	POINTS = 6
}; /* the largest number of points of a transform, a: 6 for m
		      * = 4 */

/* A product with a matrix. Columns form a group if all rows have the same terms
 * in these columns, up to a factor; each group is summed first. The common
 * factor of a group is chosen so that its first (or last) term is positive. */
struct transform {
	int rows, columns;
	int group[POINTS];
	bool last;
	double row[POINTS][POINTS];
};

static const struct transform filter_of[2] = {
	{ 4,
	  3,
	  { 0, 1, 0 },
	  false,
	  { { 1, 0, 0 }, { .5, .5, .5 }, { .5, -.5, .5 }, { 0, 0, 1 } } },
	{ 6,
	  3,
	  { 0, 1, 0 },
	  false,
	  { { 1. / 4, 0, 0 },
	    { -1. / 6, -1. / 6, -1. / 6 },
	    { -1. / 6, 1. / 6, -1. / 6 },
	    { 1. / 24, 1. / 12, 1. / 6 },
	    { 1. / 24, -1. / 12, 1. / 6 },
	    { 0, 0, 1 } } },
};

static const struct transform input_of[2] = {
	{ 4,
	  4,
	  { 0, 1, 2, 3 },
	  false,
	  { { 1, 0, -1, 0 },
	    { 0, 1, 1, 0 },
	    { 0, -1, 1, 0 },
	    { 0, 1, 0, -1 } } },
	{ 6,
	  6,
	  { 0, 1, 0, 1, 0, 1 },
	  true,
	  { { 4, 0, -5, 0, 1, 0 },
	    { 0, -4, -4, 1, 1, 0 },
	    { 0, 4, -4, -1, 1, 0 },
	    { 0, -2, -1, 2, 1, 0 },
	    { 0, 2, -1, -2, 1, 0 },
	    { 0, 4, 0, -5, 0, 1 } } },
};

static const struct transform output_of[2] = {
	{ 2, 4, { 0, 1, 1, 2 }, false, { { 1, 1, 1, 0 }, { 0, 1, -1, -1 } } },
	{ 4,
	  6,
	  { 0, 1, 1, 2, 2, 3 },
	  false,
	  { { 1, 1, 1, 1, 1, 0 },
	    { 0, 1, -1, 2, -2, 0 },
	    { 0, 1, 1, 4, 4, 0 },
	    { 0, 1, -1, 8, -8, 1 } } },
};

/* The tile size m of a node: 2 or 4. */
static int64_t
tile_of(const struct node *n)
{
	return node_attr_int(n, "tile", 4) == 2 ? 2 : 4;
}

static const struct transform *
of_node(const struct transform *list, const struct node *n)
{
	return &list[tile_of(n) == 4];
}

/* -- shapes -- */

static int64_t
list_attr(const struct node *n, const char *name, int i)
{
	const int64_t *v;

	return i < node_attr_ints(n, name, &v) ? v[i] : 0;
}

/* The number of tiles along the rows (d = 0) or the columns (d = 1). */
static const struct expr *
tiles_along(struct module *m, const struct node *n, int d)
{
	return expr_i32(m, list_attr(n, "tiles", d));
}

bool
infer_winograd_weights(struct infer *c, struct node *n)
{
	const struct tensor *w = n->inputs[0];
	const struct expr *a = expr_i32(c->module, tile_of(n) + 2);
	const struct expr *shape[] = { a, w->shape[0], a, w->shape[1] };

	infer_set(c, n->outputs[0], w->type, 4, shape);
	return true;
}

bool
infer_winograd_input(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *a = expr_i32(m, tile_of(n) + 2);
	const struct expr *tiles = dim_mul(m, tiles_along(m, n, 0),
					   tiles_along(m, n, 1));
	const struct expr *shape[] = { a, x->shape[1], a,
				       dim_mul(m, x->shape[0], tiles) };

	infer_set(c, n->outputs[0], x->type, 4, shape);
	return true;
}

bool
infer_winograd_product(struct infer *c, struct node *n)
{
	const struct tensor *v = n->inputs[0], *u = n->inputs[1];
	const struct expr *shape[] = { v->shape[0], u->shape[1], v->shape[2],
				       v->shape[3] };

	infer_set(c, n->outputs[0], v->type, 4, shape);
	return true;
}

bool
infer_winograd_output(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct expr *shape[] = {
		expr_i32(m, list_attr(n, "shape", 0)),
		n->inputs[0]->shape[1],
		expr_i32(m, list_attr(n, "shape", 1)),
		expr_i32(m, list_attr(n, "shape", 2)),
	};

	infer_set(c, n->outputs[0], n->inputs[0]->type, 4, shape);
	return true;
}

/* -- sums, written out -- */

static const struct expr *
plus(struct module *m, const struct expr *sum, const struct expr *e,
     bool negative)
{
	if (!sum) {
		return negative ? expr_neg(m, e) : e;
	}
	return negative ? expr_sub(m, sum, e) : expr_add(m, sum, e);
}

static const struct expr *
times(struct define *c, double factor, const struct expr *e)
{
	return factor == 1 ? e : expr_mul(c->module, like(c, e, factor), e);
}

/* The sum of the terms of one group, positive terms first, divided by the
 * factor *common; NULL if the group has no terms. */
static const struct expr *
group_sum(struct define *c, const struct transform *t, const double *row,
	  int group, const struct expr *const *x, double *common)
{
	const struct expr *sum = NULL;
	double sign = 0, size = 0;
	bool same = true;

	for (int k = 0; k < t->columns; k++) {
		if (t->group[k] != group || row[k] == 0) {
			continue;
		}
		same &= size == 0 || size == fabs(row[k]);
		size = fabs(row[k]);
		sign = sign == 0 || t->last ? copysign(1, row[k]) : sign;
	}
	*common = same ? sign * size : sign;
	for (int negative = 0; negative < 2; negative++) {
		for (int k = 0; k < t->columns; k++) {
			double f = size == 0 ? 0 : row[k] / *common;

			if (t->group[k] == group && f != 0 &&
			    (f < 0) == negative) {
				sum = plus(c->module, sum,
					   times(c, fabs(f), x[k]), f < 0);
			}
		}
	}
	return sum;
}

/* A row of the matrix times the vector x, written out as a sum. */
static const struct expr *
row_sum(struct define *c, const struct transform *t, const double *row,
	const struct expr *const *x)
{
	const struct expr *sum = NULL;

	for (int negative = 0; negative < 2; negative++) {
		for (int g = 0; g < t->columns; g++) {
			double f;
			const struct expr *e = group_sum(c, t, row, g, x, &f);

			if (e && (f < 0) == negative) {
				sum = plus(c->module, sum, times(c, fabs(f), e),
					   f < 0);
			}
		}
	}
	return sum;
}

/* Row number i of the matrix times x, where i is an expression: a choice among
 * all rows. */
static const struct expr *
chosen_row(struct define *c, const struct transform *t, const struct expr *i,
	   const struct expr *const *x)
{
	struct module *m = c->module;
	const struct expr *e = row_sum(c, t, t->row[t->rows - 1], x);

	for (int r = t->rows - 2; r >= 0; r--) {
		e = expr_select(m, expr_eq(m, i, expr_int(m, i->type, r)),
				row_sum(c, t, t->row[r], x), e);
	}
	return e;
}

/* -- definitions -- */

static struct iter_var *
axes_over(struct define *c, int n, const struct expr *const *shape,
	  const char *const *names)
{
	return te_axes(c->module, n, shape, names);
}

/* The weights' transform is computed in double precision, so that stored
 * weights are rounded only once. */
bool
define_winograd_weights(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const inner_names[] = { "i", "oc", "ic", "kw" };
	static const char *const names[] = { "i", "oc", "j", "ic" };
	struct module *m = c->module;
	const struct transform *t = of_node(filter_of, n);
	const struct tensor *w = n->inputs[0], *u = n->outputs[0];
	const struct expr *shape[] = { u->shape[0], w->shape[0], w->shape[1],
				       w->shape[3] };
	struct iter_var *axes = axes_over(c, 4, shape, inner_names);
	const struct expr **v = axes_exprs(c, axes, 4), *x[3];
	struct te_tensor *half;

	for (int k = 0; k < 3; k++) {
		const struct expr *at[] = { v[1], v[2], expr_i32(m, k), v[3] };

		x[k] = expr_cast(m, dtype_of(DT_F64), te_at(m, in[0], at, 4));
	}
	half = define_stage(c, "half", "injective", 4, axes,
			    chosen_row(c, t, v[0], x));
	axes = axes_over(c, 4, u->shape, names);
	v = axes_exprs(c, axes, 4);
	for (int k = 0; k < 3; k++) {
		const struct expr *at[] = { v[0], v[1], v[3], expr_i32(m, k) };

		x[k] = te_at(m, half, at, 4);
	}
	out[0] = define_stage(c, "u", "injective", 4, axes,
			      expr_cast(m, u->type, chosen_row(c, t, v[2], x)));
	return true;
}

/* Pixel (k, j) of tile t of a channel; 0 beyond the edges. */
static const struct expr *
pixel(struct define *c, const struct node *n, struct te_tensor *x,
      const struct expr *t, const struct expr *channel, int k,
      const struct expr *j)
{
	struct module *m = c->module;
	const struct expr *size = expr_i32(m, tile_of(n));
	const struct expr *rows = tiles_along(m, n, 0);
	const struct expr *columns = tiles_along(m, n, 1);
	const struct expr *row = expr_floormod(m, expr_floordiv(m, t, columns),
					       rows);
	const struct expr *at[4] = {
		expr_floordiv(m, t, dim_mul(m, rows, columns)),
		channel,
		expr_add(m, expr_mul(m, row, size), expr_i32(m, k)),
		expr_add(m, expr_mul(m, expr_floormod(m, t, columns), size), j),
	};
	const struct expr *inside = expr_bool(m, true);

	for (int d = 2; d < 4; d++) {
		at[d] = expr_sub(m, at[d],
				 expr_i32(m, list_attr(n, "pads", d - 2)));
		inside = expr_and(m, inside,
				  expr_and(m, expr_le(m, expr_i32(m, 0), at[d]),
					   expr_lt(m, at[d],
						   n->inputs[0]->shape[d])));
	}
	return expr_if(m, inside, te_at(m, x, at, 4),
		       expr_const(m, n->outputs[0]->type, 0));
}

bool
define_winograd_input(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const inner_names[] = { "t", "j", "i", "ic" };
	static const char *const names[] = { "i", "ic", "j", "t" };
	struct module *m = c->module;
	const struct transform *t = of_node(input_of, n);
	const struct tensor *v = n->outputs[0];
	const struct expr *shape[] = { v->shape[3], v->shape[2], v->shape[0],
				       v->shape[1] };
	struct iter_var *axes = axes_over(c, 4, shape, inner_names);
	const struct expr **at = axes_exprs(c, axes, 4), *x[POINTS];
	struct te_tensor *columns;

	for (int k = 0; k < t->columns; k++) {
		x[k] = pixel(c, n, in[0], at[0], at[3], k, at[1]);
	}
	columns = define_stage(c, "d", "injective", 4, axes,
			       chosen_row(c, t, at[2], x));
	axes = axes_over(c, 4, v->shape, names);
	at = axes_exprs(c, axes, 4);
	for (int k = 0; k < t->columns; k++) {
		const struct expr *from[] = { at[3], expr_i32(m, k), at[0],
					      at[1] };

		x[k] = te_at(m, columns, from, 4);
	}
	out[0] = define_stage(c, "v", "injective", 4, axes,
			      chosen_row(c, t, at[2], x));
	return true;
}

bool
define_winograd_product(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "i", "oc", "j", "t" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = axes_over(c, 4, y->shape, names);
	struct iter_var over = te_reduce_axis(m, "ic", n->inputs[1]->shape[3]);
	const struct expr **v = axes_exprs(c, axes, 4), *ic = over.var->expr;
	const struct expr *at[] = { v[0], ic, v[2], v[3] };
	const struct expr *w_at[] = { v[0], v[1], v[2], ic };

	out[0] = define_stage(c, "m", "matmul", 4, axes,
			      te_sum(m,
				     expr_mul(m, te_at(m, in[0], at, 4),
					      te_at(m, in[1], w_at, 4)),
				     &over, 1));
	return true;
}

/* Aᵀ M A of each tile, rows first. */
static struct te_tensor *
tile_results(struct define *c, const struct node *n, struct te_tensor *in)
{
	static const char *const inner_names[] = { "t", "j", "i", "oc" };
	static const char *const names[] = { "t", "i", "j", "oc" };
	struct module *m = c->module;
	const struct transform *t = of_node(output_of, n);
	const struct tensor *from = n->inputs[0];
	const struct expr *size = expr_i32(m, t->rows);
	const struct expr *inner[] = { from->shape[3], from->shape[2], size,
				       from->shape[1] };
	const struct expr *shape[] = { from->shape[3], size, size,
				       from->shape[1] };
	struct iter_var *axes = axes_over(c, 4, inner, inner_names);
	const struct expr **v = axes_exprs(c, axes, 4), *x[POINTS];
	struct te_tensor *rows;

	for (int k = 0; k < t->columns; k++) {
		const struct expr *at[] = { expr_i32(m, k), v[3], v[1], v[0] };

		x[k] = te_at(m, in, at, 4);
	}
	rows = define_stage(c, "r", "injective", 4, axes,
			    chosen_row(c, t, v[2], x));
	axes = axes_over(c, 4, shape, names);
	v = axes_exprs(c, axes, 4);
	for (int k = 0; k < t->columns; k++) {
		const struct expr *at[] = { v[0], expr_i32(m, k), v[1], v[3] };

		x[k] = te_at(m, rows, at, 4);
	}
	return define_stage(c, "s", "injective", 4, axes,
			    chosen_row(c, t, v[2], x));
}

bool
define_winograd_output(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "n", "oc", "oh", "ow" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct expr *size = expr_i32(m, tile_of(n)), *t, *e;
	struct te_tensor *s = tile_results(c, n, in[0]);
	struct iter_var *axes = axes_over(c, 4, y->shape, names);
	const struct expr **v = axes_exprs(c, axes, 4);
	const struct expr *at[4];

	t = expr_add(m, expr_mul(m, v[0], tiles_along(m, n, 0)),
		     expr_floordiv(m, v[2], size));
	at[0] = expr_add(m, expr_mul(m, t, tiles_along(m, n, 1)),
			 expr_floordiv(m, v[3], size));
	at[1] = expr_floormod(m, v[2], size);
	at[2] = expr_floormod(m, v[3], size);
	at[3] = v[1];
	e = te_at(m, s, at, 4);
	if (node_input(n, 2)) {
		e = expr_add(m, e, te_at(m, in[2], &v[1], 1));
	}
	out[0] = define_stage(c, "y", "broadcast", 4, axes, e);
	return true;
}

/* -- descriptions for comments -- */

bool
op_matrix_of(const struct node *n, struct op_matrix *out)
{
	static const struct {
		const char *op, *formula, *name;
		const struct transform *list;
	} table[] = {
		{ "WinogradInput", "V = B^T d B of each tile d", "B^T",
		  input_of },
		{ "WinogradProduct",
		  "M = U V, with U = G g G^T of each filter"
		  " g",
		  "G", filter_of },
		{ "WinogradOutput", "y = A^T M A of each tile", "A^T",
		  output_of },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct transform *t;

		if (strcmp(n->domain, "tirc") != 0 ||
		    strcmp(n->op_type, table[i].op) != 0) {
			continue;
		}
		t = of_node(table[i].list, n);
		*out = (struct op_matrix){ table[i].formula, table[i].name,
					   t->rows,          t->columns,
					   t->row[0],        POINTS };
		return true;
	}
	return false;
}
