/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tensor intrinsics. */
#include "tensor_intrin.h"

void
tensor_intrins_init(struct tensor_intrins *t, struct arena *arena)
{
	memset(t, 0, sizeof *t);
	t->arena = arena;
}

void
tensor_intrins_add(struct tensor_intrins *t, const struct tensor_intrin *intrin)
{
	for (int i = 0; i < t->list.n; i++) {
		if (strcmp(t->list.data[i]->name, intrin->name) == 0) {
			t->list.data[i] = intrin;
			return;
		}
	}
	vec_push(t->arena, &t->list, intrin);
}

static const struct tensor_intrin *
find(const struct tensor_intrins *t, const char *name)
{
	for (int i = 0; t && i < t->list.n; i++) {
		if (strcmp(t->list.data[i]->name, name) == 0) {
			return t->list.data[i];
		}
	}
	return NULL;
}

const struct tensor_intrin *
tensor_intrins_find(struct tensor_intrins *t, const char *name)
{
	const struct tensor_intrin *found = find(t, name);

	if (!found && t && t->look_up) {
		t->look_up(t, name);
		found = find(t, name);
	}
	return found;
}

struct tensor_call *
tensor_intrins_call(const struct tensor_intrins *t, const char *symbol)
{
	for (int i = 0; t && i < t->calls.n; i++) {
		if (strcmp(t->calls.data[i].symbol, symbol) == 0) {
			return &t->calls.data[i];
		}
	}
	return NULL;
}

int64_t
tensor_intrin_most(const struct tensor_intrin *t, const struct expr *size)
{
	int64_t most = 0;

	if (size->kind != EXPR_VAR) {
		return expr_is_int(size, &most) ? most : 0;
	}
	for (int i = 0; i < t->n_limits; i++) {
		if (strcmp(t->limits[i].variable, size->u.var->name) == 0) {
			most = t->limits[i].most;
		}
	}
	return most;
}

void
tensor_intrin_open_scopes(struct func *f)
{
	for (int i = 0; f && i < f->params.n; i++) {
		const struct buffer *old = f->params.data[i].buffer;
		struct buffer *b;

		if (old && strcmp(old->scope, "global") == 0) {
			b = buffer_with_shape(f->module, old, -1, NULL);
			b->scope = "";
			b->data = old->data;
			func_replace_param(f, old, b);
		}
	}
}

bool
tensor_intrin_same_params(struct module *m, const struct func *desc,
			  const struct func *f, const char **why)
{
	for (int i = 0; i < f->params.n || i < desc->params.n; i++) {
		const struct buffer *a = i < desc->params.n
						 ? desc->params.data[i].buffer
						 : NULL;
		const struct buffer *b = i < f->params.n
						 ? f->params.data[i].buffer
						 : NULL;

		if (!a || !b || a->ndim != b->ndim ||
		    !dtype_equal(a->type, b->type)) {
			*why = arena_printf(
				&m->arena,
				"parameter %d of %s is not a buffer, "
				"or of another rank or type than "
				"in desc; all functions take the "
				"same",
				i, f->name);
			return false;
		}
	}
	return true;
}
