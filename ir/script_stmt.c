/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: statements. A let, an allocation or an attribute that
 * is no suite of its own holds for the rest of its suite; such openers wait
 * in the suite and are closed at its end, the last one first. */
#include "script_read.h"

enum { MAX_DEPTH = 5000 };

void
script_open(struct script_reader *r, struct script_suite *suite,
	    const struct py_node *node, struct script_opener opener)
{
	opener.at = suite->list.n;
	opener.pos = (struct src_pos){ node->span.line, node->span.col };
	vec_push(&r->m->arena, &suite->openers, opener);
}

static void
push(struct script_reader *r, struct script_suite *suite,
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

static struct stmt *
close_suite(struct script_reader *r, struct script_suite *suite)
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

static bool read_line(struct script_reader *r, const struct py_node *node,
		      struct script_suite *suite);

bool
script_read_suite(struct script_reader *r, const struct py_node *node,
		  struct stmt **out)
{
	struct script_suite suite = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	int names = r->names.n, loops = r->loops.n;

	int depth = r->depth;

	for (int i = 0; i < node->n_kids; i++) {
		if (!read_line(r, node->kids[i], &suite)) {
			return false;
		}
		r->depth = depth + suite.openers.n;
		if (r->depth > MAX_DEPTH) {
			return script_fail(r, node->kids[i],
					   "more than %d "
					   "values that hold for the rest of "
					   "their suites; use with, or "
					   "buffers",
					   (int)MAX_DEPTH);
		}
	}
	r->names.n = names;
	r->loops.n = loops;
	r->depth = depth;
	*out = close_suite(r, &suite);
	return true;
}

/* ---- loops */

static const struct {
	const char *path;
	enum for_kind kind;
} loop_words[] = {
	{ "serial", FOR_SERIAL },         { "parallel", FOR_PARALLEL },
	{ "vectorized", FOR_VECTORIZED }, { "unroll", FOR_UNROLLED },
	{ "unrolled", FOR_UNROLLED },     { "thread_binding", FOR_THREAD },
};

static bool
define_loop(struct script_reader *r, const struct py_node *target,
	    const struct range *range, struct var **out)
{
	if (target->kind != PY_NAME) {
		return script_fail(r, target,
				   "no name; a loop's variable is "
				   "one");
	}
	*out = var_new(r->m, script_hint(r, target->text), range->extent->type);

	struct script_loop loop = { *out, range->min, range->extent };

	vec_push(&r->m->arena, &r->loops, loop);
	script_define(r, target->text, script_value_of((*out)->expr, false));
	return true;
}

/* An extent, or a pair of ends. */
static bool
loop_range(struct script_reader *r, const struct py_node *a,
	   const struct py_node *b, struct range *out)
{
	if (b) {
		return script_range(r, a, b, out);
	}
	if (a->kind == PY_TUPLE && a->n_kids == 2) {
		return script_range(r, a->kids[0], a->kids[1], out);
	}
	if (!script_index(r, a, &out->extent)) {
		return false;
	}
	out->min = expr_int(r->m, out->extent->type, 0);
	return true;
}

static bool
read_grid(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, struct stmt **out)
{
	const struct py_node *target = node->kids[0];
	int n, names = r->names.n, loops = r->loops.n;
	const struct py_node *const *targets = script_items(&target, &n);
	struct range *ranges = arena_array(&r->m->arena, struct range, n + 1);
	struct var **vars = arena_array(&r->m->arena, struct var *, n + 1);

	if (n != call->n_kids - 1) {
		return script_fail(r, node,
				   "%d loop variables for %d "
				   "extents; give equally many",
				   n, call->n_kids - 1);
	}
	for (int i = 0; i < n; i++) {
		if (call->kids[1 + i]->kind == PY_KEYWORD) {
			return script_fail(r, call->kids[1 + i],
					   "T.grid has "
					   "no named arguments; use T.serial");
		}
		if (!loop_range(r, call->kids[1 + i], NULL, &ranges[i])) {
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		if (!define_loop(r, targets[i], &ranges[i], &vars[i])) {
			return false;
		}
	}
	if (!script_read_suite(r, node->kids[2], out)) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		*out = stmt_for(r->f, vars[i], ranges[i].min, ranges[i].extent,
				FOR_SERIAL, *out);
		(*out)->pos = (struct src_pos){ node->span.line,
						node->span.col };
	}
	r->names.n = names;
	r->loops.n = loops;
	return true;
}

static bool
read_loop(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, enum for_kind kind, struct stmt **out)
{
	static const char *const plain[] = { "start", "stop", "annotations",
					     "step", NULL };
	static const char *const bound[] = { "start", "stop",   "annotations",
					     "step",  "thread", NULL };
	const struct py_node *found[5] = { NULL };
	struct py_node copy = *call;
	const struct py_node *last = call->kids[call->n_kids - 1];
	const struct py_node *thread = NULL;
	const char *thread_name = NULL;
	struct range range;
	struct var *v;
	struct note *notes = NULL;
	int names = r->names.n, loops = r->loops.n;

	if (kind == FOR_THREAD && call->n_kids > 2 && last->kind == PY_STRING) {
		thread = last; /* T.thread_binding(0, 16, "threadIdx.x") */
		copy.n_kids--;
	}
	if (!script_args(r, &copy, kind == FOR_THREAD ? bound : plain, 1,
			 found)) {
		return false;
	}
	thread = thread ? thread : found[4];
	if (kind == FOR_THREAD &&
	    (thread ? !script_text(r, thread, &thread_name)
		    : !script_fail(r, call,
				   "no thread; add "
				   "thread=\"threadIdx.x\""))) {
		return false;
	}
	int64_t step;

	if (found[3] &&
	    (!script_constant(r, found[3], &step) ||
	     (step != 1 && !script_fail(r, found[3],
					"a loop with a step; "
					"multiply its variable instead")))) {
		return false;
	}
	if (!loop_range(r, found[0], found[1], &range) ||
	    (found[2] && !script_notes(r, found[2], &notes)) ||
	    !define_loop(r, node->kids[0], &range, &v) ||
	    !script_read_suite(r, node->kids[2], out)) {
		return false;
	}
	*out = stmt_for(r->f, v, range.min, range.extent, kind, *out);
	(*out)->u.loop.thread = thread_name;
	(*out)->notes = notes;
	r->names.n = names;
	r->loops.n = loops;
	return true;
}

static bool
read_for(struct script_reader *r, const struct py_node *node, struct stmt **out)
{
	const struct py_node *call = node->kids[1];
	const char *path = call->kind == PY_CALL ? script_path(r, call->kids[0])
						 : NULL;

	if (call->kind == PY_CALL && call->n_kids < 2) {
		return script_fail(r, call,
				   "a loop without an extent; give "
				   "it one");
	}
	if (call->kind == PY_CALL && call->kids[0]->kind == PY_NAME &&
	    (strcmp(call->kids[0]->text, "range") == 0 ||
	     strcmp(call->kids[0]->text, "grid") == 0)) {
		path = call->kids[0]->text[0] == 'r' ? "serial" : "grid";
		if (call->n_kids == 4 && call->kids[0]->text[0] == 'r') {
			return script_fail(r, call->kids[3],
					   "a loop with a "
					   "step; multiply its variable "
					   "instead");
		}
	}
	if (!path) {
		return script_fail(r, call,
				   "no loop of a tensor program; "
				   "loop over range, T.serial, T.grid, "
				   "T.parallel, T.vectorized, T.unroll or "
				   "T.thread_binding");
	}
	if (strcmp(path, "grid") == 0) {
		return read_grid(r, node, call, out);
	}
	for (size_t i = 0; i < sizeof loop_words / sizeof *loop_words; i++) {
		if (strcmp(loop_words[i].path, path) == 0) {
			return read_loop(r, node, call, loop_words[i].kind,
					 out);
		}
	}
	return script_unknown(r, call, path);
}

/* ---- lets, attributes, threads: each as an opener */

static void
let_opener(struct script_reader *r, const char *name, const struct expr *value,
	   struct script_opener *out)
{
	struct var *v = var_new(r->m, script_hint(r, name), value->type);

	*out = (struct script_opener){ .kind = STMT_LET,
				       .var = v,
				       .value = value };
	script_define(r, name, script_value_of(v->expr, false));
}

/* T.LetStmt(value[, type]) as name */
static bool
read_let_stmt(struct script_reader *r, const struct py_node *call,
	      const struct py_node *target, struct script_opener *out)
{
	static const char *const names[] = { "value", "type_annotation", NULL };
	const struct py_node *found[2];
	const struct expr *value;
	struct dtype t;

	if (!script_args(r, call, names, 1, found)) {
		return false;
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
	let_opener(r, target->text, value, out);
	return true;
}

/* T.let(x, value), x declared by x = T.var("int32") */
static bool
read_let(struct script_reader *r, const struct py_node *call,
	 struct script_opener *out)
{
	static const char *const names[] = { "var", "value", NULL };
	const struct py_node *found[2];
	const struct expr *var, *value;

	if (!script_args(r, call, names, 2, found) ||
	    !script_expr(r, found[0], &var)) {
		return false;
	}
	if (var->kind != EXPR_VAR) {
		return script_fail(r, found[0],
				   "no variable; declare one "
				   "with T.var");
	}
	if (!script_expr_as(r, found[1], var->type, &value)) {
		return false;
	}
	*out = (struct script_opener){ .kind = STMT_LET,
				       .var = var->u.var,
				       .value = value };
	return true;
}

static bool
read_attr(struct script_reader *r, const struct py_node *call,
	  struct script_opener *out)
{
	static const char *const names[] = { "node", "attr_key", "value",
					     NULL };
	const struct py_node *found[3];
	struct script_value node;

	*out = (struct script_opener){ .kind = STMT_ATTR };
	if (!script_args(r, call, names, 3, found) ||
	    !script_eval(r, found[0], &node) ||
	    !script_text(r, found[1], &out->text) ||
	    !script_note_value(r, found[2], &out->value)) {
		return false;
	}
	if (node.kind != SCRIPT_EXPR || !node.weak) {
		return script_fail(r, found[0],
				   "an attribute of a node; "
				   "tirc's are of statements alone, write 0");
	}
	return true;
}

/* T.launch_thread("threadIdx.x", 32), or of what T.env_thread gave */
static bool
read_launch(struct script_reader *r, const struct py_node *call,
	    const struct py_node *target, struct script_opener *out)
{
	static const char *const names[] = { "thread", "extent", NULL };
	const struct py_node *found[2];
	struct script_value v;
	struct range range;
	const char *name = NULL;

	if (!script_args(r, call, names, 2, found) ||
	    !script_eval(r, found[0], &v) ||
	    !script_index(r, found[1], &range.extent)) {
		return false;
	}
	*out = (struct script_opener){ .kind = STMT_FOR };
	if (v.kind == SCRIPT_THREAD) {
		out->text = v.text;
		name = found[0]->kind == PY_NAME ? found[0]->text : NULL;
	} else if (!script_text(r, found[0], &out->text)) {
		return false;
	}
	if (target && target->kind == PY_NAME) {
		name = target->text;
	}
	range.min = expr_int(r->m, range.extent->type, 0);
	out->min = range.min;
	out->value = range.extent;
	out->var = var_new(r->m, name ? name : "thread", range.extent->type);
	if (name) {
		struct script_loop loop = { out->var, range.min, range.extent };

		vec_push(&r->m->arena, &r->loops, loop);
		script_define(r, name, script_value_of(out->var->expr, false));
	}
	return true;
}

/* ---- with */

static bool read_with(struct script_reader *r, const struct py_node *node,
		      int item, struct stmt **out);

static bool
read_assert(struct script_reader *r, const struct py_node *condition,
	    const struct py_node *message, struct stmt **out)
{
	const struct expr *e;
	const char *text = "";

	if (!script_condition(r, condition, &e) ||
	    (message && !script_text(r, message, &text))) {
		return false;
	}
	*out = stmt_assert(r->f, e, text);
	return true;
}

/* T.Assert(condition, message), T.While(condition) and what they hold. */
static bool
read_wrapper(struct script_reader *r, const struct py_node *node,
	     const struct py_node *call, bool loops, int item,
	     struct stmt **out)
{
	static const char *const names[] = { "condition", "message", NULL };
	const struct py_node *found[2];
	const struct expr *e;
	struct stmt *pair[2];

	if (!script_args(r, call, names, 1, found)) {
		return false;
	}
	if (loops) {
		if (!script_condition(r, found[0], &e) ||
		    !read_with(r, node, item + 1, out)) {
			return false;
		}
		*out = stmt_while(r->f, e, *out);
		return true;
	}
	if (!read_assert(r, found[0], found[1], &pair[0]) ||
	    !read_with(r, node, item + 1, &pair[1])) {
		return false;
	}
	*out = stmt_seq(r->f, pair, 2);
	return true;
}

static bool
read_init(struct script_reader *r, const struct py_node *node,
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

/* The items from `item` on, and the suite. */
static bool
read_with(struct script_reader *r, const struct py_node *node, int item,
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
		bool good = strcmp(path, "LetStmt") == 0
				    ? read_let_stmt(r, call, target, &opener)
			    : strcmp(path, "let") == 0
				    ? read_let(r, call, &opener)
			    : strcmp(path, "attr") == 0
				    ? read_attr(r, call, &opener)
			    : strcmp(path, "launch_thread") == 0
				    ? read_launch(r, call, target, &opener)
				    : script_unknown(r, call, path);

		if (!good) {
			return false;
		}
		script_open(r, &suite, call, opener);
	}
	struct stmt *body;

	if (!read_with(r, node, item + 1, &body)) {
		return false;
	}
	vec_push(&r->m->arena, &suite.list, body);
	r->names.n = names;
	r->loops.n = loops;
	*out = close_suite(r, &suite);
	return true;
}

/* ---- assignments */

static bool
read_store(struct script_reader *r, const struct py_node *node,
	   const struct py_node *target, const struct py_node *value,
	   const char *op, struct script_suite *suite)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} updates[] = {
		{ "+", EXPR_ADD },       { "-", EXPR_SUB },
		{ "*", EXPR_MUL },       { "/", EXPR_DIV },
		{ "//", EXPR_FLOORDIV }, { "%", EXPR_FLOORMOD },
	};
	const struct buffer *b;
	const struct expr **index, *e;
	struct script_value v;
	int lanes = 1;

	if (!script_eval(r, target->kids[0], &v) ||
	    !script_element(r, target, &v, &b, &index) ||
	    !script_eval(r, value, &v)) {
		return false;
	}
	if (op) {
		struct script_value old =
			script_value_of(expr_load(r->m, b, index, b->ndim),
					false);
		size_t i = 0, n = sizeof updates / sizeof *updates;

		while (i < n && strcmp(updates[i].op, op) != 0) {
			i++;
		}
		if (i == n ||
		    (updates[i].kind == EXPR_DIV && !dtype_is_float(b->type))) {
			return script_fail(r, node,
					   "'%s=' of an element; "
					   "write the update out",
					   op);
		}
		if (!script_binary(r, node, updates[i].kind, &old, &v, &v)) {
			return false;
		}
	}
	for (int i = 0; i < b->ndim; i++) {
		lanes = index[i]->type.lanes > lanes ? index[i]->type.lanes
						     : lanes;
	}
	struct dtype t = b->type;

	t.lanes = (uint16_t)(t.lanes * lanes);
	if (!script_convert(r, value, &v, t, &e)) {
		return false;
	}
	push(r, suite, node, stmt_store(r->f, b, e, index, b->ndim));
	return true;
}

/* n = T.int32(): a size; its bounds may follow in T.func_attr. */
static void
declare_var(struct script_reader *r, const char *name, struct dtype type)
{
	const struct script_value *known = script_find(r, name);

	for (int i = 0; i < r->n_sizes; i++) {
		if (known == &r->names.data[i].value &&
		    dtype_equal(known->e->type, type)) {
			return; /* known since the signature */
		}
	}
	struct var *v = var_new(r->m, script_hint(r, name), type);

	script_define(r, name, script_value_of(v->expr, false));
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
	/* Python's own values are no variables of the program. */
	if (v.kind != SCRIPT_EXPR || v.weak || v.e->kind == EXPR_STRING) {
		script_define(r, target->text, v);
		return true;
	}
	if (!script_settle(r, node, &v, &e)) {
		return false;
	}
	let_opener(r, target->text, e, &opener);
	script_open(r, suite, node, opener);
	return true;
}

static bool
read_assign(struct script_reader *r, const struct py_node *node,
	    struct script_suite *suite)
{
	const struct py_node *target = node->kids[0], *value = node->kids[1];
	struct script_opener opener;
	struct script_value v;

	if (node->n_kids > 2) {
		return script_fail(r, node,
				   "several targets at once; give "
				   "each a statement of its own");
	}
	if (target->kind == PY_SUBSCRIPT) {
		return read_store(r, node, target, value, NULL, suite);
	}
	if (script_is_axis(r, value)) {
		return script_axis(r, target, value);
	}
	if (target->kind == PY_NAME && script_declares_buffer(r, value)) {
		return script_declare_buffer(r, value, target->text, suite);
	}
	if (script_calls(r, value, "launch_thread")) {
		if (!read_launch(r, value, target, &opener)) {
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
	if (!script_eval(r, value, &v)) {
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

/* x: T.int32 = value */
static bool
read_annotated(struct script_reader *r, const struct py_node *node,
	       struct script_suite *suite)
{
	const struct py_node *target = node->kids[0], *type = node->kids[1];
	struct script_opener opener;
	const struct expr *value;
	struct dtype t;

	if (target->kind != PY_NAME || !node->kids[2]) {
		return script_fail(r, node,
				   "no let; write name: T.int32 = "
				   "value");
	}
	if (type->kind == PY_SUBSCRIPT) { /* T.let[T.int32] */
		type = type->kids[1];
	}
	if (type->kind == PY_CALL) { /* T.handle("float32") */
		type = type->kids[0];
	}
	const char *path = script_path(r, type);

	if (path && strcmp(path, "let") == 0) {
		if (!script_expr(r, node->kids[2], &value)) {
			return false;
		}
	} else if (!(path ? script_type_named(r, type, path, &t)
			  : script_type(r, type, &t)) ||
		   !script_expr_as(r, node->kids[2], t, &value)) {
		return false;
	}
	let_opener(r, target->text, value, &opener);
	script_open(r, suite, node, opener);
	return true;
}

/* ---- the rest */

static bool
read_if(struct script_reader *r, const struct py_node *node, struct stmt **out)
{
	const struct py_node *otherwise = node->kids[2];
	struct script_value v;
	const struct expr *condition;
	struct stmt *then, *other = NULL;
	bool literal = node->kids[0]->kind == PY_TRUE ||
		       node->kids[0]->kind == PY_FALSE;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	/* Python decides what it knows. */
	if (v.kind == SCRIPT_EXPR && v.weak && v.e->kind == EXPR_INT &&
	    !literal) {
		const struct py_node *taken = v.e->u.ival ? node->kids[1]
							  : otherwise;

		*out = NULL;
		return !taken || (taken->kind == PY_IF
					  ? read_if(r, taken, out)
					  : script_read_suite(r, taken, out));
	}
	if (!script_condition(r, node->kids[0], &condition) ||
	    !script_read_suite(r, node->kids[1], &then)) {
		return false;
	}
	if (otherwise && !(otherwise->kind == PY_IF
				   ? read_if(r, otherwise, &other)
				   : script_read_suite(r, otherwise, &other))) {
		return false;
	}
	*out = stmt_if(r->f, condition, then, other);
	(*out)->pos = (struct src_pos){ node->span.line, node->span.col };
	return true;
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
	push(r, suite, node, stmt_return(r->f, e));
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
	push(r, suite, node, stmt_evaluate(r->f, e));
	return true;
}

/* A line that is a call. */
static bool
read_call(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, struct script_suite *suite)
{
	static const char *const one[] = { "value", NULL };
	static const char *const head[] = {
		"reads", "writes", "where", "block_attr", "sblock_attr",
	};
	const char *path = script_path(r, call->kids[0]);
	const struct py_node *found[1];
	struct script_opener opener;

	if (!path) {
		return read_evaluate(r, node, call, suite);
	}
	for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
		if (strcmp(head[i], path) == 0) {
			return script_block_line(r, call, path);
		}
	}
	if (strcmp(path, "func_attr") == 0) {
		return script_func_attr(r, call);
	}
	if (strcmp(path, "evaluate") == 0) {
		if (!script_args(r, call, one, 1, found)) {
			return false;
		}
		if (script_calls(r, found[0], "ret")) {
			return read_call(r, node, found[0], suite);
		}
		return read_evaluate(r, node, found[0], suite);
	}
	if (strcmp(path, "ret") == 0) {
		return script_args(r, call, one, 0, found) &&
		       read_return(r, node, found[0], suite);
	}
	if (strcmp(path, "attr") == 0 || strcmp(path, "launch_thread") == 0 ||
	    strcmp(path, "let") == 0) {
		bool good = path[0] == 'a' ? read_attr(r, call, &opener)
			    : path[1] == 'a'
				    ? read_launch(r, call, NULL, &opener)
				    : read_let(r, call, &opener);

		if (!good) {
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
read_line(struct script_reader *r, const struct py_node *node,
	  struct script_suite *suite)
{
	struct stmt *s = NULL;
	const struct expr *e;

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
		return read_assign(r, node, suite);
	case PY_ANNOTATED:
		return read_annotated(r, node, suite);
	case PY_AUGMENTED:
		if (node->kids[0]->kind != PY_SUBSCRIPT) {
			return script_fail(r, node,
					   "a variable is not "
					   "changed; name the new value "
					   "otherwise, or use a buffer");
		}
		return read_store(r, node, node->kids[0], node->kids[1],
				  node->op, suite);
	case PY_RETURN:
		return read_return(r, node, node->kids[0], suite);
	case PY_FOR:
		if (!read_for(r, node, &s)) {
			return false;
		}
		break;
	case PY_WHILE:
		if (!script_condition(r, node->kids[0], &e) ||
		    !script_read_suite(r, node->kids[1], &s)) {
			return false;
		}
		s = stmt_while(r->f, e, s);
		break;
	case PY_IF:
		if (!read_if(r, node, &s)) {
			return false;
		}
		break;
	case PY_WITH:
		if (node->n_kids == 2 &&
		    script_calls(r, node->kids[0], "init")) {
			return read_init(r, node, node->kids[0]);
		}
		if (!read_with(r, node, 0, &s)) {
			return false;
		}
		break;
	case PY_ASSERT:
		if (!read_assert(r, node->kids[0], node->kids[1], &s)) {
			return false;
		}
		break;
	case PY_BREAK:
	case PY_CONTINUE:
		return script_fail(r, node,
				   "a loop is not left early; guard "
				   "its body with a condition");
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
