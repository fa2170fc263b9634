/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: assigns arguments to the parameters of functions in the program and of
 * built-in functions. */
#include <stdarg.h>

#include "eval.h"
#include "program_parts.h"
#include "text.h"

/* A parameter of a function in the program or of a built-in one. */
struct slot {
	const char *name;
	bool optional, star, double_star, keyword_only;
};

struct binding_of {
	struct slot *slots;
	struct pval *values;
	struct py_span *spans;
	int n;
	const char *callee;
};

static bool
bind_error(struct eval *ev, struct py_span at, const struct binding_of *b,
	   const char *name)
{
	const char **names = arena_array(ev->a, const char *, b->n + 1);
	int n = 0;

	for (int i = 0; i < b->n; i++) {
		if (!b->slots[i].star && !b->slots[i].double_star) {
			names[n++] = b->slots[i].name;
		}
	}
	return eval_error(ev, at, "%s has no parameter %s%s", b->callee, name,
			  eval_suggest(ev, name, names, n));
}

static bool
bind_positional(struct eval *ev, struct py_span at, struct binding_of *b,
		const struct call_args *args)
{
	int next = 0, given = 0, room = 0;

	for (int k = 0; k < args->values.n; k++) {
		if (args->names.data[k]) {
			continue;
		}
		given++;
		while (next < b->n && (b->slots[next].keyword_only ||
				       b->slots[next].double_star)) {
			next++;
		}
		if (next == b->n) {
			for (int i = 0; i < b->n; i++) {
				room += !b->slots[i].keyword_only &&
					!b->slots[i].double_star;
			}
			return eval_error(ev, args->spans.data[k],
					  "%s takes "
					  "%d argument%s by position, not %d",
					  b->callee, room, room == 1 ? "" : "s",
					  given);
		}
		if (b->slots[next].star) {
			vec_push(ev->a, b->values[next].u.list,
				 args->values.data[k]);
			b->spans[next] = args->spans.data[k];
		} else {
			b->values[next] = args->values.data[k];
			b->spans[next++] = args->spans.data[k];
		}
	}
	(void)at;
	return true;
}

static bool
bind_named(struct eval *ev, struct binding_of *b, const struct call_args *args)
{
	for (int k = 0; k < args->values.n; k++) {
		const char *name = args->names.data[k];
		struct pval *rest = NULL;
		int found = -1;

		if (!name) {
			continue;
		}
		for (int i = 0; i < b->n; i++) {
			if (b->slots[i].double_star) {
				rest = &b->values[i];
			} else if (!b->slots[i].star &&
				   strcmp(b->slots[i].name, name) == 0) {
				found = i;
			}
		}
		if (found < 0 && rest) {
			struct pval key = pv_string(ev, name);

			dict_set(ev, rest->u.dict, &key, &args->values.data[k]);
			continue;
		}
		if (found < 0) {
			return bind_error(ev, args->spans.data[k], b, name);
		}
		if (b->values[found].kind != PV_MISSING) {
			return eval_error(ev, args->spans.data[k],
					  "%s is "
					  "given twice",
					  name);
		}
		b->values[found] = args->values.data[k];
		b->spans[found] = args->spans.data[k];
	}
	return true;
}

static bool
bind(struct eval *ev, struct py_span at, struct binding_of *b,
     const struct call_args *args)
{
	b->values = arena_array(ev->a, struct pval, b->n + 1);
	b->spans = arena_array(ev->a, struct py_span, b->n + 1);
	for (int i = 0; i < b->n; i++) {
		b->spans[i] = at;
		if (b->slots[i].star) {
			b->values[i] = pv_list_of(ev, PV_TUPLE, NULL, 0);
		} else if (b->slots[i].double_star) {
			b->values[i].kind = PV_DICT;
			b->values[i].u.dict = arena_new(ev->a, struct pv_dict);
		}
	}
	if (!bind_positional(ev, at, b, args) || !bind_named(ev, b, args)) {
		return false;
	}
	for (int i = 0; i < b->n; i++) {
		if (b->values[i].kind == PV_MISSING && !b->slots[i].optional) {
			return eval_error(ev, at, "%s needs an argument %s",
					  b->callee, b->slots[i].name);
		}
	}
	return true;
}

/* -- the program's functions -- */

static bool
call_closure(struct eval *ev, struct py_span at, const struct closure *c,
	     const struct call_args *args, struct pval *out)
{
	const struct py_node *def = c->def;
	struct scope *scope = arena_new(ev->a, struct scope);
	struct binding_of b = { .n = def->n_params,
				.callee = arena_printf(ev->a, "%s()",
						       c->name) };
	enum flow flow;

	b.slots = arena_array(ev->a, struct slot, b.n + 1);
	for (int i = 0; i < b.n; i++) {
		const struct py_param *p = &def->params[i];

		b.slots[i] = (struct slot){
			.name = p->name,
			.optional = c->defaults[i].kind != PV_MISSING,
			.star = p->kind == PY_PARAM_STAR,
			.double_star = p->kind == PY_PARAM_DOUBLE_STAR,
			.keyword_only = p->keyword_only,
		};
	}
	if (!bind(ev, at, &b, args)) {
		return false;
	}
	scope->parent = c->scope;
	for (int i = 0; i < b.n; i++) {
		eval_scope_set(ev, scope, b.slots[i].name,
			       b.values[i].kind == PV_MISSING ? &c->defaults[i]
							      : &b.values[i]);
	}
	if (def->kind == PY_LAMBDA) {
		return eval_expr(ev, scope, def->kids[0], out);
	}
	*out = pv_none();
	flow = eval_suite(ev, scope, def->kids[0], out);
	if (flow == FLOW_BREAK || flow == FLOW_CONTINUE) {
		return eval_error(ev, ev->left_at, "%s outside of a loop",
				  flow == FLOW_BREAK ? "break" : "continue");
	}
	if (flow != FLOW_RETURN) {
		*out = pv_none();
	}
	return flow != FLOW_ERROR;
}

/* -- built-in functions -- */

/* The next parameter in "shape, dtype?, *rest, /…", or NULL at the end. */
static const char *
next_param(struct eval *ev, const char *at, struct slot *slot)
{
	size_t n;

	at += strspn(at, ", ");
	if (*at == '\0') {
		return NULL;
	}
	*slot = (struct slot){ 0 };
	for (; *at == '*'; at++) {
		slot->double_star = slot->star;
		slot->star = !slot->double_star;
	}
	n = strcspn(at, ",?");
	slot->name = arena_strndup(ev->a, at, n);
	slot->optional = at[n] == '?';
	return at + n + slot->optional;
}

static bool
call_row(struct eval *ev, struct py_span at, const struct name_row *row,
	 const struct pval *self, const struct call_args *args,
	 struct pval *out)
{
	VEC(struct slot) slots = { 0 };
	struct call c = { .ev = ev, .row = row, .span = at };
	struct binding_of b = { .callee = arena_printf(ev->a, "%s()",
						       row->name) };
	const char *text = row->params;
	struct slot slot;
	int errors = ev->m->diags.list.n;

	while ((text = next_param(ev, text, &slot)) != NULL) {
		vec_push(ev->a, &slots, slot);
	}
	b.slots = slots.data;
	b.n = slots.n;
	if (!bind(ev, at, &b, args)) {
		return false;
	}
	if (self) {
		c.self = *self;
	}
	c.args = b.values;
	c.spans = b.spans;
	c.n = b.n;
	*out = pv_none();
	return row->fn(&c, out) || eval_locate(ev, at, errors);
}

bool
eval_call(struct eval *ev, struct py_span at, const struct pval *f,
	  const struct call_args *args, struct pval *out)
{
	switch (f->kind) {
	case PV_CLOSURE:
		return call_closure(ev, at, f->u.closure, args, out);
	case PV_BUILTIN:
		return call_row(ev, at, f->u.row, NULL, args, out);
	case PV_METHOD:
		return call_row(ev, at, f->u.method->row, &f->u.method->self,
				args, out);
	case PV_TENSOR:
		for (int i = 0; i < args->names.n; i++) {
			if (args->names.data[i]) {
				return eval_error(ev, args->spans.data[i],
						  "indices have no names");
			}
		}
		return te_index(ev, at, f, args->values.data, args->values.n,
				out);
	case PV_REDUCER:
		return te_call_reducer(ev, at, f, args, out);
	default:
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
		vec_push(ev->a, &args.values, values[i]);
		vec_push(ev->a, &args.names, NULL);
		vec_push(ev->a, &args.spans, at);
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
	row = names_of(of->kind, name);
	if (!row && of->kind == PV_SCHEDULE) {
		row = schedule_method(ev, name);
	}
	if (!row) {
		known = names_list(ev->a, 0, of->kind, &n);
		return eval_error(ev, at, "%s has no attribute %s%s",
				  pv_kind_name(of->kind), name,
				  eval_suggest(ev, name, known, n));
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

/* -- errors -- */

bool
eval_error(struct eval *ev, struct py_span at, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(ev->a, fmt, ap);
	va_end(ap);
	return py_error(ev->m, ev->src, at, "%s", text);
}

bool
call_error(struct call *c, int i, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(c->ev->a, fmt, ap);
	va_end(ap);
	return py_error(c->ev->m, c->ev->src, i >= 0 ? c->spans[i] : c->span,
			"%s", text);
}

const char *
eval_suggest(struct eval *ev, const char *name, const char *const *names, int n)
{
	const char *near = text_nearest(name, names, n);
	struct strbuf s;
	const char *text;

	if (near) {
		return arena_printf(ev->a, "; did you mean %s?", near);
	}
	if (n == 0 || n > 12) {
		return "";
	}
	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	text = arena_printf(ev->a, "; there %s %s", n > 1 ? "are" : "is",
			    s.data);
	strbuf_release(&s);
	return text;
}

bool
eval_locate(struct eval *ev, struct py_span at, int first)
{
	struct diags *d = &ev->m->diags;

	for (int i = first; i < d->list.n; i++) {
		struct diag *one = &d->list.data[i];
		struct diag located;
		enum diag_id id = one->id;
		int errors = d->n_errors;

		if (one->severity != DIAG_ERROR ||
		    (one->place.file &&
		     strcmp(one->place.file, ev->src->name) == 0)) {
			continue;
		}
		/* the same message, with the place of the diagnostic */
		const char *of = one->place.item ? one->place.item
						 : one->place.file;

		py_error(ev->m, ev->src, at, "%s%s%s", of ? of : "",
			 of ? ": " : "", one->message);
		located = d->list.data[d->list.n - 1];
		located.id = id;
		d->list.data[i] = located;
		d->list.n--;
		d->n_errors = errors;
	}
	return false;
}

bool
eval_tick(struct eval *ev, struct py_span at, int64_t n)
{
	ev->steps += n;
	if (ev->steps > ev->max_steps) {
		return eval_error(ev, at,
				  "the program does not come to an "
				  "end within %lld steps; is there a loop "
				  "without one?",
				  (long long)ev->max_steps);
	}
	if (ev->a->used_bytes > ev->max_bytes) {
		return eval_error(ev, at,
				  "the program takes more than %zu MB "
				  "to read",
				  ev->max_bytes >> 20);
	}
	return true;
}
