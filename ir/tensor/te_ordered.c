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

/* Makes a stage that computes the output `out` of an ordered stage: its start,
 * or the sum of a phase. */
static struct te_stage *
part_stage(struct module *m, struct te_tensor *out, const char *name,
	   const char *tag, struct iter_var *axes, const struct expr *value)
{
	struct arena *a = &m->arena;
	struct te_stage *s = arena_new(a, struct te_stage);
	const struct expr **body = arena_exprs(a, 1);

	assert(out->stage && out->stage->ordered);
	body[0] = value;
	s->kind = TE_COMPUTE;
	s->name = name;
	s->tag = tag;
	s->axes = axes;
	s->n_axes = out->buffer->ndim;
	s->n_out = 1;
	s->out = arena_array(a, struct te_tensor *, 1);
	s->out[0] = out;
	s->bodies = body;
	return s;
}

void
te_ordered_start(struct module *m, struct te_tensor *out, struct iter_var *axes,
		 const struct expr *value)
{
	const char *name = arena_printf(&m->arena, "%s_start",
					out->stage->name);

	out->stage->ordered->start[out->index] = part_stage(m, out, name,
							    "injective", axes,
							    value);
}

struct te_phase
te_phase_sum(struct module *m, struct te_tensor *out, const char *name,
	     struct iter_var *axes, const struct expr *body)
{
	assert(body->kind == EXPR_REDUCE);
	return (struct te_phase){
		.name = name,
		.sum = part_stage(m, out, name, "reduce", axes, body),
	};
}

static void
store_parts(struct arena *a, const struct te_stage *s,
	    const struct te_store *stores, int n, struct exprs *out)
{
	for (int i = 0; i < n; i++) {
		const struct te_store *store = &stores[i];

		for (int k = 0; k < store->n_first + store->n_then; k++) {
			vec_push(a, &out->list, store->lets[k].value);
		}
		for (int d = 0; d < s->out[store->out]->buffer->ndim; d++) {
			vec_push(a, &out->list, store->at[d]);
		}
		vec_push(a, &out->list, store->value);
		if (store->condition) {
			vec_push(a, &out->list, store->condition);
		}
		if (store->then) {
			vec_push(a, &out->list, store->then);
		}
	}
}

void
te_ordered_parts(struct arena *a, const struct te_stage *s, struct exprs *out)
{
	const struct te_ordered *o = s->ordered;

	store_parts(a, s, o->stores, o->n_stores, out);
	for (int i = 0; i < o->n_phases; i++) {
		const struct te_phase *p = &o->phases[i];

		if (p->sum) {
			te_stage_parts(a, p->sum, out);
		}
		store_parts(a, s, p->stores, p->n_stores, out);
	}
}

/* Is t loaded by a start or a store of s, and neither an output of s nor listed
 * among its inputs yet? */
static bool
is_loaded(struct arena *a, const struct te_stage *s, const struct te_tensor *t)
{
	struct exprs parts = { 0 };
	bool found = false;

	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i] == t) {
			return false;
		}
	}
	for (int k = 0; k < s->n_out; k++) {
		const struct te_stage *start = s->ordered->start[k];

		if (start) {
			vec_push(a, &parts.list, start->bodies[0]);
		}
	}
	te_ordered_parts(a, s, &parts);
	for (int i = 0; i < parts.list.n; i++) {
		found |= expr_uses_buffer(parts.list.data[i], t->buffer);
	}
	return found && t->stage != s;
}

/* Sets the axes of s, and its inputs: those tensors in `inputs` that s
 * loads. */
static void
finish_ordered(struct module *m, struct te_stage *s, struct iter_var *axes,
	       int n_axes, struct te_tensor *const *inputs, int n_inputs)
{
	struct te_ordered *o = s->ordered;

	o->axes = arena_copy(&m->arena, axes, sizeof *axes * (size_t)n_axes);
	o->n_axes = n_axes;
	s->inputs = arena_array(&m->arena, struct te_tensor *, n_inputs + 1);
	for (int i = 0; i < n_inputs; i++) {
		if (inputs[i] && is_loaded(&m->arena, s, inputs[i])) {
			s->inputs[s->n_inputs++] = inputs[i];
		}
	}
}

void
te_ordered_stores(struct module *m, struct te_tensor *out,
		  struct iter_var *axes, int n_axes,
		  const struct te_store *stores, int n_stores,
		  struct te_tensor *const *inputs, int n_inputs)
{
	struct te_ordered *o = out->stage->ordered;

	assert(o && n_stores > 0);
	o->stores = arena_copy(&m->arena, stores,
			       sizeof *stores * (size_t)n_stores);
	o->n_stores = n_stores;
	finish_ordered(m, out->stage, axes, n_axes, inputs, n_inputs);
}

void
te_ordered_phases(struct module *m, struct te_tensor *out,
		  struct iter_var *axes, int n_axes,
		  const struct te_phase *phases, int n_phases,
		  struct te_tensor *const *inputs, int n_inputs)
{
	struct te_ordered *o = out->stage->ordered;

	assert(o && n_phases > 0);
	o->phases = arena_copy(&m->arena, phases,
			       sizeof *phases * (size_t)n_phases);
	o->n_phases = n_phases;
	finish_ordered(m, out->stage, axes, n_axes, inputs, n_inputs);
}

/* Wraps body in the lets number `from` to `to` - 1 of the store; the first of
 * them becomes the outermost. */
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

/* The statement of one store, in terms of the block's variables. */
static struct stmt *
build_store(struct te_build *b, const struct te_stage *s,
	    const struct te_store *store, const struct var_map *axes)
{
	const struct buffer *to = te_target(b, s->out[store->out]->buffer);
	struct arena *a = &b->m->arena;
	const struct expr **at = arena_exprs(a, to->ndim + 1);
	int n = store->n_first + store->n_then;
	struct var_map map = { arena_array(a, struct var *, axes->n + n + 1),
			       arena_exprs(a, axes->n + n + 1), axes->n };
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

/* Returns a block named `name` around the statements of `list`, inside of the
 * loops of the nest. */
static struct stmt *
build_block(struct te_build *b, const char *name, const struct te_nest *nest,
	    struct stmt **list, int n)
{
	struct block block = {
		.name = name,
		.iters = nest->iters,
		.n_iters = nest->map.n,
	};
	struct stmt *body = stmt_block(b->f, &block, expr_bool(b->m, true),
				       nest->bindings, NULL,
				       stmt_seq(b->f, list, n));

	block_infer_regions(b->f, body, true, true);
	return te_nest_loops(b, nest, body);
}

/* The block of the stores, with the loops of the nest around it. map: replaces
 * the stage's variables by those of the nest and of the loops around the
 * nest. */
static struct stmt *
build_stores(struct te_build *b, const struct te_stage *s, const char *name,
	     const struct te_nest *nest, const struct var_map *map,
	     const struct te_store *stores, int n)
{
	struct stmt **list = arena_array(&b->m->arena, struct stmt *, n);

	name = te_unique_name(b, name);
	for (int i = 0; i < n; i++) {
		list[i] = build_store(b, s, &stores[i], map);
	}
	return build_block(b, name, nest, list, n);
}

/* The statement of a phase, inside of the loops over the axes of `outer`. */
static struct stmt *
build_phase(struct te_build *b, const struct te_stage *s,
	    const struct te_phase *p, const struct te_nest *outer)
{
	struct te_nest nest = te_nest_new(b, outer->map.n + p->n_axes);
	struct var_map map;

	if (p->sum) {
		return te_build_compute(b, p->sum, NULL);
	}
	for (int i = 0; i < p->n_axes; i++) {
		te_nest_add(b, &nest, &p->axes[i]);
	}
	map = nest.map;
	for (int i = 0; i < outer->map.n; i++) {
		map.from[map.n] = outer->map.from[i];
		map.to[map.n++] = outer->map.to[i];
	}
	return build_stores(b, s, p->name, &nest, &map, p->stores, p->n_stores);
}

/* The phases as one block, which is a scope for schedules. */
static struct stmt *
build_step(struct te_build *b, const struct te_stage *s,
	   const struct te_nest *nest)
{
	const struct te_ordered *o = s->ordered;
	const char *name = te_unique_name(b, s->name);
	struct stmt **list = arena_array(&b->m->arena, struct stmt *,
					 o->n_phases);

	for (int i = 0; i < o->n_phases; i++) {
		list[i] = build_phase(b, s, &o->phases[i], nest);
	}
	return build_block(b, name, nest, list, o->n_phases);
}

struct stmt *
te_build_ordered(struct te_build *b, const struct te_stage *s)
{
	const struct te_ordered *o = s->ordered;
	struct stmt **list = arena_array(&b->m->arena, struct stmt *,
					 s->n_out + 1);
	struct te_nest nest = te_nest_new(b, o->n_axes);

	for (int k = 0; k < s->n_out; k++) {
		if (o->start[k]) {
			list[k] = te_build_compute(b, o->start[k], NULL);
		}
	}
	for (int i = 0; i < o->n_axes; i++) {
		te_nest_add(b, &nest, &o->axes[i]);
	}
	list[s->n_out] = o->n_phases > 0
				 ? build_step(b, s, &nest)
				 : build_stores(b, s, s->name, &nest, &nest.map,
						o->stores, o->n_stores);
	return stmt_seq(b->f, list, s->n_out + 1);
}
