/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: functions and modules. */
#include "iterate.h"
#include "script_read.h"

/* Does the tree use the attribute anywhere? The old spelling of TVMScript has
 * T.block; there, T.alloc_buffer belongs to the block. */
static bool
mentions(const struct py_node *node, const char *attribute)
{
	if (!node) {
		return false;
	}
	if (node->kind == PY_ATTRIBUTE && strcmp(node->text, attribute) == 0) {
		return true;
	}
	for (int i = 0; i < node->n_kids; i++) {
		if (mentions(node->kids[i], attribute)) {
			return true;
		}
	}
	return false;
}

/* ---- the signature */

static bool
is_buffer_type(const struct script_reader *r, const struct py_node *type)
{
	const char *path = NULL;

	if (type->kind == PY_CALL || type->kind == PY_SUBSCRIPT) {
		path = script_path(r, type->kids[0]);
	}
	return path &&
	       (strcmp(path, "Buffer") == 0 || strcmp(path, "buffer") == 0);
}

static bool
read_param(struct script_reader *r, const struct py_node *def,
	   const struct py_param *p)
{
	struct py_node place = *def;
	struct script_handle *handle = NULL;
	struct param param = { .space = SPACE_INTERFACE };
	const struct py_node *type = p->annotation;
	struct dtype t;

	place.span = p->span;
	if (p->kind != PY_PARAM_PLAIN || p->initial) {
		return script_fail(r, &place,
				   "a tensor function's parameters "
				   "are one by one and without values of "
				   "their own; write name: T.int32");
	}
	if (!type) {
		return script_fail(r, &place,
				   "parameter '%s' without a type; "
				   "write %s: T.Buffer((8,), \"float32\") or "
				   "%s: T.int32",
				   p->name, p->name, p->name);
	}
	if (is_buffer_type(r, type)) {
		struct buffer_spec spec = { .name = script_hint(r, p->name) };

		if (!script_buffer_type(r, type, &spec)) {
			return false;
		}
		param.buffer = buffer_new(r->m, &spec);
		param.var = param.buffer->data;
		script_define(r, p->name,
			      (struct script_value){ .kind = SCRIPT_BUFFER,
						     .buffer = param.buffer });
	} else {
		const struct py_node *name = type->kind == PY_CALL
						     ? type->kids[0]
						     : type;
		const char *path = script_path(r, name);

		if (!path && name->kind == PY_NAME) {
			/* Python's types */
			path = strcmp(name->text, "int") == 0     ? "int32"
			       : strcmp(name->text, "float") == 0 ? "float32"
			       : strcmp(name->text, "bool") == 0  ? "bool"
								  : NULL;
		}
		if (type->kind == PY_SUBSCRIPT) { /* T.Ptr[T.uint8] */
			path = script_path(r, type->kids[0]);
			path = path && strcmp(path, "Ptr") == 0 ? "handle"
								: NULL;
		} else if (path && strcmp(path, "Ptr") == 0) {
			path = "handle";
		}
		if (!path && type->kind == PY_STRING) {
			path = type->text;
		}
		if (path && strcmp(path, "TensorMap") == 0) {
			path = "handle";
		} else if (path && strcmp(path, "boolean") == 0) {
			path = "bool";
		}
		if (!path) {
			return script_fail(r, type,
					   "no type of a parameter; "
					   "write T.Buffer((8,), \"float32\"), "
					   "T.handle or T.int32");
		}
		if (!script_type_named(r, type, path, &t)) {
			return false;
		}
		if (t.kind == DT_VOID || t.kind == DT_STRING || t.lanes > 1) {
			return script_fail(r, type,
					   "no parameter has this "
					   "type; use a buffer or a number");
		}
		param.var = var_new(r->m, script_hint(r, p->name), t);
		if (t.kind == DT_HANDLE) {
			handle = arena_new(&r->m->arena, struct script_handle);
			handle->name = p->name;
			handle->var = param.var;
			script_define(r, p->name,
				      (struct script_value){
					      .kind = SCRIPT_HANDLE,
					      .handle = handle });
		} else {
			script_define(r, p->name,
				      script_value_of(param.var->expr, false));
		}
	}
	vec_push(&r->m->arena, &r->params, param);
	vec_push(&r->m->arena, &r->handles, handle);
	return true;
}

static bool
read_result(struct script_reader *r, const struct py_node *type)
{
	const char *path;

	if (!type || type->kind == PY_NONE) {
		return true;
	}
	if (type->kind == PY_CALL) {
		type = type->kids[0];
	}
	path = script_path(r, type);
	if (!path) {
		return script_fail(r, type,
				   "no type of a result; write "
				   "-> T.int32 or leave it out");
	}
	return script_type_named(r, type, path, &r->f->ret);
}

/* ---- the body */

static bool
is_root(const struct stmt *s)
{
	return s->kind == STMT_BLOCK && s->u.block->n_iters == 0 &&
	       strcmp(s->u.block->name, "root") == 0 &&
	       expr_is_value(s->args[0], 1);
}

static void
add_root(struct script_reader *r, struct script_block *root)
{
	struct block block = {
		.name = "root",
		.allocs = root->allocs.data,
		.n_allocs = root->allocs.n,
	};
	struct stmt *body = r->f->body;

	if (!r->has_blocks && root->allocs.n == 0) {
		/* only a function that is not lowered gets a root block */
		return;
	}
	if (is_root(body)) {
		struct block copy = *body->u.block;

		if (root->allocs.n == 0) {
			return;
		}
		/* Buffers that the function's body declares are allocated in
		 * the root block, too. */
		const struct buffer **all = arena_array(&r->m->arena,
							const struct buffer *,
							root->allocs.n +
								copy.n_allocs);

		for (int i = 0; i < root->allocs.n; i++) {
			all[i] = root->allocs.data[i];
		}
		for (int i = 0; i < copy.n_allocs; i++) {
			all[root->allocs.n + i] = copy.allocs[i];
		}
		copy.allocs = all;
		copy.n_allocs += root->allocs.n;
		stmt_set_block(r->f, body, &copy);
		return;
	}
	r->f->body = stmt_block(r->f,
				arena_copy(&r->m->arena, &block, sizeof block),
				expr_bool(r->m, true), NULL, NULL, body);
}

static void
see_sizes(const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		e->u.var->is_dim = true;
	}
}

static void
finish_params(struct script_reader *r)
{
	for (int i = 0; i < r->params.n; i++) {
		struct param *p = &r->params.data[i];
		const struct script_handle *h = r->handles.data[i];

		if (h && h->buffer) {
			p->buffer = h->buffer;
			p->var = h->buffer->data;
		}
		for (int d = 0; p->buffer && d < p->buffer->ndim; d++) {
			see_sizes(p->buffer->shape[d]);
		}
		func_add_param(r->f, p->var, p->buffer);
	}
}

/* TVM writes sizes in a signature as strings, and declares them in the body:
 * `def f(A: T.Buffer(("n",), "float32")): n = T.int32()`. The scope of these
 * declarations begins at the signature. */
static void
declare_sizes(struct script_reader *r, const struct py_node *suite)
{
	for (int i = 0; i < suite->n_kids; i++) {
		const struct py_node *one = suite->kids[i];
		const struct py_node *value;
		const char *path;
		struct dtype t;

		if (one->kind != PY_ASSIGN || one->n_kids != 2 ||
		    one->kids[0]->kind != PY_NAME) {
			continue;
		}
		value = one->kids[1];
		if (value->kind != PY_CALL || value->n_kids != 1) {
			continue;
		}
		path = script_path(r, value->kids[0]);
		if (path && dtype_from_name(path, &t) && dtype_is_int(t) &&
		    t.lanes == 1 && !script_find(r, one->kids[0]->text)) {
			script_declare(r, one->kids[0]->text, t);
		}
	}
	r->n_sizes = r->names.n;
}

static bool
read_body(struct script_reader *r, const struct py_node *def)
{
	struct script_block root = { .is_root = true };
	int names = r->names.n;

	r->block = &root;
	declare_sizes(r, def->kids[0]);
	for (int i = 0; i < def->n_params; i++) {
		if (!read_param(r, def, &def->params[i])) {
			return false;
		}
	}
	if (!read_result(r, def->kids[1]) ||
	    !script_read_suite(r, def->kids[0], &r->f->body)) {
		return false;
	}
	script_leave(r, names);
	script_private_reductions(r);
	add_root(r, &root);
	finish_params(r);
	return true;
}

/* Runs func_verify on r->f, which checks what the reader does not check, mainly
 * declared regions. If it finds errors, reports only the first one, at its line
 * of the text (or, if it has no line, at the function def), and returns
 * false. */
static bool
check_func(struct script_reader *r, const struct py_node *def)
{
	struct diags *d = &r->m->diags;
	int n = d->list.n, n_errors = d->n_errors;
	struct py_span at = def->span;

	if (func_verify(r->f)) {
		return true;
	}
	const struct diag *first = &d->list.data[n];
	const char *end = strstr(first->message, "; this is a bug");
	size_t length = end ? (size_t)(end - first->message)
			    : strlen(first->message);

	if (first->place.line > 0) {
		at = (struct py_span){ first->place.line, first->place.col,
				       first->place.line, 0 };
	} else {
		at.end_line = at.line;
		at.end_col = 0;
	}
	d->list.n = n;
	d->n_errors = n_errors;
	return py_error(r->m, r->src, at, "%.*s; correct it", (int)length,
			first->message);
}

struct func *
script_read_func(struct module *m, const struct source *src,
		 const struct py_node *def, const struct script_scope *scope)
{
	struct script_reader r = {
		.m = m,
		.src = src,
		.def = def,
		.typing = { m, src, &typing_of_scripts },
		.scope = scope,
		.f = func_new(m, def->text),
		.first_id = m->next_expr_id,
	};

	text_map_init(&r.ids, &m->arena);
	text_map_init(&r.stem_of, &m->arena);
	r.old_blocks = mentions(def->kids[0], "block");
	return read_body(&r, def) && check_func(&r, def) ? r.f : NULL;
}

/* ---- modules */

static bool
is_function(const struct py_node *node)
{
	return node->kind == PY_DEF && script_is_marked(node, "prim_func");
}

static bool
add_func(struct module *m, const struct source *src, const struct py_node *def)
{
	struct func *f;

	if (module_find_func(m, def->text)) {
		return py_error(m, src, def->span,
				"a second function named "
				"'%s'; give it another name",
				def->text);
	}
	f = script_read_func(m, src, def, NULL);
	if (!f) {
		return false;
	}
	vec_push(&m->arena, &m->funcs, f);
	return true;
}

static bool
read_class(struct module *m, const struct source *src,
	   const struct py_node *node)
{
	const struct py_node *suite = node->kids[0];

	for (int i = 0; i < suite->n_kids; i++) {
		const struct py_node *one = suite->kids[i];

		if (is_function(one)) {
			if (!add_func(m, src, one)) {
				return false;
			}
		} else if (one->kind == PY_EXPRESSION) {
			const struct py_node *value = one->kids[0];
			bool harmless = value->kind == PY_STRING ||
					(value->kind == PY_CALL &&
					 value->kids[0]->kind == PY_ATTRIBUTE &&
					 strncmp(value->kids[0]->text,
						 "module_", 7) == 0);

			if (!harmless) {
				return py_error(m, src, one->span,
						"no "
						"function; a module holds "
						"@T.prim_func functions");
			}
		} else if (one->kind != PY_PASS) {
			return py_error(m, src, one->span,
					"no function; a "
					"module holds @T.prim_func "
					"functions");
		}
	}
	return true;
}

static bool
read_text(struct module *m, const struct source *src,
	  const struct py_node *tree)
{
	int before = m->funcs.n;
	bool any = false;

	for (int i = 0; i < tree->n_kids; i++) {
		const struct py_node *one = tree->kids[i];

		if (is_function(one)) {
			any = true;
			if (!add_func(m, src, one)) {
				return false;
			}
		} else if (one->kind == PY_CLASS &&
			   script_is_marked(one, "ir_module")) {
			any = true;
			if (!read_class(m, src, one)) {
				return false;
			}
		} else if (one->kind != PY_IMPORT && one->kind != PY_PASS &&
			   (one->kind != PY_EXPRESSION ||
			    one->kids[0]->kind != PY_STRING)) {
			return py_error(m, src, one->span,
					"no function and "
					"no module of TVMScript; mark it with "
					"@T.prim_func or @I.ir_module");
		}
	}
	if (!any && m->funcs.n == before) {
		struct py_span top = { 1, 1, 1, 1 };

		return py_error(m, src, top,
				"no function here; TVMScript is "
				"a 'def' marked with @T.prim_func");
	}
	return true;
}

bool
script_read(struct module *m, const struct source *src)
{
	const struct py_node *tree = py_parse(m, src);
	int before = m->funcs.n;

	if (!tree) {
		return false;
	}
	if (!read_text(m, src, tree)) {
		m->funcs.n = before;
		return false;
	}
	return true;
}
