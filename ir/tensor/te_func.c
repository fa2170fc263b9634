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
#include "te_build.h"

#include <assert.h>

static void
collect_stages(struct te_build *b, struct te_stage *s)
{
	if (vec_has(&b->stages, s)) {
		return;
	}
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i]->stage) {
			collect_stages(b, s->inputs[i]->stage);
		}
	}
	vec_push(&b->m->arena, &b->stages, s);
}

bool
te_is_param(const struct te_build *b, const struct buffer *buffer)
{
	for (int i = 0; i < b->n_params; i++) {
		if (b->params[i]->buffer == buffer) {
			return true;
		}
	}
	return false;
}

const struct buffer *
te_target(const struct te_build *b, const struct buffer *buffer)
{
	for (int i = 0; i < b->redirects.n; i++) {
		if (b->redirects.data[i].from == buffer) {
			return b->redirects.data[i].to;
		}
	}
	return buffer;
}

static bool
has_input(const struct te_stage *s, const struct te_tensor *t)
{
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i] == t) {
			return true;
		}
	}
	return false;
}

bool
te_is_shared(const struct te_build *b, const struct te_tensor *t,
	     const struct te_stage *reader)
{
	bool shared = te_is_param(b, t->buffer);

	for (int i = 0; i < b->stages.n; i++) {
		const struct te_stage *s = b->stages.data[i];

		shared |= s != reader && has_input(s, t);
		for (int k = 0; s->scan && k < s->scan->n_body; k++) {
			shared |= has_input(s->scan->body[k], t);
		}
	}
	return shared;
}

void
te_note_free(struct te_build *b, struct var *v)
{
	if (vec_has(&b->bound, v)) {
		return;
	}
	vec_add(&b->m->arena, &b->free, v);
}

static void
collect_free(struct te_build *b, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each_of(list, n, EXPR_VAR);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		te_note_free(b, e->u.var);
	}
}

static void
collect_axes_vars(struct te_build *b, const struct iter_var *axes, int n)
{
	for (int i = 0; i < n; i++) {
		vec_push(&b->m->arena, &b->bound, axes[i].var);
	}
	for (int i = 0; i < n; i++) {
		collect_free(b, &axes[i].extent, 1);
	}
}

void
te_body_parts(struct arena *a, const struct expr *body, struct exprs *out)
{
	if (body->kind != EXPR_REDUCE) {
		vec_push(a, &out->list, body);
		return;
	}
	for (int i = 0; i < body->n_args; i++) {
		vec_push(a, &out->list, body->args[i]);
	}
	if (body->u.reduce->condition) {
		vec_push(a, &out->list, body->u.reduce->condition);
	}
	for (int i = 0; body->u.reduce->init && i < body->n_args; i++) {
		vec_push(a, &out->list, body->u.reduce->init[i]);
	}
}

void
te_stage_parts(struct arena *a, const struct te_stage *s, struct exprs *out)
{
	for (int k = 0; k < s->n_out; k++) {
		te_body_parts(a, s->bodies[k], out);
	}
}

static void
collect_compute_vars(struct te_build *b, const struct te_stage *s)
{
	struct exprs parts = { 0 };

	collect_axes_vars(b, s->axes, s->n_axes);
	for (int k = 0; k < s->n_out; k++) {
		const struct expr *e = s->bodies[k];

		if (e->kind == EXPR_REDUCE) {
			collect_axes_vars(b, e->u.reduce->axes,
					  e->u.reduce->n_axes);
		}
	}
	te_stage_parts(&b->m->arena, s, &parts);
	collect_free(b, parts.list.data, parts.list.n);
}

static void
collect_lets(struct te_build *b, const struct te_store *stores, int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < stores[i].n_first + stores[i].n_then; k++) {
			vec_push(&b->m->arena, &b->bound,
				 stores[i].lets[k].var);
		}
	}
}

static void
collect_ordered_vars(struct te_build *b, const struct te_stage *s)
{
	const struct te_ordered *o = s->ordered;
	struct exprs parts = { 0 };

	for (int k = 0; k < s->n_out; k++) {
		if (o->start[k]) {
			collect_compute_vars(b, o->start[k]);
		}
	}
	collect_axes_vars(b, o->axes, o->n_axes);
	collect_lets(b, o->stores, o->n_stores);
	for (int i = 0; i < o->n_phases; i++) {
		const struct te_phase *p = &o->phases[i];

		if (p->sum) {
			collect_compute_vars(b, p->sum);
		}
		collect_axes_vars(b, p->axes, p->n_axes);
		collect_lets(b, p->stores, p->n_stores);
	}
	te_ordered_parts(&b->m->arena, s, &parts);
	collect_free(b, parts.list.data, parts.list.n);
}

static void
collect_stage_vars(struct te_build *b, const struct te_stage *s)
{
	if (s->kind == TE_COMPUTE) {
		collect_compute_vars(b, s);
		return;
	}
	for (int k = 0; k < s->n_out; k++) {
		collect_free(b, s->out[k]->buffer->shape,
			     s->out[k]->buffer->ndim);
	}
	if (s->ordered) {
		collect_ordered_vars(b, s);
	}
	for (int i = 0; s->scan && i < s->scan->n_body; i++) {
		collect_compute_vars(b, s->scan->body[i]);
	}
	if (s->external) {
		collect_axes_vars(b, s->axes, s->n_axes);
		te_extern_vars(b, s);
	}
}

static bool
is_taken(const struct te_build *b, const char *name)
{
	for (int i = 0; i < b->names.n; i++) {
		if (strcmp(b->names.data[i], name) == 0) {
			return true;
		}
	}
	return strcmp(name, "root") == 0;
}

const char *
te_unique_name(struct te_build *b, const char *name)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_puts(&text, name);
	for (int suffix = 1; is_taken(b, text.data); suffix++) {
		text.len = 0;
		strbuf_printf(&text, "%s_%d", name, suffix);
	}
	name = arena_strdup(&b->m->arena, text.data);
	strbuf_release(&text);
	vec_push(&b->m->arena, &b->names, name);
	return name;
}

/* Collects the buffers that the function allocates: outputs of stages that are
 * not parameters. */
static void
own_buffers(struct te_build *b, const struct te_stage *s)
{
	for (int k = 0; k < s->n_out; k++) {
		const struct buffer *buffer = s->out[k]->buffer;

		if (!te_is_param(b, buffer) && te_target(b, buffer) == buffer) {
			vec_push(&b->m->arena, &b->allocs, buffer);
		}
	}
	for (int i = 0; s->scan && i < s->scan->n_body; i++) {
		own_buffers(b, s->scan->body[i]);
	}
}

static struct stmt *
build_stage(struct te_build *b, const struct te_stage *s)
{
	switch (s->kind) {
	case TE_SCAN:
		return te_build_scan(b, s);
	case TE_EXTERN:
		return te_build_extern(b, s);
	case TE_ORDERED:
		return te_build_ordered(b, s);
	default:
		return te_build_compute(b, s, NULL);
	}
}

static void
build_begin(struct te_build *b)
{
	for (int i = 0; i < b->n_params; i++) {
		if (b->params[i]->stage) {
			collect_stages(b, b->params[i]->stage);
		}
	}
}

/* Checks that the function uses no stage of a scan's step outside of the scan:
 * the stage computes one step; only the scan computes all steps. False, with
 * the reason in *why. */
static bool
check_scan_use(const struct te_build *b, const struct te_scan *scan,
	       const char **why)
{
	for (int i = 0; i < scan->n_body; i++) {
		const struct te_stage *s = scan->body[i];

		for (int k = 0; k < b->stages.n; k++) {
			if (b->stages.data[k] == s) {
				*why = arena_printf(
					&b->m->arena,
					"'%s' is computed step "
					"by step inside a scan; use the "
					"scan's result instead",
					s->name);
				return false;
			}
		}
	}
	return true;
}

static bool
is_state(const struct te_build *b, const struct te_tensor *t)
{
	for (int i = 0; i < b->stages.n; i++) {
		const struct te_stage *s = b->stages.data[i];

		for (int k = 0; s->scan && k < s->n_out; k++) {
			if (s->scan->state[k] == t) {
				return true;
			}
		}
	}
	return false;
}

bool
te_check_params(struct module *m, struct te_tensor *const *params, int n,
		const char **why)
{
	struct te_build b = { .m = m, .params = params, .n_params = n };

	build_begin(&b);
	for (int i = 0; i < b.stages.n; i++) {
		const struct te_scan *scan = b.stages.data[i]->scan;

		if (scan && !check_scan_use(&b, scan, why)) {
			return false;
		}
	}
	for (int i = 0; i < b.stages.n; i++) {
		const struct te_stage *s = b.stages.data[i];

		if (s->external && !s->external->call && !s->external->func) {
			*why = arena_printf(&m->arena,
					    "'%s' has no body; "
					    "give it a call or a function",
					    s->name);
			return false;
		}
		for (int k = 0; k < s->n_inputs; k++) {
			const struct te_tensor *t = s->inputs[k];

			if (t->stage || te_is_param(&b, t->buffer)) {
				continue;
			}
			*why = arena_printf(
				&m->arena,
				is_state(&b, t)
					? "'%s' is the state of a scan and has no "
					  "value outside of it; read the scan's "
					  "result"
					: "'%s' is read but is not among the "
					  "parameters; add it",
				t->buffer->name);
			return false;
		}
	}
	return true;
}

struct func *
te_to_func(struct module *m, const char *name, struct te_tensor *const *params,
	   int n_params)
{
	return te_to_func_blocks(m, name, params, n_params, NULL);
}

struct func *
te_to_func_blocks(struct module *m, const char *name,
		  struct te_tensor *const *params, int n_params,
		  struct te_blocks *blocks)
{
	struct te_build b = { .m = m,
			      .f = func_new(m, name),
			      .params = params,
			      .n_params = n_params,
			      .blocks = blocks };
	struct block root = { .name = "root" };
	struct stmt **list;

	for (int i = 0; i < n_params; i++) {
		const struct buffer *buffer = params[i]->buffer;

		func_add_param(b.f, buffer->data, buffer);
		collect_free(&b, buffer->shape, buffer->ndim);
	}
	build_begin(&b);
	for (int i = 0; i < b.stages.n; i++) {
		const struct te_stage *s = b.stages.data[i];

		for (int k = 0; k < s->n_inputs; k++) {
			assert(s->inputs[k]->stage ||
			       te_is_param(&b, s->inputs[k]->buffer));
		}
		collect_stage_vars(&b, s);
		if (s->kind == TE_SCAN) {
			te_scan_redirect(&b, s);
		}
	}
	list = arena_array(&m->arena, struct stmt *, b.stages.n + 1);
	for (int i = 0; i < b.stages.n; i++) {
		own_buffers(&b, b.stages.data[i]);
		list[i] = build_stage(&b, b.stages.data[i]);
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
