/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: `with`. A `with`, or a line without a suite, opens the
 * scope of a let, an attribute, an allocation or a thread. */
#include "script_read.h"

/* ---- lets, attributes, threads: each as an opener */

void
script_let(struct script_reader *r, const char *name, const struct expr *value,
	   struct script_opener *out)
{
	struct var *v = var_new(r->m, script_hint(r, name), value->type);

	*out = (struct script_opener){ .kind = STMT_LET,
				       .var = v,
				       .value = value };
	vec_push(&r->m->arena, &r->lets,
		 ((struct script_let_value){ v, value }));
	script_define(r, name, script_value_of(v->expr, false));
}

/* A let of a variable that x = T.int32() has declared. */
static bool
let_of(struct script_reader *r, const struct py_node *var,
       const struct py_node *value, struct script_opener *out)
{
	const struct expr *e, *known;

	if (!script_expr(r, var, &known)) {
		return false;
	}
	if (known->kind != EXPR_VAR) {
		return script_fail(r, var,
				   "no variable; declare one with T.int32()");
	}
	if (!script_expr_as(r, value, known->type, &e)) {
		return false;
	}
	*out = (struct script_opener){ .kind = STMT_LET,
				       .var = known->u.var,
				       .value = e };
	return true;
}

/* name = T.bind(value[, type]), or T.bind(value, var=x) */
static bool
read_bind(struct script_reader *r, const struct py_node *call,
	  const struct py_node *target, struct script_opener *out)
{
	const struct py_node *found[3];
	const struct expr *value;
	struct dtype t;

	if (!script_args(r, call, "value, type_annotation?, var?", found)) {
		return false;
	}
	if (found[2] && found[2]->kind != PY_NONE) {
		return let_of(r, found[2], found[0], out);
	}
	if (!target || target->kind != PY_NAME) {
		return script_fail(r, call,
				   "a value without a name; write "
				   "x = T.bind(value)");
	}
	if (found[1] && found[1]->kind != PY_NONE
		    ? !script_type(r, found[1], &t) ||
			      !script_expr_as(r, found[0], t, &value)
		    : !script_expr(r, found[0], &value)) {
		return false;
	}
	script_let(r, target->text, value, out);
	return true;
}

/* T.LetStmt(value[, type]) as name */
static bool
read_let_stmt(struct script_reader *r, const struct py_node *call,
	      const struct py_node *target, struct script_opener *out)
{
	const struct py_node *found[3];
	const struct expr *value;
	struct dtype t;

	if (!script_args(r, call, "value, type_annotation?, var?", found)) {
		return false;
	}
	if (found[2] && found[2]->kind != PY_NONE) {
		return let_of(r, found[2], found[0], out);
	}
	if (!target || target->kind != PY_NAME) {
		return script_fail(r, call,
				   "a let without a name; write "
				   "with T.LetStmt(value) as name:");
	}
	if (found[1] ? !script_type(r, found[1], &t) ||
			       !script_expr_as(r, found[0], t, &value)
		     : !script_expr(r, found[0], &value)) {
		return false;
	}
	script_let(r, target->text, value, out);
	return true;
}

/* Reads T.let(x, value), where x was declared by x = T.var("int32"). False
 * after an error. */
static bool
read_let(struct script_reader *r, const struct py_node *call,
	 struct script_opener *out)
{
	const struct py_node *found[2];

	return script_args(r, call, "var, value", found) &&
	       let_of(r, found[0], found[1], out);
}

/* Completes *out, a loop bound to threads, with the index out->text and the
 * extent out->value. If `name` is not NULL, it becomes the name of the loop's
 * variable. */
static void
open_thread(struct script_reader *r, const char *name,
	    struct script_opener *out)
{
	out->min = expr_int(r->m, out->value->type, 0);
	out->var = var_new(r->m, name ? name : "thread", out->value->type);
	if (name) {
		struct script_loop loop = { out->var, out->min, out->value,
					    out->text };

		vec_push(&r->m->arena, &r->loops, loop);
		script_define(r, name, script_value_of(out->var->expr, false));
	}
}

/* T.attr(T.iter_var(tx, None, "ThreadIndex", "threadIdx.x"), "thread_extent", 32):
 * the loop of the threads, as lowered functions say it. */
static bool
read_thread_extent(struct script_reader *r, const struct py_node *axis,
		   const struct py_node *extent, struct script_opener *out)
{
	const struct py_node *found[4];
	const struct expr *var;

	*out = (struct script_opener){ .kind = STMT_FOR };
	if (!script_args(r, axis, "var, dom, iter_type, thread_tag", found) ||
	    !script_expr(r, found[0], &var) ||
	    !script_text(r, found[3], &out->text)) {
		return false;
	}
	if (var->kind != EXPR_VAR) {
		return script_fail(r, found[0],
				   "no variable; declare one with T.int32()");
	}
	if (!script_expr_as(r, extent, var->type, &out->value)) {
		return false;
	}
	out->var = var->u.var;
	out->min = expr_int(r->m, var->type, 0);
	vec_push(&r->m->arena, &r->loops,
		 ((struct script_loop){ out->var, out->min, out->value,
					out->text }));
	return true;
}

/* T.attr(tx, "thread_extent", 32), where tx = T.env_thread("threadIdx.x") */
static bool
extent_of_thread(struct script_reader *r, const struct py_node *thread,
		 const struct script_value *v, const struct py_node *extent,
		 struct script_opener *out)
{
	*out = (struct script_opener){ .kind = STMT_FOR, .text = v->text };
	if (!script_index(r, extent, &out->value)) {
		return false;
	}
	open_thread(r, thread->kind == PY_NAME ? thread->text : NULL, out);
	return true;
}

static bool
read_attr(struct script_reader *r, const struct py_node *call,
	  struct script_opener *out)
{
	const struct py_node *found[3];
	struct script_value node;

	*out = (struct script_opener){ .kind = STMT_ATTR };
	if (!script_args(r, call, "node, attr_key, value", found) ||
	    !script_text(r, found[1], &out->text)) {
		return false;
	}
	if (script_calls(r, found[0], "iter_var")) {
		return strcmp(out->text, "thread_extent") == 0 ||
				       strcmp(out->text, "virtual_thread") == 0
			       ? read_thread_extent(r, found[0], found[2], out)
			       : script_note_value(r, found[2], &out->value);
	}
	if (script_calls(r, found[0], "target")) {
		/* no value is needed here: the build names the target */
		out->value = expr_i32(r->m, 0);
		return true;
	}
	if (!script_eval(r, found[0], &node)) {
		return false;
	}
	if (node.kind == SCRIPT_THREAD) {
		return extent_of_thread(r, found[0], &node, found[2], out);
	}
	if (!script_note_value(r, found[2], &out->value)) {
		return false;
	}
	/* An attribute is one of its statement, whatever it was about: a text,
	 * a number, a buffer. */
	return true;
}

/* Reads T.launch_thread("threadIdx.x", 32); the first argument may also be the
 * result of T.env_thread. False after an error. */
static bool
read_launch(struct script_reader *r, const struct py_node *call,
	    const struct py_node *target, struct script_opener *out)
{
	const struct py_node *found[2];
	struct script_value v;
	const struct expr *extent;
	const char *name = NULL;

	if (!script_args(r, call, "thread, extent", found) ||
	    !script_eval(r, found[0], &v) ||
	    !script_index(r, found[1], &extent)) {
		return false;
	}
	*out = (struct script_opener){ .kind = STMT_FOR, .value = extent };
	if (v.kind == SCRIPT_THREAD) {
		out->text = v.text;
		name = found[0]->kind == PY_NAME ? found[0]->text : NULL;
	} else if (!script_text(r, found[0], &out->text)) {
		return false;
	}
	if (target && target->kind == PY_NAME) {
		name = target->text;
	}
	open_thread(r, name, out);
	return true;
}

bool
script_read_opener(struct script_reader *r, const struct py_node *call,
		   const char *path, const struct py_node *target,
		   struct script_opener *out)
{
	return strcmp(path, "let") == 0 ? read_let(r, call, out)
	       : strcmp(path, "bind") == 0 || strcmp(path, "LetStmt") == 0
		       ? read_bind(r, call, target, out)
	       : strcmp(path, "attr") == 0 ? read_attr(r, call, out)
	       : strcmp(path, "launch_thread") == 0
		       ? read_launch(r, call, target, out)
		       : script_unknown(r, call, path);
}

/* ---- with */

/* The message of an assertion: a text, or ("RuntimeError", ["its ", "parts"]). */
static bool
message_text(struct script_reader *r, const struct py_node *node,
	     const char **out)
{
	const struct py_node *parts;

	if (node->kind != PY_TUPLE || node->n_kids != 2 ||
	    (node->kids[1]->kind != PY_LIST &&
	     node->kids[1]->kind != PY_TUPLE)) {
		return script_text(r, node, out);
	}
	parts = node->kids[1];
	for (int i = 0; i < parts->n_kids; i++) {
		const char *one;

		if (!script_text(r, parts->kids[i], &one)) {
			return false;
		}
		*out = arena_printf(&r->m->arena, "%s%s", *out, one);
	}
	return true;
}

bool
script_assert(struct script_reader *r, const struct py_node *condition,
	      const struct py_node *message, struct stmt **out)
{
	const struct expr *e;
	const char *text = "";

	if (!script_condition(r, condition, &e) ||
	    (message && !message_text(r, message, &text))) {
		return false;
	}
	*out = stmt_assert(r->f, e, text);
	return true;
}

/* Reads T.Assert(condition, message) or T.While(condition), and its suite.
 * False after an error. */
static bool
read_wrapper(struct script_reader *r, const struct py_node *node,
	     const struct py_node *call, bool loops, int item,
	     struct stmt **out)
{
	const struct py_node *found[2];
	const struct expr *e;
	struct stmt *pair[2];

	if (!script_args(r, call, "condition, message?", found)) {
		return false;
	}
	if (loops) {
		if (!script_condition(r, found[0], &e) ||
		    !script_with(r, node, item + 1, out)) {
			return false;
		}
		*out = stmt_while(r->f, e, *out);
		return true;
	}
	if (!script_assert(r, found[0], found[1], &pair[0]) ||
	    !script_with(r, node, item + 1, &pair[1])) {
		return false;
	}
	*out = stmt_seq(r->f, pair, 2);
	return true;
}

bool
script_init(struct script_reader *r, const struct py_node *node,
	    const struct py_node *call)
{
	if (r->block->is_root || r->block->init) {
		return script_fail(
			r, call,
			r->block->is_root
				? "T.init outside of a block; move it into "
				  "one"
				: "a second T.init; put all of it in one");
	}
	return script_read_suite(r, node->kids[node->n_kids - 1],
				 &r->block->init);
}

/* Reads the items of a `with` from the index `item` on, then its suite, and
 * sets *out to the statement. False after an error. */
static bool
with_items(struct script_reader *r, const struct py_node *node, int item,
	   struct stmt **out)
{
	if (item == node->n_kids - 1) {
		return script_read_suite(r, node->kids[item], out);
	}
	const struct py_node *call = node->kids[item], *target = NULL;
	struct script_suite suite = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct script_opener opener;
	int names = r->names.n, loops = r->loops.n;

	if (call->kind == PY_AS) {
		target = call->kids[1];
		call = call->kids[0];
	}
	const char *path = call->kind == PY_CALL ? script_path(r, call->kids[0])
						 : NULL;

	if (!path) {
		return script_fail(r, call,
				   "no scope of a tensor program; "
				   "use T.sblock, T.init, T.LetStmt, T.attr, "
				   "T.decl_buffer or T.launch_thread");
	}
	if (script_is_block(r, call)) {
		return item == node->n_kids - 2
			       ? script_block(r, call, node->kids[item + 1],
					      out)
			       : script_fail(r, call,
					     "a block together with "
					     "others; give it a 'with' of its "
					     "own");
	}
	if (script_reduce_scope(r, call)) {
		return script_with(r, node, item + 1, out);
	}
	if (strcmp(path, "While") == 0 || strcmp(path, "Assert") == 0) {
		return read_wrapper(r, node, call, path[0] == 'W', item, out);
	}
	if (script_declares_buffer(r, call)) {
		if (!target || target->kind != PY_NAME) {
			return script_fail(r, call,
					   "a buffer without a name; "
					   "add 'as A'");
		}
		if (!script_declare_buffer(r, call, target->text, &suite)) {
			return false;
		}
	} else {
		if (strcmp(path, "LetStmt") == 0
			    ? !read_let_stmt(r, call, target, &opener)
			    : !script_read_opener(r, call, path, target,
						  &opener)) {
			return false;
		}
		script_open(r, &suite, call, opener);
	}
	struct stmt *body;

	if (!script_with(r, node, item + 1, &body)) {
		return false;
	}
	vec_push(&r->m->arena, &suite.list, body);
	script_leave(r, names);
	r->loops.n = loops;
	*out = script_close_suite(r, &suite);
	return true;
}

bool
script_with(struct script_reader *r, const struct py_node *node, int item,
	    struct stmt **out)
{
	bool ok;

	r->depth++;
	ok = script_depth_fits(r, node->kids[item]) &&
	     with_items(r, node, item, out);
	r->depth--;
	return ok;
}
