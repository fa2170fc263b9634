/* SPDX-License-Identifier: Apache-2.0 */
/* TopK: the k first elements of each row in descending (ascending) order, and
 * their positions. Of equal elements, the one with the lower position comes
 * first; NaN counts as the largest element, as in NumPy.
 *
 * For small k the result's rows are heaps of the k best elements so far, whose
 * root is the worst of them:
 *
 *	values[0..k) = -inf, indices[0..k) = n      (comes after all elements)
 *	for j: if x[j] comes before values[0]: (x[j], j) replaces the root
 *	for last = k - 1 down to 1: values[last] takes the place of the root,
 *	                            and the root that of values[last]
 *
 * Elements rarely replace the root: k * ln(n / k) times if their order is
 * random. So blocks of a row are compared with the root, which compilers make
 * vectors of, before their elements are looked at one by one. For larger k, an array of 2 k elements has the best k elements so
 * far, followed by later elements that come before the last of these. When the
 * array is full, it is sorted:
 *
 *	found = 0
 *	while j < n:
 *		while j < n and found < 2 k:
 *			if j < 2 k or x[j] comes before element k - 1:
 *				array[found] = (x[j], j), found += 1
 *			j += 1
 *		sort array[0..found)
 *		found = k
 *
 * A row of up to 2 k elements is sorted at once. The keys for sorting are made
 * from the bits of floats. If the target cannot read these, heaps are used for
 * any k. */
#include "dims.h"
#include "heap.h"
#include "radix_sort.h"

#include <math.h>

/* With more elements than this, a heap is slower than sorting. */
enum { HEAP_MOST = 64 };
/* Elements of a block; rows of fewer blocks have none that few elements of the heap
 * leave out. */
enum { BLOCK = 32, LEAST_BLOCKS = 4 };

enum { TOP, INDICES, SORT_KEYS, SORT_POSITIONS, N_MADE };

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
	if (!dims_at_most(c, k[0], x->shape[axis])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "k is larger than the size of axis %d; "
				   "correct the model",
				   axis);
	}
	shape = arena_exprs(&m->arena, x->ndim + 1);
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

/* A value of type t that no other value comes after in the order. */
static const struct expr *
last_value(struct module *m, struct dtype t, bool largest)
{
	if (!largest && dtype_is_float(t) &&
	    dtype_float_form(t).specials != SPECIALS_FINITE) {
		return expr_float(m, t, (double)NAN);
	}
	return (largest ? reducer_max(m, t) : reducer_min(m, t))->identity[0];
}

struct top_k {
	struct steps s;
	const struct te_tensor *x;
	/* the number of elements of a row of x, and of a row of the result */
	const struct expr *n, *k;
	const struct expr **at; /* the index of the row; at[axis] is replaced */
	int rank, axis;
	bool largest;
	bool by_blocks; /* blocks of a row are compared with the heap's root */
};

static const struct expr *
element(const struct top_k *t, const struct te_tensor *of, const struct expr *p)
{
	t->at[t->axis] = p;
	return te_at(t->s.m, of, t->at, t->rank);
}

/* -- as a heap -- */

/* Does the element come before the root of the heap, the worst of its elements? */
static const struct expr *
comes_before(const struct heap *h, const struct expr *element,
	     const struct expr *root)
{
	return h->largest ? step_is_less(h->s->m, root, element)
			  : step_is_less(h->s->m, element, root);
}

/* Runs scan, which looks at element j of the row, for all of them. Those of a
 * whole block are skipped where the heap is full and none comes before its root:
 *
 *	for block:
 *		wanted = 1
 *		if the block is whole and the heap is full:
 *			wanted = 0
 *			for lane: wanted |= x[32 block + lane] comes before the root
 *		if wanted: for each j of the block: scan */
static struct stmt *
scan_blocks(const struct top_k *t, const struct heap *h, struct var *j,
	    const struct expr *full, struct stmt *scan)
{
	struct steps *s = h->s;
	struct module *m = s->m;
	struct dtype index = t->n->type, u32 = dtype_of(DT_U32);
	struct var *block = var_new(m, "block", index);
	struct var *start = var_new(m, "start", index);
	struct var *lane = var_new(m, "lane", index);
	struct var *at = var_new(m, "at", index);
	struct var *left = var_new(m, "size", index);
	struct var *worst = var_new(m, "worst", t->x->buffer->type);
	const struct buffer *wanted = step_local(s, "wanted", u32);
	const struct expr *size = expr_int(m, index, BLOCK);
	const struct expr *zero = expr_int(m, u32, 0);
	const struct expr *one = expr_int(m, u32, 1), *hit, *whole, *root;
	struct stmt *look, *each;

	root = heap_item(h, expr_int(m, t->k->type, 0)).value;
	hit = comes_before(h,
			   element(t, t->x,
				   expr_add(m, start->expr, lane->expr)),
			   worst->expr);
	hit = expr_call2(m, INTRIN_BITOR, step_get(s, wanted),
			 expr_cast(m, u32, hit));
	look = step_for(s, lane, size, step_set(s, wanted, hit));
	look = step_seq(s, 2, step_set(s, wanted, zero),
			stmt_let(s->f, worst, root, look), NULL, NULL);
	whole = expr_le(m, expr_add(m, start->expr, size), t->n);
	look = stmt_if(s->f, expr_and(m, whole, full), look, NULL);
	each = stmt_let(s->f, j, expr_add(m, start->expr, at->expr), scan);
	each = step_for(s, at, left->expr, each);
	each = stmt_let(s->f, left,
			expr_min(m, size, expr_sub(m, t->n, start->expr)),
			each);
	each = stmt_if(s->f, expr_lt(m, zero, step_get(s, wanted)), each, NULL);
	each = step_seq(s, 3, step_set(s, wanted, one), look, each, NULL);
	each = stmt_let(s->f, start, expr_mul(m, block->expr, size),
			step_alloc(s, wanted, each));
	return step_for(s, block,
			expr_floordiv(m,
				      expr_add(m, t->n,
					       expr_int(m, index, BLOCK - 1)),
				      size),
			each);
}

/* Makes the heap of the best k of the n elements of a row of x. */
static struct stmt *
collect(const struct top_k *t, const struct heap *h)
{
	struct steps *s = h->s;
	struct module *m = s->m;
	struct var *p = var_new(m, "p", t->k->type);
	struct var *j = var_new(m, "j", t->n->type);
	struct dtype i64 = dtype_of(DT_I64);
	const struct expr *zero = expr_int(m, t->k->type, 0), *better, *open;
	struct heap_item root = heap_item(h, zero), now;
	struct heap_item none = { last_value(m, t->x->buffer->type, h->largest),
				  expr_cast(m, i64, t->n) };
	struct stmt *fill, *scan;

	fill = step_for(s, p, t->k, heap_put(h, p->expr, none));
	now.value = element(t, t->x, j->expr);
	now.position = expr_cast(m, i64, j->expr);
	better = comes_before(h, now.value, root.value);
	open = expr_eq(m, root.position, none.position);
	scan = stmt_if(s->f, expr_or(m, open, better),
		       heap_replace(h, zero, t->k, now, NULL), NULL);
	scan = t->by_blocks ? scan_blocks(t, h, j, expr_not(m, open), scan)
			    : step_for(s, j, t->n, scan);
	return step_seq(s, 2, fill, scan, NULL, NULL);
}

/* Sorts the heap: the root, the worst of the elements that are left, goes to
 * their end. */
static struct stmt *
sort_heap(const struct heap *h, const struct expr *k)
{
	struct steps *s = h->s;
	struct module *m = s->m;
	struct var *done = var_new(m, "done", k->type);
	const struct expr *one = expr_int(m, k->type, 1);
	const struct expr *zero = expr_int(m, k->type, 0);
	struct var *last = var_new(m, "last", k->type);
	struct stmt *body;

	body = heap_put(h, last->expr, heap_item(h, zero));
	body = heap_replace(h, zero, last->expr, heap_item(h, last->expr),
			    body);
	body = stmt_let(s->f, last,
			expr_sub(m, expr_sub(m, k, one), done->expr), body);
	return step_for(s, done, expr_sub(m, k, one), body);
}

static struct stmt *
by_heap(struct top_k *t)
{
	struct heap h = {
		.s = &t->s,
		.values = t->s.out[TOP],
		.positions = t->s.out[INDICES],
		.at = t->at,
		.rank = t->rank,
		.axis = t->axis,
		.largest = t->largest,
		.index = t->k->type,
	};

	return step_seq(&t->s, 2, collect(t, &h), sort_heap(&h, t->k), NULL,
			NULL);
}

/* -- by sorting -- */

/* State of the collection of elements in the array. */
struct collection {
	struct top_k *t;
	struct radix_sort order;
	const struct expr *most; /* the number of elements of the array */
	/* next: the number of elements of the row that were read; found: the
	 * number of elements in the array */
	const struct buffer *next, *found;
	const struct buffer *last; /* the key of element k - 1 */
};

static const struct expr *
array_0(const struct collection *c)
{
	return expr_int(c->t->s.m, c->t->k->type, 0);
}

/* Stores element j of the row, with its key, at `place` of the array. */
static struct stmt *
put_element(const struct collection *c, const struct expr *place,
	    const struct expr *j, const struct expr *key)
{
	struct dtype type = c->order.positions->buffer->type;
	struct sort_item item = { key, expr_cast(c->t->s.m, type, j) };

	return sort_put(&c->order, array_0(c), place, item);
}

/* Stores the first k elements of the array to the result. */
static struct stmt *
store_result(const struct collection *c)
{
	struct top_k *t = c->t;
	struct module *m = t->s.m;
	struct func *f = t->s.f;
	struct var *p = var_new(m, "p", t->k->type);
	struct var *j = var_new(m, "j", t->n->type);
	const struct expr *from, *value;
	struct stmt *list[2];

	from = sort_item(&c->order, array_0(c), p->expr).position;
	value = element(t, t->x, j->expr);
	t->at[t->axis] = p->expr;
	list[0] = stmt_store(f, t->s.out[TOP]->buffer, value, t->at, t->rank);
	list[1] = stmt_store(f, t->s.out[INDICES]->buffer,
			     expr_cast(m, dtype_of(DT_I64), j->expr), t->at,
			     t->rank);
	return step_for(&t->s, p, t->k,
			stmt_let(f, j, expr_cast(m, t->n->type, from),
				 stmt_seq(f, list, 2)));
}

/* Fills the array with elements that may be among the first k. */
static struct stmt *
fill(const struct collection *c)
{
	struct top_k *t = c->t;
	struct steps *s = &t->s;
	struct module *m = s->m;
	struct dtype index = t->n->type, u32 = c->next->type;
	const struct expr *one = expr_int(m, u32, 1), *wanted, *more, *key;
	const struct expr *next = step_get(s, c->next);
	const struct expr *found = step_get(s, c->found);
	struct var *j = var_new(m, "j", index);
	struct var *place = var_new(m, "place", t->k->type);
	struct step_names names = { .s = s };
	struct stmt *add;

	key = sort_key(&c->order, &names, element(t, t->x, j->expr));
	wanted = expr_or(m, expr_lt(m, j->expr, c->most),
			 expr_lt(m, key, step_get(s, c->last)));
	add = put_element(c, place->expr, j->expr, key);
	add = stmt_let(s->f, place, expr_cast(m, t->k->type, found), add);
	add = step_seq(s, 2, add,
		       step_set(s, c->found, expr_add(m, found, one)), NULL,
		       NULL);
	add = step_named(&names, stmt_if(s->f, wanted, add, NULL));
	add = stmt_let(s->f, j, expr_cast(m, index, next), add);
	add = step_seq(s, 2, add, step_set(s, c->next, expr_add(m, next, one)),
		       NULL, NULL);
	more = expr_and(m, expr_lt(m, next, expr_cast(m, u32, t->n)),
			expr_lt(m, found, expr_cast(m, u32, c->most)));
	return stmt_while(s->f, more, add);
}

/* Sorts the array, and keeps its first k elements. */
static struct stmt *
select(const struct collection *c)
{
	struct top_k *t = c->t;
	struct steps *s = &t->s;
	struct module *m = s->m;
	struct var *size = var_new(m, "size", t->k->type);
	const struct expr *end, *last;

	end = expr_sub(m, t->k, expr_int(m, t->k->type, 1));
	last = sort_item(&c->order, array_0(c), end).key;
	return stmt_let(s->f, size,
			expr_cast(m, size->type, step_get(s, c->found)),
			step_seq(s, 3, sort_steps(&c->order, size->expr),
				 step_set(s, c->found,
					  expr_cast(m, c->found->type, t->k)),
				 step_set(s, c->last, last), NULL));
}

static struct stmt *
by_parts(struct collection *c)
{
	struct top_k *t = c->t;
	struct steps *s = &t->s;
	struct module *m = s->m;
	struct dtype u32 = dtype_of(DT_U32);
	const struct expr *zero = expr_int(m, u32, 0);
	struct stmt *body;

	c->next = step_local(s, "next", u32);
	c->found = step_local(s, "found", u32);
	c->last = step_local(s, "last", c->order.keys->buffer->type);
	body = stmt_while(s->f,
			  expr_lt(m, step_get(s, c->next),
				  expr_cast(m, u32, t->n)),
			  step_seq(s, 2, fill(c), select(c), NULL, NULL));
	body = step_seq(s, 4, step_set(s, c->next, zero),
			step_set(s, c->found, zero),
			step_set(s, c->last, sort_last_key(&c->order)), body);
	body = step_alloc(s, c->found, step_alloc(s, c->last, body));
	return step_seq(s, 2, step_alloc(s, c->next, body), store_result(c),
			NULL, NULL);
}

static struct stmt *
sort_row(struct collection *c)
{
	struct top_k *t = c->t;
	struct steps *s = &t->s;
	struct step_names names = { .s = s };
	struct var *j = var_new(s->m, "j", t->n->type);
	const struct expr *key = sort_key(&c->order, &names,
					  element(t, t->x, j->expr));
	struct stmt *put = put_element(c, j->expr, j->expr, key);

	return step_seq(s, 3, step_for(s, j, t->n, step_named(&names, put)),
			sort_steps(&c->order, t->n), store_result(c), NULL);
}

/* The number of elements of the array, min(2 k, n). */
static const struct expr *
array_elems(const struct top_k *t)
{
	struct module *m = t->s.m;

	return dim_min(m, expr_mul(m, t->k, expr_int(m, t->k->type, 2)), t->n);
}

static struct stmt *
by_sorting(struct top_k *t)
{
	struct steps *s = &t->s;
	struct collection c = {
		.t = t,
		.most = array_elems(t),
		.order = {
			.s = s,
			.keys = s->out[SORT_KEYS],
			.positions = s->out[SORT_POSITIONS],
			.at = arena_exprs(&s->m->arena, t->rank + 1),
			.rank = t->rank + 1,
			.largest = t->largest,
		},
	};
	int n = 0;

	for (int d = 0; d < t->rank; d++) {
		if (d != t->axis) {
			c.order.at[n++] = t->at[d];
		}
	}
	return c.most == t->n ? sort_row(&c) : by_parts(&c);
}

/* -- definition -- */

/* The steps, or nothing if k is 0, because they read the first of the k
 * elements. k is a size that may be known only when the model runs. */
static struct stmt *
unless_none(struct top_k *t, struct stmt *steps)
{
	struct module *m = t->s.m;

	if (!size_may_be_empty(t->k)) {
		return steps;
	}
	return stmt_if(t->s.f, expr_lt(m, expr_int(m, t->k->type, 0), t->k),
		       steps, NULL);
}

/* The axes of x except t->axis, along which the elements of a row are: the axes
 * that number the rows. Sets t->at to the index of an element of x. */
static struct iter_var *
row_axes(struct define *c, struct top_k *t, const struct tensor *x)
{
	struct iter_var *axes = define_axes(c, x);
	int n = 0;

	for (int d = 0; d < x->ndim; d++) {
		t->at[d] = axes[d].var->expr;
		if (d != t->axis) {
			axes[n++] = axes[d];
		}
	}
	return axes;
}

/* Defines the results for k = 0, which have no elements. */
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

/* The shape of the tensors for sorting: two arrays for each row. */
static const struct expr **
sort_shape(const struct top_k *t, const struct tensor *y)
{
	struct module *m = t->s.m;
	const struct expr **shape = arena_exprs(&m->arena, t->rank + 1);
	int n = 0;

	for (int d = 0; d < t->rank; d++) {
		if (d != t->axis) {
			shape[n++] = y->shape[d];
		}
	}
	shape[n++] = expr_int(m, t->k->type, 2);
	shape[n] = array_elems(t);
	return shape;
}

bool
define_top_k(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "top", "indices", "keys",
					     "positions" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	int64_t axis = node_attr_int(n, "axis", -1), most, size;
	struct top_k t = {
		.s = { .m = m },
		.x = in[0],
		.at = arena_exprs(&m->arena, x->ndim + 1),
		.rank = x->ndim,
		.axis = (int)(axis < 0 ? axis + x->ndim : axis),
		.largest = node_attr_int(n, "largest", 1) != 0,
	};
	struct te_tensor *made[N_MADE];
	const struct expr **shape;
	struct iter_var *axes;
	bool heap;

	t.k = y->shape[t.axis];
	t.n = x->shape[t.axis];
	heap = (expr_is_int(t.k, &most) && most <= HEAP_MOST) ||
	       (c->graph->settings->hides_float_bits &&
		dtype_is_float(x->type));
	t.by_blocks = t.axis == t.rank - 1 &&
		      !c->graph->settings->by_elements &&
		      !c->graph->settings->by_threads &&
		      !(expr_is_int(t.n, &size) && size < LEAST_BLOCKS * BLOCK);
	if (expr_is_value(t.k, 0)) {
		return define_none(c, n, out);
	}
	shape = sort_shape(&t, y);
	t.s = steps_begin(c, names[0], "top_k", names,
			  (struct dtype[]){ x->type, dtype_of(DT_I64),
					    sort_key_type(x->type),
					    dtype_of(DT_U32) },
			  (int[]){ t.rank, t.rank, t.rank + 1, t.rank + 1 },
			  (const struct expr *const *[]){ y->shape, y->shape,
							  shape, shape },
			  heap ? SORT_KEYS : N_MADE, in, 1, made);
	axes = row_axes(c, &t, x);
	steps_end(&t.s, axes, t.rank - 1,
		  unless_none(&t, heap ? by_heap(&t) : by_sorting(&t)));
	for (int i = 0; i < n->n_outputs; i++) {
		out[i] = made[i];
	}
	return true;
}
