/* SPDX-License-Identifier: Apache-2.0 */
/* te.hybrid.script: a function of Python whose loops and assignments become
 * statements. A call with tensors makes a stage with these statements
 * (te.extern).
 *
 * @te.hybrid.script
 * def outer(a, b):
 *     c = output_tensor((a.shape[0], b.shape[0]), "float32")
 *     for i in range(a.shape[0]):
 *         for j in range(b.shape[0]):
 *             c[i, j] = a[i] * b[j]
 *     return c
 *
 * Expressions are evaluated as in any function of a program. The names of
 * buffers and variables are values in the scope of the script. */
#include "te_parts.h"

#include "objects.h"

/* A variable that the script assigns, as a buffer with one element. */
struct variable {
	const char *name;
	const struct buffer *buffer;
	/* the number of loops and conditions around the first assignment to
	 * it */
	int depth;
};

struct hybrid {
	struct eval *ev;
	struct py_span at; /* the position of the call */
	const struct py_node *def;
	struct scope *scope;
	struct ir_builder b;
	/* the number of loops and conditions around the current statement */
	int depth;
	VEC(struct variable) variables;
	VEC(struct te_tensor *) inputs;
	VEC(const struct buffer *) outputs;
	struct pval result; /* the value of the return statement */
	bool returned;
	/* the number of nodes of the tree that were visited, which are counted
	 * as steps later */
	int walked;
};

static bool run_suite(struct hybrid *h, const struct py_node *suite);

static bool
value_of(struct hybrid *h, const struct py_node *e, struct pval *out)
{
	bool outer = h->ev->symbolic, ok;

	h->ev->symbolic = true;
	ok = eval_expr(h->ev, h->scope, e, out);
	h->ev->symbolic = outer;
	return ok;
}

/* -- names -- */

/* Defines the functions that a script calls without a module: functions of te
 * and tir, and types. */
static void
set_functions(struct hybrid *h, struct scope *s)
{
	static const struct {
		const char *name, *of;
		uint64_t in;
	} functions[] = {
		{ "sqrt", "sqrt", IN_TE },
		{ "log", "log", IN_TE },
		{ "exp", "exp", IN_TE },
		{ "tanh", "tanh", IN_TE },
		{ "power", "power", IN_TE },
		{ "sigmoid", "sigmoid", IN_TE },
		{ "popcount", "popcount", IN_TE },
		{ "round", "round", IN_TE },
		{ "max", "max", IN_TIR },
		{ "min", "min", IN_TIR },
		{ "likely", "likely", IN_TIR },
		{ "ceil_div", "ceildiv", IN_TIR },
	};
	struct pval v;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (module_attribute(h->ev, h->at, functions[i].in,
				     functions[i].of, &v)) {
			eval_scope_set(h->ev, s, functions[i].name, &v);
		}
	}
	for (int i = 0; i < DT_COUNT; i++) {
		struct dtype t = dtype_of((enum dtype_kind)i);

		if ((dtype_is_int(t) || dtype_is_float(t)) &&
		    module_attribute(h->ev, h->at, IN_SCRIPT_TIR, dtype_name(t),
				     &v)) {
			eval_scope_set(h->ev, s, dtype_name(t), &v);
		}
	}
}

static struct variable *
variable_of(struct hybrid *h, const char *name)
{
	for (int i = 0; i < h->variables.n; i++) {
		if (strcmp(h->variables.data[i].name, name) == 0) {
			return &h->variables.data[i];
		}
	}
	return NULL;
}

/* Removes variables whose first assignment was in the loop or condition that
 * has just ended, because their scope ends there. */
static void
forget_variables(struct hybrid *h)
{
	for (int i = h->variables.n - 1; i >= 0; i--) {
		if (h->variables.data[i].depth > h->depth) {
			scope_delete(h->scope, h->variables.data[i].name);
			h->variables.data[i] =
				h->variables.data[--h->variables.n];
		}
	}
}

static int
count_assignments(struct hybrid *h, const struct py_node *e, const char *name)
{
	bool assigns = e->kind == PY_ASSIGN || e->kind == PY_AUGMENTED;
	int n = 0, targets = e->kind == PY_ASSIGN ? e->n_kids - 1 : 1;

	h->walked++;
	for (int i = 0; assigns && i < targets; i++) {
		n += e->kids[i]->kind == PY_NAME &&
		     strcmp(e->kids[i]->text, name) == 0;
	}
	for (int i = 0; i < e->n_kids; i++) {
		n += e->kids[i] ? count_assignments(h, e->kids[i], name) : 0;
	}
	return n;
}

/* -- scopes -- */

static bool
open_scope(struct hybrid *h, struct py_span at, const struct ir_scope *s)
{
	h->depth++;
	return ir_builder_begin(h->ev, at, &h->b, s);
}

static void
close_scope(struct hybrid *h)
{
	ir_builder_close(&h->b);
	h->depth--;
	forget_variables(h);
}

/* -- assignments -- */

/* If e calls a function by a plain name, as the script calls its built-in
 * functions: this name; else "". */
static const char *
own_call(const struct py_node *e)
{
	return e->kind == PY_CALL && e->kids[0]->kind == PY_NAME
		       ? e->kids[0]->text
		       : "";
}

/* Evaluates the arguments of the call e and binds them to the parameters in
 * `params`. c: the call with its bound arguments. Returns false after an
 * error. */
static bool
bind_call(struct hybrid *h, const struct py_node *e, const char *params,
	  struct call *c)
{
	struct call_args args = { 0 };
	struct py_signature s = py_signature_declared(h->ev->a,
						      arena_printf(h->ev->a,
								   "%s()",
								   own_call(e)),
						      params);

	for (int i = 1; i < e->n_kids; i++) {
		const struct py_node *arg = e->kids[i];
		bool named = arg->kind == PY_KEYWORD;
		struct pval v;

		if (arg->kind == PY_STAR || (named && !arg->text)) {
			return eval_error(h->ev, arg->span,
					  "give the arguments one by one");
		}
		if (!value_of(h, named ? arg->kids[0] : arg, &v)) {
			return false;
		}
		eval_give(h->ev, &args, named ? arg->text : NULL, arg->span,
			  &v);
	}
	*c = (struct call){ .ev = h->ev, .span = e->span };
	if (!eval_bind(h->ev, e->span, &s, &args, &c->args, &c->spans)) {
		return false;
	}
	c->params = s.slots;
	c->n = s.n;
	return true;
}

/* Executes name = output_tensor(shape, dtype) and name = allocate(shape, dtype,
 * scope). Returns false after an error. */
static bool
assign_buffer(struct hybrid *h, const struct py_node *target,
	      const struct py_node *value, bool output)
{
	struct buffer_spec spec = { .type = dtype_of(DT_F32),
				    .scope = "global" };
	const struct expr **shape;
	struct pval v;
	struct call c;

	if (target->kind != PY_NAME || scope_has(h->scope, target->text)) {
		return eval_error(h->ev, target->span,
				  "%s() is assigned to a new name",
				  own_call(value));
	}
	if (!bind_call(h, value, "shape, dtype?, scope?", &c) ||
	    !arg_shape(&c, 0, &shape, &spec.ndim) ||
	    (arg_given(&c, 1) && !arg_dtype(&c, 1, &spec.type)) ||
	    (arg_given(&c, 2) && !arg_text(&c, 2, &spec.scope))) {
		return false;
	}
	spec.name = target->text;
	spec.shape = shape;
	if (!output) {
		if (!ir_builder_new_buffer(h->ev, target->span, &h->b, &spec,
					   &v)) {
			return false;
		}
	} else {
		vec_push(h->ev->a, &h->outputs, buffer_new(h->ev->m, &spec));
		v = ir_pointer(h->ev, &h->b, h->outputs.data[h->outputs.n - 1]);
	}
	eval_scope_set(h->ev, h->scope, target->text, &v);
	return true;
}

static bool
store_variable(struct hybrid *h, struct py_span at, const struct variable *x,
	       const struct pval *v)
{
	struct pval zero = pv_int(0);
	struct stmt *s;

	if (!buffer_store(h->ev, at, h->b.f, x->buffer, &zero, v, &s)) {
		return false;
	}
	ir_builder_emit(&h->b, s);
	return true;
}

/* Makes a variable at its first assignment. It is a buffer, because it is
 * assigned several times or its value changes in loops. Returns false after an
 * error. */
static bool
new_variable(struct hybrid *h, const struct py_node *target,
	     const struct pval *v)
{
	const struct expr *zero = expr_i32(h->ev->m, 0), *one, *e;
	struct buffer_spec spec = { .name = target->text,
				    .ndim = 1,
				    .scope = "local" };
	struct variable x = { .name = target->text, .depth = h->depth };
	struct pval pointer;
	int depth;

	if (!value_expr(h->ev, target->span, v, &e, &depth)) {
		return false;
	}
	one = expr_i32(h->ev->m, 1);
	spec.shape = &one;
	spec.type = e->type;
	if (!ir_builder_new_buffer(h->ev, target->span, &h->b, &spec,
				   &pointer)) {
		return false;
	}
	x.buffer = pointer.u.pointer->buffer;
	vec_push(h->ev->a, &h->variables, x);
	pointer = pv_expr(expr_load(h->ev->m, x.buffer, &zero, 1), 2);
	eval_scope_set(h->ev, h->scope, x.name, &pointer);
	return store_variable(h, target->span, &x, v);
}

static bool
is_expression(const struct pval *v)
{
	return v->kind == PV_BOOL || v->kind == PV_INT || v->kind == PV_FLOAT ||
	       v->kind == PV_EXPR;
}

static bool
assign(struct hybrid *h, const struct py_node *target, const struct pval *v)
{
	const struct variable *x;
	bool changes = v->kind == PV_EXPR && expr_has(v->u.expr, EXPR_LOAD);

	if (target->kind != PY_NAME || !is_expression(v)) {
		return eval_assign(h->ev, h->scope, target, v);
	}
	x = variable_of(h, target->text);
	if (x) {
		return store_variable(h, target->span, x, v);
	}
	if (scope_has(h->scope, target->text)) {
		return eval_error(
			h->ev, target->span,
			"%s is not a variable, and cannot be assigned",
			target->text);
	}
	h->walked = 0;
	changes |= count_assignments(h, h->def->kids[0], target->text) > 1;
	if (!eval_tick(h->ev, target->span, h->walked / 16)) {
		return false;
	}
	if (changes) {
		return new_variable(h, target, v);
	}
	eval_scope_set(h->ev, h->scope, target->text, v);
	return true;
}

static bool
run_assign(struct hybrid *h, const struct py_node *e)
{
	const struct py_node *value = e->kids[e->n_kids - 1];
	const char *name = own_call(value);
	struct pval v;

	if (strcmp(name, "output_tensor") == 0 ||
	    strcmp(name, "allocate") == 0) {
		return assign_buffer(h, e->kids[0], value, name[0] == 'o');
	}
	if (!value_of(h, value, &v)) {
		return false;
	}
	for (int i = 0; i < e->n_kids - 1; i++) {
		if (!assign(h, e->kids[i], &v)) {
			return false;
		}
	}
	return true;
}

static bool
run_augmented(struct hybrid *h, const struct py_node *e)
{
	enum py_operator op;
	struct pval x, y, v;

	return value_of(h, e->kids[0], &x) && value_of(h, e->kids[1], &y) &&
	       eval_operator(h->ev, e, e->op, &op) &&
	       eval_binary(h->ev, e->span, op, &x, &y, &v) &&
	       assign(h, e->kids[0], &v);
}

/* -- loops and conditions -- */

/* Executes for i in const_range(n): runs the body once for each number. Returns
 * false after an error. */
static bool
run_const_range(struct hybrid *h, const struct py_node *e)
{
	struct pval v, *items;
	struct call c;
	int n;

	if (!bind_call(h, e->kids[1], "begin, end?", &c) ||
	    !module_attribute(h->ev, e->span, IN_PYTHON, "range", &v) ||
	    !eval_apply(h->ev, e->span, &v, c.args, arg_missing(&c, 1) ? 1 : 2,
			&v) ||
	    !eval_items(h->ev, e->span, &v, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		eval_scope_set(h->ev, h->scope, e->kids[0]->text, &items[i]);
		if (!run_suite(h, e->kids[2])) {
			return false;
		}
	}
	scope_delete(h->scope, e->kids[0]->text);
	return true;
}

/* Sets the bounds and the kind of a loop from its iterator, a call of range(),
 * parallel(), and so on. Returns false after an error. */
static bool
read_range(struct hybrid *h, const struct py_node *call, struct ir_scope *s)
{
	static const struct {
		const char *name;
		enum for_kind kind;
	} kinds[] = {
		{ "range", FOR_SERIAL },      { "serial", FOR_SERIAL },
		{ "parallel", FOR_PARALLEL }, { "vectorize", FOR_VECTORIZED },
		{ "unroll", FOR_UNROLLED },   { "bind", FOR_THREAD },
	};
	const char *name = own_call(call);
	struct pval zero = pv_int(0), extent, begin;
	struct call c;
	int i = 0, depth;

	while (i < 6 && strcmp(kinds[i].name, name) != 0) {
		i++;
	}
	if (i == 6) {
		return eval_error(
			h->ev, call->span,
			"a loop of a hybrid script runs over range(), "
			"serial(), parallel(), vectorize(), unroll(), "
			"bind() or const_range()");
	}
	s->how = kinds[i].kind;
	if (s->how == FOR_THREAD) {
		if (!bind_call(h, call, "thread, extent", &c) ||
		    !arg_text(&c, 0, &s->thread)) {
			return false;
		}
		begin = zero;
		extent = c.args[1];
	} else {
		if (!bind_call(h, call, "begin, end?", &c)) {
			return false;
		}
		begin = arg_missing(&c, 1) ? zero : c.args[0];
		if (!eval_binary(h->ev, call->span, PY_OP_SUB,
				 &c.args[arg_missing(&c, 1) ? 0 : 1], &begin,
				 &extent)) {
			return false;
		}
	}
	if (!value_expr(h->ev, call->span, &begin, &s->first, &depth) ||
	    !value_expr(h->ev, call->span, &extent, &s->extent, &depth)) {
		return false;
	}
	if (!dtype_is_int(s->first->type) || !dtype_is_int(s->extent->type)) {
		return eval_error(h->ev, call->span,
				  "the bounds of a loop are integers");
	}
	s->first = expr_cast(h->ev->m, s->extent->type, s->first);
	return true;
}

static bool
run_for(struct hybrid *h, const struct py_node *e)
{
	struct ir_scope s = { .kind = IR_SCOPE_FOR };
	struct pval v;

	if (e->kids[0]->kind != PY_NAME ||
	    scope_has(h->scope, e->kids[0]->text)) {
		return eval_error(h->ev, e->kids[0]->span,
				  "a loop has a name of its own as its "
				  "variable");
	}
	if (strcmp(own_call(e->kids[1]), "const_range") == 0) {
		return run_const_range(h, e);
	}
	if (!read_range(h, e->kids[1], &s)) {
		return false;
	}
	s.var = var_new(h->ev->m, e->kids[0]->text, s.extent->type);
	v = pv_expr(s.var->expr, 1);
	eval_scope_set(h->ev, h->scope, e->kids[0]->text, &v);
	if (!open_scope(h, e->span, &s) || !run_suite(h, e->kids[2])) {
		return false;
	}
	close_scope(h);
	scope_delete(h->scope, e->kids[0]->text);
	return true;
}

static bool
run_part(struct hybrid *h, const struct py_node *e, const struct ir_scope *s,
	 const struct py_node *suite)
{
	if (!open_scope(h, e->span, s) || !run_suite(h, suite)) {
		return false;
	}
	close_scope(h);
	return true;
}

/* Executes `if` and `while`. If the condition of an `if` is known now, only the
 * chosen branch is executed, and there is no statement for the `if`. Returns
 * false after an error. */
static bool
run_condition(struct hybrid *h, const struct py_node *e)
{
	struct ir_scope s = { .kind = e->kind == PY_IF ? IR_SCOPE_IF
						       : IR_SCOPE_WHILE };
	struct ir_scope otherwise = { .kind = IR_SCOPE_ELSE };
	const struct py_node *other = e->n_kids > 2 ? e->kids[2] : NULL;
	struct pval v;
	bool truth;
	int depth;

	if (!value_of(h, e->kids[0], &v)) {
		return false;
	}
	if (v.kind != PV_EXPR || v.u.expr->kind == EXPR_INT) {
		if (e->kind == PY_WHILE) {
			return eval_error(h->ev, e->span,
					  "the condition of this while loop "
					  "does not change");
		}
		if (!eval_truth(h->ev, e->span, &v, &truth)) {
			return false;
		}
		return truth ? run_suite(h, e->kids[1])
			     : !other || run_suite(h, other);
	}
	if (!value_expr(h->ev, e->span, &v, &s.value, &depth)) {
		return false;
	}
	if (dtype_class(s.value->type) != DTC_BOOL) {
		return eval_error(h->ev, e->span,
				  "a condition is needed, not %s",
				  dtype_name(s.value->type));
	}
	return run_part(h, e, &s, e->kids[1]) &&
	       (!other || run_part(h, e, &otherwise, other));
}

/* -- statements -- */

static bool
run_expression(struct hybrid *h, const struct py_node *e)
{
	struct stmt *s;
	struct pval v;

	if (e->kids[0]->kind == PY_STRING) {
		return true;
	}
	if (!value_of(h, e->kids[0], &v)) {
		return false;
	}
	if (v.kind != PV_EXPR && v.kind != PV_STMT) {
		return true;
	}
	if (!value_stmt(h->ev, e->span, &v, h->b.f, &s)) {
		return false;
	}
	ir_builder_emit(&h->b, s);
	return true;
}

static bool
run_return(struct hybrid *h, const struct py_node *e)
{
	if (h->depth > 0 || !e->n_kids || !e->kids[0]) {
		return eval_error(h->ev, e->span,
				  "a hybrid script returns its outputs, at its "
				  "end");
	}
	h->returned = true;
	return value_of(h, e->kids[0], &h->result);
}

static bool
run(struct hybrid *h, const struct py_node *e)
{
	switch (e->kind) {
	case PY_ASSIGN:
		return run_assign(h, e);
	case PY_AUGMENTED:
		return run_augmented(h, e);
	case PY_FOR:
		return run_for(h, e);
	case PY_IF:
	case PY_WHILE:
		return run_condition(h, e);
	case PY_EXPRESSION:
		return run_expression(h, e);
	case PY_RETURN:
		return run_return(h, e);
	case PY_PASS:
		return true;
	default:
		return eval_error(h->ev, e->span,
				  "a hybrid script has loops, conditions, "
				  "assignments and calls; compute other values "
				  "outside of it");
	}
}

static bool
run_suite(struct hybrid *h, const struct py_node *suite)
{
	bool ok = true;

	if (h->ev->depth >= EVAL_MAX_DEPTH) {
		return eval_error(h->ev, suite->span,
				  "nested more than %d levels deep",
				  EVAL_MAX_DEPTH);
	}
	h->ev->depth++;
	if (suite->kind != PY_SUITE) {
		ok = run(h, suite);
	}
	for (int i = 0; suite->kind == PY_SUITE && ok && i < suite->n_kids;
	     i++) {
		ok = h->returned ? eval_error(h->ev, suite->kids[i]->span,
					      "this statement comes after the "
					      "return")
				 : eval_tick(h->ev, suite->kids[i]->span, 1) &&
					   run(h, suite->kids[i]);
	}
	h->ev->depth--;
	return ok;
}

/* -- the call -- */

/* The value by which the script sees an argument of the call: for a tensor a
 * pointer to its buffer. */
static struct pval
seen_as(struct hybrid *h, const struct pval *v)
{
	struct te_tensor *t = v->u.tensor;
	struct pval list;

	if (v->kind == PV_TENSOR) {
		bool again = false;

		for (int i = 0; i < h->inputs.n; i++) {
			again |= h->inputs.data[i] == t;
		}
		if (!again) {
			vec_push(h->ev->a, &h->inputs, t);
		}
		return ir_pointer(h->ev, NULL, t->buffer);
	}
	if (v->kind != PV_LIST && v->kind != PV_TUPLE) {
		return *v;
	}
	list = pv_list_of(h->ev, v->kind, NULL, 0);
	for (int i = 0; i < v->u.list->n; i++) {
		vec_push(h->ev->a, list.u.list,
			 v->u.list->data[i].kind == PV_TENSOR
				 ? seen_as(h, &v->u.list->data[i])
				 : v->u.list->data[i]);
	}
	return list;
}

static bool
no_outputs(const struct hybrid *h)
{
	return eval_error(h->ev, h->def->span,
			  "%s returns no output; make one by output_tensor(), "
			  "and return it",
			  h->def->text);
}

/* Sets *out to the output buffers in the order in which the script returns
 * them. Returns false after an error. */
static bool
read_outputs(struct hybrid *h, const struct buffer ***out)
{
	bool one = h->result.kind != PV_TUPLE && h->result.kind != PV_LIST;
	const struct pval *items;
	int n;

	if (!h->returned) {
		return no_outputs(h);
	}
	if (!eval_items_or_one(h->ev, h->at, &h->result, one, &items, &n)) {
		return false;
	}
	if (n == 0) {
		return no_outputs(h);
	}
	*out = arena_array(h->ev->a, const struct buffer *, n + 1);
	for (int i = 0; i < n; i++) {
		bool found = false;

		for (int k = 0; k < h->outputs.n; k++) {
			found |= items[i].kind == PV_POINTER &&
				 items[i].u.pointer->buffer ==
					 h->outputs.data[k];
		}
		for (int k = 0; found && k < i; k++) {
			found = (*out)[k] != items[i].u.pointer->buffer;
		}
		if (!found) {
			return eval_error(h->ev, h->def->span,
					  "%s returns something else than its "
					  "output tensors, each once",
					  h->def->text);
		}
		(*out)[i] = items[i].u.pointer->buffer;
	}
	return n == h->outputs.n ||
	       eval_error(h->ev, h->def->span,
			  "%s makes %d output tensors and returns %d",
			  h->def->text, h->outputs.n, n);
}

static bool
make_tensors(struct hybrid *h, const struct buffer *const *outputs,
	     struct pval *out)
{
	struct eval *ev = h->ev;
	int n = h->outputs.n, depth = 0;
	struct te_tensor **made = arena_array(ev->a, struct te_tensor *, n);
	struct dtype *types = arena_array(ev->a, struct dtype, n);
	int *ndims = arena_array(ev->a, int, n);
	const struct expr *const **shapes =
		arena_array(ev->a, const struct expr *const *, n);
	struct func *f = func_new(ev->m, h->def->text);
	struct pval *tensors = arena_array(ev->a, struct pval, n);
	const char *why;

	for (int i = 0; i < h->inputs.n; i++) {
		const struct buffer *b = h->inputs.data[i]->buffer;
		int deep = te_depth(ev, h->inputs.data[i]);

		depth = deep > depth ? deep : depth;
		func_add_param(f, b->data, b);
	}
	for (int i = 0; i < n; i++) {
		types[i] = outputs[i]->type;
		ndims[i] = outputs[i]->ndim;
		shapes[i] = outputs[i]->shape;
		func_add_param(f, outputs[i]->data, outputs[i]);
	}
	f->body = stmt_clone(f, ir_builder_finish(&h->b), false);
	te_extern(ev->m, h->def->text, "hybrid", types, ndims, shapes, n,
		  h->inputs.data, h->inputs.n, made);
	for (int i = 0; i < n; i++) {
		te_rename(ev->m, made[i], outputs[i]->name);
	}
	made[0]->stage->name = h->def->text;
	if (!te_extern_body(ev->m, made[0], NULL, NULL, f, &why)) {
		return eval_error(ev, h->at, "%s", why);
	}
	for (int i = 0; i < n; i++) {
		te_remember(ev, made[i], depth + 1);
		tensors[i] = pv_tensor(ev, made[i]);
	}
	*out = n == 1 ? tensors[0] : pv_list_of(ev, PV_TUPLE, tensors, n);
	return true;
}

static bool
hybrid_call(struct eval *ev, struct py_span at, const struct pval *f,
	    const struct call_args *args, struct pval *out)
{
	const struct closure *c = f->u.closure;
	struct py_signature s = py_signature_of(ev->a,
						arena_printf(ev->a, "%s()",
							     c->name),
						c->def);
	/* values of the program point to its builder, also after the call */
	struct hybrid *h = arena_new(ev->a, struct hybrid);
	struct scope *functions = arena_new(ev->a, struct scope);
	const struct buffer **outputs = NULL;
	struct scope *outer = ev->frame;
	struct pval *values;
	struct py_span *spans;
	bool ok;

	if (!eval_bind(ev, at, &s, args, &values, &spans)) {
		return false;
	}
	h->ev = ev;
	h->at = at;
	h->def = c->def;
	functions->parent = c->scope;
	set_functions(h, functions);
	h->scope = arena_new(ev->a, struct scope);
	h->scope->parent = functions;
	ir_builder_init(&h->b, ev->m);
	for (int i = 0; i < s.n; i++) {
		struct pval v = seen_as(h, values[i].kind == PV_MISSING
						   ? &c->defaults[i]
						   : &values[i]);

		eval_scope_set(ev, h->scope, s.slots[i].name, &v);
	}
	ev->frame = h->scope;
	ok = run_suite(h, c->def->kids[0]);
	ev->frame = outer;
	return ok && read_outputs(h, &outputs) && make_tensors(h, outputs, out);
}

bool
hybrid_script(struct call *c, struct pval *out)
{
	if (c->args[0].kind != PV_CLOSURE ||
	    c->args[0].u.closure->def->kind != PY_DEF) {
		return value_kind_error(c, 0, "a function of the program");
	}
	*out = (struct pval){ .kind = PV_HYBRID,
			      .u.closure = c->args[0].u.closure };
	return true;
}

const struct kind_ops hybrid_ops = { .call = hybrid_call };
