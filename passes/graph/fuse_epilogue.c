/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogues: the smallest set of elementwise nodes that contains all readers of
 * a tensor and of the intermediate results, and has one result.
 *
 *	a = Conv (x, w)
 *	s = Sigmoid (a)      a, s are only read here:
 *	y = Mul (a, s)       { s, y } is an epilogue of a */
#include "fuse.h"

static bool
is_listed(struct node *const *list, int n, const struct node *node)
{
	for (int i = 0; i < n; i++) {
		if (list[i] == node) {
			return true;
		}
	}
	return false;
}

/* The first node, in topological order, among `best` (which may be NULL) and
 * those readers of t that are not in `list`. */
static struct node *
earlier_reader(const struct fusion *f, const struct tensor *t,
	       struct node *const *list, int n, struct node *best)
{
	for (int i = 0; i < t->uses.n; i++) {
		struct node *user = t->uses.data[i].node;

		if (!is_listed(list, n, user) &&
		    (!best || f->position[user->id] < f->position[best->id])) {
			best = user;
		}
	}
	return best;
}

/* Are all readers of t in the list? */
static bool
is_inside(const struct tensor *t, struct node *const *list, int n)
{
	if (t->is_output) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (!is_listed(list, n, t->uses.data[i].node)) {
			return false;
		}
	}
	return true;
}

/* Adds readers in topological order until only the result of the last added
 * node is read outside of the epilogue. */
int
fuse_epilogue(const struct fusion *f, const struct tensor *y,
	      struct node *nodes[FUSE_EPILOGUE_MAX])
{
	int n = 0;

	while (n < FUSE_EPILOGUE_MAX && !y->is_output) {
		struct node *next = earlier_reader(f, y, nodes, n, NULL);
		bool closed;

		for (int i = 0; i < n; i++) {
			next = earlier_reader(f, nodes[i]->outputs[0], nodes, n,
					      next);
		}
		if (!next || !fuse_may_follow(f, y, next)) {
			return 0;
		}
		nodes[n++] = next;
		closed = is_inside(y, nodes, n);
		for (int i = 0; i < n - 1; i++) {
			closed &= is_inside(nodes[i]->outputs[0], nodes, n);
		}
		if (closed) {
			return n;
		}
	}
	return 0;
}
