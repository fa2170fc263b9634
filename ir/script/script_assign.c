/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: assignments, which store elements, name values, declare
 * sizes and buffers. */
#include "script_read.h"

bool
script_store(struct script_reader *r, const struct py_node *node,
	     const struct py_node *target, const struct py_node *value,
	     const char *op, struct script_suite *suite)
{
	const struct buffer *b;
	const struct expr **index, *e;
	struct script_value v, of;
	int lanes = 1;

	if (target->kind == PY_NAME) {
		of = *script_find(r, target->text);
		if (!script_scalar(r, target, &of, &b, &index)) {
			return false;
		}
	} else if (!script_eval(r, target->kids[0], &of) ||
		   !script_element(r, target, &of, &b, &index)) {
		return false;
	}
	if (!script_eval(r, value, &v)) {
		return false;
	}
	if (op) {
		struct script_value old =
			script_value_of(script_view_loaded(r, &of,
							   expr_load(r->m, b,
								     index,
								     b->ndim)),
					false);
		enum py_operator update;

		if (!script_operator(r, node, op, &update) ||
		    !script_binary(r, node, update, &old, &v, &v)) {
			return false;
		}
	}
	for (int i = 0; i < b->ndim; i++) {
		lanes = index[i]->type.lanes > lanes ? index[i]->type.lanes
						     : lanes;
	}
	struct dtype t = of.view && of.view->flat ? of.view->type : b->type;

	t.lanes = (uint16_t)(b->type.lanes * lanes);
	if (!script_convert(r, value, &v, t, &e)) {
		return false;
	}
	e = script_view_stored(r, &of, e);
	script_push(r, suite, node, stmt_store(r->f, b, e, index, b->ndim));
	return true;
}

/* Defines a size from n = T.int32(); its bounds may follow in T.func_attr. */
static void
declare_var(struct script_reader *r, const char *name, struct dtype type)
{
	const struct script_value *known = script_find(r, name);

	for (int i = 0; i < r->n_sizes; i++) {
		if (known == &r->names.data[i].value &&
		    dtype_equal(known->e->type, type)) {
			return; /* the signature has defined the same size
				 * before */
		}
	}
	script_declare(r, name, type);
}

/* Is e the pointer of a buffer? A second name for a pointer does not define a
 * variable, so that the reader still knows the buffer when a second buffer is
 * declared over the pointer. */
static bool
is_pointer(const struct expr *e)
{
	return e->type.kind == DT_HANDLE &&
	       (e->kind == EXPR_VAR ||
		(e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)));
}

/* Is e a variable or a number? In steps, a second name for one of these does
 * not define a variable. */
static bool
is_name(const struct expr *e)
{
	return e->kind == EXPR_VAR || e->kind == EXPR_INT ||
	       e->kind == EXPR_FLOAT;
}

static bool
bind_value(struct script_reader *r, const struct py_node *node,
	   const struct py_node *target, struct script_value v,
	   struct script_suite *suite)
{
	const struct expr *e;
	struct script_opener opener;

	if (target->kind != PY_NAME) {
		return script_fail(r, target,
				   "values for several names; "
				   "give each a statement of its own");
	}
	if (v.kind == SCRIPT_NEW_VAR) {
		declare_var(r, target->text, v.type);
		return true;
	}
	/* A name for a value of Python, such as a number or a list, does not
	 * become a variable of the function. */
	if (v.kind != SCRIPT_EXPR || v.weak || v.e->kind == EXPR_STRING ||
	    is_pointer(v.e) || (r->is_steps && is_name(v.e))) {
		script_define(r, target->text, v);
		return true;
	}
	if (!script_settle(r, node, &v, &e)) {
		return false;
	}
	script_let(r, target->text, e, &opener);
	script_open(r, suite, node, opener);
	return true;
}

bool
script_assign(struct script_reader *r, const struct py_node *node,
	      struct script_suite *suite)
{
	const struct py_node *target = node->kids[0], *value = node->kids[1];
	const struct py_node *def = script_function(r, value);
	struct script_opener opener;
	struct script_value v;

	if (node->n_kids > 2) {
		return script_fail(r, node,
				   "several targets at once; give "
				   "each a statement of its own");
	}
	if (target->kind == PY_SUBSCRIPT ||
	    (script_is_variable(r, target) &&
	     !script_declares_buffer(r, value))) {
		return script_store(r, node, target, value, NULL, suite);
	}
	if (script_calls(r, value, "preflattened_buffer")) {
		return true; /* see script_stmt.c */
	}
	if (script_is_axis(r, value)) {
		return script_axis(r, target, value);
	}
	if (target->kind == PY_NAME && script_declares_buffer(r, value)) {
		return script_declare_buffer(r, value, target->text, suite);
	}
	if (script_is_thread_ids(r, value)) {
		return script_thread_ids(r, value, target, suite);
	}
	if (script_calls(r, value, "bind") ||
	    script_calls(r, value, "LetStmt")) {
		if (!script_read_opener(r, value, "bind", target, &opener)) {
			return false;
		}
		script_open(r, suite, node, opener);
		return true;
	}
	if (script_calls(r, value, "launch_thread")) {
		if (!script_read_opener(r, value, "launch_thread", target,
					&opener)) {
			return false;
		}
		script_open(r, suite, node, opener);
		return true;
	}
	if (script_calls(r, value, "meta_var") && target->kind == PY_NAME) {
		if (!script_eval(r, value, &v)) {
			return false;
		}
		script_define(r, target->text, v);
		return true;
	}
	if (!(def ? script_function_value(r, value, def, suite, &v)
		  : script_eval(r, value, &v))) {
		return false;
	}
	if (target->kind == PY_TUPLE && v.kind == SCRIPT_LIST) {
		if (target->n_kids != v.n_items) {
			return script_fail(r, node,
					   "%d names for %d values; "
					   "give equally many",
					   target->n_kids, v.n_items);
		}
		for (int i = 0; i < v.n_items; i++) {
			if (!bind_value(r, node, target->kids[i], v.items[i],
					suite)) {
				return false;
			}
		}
		return true;
	}
	return bind_value(r, node, target, v, suite);
}

/* T.Ptr, old for T.handle */
static bool
is_pointer_type(const struct script_reader *r, const struct py_node *node)
{
	const char *path = script_path(r, node);

	return path && strcmp(path, "Ptr") == 0;
}

/* Counts the statements in node that give another value to a name, for each name: those
 * that do not state its type, too. */
static void
count_stores(struct script_reader *r, const struct py_node *node)
{
	if (!node) {
		return;
	}
	if ((node->kind == PY_ASSIGN || node->kind == PY_AUGMENTED) &&
	    node->kids[0]->kind == PY_NAME) {
		const char *name = node->kids[0]->text;
		int at = text_map_get(&r->stored, name, r->stores.n);

		if (at == r->stores.n) {
			text_map_add(&r->stored, name, at);
			vec_push(&r->m->arena, &r->stores, 0);
		}
		r->stores.data[at]++;
	}
	for (int i = 0; i < node->n_kids; i++) {
		count_stores(r, node->kids[i]);
	}
}

/* How many statements of the function give another value to the name? */
static int
times_stored(struct script_reader *r, const char *name)
{
	int at;

	if (!r->def) {
		return 0;
	}
	if (r->stores.n == 0) {
		text_map_init(&r->stored, &r->m->arena);
		count_stores(r, r->def->kids[0]);
	}
	at = text_map_get(&r->stored, name, -1);
	return at < 0 ? 0 : r->stores.data[at];
}

/* x: T.int32, a variable; v: T.float32[8], an array of a thread. */
static bool
declare_cell(struct script_reader *r, const struct py_node *node,
	     struct script_suite *suite)
{
	const struct py_node *type = node->kids[1];
	const struct py_node *shape = NULL;
	struct dtype t;

	if (type->kind == PY_SUBSCRIPT) {
		shape = type->kids[1];
		type = type->kids[0];
	}
	if (!script_type(r, type, &t)) {
		return false;
	}
	if (shape) {
		return script_local_array(r, node, node->kids[0]->text, shape,
					  t, suite);
	}
	return script_cell(r, node, node->kids[0]->text, t, "local", suite);
}

/* x: T.int32 = value */
bool
script_annotated(struct script_reader *r, const struct py_node *node,
		 struct script_suite *suite)
{
	const struct py_node *target = node->kids[0], *type = node->kids[1];
	struct script_opener opener;
	const struct expr *value;
	struct dtype t;

	if (target->kind == PY_NAME && node->kids[2] &&
	    script_declares_buffer(r, node->kids[2])) {
		return script_declare_buffer(r, node->kids[2], target->text,
					     suite);
	}
	if (target->kind == PY_NAME && !node->kids[2]) {
		return declare_cell(r, node, suite);
	}
	if (target->kind != PY_NAME) {
		return script_fail(r, node,
				   "no let; write name: T.int32 = "
				   "value");
	}
	if (times_stored(r, target->text) > 0 && script_path(r, type)) {
		/* a variable that later lines change */
		return script_type_named(r, type, script_path(r, type), &t) &&
		       script_cell(r, node, target->text, t, "local", suite) &&
		       script_store(r, node, target, node->kids[2], NULL,
				    suite);
	}
	if (type->kind == PY_SUBSCRIPT && !is_pointer_type(r, type->kids[0])) {
		type = type->kids[1]; /* T.let[T.int32] */
	}
	if (type->kind == PY_CALL || type->kind == PY_SUBSCRIPT) {
		type = type->kids[0]; /* T.handle("float32") */
	}
	const char *path = is_pointer_type(r, type) ? "handle"
						    : script_path(r, type);

	if (path && strcmp(path, "let") == 0) {
		if (!script_expr(r, node->kids[2], &value)) {
			return false;
		}
	} else if (!(path ? script_type_named(r, type, path, &t)
			  : script_type(r, type, &t)) ||
		   !script_expr_as(r, node->kids[2], t, &value)) {
		return false;
	}
	if (is_pointer(value)) {
		script_define(r, target->text, script_value_of(value, false));
		return true;
	}
	script_let(r, target->text, value, &opener);
	script_open(r, suite, node, opener);
	return true;
}
