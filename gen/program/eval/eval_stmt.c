/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the statements of the program. */
#include "library.h"
#include "objects.h"

static enum flow run_with(struct eval *ev, struct scope *s,
			  const struct py_node *e, struct pval *result);

static bool
unpack(struct eval *ev, struct scope *s, const struct py_node *target,
       const struct pval *value)
{
	bool one = ev->unpacks_single && value->kind != PV_LIST &&
		   value->kind != PV_TUPLE && value->kind != PV_NONE;
	const struct pval *items;
	int n, star = -1;

	if (!eval_items_or_one(ev, target->span, value, one, &items, &n)) {
		return false;
	}
	for (int i = 0; i < target->n_kids; i++) {
		if (target->kids[i]->kind == PY_STAR) {
			star = i;
		}
	}
	if (star < 0 ? n != target->n_kids : n < target->n_kids - 1) {
		return eval_error(ev, target->span, "%d values for %d names", n,
				  target->n_kids);
	}
	for (int i = 0; i < target->n_kids; i++) {
		int extra = n - target->n_kids;
		bool ok;

		if (i == star) {
			struct pval rest = pv_list_of(ev, PV_LIST, items + i,
						      extra + 1);

			ok = eval_assign(ev, s, target->kids[i]->kids[0],
					 &rest);
		} else {
			int from = star >= 0 && i > star ? i + extra : i;

			ok = eval_assign(ev, s, target->kids[i], &items[from]);
		}
		if (!ok) {
			return false;
		}
	}
	return true;
}

static bool
assign_element(struct eval *ev, struct scope *s, const struct py_node *target,
	       const struct pval *value)
{
	struct pval of, index;
	int64_t i;

	if (!eval_expr(ev, s, target->kids[0], &of) ||
	    target->kids[1] == NULL ||
	    !eval_index(ev, s, target->kids[1], &index)) {
		return false;
	}
	if (of.kind == PV_OBJECT) {
		struct pval args[2] = { index, *value }, none;
		bool found;

		return object_special(ev, target->span, &of, "__setitem__",
				      args, 2, &none, &found) &&
		       (found || eval_raise(ev, target->span, "TypeError",
					    "an element of an object without "
					    "__setitem__ cannot be set"));
	}
	if (of.kind == PV_DICT) {
		return dict_set(ev, target->span, of.u.dict, &index, value);
	}
	if (of.kind == PV_LIST) {
		if (!eval_element(ev, target->span, &index, of.u.list->n, &i)) {
			return false;
		}
		of.u.list->data[i] = *value;
		return true;
	}
	if (ops_of(ev, of.kind)->set_element) {
		return ops_of(ev, of.kind)
			->set_element(ev, target->span, &of, &index, value);
	}
	return eval_error(ev, target->span, "an element of %s cannot be set",
			  pv_kind_name(of.kind));
}

bool
eval_assign(struct eval *ev, struct scope *s, const struct py_node *target,
	    const struct pval *value)
{
	struct pval of;

	switch (target->kind) {
	case PY_NAME:
		eval_scope_set(ev, s, target->text, value);
		return true;
	case PY_TUPLE:
	case PY_LIST:
		return unpack(ev, s, target, value);
	case PY_SUBSCRIPT:
		return assign_element(ev, s, target, value);
	case PY_ATTRIBUTE:
		return eval_expr(ev, s, target->kids[0], &of) &&
		       object_set_attribute(ev, target->span, &of, target->text,
					    value);
	default:
		return eval_error(ev, target->span,
				  "only names, attributes, elements of "
				  "lists and dicts, and tuples of those can "
				  "be assigned to");
	}
}

static bool
assign(struct eval *ev, struct scope *s, const struct py_node *e)
{
	struct pval v;

	if (!eval_expr(ev, s, e->kids[e->n_kids - 1], &v)) {
		return false;
	}
	for (int i = 0; i < e->n_kids - 1; i++) {
		if (!eval_assign(ev, s, e->kids[i], &v)) {
			return false;
		}
	}
	return true;
}

static bool
augment(struct eval *ev, struct scope *s, const struct py_node *e)
{
	enum py_operator op;
	struct pval x, y, v;

	if (!eval_expr(ev, s, e->kids[0], &x) ||
	    !eval_expr(ev, s, e->kids[1], &y)) {
		return false;
	}
	if (x.kind == PV_LIST && y.kind == PV_LIST && strcmp(e->op, "+") == 0) {
		return list_add(ev, e->span, x.u.list, y.u.list->data,
				y.u.list->n);
	}
	if (strcmp(e->op, "@") == 0) {
		return eval_product(ev, e->span, &x, &y, &v) &&
		       eval_assign(ev, s, e->kids[0], &v);
	}
	if (!eval_operator(ev, e, e->op, &op)) {
		return false;
	}
	return eval_augmented(ev, e->span, op, &x, &y, &v) &&
	       eval_assign(ev, s, e->kids[0], &v);
}

static enum flow
run_if(struct eval *ev, struct scope *s, const struct py_node *e,
       struct pval *result)
{
	struct pval v;
	bool truth;

	if (!eval_expr(ev, s, e->kids[0], &v) ||
	    !eval_truth(ev, e->kids[0]->span, &v, &truth)) {
		return FLOW_ERROR;
	}
	if (truth) {
		return eval_suite(ev, s, e->kids[1], result);
	}
	return e->n_kids > 2 && e->kids[2]
		       ? eval_suite(ev, s, e->kids[2], result)
		       : FLOW_NEXT;
}

static enum flow
run_for(struct eval *ev, struct scope *s, const struct py_node *e,
	struct pval *result)
{
	struct pval v, *items;
	int n;

	if (!eval_expr(ev, s, e->kids[1], &v) ||
	    !eval_items(ev, e->kids[1]->span, &v, &items, &n)) {
		return FLOW_ERROR;
	}
	for (int i = 0; i < n; i++) {
		enum flow flow;

		if (!eval_assign(ev, s, e->kids[0], &items[i])) {
			return FLOW_ERROR;
		}
		flow = eval_suite(ev, s, e->kids[2], result);
		if (flow == FLOW_BREAK) {
			break;
		}
		if (flow == FLOW_RETURN || flow == FLOW_ERROR) {
			return flow;
		}
	}
	return FLOW_NEXT;
}

static enum flow
run_while(struct eval *ev, struct scope *s, const struct py_node *e,
	  struct pval *result)
{
	for (;;) {
		struct pval v;
		enum flow flow;
		bool truth;

		if (!eval_expr(ev, s, e->kids[0], &v) ||
		    !eval_truth(ev, e->kids[0]->span, &v, &truth)) {
			return FLOW_ERROR;
		}
		if (!truth) {
			return FLOW_NEXT;
		}
		flow = eval_suite(ev, s, e->kids[1], result);
		if (flow == FLOW_BREAK) {
			return FLOW_NEXT;
		}
		if (flow == FLOW_RETURN || flow == FLOW_ERROR) {
			return flow;
		}
	}
}

static bool
check_assert(struct eval *ev, struct scope *s, const struct py_node *e)
{
	struct strbuf text;
	struct pval v;
	bool truth;

	if (!eval_expr(ev, s, e->kids[0], &v) ||
	    !eval_truth(ev, e->kids[0]->span, &v, &truth)) {
		return false;
	}
	if (truth) {
		return true;
	}
	if (e->n_kids < 2 || !e->kids[1]) {
		return eval_raise(ev, e->span, "AssertionError",
				  "the assertion does not hold");
	}
	if (!eval_expr(ev, s, e->kids[1], &v)) {
		return false;
	}
	strbuf_init(&text);
	if (object_text(ev, e->span, &v, false, &text)) {
		eval_error(ev, e->span, "the assertion does not hold: %.200s",
			   text.data ? text.data : "");
		ev->raised = exception_new(ev,
					   exception_class(ev,
							   "AssertionError"),
					   &v, 1);
	}
	strbuf_release(&text);
	return false;
}

/* Executes `global x` and `nonlocal x`: links the name x to another scope,
 * where assignments to x then go. */
static bool
link_names(struct eval *ev, struct scope *s, const struct py_node *e)
{
	for (int i = 0; i < e->n_kids; i++) {
		struct scope_link link = { e->kids[i]->text, ev->globals };
		struct scope *to = s->parent;

		if (strcmp(e->text, "nonlocal") == 0) {
			while (to && (to->of || !scope_has(to, link.name))) {
				to = to->parent;
			}
			if (!to || to == ev->globals) {
				return eval_error(ev, e->kids[i]->span,
						  "no function around this one "
						  "has a name %s",
						  link.name);
			}
			link.to = to;
		}
		if (s != ev->globals) {
			vec_push(ev->a, &s->links, link);
		}
	}
	return eval_tick(ev, e->span, e->n_kids);
}

/* Executes `del x`, `del list[i]` and `del dict[key]`. */
static bool delete (struct eval *ev, struct scope *s,
		    const struct py_node *target)
{
	struct pval of, index;
	int64_t i;

	if (target->kind == PY_TUPLE || target->kind == PY_LIST) {
		for (int k = 0; k < target->n_kids; k++) {
			if (!delete (ev, s, target->kids[k])) {
				return false;
			}
		}
		return true;
	}
	if (target->kind == PY_NAME) {
		return scope_delete(s, target->text) ||
		       eval_raise(ev, target->span, "NameError",
				  "nothing is named %s here", target->text);
	}
	if (target->kind != PY_SUBSCRIPT) {
		return eval_error(ev, target->span,
				  "only names and elements of lists and dicts "
				  "are deleted");
	}
	if (!eval_expr(ev, s, target->kids[0], &of) ||
	    !eval_index(ev, s, target->kids[1], &index)) {
		return false;
	}
	if (of.kind == PV_DICT) {
		return dict_delete(ev, target->span, of.u.dict, &index);
	}
	if (of.kind != PV_LIST) {
		return eval_error(ev, target->span,
				  "an element of %s cannot be deleted",
				  pv_kind_name(of.kind));
	}
	if (!eval_element(ev, target->span, &index, of.u.list->n, &i)) {
		return false;
	}
	memmove(&of.u.list->data[i], &of.u.list->data[i + 1],
		sizeof of * (size_t)(of.u.list->n - i - 1));
	of.u.list->n--;
	return eval_tick(ev, target->span, of.u.list->n / 8);
}

static bool
define(struct eval *ev, struct scope *s, const struct py_node *e)
{
	struct pval f;
	bool is_script = false;

	if (!eval_script(ev, s, e, &is_script)) {
		return false;
	}
	if (is_script) {
		return true;
	}
	if (e->kind == PY_CLASS ? !object_define_class(ev, s, e, &f)
				: !eval_closure(ev, s, e, e->text, &f)) {
		return false;
	}
	for (int i = e->n_decorators - 1; i >= 0; i--) {
		struct pval decorator, decorated;

		if (!eval_expr(ev, s, e->decorators[i], &decorator) ||
		    !eval_apply(ev, e->decorators[i]->span, &decorator, &f, 1,
				&decorated)) {
			return false;
		}
		f = decorated;
	}
	eval_scope_set(ev, s, e->text, &f);
	return true;
}

static enum flow
run_kind(struct eval *ev, struct scope *s, const struct py_node *e,
	 struct pval *result)
{
	struct pval v;

	switch (e->kind) {
	case PY_EXPRESSION:
		return eval_expr(ev, s, e->kids[0], &v) ? FLOW_NEXT
							: FLOW_ERROR;
	case PY_ASSIGN:
		return assign(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_AUGMENTED:
		return augment(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_ANNOTATED:
		if (e->n_kids < 3 || !e->kids[2]) {
			return FLOW_NEXT;
		}
		return eval_expr(ev, s, e->kids[2], &v) &&
				       eval_assign(ev, s, e->kids[0], &v)
			       ? FLOW_NEXT
			       : FLOW_ERROR;
	case PY_RETURN:
		ev->left_at = e->span;
		*result = pv_none();
		if (e->n_kids > 0 && e->kids[0] &&
		    !eval_expr(ev, s, e->kids[0], result)) {
			return FLOW_ERROR;
		}
		return FLOW_RETURN;
	case PY_IF:
		return run_if(ev, s, e, result);
	case PY_FOR:
		return run_for(ev, s, e, result);
	case PY_WHILE:
		return run_while(ev, s, e, result);
	case PY_DEF:
	case PY_CLASS:
		return define(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_IMPORT:
		return eval_import(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_PASS:
		return FLOW_NEXT;
	case PY_BREAK:
		ev->left_at = e->span;
		return FLOW_BREAK;
	case PY_CONTINUE:
		ev->left_at = e->span;
		return FLOW_CONTINUE;
	case PY_ASSERT:
		return check_assert(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_SUITE:
		return eval_suite(ev, s, e, result);
	case PY_TRY:
		return exception_try(ev, s, e, result);
	case PY_RAISE:
		return exception_raise(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_GLOBAL:
		return link_names(ev, s, e) ? FLOW_NEXT : FLOW_ERROR;
	case PY_DELETE:
		return delete (ev, s, e->kids[0]) ? FLOW_NEXT : FLOW_ERROR;
	case PY_WITH:
		return run_with(ev, s, e, result);
	default:
		eval_error(ev, e->span,
			   "this statement is not part of the "
			   "Python that programs are read in; see "
			   "docs/reference/programs.md");
		return FLOW_ERROR;
	}
}

static enum flow
run_statement(struct eval *ev, struct scope *s, const struct py_node *e,
	      struct pval *result)
{
	if (!absent_statement(ev, s, e)) {
		enum flow flow = run_kind(ev, s, e, result);

		if (flow != FLOW_ERROR || !absent_left_out(ev, s, e)) {
			return flow;
		}
	}
	if (e->kind != PY_RETURN) {
		return FLOW_NEXT;
	}
	ev->left_at = e->span;
	*result = (struct pval){ .kind = PV_ABSENT, .u.path = ev->absent };
	return FLOW_RETURN;
}

/* Enters an item of a `with` statement, and sets *entered to the value of the
 * item. Returns false after an error. */
static bool
enter(struct eval *ev, struct scope *s, const struct py_node *item,
      struct pval *entered)
{
	const struct py_node *value = item->kind == PY_AS ? item->kids[0]
							  : item;
	struct pval v;
	bool found = false;

	if (!eval_expr(ev, s, value, entered) ||
	    !object_special(ev, item->span, entered, "__enter__", NULL, 0, &v,
			    &found)) {
		return false;
	}
	v = found ? v : *entered;
	if (entered->kind == PV_TARGET) {
		ev->with_target = entered->u.target;
	} else if (entered->kind == PV_PASS_CONTEXT) {
		ev->context = entered->u.any;
	}
	if (ops_of(ev, entered->kind)->enter) {
		if (!ops_of(ev, entered->kind)
			     ->enter(ev, item->span, entered, &v)) {
			return false;
		}
	} else if (!found && entered->kind != PV_TARGET) {
		return eval_error(ev, item->span,
				  "with takes a tvm.target.Target, a "
				  "tvm.transform.PassContext, or an object "
				  "with __enter__ here");
	}
	return item->kind != PY_AS || eval_assign(ev, s, item->kids[1], &v);
}

/* Leaves an item of a `with` statement: calls its method for the end of the
 * block. flow: how the block ended; if it ended by an exception and __exit__
 * returns a true value, the exception is handled. first: the index of the first
 * error since the item was entered. */
static enum flow
leave(struct eval *ev, struct py_span at, const struct pval *entered, int first,
      enum flow flow)
{
	struct pval args[3] = { pv_none(), pv_none(), pv_none() }, v;
	struct pval raised = ev->raised;
	bool found, truth = false;

	if (ops_of(ev, entered->kind)->leave) {
		ops_of(ev, entered->kind)->leave(ev, entered);
	}
	if (entered->kind != PV_OBJECT || ev->fatal) {
		return flow;
	}
	if (flow == FLOW_ERROR && raised.kind == PV_OBJECT) {
		args[0] = (struct pval){ .kind = PV_USER_CLASS,
					 .u.class = raised.u.object->of };
		args[1] = raised;
	}
	if (!object_special(ev, at, entered, "__exit__", args, 3, &v, &found) ||
	    (found && !eval_truth(ev, at, &v, &truth))) {
		return FLOW_ERROR;
	}
	ev->raised = raised;
	if (flow == FLOW_ERROR && truth) {
		diags_drop_errors(&ev->m->diags, first, DIAG_COUNT);
		return FLOW_NEXT;
	}
	return flow;
}

/* Executes `with`. `with tvm.target.Target(…):` sets the target of the
 * functions that the block builds, `with tvm.transform.PassContext(…):` chooses
 * the passes over models. */
static enum flow
run_with(struct eval *ev, struct scope *s, const struct py_node *e,
	 struct pval *result)
{
	const struct pv_target *target = ev->with_target;
	const struct pv_pass_context *context = ev->context;
	struct pval *entered = arena_array(ev->a, struct pval, e->n_kids);
	enum flow flow = FLOW_NEXT;
	int n = 0, first = ev->m->diags.list.n;

	while (flow == FLOW_NEXT && n < e->n_kids - 1) {
		if (!enter(ev, s, e->kids[n], &entered[n])) {
			flow = FLOW_ERROR;
			break;
		}
		n++;
	}
	if (flow == FLOW_NEXT) {
		flow = eval_suite(ev, s, e->kids[e->n_kids - 1], result);
	}
	while (n > 0) {
		n--;
		flow = leave(ev, e->kids[n]->span, &entered[n], first, flow);
	}
	ev->with_target = target;
	ev->context = context;
	return flow;
}

enum flow
eval_suite(struct eval *ev, struct scope *s, const struct py_node *suite,
	   struct pval *result)
{
	enum flow flow = FLOW_NEXT;

	if (ev->depth >= EVAL_MAX_DEPTH) {
		eval_error(ev, suite->span, "nested more than %d levels deep",
			   EVAL_MAX_DEPTH);
		return FLOW_ERROR;
	}
	if (suite->kind != PY_SUITE) {
		ev->depth++;
		flow = run_statement(ev, s, suite, result);
		ev->depth--;
		return flow;
	}
	ev->depth++;
	for (int i = 0; i < suite->n_kids && flow == FLOW_NEXT; i++) {
		if (!eval_tick(ev, suite->kids[i]->span, 1)) {
			flow = FLOW_ERROR;
			break;
		}
		flow = run_statement(ev, s, suite->kids[i], result);
	}
	ev->depth--;
	return flow;
}
