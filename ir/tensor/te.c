/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions: placeholders, stages, reductions, inlining. */
#include "te.h"

#include <assert.h>

#include "iterate.h"
#include "pointer_map.h"

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
	static const char *const first[] = { "i0", "i1", "i2", "i3" };
	const int n_first = (int)(sizeof first / sizeof *first);
	struct iter_var *axes = arena_array(&m->arena, struct iter_var, ndim);

	for (int d = 0; d < ndim; d++) {
		const char *name = names ? names[d]
				   : d < n_first
					   ? first[d]
					   : arena_printf(&m->arena, "i%d", d);

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

/* Sets the inputs of the stage to the given tensors from which its bodies load,
 * each once. Entries that are NULL are skipped. */
static void
keep_used(struct te_stage *s, struct arena *a, struct te_tensor *const *inputs,
	  int n_inputs)
{
	enum { LOADED = 1, KEPT };
	struct pointer_map buffers;
	const struct expr *e;

	pointer_map_init(&buffers, a);
	for (struct tree_iter it =
		     exprs_each_of(s->bodies, s->n_out, EXPR_LOAD);
	     (e = tree_next(&it));) {
		pointer_map_put(&buffers, e->u.buffer, LOADED);
	}
	for (int i = 0; i < n_inputs; i++) {
		if (inputs[i] != NULL &&
		    pointer_map_get(&buffers, inputs[i]->buffer, 0) == LOADED) {
			s->inputs[s->n_inputs++] = inputs[i];
			pointer_map_put(&buffers, inputs[i]->buffer, KEPT);
		}
	}
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
	const struct expr **shape = arena_exprs(a, n_axes + 1);

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
	keep_used(s, a, inputs, n_inputs);
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
	/* A buffer's identity does not depend on its name, so LOADs of the
	 * buffer stay valid. */
	struct buffer *b = t->buffer;

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
	return te_reduce(m, reducer_sum(m, source->type), source, axes, n_axes);
}

void
te_reduce_from(struct module *m, const struct reducer *r,
	       const struct expr *const *sources, struct iter_var *axes,
	       int n_axes, const struct expr *condition,
	       const struct expr *const *init, const struct expr **out)
{
	if (init) {
		init = arena_copy(&m->arena, init, sizeof *init * (size_t)r->n);
	}
	for (int k = 0; k < r->n; k++) {
		struct reduction *red = arena_new(&m->arena, struct reduction);

		red->reducer = r;
		red->axes = arena_copy(&m->arena, axes,
				       sizeof *axes * (size_t)n_axes);
		red->n_axes = n_axes;
		red->index = k;
		red->condition = condition;
		red->init = init;
		out[k] = expr_reduce(m, red, sources, r->n);
	}
}

void
te_reduce_multi(struct module *m, const struct reducer *r,
		const struct expr *const *sources, struct iter_var *axes,
		int n_axes, const struct expr *condition,
		const struct expr **out)
{
	te_reduce_from(m, r, sources, axes, n_axes, condition, NULL, out);
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
	map.to = arena_exprs(&in->m->arena, e->n_args + 1);
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

	assert(t->stage && t->stage->kind == TE_COMPUTE &&
	       t->stage->bodies[0]->kind != EXPR_REDUCE);
	return expr_rewrite(m, e, inline_load, &in);
}
