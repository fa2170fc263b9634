/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to write operators as statements. */
#include "steps.h"

#include <assert.h>

/* The texts of the folder passes/ops/steps, as a table that steps_texts.py
 * makes; its last row has no name. */
extern const struct source steps_texts[];

struct steps
steps_begin(struct define *c, const char *name, const char *tag,
	    const char *const *names, const struct dtype *types,
	    const int *ndims, const struct expr *const *const *shapes, int n,
	    struct te_tensor *const *in, int n_in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct steps s = { .c = c, .m = m, .f = func_new(m, name), .n_out = n };

	s.out = arena_array(&m->arena, struct te_tensor *, n);
	te_extern(m, name, tag, types, ndims, shapes, n, in, n_in, s.out);
	for (int k = 0; k < n; k++) {
		te_rename(m, s.out[k], names[k]);
		steps_tensor(&s, names[k], s.out[k]);
		out[k] = s.out[k];
	}
	return s;
}

void
steps_end(struct steps *s, struct iter_var *axes, int n_axes, struct stmt *body)
{
	const struct te_stage *stage = s->out[0]->stage;
	const char *why;

	for (int i = 0; i < stage->n_inputs; i++) {
		const struct buffer *b = stage->inputs[i]->buffer;

		func_add_param(s->f, b->data, b);
	}
	for (int k = 0; k < s->n_out; k++) {
		func_add_param(s->f, s->out[k]->buffer->data,
			       s->out[k]->buffer);
		vec_push(&s->m->arena, &s->c->tensors, s->out[k]);
	}
	s->f->body = body;
	te_extern_axes(s->out[0], axes, n_axes);
	if (!te_extern_body(s->m, s->out[0], NULL, NULL, s->f, &why)) {
		assert(!"a body that te_extern takes");
	}
}

/* ---- texts */

static void
bind(struct steps *s, struct script_binding b)
{
	vec_push(&s->m->arena, &s->names, b);
}

void
steps_part(struct steps *s, const char *name, const struct te_tensor *t,
	   const struct expr *const *at)
{
	bind(s, (struct script_binding){
			.name = name, .buffer = t->buffer, .at = at });
}

void
steps_tensor(struct steps *s, const char *name, const struct te_tensor *t)
{
	steps_part(s, name, t, NULL);
}

void
steps_row(struct steps *s, const char *name, const struct te_tensor *t,
	  const struct expr *const *at, int n)
{
	const struct expr **all = arena_exprs(&s->m->arena,
					      t->buffer->ndim + 1);

	for (int d = 0; d < t->buffer->ndim; d++) {
		all[d] = d < n ? at[d] : NULL;
	}
	steps_part(s, name, t, all);
}

void
steps_value(struct steps *s, const char *name, const struct expr *value)
{
	bind(s, (struct script_binding){ .name = name, .value.e = value });
}

static void
bind_known(struct steps *s, const char *name, const struct expr *e)
{
	bind(s, (struct script_binding){ .name = name,
					 .value = { .e = e, .weak = true } });
}

void
steps_number(struct steps *s, const char *name, int64_t value)
{
	bind_known(s, name, expr_int(s->m, dtype_of(DT_I64), value));
}

void
steps_flag(struct steps *s, const char *name, bool value)
{
	bind_known(s, name, expr_bool(s->m, value));
}

void
steps_type(struct steps *s, const char *name, struct dtype type)
{
	bind_known(s, name, expr_string(s->m, dtype_name(type)));
}

void
steps_bytes(struct steps *s, const char *name, const char *text)
{
	int n = (int)strlen(text);
	struct script_outer *items = arena_array(&s->m->arena,
						 struct script_outer, n + 1);

	for (int i = 0; i < n; i++) {
		items[i].e = expr_i32(s->m, (unsigned char)text[i]);
		items[i].weak = true;
	}
	bind(s,
	     (struct script_binding){
		     .name = name, .value = { .items = items, .n_items = n } });
}

void
steps_order(struct steps *s, struct dtype type)
{
	struct dtype wide = accumulator_type(type);

	steps_type(s, "wide", wide);
	steps_flag(s, "has_nan", dtype_is_float(wide));
}

bool
steps_run(struct steps *s, const char *name, struct iter_var *axes, int n_axes)
{
	const struct source *text = steps_texts;
	const char *file = arena_printf(&s->m->arena, "%s.py", name);
	struct stmt *body;

	while (strcmp(text->name, file) != 0) {
		text++;
		assert(text->name);
	}
	body = script_read_steps(s->f, text, name, s->names.data, s->names.n);
	if (body) {
		steps_end(s, axes, n_axes, body);
	}
	return body != NULL;
}

/* ---- statements */

const struct buffer *
step_local(struct steps *s, const char *name, struct dtype type)
{
	struct buffer_spec spec = { .name = name,
				    .type = type,
				    .scope = "local" };

	return buffer_new(s->m, &spec);
}

struct stmt *
step_alloc(struct steps *s, const struct buffer *local, struct stmt *body)
{
	return stmt_alloc(s->f, local, body);
}

const struct expr *
step_get(struct steps *s, const struct buffer *local)
{
	return expr_load(s->m, local, NULL, 0);
}

struct stmt *
step_set(struct steps *s, const struct buffer *local, const struct expr *value)
{
	return stmt_store(s->f, local, value, NULL, 0);
}

struct stmt *
step_for(struct steps *s, struct var *v, const struct expr *extent,
	 struct stmt *body)
{
	return stmt_for(s->f, v, expr_int(s->m, v->type, 0), extent, FOR_SERIAL,
			body);
}

struct stmt *
step_seq(struct steps *s, int n, struct stmt *a, struct stmt *b, struct stmt *c,
	 struct stmt *d)
{
	struct stmt *list[] = { a, b, c, d };

	return stmt_seq(s->f, list, n);
}

const struct expr *
step_name(struct step_names *names, const char *name, const struct expr *value)
{
	struct te_let let = { .value = value };

	if (value->n_args == 0) {
		return value;
	}
	let.var = var_new(names->s->m, name, value->type);
	vec_push(&names->s->m->arena, &names->list, let);
	return let.var->expr;
}

struct stmt *
step_named(struct step_names *names, struct stmt *body)
{
	for (int k = names->list.n - 1; k >= 0; k--) {
		body = stmt_let(names->s->f, names->list.data[k].var,
				names->list.data[k].value, body);
	}
	return body;
}
