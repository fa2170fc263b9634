/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: names, and the arguments of calls. */
#include "print.h"
#include "script_read.h"
#include "text.h"

void
script_define(struct script_reader *r, const char *name,
	      struct script_value value)
{
	struct script_name one = { .name = name, .value = value };

	one.id = text_map_get(&r->ids, name, r->latest.n);
	if (text_map_add(&r->ids, name, one.id)) {
		vec_push(&r->m->arena, &r->latest, -1);
	}
	one.outer = r->latest.data[one.id];
	r->latest.data[one.id] = r->names.n;
	vec_push(&r->m->arena, &r->names, one);
}

void
script_leave(struct script_reader *r, int n)
{
	while (r->names.n > n) {
		const struct script_name *last = &r->names.data[--r->names.n];

		r->latest.data[last->id] = last->outer;
	}
}

static struct script_stem *
find_stem(struct script_reader *r, const char *name, size_t length)
{
	int at = text_map_get_bytes(&r->stem_of, name, length, -1);

	return at < 0 ? NULL : &r->stems.data[at];
}

static void
add_stem(struct script_reader *r, const char *name)
{
	struct script_stem one = { name, 1 };

	if (text_map_add(&r->stem_of, name, r->stems.n)) {
		vec_push(&r->m->arena, &r->stems, one);
	}
}

/* Marks the reserved names as used, because the printer adds a number to a
 * variable with such a name. */
static void
take_reserved(struct script_reader *r)
{
	int n;
	const char *const *reserved = print_reserved(&n);

	for (int i = 0; i < n; i++) {
		add_stem(r, reserved[i]);
	}
}

const char *
script_hint(struct script_reader *r, const char *name)
{
	const char *at = strrchr(name, '_');
	struct script_stem *stem = at ? find_stem(r, name, (size_t)(at - name))
				      : NULL;

	if (r->stems.n == 0) {
		take_reserved(r);
		stem = at ? find_stem(r, name, (size_t)(at - name)) : NULL;
	}
	if (stem &&
	    strcmp(at + 1, arena_printf(&r->m->arena, "%d", stem->next)) == 0) {
		stem->next++;
		return stem->name;
	}
	add_stem(r, name);
	return name;
}

const struct script_value *
script_find(const struct script_reader *r, const char *name)
{
	int id = text_map_get(&r->ids, name, -1);
	int at = id < 0 ? -1 : r->latest.data[id];

	return at < r->n_hidden ? NULL : &r->names.data[at].value;
}

void
script_define_function(struct script_reader *r, const struct py_node *def)
{
	script_define(r, def->text,
		      (struct script_value){ .kind = SCRIPT_FUNCTION,
					     .def = def });
}

/* The value of the name that node is; NULL if node is not a name, or the name
 * is not defined. */
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

/* Does the function itself define the first name of the path in node? */
static bool
is_defined(const struct script_reader *r, const struct py_node *node)
{
	while (node->kind == PY_ATTRIBUTE) {
		node = node->kids[0];
	}
	return node->kind == PY_NAME && script_find(r, node->text);
}

const char *
script_path(const struct script_reader *r, const struct py_node *node)
{
	/* Tx is T.tile */
	static const char *const modules[][2] = {
		{ "T.", "" },        { "tvm.script.tir.", "" },
		{ "tvm.tir.", "" },  { "tvm.script.tirx.", "" },
		{ "tvm.tirx.", "" }, { "tvm.script.ir.", "" },
		{ "tir.", "" },      { "I.", "" },
		{ "Tx.", "tile." },
	};
	const char *path = NULL;
	struct strbuf text;

	if (node->kind != PY_ATTRIBUTE) {
		return NULL;
	}
	strbuf_init(&text);
	if (py_put_path(node, &text) && !is_defined(r, node)) {
		for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
			size_t n = strlen(modules[i][0]);

			if (strncmp(text.data, modules[i][0], n) == 0 &&
			    !path) {
				path = arena_printf(&r->m->arena, "%s%s",
						    modules[i][1],
						    text.data + n);
			}
		}
	}
	strbuf_release(&text);
	return path;
}

bool
script_calls(const struct script_reader *r, const struct py_node *node,
	     const char *name)
{
	if (node->kind != PY_CALL) {
		return false;
	}
	const char *path = script_path(r, node->kids[0]);

	return path && strcmp(path, name) == 0;
}

bool
script_is_marked(const struct py_node *def, const char *word)
{
	for (int i = 0; i < def->n_decorators; i++) {
		const struct py_node *at = def->decorators[i];

		if (at->kind == PY_CALL) {
			at = at->kids[0];
		}
		if ((at->kind == PY_ATTRIBUTE || at->kind == PY_NAME) &&
		    strcmp(at->text, word) == 0) {
			return true;
		}
	}
	return false;
}

bool
script_unknown(struct script_reader *r, const struct py_node *node,
	       const char *path)
{
	int n;
	const char *const *names = script_call_names(r, &n);
	const char *nearest = text_nearest(path, names, n);

	return nearest ? script_fail(r, node,
				     "T.%s is not known; did you mean T.%s?",
				     path, nearest)
		       : script_fail(r, node,
				     "T.%s is not known to tirc; express it by "
				     "other means",
				     path);
}

/* ---- arguments */

bool
script_args(struct script_reader *r, const struct py_node *call,
	    const char *params, const struct py_node **found)
{
	return py_bind_nodes(r->m, r->src, call, params, found);
}

const struct py_node *const *
script_items(const struct py_node *const *node, int *n)
{
	if ((*node)->kind == PY_TUPLE || (*node)->kind == PY_LIST) {
		*n = (*node)->n_kids;
		return (*node)->kids;
	}
	*n = 1;
	return node;
}

bool
script_text(struct script_reader *r, const struct py_node *node,
	    const char **out)
{
	struct script_value v;

	if (!script_eval(r, node, &v)) {
		return false;
	}
	if (v.kind != SCRIPT_EXPR || v.e->kind != EXPR_STRING) {
		return script_fail(r, node, "no string; write one, in quotes");
	}
	*out = v.e->u.text;
	return true;
}

bool
script_type_named(struct script_reader *r, const struct py_node *node,
		  const char *name, struct dtype *out)
{
	return typed_dtype(&r->typing, node->span, name, out);
}

/* "float32" or T.float32 */
bool
script_type(struct script_reader *r, const struct py_node *node,
	    struct dtype *out)
{
	const char *path = script_path(r, node);

	if (path && dtype_from_name(path, out)) {
		return true;
	}
	if (!script_text(r, node, &path)) {
		return false;
	}
	if (!*path) { /* TVM's name of no type */
		*out = dtype_of(DT_VOID);
		return true;
	}
	return script_type_named(r, node, path, out);
}

void
script_declare(struct script_reader *r, const char *name, struct dtype type)
{
	struct var *v = var_new(r->m, script_hint(r, name), type);
	struct script_value value = script_value_of(v->expr, false);

	value.open = true;
	script_define(r, name, value);
}
