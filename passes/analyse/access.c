/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the accesses of a buffer and the box that they cover, and moves the
 * accesses to another buffer. */
#include "access.h"

#include <assert.h>

#include "thread_loops.h"

struct collector {
	const struct func *func;
	const struct buffer *buffer;
	struct stmt *at;
	struct access_list *out;
};

/* Called for an argument that is the address of the element that `load` loads.
 * The load was visited before: its recorded access is changed to an access by
 * address. */
static void
mark(struct collector *c, const struct expr *load, bool fills)
{
	for (int i = c->out->list.n - 1; i >= 0; i--) {
		struct access *a = &c->out->list.data[i];

		if (a->at != c->at) {
			break;
		}
		if (a->load == load) {
			a->address = true;
			a->fills |= fills;
		}
	}
}

static void
collect_load(struct collector *c, const struct expr *e)
{
	if (e->kind == EXPR_LOAD && (!c->buffer || e->u.buffer == c->buffer)) {
		struct access a = {
			e->u.buffer, c->at, e, e->args, false, false
		};

		vec_push(&c->func->module->arena, &c->out->list, a);
	} else if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		mark(c, e->args[0], false);
	} else if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_COPY_BOX) {
		mark(c, e->args[0]->args[0], true);
	}
}

static void
collect_stmt(struct collector *c, struct stmt *s)
{
	struct tree_iter it = tree_each_arg(s);
	const struct expr *e;

	c->at = s;
	while ((e = tree_next(&it)) != NULL) {
		collect_load(c, e);
	}
	if (s->kind == STMT_STORE && (!c->buffer || s->u.buffer == c->buffer)) {
		struct access a = { s->u.buffer, s,     NULL,
				    s->args + 1, false, true };

		vec_push(&c->func->module->arena, &c->out->list, a);
	}
}

void
access_collect(const struct func *f, struct stmt *s,
	       const struct buffer *buffer, struct access_list *out)
{
	struct collector c = { f, buffer, NULL, out };

	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		collect_stmt(&c, s);
	}
}

struct access_list
accesses_of(const struct func *f, struct stmt *s, const struct buffer *buffer)
{
	struct access_list all = { 0 };

	access_collect(f, s, buffer, &all);
	return all;
}

bool
expr_has_effect(const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_CALL);
	     (e = expr_next(&it));) {
		found |= !intrin_is_pure(e->u.intrin);
	}
	return found;
}

static bool
same_index(const struct access *x, const struct access *y)
{
	for (int d = 0; d < x->buffer->ndim; d++) {
		if (x->index[d] != y->index[d]) {
			return false;
		}
	}
	return true;
}

bool
access_loads_others(const struct func *f, struct stmt *s,
		    const struct buffer *b)
{
	struct access_list all = accesses_of(f, s, b);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		bool stored = !x->load || x->address;

		for (int k = 0; k < all.list.n && !stored; k++) {
			const struct access *y = &all.list.data[k];

			stored = !y->load && same_index(x, y);
		}
		if (!stored) {
			return true;
		}
	}
	return false;
}

bool
part_is_apart(const struct func *f, struct stmt *within,
	      const struct stmt *block, struct stmt *part)
{
	struct access_list own = accesses_of(f, part, NULL);
	struct access_list all = accesses_of(f, within, NULL);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (stmt_contains(block, x->at)) {
			continue;
		}
		for (int k = 0; k < own.list.n; k++) {
			const struct access *y = &own.list.data[k];

			if (x->buffer == y->buffer &&
			    (access_writes(x) || access_writes(y))) {
				return false;
			}
		}
	}
	return true;
}

void
access_index_init(struct access_index *x, const struct func *f)
{
	struct arena *arena = &f->module->arena;
	struct access_list all = accesses_of(f, f->body, NULL);

	*x = (struct access_index){ 0 };
	pointer_map_init(&x->numbers, arena);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *one = &all.list.data[i];
		struct stmt_list none = { 0 }, *users;
		int number = pointer_map_get(&x->numbers, one->buffer, -1);

		if (number < 0) {
			number = x->users.n;
			pointer_map_put(&x->numbers, one->buffer, number);
			vec_push(arena, &x->users, none);
		}
		users = &x->users.data[number];
		if (users->list.n == 0 ||
		    users->list.data[users->list.n - 1] != one->at) {
			vec_push(arena, &users->list, one->at);
		}
	}
}

struct access_list
access_index_of(const struct access_index *x, const struct func *f,
		struct stmt *s, const struct buffer *buffer)
{
	int number = pointer_map_get(&x->numbers, buffer, -1);
	const struct stmt_list *users = number < 0 ? NULL
						   : &x->users.data[number];
	struct access_list all = { 0 };
	struct collector c = { f, buffer, NULL, &all };

	for (int i = 0; users && i < users->list.n; i++) {
		if (stmt_contains(s, users->list.data[i])) {
			collect_stmt(&c, users->list.data[i]);
		}
	}
	return all;
}

bool
access_writes(const struct access *x)
{
	const struct stmt *s = x->at;

	while (s && s->kind != STMT_BLOCK) {
		s = s->parent;
	}
	return !x->load || (x->address && s &&
			    regions_have(s->u.block->writes,
					 s->u.block->n_writes, x->buffer));
}

bool
access_any_address(const struct access_list *uses)
{
	for (int i = 0; i < uses->list.n; i++) {
		if (uses->list.data[i].address) {
			return true;
		}
	}
	return false;
}

int
stmt_depth(const struct stmt *s)
{
	int depth = 0;

	while ((s = s->parent)) {
		depth++;
	}
	return depth;
}

struct stmt *
stmt_common(struct stmt *a, struct stmt *b)
{
	int da = stmt_depth(a), db = stmt_depth(b);

	for (; da > db; da--) {
		a = a->parent;
	}
	for (; db > da; db--) {
		b = b->parent;
	}
	while (a != b) {
		a = a->parent;
		b = b->parent;
	}
	return a;
}

bool
stmt_contains(const struct stmt *outer, const struct stmt *inner)
{
	while (inner && inner != outer) {
		inner = inner->parent;
	}
	return inner != NULL;
}

static void
enter_one(struct analyser *a, const struct stmt *s, const struct stmt *child)
{
	switch (s->kind) {
	case STMT_FOR:
		analyser_bind(a, s->u.loop.var, s->args[0], s->args[1]);
		break;
	case STMT_LET:
		analyser_bind_value(a, s->u.var, s->args[0]);
		break;
	case STMT_IF:
		if (child == s->children[0]) {
			analyser_assume(a, s->args[0]);
		} else {
			analyser_assume(a, expr_not(a->module, s->args[0]));
		}
		break;
	case STMT_BLOCK:
		for (int i = 0; i < s->u.block->n_iters; i++) {
			analyser_bind_value(a, s->u.block->iters[i].var,
					    s->args[i + 1]);
		}
		analyser_assume(a, s->args[0]);
		break;
	default:
		break;
	}
}

void
analyser_enter(struct analyser *a, const struct stmt *s)
{
	const struct stmt *parent = s->parent;

	if (!parent) {
		return;
	}
	analyser_enter(a, parent);
	enter_one(a, parent, s);
}

void
analyser_at(struct analyser *a, struct module *m, const struct stmt *s)
{
	analyser_init(a, m);
	analyser_enter(a, s);
}

int64_t
loop_most_iterations(struct module *m, const struct stmt *loop)
{
	struct analyser a;

	analyser_at(&a, m, loop);
	return analyse_bounds(&a, loop->args[1]).max;
}

void
analyser_enter_scope(struct analyser *a, const struct stmt *s)
{
	const struct stmt *parent = s->parent;

	if (!parent) {
		return;
	}
	analyser_enter_scope(a, parent);
	if (parent->kind != STMT_BLOCK) {
		enter_one(a, parent, s);
		return;
	}
	for (int i = 0; i < parent->u.block->n_iters; i++) {
		const struct iter_var *it = &parent->u.block->iters[i];

		analyser_bind(a, it->var, it->min, it->extent);
	}
}

void
analyser_enter_domains(struct analyser *a, const struct stmt *block)
{
	struct module *m = a->module;

	analyser_enter(a, block);
	for (int i = 0; i < block->u.block->n_iters; i++) {
		const struct iter_var *it = &block->u.block->iters[i];
		const struct expr *value = block->args[i + 1];

		analyser_assume(a, expr_le(m, it->min, value));
		analyser_assume(a, expr_lt(m, value,
					   expr_add(m, it->min, it->extent)));
	}
}

struct iter_var *
loops_between(const struct func *f, const struct stmt *top,
	      const struct stmt *s, int *n)
{
	VEC(struct iter_var) found = { 0 };
	struct arena *arena = &f->module->arena;

	for (const struct stmt *p = s; p; p = p == top ? NULL : p->parent) {
		if (p->kind == STMT_FOR && p != s) {
			struct iter_var it = { p->u.loop.var, p->args[0],
					       p->args[1], ITER_SPATIAL };

			vec_push(arena, &found, it);
		}
	}
	for (int i = 0, j = found.n - 1; i < j; i++, j--) {
		struct iter_var t = found.data[i];

		found.data[i] = found.data[j];
		found.data[j] = t;
	}
	*n = found.n;
	return found.data;
}

/* -- moving to another buffer */

struct remap {
	struct func *func;
	const struct buffer *from, *to;
	const struct stmt *at;
	index_fn index;
	void *ctx;
};

static const struct expr *remap_expr(void *ctx, const struct expr *e);

static const struct expr *
remap_load(void *ctx, const struct expr *e)
{
	struct remap *r = ctx;
	struct module *m = r->func->module;
	const struct expr **old, **new;

	if (e->kind != EXPR_LOAD || e->u.buffer != r->from) {
		return NULL;
	}
	old = arena_exprs(&m->arena, e->n_args + 1);
	new = arena_exprs(&m->arena, r->to->ndim + 1);
	for (int d = 0; d < e->n_args; d++) {
		old[d] = remap_expr(r, e->args[d]);
	}
	r->index(r->ctx, r->at, old, new);
	return expr_load(m, r->to, new, r->to->ndim);
}

static const struct expr *
remap_expr(void *ctx, const struct expr *e)
{
	struct remap *r = ctx;

	return expr_uses_buffer(e, r->from)
		       ? expr_rewrite(r->func->module, e, remap_load, r)
		       : e;
}

static void
remap_stmt(struct remap *r, struct stmt *s)
{
	struct func *f = r->func;

	r->at = s;
	for (int i = 0; i < s->n_args; i++) {
		stmt_set_arg(f, s, i, remap_expr(r, s->args[i]));
	}
	if (s->kind == STMT_STORE && s->u.buffer == r->from) {
		const struct expr **args = arena_exprs(&f->module->arena,
						       r->to->ndim + 1);

		args[0] = s->args[0];
		r->index(r->ctx, s, s->args + 1, args + 1);
		stmt_set_args(f, s, args, r->to->ndim + 1);
		stmt_write(f, &s->u.buffer, &r->to, sizeof(r->to));
	} else if (s->kind == STMT_ALLOC && s->u.buffer == r->from) {
		stmt_write(f, &s->u.buffer, &r->to, sizeof(r->to));
	}
}

void
access_remap(struct func *f, struct stmt *s, const struct buffer *from,
	     const struct buffer *to, index_fn index, void *ctx)
{
	struct remap r = { f, from, to, NULL, index, ctx };

	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		remap_stmt(&r, s);
	}
}

void
uses_remap(struct func *f, struct stmt *alloc, const struct access_list *uses,
	   const struct buffer *to, index_fn index, void *ctx)
{
	struct remap r = { f, alloc->u.buffer, to, NULL, index, ctx };

	for (int i = 0; i < uses->list.n; i++) {
		remap_stmt(&r, uses->list.data[i].at);
	}
	remap_stmt(&r, alloc);
}

void
buffer_remap(struct func *f, struct stmt *s, const struct buffer *from,
	     const struct buffer *to, index_fn index, void *ctx)
{
	struct var *pointer = from->data;
	struct var_map pointers = { &pointer, &to->data->expr, 1 };

	access_remap(f, s, from, to, index, ctx);
	if (stmt_uses_var(s, pointer)) {
		stmt_substitute(f, s, &pointers); /* calls that get it */
	}
	for (int i = 0; i < f->params.n; i++) {
		struct param *p = &f->params.data[i];

		if (p->buffer == from) {
			struct param new = { .var = to->data,
					     .buffer = to,
					     .space = p->space };

			stmt_write(f, p, &new, sizeof new);
		}
	}
}

/* -- boxes */

/* The loops between top and the statement `at`; if of_block, also the thread
 * loops around top, because all threads of the thread block share the buffer.
 * *n: their number. */
static struct iter_var *
relaxed_loops(const struct func *f, const struct stmt *top,
	      const struct stmt *at, bool of_block, int *n)
{
	struct iter_var *inner = loops_between(f, top, at, n);
	VEC(struct iter_var) all = { 0 };

	for (const struct stmt *p = of_block ? top->parent : NULL; p;
	     p = p->parent) {
		int tag = tag_of(p);

		if (tag_is_thread(tag) || tag == TAG_VIRTUAL) {
			struct iter_var it = { p->u.loop.var, p->args[0],
					       p->args[1], ITER_SPATIAL };

			vec_push(&f->module->arena, &all, it);
		}
	}
	for (int i = 0; i < *n; i++) {
		vec_push(&f->module->arena, &all, inner[i]);
	}
	*n = all.n;
	return all.data;
}

/* Sets *min and *max to the bounds of the index of access x in dimension d over
 * all iterations of the loops between top and x; false if no bounds are
 * known. */
static bool
cover_one(const struct func *f, const struct stmt *top, const struct access *x,
	  int d, bool of_block, const struct expr **min,
	  const struct expr **max)
{
	struct module *m = f->module;
	struct analyser a;
	struct iter_var *relaxed;
	const struct expr *index = x->index[d];
	int n;

	/* Variables bound by blocks and LETs between top and the access are
	 * replaced by their values, innermost first. */
	for (const struct stmt *p = x->at; p; p = p->parent) {
		if (p->kind == STMT_BLOCK && p->u.block->n_iters > 0) {
			const struct block *b = p->u.block;
			struct var_map map = { .n = b->n_iters };

			map.from = arena_array(&m->arena, struct var *,
					       b->n_iters);
			map.to = arena_exprs(&m->arena, b->n_iters);
			for (int i = 0; i < b->n_iters; i++) {
				map.from[i] = b->iters[i].var;
				map.to[i] = p->args[i + 1];
			}
			index = expr_substitute(m, index, &map);
		} else if (p->kind == STMT_LET && p != x->at) {
			struct var *v = p->u.var;
			const struct expr *value = p->args[0];
			struct var_map map = { &v, &value, 1 };

			index = expr_substitute(m, index, &map);
		}
		if (p == top && !of_block) {
			break;
		}
	}
	if (expr_has_load(index) || index->type.lanes > 1) {
		return false; /* vectors keep the whole dimension */
	}
	analyser_init(&a, m);
	analyser_enter_scope(&a, top);
	relaxed = relaxed_loops(f, top, x->at, of_block, &n);
	index = simplify(&a, index);
	return analyse_cover(&a, index, relaxed, n, min, max) && *min && *max;
}

/* The smaller of x and y (smaller), or the larger; NULL if their order cannot
 * be proved. */
static const struct expr *
pick(struct analyser *a, const struct expr *x, const struct expr *y,
     bool smaller)
{
	if (x == y) {
		return x;
	}
	if (prove(a, expr_le(a->module, x, y))) {
		return smaller ? x : y;
	}
	if (prove(a, expr_le(a->module, y, x))) {
		return smaller ? y : x;
	}
	return NULL;
}

/* Does e use no loads, and no variables except symbolic sizes? */
static bool
is_size(const struct expr *e)
{
	bool inner = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		inner |= e->kind == EXPR_LOAD ||
			 (e->kind == EXPR_VAR && !e->u.var->is_dim);
	}
	return !inner;
}

static bool
cover_all(const struct func *f, const struct stmt *top,
	  const struct access *list, int n, int d, bool of_block,
	  struct range *out)
{
	struct module *m = f->module;
	const struct expr *min = NULL, *max = NULL, *extent;
	struct bounds bounds;
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter_scope(&a, top);
	for (int i = 0; i < n; i++) {
		const struct expr *lo, *hi;

		if (list[i].address ||
		    !cover_one(f, top, &list[i], d, of_block, &lo, &hi)) {
			return false;
		}
		min = min ? pick(&a, min, lo, true) : lo;
		max = max ? pick(&a, max, hi, false) : hi;
		if (!min || !max) {
			return false;
		}
	}
	extent = simplify(&a,
			  expr_add(m, expr_sub(m, max, min), expr_i32(m, 1)));
	out->min = simplify(&a, min);
	if (extent->kind != EXPR_INT && is_size(extent) &&
	    dtype_equal(extent->type, min->type)) {
		out->extent = extent;
		return true;
	}
	bounds = analyse_bounds(&a, extent);
	if (bounds.max == BOUND_POS_INF || bounds.max < 1) {
		return false;
	}
	out->extent = expr_int(m, min->type, bounds.max);
	return true;
}

void
access_cover(const struct func *f, const struct stmt *top,
	     const struct access *list, int n, struct range *ranges)
{
	const struct buffer *b;

	assert(n > 0);
	b = list[0].buffer;
	for (int d = 0; d < b->ndim; d++) {
		int64_t extent, full;
		bool known = cover_all(f, top, list, n, d, buffer_is_shared(b),
				       &ranges[d]);

		if (known && expr_is_int(ranges[d].extent, &extent) &&
		    expr_is_int(b->shape[d], &full) && extent >= full) {
			known = false;
		} else if (known && ranges[d].extent->kind != EXPR_INT) {
			struct analyser a;

			analyser_init(&a, f->module);
			known = !prove(&a, expr_le(f->module, b->shape[d],
						   ranges[d].extent));
		}
		if (!known) {
			ranges[d].min = expr_int(f->module, b->shape[d]->type,
						 0);
			ranges[d].extent = b->shape[d];
		}
	}
}

bool
access_box(const struct func *f, const struct stmt *top,
	   const struct access *list, int n, struct range *ranges)
{
	for (int d = 0; d < list[0].buffer->ndim; d++) {
		if (!cover_all(f, top, list, n, d, false, &ranges[d])) {
			return false;
		}
	}
	return true;
}

/* -- conditions */

void
expr_conjuncts(struct module *m, const struct expr *e, struct conjuncts *out)
{
	if (e->kind == EXPR_AND) {
		expr_conjuncts(m, e->args[0], out);
		expr_conjuncts(m, e->args[1], out);
	} else if (!expr_is_value(e, 1)) {
		vec_push(&m->arena, &out->list, e);
	}
}

const struct expr *
expr_conjunction(struct module *m, const struct expr *const *list, int n)
{
	const struct expr *e = NULL;

	for (int i = 0; i < n; i++) {
		e = e ? expr_and(m, e, list[i]) : list[i];
	}
	return e;
}

bool
expr_has_load(const struct expr *e)
{
	return expr_has(e, EXPR_LOAD);
}

int
access_own_operand(const struct stmt *store)
{
	const struct expr *e = store->args[0];

	for (int k = 0; k < 2 && e->n_args == 2; k++) {
		const struct expr *load = e->args[k];
		bool same = load->kind == EXPR_LOAD &&
			    load->u.buffer == store->u.buffer;

		for (int d = 0; same && d < load->n_args; d++) {
			same = load->args[d] == store->args[d + 1];
		}
		if (same) {
			return k;
		}
	}
	return -1;
}
