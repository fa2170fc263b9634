/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.NonMaxSuppression: keeps boxes, class by class, in descending order of
 * their scores. The boxes with enough score are put in a heap, whose root is
 * the next box, so that no more boxes are sorted than needed.
 *
 *	count = 0
 *	for b, for c:
 *		start = count
 *		left = 0
 *		for i in boxes:
 *			if score of i is enough: heap[left] = i, left += 1
 *		sort heap[0..left) as a heap
 *		while left > 0 and count - start < most:
 *			box = the root
 *			left -= 1
 *			heap[left] replaces the root
 *			other = start
 *			while other < count and not overlapping: other += 1
 *			if other == count: kept[count] = (b, c, box)
 *			                   count += 1
 *
 * Inputs: boxes, scores, and the optional most boxes of a class, threshold of
 * the intersection over the union, and threshold of the score. Results: rows
 * [b, c, box], with room for as many as there can be, and the number of rows.
 * The sides of the kept boxes, for comparisons with later boxes, and the heap
 * are in additional buffers. */
#include "dims.h"
#include "heap.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST, N_INPUTS };

enum { KEPT, COUNT, SIDES, LEFT_SCORES, LEFT_BOXES, N_MADE };

bool
infer_nms(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *boxes = n->inputs[BOXES];
	const struct tensor *scores = n->inputs[SCORES];
	const struct expr *rows[2], *one = expr_i32(m, 1), *per_class;
	int64_t elems;
	double most;

	if (!infer_form(c, n, BOXES, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, SCORES, TYPES_FLOAT, 3, 3)) {
		return false;
	}
	if (!dims_equal(c, boxes->shape[0], scores->shape[0]) ||
	    !dims_equal(c, boxes->shape[1], scores->shape[2]) ||
	    !dims_equal(c, boxes->shape[2], expr_i32(m, 4))) {
		return infer_error(
			c, DIAG_BAD_SHAPE,
			"boxes must be [batch, boxes, 4] and scores "
			"[batch, classes, boxes]; correct the model");
	}
	for (int i = MOST; i <= LEAST; i++) {
		if (node_input(n, i) &&
		    (!tensor_const_elems(n->inputs[i], &elems) || elems != 1)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "input %d must be one number; "
					   "correct its shape",
					   i);
		}
	}
	per_class = scores->shape[2];
	if (!node_input(n, MOST)) {
		per_class = expr_i32(m, 0);
	} else if (input_scalar(n, MOST, &most) && most < INT32_MAX) {
		per_class = dim_min(m, per_class,
				    expr_index(m,
					       most > 0 ? (int64_t)most : 0));
	}
	rows[0] = dim_mul(m, dim_mul(m, scores->shape[0], scores->shape[1]),
			  per_class);
	rows[1] = expr_i32(m, 3);
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 2, rows);
	infer_set(c, n->outputs[1], dtype_of(DT_I32), 1, &one);
	rows[1] = expr_i32(m, 4);
	infer_set(c, n->outputs[2], boxes->type, 2, rows);
	return true;
}

/* State shared by the functions that make the statements. */
struct nms {
	struct steps s;
	const struct node *n;
	struct te_tensor *const *in;
	/* the variables of the batch and of the class */
	const struct expr *b, *c;
	const struct buffer *other, *start, *left;
	struct heap heap;
	struct dtype t; /* the type of indices of boxes */
	bool centers;
};

/* The sides of a box: the low and the high coordinate in both dimensions. */
struct sides {
	struct var *low[2], *high[2];
};

static const struct expr *
count(struct nms *k)
{
	const struct expr *zero = expr_i32(k->s.m, 0);

	return te_at(k->s.m, k->s.out[COUNT], &zero, 1);
}

static struct stmt *
set_count(struct nms *k, const struct expr *value)
{
	const struct expr *zero = expr_i32(k->s.m, 0);

	return stmt_store(k->s.f, k->s.out[COUNT]->buffer, value, &zero, 1);
}

/* The body, with names for the sides of a box, whose expressions are low and
 * high. */
static struct stmt *
with_sides(struct nms *k, const struct expr *const *low,
	   const struct expr *const *high, const char *suffix,
	   struct sides *sides, struct stmt *(*body)(struct nms *k, void *ctx),
	   void *ctx)
{
	struct module *m = k->s.m;
	static const char *const names[] = { "y_low", "x_low", "y_high",
					     "x_high" };
	struct stmt *s;

	for (int d = 0; d < 2; d++) {
		sides->low[d] = var_new(m,
					arena_printf(&m->arena, "%s%s",
						     names[d], suffix),
					low[d]->type);
		sides->high[d] = var_new(m,
					 arena_printf(&m->arena, "%s%s",
						      names[d + 2], suffix),
					 high[d]->type);
	}
	s = body(k, ctx);
	for (int d = 1; d >= 0; d--) {
		s = stmt_let(k->s.f, sides->low[d], low[d],
			     stmt_let(k->s.f, sides->high[d], high[d], s));
	}
	return s;
}

/* The smaller of two numbers, and the larger one. */
static const struct expr *
lower(struct module *m, const struct expr *a, const struct expr *b)
{
	return expr_select(m, expr_lt(m, a, b), a, b);
}

static const struct expr *
higher(struct module *m, const struct expr *a, const struct expr *b)
{
	return expr_select(m, expr_lt(m, b, a), a, b);
}

/* The body, with names for the sides of box number `box`. */
static struct stmt *
with_own_sides(struct nms *k, const struct expr *box, struct sides *sides,
	       struct stmt *(*body)(struct nms *k, void *ctx), void *ctx)
{
	struct module *m = k->s.m;
	const struct expr *low[2], *high[2];

	for (int d = 0; d < 2; d++) {
		const struct expr *at[3] = { k->b, box, NULL }, *a, *z, *half;

		at[2] = expr_i32(m, d);
		a = te_at(m, k->in[BOXES], at, 3);
		at[2] = expr_i32(m, d + 2);
		z = te_at(m, k->in[BOXES], at, 3);
		half = expr_div(m, z, expr_const(m, z->type, 2));
		low[d] = k->centers ? expr_sub(m, a, half) : lower(m, a, z);
		high[d] = k->centers ? expr_add(m, a, half) : higher(m, a, z);
	}
	return with_sides(k, low, high, "", sides, body, ctx);
}

/* The body, with names for the sides of the kept box in row `row`. */
static struct stmt *
with_kept_sides(struct nms *k, const struct expr *row, struct sides *sides,
		struct stmt *(*body)(struct nms *k, void *ctx), void *ctx)
{
	struct module *m = k->s.m;
	const struct expr *low[2], *high[2];

	for (int d = 0; d < 2; d++) {
		const struct expr *at[2] = { row, expr_i32(m, d) };

		low[d] = te_at(m, k->s.out[SIDES], at, 2);
		at[1] = expr_i32(m, d + 2);
		high[d] = te_at(m, k->s.out[SIDES], at, 2);
	}
	return with_sides(k, low, high, "_old", sides, body, ctx);
}

/* Stores the sides of a kept box in row `row`. */
static struct stmt *
keep_sides(struct nms *k, const struct sides *sides, const struct expr *row)
{
	struct module *m = k->s.m;
	struct stmt *store[4];

	for (int d = 0; d < 2; d++) {
		const struct expr *at[2] = { row, expr_i32(m, d) };

		store[d] = stmt_store(k->s.f, k->s.out[SIDES]->buffer,
				      sides->low[d]->expr, at, 2);
		at[1] = expr_i32(m, d + 2);
		store[d + 2] = stmt_store(k->s.f, k->s.out[SIDES]->buffer,
					  sides->high[d]->expr, at, 2);
	}
	return stmt_seq(k->s.f, store, 4);
}

static const struct expr *
area(struct module *m, const struct sides *a)
{
	return expr_mul(m, expr_sub(m, a->high[0]->expr, a->low[0]->expr),
			expr_sub(m, a->high[1]->expr, a->low[1]->expr));
}

/* The threshold that the given input has; 0 if the input is absent. */
static const struct expr *
threshold(struct nms *k, int input)
{
	return node_input(k->n, input)
		       ? define_scalar(k->s.c, k->n, k->in, input)
		       : expr_float(k->s.m, dtype_of(DT_F32), 0);
}

struct pair {
	struct sides own, old;
	/* box: the box that is tried; row: the row after the last kept box */
	const struct expr *box, *row;
};

/* Compares the box that is tried with the kept box in row `other`. If they
 * overlap too much, other = count + 1: this ends the loop of try_box, and the
 * box is not kept. Else other += 1: the next kept box, or other == count, with
 * which the box is kept. */
static struct stmt *
compare_boxes(struct nms *k, void *ctx)
{
	struct pair *p = ctx;
	struct steps *s = &k->s;
	struct module *m = s->m;
	struct sides *a = &p->own, *b = &p->old;
	const struct expr *side[2], *zero, *met, *both, *all, *over;
	struct dtype type = a->low[0]->type;
	struct var *sides[2], *common = var_new(m, "common", type);
	struct var *joint = var_new(m, "joint", type);
	const struct expr *go;
	struct stmt *stop;

	zero = expr_float(m, type, 0);
	for (int d = 0; d < 2; d++) {
		side[d] = expr_sub(m,
				   lower(m, a->high[d]->expr, b->high[d]->expr),
				   higher(m, a->low[d]->expr, b->low[d]->expr));
		sides[d] = var_new(m, d == 0 ? "height" : "width", type);
	}
	met = expr_and(m, expr_lt(m, zero, sides[0]->expr),
		       expr_lt(m, zero, sides[1]->expr));
	both = expr_mul(m, sides[0]->expr, sides[1]->expr);
	all = expr_sub(m, expr_add(m, area(m, a), area(m, b)), common->expr);
	over = expr_and(m, expr_lt(m, zero, joint->expr),
			expr_lt(m, threshold(k, OVERLAP),
				expr_div(m, common->expr, joint->expr)));
	stop = step_set(s, k->other, expr_add(m, p->row, expr_int(m, k->t, 1)));
	go = expr_add(m, step_get(s, k->other), expr_int(m, k->t, 1));
	stop = stmt_if(s->f, over, stop, step_set(s, k->other, go));
	stop = stmt_let(s->f, joint, all, stop);
	stop = stmt_let(s->f, common, both, stop);
	stop = stmt_if(s->f, met, stop, step_set(s, k->other, go));
	return stmt_let(s->f, sides[0], side[0],
			stmt_let(s->f, sides[1], side[1], stop));
}

/* Keeps the box unless its overlap with a kept box is above the threshold. */
static struct stmt *
try_box(struct nms *k, void *ctx)
{
	struct pair *p = ctx;
	struct steps *s = &k->s;
	struct module *m = s->m;
	struct dtype i64 = dtype_of(DT_I64);
	struct var *old = var_new(m, "old", k->t),
		   *row = var_new(m, "row", k->t);
	const struct expr *at[2];
	const struct expr *values[3] = { k->b, k->c, p->box };
	struct stmt *loop, *keep[5];

	p->row = row->expr;
	loop = with_kept_sides(k, old->expr, &p->old, compare_boxes, p);
	loop = stmt_let(s->f, old, step_get(s, k->other), loop);
	loop = stmt_while(s->f, expr_lt(m, step_get(s, k->other), row->expr),
			  loop);
	for (int i = 0; i < 3; i++) {
		at[0] = row->expr;
		at[1] = expr_i32(m, i);
		keep[i] = stmt_store(s->f, s->out[KEPT]->buffer,
				     expr_cast(m, i64, values[i]), at, 2);
	}
	keep[3] = keep_sides(k, &p->own, row->expr);
	keep[4] = set_count(k, expr_add(m, row->expr, expr_int(m, k->t, 1)));
	keep[0] = stmt_if(s->f, expr_eq(m, step_get(s, k->other), row->expr),
			  stmt_seq(s->f, keep, 5), NULL);
	loop = step_seq(s, 3, step_set(s, k->other, step_get(s, k->start)),
			loop, keep[0], NULL);
	return stmt_let(s->f, row, count(k), loop);
}

/* The condition that the score is above the threshold, which is false for NaN;
 * true if the node has no such threshold. */
static const struct expr *
has_enough(struct nms *k, const struct expr *score)
{
	struct module *m = k->s.m;

	return node_input(k->n, LEAST) ? expr_lt(m, threshold(k, LEAST), score)
				       : expr_bool(m, true);
}

/* Makes the heap of the boxes with enough score:
 *
 *	left = 0
 *	for i in boxes:
 *		if score[i] is enough: heap[left] = (score[i], i), left += 1
 *	for done in left / 2: order the heap below left / 2 - 1 - done */
static struct stmt *
collect(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *boxes = k->n->inputs[SCORES]->shape[2];
	struct var *i = var_new(m, "i", boxes->type);
	struct var *done = var_new(m, "done", k->t);
	struct var *at = var_new(m, "at", k->t);
	struct var *root = var_new(m, "root", k->t);
	const struct expr *index[3] = { k->b, k->c, i->expr };
	const struct expr *one = expr_int(m, k->t, 1);
	const struct expr *left = step_get(s, k->left), *half;
	struct heap_item item = { te_at(m, k->in[SCORES], index, 3),
				  expr_cast(m, k->t, i->expr) };
	struct stmt *add, *order;

	add = stmt_let(s->f, at, left,
		       step_seq(s, 2, heap_put(&k->heap, at->expr, item),
				step_set(s, k->left,
					 expr_add(m, at->expr, one)),
				NULL, NULL));
	add = stmt_if(s->f, has_enough(k, item.value), add, NULL);
	half = expr_div(m, left, expr_int(m, k->t, 2));
	order = heap_replace(&k->heap, root->expr, left,
			     heap_item(&k->heap, root->expr), NULL);
	order = stmt_let(s->f, root,
			 expr_sub(m, expr_sub(m, half, one), done->expr),
			 order);
	return step_seq(s, 3, step_set(s, k->left, expr_int(m, k->t, 0)),
			step_for(s, i, boxes, add),
			step_for(s, done, half, order), NULL);
}

/* The condition of the loop: boxes are left, and fewer than the limit are kept.
 * A constant limit that is at least the number of boxes needs no test. */
static const struct expr *
goes_on(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *some = expr_lt(m, expr_int(m, k->t, 0),
					  step_get(s, k->left));
	const struct expr *kept = expr_sub(m, count(k), step_get(s, k->start));
	const struct expr *most;
	int64_t boxes;
	double limit;

	if (!input_scalar(k->n, MOST, &limit) || limit < 0) {
		most = define_scalar(s->c, k->n, k->in, MOST);
		kept = expr_cast(m, most->type, kept);
	} else if ((expr_is_int(k->n->inputs[SCORES]->shape[2], &boxes) &&
		    limit >= (double)boxes) ||
		   limit >= INT32_MAX) {
		return some;
	} else {
		most = expr_int(m, k->t, (int64_t)limit);
	}
	return expr_and(m, some, expr_lt(m, kept, most));
}

/* The statements for one class. */
static struct stmt *
one_class(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *zero = expr_int(m, k->t, 0);
	const struct expr *left = step_get(s, k->left), *first;
	struct var *last = var_new(m, "last", k->t);
	struct var *box = var_new(m, "box", k->t);
	struct pair p = { .box = box->expr };
	struct stmt *body, *take;

	take = heap_replace(&k->heap, zero, last->expr,
			    heap_item(&k->heap, last->expr),
			    step_set(s, k->left, last->expr));
	take = stmt_let(s->f, last, expr_sub(m, left, expr_int(m, k->t, 1)),
			take);
	first = heap_item(&k->heap, zero).position;
	body = with_own_sides(k, box->expr, &p.own, try_box, &p);
	body = stmt_let(s->f, box, first,
			step_seq(s, 2, take, body, NULL, NULL));
	body = stmt_while(s->f, goes_on(k), body);
	return step_seq(s, 3, step_set(s, k->start, count(k)), collect(k), body,
			NULL);
}

/* The heap, which is in the last two outputs of the stage. */
static struct heap
heap_of(struct nms *k)
{
	return (struct heap){
		.s = &k->s,
		.values = k->s.out[LEFT_SCORES],
		.positions = k->s.out[LEFT_BOXES],
		.at = arena_array(&k->s.m->arena, const struct expr *, 1),
		.rank = 1,
		.largest = true,
		.first_root = true,
	};
}

bool
define_nms(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "kept", "count", "sides",
					     "scores_left", "boxes_left" };
	struct module *m = c->module;
	const struct tensor *kept = n->outputs[KEPT];
	const struct tensor *sides = n->outputs[SIDES];
	const struct tensor *scores = n->inputs[SCORES];
	struct dtype i32 = dtype_of(DT_I32);
	struct var *b = var_new(m, "b", i32), *cl = var_new(m, "c", i32);
	struct nms k = {
		.n = n, .in = in, .b = b->expr, .c = cl->expr, .t = i32
	};
	struct te_tensor **used = arena_array(&m->arena, struct te_tensor *,
					      N_INPUTS);
	struct te_tensor *made[N_MADE];
	struct stmt *body;
	int n_used = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i] != NULL && (i < MOST || !define_literal(c, n, i))) {
			used[n_used++] = in[i];
		}
	}
	k.centers = node_attr_int(n, "center_point_box", 0) != 0;
	k.s = steps_begin(c, names[0], "nms", names,
			  (struct dtype[]){ kept->type, i32, sides->type,
					    scores->type, i32 },
			  (int[]){ 2, 1, 2, 1, 1 },
			  (const struct expr *const *[]){
				  kept->shape, n->outputs[COUNT]->shape,
				  sides->shape, scores->shape + 2,
				  scores->shape + 2 },
			  N_MADE, used, n_used, made);
	k.heap = heap_of(&k);
	k.other = step_local(&k.s, "other", k.t);
	k.start = step_local(&k.s, "start", k.t);
	k.left = step_local(&k.s, "left", k.t);
	body = set_count(&k, expr_i32(m, 0));
	if (node_input(n, MOST)) {
		struct stmt *loops = step_for(&k.s, cl, scores->shape[1],
					      one_class(&k));

		loops = step_for(&k.s, b, scores->shape[0], loops);
		loops = step_alloc(&k.s, k.other,
				   step_alloc(&k.s, k.start,
					      step_alloc(&k.s, k.left, loops)));
		body = step_seq(&k.s, 2, body, loops, NULL, NULL);
	}
	steps_end(&k.s, NULL, 0, body);
	for (int i = KEPT; i <= SIDES; i++) {
		out[i] = made[i];
	}
	return true;
}
