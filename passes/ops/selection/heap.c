/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that work on heaps of values with their positions. */
#include "heap.h"

struct heap_item
heap_item(const struct heap *h, const struct expr *p)
{
	struct module *m = h->s->m;

	h->at[h->axis] = p;
	return (struct heap_item){ te_at(m, h->values, h->at, h->rank),
				   te_at(m, h->positions, h->at, h->rank) };
}

struct stmt *
heap_put(const struct heap *h, const struct expr *p, struct heap_item item)
{
	struct func *f = h->s->f;
	struct stmt *list[2];

	h->at[h->axis] = p;
	list[0] = stmt_store(f, h->values->buffer, item.value, h->at, h->rank);
	list[1] = stmt_store(f, h->positions->buffer, item.position, h->at,
			     h->rank);
	return stmt_seq(f, list, 2);
}

static const struct expr *
is_less(const struct heap *h, const struct expr *a, const struct expr *b)
{
	return h->no_nan ? expr_lt(h->s->m, a, b) : step_is_less(h->s->m, a, b);
}

/* The condition that item a must be nearer to the heap's root than b. */
static const struct expr *
is_above(const struct heap *h, struct heap_item a, struct heap_item b)
{
	struct module *m = h->s->m;
	const struct expr *less = is_less(h, a.value, b.value);
	const struct expr *more = is_less(h, b.value, a.value);
	const struct expr *later = expr_lt(m, b.position, a.position);
	const struct expr *earlier = expr_lt(m, a.position, b.position);
	bool more_above = h->largest == h->first_root;
	const struct expr *above = more_above ? more : less;
	const struct expr *below = more_above ? less : more;

	const struct expr *equal = h->no_nan ? expr_eq(m, a.value, b.value)
					     : expr_not(m, below);

	return expr_or(m, above,
		       expr_and(m, equal, h->first_root ? earlier : later));
}

/* The body with the value of a counter as the index variable `name`. */
static struct stmt *
with_index(struct steps *s, struct var *name, const struct expr *counter,
	   struct stmt *body)
{
	return stmt_let(s->f, name, expr_cast(s->m, name->type, counter), body);
}

/* If the second child belongs above the first, it is chosen:
 *
 *	if right < size: if heap[right] is above heap[left]: child = right */
static struct stmt *
choose_child(const struct heap *h, const struct expr *size,
	     const struct buffer *child)
{
	struct steps *s = h->s;
	struct module *m = s->m;
	const struct expr *next = expr_add(m, step_get(s, child),
					   expr_int(m, child->type, 1));
	struct var *left = var_new(m, "left_child", h->index);
	struct var *right = var_new(m, "right_child", h->index);
	struct stmt *choose = step_set(s, child, next);

	choose = stmt_if(s->f,
			 is_above(h, heap_item(h, right->expr),
				  heap_item(h, left->expr)),
			 choose, NULL);
	choose = stmt_if(s->f,
			 expr_lt(m, right->expr, expr_cast(m, h->index, size)),
			 choose, NULL);
	choose = with_index(s, right, next, choose);
	return with_index(s, left, step_get(s, child), choose);
}

/* Moves an element down from the hole at the root: while one of the two
 * children belongs above the element, that child moves up.
 *
 *	hole = root
 *	child = 2 * root + 1
 *	while child < size:
 *		choose one of the two children
 *		if heap[child] is above the element:
 *			heap[hole] = heap[child]
 *			hole = child
 *			child = 2 * child + 1
 *		else:
 *			child = size
 *	heap[hole] = the element */
static struct stmt *
sift(const struct heap *h, const struct expr *root, const struct expr *size,
     struct heap_item with)
{
	struct steps *s = h->s;
	struct module *m = s->m;
	struct dtype t = dtype_of(DT_U32);
	const struct buffer *hole = step_local(s, "hole", t);
	const struct buffer *child = step_local(s, "child", t);
	const struct expr *one = expr_int(m, t, 1), *two = expr_int(m, t, 2);
	const struct expr *at = step_get(s, child),
			  *end = expr_cast(m, t, size);
	const struct expr *start = expr_cast(m, t, root);
	struct var *from = var_new(m, "chosen", h->index);
	struct var *to = var_new(m, "to", h->index);
	struct var *place = var_new(m, "place", h->index);
	struct stmt *move, *body;

	move = step_seq(s, 3, heap_put(h, to->expr, heap_item(h, from->expr)),
			step_set(s, hole, at),
			step_set(s, child,
				 expr_add(m, expr_mul(m, at, two), one)),
			NULL);
	move = with_index(s, to, step_get(s, hole), move);
	move = stmt_if(s->f, is_above(h, heap_item(h, from->expr), with), move,
		       step_set(s, child, end));
	move = with_index(s, from, at, move);
	move = step_seq(s, 2, choose_child(h, size, child), move, NULL, NULL);
	body = with_index(s, place, step_get(s, hole),
			  heap_put(h, place->expr, with));
	body = step_seq(s, 4, step_set(s, hole, start),
			step_set(s, child,
				 expr_add(m, expr_mul(m, start, two), one)),
			stmt_while(s->f, expr_lt(m, at, end), move), body);
	return step_alloc(s, hole, step_alloc(s, child, body));
}

struct stmt *
heap_replace(const struct heap *h, const struct expr *root,
	     const struct expr *size, struct heap_item with,
	     struct stmt *before)
{
	struct steps *s = h->s;
	struct var *value = var_new(s->m, "value", with.value->type);
	struct var *position = var_new(s->m, "position", with.position->type);
	struct stmt *body;

	body = sift(h, root, size,
		    (struct heap_item){ value->expr, position->expr });
	if (before) {
		body = step_seq(s, 2, before, body, NULL, NULL);
	}
	return stmt_let(s->f, value, with.value,
			stmt_let(s->f, position, with.position, body));
}
