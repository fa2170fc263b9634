/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: texts of steps, in which functions call functions. */
#include "script_read.h"

#include <assert.h>

void
script_define_function(struct script_reader *r, const struct py_node *def)
{
	script_define(r, def->text,
		      (struct script_value){ .kind = SCRIPT_FUNCTION,
					     .def = def });
}

/* The value of a node that is a name; NULL: it is none, or not defined. */
static const struct script_value *
named(const struct script_reader *r, const struct py_node *node)
{
	return node->kind == PY_NAME ? script_find(r, node->text) : NULL;
}

bool
script_is_variable(const struct script_reader *r, const struct py_node *node)
{
	const struct script_value *v = named(r, node);

	return v && script_is_scalar(r, v);
}

const struct py_node *
script_function(const struct script_reader *r, const struct py_node *call)
{
	const struct script_value *v = call->kind == PY_CALL
					       ? named(r, call->kids[0])
					       : NULL;

	return v && v->kind == SCRIPT_FUNCTION ? v->def : NULL;
}

bool
script_function_steps(struct script_reader *r, const struct py_node *call,
		      const struct py_node *def, struct script_suite *suite)
{
	struct script_macro macro;
	struct stmt *s;

	if (!script_enter_macro(r, call, def, false, &macro) ||
	    !script_read_suite(r, def->kids[0], &s)) {
		return false;
	}
	script_leave_macro(r, &macro);
	script_push(r, suite, call, s);
	return true;
}

/* Reads the lines of a function up to the return; *done: it was there. */
static bool read_value(struct script_reader *r, const struct py_node *lines,
		       struct script_suite *suite, struct script_value *out,
		       bool *done);

/* The same for the branch of an if that is chosen when the text is read. */
static bool
read_branch(struct script_reader *r, const struct py_node *node,
	    struct script_suite *suite, struct script_value *out, bool *done)
{
	const struct py_node *taken;
	struct script_value v;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (!script_is_decided(node, &v, &taken)) {
		return script_fail(r, node,
				   "a branch of a function whose value is used "
				   "is chosen when the text is read");
	}
	return !taken ||
	       (taken->kind == PY_IF ? read_branch(r, taken, suite, out, done)
				     : read_value(r, taken, suite, out, done));
}

/* The same for each number of a loop: for j in range(size): … */
static bool
read_repeated(struct script_reader *r, const struct py_node *node,
	      struct script_suite *suite, struct script_value *out, bool *done)
{
	const struct py_node *in = node->kids[1];
	int64_t n;

	if (in->kind != PY_CALL || in->n_kids != 2 ||
	    !script_constant(r, in->kids[1], &n)) {
		return script_fail(r, node, "a loop that is no range(size)");
	}
	for (int64_t j = 0; j < n && !*done; j++) {
		struct py_number number = py_int(j);

		script_define(r, node->kids[0]->text,
			      script_value_of(typed_number(r->m, &number).e,
					      true));
		if (!read_value(r, node->kids[2], suite, out, done)) {
			return false;
		}
	}
	return true;
}

static bool
read_value(struct script_reader *r, const struct py_node *lines,
	   struct script_suite *suite, struct script_value *out, bool *done)
{
	struct script_value v;

	for (int i = 0; i < lines->n_kids && !*done; i++) {
		const struct py_node *one = lines->kids[i];

		switch (one->kind) {
		case PY_EXPRESSION:
			if (one->kids[0]->kind == PY_STRING) {
				continue; /* a comment */
			}
			break;
		case PY_RETURN:
			*done = true;
			if (one->kids[0]) {
				return script_eval(r, one->kids[0], out);
			}
			break;
		case PY_IF:
			if (!read_branch(r, one, suite, out, done)) {
				return false;
			}
			continue;
		case PY_FOR:
			if (!read_repeated(r, one, suite, out, done)) {
				return false;
			}
			continue;
		case PY_ASSIGN:
			if (suite) {
				if (!script_assign(r, one, suite)) {
					return false;
				}
				continue;
			}
			if (one->kids[0]->kind != PY_NAME) {
				break;
			}
			if (!script_eval(r, one->kids[1], &v)) {
				return false;
			}
			script_define(r, one->kids[0]->text, v);
			continue;
		default:
			break;
		}
		return script_fail(r, one,
				   "a function whose value is used gives names "
				   "to values, and returns one");
	}
	return true;
}

bool
script_function_value(struct script_reader *r, const struct py_node *call,
		      const struct py_node *def, struct script_suite *suite,
		      struct script_value *out)
{
	struct script_macro macro;
	bool done = false;

	if (!script_enter_macro(r, call, def, false, &macro) ||
	    !read_value(r, def->kids[0], suite, out, &done)) {
		return false;
	}
	script_leave_macro(r, &macro);
	return done || script_fail(r, call, "%s returns no value", def->text);
}

/* The value of a name that steps may use. */
static struct script_value
value_of(struct script_reader *r, const struct script_binding *b)
{
	struct script_value v = { .kind = SCRIPT_BUFFER, .buffer = b->buffer };
	struct script_view *view;
	const struct expr **shape;

	if (!b->buffer) {
		return script_value_of_outer(r, &b->value);
	}
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
		script_define(&r, list[i].name, value_of(&r, &list[i]));
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
