/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: `raise` and `try`, and which of tirc's own errors a program may
 * handle. An error is reported when it occurs; a `try` that handles it removes
 * the report. Exceeding a limit of programs cannot be handled. */
#include "objects.h"

static const struct {
	const char *name, *base;
} exceptions[] = {
#define EXCEPTION(name, base) { #name, #base },
#include "exceptions.def"
#undef EXCEPTION
};

enum { N_EXCEPTIONS = sizeof exceptions / sizeof *exceptions };

const struct pv_class *
exception_class(struct eval *ev, const char *name)
{
	struct pv_class *c;
	int i = 0;

	while (i < N_EXCEPTIONS && strcmp(exceptions[i].name, name) != 0) {
		i++;
	}
	if (i == N_EXCEPTIONS) {
		return NULL;
	}
	if (!ev->exceptions) {
		ev->exceptions = arena_array(ev->a, struct pv_class *,
					     N_EXCEPTIONS);
	}
	if (!ev->exceptions[i]) {
		c = arena_new(ev->a, struct pv_class);
		c->name = exceptions[i].name;
		c->is_exception = true;
		if (i > 0) {
			vec_push(ev->a, &c->bases,
				 exception_class(ev, exceptions[i].base));
		}
		ev->exceptions[i] = c;
	}
	return ev->exceptions[i];
}

struct pval
exception_new(struct eval *ev, const struct pv_class *of,
	      const struct pval *args, int n)
{
	struct pv_object *o = arena_new(ev->a, struct pv_object);
	struct pval list = pv_list_of(ev, PV_TUPLE, args, n);

	o->of = of;
	eval_scope_set(ev, &o->names, "args", &list);
	return (struct pval){ .kind = PV_OBJECT, .u.object = o };
}

bool
eval_raise(struct eval *ev, struct py_span at, const char *exception,
	   const char *fmt, ...)
{
	va_list ap;
	const char *text;
	struct pval message;

	va_start(ap, fmt);
	text = arena_vprintf(ev->a, fmt, ap);
	va_end(ap);
	eval_error(ev, at, "%s", text);
	message = pv_string(ev, text);
	ev->raised = exception_new(ev, exception_class(ev, exception), &message,
				   1);
	return false;
}

/* Executes `raise`, `raise Class` and `raise object`. */
bool
exception_raise(struct eval *ev, struct scope *s, const struct py_node *e)
{
	struct call_args none = { 0 };
	struct strbuf text;
	struct pval v = ev->handled, of;

	if (e->kids[0]) {
		if (!eval_expr(ev, s, e->kids[0], &v)) {
			return false;
		}
		of = v;
		if (v.kind == PV_USER_CLASS &&
		    !object_new(ev, e->span, &of, &none, &v)) {
			return false;
		}
	}
	if (v.kind != PV_OBJECT || !v.u.object->of->is_exception) {
		return eval_error(ev, e->span,
				  "raise needs an exception, such as "
				  "ValueError(\"text\"), not %s",
				  pv_kind_name(v.kind));
	}
	strbuf_init(&text);
	if (object_text(ev, e->span, &v, false, &text)) {
		eval_error(ev, e->span, "%s%s%.500s", v.u.object->of->name,
			   text.len > 0 ? ": " : "",
			   text.len > 0 ? text.data : "");
		ev->raised = v;
	}
	strbuf_release(&text);
	return false;
}

/* The exception for the error that was just reported: the object that the
 * program raised, or a TVMError with the message of an error of tirc. */
static struct pval
current_exception(struct eval *ev)
{
	const struct diags *d = &ev->m->diags;
	struct pval message;

	if (ev->raised.kind == PV_OBJECT) {
		return ev->raised;
	}
	message = pv_string(ev, d->list.n > 0
					? d->list.data[d->list.n - 1].message
					: "");
	return exception_new(ev, exception_class(ev, "TVMError"), &message, 1);
}

/* Sets *out to whether `except value:` handles an exception of the class c.
 * known: false for an error of tirc: it is not known of which class Python's
 * exception would be, so that every handler of errors handles it. */
static bool
handles(struct eval *ev, struct py_span at, const struct pval *value,
	const struct pv_class *c, bool known, bool *out)
{
	struct pval *items = NULL;
	int n = 1;

	*out = false;
	if (value->kind == PV_TUPLE && !eval_items(ev, at, value, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct pval *one = items ? &items[i] : value;
		const struct pv_class *of;

		if (one->kind != PV_USER_CLASS || !one->u.class->is_exception) {
			return eval_error(ev, at,
					  "except needs a class of exceptions, "
					  "not %s",
					  pv_kind_name(one->kind));
		}
		of = one->u.class;
		*out |= class_derives(c, of) ||
			(!known &&
			 (of == exception_class(ev, "ValueError") ||
			  of == exception_class(ev, "TypeError") ||
			  of == exception_class(ev, "ScheduleError")));
	}
	return true;
}

/* Runs the first handler of a `try` that handles the current exception, if
 * there is such a handler. Sets *taken to whether there is. */
static enum flow
run_handler(struct eval *ev, struct scope *s, const struct py_node *e,
	    int first, struct pval *result, bool *taken)
{
	bool known = ev->raised.kind == PV_OBJECT;
	struct pval v = current_exception(ev), outer = ev->handled, type;

	*taken = false;
	for (int i = 3; !*taken && i < e->n_kids; i++) {
		const struct py_node *h = e->kids[i];
		enum flow flow;

		*taken = h->kids[0] == NULL;
		if (h->kids[0] && (!eval_expr(ev, s, h->kids[0], &type) ||
				   !handles(ev, h->kids[0]->span, &type,
					    v.u.object->of, known, taken))) {
			*taken = true;
			return FLOW_ERROR;
		}
		if (!*taken) {
			continue;
		}
		diags_drop_errors(&ev->m->diags, first, DIAG_COUNT);
		ev->raised.kind = PV_MISSING;
		ev->handled = v;
		if (h->text) {
			eval_scope_set(ev, s, h->text, &v);
		}
		flow = eval_suite(ev, s, h->kids[1], result);
		ev->handled = outer;
		return flow;
	}
	return FLOW_ERROR;
}

/* Does a handler of the `try` handle an ImportError? Then importing a missing
 * module raises one. */
static bool
takes_imports(const struct py_node *e)
{
	for (int i = 3; i < e->n_kids; i++) {
		const struct py_node *type = e->kids[i]->kids[0];

		if (!type || type->kind != PY_NAME ||
		    strcmp(type->text, "ImportError") == 0 ||
		    strcmp(type->text, "ModuleNotFoundError") == 0 ||
		    strcmp(type->text, "Exception") == 0) {
			return true;
		}
	}
	return false;
}

/* Runs the block of `finally`. flow: how the block before it ended; that block
 * reported the errors from index `first` on. Returns how both together end: a
 * return, a break or an error in `finally` replaces the end of the block
 * before. */
static enum flow
run_finally(struct eval *ev, struct scope *s, const struct py_node *suite,
	    enum flow flow, int first, struct pval *result)
{
	struct pval raised = ev->raised, value = *result;
	enum flow last;

	ev->raised.kind = PV_MISSING;
	last = eval_suite(ev, s, suite, result);
	if (last != FLOW_NEXT) {
		if (flow == FLOW_ERROR && last != FLOW_ERROR) {
			diags_drop_errors(&ev->m->diags, first, DIAG_COUNT);
		}
		return last;
	}
	ev->raised = raised;
	*result = value;
	return flow;
}

enum flow
exception_try(struct eval *ev, struct scope *s, const struct py_node *e,
	      struct pval *result)
{
	int first = ev->m->diags.list.n, depth = ev->depth;
	bool imports = takes_imports(e), taken;
	enum flow flow;

	ev->raised.kind = PV_MISSING;
	ev->catches_imports += imports;
	flow = eval_suite(ev, s, e->kids[0], result);
	ev->catches_imports -= imports;
	if (flow == FLOW_ERROR && !ev->fatal) {
		ev->depth = depth;
		flow = run_handler(ev, s, e, first, result, &taken);
	} else if (flow == FLOW_NEXT && e->kids[1]) {
		flow = eval_suite(ev, s, e->kids[1], result);
	}
	if (e->kids[2] && !ev->fatal) {
		flow = run_finally(ev, s, e->kids[2], flow, first, result);
	}
	return flow;
}
