/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the program of one function into another with the same signature, for
 * example after the function was printed and read back: the sizes and
 * parameters of the function that was read are replaced by the original ones,
 * which callers know. */
#include "func.h"
#include "iterate.h"

struct adoption {
	struct func *into, *from;
	struct module *m;
	struct var_map vars;
	VEC(const struct buffer *) seen;
};

static void
map_var(struct adoption *a, struct var *from, const struct expr *to)
{
	struct arena *arena = &a->m->arena;
	struct var **f = arena_array(arena, struct var *, a->vars.n + 1);
	const struct expr **t = arena_exprs(arena, a->vars.n + 1);

	for (int i = 0; i < a->vars.n; i++) {
		f[i] = a->vars.from[i];
		t[i] = a->vars.to[i];
	}
	f[a->vars.n] = from;
	t[a->vars.n] = to;
	a->vars = (struct var_map){ f, t, a->vars.n + 1 };
}

static const struct expr *const *
renewed(struct adoption *a, const struct expr *const *list, int n,
	bool *changed)
{
	const struct expr **out;

	if (list == NULL || n == 0) {
		return list;
	}
	out = arena_exprs(&a->m->arena, n);
	for (int i = 0; i < n; i++) {
		out[i] = expr_substitute(a->m, list[i], &a->vars);
		*changed |= out[i] != list[i];
	}
	return out;
}

/* Replaces a buffer allocated in the body if its sizes must be written in the
 * variables of `into`. */
static void
renew_buffer(struct adoption *a, const struct buffer *b)
{
	struct buffer_spec spec = {
		.name = b->name,
		.type = b->type,
		.ndim = b->ndim,
		.scope = b->scope,
		.align_bytes = b->align_bytes,
	};
	const struct buffer *fresh;
	bool changed = false;

	if (vec_has(&a->seen, b)) {
		return;
	}
	vec_push(&a->m->arena, &a->seen, b);
	spec.shape = renewed(a, b->shape, b->ndim, &changed);
	spec.strides = renewed(a, b->strides, b->ndim, &changed);
	if (changed) {
		fresh = buffer_new(a->m, &spec);
		vec_push(&a->m->arena, &a->seen, fresh);
		stmt_replace_buffer(a->into, a->into->body, b, fresh);
		map_var(a, b->data, fresh->data->expr);
	}
}

static void
renew_buffers(struct adoption *a, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		if (s->kind == STMT_ALLOC) {
			renew_buffer(a, s->u.buffer);
		}
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_allocs; i++) {
			renew_buffer(a, s->u.block->allocs[i]);
		}
	}
}

static const char *
differs(struct adoption *a, int i, const char *what)
{
	return arena_printf(&a->m->arena, "parameter %d is %s", i + 1, what);
}

static bool
same_buffer(struct adoption *a, const struct buffer *x, const struct buffer *y)
{
	if (x->ndim != y->ndim || !dtype_equal(x->type, y->type)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (expr_substitute(a->m, x->shape[d], &a->vars) !=
		    y->shape[d]) {
			return false;
		}
	}
	return true;
}

/* Pairs the parameters of both functions. Returns the first difference between
 * them in words, or NULL if they all match. */
static const char *
match_params(struct adoption *a)
{
	struct func *f = a->into, *g = a->from;

	if (f->params.n != g->params.n) {
		return arena_printf(&a->m->arena,
				    "%d parameters instead of "
				    "%d",
				    g->params.n, f->params.n);
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		const struct param *q = &g->params.data[i];

		if ((p->buffer == NULL) != (q->buffer == NULL)) {
			return differs(a, i,
				       p->buffer != NULL
					       ? "no longer a buffer"
					       : "no longer a scalar");
		}
		if (p->buffer == NULL) {
			if (!dtype_equal(p->var->type, q->var->type)) {
				return differs(a, i, "of another type");
			}
			map_var(a, q->var, p->var->expr);
		}
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		const struct param *q = &g->params.data[i];

		if (p->buffer == NULL) {
			continue;
		}
		if (!same_buffer(a, q->buffer, p->buffer)) {
			return differs(a, i, "of a different type or shape");
		}
		map_var(a, q->var, p->var->expr);
		if (q->buffer->data != q->var) {
			map_var(a, q->buffer->data, p->buffer->data->expr);
		}
	}
	return NULL;
}

const char *
func_mismatch(struct func *f, struct func *g)
{
	struct adoption a = { .into = f, .from = g, .m = f->module };

	return match_params(&a);
}

bool
func_adopt(struct func *f, struct func *g)
{
	struct adoption a = { .into = f, .from = g, .m = f->module };
	const char *mismatch = match_params(&a);

	if (mismatch != NULL) {
		return diag_error(&a.m->diags, DIAG_BAD_PROGRAM,
				  (struct diag_place){ .item = f->name },
				  "%s; keep the signature", mismatch);
	}
	f->body = g->body;
	f->notes = g->notes;
	f->facts = g->facts;
	f->next_id = f->next_id > g->next_id ? f->next_id : g->next_id;
	func_commit(f);
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			stmt_replace_buffer(f, f->body,
					    g->params.data[i].buffer, b);
			vec_push(&a.m->arena, &a.seen, b);
		}
	}
	renew_buffers(&a, f->body);
	stmt_substitute(f, f->body, &a.vars);
	return true;
}
