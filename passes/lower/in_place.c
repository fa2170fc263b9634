/* SPDX-License-Identifier: Apache-2.0 */
/* May an input and an output be one pointer? And making them one.
 *
 * Around all uses of the two stand the outer loops. If these alone choose some
 * of the dimensions, the same way at every use, then their iterations touch
 * separate parts. Within one iteration every element of the input must be
 * read before its place is overwritten: in an earlier statement than the
 * first store, or at the same index in the statement that stores. */
#include "lower.h"

#include "access.h"

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
	struct func *func;
	struct access_list loads; /* of the input */
	struct access_list uses;  /* of the output */
	struct stmt *common;      /* of all */
	int ndim;
};

/* What a LET around at gives v; NULL: no LET's variable. */
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
	bool limits; /* an extreme or a condition: two values of a variable may
		      * give one */
};

static void
scan_use(void *ctx, const struct expr *e)
{
	struct uses_scan *u = ctx;
	const struct expr *value;

	u->limits |= e->kind == EXPR_MIN || e->kind == EXPR_MAX ||
		     e->kind == EXPR_IF || e->kind == EXPR_SELECT;
	if (e->kind != EXPR_VAR || (u->found && u->limits)) {
		return;
	}
	value = let_value(u->at, e->u.var);
	if (e->u.var == u->wanted) {
		u->found = true;
	} else if (value) {
		expr_visit(value, scan_use, u);
	}
}

/* Does e move with v, through LETs around at, and does no limit on the way make
 * two values of v one? */
static bool
moves_with(const struct stmt *at, const struct expr *e, const struct var *v)
{
	struct uses_scan u = { .at = at, .wanted = v };

	expr_visit(e, scan_use, &u);
	return u.found && !u.limits;
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
	int64_t points; /* product of the outer variables' extents */
};

static void
scan_var(void *ctx, const struct expr *e)
{
	struct var_scan *c = ctx;
	const struct expr *value;

	c->load |= e->kind == EXPR_LOAD;
	if (e->kind != EXPR_VAR) {
		return;
	}
	value = let_value(c->sharing->common, e->u.var);
	if (value) {
		expr_visit(value, scan_var, c);
		return;
	}
	if (!is_outer_var(c->sharing, e->u.var)) {
		c->inner = true;
		return;
	}
	c->outer++;
	for (const struct stmt *p = c->sharing->common->parent; p;
	     p = p->parent) {
		int64_t n;

		if (p->kind == STMT_FOR && p->u.loop.var == e->u.var) {
			c->points = expr_is_int(p->args[1], &n) &&
						    c->points < INT32_MAX
					    ? c->points * n
					    : INT64_MAX;
		}
	}
}

/* Does dimension d have the same index everywhere, made of outer loop
 * variables so that no two values of them meet? */
static bool
is_outer_dim(struct sharing *s, int d)
{
	const struct expr *index = s->uses.list.data[0].index[d];
	struct var_scan scan = { .sharing = s, .points = 1 };
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
	expr_visit(index, scan_var, &scan);
	if (scan.inner || scan.load || scan.outer == 0) {
		return false;
	}
	if (index->kind == EXPR_VAR && !let_value(s->common, index->u.var)) {
		return true;
	}
	analyser_init(&a, s->func->module);
	analyser_enter(&a, s->common);
	b = analyse_bounds(&a, index);
	return b.min != BOUND_NEG_INF && b.max != BOUND_POS_INF &&
	       b.max - b.min + 1 == scan.points;
}

/* Every outer loop moves through separate parts. */
static bool
outer_apart(struct sharing *s)
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
			found = moves_with(s->common,
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

/* Does every loop around the store, extent 1 aside, move the element that it
 * writes? Otherwise one element would be stored more than once. */
static bool
each_once(const struct stmt *store, const struct stmt *outside)
{
	for (const struct stmt *p = store->parent; p != outside;
	     p = p->parent) {
		bool used = false;

		if (p->kind == STMT_WHILE) {
			return false;
		}
		if (p->kind != STMT_FOR || expr_is_value(p->args[1], 1)) {
			continue;
		}
		for (int i = 1; i < store->n_args; i++) {
			used |= moves_with(store, store->args[i],
					   p->u.loop.var);
		}
		if (!used) {
			return false;
		}
	}
	return true;
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

/* The loads in the same child as the first store: all in that statement, at
 * its index, and it is the only store there. */
static bool
loads_with_store(struct sharing *s, const struct stmt *store, int child)
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
	return each_once(store, s->common->parent);
}

/* Does x read the element that its own statement stores into the output? */
static bool
loads_own(const struct sharing *s, const struct access *x)
{
	const struct buffer *out = s->uses.list.data[0].buffer;

	if (x->at->kind != STMT_STORE || x->at->u.buffer != out) {
		return false;
	}
	for (int d = 0; d < s->ndim; d++) {
		if (x->index[d] != x->at->args[d + 1]) {
			return false;
		}
	}
	return true;
}

/* Two stores reach no common element in one iteration of the outer loops. */
static bool
stores_apart(struct sharing *s, const struct access *x, const struct access *y)
{
	struct module *m = s->func->module;
	struct range *rx = arena_array(&m->arena, struct range, s->ndim + 1);
	struct range *ry = arena_array(&m->arena, struct range, s->ndim + 1);
	struct analyser a;

	access_cover(s->func, s->common, x, 1, rx);
	access_cover(s->func, s->common, y, 1, ry);
	analyser_init(&a, m);
	analyser_enter(&a, s->common);
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

/* Each element is read only where it is stored: parts of one element-wise
 * loop. */
static bool
element_wise(struct sharing *s)
{
	for (int i = 0; i < s->loads.list.n; i++) {
		if (!loads_own(s, &s->loads.list.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < s->uses.list.n; i++) {
		const struct access *x = &s->uses.list.data[i];

		if (x->load || !each_once(x->at, s->common->parent)) {
			return false;
		}
		for (int k = 0; k < i; k++) {
			if (!stores_apart(s, &s->uses.list.data[k], x)) {
				return false;
			}
		}
	}
	return s->common->kind == STMT_STORE ? each_once(s->common, NULL)
					     : outer_apart(s);
}

bool
lower_can_share(const struct func *f, const struct buffer *in,
		const struct buffer *out)
{
	struct sharing s = { .func = (struct func *)f, .ndim = in->ndim };
	const struct stmt *store = NULL;
	bool together = false;
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
		together |= at == child;
	}
	return outer_apart(&s) &&
	       (!together || loads_with_store(&s, store, child));
}

bool
lower_moves_on(const struct func *f, const struct buffer *in,
	       const struct buffer *out)
{
	struct access_list uses = { 0 };

	if (!same_shape(in, out) || func_writes(f, in)) {
		return false;
	}
	access_collect((struct func *)f, f->body, out, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		if (uses.list.data[i].load ||
		    !each_once(uses.list.data[i].at, NULL)) {
			return false;
		}
	}
	return uses.list.n > 0;
}

/* Stores of b, and those that store what is there already. */
struct own_stores {
	const struct buffer *buffer;
	struct stmt *own;
	int n;
};

static bool
find_own_store(void *ctx, struct stmt *s)
{
	struct own_stores *x = ctx;
	bool own;

	if (s->kind != STMT_STORE) {
		return true;
	}
	x->n++;
	own = s->u.buffer == x->buffer && s->args[0]->kind == EXPR_LOAD &&
	      s->args[0]->u.buffer == x->buffer;
	for (int d = 1; own && d < s->n_args; d++) {
		own = s->args[0]->args[d - 1] == s->args[d];
	}
	x->own = own ? s : x->own;
	return true;
}

/* Copies that have become none go, but for the last statement. */
static void
drop_own_stores(struct func *f, const struct buffer *b)
{
	struct own_stores x = { .buffer = b };

	stmt_visit(f->body, find_own_store, &x);
	while (x.own && x.n > 1) {
		stmt_remove(f, x.own);
		x = (struct own_stores){ .buffer = b };
		stmt_visit(f->body, find_own_store, &x);
	}
}

void
lower_share(struct func *f, const struct buffer *in, const struct buffer *out)
{
	int k = 0;

	stmt_replace_buffer(f, f->body, in, out);
	drop_own_stores(f, out);
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer != in) {
			f->params.data[k++] = f->params.data[i];
		}
	}
	f->params.n = k;
}
