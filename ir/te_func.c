/* SPDX-License-Identifier: Apache-2.0 */
/* From the stages of tensor expressions to a phase-0 function:
 *
 *   C = te_compute(i, j: te_sum(A[i, k] * B[k, j], k))
 *
 * becomes
 *
 *   for i, j, k in T.grid(n, m, p):
 *       with T.block("C"):
 *           v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
 *           T.reads(A[v_i, v_k], B[v_k, v_j])
 *           T.writes(C[v_i, v_j])
 *           with T.init():
 *               C[v_i, v_j] = 0
 *           C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
 */
#include "te.h"

#include <assert.h>

struct build {
	struct module *m;
	struct func *f;
	VEC(struct te_stage *) stages; /* producers first */
	VEC(const char *) names;
	VEC(const struct buffer *) allocs;
	VEC(struct var *) bound, free; /* variables of axes; of the caller */
};

static void
collect_stages(struct build *b, struct te_stage *s)
{
	for (int i = 0; i < b->stages.n; i++) {
		if (b->stages.data[i] == s) {
			return;
		}
	}
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i]->stage) {
			collect_stages(b, s->inputs[i]->stage);
		}
	}
	vec_push(&b->m->arena, &b->stages, s);
}

static bool
is_param(const struct buffer *buffer, struct te_tensor *const *params, int n)
{
	for (int i = 0; i < n; i++) {
		if (params[i]->buffer == buffer) {
			return true;
		}
	}
	return false;
}

static void
visit_free_var(void *ctx, const struct expr *e)
{
	struct build *b = ctx;

	if (e->kind != EXPR_VAR) {
		return;
	}
	for (int i = 0; i < b->bound.n; i++) {
		if (b->bound.data[i] == e->u.var) {
			return;
		}
	}
	for (int i = 0; i < b->free.n; i++) {
		if (b->free.data[i] == e->u.var) {
			return;
		}
	}
	vec_push(&b->m->arena, &b->free, e->u.var);
}

static void
collect_axes_vars(struct build *b, const struct iter_var *axes, int n)
{
	for (int i = 0; i < n; i++) {
		vec_push(&b->m->arena, &b->bound, axes[i].var);
	}
	for (int i = 0; i < n; i++) {
		expr_visit(axes[i].extent, visit_free_var, b);
	}
}

static void
collect_buffer_vars(struct build *b, const struct buffer *buffer)
{
	for (int d = 0; d < buffer->ndim; d++) {
		expr_visit(buffer->shape[d], visit_free_var, b);
	}
}

static void
collect_stage_vars(struct build *b, const struct te_stage *s)
{
	collect_axes_vars(b, s->axes, s->n_axes);
	for (int k = 0; k < s->n_out; k++) {
		const struct expr *e = s->bodies[k];

		if (e->kind != EXPR_REDUCE) {
			expr_visit(e, visit_free_var, b);
			continue;
		}
		collect_axes_vars(b, e->u.reduce->axes, e->u.reduce->n_axes);
		for (int i = 0; i < e->n_args; i++) {
			expr_visit(e->args[i], visit_free_var, b);
		}
		if (e->u.reduce->condition) {
			expr_visit(e->u.reduce->condition, visit_free_var, b);
		}
	}
}

static const char *
unique_name(struct build *b, const char *name)
{
	const char *text = name;

	for (int suffix = 1;; suffix++) {
		bool taken = strcmp(text, "root") == 0;

		for (int i = 0; i < b->names.n; i++) {
			taken |= strcmp(b->names.data[i], text) == 0;
		}
		if (!taken) {
			vec_push(&b->m->arena, &b->names, text);
			return text;
		}
		text = arena_printf(&b->m->arena, "%s_%d", name, suffix);
	}
}

/* What a block reads: one region per buffer, a point where every load has
 * the same index, else the whole extent of that dimension. */
struct region_list {
	struct module *m;
	VEC(struct region) list;
};

static void
note_load(void *ctx, const struct expr *e)
{
	if (e->kind == EXPR_LOAD) {
		*(bool *)ctx = true;
	}
}

static void
visit_region(void *ctx, const struct expr *e)
{
	struct region_list *l = ctx;
	struct module *m = l->m;
	struct region *r = NULL;

	if (e->kind != EXPR_LOAD) {
		return;
	}
	for (int i = 0; i < l->list.n; i++) {
		if (l->list.data[i].buffer == e->u.buffer) {
			r = &l->list.data[i];
		}
	}
	if (!r) {
		struct region fresh = {
			e->u.buffer,
			arena_array(&m->arena, struct range, e->n_args + 1)
		};

		for (int d = 0; d < e->n_args; d++) {
			bool indirect = false;
			const struct expr *at = e->args[d];

			expr_visit(at, note_load, &indirect);
			fresh.ranges[d].min = indirect
				? expr_int(m, at->type, 0) : at;
			fresh.ranges[d].extent = indirect
				? e->u.buffer->shape[d]
				: expr_int(m, at->type, 1);
		}
		vec_push(&m->arena, &l->list, fresh);
		return;
	}
	for (int d = 0; d < e->n_args; d++) {
		if (r->ranges[d].min != e->args[d]) {
			const struct expr *size = e->u.buffer->shape[d];

			r->ranges[d].min = expr_int(m, size->type, 0);
			r->ranges[d].extent = size;
		}
	}
}

/* The axes of one block: loop variables, block variables and the map from
 * the stage's own variables to the latter. */
struct nest {
	struct iter_var *iters;
	struct var **loops;
	struct var_map map;
};

static void
nest_add(struct build *b, struct nest *n, const struct iter_var *axis)
{
	struct module *m = b->m;
	int i = n->map.n++;
	struct iter_var *it = &n->iters[i];

	*it = *axis;
	it->var = var_new(m, arena_printf(&m->arena, "v_%s", axis->var->name),
			  axis->var->type);
	n->loops[i] = var_new(m, axis->var->name, axis->var->type);
	n->map.from[i] = axis->var;
	n->map.to[i] = it->var->expr;
}

/* Stores values[k] into every output. */
static struct stmt *
store_all(struct build *b, const struct te_stage *s,
	  const struct expr *const *values, const struct expr *const *index)
{
	struct stmt **list =
		arena_array(&b->m->arena, struct stmt *, s->n_out);

	for (int k = 0; k < s->n_out; k++) {
		list[k] = stmt_store(b->f, s->out[k]->buffer, values[k],
				     index, s->n_axes);
	}
	return stmt_seq(b->f, list, s->n_out);
}

/* The same where values may read what others store: all are computed before
 * the first is stored. */
static struct stmt *
store_at_once(struct build *b, const struct te_stage *s,
	      const struct expr *const *values,
	      const struct expr *const *index)
{
	struct module *m = b->m;
	const struct expr **now =
		arena_array(&m->arena, const struct expr *, s->n_out);
	struct var **lets = arena_array(&m->arena, struct var *, s->n_out);
	struct stmt *body;

	for (int k = 0; k < s->n_out; k++) {
		lets[k] = var_new(m, arena_printf(&m->arena, "v_%s",
						  s->out[k]->buffer->name),
				  values[k]->type);
		now[k] = lets[k]->expr;
	}
	body = store_all(b, s, now, index);
	for (int k = s->n_out - 1; k >= 0; k--) {
		body = stmt_let(b->f, lets[k], values[k], body);
	}
	return body;
}

/* Does r keep all of lhs or take all of rhs (argmax)? Then when it takes. */
static const struct expr *
takes_all(const struct reducer *r)
{
	for (int k = 0; k < r->n; k++) {
		const struct expr *e = r->result[k];

		if (e->kind != EXPR_SELECT ||
		    e->args[0] != r->result[0]->args[0] ||
		    e->args[1] != r->rhs[k]->expr ||
		    e->args[2] != r->lhs[k]->expr) {
			return NULL;
		}
	}
	return r->result[0]->args[0];
}

/* A reduction over nothing: the update never runs, so neither would init. */
static bool
is_empty(const struct reduction *r)
{
	for (int i = 0; i < r->n_axes; i++) {
		if (expr_is_value(r->axes[i].extent, 0)) {
			return true;
		}
	}
	return false;
}

/* One step of a reduction: the outputs combined with the sources. Of several
 * values each source has a name, and they are taken together:
 *
 *	value = x[v_i, v_k]
 *	index = v_k
 *	if value > best[v_i] or …:
 *	    best[v_i] = value
 *	    best_index[v_i] = index
 */
static struct stmt *
update(struct build *b, const struct te_stage *s, const struct reducer *r,
       const struct expr *const *sources, const struct expr *const *index)
{
	struct module *m = b->m;
	struct arena *a = &m->arena;
	int n = r->n;
	struct var_map map = { arena_array(a, struct var *, 2 * n),
			       arena_array(a, const struct expr *, 2 * n),
			       2 * n };
	const struct expr **values = arena_array(a, const struct expr *, n);
	struct var **lets = arena_array(a, struct var *, n);
	const struct expr *take = n > 1 ? takes_all(r) : NULL;
	struct stmt *body;

	for (int k = 0; k < n; k++) {
		lets[k] = var_new(m, r->rhs[k]->name, sources[k]->type);
		map.from[k] = r->lhs[k];
		map.to[k] = expr_load(m, s->out[k]->buffer, index, s->n_axes);
		map.from[n + k] = r->rhs[k];
		map.to[n + k] = n > 1 ? lets[k]->expr : sources[k];
	}
	for (int k = 0; k < n; k++) {
		values[k] = take ? lets[k]->expr
				 : expr_substitute(m, r->result[k], &map);
	}
	if (take) {
		body = stmt_if(b->f, expr_substitute(m, take, &map),
			       store_all(b, s, values, index), NULL);
	} else {
		body = n > 1 ? store_at_once(b, s, values, index)
			     : store_all(b, s, values, index);
	}
	for (int k = n - 1; k >= 0 && n > 1; k--) {
		body = stmt_let(b->f, lets[k], sources[k], body);
	}
	return body;
}

/* What a reduction combines, in terms of the block's variables. */
static const struct expr **
reduce_sources(struct build *b, const struct expr *body,
	       const struct var_map *map)
{
	struct module *m = b->m;
	const struct reduction *r = body->u.reduce;
	const struct expr **sources = arena_array(
		&m->arena, const struct expr *, r->reducer->n);

	for (int k = 0; k < r->reducer->n; k++) {
		sources[k] = expr_substitute(m, body->args[k], map);
		if (r->condition) {
			sources[k] = expr_if(
				m, expr_substitute(m, r->condition, map),
				sources[k], r->reducer->identity[k]);
		}
	}
	return sources;
}

static struct stmt *
build_stage(struct build *b, const struct te_stage *s)
{
	struct module *m = b->m;
	struct arena *a = &m->arena;
	bool reduces = s->bodies[0]->kind == EXPR_REDUCE;
	const struct reduction *r = reduces ? s->bodies[0]->u.reduce : NULL;
	int total = s->n_axes + (r ? r->n_axes : 0);
	struct nest nest = {
		arena_array(a, struct iter_var, total + 1),
		arena_array(a, struct var *, total + 1),
		{ arena_array(a, struct var *, total + 1),
		  arena_array(a, const struct expr *, total + 1), 0 }
	};
	const struct expr **bindings =
		arena_array(a, const struct expr *, total + 1);
	const struct expr **values =
		arena_array(a, const struct expr *, s->n_out);
	struct region_list reads = { .m = m };
	struct block block = { .name = unique_name(b, s->name) };
	struct stmt *body, *init = NULL;

	if (r && is_empty(r)) {
		total = s->n_axes;
		reduces = false;
	}
	for (int i = 0; i < s->n_axes; i++) {
		nest_add(b, &nest, &s->axes[i]);
	}
	for (int i = 0; reduces && i < r->n_axes; i++) {
		nest_add(b, &nest, &r->axes[i]);
	}
	for (int i = 0; i < total; i++) {
		bindings[i] = nest.loops[i]->expr;
	}
	if (reduces) {
		assert(r->reducer->n == s->n_out);
		values = reduce_sources(b, s->bodies[0], &nest.map);
		init = store_all(b, s, r->reducer->identity, nest.map.to);
		body = update(b, s, r->reducer, values, nest.map.to);
	} else {
		for (int k = 0; k < s->n_out; k++) {
			values[k] = r ? r->reducer->identity[k]
				      : expr_substitute(m, s->bodies[k],
							&nest.map);
		}
		body = store_all(b, s, values, nest.map.to);
	}
	block.iters = nest.iters;
	block.n_iters = total;
	for (int k = 0; k < s->n_out; k++) {
		expr_visit(values[k], visit_region, &reads);
	}
	block.reads = reads.list.data;
	block.n_reads = reads.list.n;
	block.writes = arena_array(a, struct region, s->n_out);
	block.n_writes = s->n_out;
	for (int k = 0; k < s->n_out; k++) {
		block.writes[k].buffer = s->out[k]->buffer;
		block.writes[k].ranges =
			arena_array(a, struct range, s->n_axes + 1);
		for (int d = 0; d < s->n_axes; d++) {
			block.writes[k].ranges[d].min = nest.map.to[d];
			block.writes[k].ranges[d].extent =
				expr_int(m, nest.map.to[d]->type, 1);
		}
	}
	body = stmt_block(b->f, &block, expr_bool(m, true), bindings, init,
			  body);
	for (int i = total - 1; i >= 0; i--) {
		body = stmt_for(b->f, nest.loops[i], nest.iters[i].min,
				nest.iters[i].extent, FOR_SERIAL, body);
	}
	return body;
}

struct func *
te_to_func(struct module *m, const char *name,
	   struct te_tensor *const *params, int n_params)
{
	struct build b = { .m = m, .f = func_new(m, name) };
	struct block root = { .name = "root" };
	struct stmt **list;

	for (int i = 0; i < n_params; i++) {
		func_add_param(b.f, params[i]->buffer->data,
			       params[i]->buffer);
		collect_buffer_vars(&b, params[i]->buffer);
		if (params[i]->stage) {
			collect_stages(&b, params[i]->stage);
		}
	}
	list = arena_array(&m->arena, struct stmt *, b.stages.n + 1);
	for (int i = 0; i < b.stages.n; i++) {
		struct te_stage *s = b.stages.data[i];

		collect_stage_vars(&b, s);
		for (int k = 0; k < s->n_inputs; k++) {
			assert(s->inputs[k]->stage ||
			       is_param(s->inputs[k]->buffer, params,
					n_params));
		}
		for (int k = 0; k < s->n_out; k++) {
			const struct buffer *buffer = s->out[k]->buffer;

			if (!is_param(buffer, params, n_params)) {
				vec_push(&m->arena, &b.allocs, buffer);
			}
		}
		list[i] = build_stage(&b, s);
	}
	for (int i = 0; i < b.free.n; i++) {
		func_add_param(b.f, b.free.data[i], NULL);
	}
	root.allocs = b.allocs.data;
	root.n_allocs = b.allocs.n;
	b.f->body = stmt_block(b.f, &root, expr_bool(m, true), NULL, NULL,
			       stmt_seq(b.f, list, b.stages.n));
	return b.f;
}
