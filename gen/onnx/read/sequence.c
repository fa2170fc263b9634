/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences as balanced trees: a longer or shorter sequence shares all but a
 * path of nodes with the one that it is made from. The trees are balanced by
 * weight: Y. Hirai, K. Yamamoto, "Balancing weight-balanced trees", Journal of
 * Functional Programming 21(3), 2011. */
#include "importer.h"

/* A node of a tree: an element of the sequence; the trees of the elements
 * before it and after it; and the number of elements in both trees, plus this
 * one. */
struct sequence_node {
	const struct sequence_node *before, *after;
	struct tensor *t;
	int n;
};

static int
size_of(const struct sequence_node *s)
{
	return s ? s->n : 0;
}

static const struct sequence_node *
join(struct importer *imp, const struct sequence_node *before, struct tensor *t,
     const struct sequence_node *after)
{
	struct sequence_node *s = arena_new(&imp->tmp, struct sequence_node);

	s->before = before;
	s->after = after;
	s->t = t;
	s->n = size_of(before) + 1 + size_of(after);
	return s;
}

/* Must a tree be balanced because its subtrees have too different sizes? n, m:
 * the numbers of elements of its larger and its smaller subtree; true if n is
 * more than about three times m. */
static bool
too_large(int n, int m)
{
	return n + 1 > 3 * (m + 1);
}

/* Does one rotation balance a tree? n, m: the numbers of elements in the inner
 * subtree (towards the smaller side) and in the outer subtree of its larger
 * subtree. If not, two rotations do. */
static bool
rotates_once(int n, int m)
{
	return n + 1 < 2 * (m + 1);
}

/* Joins the trees x and y, with the element t between them, to a balanced tree.
 * One of x and y has just gained or lost an element. */
static const struct sequence_node *
balance(struct importer *imp, const struct sequence_node *x, struct tensor *t,
	const struct sequence_node *y)
{
	const struct sequence_node *inner;

	if (too_large(size_of(y), size_of(x))) {
		inner = y->before;
		if (rotates_once(size_of(inner), size_of(y->after))) {
			return join(imp, join(imp, x, t, inner), y->t,
				    y->after);
		}
		return join(imp, join(imp, x, t, inner->before), inner->t,
			    join(imp, inner->after, y->t, y->after));
	}
	if (too_large(size_of(x), size_of(y))) {
		inner = x->after;
		if (rotates_once(size_of(inner), size_of(x->before))) {
			return join(imp, x->before, x->t,
				    join(imp, inner, t, y));
		}
		return join(imp, join(imp, x->before, x->t, inner->before),
			    inner->t, join(imp, inner->after, t, y));
	}
	return join(imp, x, t, y);
}

static const struct sequence_node *
insert(struct importer *imp, const struct sequence_node *s, int at,
       struct tensor *t)
{
	if (!s) {
		return join(imp, NULL, t, NULL);
	}
	if (at <= size_of(s->before)) {
		return balance(imp, insert(imp, s->before, at, t), s->t,
			       s->after);
	}
	return balance(imp, s->before, s->t,
		       insert(imp, s->after, at - size_of(s->before) - 1, t));
}

static struct tensor *
find(const struct sequence_node *s, int at)
{
	for (;;) {
		int before = size_of(s->before);

		if (at == before) {
			return s->t;
		}
		s = at < before ? s->before : s->after;
		at = at < before ? at : at - before - 1;
	}
}

static const struct sequence_node *
erase(struct importer *imp, const struct sequence_node *s, int at)
{
	int before = size_of(s->before);

	if (at < before) {
		return balance(imp, erase(imp, s->before, at), s->t, s->after);
	}
	if (at > before) {
		return balance(imp, s->before, s->t,
			       erase(imp, s->after, at - before - 1));
	}
	if (!s->before || !s->after) {
		return s->before ? s->before : s->after;
	}
	return balance(imp, s->before, find(s->after, 0),
		       erase(imp, s->after, 0));
}

static const struct sequence_node *
build(struct importer *imp, struct tensor *const *elems, int n)
{
	int half = n / 2;

	return n == 0 ? NULL
		      : join(imp, build(imp, elems, half), elems[half],
			     build(imp, elems + half + 1, n - half - 1));
}

struct sequence *
sequence_new(struct importer *imp, struct tensor *const *elems, int n)
{
	struct sequence *s = arena_new(&imp->tmp, struct sequence);

	s->n = n;
	s->root = build(imp, elems, n);
	return s;
}

const struct sequence *
sequence_insert(struct importer *imp, const struct sequence *s, int at,
		struct tensor *t)
{
	struct sequence *longer = arena_copy(&imp->tmp, s, sizeof *s);

	longer->n++;
	longer->root = insert(imp, s->root, at, t);
	return longer;
}

const struct sequence *
sequence_erase(struct importer *imp, const struct sequence *s, int at)
{
	struct sequence *shorter = arena_copy(&imp->tmp, s, sizeof *s);

	shorter->n--;
	shorter->root = erase(imp, s->root, at);
	return shorter;
}

struct tensor *
sequence_at(const struct sequence *s, int at)
{
	return find(s->root, at);
}

static void
flatten(const struct sequence_node *s, struct tensor **elems)
{
	if (s) {
		flatten(s->before, elems);
		elems[size_of(s->before)] = s->t;
		flatten(s->after, elems + size_of(s->before) + 1);
	}
}

struct tensor **
sequence_elems(struct importer *imp, const struct sequence *s)
{
	struct tensor **elems = arena_array(&imp->tmp, struct tensor *,
					    s->n + 1);

	flatten(s->root, elems);
	return elems;
}

const struct sequence *
sequence_find(const struct importer *imp, const struct tensor *t)
{
	int at = pointer_map_get(&imp->sequence_of, t, -1);

	return at < 0 ? NULL : imp->sequences.data[at];
}

void
sequence_set(struct importer *imp, const struct tensor *t,
	     const struct sequence *s)
{
	pointer_map_put(&imp->sequence_of, t, imp->sequences.n);
	vec_push(&imp->tmp, &imp->sequences, s);
}
