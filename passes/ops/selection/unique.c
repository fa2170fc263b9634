/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.Unique with the attribute rows: which rows of a matrix are equal. A heap
 * sorts the positions of the rows; then equal rows are adjacent, in the order
 * of their positions.
 *
 *	order = 0, 1, …, n - 1, sorted by (row, position)
 *	count = 0
 *	for i: r = order[i]
 *		if i == 0 or row r differs from row order[i - 1]:
 *			first[count] = r; counts[count] = 0; count += 1
 *		counts[count - 1] += 1
 *		inverse[r] = count - 1
 *
 * Unless the attribute sorted is set, the rows are then numbered anew in the
 * order of their first positions. Among floats, NaN is the largest, and all
 * NaNs are equal.
 *
 * Results: the first position of each different row, the number of each row
 * (inverse), the count of each different row, and the number of different
 * rows. */
#include "steps.h"

enum { FIRST, INVERSE, COUNTS, NUMBER, ORDER, N_MADE };

bool
infer_unique_rows(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *one = expr_i32(c->module, 1);

	if (!infer_form(c, n, 0, TYPES_ANY, 2, 2)) {
		return false;
	}
	for (int k = FIRST; k <= COUNTS; k++) {
		infer_set(c, n->outputs[k], dtype_of(DT_I64), 1, x->shape);
	}
	infer_set(c, n->outputs[NUMBER], dtype_of(DT_I32), 1, &one);
	return true;
}

struct unique {
	struct steps s;
	const struct te_tensor *x;
	const struct expr *n, *columns;
	const struct buffer *hole, *child, *flag, *column, *count;
	struct dtype t; /* the type of positions of rows */
};

static const struct expr *
element(const struct unique *u, int which, const struct expr *i)
{
	return te_at(u->s.m, u->s.out[which], &i, 1);
}

/* order[i] */
static const struct expr *
position(const struct unique *u, const struct expr *i)
{
	return expr_cast(u->s.m, u->t, element(u, ORDER, i));
}

static struct stmt *
put(const struct unique *u, int which, const struct expr *i,
    const struct expr *value)
{
	return stmt_store(u->s.f, u->s.out[which]->buffer,
			  expr_cast(u->s.m, dtype_of(DT_I64), value), &i, 1);
}

static const struct expr *
number(const struct unique *u, int v)
{
	return expr_int(u->s.m, u->t, v);
}

/* Sets the flag: does row a come before row b? If they are equal: false if
 * `strictly`, else whether a < b. */
static struct stmt *
compare_rows(struct unique *u, const struct expr *a, const struct expr *b,
	     bool strictly)
{
	struct steps *s = &u->s;
	struct module *m = s->m;
	const struct expr *column = step_get(s, u->column), *at[2], *x[2];
	const struct expr *tie = strictly ? expr_bool(m, false)
					  : expr_lt(m, a, b);
	struct var *k = var_new(m, "k", u->t);
	struct stmt *yes, *no, *body;

	at[1] = expr_is_value(u->columns, 1) ? number(u, 0) : k->expr;
	at[0] = a;
	x[0] = te_at(m, u->x, at, 2);
	at[0] = b;
	x[1] = te_at(m, u->x, at, 2);
	if (expr_is_value(u->columns, 1)) {
		return step_set(s, u->flag,
				expr_or(m, step_is_less(m, x[0], x[1]),
					expr_and(m,
						 expr_not(m,
							  step_is_less(m, x[1],
								       x[0])),
						 tie)));
	}
	yes = step_seq(s, 2, step_set(s, u->flag, expr_bool(m, true)),
		       step_set(s, u->column, u->columns), NULL, NULL);
	no = step_seq(s, 2, step_set(s, u->flag, expr_bool(m, false)),
		      step_set(s, u->column, u->columns), NULL, NULL);
	body = stmt_if(s->f, step_is_less(m, x[1], x[0]), no,
		       step_set(s, u->column,
				expr_add(m, column, number(u, 1))));
	body = stmt_if(s->f, step_is_less(m, x[0], x[1]), yes, body);
	body = stmt_let(s->f, k, column, body);
	return step_seq(s, 3, step_set(s, u->flag, tie),
			step_set(s, u->column, number(u, 0)),
			stmt_while(s->f, expr_lt(m, column, u->columns), body),
			NULL);
}

/* Puts `item` into the heap of `size` positions, from `hole` down:
 *
 *	while child < size:
 *		if child + 1 < size and order[child] is before order[child + 1]:
 *			child += 1
 *		if item is before order[child]:
 *			order[hole] = order[child]; hole = child
 *			child = 2 * child + 1
 *		else: child = size
 *	order[hole] = item */
static struct stmt *
sift(struct unique *u, const struct expr *hole, const struct expr *item,
     const struct expr *size)
{
	struct steps *s = &u->s;
	struct module *m = s->m;
	const struct expr *flag = step_get(s, u->flag);
	const struct expr *child = step_get(s, u->child);
	const struct expr *one = number(u, 1), *two = number(u, 2);
	struct var *left = var_new(m, "left", u->t);
	struct var *right = var_new(m, "right", u->t);
	struct var *at = var_new(m, "at", u->t), *to = var_new(m, "to", u->t);
	struct var *place = var_new(m, "place", u->t);
	struct stmt *choose, *move, *end;

	choose = step_seq(s, 2,
			  compare_rows(u, position(u, left->expr),
				       position(u, right->expr), false),
			  stmt_if(s->f, flag,
				  step_set(s, u->child, right->expr), NULL),
			  NULL, NULL);
	choose = stmt_if(s->f, expr_lt(m, right->expr, size), choose, NULL);
	choose = stmt_let(s->f, right, expr_add(m, left->expr, one), choose);
	choose = stmt_let(s->f, left, child, choose);
	move = step_seq(s, 3,
			stmt_let(s->f, to, step_get(s, u->hole),
				 put(u, ORDER, to->expr,
				     element(u, ORDER, at->expr))),
			step_set(s, u->hole, at->expr),
			step_set(s, u->child,
				 expr_add(m, expr_mul(m, at->expr, two), one)),
			NULL);
	move = stmt_if(s->f, flag, move, step_set(s, u->child, size));
	move = step_seq(s, 2,
			compare_rows(u, item, position(u, at->expr), false),
			move, NULL, NULL);
	move = stmt_let(s->f, at, child, move);
	end = stmt_let(s->f, place, step_get(s, u->hole),
		       put(u, ORDER, place->expr, item));
	return step_seq(s, 4, step_set(s, u->hole, hole),
			step_set(s, u->child,
				 expr_add(m, expr_mul(m, hole, two), one)),
			stmt_while(s->f, expr_lt(m, child, size),
				   step_seq(s, 2, choose, move, NULL, NULL)),
			end);
}

/* Sorts: order = the positions in the order of their rows. */
static struct stmt *
sort_rows(struct unique *u)
{
	struct steps *s = &u->s;
	struct module *m = s->m;
	struct var *i = var_new(m, "i", u->t), *done = var_new(m, "done", u->t);
	struct var *raised = var_new(m, "raised", u->t);
	struct var *root = var_new(m, "root", u->t);
	struct var *item = var_new(m, "item", u->t);
	struct var *last = var_new(m, "last", u->t);
	const struct expr *half = expr_floordiv(m, u->n, number(u, 2));
	const struct expr *one = number(u, 1), *zero = number(u, 0);
	struct stmt *heap, *take;

	heap = stmt_let(s->f, item, position(u, root->expr),
			sift(u, root->expr, item->expr, u->n));
	heap = stmt_let(s->f, root,
			expr_sub(m, expr_sub(m, half, one), raised->expr),
			heap);
	item = var_new(m, "item", u->t);
	take = step_seq(s, 2,
			put(u, ORDER, last->expr, element(u, ORDER, zero)),
			sift(u, zero, item->expr, last->expr), NULL, NULL);
	take = stmt_let(s->f, item, position(u, last->expr), take);
	take = stmt_let(s->f, last,
			expr_sub(m, expr_sub(m, u->n, one), done->expr), take);
	return step_seq(s, 3,
			step_for(s, i, u->n, put(u, ORDER, i->expr, i->expr)),
			step_for(s, raised, half, heap),
			step_for(s, done, expr_sub(m, u->n, one), take), NULL);
}

/* Numbers the different rows in the order of the sorted positions. */
static struct stmt *
number_rows(struct unique *u)
{
	struct steps *s = &u->s;
	struct module *m = s->m;
	struct var *i = var_new(m, "i", u->t), *r = var_new(m, "r", u->t);
	struct var *g = var_new(m, "g", u->t), *last = var_new(m, "last", u->t);
	const struct expr *one = number(u, 1), *zero = number(u, 0);
	const struct expr *count = step_get(s, u->count), *before;
	struct stmt *fresh, *known;

	before = expr_max(m, expr_sub(m, i->expr, one), zero);
	fresh = step_seq(s, 3, put(u, FIRST, g->expr, r->expr),
			 put(u, COUNTS, g->expr, zero),
			 step_set(s, u->count, expr_add(m, g->expr, one)),
			 NULL);
	fresh = stmt_let(s->f, g, count, fresh);
	fresh = stmt_if(s->f,
			expr_or(m, expr_eq(m, i->expr, zero),
				step_get(s, u->flag)),
			fresh, NULL);
	known = step_seq(s, 2,
			 put(u, COUNTS, last->expr,
			     expr_add(m, element(u, COUNTS, last->expr),
				      expr_int(m, dtype_of(DT_I64), 1))),
			 put(u, INVERSE, r->expr, last->expr), NULL, NULL);
	known = stmt_let(s->f, last, expr_sub(m, count, one), known);
	fresh = step_seq(s, 3,
			 compare_rows(u, position(u, before), r->expr, true),
			 fresh, known, NULL);
	fresh = stmt_let(s->f, r, position(u, i->expr), fresh);
	return step_seq(s, 2, step_set(s, u->count, zero),
			step_for(s, i, u->n, fresh), NULL, NULL);
}

/* Numbers the rows in the order of their first positions: order[g] is the new
 * number of g; inverse gets the new numbers, and first and counts are permuted
 * in cycles.
 *
 *	next = 0
 *	for r: g = inverse[r]; if first[g] == r: order[g] = next; next += 1
 *	for r: inverse[r] = order[inverse[r]]
 *	for g: while order[g] != g: swap g with order[g] */
static struct stmt *
number_anew(struct unique *u)
{
	struct steps *s = &u->s;
	struct module *m = s->m;
	struct var *r = var_new(m, "r", u->t), *q = var_new(m, "q", u->t);
	struct var *g = var_new(m, "g", u->t), *h = var_new(m, "h", u->t);
	struct var *to = var_new(m, "to", u->t);
	struct var *a = var_new(m, "a", dtype_of(DT_I64));
	struct var *b = var_new(m, "b", dtype_of(DT_I64));
	const struct expr *next = step_get(s, u->child);
	struct stmt *mark, *name, *swap, *list[6];

	mark = step_seq(s, 2, put(u, ORDER, g->expr, next),
			step_set(s, u->child, expr_add(m, next, number(u, 1))),
			NULL, NULL);
	mark = stmt_if(s->f,
		       expr_eq(m,
			       expr_cast(m, u->t, element(u, FIRST, g->expr)),
			       r->expr),
		       mark, NULL);
	mark = stmt_let(s->f, g,
			expr_cast(m, u->t, element(u, INVERSE, r->expr)), mark);
	g = var_new(m, "g", u->t);
	name = stmt_let(s->f, g,
			expr_cast(m, u->t, element(u, INVERSE, q->expr)),
			put(u, INVERSE, q->expr, element(u, ORDER, g->expr)));
	list[0] = put(u, FIRST, h->expr, element(u, FIRST, to->expr));
	list[1] = put(u, FIRST, to->expr, a->expr);
	list[2] = put(u, COUNTS, h->expr, element(u, COUNTS, to->expr));
	list[3] = put(u, COUNTS, to->expr, b->expr);
	list[4] = put(u, ORDER, h->expr, element(u, ORDER, to->expr));
	list[5] = put(u, ORDER, to->expr, to->expr);
	swap = stmt_let(s->f, a, element(u, FIRST, h->expr),
			stmt_let(s->f, b, element(u, COUNTS, h->expr),
				 stmt_seq(s->f, list, 6)));
	swap = stmt_let(s->f, to, position(u, h->expr), swap);
	swap = stmt_while(s->f,
			  expr_not(m,
				   expr_eq(m, position(u, h->expr), h->expr)),
			  swap);
	return step_seq(s, 4, step_set(s, u->child, number(u, 0)),
			step_for(s, r, u->n, mark), step_for(s, q, u->n, name),
			step_for(s, h, step_get(s, u->count), swap));
}

bool
define_unique_rows(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "first", "inverse", "counts",
					     "number", "order" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	struct dtype i64 = dtype_of(DT_I64);
	const struct expr *zero = expr_i32(m, 0);
	const struct expr *one = expr_i32(m, 1);
	struct te_tensor *made[N_MADE];
	struct unique u = { .x = in[0], .t = dtype_of(DT_I32) };
	struct stmt *body;

	u.n = expr_cast(m, u.t, x->shape[0]);
	u.columns = expr_cast(m, u.t, x->shape[1]);
	u.s = steps_begin(c, "unique", "unique", names,
			  (struct dtype[]){ i64, i64, i64, dtype_of(DT_I32),
					    i64 },
			  (int[]){ 1, 1, 1, 1, 1 },
			  (const struct expr *const *[]){ x->shape, x->shape,
							  x->shape, &one,
							  x->shape },
			  N_MADE, in, 1, made);
	u.hole = step_local(&u.s, "hole", u.t);
	u.child = step_local(&u.s, "child", u.t);
	u.flag = step_local(&u.s, "flag", dtype_of(DT_BOOL));
	u.column = step_local(&u.s, "column", u.t);
	u.count = step_local(&u.s, "count", u.t);
	body = step_seq(&u.s, 4, sort_rows(&u), number_rows(&u),
			node_attr_int(n, "sorted", 1) ? stmt_seq(u.s.f, NULL, 0)
						      : number_anew(&u),
			stmt_store(u.s.f, u.s.out[NUMBER]->buffer,
				   step_get(&u.s, u.count), &zero, 1));
	if (!expr_is_value(u.columns, 1)) {
		body = step_alloc(&u.s, u.column, body);
	}
	body = step_alloc(&u.s, u.flag, step_alloc(&u.s, u.count, body));
	body = step_alloc(&u.s, u.hole, step_alloc(&u.s, u.child, body));
	steps_end(&u.s, NULL, 0, body);
	for (int k = 0; k < n->n_outputs; k++) {
		out[k] = made[k];
	}
	return true;
}
