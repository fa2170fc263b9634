/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: statements. A let, an allocation or an attribute may be
 * written as a line, not as a `with` with a suite of its own: then its scope is
 * the rest of the suite that contains the line. Such statements (openers) are
 * kept in a list of the suite and closed at the suite's end, the last one
 * first. */
#include "script_read.h"

enum { MAX_NESTED = 100 /* macros that call macros */ };

static bool read_line(struct script_reader *r, const struct py_node *node,
		      struct script_suite *suite);

void
script_open(struct script_reader *r, struct script_suite *suite,
	    const struct py_node *node, struct script_opener opener)
{
	opener.at = suite->list.n;
	opener.pos = (struct src_pos){ node->span.line, node->span.col };
	vec_push(&r->m->arena, &suite->openers, opener);
}

void
script_push(struct script_reader *r, struct script_suite *suite,
	    const struct py_node *node, struct stmt *s)
{
	s->pos = (struct src_pos){ node->span.line, node->span.col };
	vec_push(&r->m->arena, &suite->list, s);
}

static struct stmt *
close_opener(struct script_reader *r, const struct script_opener *o,
	     struct stmt *body)
{
	const struct buffer *b = o->buffer;
	struct stmt *s = NULL;

	switch (o->kind) {
	case STMT_LET:
		s = stmt_let(r->f, o->var, o->value, body);
		break;
	case STMT_ALLOC:
		if (o->memory) {
			b = o->memory->buffer;
			if (!b) {
				b = buffer_new(r->m, &o->memory->spec);
			}
		}
		s = stmt_alloc(r->f, b, body);
		break;
	case STMT_ATTR:
		s = stmt_attr(r->f, o->text, o->value, body);
		script_nki(r, s);
		break;
	default:
		s = stmt_for(r->f, o->var, o->min, o->value, FOR_THREAD, body);
		s->u.loop.thread = o->text;
		break;
	}
	s->notes = o->notes;
	s->pos = o->pos;
	return s;
}

struct stmt *
script_close_suite(struct script_reader *r, struct script_suite *suite)
{
	for (int i = suite->openers.n - 1; i >= 0; i--) {
		const struct script_opener *o = &suite->openers.data[i];
		int n = suite->list.n - o->at;
		struct stmt *body = stmt_seq(r->f,
					     n > 0 ? suite->list.data + o->at
						   : NULL,
					     n);

		suite->list.n = o->at;
		vec_push(&r->m->arena, &suite->list, close_opener(r, o, body));
	}
	return stmt_seq(r->f, suite->list.data, suite->list.n);
}

bool
script_read_suite(struct script_reader *r, const struct py_node *node,
		  struct stmt **out)
{
	struct script_suite suite = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	int names = r->names.n, loops = r->loops.n;

	int depth = r->depth;

	if (!script_suites_fit(r, node, 1)) {
		return false;
	}
	r->n_suites++;
	for (int i = 0; i < node->n_kids; i++) {
		if (!read_line(r, node->kids[i], &suite)) {
			return false;
		}
		r->depth = depth + suite.openers.n;
		if (!script_depth_fits(r, node->kids[i])) {
			return false;
		}
	}
	script_leave(r, names);
	r->loops.n = loops;
	r->depth = depth;
	r->n_suites--;
	*out = script_close_suite(r, &suite);
	return true;
}

bool
script_is_decided(const struct py_node *node, const struct script_value *v,
		  const struct py_node **taken)
{
	bool literal = node->kids[0]->kind == PY_TRUE ||
		       node->kids[0]->kind == PY_FALSE;

	if (v->kind != SCRIPT_EXPR || !v->weak || v->e->kind != EXPR_INT ||
	    literal) {
		return false;
	}
	*taken = v->e->u.ival ? node->kids[1] : node->kids[2];
	return true;
}

static bool
read_if(struct script_reader *r, const struct py_node *node, struct stmt **out)
{
	const struct py_node *otherwise = node->kids[2], *taken;
	struct script_value v;
	const struct expr *condition;
	struct stmt *then, *other = NULL;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (script_is_decided(node, &v, &taken)) {
		*out = NULL;
		return !taken || (taken->kind == PY_IF
					  ? read_if(r, taken, out)
					  : script_read_suite(r, taken, out));
	}
	if (!script_condition(r, node->kids[0], &condition) ||
	    !script_read_suite(r, node->kids[1], &then)) {
		return false;
	}
	if (otherwise && otherwise->kind == PY_IF) {
		if (!script_suites_fit(r, otherwise, 1)) {
			return false;
		}
		r->n_suites++;
		if (!read_if(r, otherwise, &other)) {
			return false;
		}
		r->n_suites--;
	} else if (otherwise && !script_read_suite(r, otherwise, &other)) {
		return false;
	}
	*out = stmt_if(r->f, condition, then, other);
	(*out)->pos = (struct src_pos){ node->span.line, node->span.col };
	return true;
}

/* In steps, if the condition of an `if` is known when the text is read, only
 * one branch is read, and its lines belong to the suite around the `if`, as in
 * Python. *done: a branch was read in this way. */
static bool
read_chosen(struct script_reader *r, const struct py_node *node,
	    struct script_suite *suite, bool *done)
{
	const struct py_node *taken;
	struct script_value v;
	bool ok = true;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	*done = script_is_decided(node, &v, &taken);
	if (!*done || !taken) {
		return true;
	}
	if (taken->kind == PY_IF) {
		return read_line(r, taken, suite);
	}
	for (int i = 0; ok && i < taken->n_kids; i++) {
		ok = read_line(r, taken->kids[i], suite);
	}
	return ok;
}

static bool
read_return(struct script_reader *r, const struct py_node *node,
	    const struct py_node *value, struct script_suite *suite)
{
	const struct expr *e = NULL;

	if (value && value->kind != PY_NONE) {
		if (r->f->ret.kind != DT_VOID
			    ? !script_expr_as(r, value, r->f->ret, &e)
			    : !script_expr(r, value, &e)) {
			return false;
		}
		if (r->f->ret.kind == DT_VOID &&
		    (r->has_ret || dtype_class(e->type) == DTC_VOID ||
		     dtype_class(e->type) == DTC_STRING)) {
			return script_fail(r, value,
					   "a value from a function "
					   "that returns none; say its type, "
					   "as in -> T.int32");
		}
		r->f->ret = e->type;
	} else if (r->f->ret.kind != DT_VOID) {
		return script_fail(r, node,
				   "no value from a function that "
				   "returns %s; give one",
				   dtype_name(r->f->ret));
	}
	r->has_ret = true;
	script_push(r, suite, node, stmt_return(r->f, e));
	return true;
}

static bool
read_evaluate(struct script_reader *r, const struct py_node *node,
	      const struct py_node *value, struct script_suite *suite)
{
	const struct expr *e;

	if (!script_expr(r, value, &e)) {
		return false;
	}
	script_push(r, suite, node, stmt_evaluate(r->f, e));
	return true;
}

/* -- calls of names that are defined outside of the function: of macros, and of
 * other functions */

/* Evaluates the arguments of a call; names in them are still the caller's.
 * False after an error. */
static bool
macro_arguments(struct script_reader *r, const struct py_node *call,
		const struct py_node *def, struct script_value *values)
{
	const struct py_node **found = arena_array(&r->m->arena,
						   const struct py_node *,
						   def->n_params + 1);
	const char *params = script_macro_params(r, call, def);

	if (!params || !script_args(r, call, params, found)) {
		return false;
	}
	for (int i = 0; i < def->n_params; i++) {
		const struct py_node *value = found[i] ? found[i]
						       : def->params[i].initial;

		if (!script_eval(r, value, &values[i])) {
			return false;
		}
	}
	return true;
}

bool
script_enter_macro(struct script_reader *r, const struct py_node *call,
		   const struct py_node *def, bool hides,
		   struct script_macro *out)
{
	struct script_value *values = arena_array(&r->m->arena,
						  struct script_value,
						  def->n_params + 1);

	*out = (struct script_macro){ r->names.n, r->n_hidden };
	if (r->macro_depth >= MAX_NESTED) {
		return script_fail(
			r, call,
			"macros in macros more than %d deep; write a "
			"loop",
			MAX_NESTED);
	}
	if (!script_expands(r, call) ||
	    !macro_arguments(r, call, def, values)) {
		return false;
	}
	r->macro_depth++;
	if (hides) {
		r->n_hidden = out->names;
	}
	for (int i = 0; i < def->n_params; i++) {
		script_define(r, def->params[i].name, values[i]);
	}
	return true;
}

void
script_leave_macro(struct script_reader *r, const struct script_macro *m)
{
	script_leave(r, m->names);
	r->n_hidden = m->hidden;
	r->macro_depth--;
}

static bool
expand(struct script_reader *r, const struct py_node *call,
       const struct py_node *def, struct script_suite *suite)
{
	struct script_macro macro;
	bool ok = true;

	if (!script_enter_macro(r, call, def, !script_macro_sees_caller(def),
				&macro)) {
		return false;
	}
	for (int i = 0; ok && i < def->kids[0]->n_kids; i++) {
		ok = read_line(r, def->kids[0]->kids[i], suite);
	}
	script_leave_macro(r, &macro);
	return ok;
}

/* Reads the call of a function of steps, as statements. False after an
 * error. */
static bool
read_function_call(struct script_reader *r, const struct py_node *call,
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

/* The argument of a call of a function: the address of a whole buffer, or a
 * value. */
static bool
function_argument(struct script_reader *r, const struct py_node *node,
		  const struct expr **out)
{
	struct script_value v;

	if (!script_eval(r, node, &v)) {
		return false;
	}
	if (v.kind == SCRIPT_BUFFER && !v.view) {
		*out = buffer_first_address(r->m, v.buffer);
		return true;
	}
	if (!script_need_expr(r, node, &v) ||
	    !script_settle(r, node, &v, out)) {
		return false;
	}
	*out = script_argument(r, *out);
	return true;
}

bool
script_call_of(struct script_reader *r, const struct py_node *call,
	       const char *name, struct dtype t, const struct expr **out)
{
	int n = call->n_kids;
	const struct expr **args = arena_exprs(&r->m->arena, n + 1);

	args[0] = expr_string(r->m, name);
	for (int i = 1; i < n; i++) {
		if (!function_argument(r, call->kids[i], &args[i])) {
			return false;
		}
	}
	*out = expr_call(r->m, INTRIN_CALL_FUNC, t, args, n);
	return true;
}

static bool
call_function(struct script_reader *r, const struct py_node *node,
	      const struct py_node *call, const char *name,
	      struct script_suite *suite)
{
	const struct expr *e;
	struct dtype t = r->scope->result
				 ? r->scope->result(r->scope->ctx, name)
				 : dtype_of(DT_VOID);

	if (!script_call_of(r, call, name, t, &e)) {
		return false;
	}
	script_push(r, suite, node, stmt_evaluate(r->f, e));
	return true;
}

/* Reads a statement if it is a call of a macro or of another function. *done:
 * it is such a call. False after an error. */
static bool
outer_call(struct script_reader *r, const struct py_node *node,
	   const struct py_node *call, struct script_suite *suite, bool *done)
{
	const struct py_node *f = call->kids[0];
	const struct py_node *def = NULL;
	const char *name = NULL;

	*done = false;
	if (!r->scope || (f->kind == PY_NAME && script_find(r, f->text))) {
		return true;
	}
	if (f->kind == PY_NAME && r->scope->macro) {
		def = r->scope->macro(r->scope->ctx, f->text);
	}
	if (!def && r->scope->function) {
		name = r->scope->function(r->scope->ctx, f);
	}
	*done = def || name;
	return def    ? expand(r, call, def, suite)
	       : name ? call_function(r, node, call, name, suite)
		      : true;
}

/* T.assume(condition) states what the caller promises; no statement is made of
 * it. */
static bool
read_assume(struct script_reader *r, const struct py_node *call)
{
	const struct py_node *found[1];
	const struct expr *condition;

	return script_args(r, call, "condition", found) &&
	       script_condition(r, found[0], &condition);
}

/* Reads a statement that is a call. False after an error. */
static bool
read_call(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, struct script_suite *suite)
{
	static const char *const head[] = {
		"reads", "writes", "where", "block_attr", "sblock_attr",
	};
	const char *path = script_path(r, call->kids[0]);
	const struct py_node *found[2];
	const struct py_node *def = script_function(r, call);
	struct script_opener opener;
	bool done;

	if (def) {
		return read_function_call(r, call, def, suite);
	}
	if (script_is_tile(r, call)) {
		return script_tile(r, call, suite);
	}
	if (script_is_vstore(r, call)) {
		return script_vstore(r, call, suite);
	}
	if (!path) {
		return outer_call(r, node, call, suite, &done) &&
		       (done || read_evaluate(r, node, call, suite));
	}
	for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
		if (strcmp(head[i], path) == 0) {
			return script_block_line(r, call, path);
		}
	}
	if (strcmp(path, "func_attr") == 0) {
		return script_func_attr(r, call);
	}
	if (strcmp(path, "device_entry") == 0) {
		/* This statement says that the statements after it run on a
		 * device. The loops bound to threads say so already: only the
		 * arguments are checked. */
		return script_args(r, call, "", found);
	}
	if (script_is_thread_ids(r, call)) {
		return script_thread_ids(r, call, NULL, suite);
	}
	if (strcmp(path, "realize") == 0) {
		return true; /* the buffer's declaration allocates it */
	}
	if (strcmp(path, "hint") == 0) {
		return true; /* words for whoever writes the schedule */
	}
	if (strcmp(path, "preflattened_buffer") == 0) {
		/* the shape of a parameter before its dimensions were fused:
		 * the elements in memory do not depend on it */
		return true;
	}
	if (script_reduce_scope(r, call)) {
		return true;
	}
	if (strcmp(path, "assume") == 0) {
		return read_assume(r, call);
	}
	if (strcmp(path, "tvm_thread_allreduce") == 0) {
		return script_allreduce(r, call, suite);
	}
	if (strcmp(path, "evaluate") == 0) {
		if (!script_args(r, call, "value", found)) {
			return false;
		}
		if (script_calls(r, found[0], "assume")) {
			return read_assume(r, found[0]);
		}
		if (script_calls(r, found[0], "ret") ||
		    script_calls(r, found[0], "tvm_thread_allreduce")) {
			return read_call(r, node, found[0], suite);
		}
		return read_evaluate(r, node, found[0], suite);
	}
	if (strcmp(path, "ret") == 0) {
		return script_args(r, call, "value?, dtype?", found) &&
		       read_return(r, node, found[0], suite);
	}
	if (strcmp(path, "attr") == 0 || strcmp(path, "launch_thread") == 0 ||
	    strcmp(path, "let") == 0 || strcmp(path, "bind") == 0 ||
	    strcmp(path, "LetStmt") == 0) {
		if (!script_read_opener(r, call, path, NULL, &opener)) {
			return false;
		}
		script_open(r, suite, node, opener);
		return true;
	}
	if (strcmp(path, "sblock") == 0 || strcmp(path, "block") == 0 ||
	    strcmp(path, "init") == 0) {
		return script_fail(r, call,
				   "T.%s without its suite; write "
				   "with T.%s(...):",
				   path, path);
	}
	return read_evaluate(r, node, call, suite);
}

static bool
read_while(struct script_reader *r, const struct py_node *node,
	   struct stmt **out)
{
	struct script_loop_flags flags;
	const struct expr *condition;
	int names = r->names.n;

	if (!script_condition(r, node->kids[0], &condition) ||
	    !script_loop_suite(r, node->kids[1], &flags, out)) {
		return false;
	}
	*out = stmt_while(r->f, script_loop_goes_on(r, &flags, condition),
			  *out);
	(*out)->pos = (struct src_pos){ node->span.line, node->span.col };
	*out = script_loop_left(r, &flags, *out);
	script_leave(r, names);
	return true;
}

static bool
read_line(struct script_reader *r, const struct py_node *node,
	  struct script_suite *suite)
{
	struct stmt *s = NULL;
	bool done = false;

	if (r->macro_depth > 0 && !script_adds_line(r, node)) {
		return false;
	}
	if (node->kind == PY_DEF &&
	    (r->is_steps || script_is_marked(node, "inline") ||
	     script_is_marked(node, "macro"))) {
		script_define_function(r, node);
		return true;
	}
	switch (node->kind) {
	case PY_PASS:
		return true;
	case PY_EXPRESSION:
		if (node->kids[0]->kind == PY_STRING) {
			return true; /* a comment */
		}
		if (node->kids[0]->kind == PY_CALL) {
			return read_call(r, node, node->kids[0], suite);
		}
		return script_fail(r, node,
				   "a value that nothing is done "
				   "with; store it, or call something");
	case PY_ASSIGN:
		return script_assign(r, node, suite);
	case PY_ANNOTATED:
		return script_annotated(r, node, suite);
	case PY_AUGMENTED:
		if (node->kids[0]->kind != PY_SUBSCRIPT &&
		    !script_is_variable(r, node->kids[0])) {
			return script_fail(r, node,
					   "a variable is not "
					   "changed; name the new value "
					   "otherwise, or use a buffer");
		}
		return script_store(r, node, node->kids[0], node->kids[1],
				    node->op, suite);
	case PY_RETURN:
		return read_return(r, node, node->kids[0], suite);
	case PY_FOR:
		if (!script_for(r, node, &s)) {
			return false;
		}
		break;
	case PY_WHILE:
		if (!read_while(r, node, &s)) {
			return false;
		}
		break;
	case PY_IF:
		if (r->is_steps && !read_chosen(r, node, suite, &done)) {
			return false;
		}
		if (done) {
			return true;
		}
		if (!read_if(r, node, &s)) {
			return false;
		}
		break;
	case PY_WITH:
		if (node->n_kids == 2 &&
		    script_calls(r, node->kids[0], "init")) {
			return script_init(r, node, node->kids[0]);
		}
		if (!script_with(r, node, 0, &s)) {
			return false;
		}
		break;
	case PY_ASSERT:
		if (!script_assert(r, node->kids[0], node->kids[1], &s)) {
			return false;
		}
		break;
	case PY_BREAK:
	case PY_CONTINUE:
		return script_fail(r, node,
				   "no loop around it that it can leave; guard "
				   "what follows with a condition");
	default:
		return script_fail(r, node,
				   "this statement has no meaning "
				   "in a tensor function; write it without");
	}
	if (s) {
		vec_push(&r->m->arena, &suite->list, s);
		if (s->pos.line == 0) {
			s->pos = (struct src_pos){ node->span.line,
						   node->span.col };
		}
	}
	return true;
}
