/* SPDX-License-Identifier: Apache-2.0 */
/* Vectorized memory access of device threads: loads and stores of several
 * consecutive, aligned elements at once.
 *
 *   for v in T.vectorized(4):            x_lanes[0:4] = x[i * 4:i * 4 + 4]
 *     y[i * 4 + v] =                     for v in T.unroll(4):
 *         T.exp(x[i * 4 + v])      ->        y_lanes[v] = T.exp(x_lanes[v])
 *                                        y[i * 4:i * 4 + 4] = y_lanes[0:4]
 *
 * Only memory accesses use vectors; arithmetic stays scalar, in registers. A
 * plain copy needs no arrays; a condition that is uniform over the lanes is
 * hoisted out of the loop, so that no additional element is loaded.
 *
 * The fact wide_bytes of the target is the largest size of one access; a
 * parameter that is accessed in this way is aligned to the size of the access
 * (align_bytes). */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "thread_loops.h"
#include "vectors.h"

/* Narrower accesses, in bytes, are left to the compiler. */
enum { WIDE_LEAST = 4 };

/* A loop of more lanes stays: its statements would be too many. */
enum { MOST_LANES = 1024 };

struct wide {
	struct func *func;
	struct module *module;
	int64_t bytes; /* the largest size of one access in bytes */
};

/* A vectorized loop around one store, such as y[i] = f(x[i]): its loads and its
 * store become accesses of several elements. */
struct copy {
	struct wide *w;
	struct var *var;
	const struct stmt *at;
	int64_t extent;
	VEC(const struct expr *) loads; /* vectorized loads */
	/* by load in the list of loads: the array of its lanes */
	VEC(const struct buffer *) lanes;
};

/* -- vectorizable accesses -- */

static bool
rows_divide(const struct buffer *b, int64_t lanes)
{
	int64_t last;

	return b->ndim == 1 ||
	       (expr_is_int(b->shape[b->ndim - 1], &last) && last % lanes == 0);
}

/* The number of elements that one vectorized access of b at the index accesses;
 * 0 if elements are accessed one at a time. */
static int64_t
lanes_at(struct copy *c, const struct buffer *b,
	 const struct expr *const *index)
{
	struct vectors x = { .func = c->w->func, .module = c->w->module };
	int64_t size = dtype_bytes(b->type);
	int64_t n = c->w->bytes / size;
	const struct expr *rest;

	if (b->type.lanes != 1 || b->strides != NULL || b->ndim == 0 ||
	    dtype_bits(b->type) < 8 || dtype_class(b->type) == DTC_BOOL ||
	    buffer_is_fragment(b) ||
	    !vectors_walks(&x, c->at, index, b->ndim, c->var, &rest)) {
		return 0;
	}
	for (; n > 1 && n * size >= WIDE_LEAST; n /= 2) {
		x.type = (struct dtype){ b->type.kind, (uint16_t)n };
		if (c->extent % n == 0 && rows_divide(b, n) &&
		    vectors_divides(&x, c->at, rest)) {
			return n;
		}
	}
	return 0;
}

static bool
is_wide_load(struct copy *c, const struct expr *e)
{
	return e->kind == EXPR_LOAD && lanes_at(c, e->u.buffer, e->args) > 0;
}

struct load_search {
	struct copy *copy;
	const struct stmt *store;
	/* a load is not vectorized, but only because of a condition */
	bool conditional;
	/* the value that is stored loads other elements of the stored buffer */
	bool reads_stored;
};

static bool
is_stored(const struct expr *load, const struct stmt *store)
{
	for (int i = 0; i < load->n_args; i++) {
		if (load->args[i] != store->args[1 + i]) {
			return false;
		}
	}
	return true;
}

/* Finds the loads in e that can be vectorized. Conditional loads stay scalar,
 * and so do loads of private arrays, which are in registers. */
static void
find_loads(struct load_search *s, const struct expr *e, bool guarded)
{
	struct copy *c = s->copy;

	if (e->kind == EXPR_LOAD) {
		bool wide = !buffer_is_private(e->u.buffer) &&
			    is_wide_load(c, e);

		s->reads_stored |= e->u.buffer == s->store->u.buffer &&
				   !is_stored(e, s->store);
		s->conditional |= wide && guarded;
		for (int i = 0; i < c->loads.n; i++) {
			wide &= c->loads.data[i] != e;
		}
		if (wide && !guarded) {
			vec_push(&c->w->module->arena, &c->loads, e);
		}
	}
	for (int i = 0; i < e->n_args; i++) {
		find_loads(s, e->args[i],
			   guarded || (i > 0 && expr_is_lazy(e)));
	}
}

/* -- the accesses -- */

/* The index of an access of n elements whose first element is that of lane
 * `from`. */
static const struct expr **
index_of(struct copy *c, const struct expr *const *index, int ndim,
	 int64_t from, int64_t n)
{
	struct module *m = c->w->module;
	struct dtype t = c->var->type;
	const struct expr *first = expr_int(m, t, from);
	struct var_map map = { &c->var, &first, 1 };
	const struct expr **out = arena_exprs(&m->arena, ndim);
	struct analyser a;

	analyser_at(&a, m, c->at);
	for (int i = 0; i < ndim; i++) {
		out[i] = simplify(&a, expr_substitute(m, index[i], &map));
	}
	out[ndim - 1] = expr_ramp(m, out[ndim - 1],
				  expr_int(m, out[ndim - 1]->type, 1), (int)n);
	return out;
}

/* One side of a copy: memory, or an array of lanes. n: the number of elements
 * of one access. */
struct side {
	const struct buffer *buffer;
	const struct expr *const *index;
	bool is_lanes;
	int64_t n;
};

static const struct expr **
side_at(struct copy *c, const struct side *s, int64_t from, int64_t n)
{
	struct module *m = c->w->module;
	const struct expr **index;

	if (!s->is_lanes) {
		return index_of(c, s->index, s->buffer->ndim, from, n);
	}
	index = arena_exprs(&m->arena, 1);
	index[0] = expr_ramp(m, expr_int(m, c->var->type, from),
			     expr_int(m, c->var->type, 1), (int)n);
	return index;
}

static struct stmt *
move(struct copy *c, struct side to, struct side from)
{
	struct module *m = c->w->module;
	int64_t n = to.n < from.n ? to.n : from.n;
	struct stmt **list = arena_array(&m->arena, struct stmt *,
					 c->extent / n);
	int k = 0;

	for (int64_t at = 0; at < c->extent; at += n) {
		const struct expr *e = expr_load(m, from.buffer,
						 side_at(c, &from, at, n),
						 from.buffer->ndim);

		list[k++] = stmt_store(c->w->func, to.buffer, e,
				       side_at(c, &to, at, n), to.buffer->ndim);
	}
	return stmt_seq(c->w->func, list, k);
}

static struct side
in_memory(struct copy *c, const struct buffer *b,
	  const struct expr *const *index)
{
	return (struct side){ b, index, false, lanes_at(c, b, index) };
}

static struct side
in_lanes(struct copy *c, const struct buffer *b)
{
	return (struct side){ b, NULL, true, c->extent };
}

static const struct buffer *
new_lanes(struct copy *c, const struct buffer *of, int64_t n)
{
	struct module *m = c->w->module;
	const struct expr *extent = expr_int(m, c->var->type, c->extent);
	struct buffer_spec spec = {
		.name = arena_printf(&m->arena, "%s_lanes", of->name),
		.type = of->type,
		.ndim = 1,
		.shape = &extent,
		.scope = "local",
		.align_bytes = (int)(n * dtype_bytes(of->type)),
	};

	return buffer_new(m, &spec);
}

static const struct expr *
take_lane(void *ctx, const struct expr *e)
{
	struct copy *c = ctx;
	struct module *m = c->w->module;

	for (int i = 0; i < c->loads.n; i++) {
		if (c->loads.data[i] == e) {
			return expr_load(m, c->lanes.data[i], &c->var->expr, 1);
		}
	}
	return NULL;
}

/* -- a loop -- */

/* Wraps body in the unrolled loop over lanes. */
static struct stmt *
each_lane(struct copy *c, struct stmt *body)
{
	struct func *f = c->w->func;
	struct module *m = c->w->module;
	struct dtype t = c->var->type;

	return stmt_for(f, c->var, expr_int(m, t, 0), expr_int(m, t, c->extent),
			FOR_UNROLLED, body);
}

/* Makes three statements: the vectorized loads to arrays of lanes, the store
 * lane by lane to an array of results, and the vectorized store of the
 * results. */
static struct stmt *
by_lanes(struct copy *c, const struct stmt *s, int64_t stored)
{
	struct func *f = c->w->func;
	struct module *m = c->w->module;
	struct stmt **list = arena_array(&m->arena, struct stmt *,
					 c->loads.n + 2);
	const struct buffer *results = NULL;
	const struct expr *value;
	struct stmt *body;
	int n = 0;

	for (int i = 0; i < c->loads.n; i++) {
		const struct expr *e = c->loads.data[i];
		struct side from = in_memory(c, e->u.buffer, e->args);
		const struct buffer *b = new_lanes(c, e->u.buffer, from.n);

		vec_push(&m->arena, &c->lanes, b);
		list[n++] = move(c, in_lanes(c, b), from);
	}
	value = expr_rewrite(m, s->args[0], take_lane, c);
	if (stored > 0) {
		results = new_lanes(c, s->u.buffer, stored);
		body = stmt_store(f, results, value, &c->var->expr, 1);
	} else {
		body = stmt_store(f, s->u.buffer, value, s->args + 1,
				  s->n_args - 1);
	}
	list[n++] = each_lane(c, body);
	if (results != NULL) {
		list[n++] = move(c, in_memory(c, s->u.buffer, s->args + 1),
				 in_lanes(c, results));
	}
	body = stmt_seq(f, list, n);
	if (results != NULL) {
		body = stmt_alloc(f, results, body);
	}
	for (int i = c->lanes.n - 1; i >= 0; i--) {
		body = stmt_alloc(f, c->lanes.data[i], body);
	}
	return body;
}

/* The copy loop for the store s with vectorized accesses; NULL if no access can
 * be vectorized. */
static struct stmt *
wide_store(struct copy *c, const struct stmt *s)
{
	const struct expr *e = s->args[0];
	bool own = buffer_is_private(s->u.buffer);
	int64_t stored = lanes_at(c, s->u.buffer, s->args + 1);

	/* A plain copy between memories; one side may be a private array. */
	if (e->kind == EXPR_LOAD && stored > 0 && is_wide_load(c, e) &&
	    !(own && buffer_is_private(e->u.buffer))) {
		return move(c, in_memory(c, s->u.buffer, s->args + 1),
			    in_memory(c, e->u.buffer, e->args));
	}
	if (c->loads.n == 0 && (own || stored == 0)) {
		return NULL;
	}
	return by_lanes(c, s, own ? 0 : stored);
}

static bool wide_loop(struct wide *w, struct stmt *loop);

/* Hoists a condition that is uniform over the lanes out of the loop: y[v] = a
 * if c else b becomes if c: y[v] = a, else: y[v] = b, each store in a loop of
 * its own. False if the loop has no such condition. */
static bool
wide_choice(struct wide *w, struct stmt *loop)
{
	struct func *f = w->func;
	const struct expr *e = loop->children[0]->args[0];
	int checkpoint = func_checkpoint(f);
	struct stmt_place place = stmt_place_of(loop);
	struct stmt *parts[2];
	bool any = false;

	if (e->kind != EXPR_IF || expr_uses_var(e->args[0], loop->u.loop.var)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		parts[i] = stmt_clone(f, loop, true);
		e = parts[i]->children[0]->args[0];
		stmt_set_arg(f, parts[i]->children[0], 0, e->args[1 + i]);
	}
	stmt_put(f, place, stmt_if(f, e->args[0], parts[0], parts[1]));
	for (int i = 0; i < 2; i++) {
		any |= wide_loop(w, parts[i]);
	}
	if (!any) {
		func_rollback(f, checkpoint);
	}
	return any;
}

static bool
wide_loop(struct wide *w, struct stmt *loop)
{
	struct copy c = { .w = w, .var = loop->u.loop.var };
	struct stmt *s = loop->children[0], *vectorized;
	struct load_search search = { .copy = &c, .store = s };

	c.at = s;
	if (!expr_is_value(loop->args[0], 0) ||
	    !expr_is_int(loop->args[1], &c.extent) || c.extent < 2 ||
	    c.extent > MOST_LANES || s->kind != STMT_STORE ||
	    s->args[0]->type.lanes != 1) {
		return false;
	}
	find_loads(&search, s->args[0], false);
	for (int i = 1; i < s->n_args; i++) {
		find_loads(&search, s->args[i], true);
	}
	if (search.reads_stored) {
		return false;
	}
	if (search.conditional && wide_choice(w, loop)) {
		return true;
	}
	vectorized = wide_store(&c, s);
	if (vectorized != NULL) {
		stmt_replace(w->func, loop, vectorized);
	}
	return vectorized != NULL;
}

/* -- all of a function */

/* Raises the alignment of a buffer to that which its vectorized accesses
 * need. */
static void
align(struct wide *w, const struct buffer *b, int64_t bytes)
{
	struct buffer *to = buffer_with_shape(w->module, b, -1, NULL);

	to->align_bytes = (int)bytes;
	func_replace_param(w->func, b, to);
}

static void
align_all(struct wide *w)
{
	bool again = true;

	while (again) {
		struct access_list uses = { 0 };

		again = false;
		access_collect(w->func, w->func->body, NULL, &uses);
		for (int i = 0; i < uses.list.n && !again; i++) {
			const struct access *u = &uses.list.data[i];
			const struct buffer *b = u->buffer;
			int n = b->ndim > 0 ? u->index[b->ndim - 1]->type.lanes
					    : 1;

			again = n > 1 &&
				b->align_bytes < n * dtype_bytes(b->type);
			if (again) {
				align(w, b, n * dtype_bytes(b->type));
			}
		}
	}
}

bool
lower_wide(struct func *f)
{
	struct wide w = { .func = f,
			  .module = f->module,
			  .bytes = f->facts.wide_bytes };
	VEC(struct stmt *) loops = { 0 };
	bool any = false;
	struct stmt *s;

	if (w.bytes == 0) {
		return true;
	}
	for (struct stmt_iter it = stmt_each_of(f->body, STMT_FOR);
	     (s = stmt_next(&it));) {
		if (s->u.loop.kind == FOR_VECTORIZED) {
			vec_push(&f->module->arena, &loops, s);
			stmt_skip(&it);
		}
	}
	for (int i = 0; i < loops.n; i++) {
		any |= wide_loop(&w, loops.data[i]);
	}
	if (any) {
		align_all(&w);
	}
	f->facts.wide_bytes = 0;
	return true;
}
