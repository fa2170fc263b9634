/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.NonMaxSuppression: keeps boxes, class by class, in descending order of
 * their scores. The boxes with enough score are put in a heap, whose root is
 * the next box, so that no more boxes are sorted than needed.
 *
 *	kept = 0
 *	for b, for c:
 *		start = kept
 *		left = 0
 *		for i in boxes:
 *			if score of i is enough: heap[left] = i, left += 1
 *		unordered = left / 2
 *		while unordered > 0 or (left > 0 and kept - start < most):
 *			box = heap[0]
 *			is_root = unordered == 0
 *			if is_root: left -= 1, from = left
 *			else:       unordered -= 1, from = unordered
 *			put heap[from] into the heap below heap[unordered]
 *			if is_root:
 *				other = start
 *				while other < kept and not overlapping:
 *					other += 1
 *				if other == kept: rows[kept] = (b, c, box)
 *				                  kept += 1
 *
 * The first left / 2 iterations order the heap, from its end to its root; each
 * later one takes its root. Counters are unsigned: none leaves its range.
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
	/* counters, of type u32 */
	const struct buffer *kept, *start, *left, *unordered, *other;
	struct heap heap;
	struct dtype t; /* the type of indices of boxes */
	bool centers;
};

/* The sides of a box: the low and the high coordinate in both dimensions. */
struct sides {
	struct var *low[2], *high[2];
};

static const struct expr *
number(struct nms *k, int64_t n)
{
	return expr_int(k->s.m, dtype_of(DT_U32), n);
}

/* Adds 1 to a counter. */
static struct stmt *
step_up(struct nms *k, const struct buffer *counter)
{
	return step_set(&k->s, counter,
			expr_add(k->s.m, step_get(&k->s, counter),
				 number(k, 1)));
}

static struct stmt *
step_down(struct nms *k, const struct buffer *counter)
{
	return step_set(&k->s, counter,
			expr_sub(k->s.m, step_get(&k->s, counter),
				 number(k, 1)));
}

/* The body, with the value of a counter as the index variable `name`. */
static struct stmt *
with_index(struct nms *k, struct var *name, const struct expr *counter,
	   struct stmt *body)
{
	return stmt_let(k->s.f, name, expr_cast(k->s.m, k->t, counter), body);
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
	const struct expr *box; /* the box that is tried */
};

/* Compares the box that is tried with the kept box in row `other`. If they
 * overlap too much, other = kept + 1: this ends the loop of try_box, and the
 * box is not kept. Else other += 1: the next kept box, or other == kept, with
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
	stop = step_set(s, k->other,
			expr_add(m, step_get(s, k->kept), number(k, 1)));
	stop = stmt_if(s->f, over, stop, step_up(k, k->other));
	stop = stmt_let(s->f, joint, all, stop);
	stop = stmt_let(s->f, common, both, stop);
	stop = stmt_if(s->f, met, stop, step_up(k, k->other));
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

	loop = with_kept_sides(k, old->expr, &p->old, compare_boxes, p);
	loop = with_index(k, old, step_get(s, k->other), loop);
	loop = stmt_while(s->f,
			  expr_lt(m, step_get(s, k->other),
				  step_get(s, k->kept)),
			  loop);
	for (int i = 0; i < 3; i++) {
		at[0] = row->expr;
		at[1] = expr_i32(m, i);
		keep[i] = stmt_store(s->f, s->out[KEPT]->buffer,
				     expr_cast(m, i64, values[i]), at, 2);
	}
	keep[3] = keep_sides(k, &p->own, row->expr);
	keep[4] = step_up(k, k->kept);
	keep[0] = with_index(k, row, step_get(s, k->kept),
			     stmt_seq(s->f, keep, 5));
	keep[0] = stmt_if(s->f,
			  expr_eq(m, step_get(s, k->other),
				  step_get(s, k->kept)),
			  keep[0], NULL);
	loop = step_seq(s, 3, step_set(s, k->other, step_get(s, k->start)),
			loop, keep[0], NULL);
	return step_alloc(s, k->other, loop);
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

/* Collects the boxes with enough score:
 *
 *	left = 0
 *	for i in boxes:
 *		if score[i] is enough: heap[left] = (score[i], i), left += 1 */
static struct stmt *
collect(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *boxes = k->n->inputs[SCORES]->shape[2];
	struct var *i = var_new(m, "i", boxes->type);
	struct var *at = var_new(m, "at", k->t);
	const struct expr *index[3] = { k->b, k->c, i->expr };
	struct heap_item item = { te_at(m, k->in[SCORES], index, 3),
				  expr_cast(m, k->t, i->expr) };
	struct stmt *add;

	add = with_index(k, at, step_get(s, k->left),
			 heap_put(&k->heap, at->expr, item));
	add = step_seq(s, 2, add, step_up(k, k->left), NULL, NULL);
	add = stmt_if(s->f, has_enough(k, item.value), add, NULL);
	return step_seq(s, 2, step_set(s, k->left, number(k, 0)),
			step_for(s, i, boxes, add), NULL, NULL);
}

/* The condition that boxes are left, and fewer than the limit are kept. A
 * constant limit that is at least the number of boxes needs no test. */
static const struct expr *
wants_root(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *some = expr_lt(m, number(k, 0),
					  step_get(s, k->left));
	const struct expr *kept = expr_sub(m, step_get(s, k->kept),
					   step_get(s, k->start));
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
		most = number(k, (int64_t)limit);
	}
	return expr_and(m, some, expr_lt(m, kept, most));
}

/* The loop that orders the heap and then takes its roots. */
static struct stmt *
take_boxes(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	const struct expr *left = step_get(s, k->left);
	const struct expr *unordered = step_get(s, k->unordered);
	struct var *box = var_new(m, "box", k->t);
	struct var *from = var_new(m, "from", k->t);
	struct var *is_root = var_new(m, "is_root", dtype_of(DT_BOOL));
	struct pair p = { .box = box->expr };
	struct stmt *body, *try;

	try = with_own_sides(k, box->expr, &p.own, try_box, &p);
	body = heap_replace(&k->heap, unordered, left,
			    heap_item(&k->heap, from->expr), NULL);
	body = with_index(k, from,
			  expr_select(m, is_root->expr, left, unordered), body);
	body = step_seq(s, 3,
			stmt_if(s->f, is_root->expr, step_down(k, k->left),
				step_down(k, k->unordered)),
			body, stmt_if(s->f, is_root->expr, try, NULL), NULL);
	body = stmt_let(s->f, is_root, expr_eq(m, unordered, number(k, 0)),
			body);
	body = stmt_let(s->f, box,
			heap_item(&k->heap, expr_int(m, k->t, 0)).position,
			body);
	return stmt_while(s->f,
			  expr_or(m, expr_lt(m, number(k, 0), unordered),
				  wants_root(k)),
			  body);
}

/* The statements for one class. */
static struct stmt *
one_class(struct nms *k)
{
	struct steps *s = &k->s;
	struct module *m = s->m;
	struct stmt *body;

	body = step_seq(s, 4, step_set(s, k->start, step_get(s, k->kept)),
			collect(k),
			step_set(s, k->unordered,
				 expr_div(m, step_get(s, k->left),
					  number(k, 2))),
			take_boxes(k));
	body = step_alloc(s, k->left, step_alloc(s, k->unordered, body));
	return step_alloc(s, k->start, body);
}

/* The heap, which is in the last two outputs of the stage. */
static struct heap
heap_of(struct nms *k)
{
	return (struct heap){
		.s = &k->s,
		.values = k->s.out[LEFT_SCORES],
		.positions = k->s.out[LEFT_BOXES],
		.at = arena_exprs(&k->s.m->arena, 1),
		.rank = 1,
		.largest = true,
		.first_root = true,
		.no_nan = node_input(k->n, LEAST),
		.index = k->t,
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
	struct dtype i32 = dtype_of(DT_I32), u32 = dtype_of(DT_U32);
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
	k.kept = step_local(&k.s, "kept", u32);
	k.start = step_local(&k.s, "start", u32);
	k.left = step_local(&k.s, "left", u32);
	k.unordered = step_local(&k.s, "unordered", u32);
	k.other = step_local(&k.s, "other", u32);
	if (node_input(n, MOST)) {
		body = step_for(&k.s, cl, scores->shape[1], one_class(&k));
		body = step_for(&k.s, b, scores->shape[0], body);
		body = step_seq(&k.s, 3, step_set(&k.s, k.kept, number(&k, 0)),
				body,
				set_count(&k,
					  expr_cast(m, i32,
						    step_get(&k.s, k.kept))),
				NULL);
		body = step_alloc(&k.s, k.kept, body);
	} else {
		body = set_count(&k, expr_i32(m, 0));
	}
	steps_end(&k.s, NULL, 0, body);
	for (int i = KEPT; i <= SIDES; i++) {
		out[i] = made[i];
	}
	return true;
}
