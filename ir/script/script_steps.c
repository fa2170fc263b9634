/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: texts of steps, which use names that the caller
 * defines. */
#include "script_read.h"

#include <assert.h>

/* A buffer, or a part of one, that steps may use. */
static struct script_value
buffer_value(struct script_reader *r, const struct script_binding *b)
{
	struct script_value v = { .kind = SCRIPT_BUFFER, .buffer = b->buffer };
	struct script_view *view;
	const struct expr **shape;

	if (!b->at) {
		return v;
	}
	view = arena_new(&r->m->arena, struct script_view);
	shape = arena_exprs(&r->m->arena, b->buffer->ndim + 1);
	view->min = arena_exprs(&r->m->arena, b->buffer->ndim + 1);
	view->picks = true;
	for (int d = 0; d < b->buffer->ndim; d++) {
		view->min[d] = b->at[d];
		if (!b->at[d]) {
			shape[view->ndim++] = b->buffer->shape[d];
		}
	}
	view->shape = shape;
	v.view = view;
	return v;
}

static bool
forget_position(void *ctx, struct stmt *s)
{
	(void)ctx;
	s->pos = (struct src_pos){ 0, 0 };
	return true;
}

struct stmt *
script_read_steps(struct func *f, const struct source *src, const char *name,
		  const struct script_binding *list, int n)
{
	struct script_reader r = {
		.m = f->module,
		.src = src,
		.typing = { f->module, src, &typing_of_scripts },
		.f = f,
		.is_steps = true,
	};
	struct script_block root = { .is_root = true };
	const struct py_node *tree = py_parse(f->module, src), *def = NULL;
	struct stmt *s;

	if (!tree) {
		return NULL;
	}
	text_map_init(&r.ids, &f->module->arena);
	text_map_init(&r.stem_of, &f->module->arena);
	r.block = &root;
	for (int i = 0; i < tree->n_kids; i++) {
		if (tree->kids[i]->kind == PY_DEF) {
			script_define_function(&r, tree->kids[i]);
			def = strcmp(tree->kids[i]->text, name) == 0
				      ? tree->kids[i]
				      : def;
		}
	}
	for (int i = 0; i < n; i++) {
		struct script_value v;

		if (list[i].buffer) {
			v = buffer_value(&r, &list[i]);
		} else if (!script_value_of_outer(&r, tree, &list[i].value,
						  &v)) {
			return NULL;
		}
		script_define(&r, list[i].name, v);
	}
	assert(def);
	for (int i = 0; i < def->n_params; i++) {
		if (!script_find(&r, def->params[i].name)) {
			script_fail(&r, def, "nothing is given for %s",
				    def->params[i].name);
			return NULL;
		}
	}
	if (!script_read_suite(&r, def->kids[0], &s)) {
		return NULL;
	}
	stmt_visit(s, forget_position, NULL);
	return s;
}
