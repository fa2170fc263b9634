/* SPDX-License-Identifier: Apache-2.0 */
/* Determinants and inverses, by elimination with partial pivoting (Golub and
 * Van Loan, "Matrix Computations", 3.4), for each matrix of a batch.
 * Determinants:
 *
 *	for k:
 *		pivot = the row from k on with the largest |lu[pivot, k]|
 *		if pivot != k: swap the rows, det = -det
 *		det *= lu[k, k]
 *		if lu[k, k] != 0:
 *			for i > k, for j > k:
 *				lu[i, j] -= lu[i, k] / lu[k, k] * lu[k, j]
 *
 * Inverses: the columns of the unit matrix are put after those of the matrix,
 * and become the inverse:
 *
 *	for k:
 *		swap rows as above
 *		lu[k, :] /= lu[k, k]
 *		for i != k: lu[i, :] -= lu[i, k] * lu[k, :] */
#include "steps.h"

static bool
check_square(struct infer *c, const struct tensor *x)
{
	return (x->ndim >= 2 &&
		dims_equal(c, x->shape[x->ndim - 2], x->shape[x->ndim - 1])) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "the last two dimensions must be equal; correct the "
			   "model");
}

bool
infer_det(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (!check_square(c, x)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim - 2, x->shape);
	return true;
}

bool
infer_inverse(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (!check_square(c, x)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

struct elimination {
	struct steps s;
	const struct expr *const *point; /* the batch index of the matrix */
	int n_point;
	const struct buffer *lu;
	const struct expr *size, *columns;
	/* the determinant; NULL if it is not needed */
	const struct buffer *det;
	const struct buffer *pivot;
};

static const struct expr **
index_of(struct elimination *e, const struct expr *i, const struct expr *j)
{
	const struct expr **at = arena_exprs(&e->s.m->arena, e->n_point + 2);

	for (int d = 0; d < e->n_point; d++) {
		at[d] = e->point[d];
	}
	at[e->n_point] = i;
	at[e->n_point + 1] = j;
	return at;
}

static const struct expr *
get(struct elimination *e, const struct expr *i, const struct expr *j)
{
	return expr_load(e->s.m, e->lu, index_of(e, i, j), e->n_point + 2);
}

static struct stmt *
put(struct elimination *e, const struct expr *i, const struct expr *j,
    const struct expr *value)
{
	return stmt_store(e->s.f, e->lu, value, index_of(e, i, j),
			  e->n_point + 2);
}

/* A loop over the indices from k + 1 on. */
static struct stmt *
after(struct elimination *e, struct var *v, const struct expr *k,
      struct stmt *body)
{
	struct module *m = e->s.m;
	const struct expr *next = expr_add(m, k, expr_int(m, k->type, 1));

	return stmt_for(e->s.f, v, next, expr_sub(m, e->size, next), FOR_SERIAL,
			body);
}

static const struct expr *
magnitude(struct elimination *e, const struct expr *i, const struct expr *k)
{
	return expr_call1(e->s.m, INTRIN_ABS, get(e, i, k));
}

/* Sets `pivot` to the row chosen for column k, and swaps that row with row k;
 * if they differ, det, if there is one, changes its sign. */
static struct stmt *
choose_pivot(struct elimination *e, const struct expr *k)
{
	struct steps *s = &e->s;
	struct module *m = s->m;
	struct var *i = var_new(m, "i", k->type), *j = var_new(m, "j", k->type);
	struct var *best = var_new(m, "best", k->type);
	struct var *row = var_new(m, "row", k->type);
	struct var *upper = var_new(m, "upper", e->lu->type);
	struct stmt *search, *swap;

	search = stmt_if(s->f,
			 expr_lt(m, magnitude(e, best->expr, k),
				 magnitude(e, i->expr, k)),
			 step_set(s, e->pivot, i->expr), NULL);
	search = stmt_let(s->f, best, step_get(s, e->pivot), search);
	search = after(e, i, k, search);
	swap = step_seq(s, 2, put(e, k, j->expr, get(e, row->expr, j->expr)),
			put(e, row->expr, j->expr, upper->expr), NULL, NULL);
	swap = stmt_let(s->f, upper, get(e, k, j->expr), swap);
	swap = step_for(s, j, e->columns, swap);
	if (e->det) {
		swap = step_seq(s, 2, swap,
				step_set(s, e->det,
					 expr_neg(m, step_get(s, e->det))),
				NULL, NULL);
	}
	swap = stmt_if(s->f, expr_binary(m, EXPR_NE, row->expr, k), swap, NULL);
	swap = stmt_let(s->f, row, step_get(s, e->pivot), swap);
	return step_seq(s, 3, step_set(s, e->pivot, k), search, swap, NULL);
}

/* lu[i, j] -= factor * lu[k, j] */
static struct stmt *
reduce(struct elimination *e, const struct expr *i, const struct expr *j,
       const struct expr *factor, const struct expr *k)
{
	struct module *m = e->s.m;

	return put(e, i, j,
		   expr_sub(m, get(e, i, j),
			    expr_mul(m, factor, get(e, k, j))));
}

/* Subtracts multiples of row k from the rows after it. */
static struct stmt *
eliminate(struct elimination *e, const struct expr *k)
{
	struct steps *s = &e->s;
	struct module *m = s->m;
	struct var *i = var_new(m, "i", k->type), *j = var_new(m, "j", k->type);
	struct var *factor = var_new(m, "factor", e->lu->type);
	struct stmt *body;

	body = reduce(e, i->expr, j->expr, factor->expr, k);
	body = stmt_let(s->f, factor,
			expr_div(m, get(e, i->expr, k), get(e, k, k)),
			after(e, j, k, body));
	return stmt_if(s->f,
		       expr_binary(m, EXPR_NE, get(e, k, k),
				   expr_const(m, e->lu->type, 0)),
		       after(e, i, k, body), NULL);
}

bool
define_det(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "det", "lu" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct dtype wide = accumulator_type(x->type);
	struct iter_var *axes = define_axes(c, y);
	struct elimination e = {
		.point = axes_exprs(c, axes, y->ndim),
		.n_point = y->ndim,
		.size = x->shape[y->ndim],
		.columns = x->shape[y->ndim],
	};
	struct dtype t = e.size->type;
	struct var *i = var_new(m, "i", t), *j = var_new(m, "j", t);
	struct var *k = var_new(m, "k", t);
	struct te_tensor *made[2];
	struct stmt *copy, *body;

	e.s = steps_begin(c, names[0], "det", names,
			  (struct dtype[]){ y->type, wide },
			  (int[]){ y->ndim, x->ndim },
			  (const struct expr *const *[]){ y->shape, x->shape },
			  2, in, 1, made);
	e.lu = made[1]->buffer;
	e.det = step_local(&e.s, "product", wide);
	e.pivot = step_local(&e.s, "pivot", t);
	copy = put(&e, i->expr, j->expr,
		   expr_cast(m, wide,
			     te_at(m, in[0], index_of(&e, i->expr, j->expr),
				   x->ndim)));
	copy = step_for(&e.s, i, e.size, step_for(&e.s, j, e.size, copy));
	body = step_seq(&e.s, 3, choose_pivot(&e, k->expr),
			step_set(&e.s, e.det,
				 expr_mul(m, step_get(&e.s, e.det),
					  get(&e, k->expr, k->expr))),
			eliminate(&e, k->expr), NULL);
	body = step_seq(&e.s, 4, copy,
			step_set(&e.s, e.det, expr_const(m, wide, 1)),
			step_for(&e.s, k, e.size, body),
			stmt_store(e.s.f, made[0]->buffer,
				   expr_cast(m, y->type, step_get(&e.s, e.det)),
				   e.point, y->ndim));
	body = step_alloc(&e.s, e.det, step_alloc(&e.s, e.pivot, body));
	steps_end(&e.s, axes, y->ndim, body);
	out[0] = made[0];
	return true;
}

/* -- inverses -- */

/* lu[k, :] /= lu[k, k] */
static struct stmt *
divide_row(struct elimination *e, const struct expr *k)
{
	struct steps *s = &e->s;
	struct module *m = s->m;
	struct var *j = var_new(m, "j", k->type);
	struct var *pivot = var_new(m, "first", e->lu->type);
	struct stmt *body;

	body = put(e, k, j->expr, expr_div(m, get(e, k, j->expr), pivot->expr));
	return stmt_let(s->f, pivot, get(e, k, k),
			step_for(s, j, e->columns, body));
}

/* for i != k: lu[i, :] -= lu[i, k] * lu[k, :] */
static struct stmt *
clear_column(struct elimination *e, const struct expr *k)
{
	struct steps *s = &e->s;
	struct module *m = s->m;
	struct var *i = var_new(m, "i", k->type), *j = var_new(m, "j", k->type);
	struct var *factor = var_new(m, "factor", e->lu->type);
	struct stmt *body;

	body = reduce(e, i->expr, j->expr, factor->expr, k);
	body = stmt_let(s->f, factor, get(e, i->expr, k),
			step_for(s, j, e->columns, body));
	return step_for(s, i, e->size,
			stmt_if(s->f, expr_binary(m, EXPR_NE, i->expr, k), body,
				NULL));
}

/* Element [i, j] of the matrix followed by the unit matrix. */
static const struct expr *
with_unit(struct elimination *e, struct te_tensor *x, const struct expr *i,
	  const struct expr *j)
{
	struct module *m = e->s.m;
	const struct expr *unit =
		expr_select(m, expr_eq(m, expr_add(m, i, e->size), j),
			    expr_const(m, e->lu->type, 1),
			    expr_const(m, e->lu->type, 0));

	return expr_select(m, expr_lt(m, j, e->size),
			   expr_cast(m, e->lu->type,
				     te_at(m, x, index_of(e, i, j),
					   e->n_point + 2)),
			   unit);
}

bool
define_inverse(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "inverse", "lu" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int batch = x->ndim - 2;
	struct iter_var *axes = define_shape_axes(c, batch, x->shape);
	struct elimination e = {
		.point = axes_exprs(c, axes, batch),
		.n_point = batch,
		.size = x->shape[batch],
	};
	struct dtype t = e.size->type, wide = accumulator_type(x->type);
	struct var *i = var_new(m, "i", t), *j = var_new(m, "j", t);
	struct var *k = var_new(m, "k", t);
	const struct expr **shape = arena_exprs(&m->arena, x->ndim);
	struct te_tensor *made[2];
	struct stmt *fill, *body, *copy;

	e.columns = expr_mul(m, e.size, expr_int(m, t, 2));
	for (int d = 0; d <= batch; d++) {
		shape[d] = x->shape[d];
	}
	shape[batch + 1] = e.columns;
	e.s = steps_begin(c, names[0], "inverse", names,
			  (struct dtype[]){ x->type, wide },
			  (int[]){ x->ndim, x->ndim },
			  (const struct expr *const *[]){ x->shape, shape }, 2,
			  in, 1, made);
	e.lu = made[1]->buffer;
	e.pivot = step_local(&e.s, "pivot", t);
	fill = put(&e, i->expr, j->expr,
		   with_unit(&e, in[0], i->expr, j->expr));
	fill = step_for(&e.s, i, e.size, step_for(&e.s, j, e.columns, fill));
	body = step_seq(&e.s, 3, choose_pivot(&e, k->expr),
			divide_row(&e, k->expr), clear_column(&e, k->expr),
			NULL);
	i = var_new(m, "i", t);
	j = var_new(m, "j", t);
	copy = stmt_store(e.s.f, made[0]->buffer,
			  expr_cast(m, x->type,
				    get(&e, i->expr,
					expr_add(m, j->expr, e.size))),
			  index_of(&e, i->expr, j->expr), x->ndim);
	copy = step_for(&e.s, i, e.size, step_for(&e.s, j, e.size, copy));
	body = step_seq(&e.s, 3, fill, step_for(&e.s, k, e.size, body), copy,
			NULL);
	steps_end(&e.s, axes, batch, step_alloc(&e.s, e.pivot, body));
	out[0] = made[0];
	return true;
}
