/* SPDX-License-Identifier: Apache-2.0 */
/* Loop-carried values: which loops carry a buffer's values from one iteration
 * to the next. An accumulator with a guarded init and unguarded updates is
 * loop-carried:
 *
 *	for i_k in range(18):
 *	    if i_k % 3 == 0:
 *	        acc[i_k // 3] = 0
 *	    acc[i_k // 3] = acc[i_k // 3] + x[i_k]
 *
 * Its allocation must be outside of the carrying loop. */
#include "carried.h"

struct carrying {
	struct func *func;
	/* the statement that allocates the buffer: only loops below it count */
	struct stmt *top;
	const struct access_list *uses;
};

/* Is the statement `at` in a given branch of the statement `guard`, or of an IF
 * with the same condition? The branch is the else branch if `otherwise` is set,
 * else the then branch. */
static bool
shares_guard(const struct stmt *at, const struct stmt *guard, bool otherwise)
{
	for (; at->parent; at = at->parent) {
		const struct stmt *s = at->parent;

		if (s->kind == STMT_IF && s->args[0] == guard->args[0] &&
		    (s->children[0] != at) == otherwise) {
			return true;
		}
	}
	return false;
}

/* Do the facts at the statement imply the guard's condition? */
static bool
implies_guard(struct func *f, const struct stmt *at, const struct stmt *guard)
{
	struct analyser a;

	analyser_at(&a, f->module, at);
	return prove(&a, guard->args[0]);
}

static bool
is_update(const struct carrying *c, const struct access *store)
{
	for (int i = 0; i < c->uses->list.n; i++) {
		const struct access *x = &c->uses->list.data[i];

		if (x->load && x->at == store->at) {
			return true;
		}
	}
	return false;
}

/* The first store that is not an update of the element that it stores to, and
 * so initializes the element; NULL if there is none. */
static const struct access *
first_init(const struct carrying *c)
{
	for (int i = 0; i < c->uses->list.n; i++) {
		const struct access *x = &c->uses->list.data[i];

		if (!x->load && !is_update(c, x)) {
			return x;
		}
	}
	return NULL;
}

/* Does e depend on v, directly or through LETs around `place`? */
static bool
depends(const struct expr *e, const struct var *v, const struct stmt *place)
{
	if (expr_uses_var(e, v)) {
		return true;
	}
	for (const struct stmt *s = place; s; s = s->parent) {
		if (s->kind == STMT_LET && expr_uses_var(e, s->u.var) &&
		    depends(s->args[0], v, s->parent)) {
			return true;
		}
	}
	return false;
}

/* Do different iterations of the loop access different elements? Recognizes
 * only the case that, in one dimension, the indices of all accesses are affine
 * in the loop variable. */
static bool
accesses_disjoint_elements(const struct carrying *c, const struct stmt *loop)
{
	struct var *v = loop->u.loop.var;
	const struct buffer *b = c->uses->list.data[0].buffer;

	for (int d = 0; d < b->ndim; d++) {
		bool apart = true;

		for (int i = 0; i < c->uses->list.n && apart; i++) {
			const struct access *x = &c->uses->list.data[i];
			const struct expr *rest;
			struct analyser a;
			int64_t coeff;

			analyser_at(&a, c->func->module, x->at);
			apart = analyse_affine(&a, x->index[d], &v, 1, &coeff,
					       &rest) &&
				coeff != 0;
		}
		if (apart) {
			return true;
		}
	}
	return false;
}

/* The outermost loop around the init on whose variable the init's guard depends
 * and whose iterations share elements; NULL if there is no such loop. Any WHILE
 * around the init counts, because a guard may depend on it. */
static struct stmt *
carrying_loop(const struct carrying *c, const struct stmt *start,
	      const struct stmt *guard)
{
	struct stmt *found = NULL;

	for (struct stmt *s = guard->parent; s && s != c->top; s = s->parent) {
		if (s->kind == STMT_WHILE && stmt_contains(s, start)) {
			found = s;
		}
		if (s->kind == STMT_FOR && stmt_contains(s, start) &&
		    depends(guard->args[0], s->u.loop.var, guard) &&
		    !accesses_disjoint_elements(c, s)) {
			found = s;
		}
	}
	return found;
}

struct stmt *
carried_scope(struct func *f, struct stmt *top, struct stmt *common,
	      const struct access_list *uses)
{
	struct carrying c = { f, top, uses };
	const struct access *start = first_init(&c);
	const struct stmt *child;

	if (!start) {
		return common;
	}
	child = start->at;
	for (const struct stmt *s = child->parent; s && s != top;
	     child = s, s = s->parent) {
		bool otherwise = s->kind == STMT_IF && s->children[0] != child;

		if (s->kind != STMT_IF) {
			continue;
		}
		for (int i = 0; i < uses->list.n; i++) {
			const struct access *x = &uses->list.data[i];
			struct stmt *loop;

			if (!x->load || shares_guard(x->at, s, otherwise) ||
			    (!otherwise && implies_guard(f, x->at, s))) {
				continue;
			}
			loop = carrying_loop(&c, start->at, s);
			if (loop && stmt_contains(loop, common)) {
				common = loop;
			}
			break;
		}
	}
	return common;
}
