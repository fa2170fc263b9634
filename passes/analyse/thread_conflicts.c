/* SPDX-License-Identifier: Apache-2.0 */
/* Data races: can two threads access the same element? They cannot if the
 * element's index determines the thread, as in s[ty * 16 + tx], or if the two
 * ranges are disjoint. */
#include "thread_conflicts.h"

#include <string.h>

#include "access.h"
#include "iterate.h"

struct load_collector {
	struct conflict_kernel *kernel;
	struct stmt *at;
	struct thread_accesses *out;
	bool waits; /* the statement contains an async_wait */
	/* the index in the list of the first access that the current statement
	 * makes */
	int first;
};

static bool
is_written(const struct conflict_kernel *k, const struct buffer *b)
{
	return vec_has(&k->written, b);
}

static void
add(struct conflict_kernel *k, struct thread_accesses *out,
    struct thread_access t)
{
	if (buffer_is_shared(t.buffer) || is_written(k, t.buffer)) {
		vec_push(&k->func->module->arena, &out->list, t);
	}
}

int
address_dims(const struct stmt *at, const struct buffer *b)
{
	int64_t inner;

	for (const struct stmt *s = at; s; s = s->parent) {
		const struct expr *note =
			s->kind == STMT_ALLOC && s->u.buffer == b
				? stmt_note(s, ADDRESS_INNER_DIMS)
				: NULL;

		if (note && expr_is_int(note, &inner) && inner >= 0 &&
		    inner <= b->ndim) {
			return b->ndim - (int)inner;
		}
	}
	return 0;
}

static void
collect_load(struct load_collector *c, const struct expr *e)
{
	bool address = e->kind == EXPR_CALL && intrin_is_address(e->u.intrin);
	struct thread_access t = { .at = c->at };

	if (address) {
		/* Removes the access of the LOAD in an address argument, which
		 * was recorded just before: taking an address loads nothing. */
		if (c->out->list.n > c->first &&
		    c->out->list.data[c->out->list.n - 1].index ==
			    e->args[0]->args) {
			c->out->list.n--;
		}
		t.buffer = e->args[0]->u.buffer;
		t.index = e->args[0]->args;
		t.dims = c->waits ? 1 : address_dims(c->at, t.buffer);
		t.writes = e->u.intrin == INTRIN_ADDRESS_OF;
		t.arrives = c->waits;
	} else if (e->kind == EXPR_LOAD && !c->waits) {
		t.buffer = e->u.buffer;
		t.index = e->args;
		t.dims = e->n_args;
	} else {
		return;
	}
	add(c->kernel, c->out, t);
}

void
thread_access_collect(struct conflict_kernel *k, struct stmt *s,
		      struct thread_accesses *out)
{
	bool waits = s->kind == STMT_EVALUATE &&
		     s->args[0]->kind == EXPR_CALL &&
		     s->args[0]->u.intrin == INTRIN_ASYNC_WAIT;
	struct load_collector c = { k, s, out, waits, out->list.n };
	struct tree_iter it = tree_each_arg(s);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		collect_load(&c, e);
	}
	if (s->kind == STMT_STORE) {
		struct thread_access t = { .buffer = s->u.buffer,
					   .at = s,
					   .index = s->args + 1,
					   .dims = s->u.buffer->ndim,
					   .writes = true };

		add(k, out, t);
	}
}

static void
add_written(struct conflict_kernel *k, const struct buffer *b)
{
	if (!buffer_is_private(b) && !is_written(k, b)) {
		vec_push(&k->func->module->arena, &k->written, b);
	}
}

void
conflict_kernel_init(struct conflict_kernel *k, struct func *f,
		     struct stmt *kernel)
{
	struct stmt_iter it = stmt_each(kernel);
	const struct stmt *s;

	memset(k, 0, sizeof *k);
	k->func = f;
	threads_body(kernel, k->loops);
	while ((s = stmt_next(&it)) != NULL) {
		const struct expr *e;

		if (s->kind == STMT_STORE) {
			add_written(k, s->u.buffer);
		} else if (s->kind == STMT_EVALUATE) {
			for (struct expr_iter calls =
				     expr_each_of(s->args[0], EXPR_CALL);
			     (e = expr_next(&calls));) {
				if (e->u.intrin == INTRIN_ADDRESS_OF) {
					add_written(k, e->args[0]->u.buffer);
				}
			}
		}
	}
}

/* -- pairs of accesses -- */

/* The bound of e that condition c states: if `upper`, hi in "e < hi" and hi + 1
 * in "e <= hi"; else lo in "lo <= e" and lo + 1 in "lo < e". NULL if c states
 * no such bound. */
static const struct expr *
limit_of(struct module *m, const struct expr *c, const struct expr *e,
	 bool upper)
{
	bool greater = c->kind == EXPR_GE || c->kind == EXPR_GT;
	bool strict = c->kind == EXPR_LT || c->kind == EXPR_GT;
	const struct expr *limit;

	if ((!greater && c->kind != EXPR_LE && !strict) ||
	    c->args[upper == greater] != e) {
		return NULL;
	}
	limit = c->args[upper != greater];
	return strict == upper
		       ? limit
		       : expr_add(m, limit, expr_int(m, limit->type, 1));
}

/* For data-dependent indices: if conditions around the access state n * x <= e
 * < n * x + n, then x is e // n, so that threads with the same e have the same
 * x: returns x. Otherwise returns e. */
static const struct expr *
part_of_slice(struct conflict_kernel *k, const struct thread_access *t,
	      const struct expr *e)
{
	struct module *m = k->func->module;
	struct conjuncts all = { 0 };
	const struct stmt *inner = t->at;
	struct analyser a;

	for (const struct stmt *s = inner->parent; s;
	     inner = s, s = s->parent) {
		if (s->kind == STMT_IF && s->children[0] == inner) {
			expr_conjuncts(m, s->args[0], &all);
		}
	}
	analyser_init(&a, m);
	for (int i = 0; i < all.list.n * all.list.n; i++) {
		const struct expr *lo = limit_of(m,
						 all.list.data[i / all.list.n],
						 e, false);
		const struct expr *hi = limit_of(m,
						 all.list.data[i % all.list.n],
						 e, true),
				  *n;
		int64_t size;

		if (!lo || !hi || expr_has_load(lo) ||
		    !expr_is_int(simplify(&a, expr_sub(m, hi, lo)), &size) ||
		    size < 1) {
			continue;
		}
		if (lo->kind == EXPR_CAST && dtype_is_int(lo->args[0]->type) &&
		    dtype_bits(lo->args[0]->type) <= dtype_bits(lo->type)) {
			lo = lo->args[0];
		}
		n = expr_int(m, lo->type, size);
		if (expr_is_value(simplify(&a, expr_floormod(m, lo, n)), 0)) {
			return simplify(&a, expr_floordiv(m, lo, n));
		}
	}
	return e;
}

/* The index with variables of LETs replaced by their values. */
static const struct expr *
plain_index(struct conflict_kernel *k, const struct thread_access *t, int d)
{
	const struct expr *e = k->same_element
				       ? part_of_slice(k, t, t->index[d])
				       : t->index[d];

	for (const struct stmt *s = t->at->parent; s; s = s->parent) {
		if (s->kind == STMT_LET) {
			struct var *v = s->u.var;
			const struct expr *value = s->args[0];
			struct var_map map = { &v, &value, 1 };

			e = expr_substitute(k->func->module, e, &map);
		}
	}
	return e;
}

struct renaming {
	struct module *module;
	VEC(struct var *) from;
	VEC(const struct expr *) to;
};

static const struct expr *
renamed(struct renaming *r, const struct expr *e)
{
	struct var_map map = { r->from.data, r->to.data, r->from.n };

	return r->from.n > 0 ? expr_substitute(r->module, e, &map) : e;
}

static void
rename_var(struct renaming *r, struct var *v, struct var *other)
{
	vec_push(&r->module->arena, &r->from, v);
	vec_push(&r->module->arena, &r->to, other->expr);
}

/* Enters the context of the second access: another thread, and other iterations
 * of the loops inside scope. */
static void
enter_other(struct conflict_kernel *k, struct analyser *a, struct renaming *r,
	    const struct stmt *s, const struct stmt *child,
	    const struct stmt *scope)
{
	bool inside;

	if (!s) {
		return;
	}
	enter_other(k, a, r, s->parent, s, scope);
	inside = s->kind == STMT_FOR && stmt_contains(scope, s);
	if (s->kind == STMT_FOR && (inside || tag_is_thread(tag_of(s)))) {
		struct var *other = var_new(k->func->module,
					    s->u.loop.var->name,
					    s->u.loop.var->type);

		analyser_bind(a, other, renamed(r, s->args[0]),
			      renamed(r, s->args[1]));
		rename_var(r, s->u.loop.var, other);
	} else if (s->kind == STMT_IF && !expr_has_load(s->args[0])) {
		const struct expr *c = renamed(r, s->args[0]);

		analyser_assume(a, child == s->children[0]
					   ? c
					   : expr_not(k->func->module, c));
	}
}

/* Two accesses of one buffer, x before y; scope as for accesses_conflict. */
struct access_pair {
	struct conflict_kernel *kernel;
	const struct thread_access *x, *y;
	const struct stmt *scope;
};

/* Bounds of ex - ey, with ex evaluated at access x and ey at access y:
 * variables of loops inside of the scope and thread indices may differ between
 * x and y, all other variables are equal. */
static struct bounds
difference(const struct access_pair *p, const struct expr *ex,
	   const struct expr *ey)
{
	struct module *m = p->kernel->func->module;
	struct renaming r = { .module = m };
	struct analyser a;

	analyser_at(&a, m, p->x->at);
	enter_other(p->kernel, &a, &r, p->y->at->parent, p->y->at, p->scope);
	return analyse_bounds(&a,
			      simplify(&a, expr_sub(m, ex, renamed(&r, ey))));
}

/* -- does the same thread make both accesses? */

struct digits {
	struct var *vars[3];
	/* by variable: the largest difference of two values of the variable; -1
	 * if it is not known */
	int64_t span[3];
	int n;
};

static void
thread_digits(struct conflict_kernel *k, struct digits *g)
{
	struct analyser a;

	g->n = 0;
	analyser_init(&a, k->func->module);
	for (int tag = TAG_THREAD_Z; tag <= TAG_THREAD_X; tag++) {
		struct bounds b;

		if (!k->loops[tag] ||
		    expr_is_value(k->loops[tag]->args[1], 1)) {
			continue;
		}
		b = analyse_bounds(&a, k->loops[tag]->args[1]);
		g->vars[g->n] = k->loops[tag]->u.loop.var;
		g->span[g->n++] = b.max == BOUND_POS_INF || b.max > INT32_MAX
					  ? -1
					  : b.max - 1;
	}
}

/* Decomposes a value at the access t into sum coeff[i] * vars[i] + rest over
 * the thread variables of g, where rest does not use these variables. False if
 * the value does not have this form, or if rest contains a load. */
static bool
decompose(struct conflict_kernel *k, const struct digits *g,
	  const struct thread_access *t, const struct expr *value,
	  int64_t *coeff, const struct expr **rest)
{
	struct analyser a;

	analyser_at(&a, k->func->module, t->at);
	if (!analyse_affine(&a, simplify(&a, value), g->vars, g->n, coeff,
			    rest) ||
	    expr_has_load(*rest)) {
		return false;
	}
	for (int i = 0; i < g->n; i++) {
		if (expr_uses_var(*rest, g->vars[i])) {
			return false;
		}
	}
	return true;
}

static int64_t
magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* If the value ex at access p->x equals the value ey at access p->y, some
 * thread variables must have equal values in both threads: sets resolved[i] for
 * these variables. Terms that occur in both values, such as the index of the
 * thread block, cancel. */
static void
resolve(const struct access_pair *p, const struct digits *g,
	const struct expr *ex, const struct expr *ey, bool *resolved)
{
	struct conflict_kernel *k = p->kernel;
	int64_t cx[3] = { 0 }, cy[3] = { 0 }, slack;
	const struct expr *rx, *ry;
	struct bounds b;
	bool left[3];

	if (!dtype_equal(ex->type, ey->type) ||
	    !decompose(k, g, p->x, ex, cx, &rx) ||
	    !decompose(k, g, p->y, ey, cy, &ry)) {
		return;
	}
	b = difference(p, rx, ry);
	if (b.min <= INT32_MIN || b.max >= INT32_MAX) {
		return;
	}
	for (int i = 0; i < g->n; i++) {
		if (cx[i] != cy[i] || magnitude(cx[i]) > INT32_MAX) {
			return;
		}
		left[i] = cx[i] != 0 && !resolved[i];
	}
	slack = magnitude(b.min) > magnitude(b.max) ? magnitude(b.min)
						    : magnitude(b.max);
	for (;;) {
		int64_t others = slack;
		int most = -1;

		for (int i = 0; i < g->n; i++) {
			if (left[i] &&
			    (most < 0 ||
			     magnitude(cx[i]) > magnitude(cx[most]))) {
				most = i;
			}
		}
		if (most < 0) {
			return;
		}
		for (int i = 0; i < g->n; i++) {
			if (left[i] && i != most) {
				if (g->span[i] < 0) {
					return;
				}
				others += magnitude(cx[i]) * g->span[i];
			}
		}
		if (magnitude(cx[most]) <= others) {
			return;
		}
		resolved[most] = true;
		left[most] = false;
	}
}

static int
known_dims(const struct thread_access *x, const struct thread_access *y)
{
	return x->dims < y->dims ? x->dims : y->dims;
}

/* Is e equal to x // below mod base? Without the modulo if base is 0. */
static bool
is_digit(struct analyser *a, const struct expr *e, const struct expr *x,
	 int64_t below, int64_t base)
{
	struct module *m = a->module;
	const struct expr *digit = x;

	if (below > 1) {
		digit = expr_floordiv(m, digit, expr_int(m, x->type, below));
	}
	if (base > 0) {
		digit = expr_floormod(m, digit, expr_int(m, x->type, base));
	}
	return simplify(a, e) == simplify(a, digit);
}

/* Do both accesses use all digits of v as indices: v mod a, v // a mod b and so
 * on up to v // c, with c the product of the smaller extents? */
static bool
use_all_digits(struct conflict_kernel *k, const struct thread_access *x,
	       const struct thread_access *y, const struct expr *v)
{
	int ndim = known_dims(x, y);
	int64_t below = 1;
	bool more = true;
	struct analyser a;

	analyser_at(&a, k->func->module, x->at);
	while (more) {
		more = false;
		for (int d = 0; d < ndim; d++) {
			const struct expr *e = plain_index(k, x, d);
			int64_t base;

			if (e != plain_index(k, y, d)) {
				continue;
			}
			if (below > 1 && is_digit(&a, e, v, below, 0)) {
				return true;
			}
			if (e->kind == EXPR_FLOORMOD &&
			    expr_is_int(e->args[1], &base) && base > 1 &&
			    base < INT32_MAX / below &&
			    is_digit(&a, e, v, below, base)) {
				below *= base;
				more = true;
			}
		}
	}
	return false;
}

/* Do the conditions around the access allow only one value of the thread index
 * v? If so, sets *value to it. */
static bool
only_value(struct conflict_kernel *k, const struct thread_access *t,
	   const struct var *v, int64_t *value)
{
	struct analyser a;
	struct bounds b;

	analyser_at(&a, k->func->module, t->at);
	b = analyse_bounds(&a, v->expr);
	*value = b.min;
	return b.min == b.max;
}

/* The global thread index bx * threads + tx; NULL unless both loops exist. */
static const struct expr *
number_in_grid(const struct conflict_kernel *k)
{
	struct module *m = k->func->module;
	const struct stmt *block = k->loops[TAG_BLOCK_X];
	const struct stmt *thread = k->loops[TAG_THREAD_X];

	if (block == NULL || thread == NULL) {
		return NULL;
	}
	return expr_add(m,
			expr_mul(m, block->u.loop.var->expr, thread->args[1]),
			thread->u.loop.var->expr);
}

/* Resolves digits of a fused and re-split index: (bx * 32 + tx) // 10 and (bx *
 * 32 + tx) mod 10. */
static void
resolve_fused(const struct access_pair *p, const struct digits *g,
	      bool *resolved)
{
	struct conflict_kernel *k = p->kernel;
	const struct expr *e;

	for (int d = 0; d < known_dims(p->x, p->y); d++) {
		e = plain_index(k, p->x, d);
		if (e == plain_index(k, p->y, d) &&
		    (e->kind == EXPR_FLOORMOD || e->kind == EXPR_FLOORDIV) &&
		    use_all_digits(k, p->x, p->y, e->args[0])) {
			resolve(p, g, e->args[0], e->args[0], resolved);
		}
	}
	e = number_in_grid(k);
	if (e != NULL && use_all_digits(k, p->x, p->y, e)) {
		resolve(p, g, e, e, resolved);
	}
}

static bool
same_thread(const struct access_pair *p)
{
	struct conflict_kernel *k = p->kernel;
	struct digits g;
	bool resolved[3] = { false, false, false };

	thread_digits(k, &g);
	for (int i = 0; i < g.n; i++) {
		int64_t one, other;

		resolved[i] = (only_value(k, p->x, g.vars[i], &one) &&
			       only_value(k, p->y, g.vars[i], &other) &&
			       one == other) ||
			      use_all_digits(k, p->x, p->y, g.vars[i]->expr);
	}
	/* A digit that one dimension of the accesses resolves may help to
	 * resolve further digits by another dimension. */
	for (int round = 0; round < g.n; round++) {
		for (int d = 0; d < known_dims(p->x, p->y); d++) {
			resolve(p, &g, plain_index(k, p->x, d),
				plain_index(k, p->y, d), resolved);
		}
		resolve_fused(p, &g, resolved);
	}
	for (int i = 0; i < g.n; i++) {
		if (!resolved[i]) {
			return false;
		}
	}
	return true;
}

/* -- are the accessed elements different? */

/* Are x mod c and y mod c different, because x - y is not a multiple of c? */
static bool
differ_modulo(struct analyser *a, const struct expr *x, const struct expr *y)
{
	struct module *m = a->module;
	int64_t c, d;

	return x->kind == EXPR_FLOORMOD && y->kind == EXPR_FLOORMOD &&
	       x->args[1] == y->args[1] && expr_is_int(x->args[1], &c) &&
	       c > 0 &&
	       expr_is_int(simplify(a, expr_sub(m, x->args[0], y->args[0])),
			   &d) &&
	       d % c != 0;
}

static bool
disjoint(const struct access_pair *p)
{
	struct conflict_kernel *k = p->kernel;
	struct module *m = k->func->module;
	struct renaming r = { .module = m };
	struct analyser a;

	analyser_at(&a, m, p->x->at);
	enter_other(k, &a, &r, p->y->at->parent, p->y->at, p->scope);
	for (int d = 0; d < known_dims(p->x, p->y); d++) {
		const struct expr *ex = simplify(&a, plain_index(k, p->x, d));
		const struct expr *ey =
			simplify(&a, renamed(&r, plain_index(k, p->y, d)));
		struct bounds b;

		if (expr_has_load(ex) || expr_has_load(ey) ||
		    !dtype_equal(ex->type, ey->type)) {
			continue;
		}
		b = analyse_bounds(&a, simplify(&a, expr_sub(m, ex, ey)));
		if (b.min > 0 || b.max < 0 || differ_modulo(&a, ex, ey)) {
			return true;
		}
	}
	return false;
}

/* Are x and y accesses of one statement, with the same index? */
static bool
is_same_element(const struct thread_access *x, const struct thread_access *y)
{
	bool same = x->at == y->at && known_dims(x, y) == x->buffer->ndim;

	for (int d = 0; same && d < x->buffer->ndim; d++) {
		same = x->index[d] == y->index[d];
	}
	return same;
}

enum conflict
accesses_conflict(struct conflict_kernel *k, const struct thread_accesses *a,
		  const struct thread_accesses *b, const struct stmt *scope)
{
	enum conflict worst = CONFLICT_NONE;

	for (int i = 0; i < a->list.n; i++) {
		for (int j = 0; j < b->list.n; j++) {
			const struct thread_access *x = &a->list.data[i];
			const struct thread_access *y = &b->list.data[j];
			const struct access_pair p = { k, x, y, scope };
			enum conflict kind = buffer_is_shared(x->buffer)
						     ? CONFLICT_SHARED
						     : CONFLICT_GLOBAL;

			/* Two executions of the same store, at the same index,
			 * conflict only if the element is loaded in between; if
			 * it is not loaded, the first store would be dead. */
			if (x->buffer != y->buffer ||
			    (x->arrives && y->writes) ||
			    (y->arrives && x->writes) ||
			    (!x->writes && !y->writes) || kind <= worst ||
			    (x->at == y->at && x->writes && y->writes &&
			     x->dims == x->buffer->ndim)) {
				continue;
			}
			k->same_element = is_same_element(x, y);
			if (!same_thread(&p) && !disjoint(&p)) {
				worst = kind;
			}
		}
	}
	return worst;
}
