/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the guard of a private accumulator's initialization if all its uses
 * are under the same guard.
 *
 *   if i < m:                               acc = 0
 *       acc = 0                             for k_o ...:
 *   for k_o ...:                      ->        if i < m:
 *       if i < m:                                   acc = acc + ...
 *           acc = acc + ...
 *
 * Only in device kernels: the guard excludes threads beyond the end, whose
 * other statements are guarded, too. Without the removed guard, control flow
 * around barriers stays uniform. */
#include "lower_passes.h"

#include "iterate.h"
#include "thread_loops.h"

struct guarded_init {
	struct stmt *store, *guard;
};

struct init_list {
	struct func *func;
	VEC(struct guarded_init) list;
};

static void
find_guarded_inits(struct init_list *x, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_IF);
	     (s = stmt_next(&it));) {
		struct stmt *child = s->children[0];

		if (child && !s->children[1] && child->kind == STMT_STORE &&
		    buffer_is_private(child->u.buffer) &&
		    !expr_has_load(s->args[0]) &&
		    !expr_has_load(child->args[0])) {
			struct guarded_init found = { child, s };

			vec_push(&x->func->module->arena, &x->list, found);
		}
	}
}

static bool
implies(struct module *m, const struct expr *all, const struct expr *wanted)
{
	struct conjuncts a = { 0 }, b = { 0 };

	expr_conjuncts(m, all, &a);
	expr_conjuncts(m, wanted, &b);
	for (int i = 0; i < b.list.n; i++) {
		bool found = false;

		for (int k = 0; k < a.list.n; k++) {
			found |= a.list.data[k] == b.list.data[i];
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

static const struct stmt *
alloc_of(const struct guarded_init *x)
{
	const struct stmt *s = x->guard;

	while (s &&
	       (s->kind != STMT_ALLOC || s->u.buffer != x->store->u.buffer)) {
		s = s->parent;
	}
	return s;
}

/* Is the condition the same in the whole live range of the buffer: does it use
 * no variable bound between the ALLOC and the guard? */
static bool
is_constant(const struct guarded_init *x, const struct stmt *alloc)
{
	for (const struct stmt *s = x->guard->parent; s != alloc;
	     s = s->parent) {
		if ((s->kind == STMT_FOR &&
		     expr_uses_var(x->guard->args[0], s->u.loop.var)) ||
		    (s->kind == STMT_LET &&
		     expr_uses_var(x->guard->args[0], s->u.var))) {
			return false;
		}
	}
	return true;
}

/* Can the store run although its guard fails: is its index always in range, and
 * does it contain no division that the guard protects? */
static bool
in_range(struct func *f, const struct guarded_init *x)
{
	struct module *m = f->module;
	const struct buffer *b = x->store->u.buffer;
	struct analyser a;

	analyser_at(&a, m, x->guard);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = x->store->args[1 + d];

		if (!expr_is_total(&a, i) ||
		    !prove(&a, expr_le(m, expr_int(m, i->type, 0), i)) ||
		    !prove(&a, expr_lt(m, i, b->shape[d]))) {
			return false;
		}
	}
	return expr_is_total(&a, x->store->args[0]);
}

/* Is every load of the buffer under the condition of x's store, or under a
 * stronger one? */
static bool
loads_are_guarded(struct func *f, const struct guarded_init *x,
		  const struct stmt *alloc)
{
	struct access_list uses = accesses_of(f, alloc->children[0],
					      x->store->u.buffer);

	for (int i = 0; i < uses.list.n; i++) {
		const struct stmt *child = uses.list.data[i].at;
		bool guarded = false;

		for (const struct stmt *s = child->parent; s != alloc;
		     child = s, s = s->parent) {
			guarded |= s->kind == STMT_IF &&
				   s->children[0] == child &&
				   implies(f->module, s->args[0],
					   x->guard->args[0]);
		}
		if (uses.list.data[i].load && !guarded) {
			return false;
		}
	}
	return true;
}

bool
lower_starts(struct func *f)
{
	struct init_list x = { .func = f };
	struct stmt_list kernels = threads_kernels(f);

	for (int i = 0; i < kernels.list.n; i++) {
		find_guarded_inits(&x, kernels.list.data[i]);
	}
	for (int i = 0; i < x.list.n; i++) {
		const struct guarded_init *s = &x.list.data[i];
		const struct stmt *alloc = alloc_of(s);

		if (alloc && is_constant(s, alloc) && in_range(f, s) &&
		    loads_are_guarded(f, s, alloc)) {
			stmt_replace(f, s->guard, s->store);
		}
	}
	return true;
}
