/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the tail guard of a vector loop over a local array if the lanes
 * beyond the tail are harmless, so that vectors stay whole.
 *
 *   for oc_i in T.vectorized(16):          for oc_i in T.vectorized(16):
 *     if oc_o * 16 + oc_i < 1000:            acc[oc_i] = acc[oc_i] + x[k]
 *       acc[oc_i] = acc[oc_i] + x[k]   ->       * w[oc_o, k, oc_i]
 *          * w[oc_o, k, oc_i]              for oc_i in T.vectorized(16):
 *   for oc_i in T.vectorized(16):            if oc_o * 16 + oc_i < 1000:
 *     if oc_o * 16 + oc_i < 1000:              y[...] = acc[oc_i]
 *       y[...] = acc[oc_i]
 *
 * Every store to the array was under the guard's condition, so the program
 * never reads the elements beyond the tail. The lanes beyond the tail may load
 * only elements within the bounds of parameters, such as packed constants,
 * which are padded with zeros, or elements of another local array. If that
 * array is copied under a condition, its elements for which the condition fails
 * become zero:
 *
 *   for k, oc_i in T.grid(8, 16):          for k, oc_i in T.grid(8, 16):
 *     if oc_o * 16 + oc_i < n:               pack[k, oc_i] = T.if_then_else(
 *       pack[k, oc_i] = w[...]       ->        oc_o * 16 + oc_i < n, w[...], 0) */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "thread_loops.h"

/* A store to a local array under a tail guard of its vector lanes. */
struct lane_store {
	struct stmt *store, *guard;
	const struct expr *condition;
};

struct lanes {
	struct func *func;
	struct module *module;
	const struct stmt *alloc;
	VEC(struct lane_store) stores;
	/* stores to other local arrays under a guard; they become stores
	 * without the guard of a value that is zero where the guard fails */
	VEC(struct stmt *) padded;
};

static bool
is_loop(const struct stmt *s, enum for_kind kind)
{
	return s != NULL && s->kind == STMT_FOR && s->u.loop.kind == kind;
}

/* The lane loop of the guard: the loop directly around it if that is
 * vectorized; or, if the guard is in two nested unrolled loops (lanes, then
 * rows), the outer one of these. NULL if the guard is in no such loop. */
static const struct stmt *
lane_loop(const struct stmt *guard)
{
	const struct stmt *loop = guard->parent;

	if (is_loop(loop, FOR_UNROLLED) &&
	    is_loop(loop->parent, FOR_UNROLLED)) {
		return loop->parent;
	}
	return is_loop(loop, FOR_VECTORIZED) ? loop : NULL;
}

/* The only conjunct of the guard that depends on the lane loop; NULL if no
 * conjunct or several conjuncts depend on it, if the conjunct contains a load,
 * if it may guard a load or a division in a later conjunct, or if there is no
 * lane loop. */
static const struct expr *
lane_condition(struct module *m, const struct stmt *guard)
{
	const struct stmt *loop = lane_loop(guard);
	struct conjuncts all = { 0 };
	const struct expr *found = NULL;
	struct analyser a;

	if (loop == NULL) {
		return NULL;
	}
	analyser_at(&a, m, guard);
	expr_conjuncts(m, guard->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!expr_uses_var(all.list.data[i], loop->u.loop.var)) {
			if (found != NULL &&
			    !expr_is_total(&a, all.list.data[i])) {
				return NULL;
			}
			continue;
		}
		if (found != NULL || expr_has_load(all.list.data[i])) {
			return NULL;
		}
		found = all.list.data[i];
	}
	return found;
}

/* The store's condition, with the loop variables that index the element
 * replaced by the variables dims, one for each dimension, so that conditions of
 * several stores can be compared. NULL if the condition depends on other loop
 * variables. */
static const struct expr *
condition_on_index(struct lanes *l, const struct lane_store *s,
		   struct var *const *dims)
{
	const struct buffer *b = l->alloc->u.buffer;
	struct var **vars = arena_array(&l->module->arena, struct var *,
					b->ndim + 1);
	const struct expr **values = arena_exprs(&l->module->arena,
						 b->ndim + 1);
	struct var_map map = { vars, values, 0 };
	const struct expr *e;
	struct analyser a;

	analyser_at(&a, l->module, s->store);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = simplify(&a, s->store->args[1 + d]);

		if (i->kind == EXPR_VAR) {
			vars[map.n] = (struct var *)i->u.var;
			values[map.n++] = dims[d]->expr;
		}
	}
	e = expr_substitute(l->module, s->condition, &map);
	for (const struct stmt *p = s->guard; p != l->alloc; p = p->parent) {
		if ((p->kind == STMT_FOR && expr_uses_var(e, p->u.loop.var)) ||
		    (p->kind == STMT_LET && expr_uses_var(e, p->u.var))) {
			return NULL;
		}
	}
	return e;
}

/* Collects the stores to the array. True if all of them have the same condition
 * on the indices of the stored element. */
static bool
find_stores(struct lanes *l)
{
	const struct buffer *b = l->alloc->u.buffer;
	struct var **dims = arena_array(&l->module->arena, struct var *,
					b->ndim + 1);
	struct access_list uses = { 0 };
	const struct expr *same = NULL;

	for (int d = 0; d < b->ndim; d++) {
		dims[d] = var_new(l->module, "d", b->shape[d]->type);
	}
	access_collect(l->func, l->alloc->children[0], b, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		struct lane_store s = { .store = uses.list.data[i].at };
		const struct expr *e;

		if (uses.list.data[i].address) {
			return false;
		}
		if (uses.list.data[i].load != NULL) {
			continue;
		}
		s.guard = s.store->parent;
		if (s.guard == NULL || s.guard->kind != STMT_IF ||
		    s.guard->children[1] != NULL) {
			return false;
		}
		s.condition = lane_condition(l->module, s.guard);
		e = s.condition ? condition_on_index(l, &s, dims) : NULL;
		if (e == NULL || (same != NULL && e != same)) {
			return false;
		}
		same = e;
		vec_push(&l->module->arena, &l->stores, s);
	}
	return l->stores.n > 0;
}

/* -- are the loads in bounds even if the condition does not hold? */

/* Does e use a variable of the condition? */
static bool
varies_with(const struct expr *e, const struct expr *condition)
{
	bool any = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		any |= expr_uses_var(condition, e->u.var);
	}
	return any;
}

/* The ALLOC around s that allocates b; NULL if there is none. */
static const struct stmt *
alloc_around(const struct stmt *s, const struct buffer *b)
{
	while (s != NULL && (s->kind != STMT_ALLOC || s->u.buffer != b)) {
		s = s->parent;
	}
	return s;
}

/* Is the variable of the loop the index of dimension d of the stored buffer,
 * and does it take each index of that dimension once? */
static bool
loops_over(struct analyser *a, const struct stmt *loop,
	   const struct stmt *store, int d)
{
	return simplify(a, store->args[1 + d]) == loop->u.loop.var->expr &&
	       expr_is_value(loop->args[0], 0) &&
	       loop->args[1] == store->u.buffer->shape[d];
}

/* If the store had no guard, would it write each element of its buffer whenever
 * the body of `alloc` runs? */
static bool
writes_all(struct lanes *l, const struct stmt *store, const struct stmt *guard,
	   const struct stmt *alloc)
{
	int n_dims = 0;
	struct analyser a;

	analyser_at(&a, l->module, store);
	for (const struct stmt *s = store->parent; s != alloc; s = s->parent) {
		bool covers = false;
		int64_t extent;

		if (s == guard || s->kind == STMT_SEQ ||
		    s->kind == STMT_ALLOC || s->kind == STMT_LET) {
			continue;
		}
		if (s->kind != STMT_FOR || s->u.loop.kind == FOR_THREAD ||
		    !expr_is_int(s->args[1], &extent) || extent < 1) {
			return false;
		}
		for (int d = 0; d < store->u.buffer->ndim && !covers; d++) {
			covers = loops_over(&a, s, store, d);
		}
		n_dims += covers;
	}
	return n_dims == store->u.buffer->ndim;
}

/* The only store to b, a local array that `alloc` declares; NULL if there are
 * several stores, or if the address of an element is taken. */
static struct stmt *
only_store(struct lanes *l, const struct stmt *alloc, const struct buffer *b)
{
	struct access_list uses = accesses_of(l->func, alloc->children[0], b);
	struct stmt *store = NULL;

	for (int i = 0; i < uses.list.n; i++) {
		const struct access *use = &uses.list.data[i];

		if (use->address || (use->load == NULL && store != NULL)) {
			return NULL;
		}
		store = use->load == NULL ? use->at : store;
	}
	return store;
}

/* Can all elements of b, a local array that s reads, be given a value? If so,
 * adds to the list the store whose guard must be replaced by a choice between
 * the value and zero. */
static bool
can_pad(struct lanes *l, const struct stmt *s, const struct buffer *b)
{
	const struct stmt *alloc = alloc_around(s, b);
	struct stmt *store = alloc && !buffer_is_shared(b)
				     ? only_store(l, alloc, b)
				     : NULL;
	struct stmt *guard = store ? store->parent : NULL;
	struct analyser a;

	if (guard == NULL || guard->kind != STMT_IF) {
		return store && writes_all(l, store, NULL, alloc);
	}
	analyser_at(&a, l->module, guard);
	if (guard->children[1] != NULL || store->args[0]->type.lanes != 1 ||
	    expr_has_load(guard->args[0]) ||
	    !expr_is_total(&a, guard->args[0]) ||
	    !writes_all(l, store, guard, alloc)) {
		return false;
	}
	vec_push(&l->module->arena, &l->padded, store);
	return true;
}

/* Replaces the guard of a store to a local array: the store now writes zero
 * where the guard fails. */
static void
pad(struct lanes *l, struct stmt *store)
{
	struct module *m = l->module;
	struct stmt *guard = store->parent;

	if (guard->kind != STMT_IF) {
		/* already changed, because another load reads the same array */
		return;
	}
	stmt_set_arg(l->func, store, 0,
		     expr_if(m, guard->args[0], store->args[0],
			     expr_const(m, store->args[0]->type, 0)));
	stmt_replace(l->func, guard, store);
}

static bool
loads_in_bounds(struct lanes *l, const struct lane_store *s)
{
	struct module *m = l->module;
	const struct expr *e;
	struct analyser a;
	bool ok = true;

	analyser_at(&a, m, s->guard);
	for (struct expr_iter it = expr_each_of(s->store->args[0], EXPR_LOAD);
	     (e = expr_next(&it));) {
		const struct buffer *b = e->u.buffer;

		for (int d = 0; d < e->n_args; d++) {
			const struct expr *i = e->args[d];

			/* Elements of a local array beyond the tail may be
			 * uninitialized. */
			ok = ok &&
			     (!varies_with(i, s->condition) ||
			      b == l->alloc->u.buffer ||
			      (prove(&a,
				     expr_le(m, expr_int(m, i->type, 0), i)) &&
			       prove(&a, expr_lt(m, i, b->shape[d])) &&
			       (func_has_param(l->func, b) ||
				can_pad(l, s->store, b))));
		}
	}
	return ok;
}

static void
drop_guard(struct lanes *l, const struct lane_store *s)
{
	struct conjuncts all = { 0 };
	const struct expr *rest = NULL;

	expr_conjuncts(l->module, s->guard->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];

		if (c != s->condition) {
			rest = rest ? expr_and(l->module, rest, c) : c;
		}
	}
	if (rest != NULL) {
		stmt_set_arg(l->func, s->guard, 0, rest);
	} else {
		stmt_replace(l->func, s->guard, s->store);
	}
}

bool
lower_lanes(struct func *f)
{
	struct stmt_list allocs;

	if (!f->facts.has_vectors) {
		return true;
	}
	allocs = stmts_of(&f->module->arena, f->body, STMT_ALLOC);
	for (int i = 0; i < allocs.list.n; i++) {
		struct lanes l = { .func = f,
				   .module = f->module,
				   .alloc = allocs.list.data[i] };
		bool legal = !buffer_is_shared(l.alloc->u.buffer) &&
			     find_stores(&l);

		for (int k = 0; k < l.stores.n && legal; k++) {
			legal = loads_in_bounds(&l, &l.stores.data[k]);
		}
		for (int k = 0; k < l.padded.n && legal; k++) {
			pad(&l, l.padded.data[k]);
		}
		for (int k = 0; k < l.stores.n && legal; k++) {
			drop_guard(&l, &l.stores.data[k]);
		}
	}
	return true;
}
