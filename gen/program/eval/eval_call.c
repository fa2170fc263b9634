/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: binds arguments to the parameters of the program's functions and of
 * built-in functions. */
#include "library.h"
#include "library_text.h"
#include "objects.h"

void
eval_give(struct eval *ev, struct call_args *args, const char *name,
	  struct py_span at, const struct pval *v)
{
	struct py_argument given = { name, at };

	vec_push(ev->a, &args->values, *v);
	vec_push(ev->a, &args->given, given);
}

bool
eval_bind(struct eval *ev, struct py_span at, const struct py_signature *s,
	  const struct call_args *args, struct pval **values,
	  struct py_span **spans)
{
	int n = args->values.n;
	int *slot = arena_array(ev->a, int, n + 1);

	*values = arena_array(ev->a, struct pval, s->n + 1);
	*spans = arena_array(ev->a, struct py_span, s->n + 1);
	if (!py_bind(ev->m, ev->src, at, s, args->given.data, n, slot)) {
		return false;
	}
	for (int i = 0; i < s->n; i++) {
		(*spans)[i] = at;
		if (s->slots[i].kind == PY_PARAM_STAR) {
			(*values)[i] = pv_list_of(ev, PV_TUPLE, NULL, 0);
		} else if (s->slots[i].kind == PY_PARAM_DOUBLE_STAR) {
			(*values)[i] = pv_dict_new(ev);
		}
	}
	for (int k = 0; k < n; k++) {
		const struct pval *v = &args->values.data[k];
		struct pval *to = &(*values)[slot[k]], key;

		(*spans)[slot[k]] = args->given.data[k].span;
		if (s->slots[slot[k]].kind == PY_PARAM_STAR) {
			vec_push(ev->a, to->u.list, *v);
		} else if (s->slots[slot[k]].kind == PY_PARAM_DOUBLE_STAR) {
			key = pv_string(ev, args->given.data[k].name);
			if (!dict_set(ev, at, to->u.dict, &key, v)) {
				return false;
			}
		} else {
			*to = *v;
		}
	}
	return true;
}

/* -- the program's functions -- */

static bool
run_closure(struct eval *ev, struct py_span at, const struct closure *c,
	    const struct pval *values, const struct py_signature *s,
	    struct pval *out)
{
	const struct py_node *def = c->def;
	struct scope *scope = arena_new(ev->a, struct scope);
	struct scope *outer = ev->frame;
	struct pv_list *outer_yields = ev->yields;
	struct pval yielded = { .kind = PV_NONE };
	enum flow flow;

	scope->parent = c->scope;
	for (int i = 0; i < s->n; i++) {
		eval_scope_set(ev, scope, s->slots[i].name,
			       values[i].kind == PV_MISSING ? &c->defaults[i]
							    : &values[i]);
	}
	scope->method_of = c->owner;
	ev->frame = scope;
	if (def->kind == PY_LAMBDA) {
		bool ok = eval_expr(ev, scope, def->kids[0], out);

		ev->frame = outer;
		return ok;
	}
	if (def->is_generator) {
		yielded = pv_list_of(ev, PV_LIST, NULL, 0);
		ev->yields = yielded.u.list;
	}
	*out = pv_none();
	flow = eval_suite(ev, scope, def->kids[0], out);
	ev->frame = outer;
	ev->yields = outer_yields;
	if (flow == FLOW_BREAK || flow == FLOW_CONTINUE) {
		return eval_error(ev, ev->left_at, "%s outside of a loop",
				  flow == FLOW_BREAK ? "break" : "continue");
	}
	if (flow != FLOW_RETURN) {
		*out = pv_none();
	}
	if (def->is_generator && flow != FLOW_ERROR) {
		/* the generator has run to its end; the result iterates over
		 * the values that it yielded */
		return object_iterator(ev, at, &yielded, out);
	}
	return flow != FLOW_ERROR;
}

/* Moves the errors of a function that is defined in another text, such as a
 * library's, to the call: the reader of the program does not know that text. */
static void
locate_at_call(struct eval *ev, struct py_span at, const struct closure *c,
	       int first)
{
	for (int i = first; i < ev->m->diags.list.n; i++) {
		struct diag *d = &ev->m->diags.list.data[i];

		if (d->place.file && strcmp(d->place.file, c->src->name) == 0) {
			d->place.file = NULL;
			/* the reader knows no name that only texts use */
			d->place.item = c->name[0] == '_' ? NULL : c->name;
		}
	}
	eval_locate(ev, at, first);
}

static bool
call_closure(struct eval *ev, struct py_span at, const struct closure *c,
	     const struct call_args *args, struct pval *out)
{
	const char *name = arena_printf(ev->a, "%s()", c->name);
	const struct py_signature s = py_signature_of(ev->a, name, c->def);
	const struct source *src = ev->src;
	int errors = ev->m->diags.list.n;
	struct pval *values;
	struct py_span *spans;
	bool ok;

	if (!eval_bind(ev, at, &s, args, &values, &spans)) {
		return false;
	}
	if (c->src != src && !library_is_text(src)) {
		ev->library_call = at;
	}
	ev->src = ev->typing.src = c->src;
	ok = run_closure(ev, at, c, values, &s, out);
	ev->src = ev->typing.src = src;
	if (!ok && c->src != src) {
		locate_at_call(ev, at, c, errors);
	}
	return ok;
}

/* -- built-in functions -- */

static bool
call_row(struct eval *ev, struct py_span at, const struct name_row *row,
	 const struct pval *self, const struct call_args *args,
	 struct pval *out)
{
	struct call c = { .ev = ev, .row = row, .span = at };
	struct py_signature s =
		py_signature_declared(ev->a,
				      arena_printf(ev->a, "%s()", row->name),
				      row->params);
	int errors = ev->m->diags.list.n;

	if (!eval_bind(ev, at, &s, args, &c.args, &c.spans)) {
		return false;
	}
	if (self) {
		c.self = *self;
	}
	c.params = s.slots;
	c.n = s.n;
	*out = pv_none();
	return row->fn(&c, out) || eval_locate(ev, at, errors);
}

/* Calls the method with its object as the first argument. Returns false after
 * an error. */
static bool
call_bound(struct eval *ev, struct py_span at, const struct pv_bound *b,
	   const struct call_args *args, struct pval *out)
{
	struct call_args all = { 0 };

	eval_give(ev, &all, NULL, at, &b->self);
	for (int i = 0; i < args->values.n; i++) {
		eval_give(ev, &all, args->given.data[i].name,
			  args->given.data[i].span, &args->values.data[i]);
	}
	return eval_call(ev, at, &b->f, &all, out);
}

bool
eval_call(struct eval *ev, struct py_span at, const struct pval *f,
	  const struct call_args *args, struct pval *out)
{
	struct pval call;
	bool found;

	switch (f->kind) {
	case PV_CLOSURE:
		return call_closure(ev, at, f->u.closure, args, out);
	case PV_BOUND:
		return call_bound(ev, at, f->u.bound, args, out);
	case PV_USER_CLASS:
		return object_new(ev, at, f, args, out);
	case PV_OBJECT:
		if (!object_attribute(ev, at, f, "__call__", &call, &found)) {
			return false;
		}
		if (found) {
			return eval_call(ev, at, &call, args, out);
		}
		return eval_raise(ev, at, "TypeError",
				  "an object of class %s cannot be called; it "
				  "has no __call__",
				  f->u.object->of->name);
	case PV_BUILTIN:
		return call_row(ev, at, f->u.row, NULL, args, out);
	case PV_METHOD:
		return call_row(ev, at, f->u.method->row, &f->u.method->self,
				args, out);
	default:
		if (ops_of(ev, f->kind)->call) {
			return ops_of(ev, f->kind)->call(ev, at, f, args, out);
		}
		return eval_error(ev, at, "%s cannot be called",
				  pv_kind_name(f->kind));
	}
}

bool
eval_apply(struct eval *ev, struct py_span at, const struct pval *f,
	   const struct pval *values, int n, struct pval *out)
{
	struct call_args args = { 0 };
	bool ok;

	for (int i = 0; i < n; i++) {
		eval_give(ev, &args, NULL, at, &values[i]);
	}
	if (ev->depth >= EVAL_MAX_DEPTH) {
		return eval_error(ev, at,
				  "calls nested more than %d levels "
				  "deep",
				  EVAL_MAX_DEPTH);
	}
	ev->depth++;
	ok = eval_call(ev, at, f, &args, out);
	ev->depth--;
	return ok;
}

bool
eval_attribute(struct eval *ev, struct py_span at, const struct pval *of,
	       const char *name, struct pval *out)
{
	const struct name_row *row;
	const char *const *known;
	struct method *method;
	int n;

	if (of->kind == PV_NAMESPACE) {
		return module_attribute(ev, at, of->u.names, name, out);
	}
	if (of->kind == PV_OBJECT || of->kind == PV_USER_CLASS ||
	    of->kind == PV_SUPER) {
		bool found;

		if (!object_attribute(ev, at, of, name, out, &found)) {
			return false;
		}
		if (found) {
			return true;
		}
	}
	row = names_of(ev, of->kind, name);
	if (!row) {
		known = names_list(ev, 0, of->kind, &n);
		return eval_raise(
			ev, at, "AttributeError", "%s has no attribute %s%s",
			pv_kind_name(of->kind), name,
			of->kind == PV_SCHEDULE
				? py_did_you_mean(ev->a, name, known, n,
						  "docs/reference/"
						  "schedules.md lists them")
				: py_suggest(ev->a, name, known, n));
	}
	if (!row->params) {
		struct call c = {
			.ev = ev, .row = row, .self = *of, .span = at
		};
		int errors = ev->m->diags.list.n;

		*out = pv_none();
		return row->fn(&c, out) || eval_locate(ev, at, errors);
	}
	method = arena_new(ev->a, struct method);
	method->row = row;
	method->self = *of;
	*out = (struct pval){ .kind = PV_METHOD, .u.method = method };
	return true;
}
