/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as values of programs: tvm.tir.For and the like, stmt_functor, and
 * passes over PrimFuncs that a program defines.
 *
 * f.body                            the statements of a function
 * stmt_functor.ir_transform(f.body, None, post, ["tir.For"])
 * f.with_body(body)                 a function with other statements
 *
 * A statement that a program has as a value never changes: a new statement is
 * made of copies, so that the function's statements stay the same. The copies
 * belong to the function ev->detached. */
#include "tir_nodes.h"

#include "lower.h"
#include "tir_parts.h"

static bool stmt_fits(struct eval *ev, struct py_span at, const struct stmt *s);

static struct func *
detached(struct eval *ev)
{
	if (!ev->detached) {
		ev->detached = func_new(ev->m, "detached");
	}
	return ev->detached;
}

static struct pval
pv_stmt(struct stmt *s)
{
	return (struct pval){ .kind = PV_STMT, .u.stmt = s };
}

/* Sets *out to the nesting depth of e, and counts steps. Returns false after an
 * error. */
static bool
expr_levels(struct eval *ev, struct py_span at, const struct expr *e, int *out)
{
	int depth = 0, one;

	if (!eval_tick(ev, at, 1)) {
		return false;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (!expr_levels(ev, at, e->args[i], &one)) {
			return false;
		}
		depth = one > depth ? one : depth;
	}
	*out = depth + 1;
	return true;
}

static bool
expr_of(struct call *c, const struct expr *e, struct pval *out)
{
	int depth;

	*out = pv_none();
	if (!e) {
		return true;
	}
	if (!expr_levels(c->ev, c->span, e, &depth)) {
		return false;
	}
	*out = pv_expr(e, depth);
	return true;
}

/* -- kinds -- */

static const struct {
	enum stmt_kind kind;
	/* the name of the class in some releases of TVM, and its name in
	 * others */
	const char *name, *other;
} classes[] = {
	{ STMT_FOR, "For", "For" },
	{ STMT_BLOCK, "Block", "SBlock" },
	{ STMT_STORE, "BufferStore", "Store" },
	{ STMT_IF, "IfThenElse", "IfThenElse" },
	{ STMT_LET, "LetStmt", "Bind" },
	{ STMT_ALLOC, "Allocate", "AllocBuffer" },
	{ STMT_ATTR, "AttrStmt", "AttrStmt" },
	{ STMT_EVALUATE, "Evaluate", "Evaluate" },
	{ STMT_WHILE, "While", "While" },
	{ STMT_ASSERT, "AssertStmt", "AssertStmt" },
	{ STMT_SEQ, "SeqStmt", "SeqStmt" },
};

enum { N_CLASSES = sizeof classes / sizeof *classes };

const char *
stmt_class(const struct stmt *s)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (classes[i].kind == s->kind) {
			return classes[i].name;
		}
	}
	return "Stmt";
}

bool
stmt_is_instance(const struct stmt *s, const char *name)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (classes[i].kind == s->kind &&
		    (strcmp(classes[i].name, name) == 0 ||
		     strcmp(classes[i].other, name) == 0)) {
			return true;
		}
	}
	return strcmp(name, "Stmt") == 0;
}

/* tvm.tir.ForKind.VECTORIZED and so on, as TVM's numbers, which equal those of
 * enum for_kind. */
bool
for_kind_value(struct call *c, struct pval *out)
{
	static const char *const names[] = { "SERIAL", "PARALLEL", "VECTORIZED",
					     "UNROLLED", "THREAD_BINDING" };

	for (int i = 0; i < 5; i++) {
		if (strcmp(names[i], c->row->name) == 0) {
			*out = pv_int(i);
		}
	}
	return true;
}

/* -- attributes -- */

static bool
wrong_kind(struct call *c)
{
	return call_error(c, -1, "a %s has no %s", stmt_class(c->self.u.stmt),
			  c->row->name);
}

/* The attributes body, then_case and else_case of a statement: the statement
 * inside of it. */
bool
stmt_child(struct call *c, struct pval *out)
{
	const struct stmt *s = c->self.u.stmt;
	int i = strcmp(c->row->name, "else_case") == 0 ? 1 : 0;

	if (s->kind == STMT_SEQ || s->n_children == 0 ||
	    (s->kind == STMT_IF) != (c->row->name[0] != 'b')) {
		return wrong_kind(c);
	}
	*out = i < s->n_children && s->children[i] ? pv_stmt(s->children[i])
						   : pv_none();
	return true;
}

bool
stmt_list(struct call *c, struct pval *out)
{
	const struct stmt *s = c->self.u.stmt;

	if (s->kind != STMT_SEQ) {
		return wrong_kind(c);
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < s->n_children; i++) {
		vec_push(c->ev->a, out->u.list, pv_stmt(s->children[i]));
	}
	return eval_tick(c->ev, c->span, s->n_children);
}

/* The attributes min, extent, condition and value: an expression of the
 * statement. */
bool
stmt_expr(struct call *c, struct pval *out)
{
	const struct stmt *s = c->self.u.stmt;
	const char *name = c->row->name;
	bool value = name[0] == 'v';
	int i = strcmp(name, "extent") == 0;

	if ((strcmp(name, "condition") == 0 && s->kind != STMT_IF &&
	     s->kind != STMT_WHILE && s->kind != STMT_ASSERT) ||
	    ((name[0] == 'm' || name[0] == 'e') && s->kind != STMT_FOR) ||
	    (value && s->kind != STMT_STORE && s->kind != STMT_LET &&
	     s->kind != STMT_ATTR && s->kind != STMT_EVALUATE) ||
	    i >= s->n_args) {
		return wrong_kind(c);
	}
	return expr_of(c, s->args[i], out);
}

bool
stmt_var(struct call *c, struct pval *out)
{
	const struct stmt *s = c->self.u.stmt;
	bool loop = c->row->name[0] == 'l';

	if (s->kind != (loop ? STMT_FOR : STMT_LET)) {
		return wrong_kind(c);
	}
	*out = pv_expr(loop ? s->u.loop.var->expr : s->u.var->expr, 1);
	return true;
}

bool
stmt_for_kind(struct call *c, struct pval *out)
{
	if (c->self.u.stmt->kind != STMT_FOR) {
		return wrong_kind(c);
	}
	*out = pv_int(c->self.u.stmt->u.loop.kind);
	return true;
}

/* The attributes buffer and indices of a store. */
bool
stmt_buffer(struct call *c, struct pval *out)
{
	const struct stmt *s = c->self.u.stmt;

	if (s->kind != STMT_STORE) {
		return wrong_kind(c);
	}
	if (c->row->name[0] == 'b') {
		*out = (struct pval){ .kind = PV_BUFFER,
				      .u.buffer = s->u.buffer };
		return true;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 1; i < s->n_args; i++) {
		struct pval v;

		if (!expr_of(c, s->args[i], &v)) {
			return false;
		}
		vec_push(c->ev->a, out->u.list, v);
	}
	return true;
}

/* -- making statements -- */

/* Counts the steps that a copy of s takes. Returns false after an error if no
 * steps are left. */
static bool
tick_copy(struct eval *ev, struct py_span at, const struct stmt *s)
{
	if (!eval_tick(ev, at, 1)) {
		return false;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && !tick_copy(ev, at, s->children[i])) {
			return false;
		}
	}
	return true;
}

static bool
arg_stmt(struct call *c, int i, struct stmt **out)
{
	if (c->args[i].kind != PV_STMT) {
		return value_kind_error(c, i, "a statement");
	}
	if (!tick_copy(c->ev, c->spans[i], c->args[i].u.stmt)) {
		return false;
	}
	*out = stmt_clone(detached(c->ev), c->args[i].u.stmt, false);
	return true;
}

/* Sets *out to e, argument i of the call or a part of it, as a number of type t.
 * Returns false after an error. */
static bool
as_number(struct call *c, int i, const struct expr *e, struct dtype t,
	  const struct expr **out)
{
	const struct typed x = typed_expr(e);
	struct typed y;

	if (!typed_cast(&c->ev->typing, c->spans[i], &x, t, &y)) {
		return false;
	}
	*out = y.e;
	return y.e->type.lanes == t.lanes ||
	       call_error(c, i, "a vector in place of a number");
}

/* Implements tvm.tir.For(loop_var, min, extent, kind, body). Returns false
 * after an error. */
bool
stmt_make_for(struct call *c, struct pval *out)
{
	const struct expr *var, *min, *extent;
	struct stmt *body;
	int64_t kind;
	int depth;

	if (!arg_expr(c, 0, &var, &depth) || !arg_expr(c, 1, &min, &depth) ||
	    !arg_expr(c, 2, &extent, &depth) ||
	    !arg_int(c, 3, FOR_SERIAL, FOR_UNROLLED, &kind) ||
	    !arg_stmt(c, 4, &body)) {
		return false;
	}
	if (var->kind != EXPR_VAR || !dtype_is_int(var->type)) {
		return call_error(c, 0,
				  "a loop runs over a variable, such as "
				  "te.var(\"i\")");
	}
	if (!as_number(c, 1, min, var->type, &min) ||
	    !as_number(c, 2, extent, var->type, &extent)) {
		return false;
	}
	*out = pv_stmt(stmt_for(detached(c->ev), var->u.var, min, extent,
				(enum for_kind)kind, body));
	return true;
}

/* Implements stmt_functor.substitute(node, {var: expr}). */
bool
functor_substitute(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pv_dict *d = c->args[1].u.dict;
	struct var_map map = { 0 };
	struct stmt *s;
	int deepest = 0, depth;

	if (c->args[1].kind != PV_DICT) {
		return value_kind_error(c, 1, "a dict");
	}
	map.from = arena_array(ev->a, struct var *, d->keys.n + 1);
	map.to = arena_exprs(ev->a, d->keys.n + 1);
	for (int i = 0; i < d->keys.n; i++) {
		const struct expr *from, *to;

		if (!value_expr(ev, c->spans[1], &d->keys.data[i], &from,
				&depth) ||
		    !value_expr(ev, c->spans[1], &d->values.data[i], &to,
				&depth)) {
			return false;
		}
		if (from->kind != EXPR_VAR) {
			return call_error(c, 1,
					  "variables are replaced, not "
					  "expressions");
		}
		deepest = depth > deepest ? depth : deepest;
		if (!as_number(c, 1, to, from->type, &map.to[map.n])) {
			return false;
		}
		map.from[map.n++] = from->u.var;
	}
	if (c->args[0].kind == PV_STMT) {
		if (!arg_stmt(c, 0, &s)) {
			return false;
		}
		stmt_substitute(detached(ev), s, &map);
		*out = pv_stmt(s);
		return stmt_fits(ev, c->span, s);
	}
	const struct expr *e;

	if (!arg_expr(c, 0, &e, &depth)) {
		return false;
	}
	*out = pv_expr(expr_substitute(ev->m, e, &map), depth + deepest);
	return eval_expr_fits(ev, c->span, out->u.expr, depth + deepest);
}

/* Are the expressions in s within the limits of size and depth? Returns false
 * after an error otherwise. */
static bool
stmt_fits(struct eval *ev, struct py_span at, const struct stmt *s)
{
	int depth;

	for (int i = 0; i < s->n_args; i++) {
		if (eval_expr_size(ev, s->args[i]) > EVAL_MAX_EXPR_SIZE) {
			return eval_expr_fits(ev, at, s->args[i], 0);
		}
		if (!expr_levels(ev, at, s->args[i], &depth) ||
		    !eval_expr_fits(ev, at, s->args[i], depth)) {
			return false;
		}
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && !stmt_fits(ev, at, s->children[i])) {
			return false;
		}
	}
	return eval_tick(ev, at, 1);
}

/* -- walks -- */

/* Calls the function that the program passed, for e and for each expression in
 * e; expressions in e come first. Returns false after an error. */
static bool
visit_expr(struct call *c, const struct expr *e)
{
	struct pval v, none;

	for (int i = 0; i < e->n_args; i++) {
		if (!visit_expr(c, e->args[i])) {
			return false;
		}
	}
	return expr_of(c, e, &v) &&
	       eval_apply(c->ev, c->span, &c->args[1], &v, 1, &none);
}

static bool
visit(struct call *c, struct stmt *s)
{
	struct pval v = pv_stmt(s), none;

	for (int i = 0; i < s->n_args; i++) {
		if (!visit_expr(c, s->args[i])) {
			return false;
		}
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && !visit(c, s->children[i])) {
			return false;
		}
	}
	return eval_apply(c->ev, c->span, &c->args[1], &v, 1, &none);
}

/* Implements stmt_functor.post_order_visit(node, function). */
bool
functor_visit(struct call *c, struct pval *out)
{
	const struct expr *e;
	int depth;

	(void)out;
	if (c->args[0].kind == PV_STMT) {
		return visit(c, c->args[0].u.stmt);
	}
	return arg_expr(c, 0, &e, &depth) && visit_expr(c, e);
}

/* Does the statement belong to one of the n classes in `only`, such as
 * "tir.For"? True if n is 0. */
static bool
is_among(const struct stmt *s, const struct pval *only, int n)
{
	for (int i = 0; i < n; i++) {
		const char *name = only[i].u.text.data, *dot;

		dot = strrchr(name, '.');
		if (stmt_is_instance(s, dot ? dot + 1 : name)) {
			return true;
		}
	}
	return n == 0;
}

struct transform {
	struct call *c;
	const struct pval *only;
	int n_only;
};

/* Calls the function in argument i for the statement *out, and stores the
 * statement that it returns there; None changes nothing. Returns false after an
 * error. */
static bool
replaced(struct transform *t, int i, struct stmt **out)
{
	struct pval v = pv_stmt(*out), result;

	if (!arg_given(t->c, i) || !is_among(*out, t->only, t->n_only)) {
		return true;
	}
	if (!eval_apply(t->c->ev, t->c->span, &t->c->args[i], &v, 1, &result)) {
		return false;
	}
	if (result.kind == PV_NONE) {
		return true;
	}
	if (result.kind != PV_STMT) {
		return call_error(t->c, i,
				  "the function gives a statement or None, not "
				  "%s",
				  pv_kind_name(result.kind));
	}
	*out = result.u.stmt;
	return true;
}

static bool
transform(struct transform *t, struct stmt *s, struct stmt **out)
{
	struct eval *ev = t->c->ev;
	struct stmt *copy = NULL;

	*out = s;
	if (!replaced(t, 1, out)) {
		return false;
	}
	if (*out != s) {
		/* if `preorder` returns a statement, the statements inside it
		 * are not visited */
		return true;
	}
	for (int i = 0; i < s->n_children; i++) {
		struct stmt *child;

		if (!s->children[i]) {
			continue;
		}
		if (!transform(t, s->children[i], &child)) {
			return false;
		}
		if (child == s->children[i]) {
			continue;
		}
		if (!tick_copy(ev, t->c->span, s) ||
		    !tick_copy(ev, t->c->span, child)) {
			return false;
		}
		if (!copy) {
			copy = stmt_clone(detached(ev), s, false);
		}
		stmt_set_child(detached(ev), copy, i,
			       stmt_clone(detached(ev), child, false));
	}
	*out = copy ? copy : s;
	return replaced(t, 2, out);
}

/* Implements stmt_functor.ir_transform(stmt, preorder, postorder,
 * only_enable). */
bool
functor_transform(struct call *c, struct pval *out)
{
	struct transform t = { .c = c };
	struct pval *only = NULL;
	struct stmt *s;

	if (c->args[0].kind != PV_STMT) {
		return value_kind_error(c, 0, "a statement");
	}
	if (arg_given(c, 3) &&
	    !eval_items(c->ev, c->spans[3], &c->args[3], &only, &t.n_only)) {
		return false;
	}
	for (int i = 0; i < t.n_only; i++) {
		if (only[i].kind != PV_STRING) {
			return value_kind_error(c, 3, "names of statements");
		}
	}
	t.only = only;
	if (!transform(&t, c->args[0].u.stmt, &s)) {
		return false;
	}
	*out = pv_stmt(s);
	return true;
}

/* -- functions -- */

bool
func_body(struct call *c, struct pval *out)
{
	*out = pv_stmt(c->self.u.func->func->body);
	return true;
}

/* Is f valid after a program has changed it? If not, reports an error and
 * returns false. */
static bool
check(struct eval *ev, struct py_span at, const struct func *f)
{
	struct diags *d = &ev->m->diags;
	int first = d->list.n;
	const char *why;

	if (func_verify(f)) {
		return true;
	}
	why = d->list.n > first ? d->list.data[d->list.n - 1].message : "";
	diags_drop_errors(d, first, DIAG_COUNT);
	return eval_error(ev, at, "the new body of %s is not valid: %s",
			  f->name, why);
}

/* f.with_body(body): a copy of f with another body. */
bool
func_with_body(struct call *c, struct pval *out)
{
	const struct program_func *of = c->self.u.func;
	struct program_func *f = arena_copy(c->ev->a, of, sizeof *of);

	if (c->args[0].kind != PV_STMT) {
		return value_kind_error(c, 0, "a statement");
	}
	if (!tick_copy(c->ev, c->span, of->func->body) ||
	    !tick_copy(c->ev, c->span, c->args[0].u.stmt)) {
		return false;
	}
	f->func = func_clone(of->func, of->func->name);
	stmt_replace(f->func, f->func->body,
		     stmt_clone(f->func, c->args[0].u.stmt, false));
	*out = (struct pval){ .kind = PV_FUNC, .u.func = f };
	return check(c->ev, c->span, f->func);
}

/* Calls a pass of the program for the function f, and replaces f by the pass's
 * result. Returns false after an error. */
static bool
run_pass(struct eval *ev, struct py_span at, const struct pval *pass,
	 const struct pval *module, struct program_func *f)
{
	const struct pv_pass *p = pass->u.any;
	struct pval args[3] = {
		{ .kind = PV_FUNC, .u.func = f },
		*module,
		pv_any(PV_PASS_CONTEXT, ev->context),
	};
	struct pval result;

	if (pass->kind != PV_PASS || !p->function) {
		return eval_error(ev, at,
				  "a lowering pass is a function with "
				  "@tvm.tir.transform.prim_func_pass");
	}
	if (!eval_apply(ev, at, p->function, args, 3, &result)) {
		return false;
	}
	if (result.kind != PV_FUNC) {
		return eval_error(ev, at,
				  "a pass over PrimFuncs gives a PrimFunc, not "
				  "%s",
				  pv_kind_name(result.kind));
	}
	f->func = func_clone(result.u.func->func, f->func->name);
	return true;
}

bool
tir_pass_apply(struct eval *ev, struct py_span at, const struct pval *pass,
	       const struct pval *module, struct pval *out)
{
	struct pv_module *made = arena_new(ev->a, struct pv_module);
	const struct pv_module *of = module->u.module;

	*out = (struct pval){ .kind = PV_IRMODULE, .u.module = made };
	made->simple = of->simple;
	for (int i = 0; i < of->funcs.n; i++) {
		struct program_func *f = arena_copy(ev->a, of->funcs.data[i],
						    sizeof *f);

		if (!run_pass(ev, at, pass, module, f)) {
			return false;
		}
		vec_push(ev->a, &made->funcs, f);
	}
	return true;
}

/* Runs the passes that the pass context adds after lowering phase `phase`.
 * Returns false after an error. */
static bool
run_phase(struct eval *ev, struct py_span at, int phase,
	  const struct pval *module, struct program_func *f)
{
	const struct pv_pass_context *p = ev->context;

	for (int i = 0; p && i < p->n_lower; i++) {
		const struct pv_list *pair = p->lower[i].u.list;

		if (pair->data[0].u.ival == phase &&
		    !run_pass(ev, at, &pair->data[1], module, f)) {
			return false;
		}
	}
	return true;
}

/* Applies the context's settings to the loops of f. */
static void
apply_settings(const struct pv_pass_context *p, struct func *f)
{
	const enum for_kind serial = FOR_SERIAL;
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_FOR);
	     (s = stmt_next(&it));) {
		if (p->disable_vectorize && s->u.loop.kind == FOR_VECTORIZED) {
			stmt_write(f, &s->u.loop.kind, &serial, sizeof serial);
		}
		if (p->unroll_steps > 0 &&
		    !stmt_note(s, "pragma_auto_unroll_max_step")) {
			stmt_set_note(f, s, "pragma_auto_unroll_max_step",
				      expr_index(f->module, p->unroll_steps));
			stmt_set_note(f, s, "pragma_unroll_explicit",
				      expr_i32(f->module, p->unroll_explicit));
		}
	}
}

bool
tir_lower(struct eval *ev, struct py_span at, bool simple,
	  const struct pval *module, struct program_func *f)
{
	const struct pv_pass_context *p = ev->context;

	if (p) {
		apply_settings(p, f->func);
	}
	if (!p || p->n_lower == 0) {
		return program_lower(f->func, 3, simple, ev->o->hooks);
	}
	for (int phase = 0; phase <= 3; phase++) {
		if (!program_lower(f->func, phase, simple, ev->o->hooks) ||
		    !run_phase(ev, at, phase, module, f)) {
			return false;
		}
	}
	return true;
}
