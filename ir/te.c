/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions and their phase-0 function:
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

struct te_tensor *
te_placeholder(struct module *m, const char *name, struct dtype type, int ndim,
	       const struct expr *const *shape)
{
	struct te_tensor *t = arena_new(&m->arena, struct te_tensor);
	struct buffer_spec spec = {
		.name = name, .type = type, .ndim = ndim, .shape = shape
	};

	t->buffer = buffer_new(m, &spec);
	return t;
}

struct iter_var *
te_axes(struct module *m, int ndim, const struct expr *const *shape,
	const char *const *names)
{
	struct iter_var *axes = arena_array(&m->arena, struct iter_var, ndim);

	for (int d = 0; d < ndim; d++) {
		const char *name = names
			? names[d] : arena_printf(&m->arena, "i%d", d);

		axes[d] = te_reduce_axis(m, name, shape[d]);
		axes[d].kind = ITER_SPATIAL;
	}
	return axes;
}

struct iter_var
te_reduce_axis(struct module *m, const char *name, const struct expr *extent)
{
	struct var *v = var_new(m, name, extent->type);

	return (struct iter_var){
		.var = v,
		.min = expr_int(m, extent->type, 0),
		.extent = extent,
		.kind = ITER_REDUCE,
	};
}

void
te_compute_multi(struct module *m, const char *const *names, const char *tag,
		 int n_axes, struct iter_var *axes,
		 const struct expr *const *bodies, int n,
		 struct te_tensor *const *inputs, int n_inputs,
		 struct te_tensor **out)
{
	struct arena *a = &m->arena;
	struct te_stage *s = arena_new(a, struct te_stage);
	const struct expr **shape =
		arena_array(a, const struct expr *, n_axes + 1);

	for (int d = 0; d < n_axes; d++) {
		assert(axes[d].kind == ITER_SPATIAL);
		shape[d] = axes[d].extent;
	}
	s->name = arena_strdup(a, names[0]);
	s->tag = tag;
	s->axes = arena_copy(a, axes, sizeof *axes * (size_t)n_axes);
	s->n_axes = n_axes;
	s->n_out = n;
	s->out = arena_array(a, struct te_tensor *, n);
	s->bodies = arena_copy(a, bodies, sizeof *bodies * (size_t)n);
	s->inputs = arena_array(a, struct te_tensor *, n_inputs + 1);
	for (int i = 0; i < n_inputs; i++) {
		bool used = false;

		for (int k = 0; k < n && inputs[i]; k++) {
			used |= expr_uses_buffer(bodies[k], inputs[i]->buffer);
		}
		for (int k = 0; k < s->n_inputs; k++) {
			used &= s->inputs[k] != inputs[i];
		}
		if (used) {
			s->inputs[s->n_inputs++] = inputs[i];
		}
	}
	for (int k = 0; k < n; k++) {
		struct te_tensor *t = te_placeholder(m, names[k],
						     bodies[k]->type, n_axes,
						     shape);

		t->stage = s;
		t->index = k;
		s->out[k] = t;
		out[k] = t;
	}
}

struct te_tensor *
te_compute(struct module *m, const char *name, const char *tag, int n_axes,
	   struct iter_var *axes, const struct expr *body,
	   struct te_tensor *const *inputs, int n_inputs)
{
	struct te_tensor *out;

	te_compute_multi(m, &name, tag, n_axes, axes, &body, 1, inputs,
			 n_inputs, &out);
	return out;
}

void
te_rename(struct module *m, struct te_tensor *t, const char *name)
{
	/* A name is no part of what a buffer means, and LOADs that refer to
	 * it stay valid. */
	struct buffer *b = (struct buffer *)t->buffer;

	b->name = arena_strdup(&m->arena, name);
	b->data->name = b->name;
	if (t->stage && t->index == 0) {
		t->stage->name = b->name;
	}
}

const struct expr *
te_at(struct module *m, const struct te_tensor *t,
      const struct expr *const *index, int n)
{
	assert(n == t->buffer->ndim);
	return expr_load(m, t->buffer, index, n);
}

const struct expr *
te_reduce(struct module *m, const struct reducer *r, const struct expr *source,
	  struct iter_var *axes, int n_axes)
{
	struct reduction *red = arena_new(&m->arena, struct reduction);

	red->reducer = r;
	red->axes = arena_copy(&m->arena, axes, sizeof *axes * (size_t)n_axes);
	red->n_axes = n_axes;
	return expr_reduce(m, red, &source, 1);
}

const struct expr *
te_sum(struct module *m, const struct expr *source, struct iter_var *axes,
       int n_axes)
{
	return te_reduce(m, reducer_sum(m, source->type), source, axes,
			 n_axes);
}

/* ---- from stages to a function ---- */

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

/* Stores values[k] into every output; several at once are computed before
 * the first is stored. */
static struct stmt *
store_all(struct build *b, const struct te_stage *s,
	  const struct expr *const *values, const struct expr *const *index)
{
	struct module *m = b->m;
	struct stmt **list = arena_array(&m->arena, struct stmt *, s->n_out);
	struct var **lets = arena_array(&m->arena, struct var *, s->n_out);
	struct stmt *body;

	for (int k = 0; k < s->n_out; k++) {
		const struct expr *value = values[k];

		if (s->n_out > 1) {
			lets[k] = var_new(m, arena_printf(&m->arena, "v_%s",
						s->out[k]->buffer->name),
					  value->type);
			value = lets[k]->expr;
		}
		list[k] = stmt_store(b->f, s->out[k]->buffer, value, index,
				     s->n_axes);
	}
	body = stmt_seq(b->f, list, s->n_out);
	for (int k = s->n_out - 1; k >= 0 && s->n_out > 1; k--) {
		body = stmt_let(b->f, lets[k], values[k], body);
	}
	return body;
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

/* Fills values (the update) and init of a reduction; returns the sources. */
static const struct expr **
reduce_values(struct build *b, const struct te_stage *s, const struct nest *n,
	      const struct expr *const *index, const struct expr **values,
	      const struct expr **init)
{
	struct module *m = b->m;
	const struct expr *body = s->bodies[0];
	const struct reduction *r = body->u.reduce;
	int count = r->reducer->n;
	struct var_map map = {
		.from = arena_array(&m->arena, struct var *, 2 * count),
		.to = arena_array(&m->arena, const struct expr *, 2 * count),
		.n = 2 * count,
	};
	const struct expr **sources =
		arena_array(&m->arena, const struct expr *, count);

	assert(count == s->n_out && body->n_args == count);
	for (int k = 0; k < count; k++) {
		sources[k] = expr_substitute(m, body->args[k], &n->map);
		if (r->condition) {
			sources[k] = expr_if(
				m, expr_substitute(m, r->condition, &n->map),
				sources[k], r->reducer->identity[k]);
		}
		map.from[k] = r->reducer->lhs[k];
		map.to[k] = expr_load(m, s->out[k]->buffer, index, s->n_axes);
		map.from[count + k] = r->reducer->rhs[k];
		map.to[count + k] = sources[k];
	}
	for (int k = 0; k < count; k++) {
		int which = s->bodies[k]->u.reduce->index;

		values[k] = expr_substitute(m, r->reducer->result[which],
					    &map);
		init[k] = r->reducer->identity[which];
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
	const struct expr **init =
		arena_array(a, const struct expr *, s->n_out);
	const struct expr *const *sources = values;
	struct region_list reads = { .m = m };
	struct block block = { .name = unique_name(b, s->name) };
	struct stmt *body;

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
		sources = reduce_values(b, s, &nest, nest.map.to, values,
					init);
	} else {
		for (int k = 0; k < s->n_out; k++) {
			values[k] = r ? r->reducer->identity[k]
				      : expr_substitute(m, s->bodies[k],
							&nest.map);
		}
	}
	block.iters = nest.iters;
	block.n_iters = total;
	for (int k = 0; k < s->n_out; k++) {
		expr_visit(sources[k], visit_region, &reads);
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
	body = stmt_block(b->f, &block, expr_bool(m, true), bindings,
			  reduces ? store_all(b, s, init, nest.map.to) : NULL,
			  store_all(b, s, values, nest.map.to));
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

/* ---- inlining ---- */

struct inlining {
	struct module *m;
	const struct te_tensor *t;
};

static const struct expr *
inline_load(void *ctx, const struct expr *e)
{
	struct inlining *in = ctx;
	const struct te_stage *s = in->t->stage;
	struct var_map map = { .n = e->n_args };

	if (e->kind != EXPR_LOAD || e->u.buffer != in->t->buffer) {
		return NULL;
	}
	map.from = arena_array(&in->m->arena, struct var *, e->n_args + 1);
	map.to = arena_array(&in->m->arena, const struct expr *,
			     e->n_args + 1);
	for (int d = 0; d < e->n_args; d++) {
		map.from[d] = s->axes[d].var;
		map.to[d] = te_inline(in->m, e->args[d], in->t);
	}
	return expr_substitute(in->m, s->bodies[in->t->index], &map);
}

const struct expr *
te_inline(struct module *m, const struct expr *e, const struct te_tensor *t)
{
	struct inlining in = { m, t };

	assert(t->stage && t->stage->bodies[0]->kind != EXPR_REDUCE);
	return expr_rewrite(m, e, inline_load, &in);
}
