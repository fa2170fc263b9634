/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to write operators as statements. */
#include "steps.h"

#include <assert.h>

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
step_is_less(struct module *m, const struct expr *a, const struct expr *b)
{
	struct dtype t = accumulator_type(a->type);

	a = expr_cast(m, t, a);
	b = expr_cast(m, t, b);
	if (!dtype_is_float(t)) {
		return expr_lt(m, a, b);
	}
	return expr_and(m, expr_not(m, expr_le(m, b, a)),
			expr_not(m, expr_call1(m, INTRIN_ISNAN, a)));
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
