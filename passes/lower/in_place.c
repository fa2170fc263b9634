/* SPDX-License-Identifier: Apache-2.0 */
/* In-place analysis: may an input and an output buffer alias?
 * lower_make_in_place makes the two buffers one.
 *
 * The two may alias if each element is stored once, and read only by the
 * statement that stores it.
 *
 * If that is not so, the outer loops are considered, which are the loops around
 * all accesses to both buffers. If the variables of these loops alone determine
 * the indices of some dimensions, in the same way at each access, then their
 * iterations access disjoint slices. Within one iteration every element of the
 * input must be read before it is overwritten: either in a statement before the
 * first store, or at the same index in the storing statement itself. */
#include "lower.h"

#include "access.h"
#include "iter_map.h"
#include "iterate.h"

static bool
same_shape(const struct buffer *a, const struct buffer *b)
{
	if (a->ndim != b->ndim || !dtype_equal(a->type, b->type) ||
	    a->strides || b->strides) {
		return false;
	}
	for (int d = 0; d < a->ndim; d++) {
		if (a->shape[d] != b->shape[d]) {
			return false;
		}
	}
	return true;
}

struct sharing {
	const struct func *func;
	struct access_list loads; /* the loads of the input */
	struct access_list uses;  /* the accesses of the output */
	/* the lowest statement that contains all these accesses */
	struct stmt *common;
	int ndim;
};

/* The value of the LET around `at` that binds v; NULL if no LET does. */
static const struct expr *
let_value(const struct stmt *at, const struct var *v)
{
	for (; at; at = at->parent) {
		if (at->kind == STMT_LET && at->u.var == v) {
			return at->args[0];
		}
	}
	return NULL;
}

struct uses_scan {
	const struct stmt *at;
	const struct var *wanted;
	bool found;
	/* the expression has a min, a max or a condition, so that it may map
	 * two values of the variable to one */
	bool not_injective;
};

static void
scan_injective(struct uses_scan *u, const struct expr *e)
{
	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		const struct expr *value;

		u->not_injective |= e->kind == EXPR_MIN ||
				    e->kind == EXPR_MAX || e->kind == EXPR_IF ||
				    e->kind == EXPR_SELECT;
		if (e->kind != EXPR_VAR || (u->found && u->not_injective)) {
			continue;
		}
		value = let_value(u->at, e->u.var);
		if (e->u.var == u->wanted) {
			u->found = true;
		} else if (value) {
			scan_injective(u, value);
		}
	}
}

/* Does e depend on v, directly or through LETs around `at`, without a min, a
 * max or a condition that could map two values of v to one value? */
static bool
is_injective_in(const struct stmt *at, const struct expr *e,
		const struct var *v)
{
	struct uses_scan u = { .at = at, .wanted = v };

	scan_injective(&u, e);
	return u.found && !u.not_injective;
}

static bool
is_outer_var(const struct sharing *s, const struct var *v)
{
	for (const struct stmt *p = s->common->parent; p; p = p->parent) {
		if (p->kind == STMT_FOR && p->u.loop.var == v) {
			return true;
		}
	}
	return false;
}

struct var_scan {
	const struct sharing *sharing;
	bool inner, load;
	int outer;
	/* the product of the extents of the outer variables that the index
	 * uses */
	int64_t combinations;
};

static void scan_vars(struct var_scan *c, const struct expr *e);

static void
scan_var(struct var_scan *c, const struct var *v)
{
	const struct expr *value = let_value(c->sharing->common, v);

	if (value) {
		scan_vars(c, value);
		return;
	}
	if (!is_outer_var(c->sharing, v)) {
		c->inner = true;
		return;
	}
	c->outer++;
	for (const struct stmt *p = c->sharing->common->parent; p;
	     p = p->parent) {
		int64_t n;

		if (p->kind == STMT_FOR && p->u.loop.var == v) {
			c->combinations = expr_is_int(p->args[1], &n) &&
							  c->combinations <
								  INT32_MAX
						  ? c->combinations * n
						  : INT64_MAX;
		}
	}
}

static void
scan_vars(struct var_scan *c, const struct expr *e)
{
	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		c->load |= e->kind == EXPR_LOAD;
		if (e->kind == EXPR_VAR) {
			scan_var(c, e->u.var);
		}
	}
}

/* Is the index of dimension d the same at every access, does it use only
 * variables of outer loops, and does each combination of these variables'
 * values give a different index? */
static bool
is_outer_dim(struct sharing *s, int d)
{
	const struct expr *index = s->uses.list.data[0].index[d];
	struct var_scan scan = { .sharing = s, .combinations = 1 };
	struct analyser a;
	struct bounds b;

	for (int i = 0; i < s->uses.list.n; i++) {
		if (s->uses.list.data[i].index[d] != index) {
			return false;
		}
	}
	for (int i = 0; i < s->loads.list.n; i++) {
		if (s->loads.list.data[i].index[d] != index) {
			return false;
		}
	}
	scan_vars(&scan, index);
	if (scan.inner || scan.load || scan.outer == 0) {
		return false;
	}
	if (index->kind == EXPR_VAR && !let_value(s->common, index->u.var)) {
		return true;
	}
	analyser_at(&a, s->func->module, s->common);
	b = analyse_bounds(&a, index);
	return b.min != BOUND_NEG_INF && b.max != BOUND_POS_INF &&
	       b.max - b.min + 1 == scan.combinations;
}

/* Do distinct iterations of the outer loops access disjoint slices? */
static bool
outer_disjoint(struct sharing *s)
{
	for (const struct stmt *p = s->common->parent; p; p = p->parent) {
		bool found = false;

		if (p->kind == STMT_WHILE) {
			return false;
		}
		if (p->kind != STMT_FOR || expr_is_value(p->args[1], 1)) {
			continue;
		}
		for (int d = 0; d < s->ndim && !found; d++) {
			found = is_injective_in(s->common,
						s->uses.list.data[0].index[d],
						p->u.loop.var) &&
				is_outer_dim(s, d);
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

struct expander {
	struct module *module;
	const struct stmt *at;
};

/* Replaces a variable that a LET binds by its value. */
static const struct expr *
expand_let(void *ctx, const struct expr *e)
{
	const struct expander *x = ctx;
	const struct expr *value = NULL;

	if (e->kind == EXPR_VAR) {
		value = let_value(x->at, e->u.var);
	}
	return value != NULL ? expr_rewrite(x->module, value, expand_let, ctx)
			     : NULL;
}

/* Does each iteration of the loops around the store store a different element?
 * Only the loops below `outside` count; outside NULL: all loops around the
 * store. */
static bool
stores_each_once(const struct func *f, const struct stmt *store,
		 const struct stmt *outside)
{
	struct module *m = f->module;
	VEC(struct iter_var) loops = { 0 };
	const struct expr **index;
	struct iter_map map;
	struct analyser a;
	struct arena tmp;
	bool once;

	index = arena_exprs(&m->arena, store->n_args);
	for (int i = 1; i < store->n_args; i++) {
		struct expander x = { m, store };

		index[i - 1] = expr_rewrite(m, store->args[i], expand_let, &x);
	}
	for (const struct stmt *p = store->parent; p != outside;
	     p = p->parent) {
		if (p->kind == STMT_WHILE) {
			return false;
		}
		if (p->kind == STMT_FOR) {
			struct iter_var loop = { p->u.loop.var, p->args[0],
						 p->args[1], ITER_SPATIAL };

			vec_push(&m->arena, &loops, loop);
		}
	}
	arena_init_within(&tmp, &m->arena);
	analyser_init_in(&a, m, &tmp);
	analyser_enter(&a, store);
	once = iter_map_detect(&a, loops.data, loops.n, NULL, index,
			       store->n_args - 1, ITER_MAP_BIJECTIVE, &map);
	arena_release(&tmp);
	return once;
}

static int
child_of(const struct sharing *s, const struct stmt *at)
{
	if (s->common->kind != STMT_SEQ || at == s->common) {
		return 0;
	}
	while (at->parent != s->common) {
		at = at->parent;
	}
	for (int i = 0;; i++) {
		if (s->common->children[i] == at) {
			return i;
		}
	}
}

/* Called for child number `child` of the common SEQ, which has the first store.
 * Is this store the child's only access of the output, is each load of the
 * input in this store and at its index, and does the store write each element
 * once? */
static bool
loads_in_store(struct sharing *s, const struct stmt *store, int child)
{
	for (int i = 0; i < s->uses.list.n; i++) {
		const struct access *x = &s->uses.list.data[i];

		if (child_of(s, x->at) == child && x->at != store) {
			return false;
		}
	}
	for (int i = 0; i < s->loads.list.n; i++) {
		const struct access *x = &s->loads.list.data[i];

		if (child_of(s, x->at) != child) {
			continue;
		}
		for (int d = 0; d < s->ndim; d++) {
			if (x->index[d] != store->args[d + 1]) {
				return false;
			}
		}
		if (x->at != store) {
			return false;
		}
	}
	return stores_each_once(s->func, store, s->common->parent);
}

/* Does x, a load of the input, read the element that the statement of x stores
 * into the output? A LET counts as the statement below it. */
static bool
loads_stored_element(const struct sharing *s, const struct access *x)
{
	const struct buffer *out = s->uses.list.data[0].buffer;
	const struct stmt *store = x->at;

	while (store->kind == STMT_LET) {
		store = store->children[0];
	}
	if (store->kind != STMT_STORE || store->u.buffer != out) {
		return false;
	}
	for (int d = 0; d < s->ndim; d++) {
		if (x->index[d] != store->args[d + 1]) {
			return false;
		}
	}
	return true;
}

/* Do two stores write disjoint boxes in one iteration of the loops around
 * top? */
static bool
stores_disjoint(struct sharing *s, const struct stmt *top,
		const struct access *x, const struct access *y)
{
	struct module *m = s->func->module;
	struct range *rx = arena_array(&m->arena, struct range, s->ndim + 1);
	struct range *ry = arena_array(&m->arena, struct range, s->ndim + 1);
	struct analyser a;

	access_cover(s->func, top, x, 1, rx);
	access_cover(s->func, top, y, 1, ry);
	analyser_at(&a, m, top);
	for (int d = 0; d < s->ndim; d++) {
		const struct expr *end_x = expr_add(m, rx[d].min, rx[d].extent);
		const struct expr *end_y = expr_add(m, ry[d].min, ry[d].extent);

		if (prove(&a, expr_le(m, end_x, ry[d].min)) ||
		    prove(&a, expr_le(m, end_y, rx[d].min))) {
			return true;
		}
	}
	return false;
}

/* Do the accesses in s->uses, all stores, store each element at most once in
 * one iteration of the loops around top? No store may write an element twice,
 * and no two stores may write the same element. */
static bool
elements_once(struct sharing *s, struct stmt *top)
{
	for (int i = 0; i < s->uses.list.n; i++) {
		const struct access *x = &s->uses.list.data[i];

		if (!stores_each_once(s->func, x->at, top->parent)) {
			return false;
		}
		for (int k = 0; k < i; k++) {
			if (!stores_disjoint(s, top, &s->uses.list.data[k],
					     x)) {
				return false;
			}
		}
	}
	return true;
}

/* Is each element read only by the statement that stores the element? Then all
 * stores together form one elementwise map. */
static bool
element_wise(struct sharing *s)
{
	for (int i = 0; i < s->loads.list.n; i++) {
		if (!loads_stored_element(s, &s->loads.list.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < s->uses.list.n; i++) {
		if (s->uses.list.data[i].load) {
			return false;
		}
	}
	return elements_once(s, s->func->body) ||
	       (elements_once(s, s->common) && outer_disjoint(s));
}

bool
lower_can_be_in_place(const struct func *f, const struct buffer *in,
		      const struct buffer *out)
{
	struct sharing s = { .func = f, .ndim = in->ndim };
	const struct stmt *store = NULL;
	bool loads_in_first_store = false;
	int child;

	if (in == out || !same_shape(in, out) || func_writes(f, in)) {
		return false;
	}
	access_collect(s.func, f->body, in, &s.loads);
	access_collect(s.func, f->body, out, &s.uses);
	for (int i = 0; i < s.uses.list.n && !store; i++) {
		store = s.uses.list.data[i].load ? NULL
						 : s.uses.list.data[i].at;
	}
	if (!store) {
		return false;
	}
	s.common = s.uses.list.data[0].at;
	for (int i = 0; i < s.uses.list.n; i++) {
		s.common = stmt_common(s.common, s.uses.list.data[i].at);
	}
	for (int i = 0; i < s.loads.list.n; i++) {
		s.common = stmt_common(s.common, s.loads.list.data[i].at);
	}
	if (element_wise(&s)) {
		return true;
	}
	child = child_of(&s, store);
	for (int i = 0; i < s.loads.list.n; i++) {
		int at = child_of(&s, s.loads.list.data[i].at);

		if (at > child) {
			return false;
		}
		loads_in_first_store |= at == child;
	}
	return outer_disjoint(&s) &&
	       (!loads_in_first_store || loads_in_store(&s, store, child));
}

bool
lower_stores_once(const struct func *f, const struct buffer *in,
		  const struct buffer *out)
{
	struct access_list uses = { 0 };

	if (!same_shape(in, out) || func_writes(f, in)) {
		return false;
	}
	access_collect(f, f->body, out, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		if (uses.list.data[i].load ||
		    !stores_each_once(f, uses.list.data[i].at, NULL)) {
			return false;
		}
	}
	return uses.list.n > 0;
}

/* The last store in f that stores an element of b to itself; NULL if there is
 * none, or if it is the only store in f. */
static struct stmt *
find_self_copy(struct func *f, const struct buffer *b)
{
	struct stmt_list stores = stmts_of(&f->module->arena, f->body,
					   STMT_STORE);
	struct stmt *found = NULL;

	for (int i = 0; i < stores.list.n; i++) {
		struct stmt *s = stores.list.data[i];
		bool own = s->u.buffer == b && s->args[0]->kind == EXPR_LOAD &&
			   s->args[0]->u.buffer == b;

		for (int d = 1; own && d < s->n_args; d++) {
			own = s->args[0]->args[d - 1] == s->args[d];
		}
		found = own ? s : found;
	}
	return stores.list.n > 1 ? found : NULL;
}

/* Removes stores of an element of b to itself; if f has no other store, the
 * last of them stays. */
static void
drop_self_copies(struct func *f, const struct buffer *b)
{
	struct stmt *own;

	while ((own = find_self_copy(f, b)) != NULL) {
		stmt_remove(f, own);
	}
}

void
lower_make_in_place(struct func *f, const struct buffer *in,
		    const struct buffer *out)
{
	int k = 0;

	stmt_replace_buffer(f, f->body, in, out);
	drop_self_copies(f, out);
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer != in) {
			f->params.data[k++] = f->params.data[i];
		}
	}
	f->params.n = k;
}
