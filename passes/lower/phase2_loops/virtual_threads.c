/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual threads: one thread executes several virtual threads, interleaved
 * statement by statement, each with its own copy of private buffers.
 *
 *   for v in thread(2, "vthread.x"):     acc: [2]
 *       acc: []                          for v: acc[v] = 0
 *       acc = 0                          for k:
 *       for k:                               B_shared = B[k]
 *           B_shared = B[k]          ->      for v:
 *           acc += A[v, k] * B_shared            acc[v] += A[v, k] * B_shared
 *       C[v] = acc                       for v: C[v] = acc[v]
 *
 * Statements that do not depend on the virtual thread are executed once. If a
 * virtual thread may access elements that another virtual thread stores, the
 * virtual threads run one after the other, as a loop. All virtual threads reach
 * the barriers together. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "thread_loops.h"

struct virtual
{
	struct func *func;
	struct stmt *loop;
	/* variables whose values depend on the virtual thread */
	VEC(const struct var *) vars;
	/* buffers whose elements depend on the virtual thread */
	VEC(const struct buffer *) buffers;
	bool grown;
};

static bool
has_var(const struct virtual *v, const struct var *x)
{
	return vec_has(&v->vars, x);
}

static bool
has_buffer(const struct virtual *v, const struct buffer *b)
{
	return vec_has(&v->buffers, b);
}

static bool
depends(const struct virtual *v, const struct stmt *s)
{
	bool found = s->kind == STMT_STORE && has_buffer(v, s->u.buffer);
	struct tree_iter it = exprs_each(s->args, s->n_args);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		found |= (e->kind == EXPR_VAR && has_var(v, e->u.var)) ||
			 (e->kind == EXPR_LOAD && has_buffer(v, e->u.buffer));
	}
	return found;
}

/* Is s under a loop, condition or LET that depends on the virtual thread? */
static bool
under_dependence(const struct virtual *v, const struct stmt *s)
{
	for (; s != v->loop; s = s->parent) {
		if (depends(v, s)) {
			return true;
		}
	}
	return false;
}

static void
add_var(struct virtual *v, const struct var *x)
{
	if (!has_var(v, x)) {
		vec_push(&v->func->module->arena, &v->vars, x);
		v->grown = true;
	}
}

/* Is there an ALLOC of b between s and the loop over virtual threads, so that b
 * is private to a virtual thread? */
static bool
allocated_inside(const struct virtual *v, const struct stmt *s,
		 const struct buffer *b)
{
	for (; s != v->loop; s = s->parent) {
		if (s->kind == STMT_ALLOC && s->u.buffer == b) {
			return true;
		}
	}
	return false;
}

/* The buffers that a statement writes: the buffer of a STORE, and each buffer
 * whose address a call gets, unless the call only reads through it. */
struct targets {
	VEC(const struct buffer *) list;
};

static struct targets
targets_of(const struct virtual *v, const struct stmt *s)
{
	struct arena *arena = &v->func->module->arena;
	struct tree_iter it = exprs_each(s->args, s->n_args);
	struct targets out = { 0 };
	const struct expr *e;

	if (s->kind == STMT_STORE) {
		vec_push(arena, &out.list, s->u.buffer);
	}
	while ((e = tree_next(&it)) != NULL) {
		if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_ADDRESS_OF) {
			vec_push(arena, &out.list, e->args[0]->u.buffer);
		}
	}
	return out;
}

/* May the statement write different values in each virtual thread? A LET of an
 * address may, since calls below it may write through the address. */
static bool
writes_differ(const struct virtual *v, const struct stmt *s)
{
	return s->kind == STMT_LET || under_dependence(v, s);
}

static void
propagate_dependence(struct virtual *v, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		struct targets to = targets_of(v, s);

		if ((s->kind == STMT_FOR || s->kind == STMT_LET) &&
		    depends(v, s)) {
			add_var(v,
				s->kind == STMT_FOR ? s->u.loop.var : s->u.var);
		}
		for (int i = 0; i < to.list.n; i++) {
			const struct buffer *b = to.list.data[i];

			if (!has_buffer(v, b) && writes_differ(v, s) &&
			    allocated_inside(v, s, b)) {
				vec_push(&v->func->module->arena, &v->buffers,
					 b);
				v->grown = true;
			}
		}
	}
}

/* -- rewriting the body */

/* Wraps s in a loop over the virtual threads. */
static void
wrap(struct virtual *v, struct stmt *s)
{
	struct func *f = v->func;
	struct var *old = v->loop->u.loop.var;
	struct var *new = var_new(f->module, old->name, old->type);
	struct stmt_place place = stmt_place_of(s);
	struct var_map map = { &old, &new->expr, 1 };

	stmt_substitute(f, s, &map);
	stmt_put(f, place,
		 stmt_for(f, new, v->loop->args[0], v->loop->args[1],
			  FOR_UNROLLED, s));
}

struct copies {
	const struct expr *thread; /* the virtual thread's number, from 0 on */
	int ndim;
};

static void
copy_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const struct copies *c = ctx;

	(void)at;
	new[0] = c->thread;
	for (int d = 0; d < c->ndim; d++) {
		new[d + 1] = old[d];
	}
}

/* Adds a dimension to the buffer, so that each virtual thread has a copy. */
static void
expand(struct virtual *v, struct stmt *alloc)
{
	struct func *f = v->func;
	struct module *m = f->module;
	const struct buffer *b = alloc->u.buffer, *wide;
	const struct expr **shape = arena_exprs(&m->arena, b->ndim + 1);
	struct copies c = { expr_sub(m, v->loop->u.loop.var->expr,
				     v->loop->args[0]),
			    b->ndim };

	shape[0] = v->loop->args[1];
	for (int d = 0; d < b->ndim; d++) {
		shape[d + 1] = b->shape[d];
	}
	wide = buffer_with_shape(m, b, b->ndim + 1, shape);
	access_remap(f, alloc, b, wide, copy_index, &c);
	vec_push(&m->arena, &v->buffers, wide);
}

/* If s is a vectorized loop that depends on the virtual threads, wraps s as a
 * whole in a loop over the virtual threads, because s is one vector access.
 * False if s is any other statement or contains an ALLOC: then the children of
 * s are visited. */
static bool
inject_lanes(struct virtual *v, struct stmt *s)
{
	struct stmt_iter it = stmt_each(s);
	bool any = false, allocates;
	struct stmt *x;

	if (s->kind != STMT_FOR || s->u.loop.kind != FOR_VECTORIZED) {
		return false;
	}
	allocates = stmt_has(s, STMT_ALLOC);
	while ((x = stmt_next(&it)) != NULL) {
		any |= depends(v, x);
	}
	if (any && !allocates) {
		wrap(v, s);
	}
	return !allocates;
}

static void
inject(struct virtual *v, struct stmt *s)
{
	bool whole;

	if (inject_lanes(v, s)) {
		return;
	}

	switch (s->kind) {
	case STMT_SEQ:
		for (int i = 0; i < s->n_children; i++) {
			inject(v, s->children[i]);
		}
		return;
	case STMT_ALLOC:
		if (has_buffer(v, s->u.buffer)) {
			expand(v, s);
		}
		whole = false;
		break;
	default:
		whole = depends(v, s) || s->n_children == 0;
		break;
	}
	if (whole) {
		if (depends(v, s)) {
			wrap(v, s);
		}
		return;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			inject(v, s->children[i]);
		}
	}
}

/* -- conflicts between virtual threads */

/* Computes the interval of indices of an access in dimension d, over all
 * threads of the block, as factor * v + min to factor * v + max. */
static bool
strides(struct virtual *v, const struct access *x, int d, int64_t *factor,
	const struct expr **min, const struct expr **max)
{
	struct module *m = v->func->module;
	struct var *var = v->loop->u.loop.var;
	VEC(struct iter_var) relaxed = { 0 };
	const struct expr *other;
	struct iter_var *inner;
	struct analyser a;
	int n;

	analyser_at(&a, m, x->at);
	if (!analyse_affine(&a, x->index[d], &var, 1, factor, &other) ||
	    *factor == 0) {
		return false;
	}
	for (const struct stmt *p = v->loop->parent; p; p = p->parent) {
		if (tag_is_thread(tag_of(p))) {
			struct iter_var it = { p->u.loop.var, p->args[0],
					       p->args[1], ITER_SPATIAL };

			vec_push(&m->arena, &relaxed, it);
		}
	}
	inner = loops_between(v->func, v->loop->children[0], x->at, &n);
	for (int i = 0; i < n; i++) {
		vec_push(&m->arena, &relaxed, inner[i]);
	}
	return analyse_cover(&a, other, relaxed.data, relaxed.n, min, max) &&
	       *min && *max;
}

/* Are the accesses of different virtual threads disjoint in dimension d? */
static bool
is_disjoint(struct virtual *v, const struct access_list *uses, int d)
{
	struct module *m = v->func->module;
	const struct expr *base = NULL;
	int64_t first = 0, low = 0, high = 0;
	struct analyser a;

	analyser_at(&a, m, v->loop);
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];
		const struct expr *min, *max;
		struct bounds from, to;
		int64_t factor;

		if (x->address || !strides(v, x, d, &factor, &min, &max) ||
		    (i > 0 && factor != first)) {
			return false;
		}
		base = base ? base : min;
		first = factor;
		from = analyse_bounds(&a, simplify(&a, expr_sub(m, min, base)));
		to = analyse_bounds(&a, simplify(&a, expr_sub(m, max, base)));
		if (from.min < -INT32_MAX || to.max > INT32_MAX) {
			return false;
		}
		low = from.min < low ? from.min : low;
		high = to.max > high ? to.max : high;
	}
	return high - low < (first < 0 ? -first : first);
}

/* Can one virtual thread access elements of b that another virtual thread
 * writes? */
static bool
shares_elements(struct virtual *v, const struct buffer *b)
{
	struct access_list uses = { 0 };
	bool loads = false;

	access_collect(v->func, v->loop->children[0], b, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		loads |= uses.list.data[i].load != NULL;
	}
	for (int d = 0; loads && d < b->ndim; d++) {
		loads = !is_disjoint(v, &uses, d);
	}
	return loads;
}

/* Is there a shared buffer to which one virtual thread writes and which another
 * virtual thread may access? */
static bool
has_conflict(struct virtual *v, struct stmt *s)
{
	bool found = false;

	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		struct targets to = targets_of(v, s);

		for (int i = 0; i < to.list.n; i++) {
			const struct buffer *b = to.list.data[i];

			found |= !has_buffer(v, b) && writes_differ(v, s) &&
				 shares_elements(v, b);
		}
	}
	return found;
}

static void
expand_loop(struct func *f, struct stmt *loop)
{
	struct virtual v = { .func = f, .loop = loop };
	struct stmt *body = loop->children[0];
	int64_t n;

	if (!expr_is_int(loop->args[1], &n) || n < 1 ||
	    stmt_has(body, STMT_RETURN)) {
		stmt_set_loop_kind(f, loop, FOR_SERIAL, NULL);
		return;
	}
	vec_push(&f->module->arena, &v.vars, loop->u.loop.var);
	do {
		v.grown = false;
		propagate_dependence(&v, body);
	} while (v.grown);
	if (has_conflict(&v, body)) {
		stmt_set_loop_kind(f, loop, FOR_SERIAL, NULL);
		return;
	}
	inject(&v, body);
	stmt_replace(f, loop, loop->children[0]);
}

/* Inner loops first. */
static void
expand_below(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			int n = s->n_children;

			expand_below(f, s->children[i]);
			/* a SEQ was spliced in at this place: skip its
			 * statements */
			i += s->n_children - n;
		}
	}
	if (tag_of(s) == TAG_VIRTUAL) {
		expand_loop(f, s);
	}
}

bool
lower_vthread(struct func *f)
{
	if (f->body) {
		expand_below(f, f->body);
	}
	return true;
}
