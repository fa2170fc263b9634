/* SPDX-License-Identifier: Apache-2.0 */
/* Loop-carried values: which loops carry a buffer's values from one iteration
 * to the next. A loop does if an iteration loads elements that it does not store
 * before:
 *
 *	for i in range(8):
 *	    row[i] = x[i]
 *	    y[i] = row[i] + row[7 - i]
 *
 * An accumulator with a guarded init and unguarded updates is
 * loop-carried:
 *
 *	for i_k in range(18):
 *	    if i_k % 3 == 0:
 *	        acc[i_k // 3] = 0
 *	    acc[i_k // 3] = acc[i_k // 3] + x[i_k]
 *
 * Its allocation must be outside of the carrying loop. */
#include "carried.h"

#include "scope.h"
#include "thread_loops.h"

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

/* Does e change while one iteration of the loop runs, at the statement `at` in it? */
static bool
changes_inside(const struct expr *e, const struct stmt *at,
	       const struct stmt *loop)
{
	for (const struct stmt *s = at; s != loop; s = s->parent) {
		if ((s->kind == STMT_FOR && expr_uses_var(e, s->u.loop.var)) ||
		    (s->kind == STMT_LET && expr_uses_var(e, s->u.var))) {
			return true;
		}
	}
	return expr_has(e, EXPR_LOAD);
}

/* The indices of accesses in one dimension, as far as they are seen: a multiple of a
 * loop's variable and the rest. */
struct steps {
	int64_t step;
	const struct expr *rest;
	bool same; /* all rests are `rest`, which does not change in the loop */
	int64_t low, high; /* the bounds of all rests */
};

static bool
add_step(const struct carrying *c, const struct stmt *loop, int d,
	 const struct access *x, struct steps *s)
{
	struct var *v = loop->u.loop.var;
	const struct expr *rest;
	struct bounds bounds;
	struct analyser a;
	int64_t coeff;

	analyser_at(&a, c->func->module, x->at);
	if (!analyse_affine(&a, x->index[d], &v, 1, &coeff, &rest) ||
	    coeff == 0 || (s->rest && coeff != s->step)) {
		return false;
	}
	bounds = analyse_bounds(&a, rest);
	s->same = (!s->rest || (s->same && s->rest == rest)) &&
		  !changes_inside(rest, x->at, loop);
	s->low = !s->rest || bounds.min < s->low ? bounds.min : s->low;
	s->high = !s->rest || bounds.max > s->high ? bounds.max : s->high;
	s->step = coeff;
	s->rest = rest;
	return true;
}

/* Do different iterations of the loop access different elements? Recognizes
 * only the case that, in one dimension, the indices of all accesses are the same
 * multiple of the loop's variable plus one term that does not change in the loop, or
 * plus terms that are less than the multiple apart. */
static bool
accesses_disjoint_elements(const struct carrying *c, const struct stmt *loop)
{
	const struct buffer *b = c->uses->list.data[0].buffer;

	for (int d = 0; d < b->ndim; d++) {
		struct steps s = { 0 };
		bool affine = true;
		int64_t width;

		for (int i = 0; i < c->uses->list.n && affine; i++) {
			affine = add_step(c, loop, d, &c->uses->list.data[i],
					  &s);
		}
		if (affine &&
		    (s.same ||
		     (s.low != BOUND_NEG_INF && s.high != BOUND_POS_INF &&
		      !__builtin_sub_overflow(s.high, s.low, &width) &&
		      width < (s.step < 0 ? -s.step : s.step)))) {
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

/* -- elements that an iteration does not store before it loads them */

/* Do the ranges of `outer` hold those of `inner`, as far as is known at the
 * statement? */
static bool
holds(const struct carrying *c, const struct stmt *at,
      const struct range *outer, const struct range *inner, int ndim)
{
	struct module *m = c->func->module;
	struct analyser a;
	bool all = true;

	analyser_at(&a, m, at);
	for (int d = 0; d < ndim && all; d++) {
		const struct expr *end[2] = {
			expr_add(m, inner[d].min, inner[d].extent),
			expr_add(m, outer[d].min, outer[d].extent),
		};

		all = prove(&a, expr_le(m, outer[d].min, inner[d].min)) &&
		      prove(&a, expr_le(m, end[0], end[1]));
	}
	return all;
}

/* Are the elements of the load within those that stores before it, in the same
 * iteration of the loop, store? Conditions around these stores do not count. */
static bool
stored_before(const struct carrying *c, const struct stmt *loop,
	      const struct access *load)
{
	struct arena *arena = &c->func->module->arena;
	const struct stmt *body = loop->children[0];
	int ndim = load->buffer->ndim;
	struct access_list stores = { 0 };
	struct range *stored = arena_array(arena, struct range, ndim + 1);
	struct range *loaded = arena_array(arena, struct range, ndim + 1);

	for (int i = 0; i < c->uses->list.n; i++) {
		const struct access *x = &c->uses->list.data[i];

		if (!x->load && x->at != load->at &&
		    stmt_before(c->func, x->at, load->at)) {
			vec_push(arena, &stores.list, *x);
		}
	}
	/* Where it is not known which elements are stored, none are for certain. */
	if (stores.list.n == 0 || !access_box(c->func, body, stores.list.data,
					      stores.list.n, stored)) {
		return false;
	}
	access_cover(c->func, body, load, 1, loaded);
	return holds(c, body, stored, loaded, ndim);
}

static bool
loads_carried(const struct carrying *c, const struct stmt *loop)
{
	if (loop->kind == STMT_FOR && accesses_disjoint_elements(c, loop)) {
		return false;
	}
	for (int i = 0; i < c->uses->list.n; i++) {
		const struct access *x = &c->uses->list.data[i];

		if (x->load && !stored_before(c, loop, x)) {
			return true;
		}
	}
	return false;
}

struct stmt *
uncovered_scope(struct func *f, struct stmt *top, struct stmt *common,
		const struct access_list *uses)
{
	struct carrying c = { f, top, uses };
	struct stmt *found = common;

	for (struct stmt *s = common; s != top && !access_any_address(uses);
	     s = s->parent) {
		bool repeats = s->kind == STMT_WHILE ||
			       (s->kind == STMT_FOR && tag_of(s) < 0);

		if (repeats && loads_carried(&c, s)) {
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
