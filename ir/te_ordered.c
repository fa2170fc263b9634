/* SPDX-License-Identifier: Apache-2.0 */
/* te_ordered: stores that are done one after the other.
 *
 *   y starts as x[i, j]; for r in order, for j: y[at[r], j] = u[r, j]
 *
 * becomes
 *
 *   for i, j in T.grid(n, m):
 *       with T.block("scatter_start"):
 *           v_i, v_j = T.axis.remap("SS", [i, j])
 *           y[v_i, v_j] = x[v_i, v_j]
 *   for r, j in T.grid(k, m):
 *       with T.block("scatter"):
 *           v_r = T.axis.scan(k, r)
 *           v_j = T.axis.spatial(m, j)
 *           y[at[v_r], v_j] = u[v_r, v_j]
 */
#include "block_regions.h"
#include "te_build.h"

#include <assert.h>

void
te_ordered(struct module *m, const char *name, const char *tag,
	   const char *const *names, const struct dtype *types,
	   const int *ndims, const struct expr *const *const *shapes, int n,
	   struct te_tensor **out)
{
	struct arena *a = &m->arena;
	struct te_stage *s = arena_new(a, struct te_stage);

	s->kind = TE_ORDERED;
	s->name = arena_strdup(a, name);
	s->tag = tag;
	s->n_out = n;
	s->out = arena_array(a, struct te_tensor *, n);
	s->ordered = arena_new(a, struct te_ordered);
	s->ordered->start = arena_array(a, struct te_stage *, n);
	for (int k = 0; k < n; k++) {
		struct te_tensor *t = te_placeholder(m, names[k], types[k],
						     ndims[k], shapes[k]);

		t->stage = s;
		t->index = k;
		s->out[k] = t;
		out[k] = t;
	}
}

void
te_ordered_start(struct module *m, struct te_tensor *out, struct iter_var *axes,
		 const struct expr *value)
{
	struct arena *a = &m->arena;
	struct te_stage *s = arena_new(a, struct te_stage);
	const struct expr **body = arena_array(a, const struct expr *, 1);

	assert(out->stage && out->stage->ordered);
	body[0] = value;
	s->kind = TE_COMPUTE;
	s->name = arena_printf(a, "%s_start", out->stage->name);
	s->tag = "injective";
	s->axes = axes;
	s->n_axes = out->buffer->ndim;
	s->n_out = 1;
	s->out = arena_array(a, struct te_tensor *, 1);
	s->out[0] = out;
	s->bodies = body;
	out->stage->ordered->start[out->index] = s;
}

void
te_visit_ordered(const struct te_stage *s,
		 void (*visit)(void *ctx, const struct expr *e), void *ctx)
{
	const struct te_ordered *o = s->ordered;

	for (int i = 0; i < o->n_stores; i++) {
		const struct te_store *store = &o->stores[i];

		for (int k = 0; k < store->n_first + store->n_then; k++) {
			expr_visit(store->lets[k].value, visit, ctx);
		}
		for (int d = 0; d < s->out[store->out]->buffer->ndim; d++) {
			expr_visit(store->at[d], visit, ctx);
		}
		expr_visit(store->value, visit, ctx);
		if (store->condition) {
			expr_visit(store->condition, visit, ctx);
		}
		if (store->then) {
			expr_visit(store->then, visit, ctx);
		}
	}
}

struct load_search {
	const struct buffer *buffer;
	bool found;
};

static void
find_load(void *ctx, const struct expr *e)
{
	struct load_search *q = ctx;

	q->found |= e->kind == EXPR_LOAD && e->u.buffer == q->buffer;
}

/* Is t loaded by a start or a store of s, no output of s and not listed yet? */
static bool
is_loaded(const struct te_stage *s, const struct te_tensor *t)
{
	struct load_search q = { .buffer = t->buffer };

	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i] == t) {
			return false;
		}
	}
	for (int k = 0; k < s->n_out; k++) {
		const struct te_stage *start = s->ordered->start[k];

		if (start) {
			expr_visit(start->bodies[0], find_load, &q);
		}
	}
	te_visit_ordered(s, find_load, &q);
	return q.found && t->stage != s;
}

void
te_ordered_stores(struct module *m, struct te_tensor *out,
		  struct iter_var *axes, int n_axes,
		  const struct te_store *stores, int n_stores,
		  struct te_tensor *const *inputs, int n_inputs)
{
	struct arena *a = &m->arena;
	struct te_stage *s = out->stage;
	struct te_ordered *o = s->ordered;

	assert(o && n_stores > 0);
	o->axes = arena_array(a, struct iter_var, n_axes + 1);
	o->n_axes = n_axes;
	for (int i = 0; i < n_axes; i++) {
		o->axes[i] = axes[i];
	}
	o->stores = arena_array(a, struct te_store, n_stores);
	o->n_stores = n_stores;
	for (int i = 0; i < n_stores; i++) {
		o->stores[i] = stores[i];
	}
	s->inputs = arena_array(a, struct te_tensor *, n_inputs + 1);
	for (int i = 0; i < n_inputs; i++) {
		if (inputs[i] && is_loaded(s, inputs[i])) {
			s->inputs[s->n_inputs++] = inputs[i];
		}
	}
}

/* Lets [from, to) of the store around body. */
static struct stmt *
build_lets(struct te_build *b, const struct te_store *store,
	   struct var *const *lets, const struct var_map *map, int from, int to,
	   struct stmt *body)
{
	while (to-- > from) {
		body = stmt_let(b->f, lets[to],
				te_inside(b, store->lets[to].value, map), body);
	}
	return body;
}

/* One store in terms of the block's variables. */
static struct stmt *
build_store(struct te_build *b, const struct te_stage *s,
	    const struct te_store *store, const struct var_map *axes)
{
	const struct buffer *to = te_target(b, s->out[store->out]->buffer);
	struct arena *a = &b->m->arena;
	const struct expr **at = arena_array(a, const struct expr *,
					     to->ndim + 1);
	int n = store->n_first + store->n_then;
	struct var_map map = {
		arena_array(a, struct var *, axes->n + n + 1),
		arena_array(a, const struct expr *, axes->n + n + 1), axes->n
	};
	struct var **lets = arena_array(a, struct var *, n + 1);
	struct stmt *body;

	for (int i = 0; i < axes->n; i++) {
		map.from[i] = axes->from[i];
		map.to[i] = axes->to[i];
	}
	/* Each function gets fresh variables. */
	for (int k = 0; k < n; k++) {
		const struct var *v = store->lets[k].var;

		lets[k] = var_new(b->m, v->name, v->type);
		map.from[map.n] = store->lets[k].var;
		map.to[map.n++] = lets[k]->expr;
	}
	for (int d = 0; d < to->ndim; d++) {
		at[d] = te_inside(b, store->at[d], &map);
	}
	body = stmt_store(b->f, to, te_inside(b, store->value, &map), at,
			  to->ndim);
	if (store->then) {
		body = stmt_if(b->f, te_inside(b, store->then, &map), body,
			       NULL);
	}
	body = build_lets(b, store, lets, &map, store->n_first, n, body);
	if (store->condition) {
		body = stmt_if(b->f, te_inside(b, store->condition, &map), body,
			       NULL);
	}
	return build_lets(b, store, lets, &map, 0, store->n_first, body);
}

static struct stmt *
build_stores(struct te_build *b, const struct te_stage *s)
{
	const struct te_ordered *o = s->ordered;
	struct te_nest nest = te_nest_new(b, o->n_axes);
	struct block block = { .name = te_unique_name(b, s->name) };
	struct stmt **list = arena_array(&b->m->arena, struct stmt *,
					 o->n_stores);
	struct stmt *body;

	for (int i = 0; i < o->n_axes; i++) {
		te_nest_add(b, &nest, &o->axes[i]);
	}
	for (int i = 0; i < o->n_stores; i++) {
		list[i] = build_store(b, s, &o->stores[i], &nest.map);
	}
	block.iters = nest.iters;
	block.n_iters = nest.map.n;
	body = stmt_block(b->f, &block, expr_bool(b->m, true), nest.bindings,
			  NULL, stmt_seq(b->f, list, o->n_stores));
	block_infer_regions(b->f, body, true, true);
	return te_nest_loops(b, &nest, body);
}

struct stmt *
te_build_ordered(struct te_build *b, const struct te_stage *s)
{
	struct stmt **list = arena_array(&b->m->arena, struct stmt *,
					 s->n_out + 1);

	for (int k = 0; k < s->n_out; k++) {
		if (s->ordered->start[k]) {
			list[k] = te_build_compute(b, s->ordered->start[k],
						   NULL);
		}
	}
	list[s->n_out] = build_stores(b, s);
	return stmt_seq(b->f, list, s->n_out + 1);
}
