/* SPDX-License-Identifier: Apache-2.0 */
/* TopK: the k first elements of each row in descending (ascending) order, and
 * their positions. Of equal elements that with the lower position comes first;
 * NaN counts as the largest element, as in numpy.
 *
 * The result's rows are heaps of the k best elements so far, whose root is the
 * worst of them:
 *
 *	values[0..k) = -inf, indices[0..k) = n      (comes after all elements)
 *	for j: if x[j] comes before values[0]: (x[j], j) replaces the root
 *	for last = k - 1 down to 1: values[last] takes the place of the root,
 *	                            and the root that of values[last]
 *
 * Elements rarely replace the root: k * ln(n / k) times if their order is
 * random. */
#include "dims.h"
#include "steps.h"

#include <math.h>

struct heap {
	struct steps s;
	const struct expr **at; /* of the row; at[axis] is replaced */
	int rank, axis;
	bool largest;
};

/* An element of the heap and its position, or a new one. */
struct item {
	const struct expr *value, *index;
};

bool
infer_top_k(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *k, **shape;
	int64_t least;
	int axis, count;

	if (!input_elems(m, n, 1, &k, &count) || count != 1) {
		return infer_needs_constant(c, n, 1);
	}
	if (!infer_axis(c, node_attr_int(n, "axis", -1), x->ndim, &axis)) {
		return false;
	}
	if (expr_is_int(k[0], &least) && least < 0) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "k is negative; correct the model");
	}
	if (expr_is_value(expr_lt(m, x->shape[axis], k[0]), 1)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "k is larger than the size of axis %d; "
				   "correct the model",
				   axis);
	}
	shape = arena_array(&m->arena, const struct expr *, x->ndim + 1);
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = d == axis ? k[0] : x->shape[d];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	if (node_output(n, 1)) {
		infer_set(c, node_output(n, 1), dtype_of(DT_I64), x->ndim,
			  shape);
	}
	return true;
}

static const struct expr *
element(const struct heap *h, const struct te_tensor *t, const struct expr *p)
{
	h->at[h->axis] = p;
	return te_at(h->s.m, t, h->at, h->rank);
}

static struct item
item(const struct heap *h, const struct expr *p)
{
	return (struct item){ element(h, h->s.out[0], p),
			      element(h, h->s.out[1], p) };
}

static struct stmt *
put(const struct heap *h, const struct expr *p, struct item from)
{
	struct stmt *list[2];

	h->at[h->axis] = p;
	list[0] = stmt_store(h->s.f, h->s.out[0]->buffer, from.value, h->at,
			     h->rank);
	list[1] = stmt_store(h->s.f, h->s.out[1]->buffer, from.index, h->at,
			     h->rank);
	return stmt_seq(h->s.f, list, 2);
}

/* Does a come after b in the result? */
static const struct expr *
is_after(const struct heap *h, struct item a, struct item b)
{
	struct module *m = h->s.m;
	const struct expr *less = step_is_less(m, a.value, b.value);
	const struct expr *more = step_is_less(m, b.value, a.value);
	const struct expr *later = expr_lt(m, b.index, a.index);
	const struct expr *worse = h->largest ? less : more;
	const struct expr *better = h->largest ? more : less;

	return expr_or(m, worse, expr_and(m, expr_not(m, better), later));
}

/* body with the value of a counter as an index `name`. */
static struct stmt *
with_index(struct steps *s, struct var *name, const struct expr *counter,
	   struct stmt *body)
{
	return stmt_let(s->f, name, expr_cast(s->m, name->type, counter), body);
}

/* If the second child is worse, it is chosen:
 *
 *	if right < size: if heap[right] is after heap[left]: child = right */
static struct stmt *
choose_child(struct heap *h, const struct expr *size,
	     const struct buffer *child, struct dtype t)
{
	struct steps *s = &h->s;
	struct module *m = s->m;
	const struct expr *next = expr_add(m, step_get(s, child),
					   expr_int(m, child->type, 1));
	struct var *left = var_new(m, "left", t);
	struct var *right = var_new(m, "right", t);
	struct stmt *choose = step_set(s, child, next);

	choose = stmt_if(s->f,
			 is_after(h, item(h, right->expr), item(h, left->expr)),
			 choose, NULL);
	choose = stmt_if(s->f, expr_lt(m, right->expr, size), choose, NULL);
	choose = with_index(s, right, next, choose);
	return with_index(s, left, step_get(s, child), choose);
}

/* Puts an element in the place of the root of a heap of `size` elements: while
 * the worse of two children is worse than the element, it moves up.
 *
 *	hole = 0
 *	child = 1
 *	while child < size:
 *		choose the worse of the two children
 *		if heap[child] is after the element:
 *			heap[hole] = heap[child]
 *			hole = child
 *			child = 2 * child + 1
 *		else:
 *			child = size
 *	heap[hole] = the element */
static struct stmt *
replace_root(struct heap *h, const struct expr *size, struct item with)
{
	struct steps *s = &h->s;
	struct module *m = s->m;
	struct dtype t = dtype_of(DT_U32);
	const struct buffer *hole = step_local(s, "hole", t);
	const struct buffer *child = step_local(s, "child", t);
	const struct expr *one = expr_int(m, t, 1), *two = expr_int(m, t, 2);
	const struct expr *at = step_get(s, child),
			  *end = expr_cast(m, t, size);
	struct var *from = var_new(m, "from", size->type);
	struct var *to = var_new(m, "to", size->type);
	struct var *place = var_new(m, "place", size->type);
	struct stmt *move, *body;

	move = step_seq(s, 3, put(h, to->expr, item(h, from->expr)),
			step_set(s, hole, at),
			step_set(s, child,
				 expr_add(m, expr_mul(m, at, two), one)),
			NULL);
	move = with_index(s, to, step_get(s, hole), move);
	move = stmt_if(s->f, is_after(h, item(h, from->expr), with), move,
		       step_set(s, child, end));
	move = with_index(s, from, at, move);
	move = step_seq(s, 2, choose_child(h, size, child, size->type), move,
			NULL, NULL);
	body = with_index(s, place, step_get(s, hole),
			  put(h, place->expr, with));
	body = step_seq(s, 4, step_set(s, hole, expr_int(m, t, 0)),
			step_set(s, child, one),
			stmt_while(s->f, expr_lt(m, at, end), move), body);
	return step_alloc(s, hole, step_alloc(s, child, body));
}

/* `with`, read first, in the place of the root after `before`. */
static struct stmt *
replace_by(struct heap *h, const struct expr *size, struct item with,
	   struct stmt *before)
{
	struct steps *s = &h->s;
	struct var *value = var_new(s->m, "value", with.value->type);
	struct var *index = var_new(s->m, "position", with.index->type);
	struct stmt *body;

	body = replace_root(h, size, (struct item){ value->expr, index->expr });
	if (before) {
		body = step_seq(s, 2, before, body, NULL, NULL);
	}
	return stmt_let(s->f, value, with.value,
			stmt_let(s->f, index, with.index, body));
}

/* A value that comes after all others but itself. */
static const struct expr *
last_value(struct module *m, struct dtype t, bool largest)
{
	if (dtype_is_float(t)) {
		return expr_float(m, t, largest ? -INFINITY : (double)NAN);
	}
	return (largest ? reducer_max(m, t) : reducer_min(m, t))->identity[0];
}

/* The heap of the best k of the n elements of a row of x. */
static struct stmt *
collect(struct heap *h, const struct te_tensor *x, const struct expr *n,
	const struct expr *k)
{
	struct steps *s = &h->s;
	struct module *m = s->m;
	struct var *p = var_new(m, "p", k->type), *j = var_new(m, "j", n->type);
	struct dtype i64 = dtype_of(DT_I64);
	struct item root = item(h, expr_int(m, k->type, 0)), now;
	struct item none = { last_value(m, x->buffer->type, h->largest),
			     expr_cast(m, i64, n) };
	const struct expr *better;
	struct stmt *fill, *scan;

	fill = step_for(s, p, k, put(h, p->expr, none));
	now.value = element(h, x, j->expr);
	now.index = expr_cast(m, i64, j->expr);
	better = h->largest ? step_is_less(m, root.value, now.value)
			    : step_is_less(m, now.value, root.value);
	scan = stmt_if(s->f,
		       expr_or(m, expr_eq(m, root.index, none.index), better),
		       replace_by(h, k, now, NULL), NULL);
	return step_seq(s, 2, fill, step_for(s, j, n, scan), NULL, NULL);
}

/* Sorts the heap: the root, the worst of the elements that are left, goes to
 * their end. */
static struct stmt *
sort(struct heap *h, const struct expr *k)
{
	struct steps *s = &h->s;
	struct module *m = s->m;
	struct var *done = var_new(m, "done", k->type);
	const struct expr *one = expr_int(m, k->type, 1);
	struct var *last = var_new(m, "last", k->type);
	struct stmt *body;

	body = put(h, last->expr, item(h, expr_int(m, k->type, 0)));
	body = replace_by(h, last->expr, item(h, last->expr), body);
	body = stmt_let(s->f, last,
			expr_sub(m, expr_sub(m, k, one), done->expr), body);
	return step_for(s, done, expr_sub(m, k, one), body);
}

/* The axes of x but one. */
static struct iter_var *
row_axes(struct heap *h, const struct tensor *x)
{
	struct iter_var *axes = define_axes(h->s.c, x);
	int n = 0;

	for (int d = 0; d < x->ndim; d++) {
		h->at[d] = axes[d].var->expr;
		if (d != h->axis) {
			axes[n++] = axes[d];
		}
	}
	return axes;
}

/* The results for k = 0, without elements. */
static bool
define_none(struct define *c, const struct node *n, struct te_tensor **out)
{
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *y = n->outputs[i];

		if (y) {
			out[i] = define_stage(c, "top", "top_k", y->ndim,
					      define_axes(c, y),
					      expr_const(c->module, y->type,
							 0));
		}
	}
	return true;
}

bool
define_top_k(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "top", "indices" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	int64_t axis = node_attr_int(n, "axis", -1);
	struct heap h = {
		.at = arena_array(&m->arena, const struct expr *, x->ndim + 1),
		.rank = x->ndim,
		.axis = (int)(axis < 0 ? axis + x->ndim : axis),
		.largest = node_attr_int(n, "largest", 1) != 0,
	};
	struct te_tensor *made[2];
	const struct expr *k = y->shape[h.axis];
	struct iter_var *axes;

	if (expr_is_value(k, 0)) {
		return define_none(c, n, out);
	}
	h.s = steps_begin(c, names[0], "top_k", names,
			  (struct dtype[]){ x->type, dtype_of(DT_I64) },
			  (int[]){ x->ndim, x->ndim },
			  (const struct expr *const *[]){ y->shape, y->shape },
			  2, in, 1, made);
	axes = row_axes(&h, x);
	steps_end(&h.s, axes, x->ndim - 1,
		  step_seq(&h.s, 2, collect(&h, in[0], x->shape[h.axis], k),
			   sort(&h, k), NULL, NULL));
	for (int i = 0; i < n->n_outputs; i++) {
		out[i] = made[i];
	}
	return true;
}
