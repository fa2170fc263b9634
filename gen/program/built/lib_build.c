/* SPDX-License-Identifier: Apache-2.0 */
/* tvm.lower, tvm.build, modules and targets; the text of functions and
 * modules. */
#include "build_parts.h"
#include "library_text.h"
#include "objects.h"
#include "te_parts.h"
#include "text.h"
#include "tir_nodes.h"
#include "tir_parts.h"

/* -- text -- */

static void
module_text(struct eval *ev, const struct pv_module *module, struct strbuf *out)
{
	struct module view = *ev->m;

	memset(&view.funcs, 0, sizeof view.funcs);
	for (int i = 0; i < module->funcs.n; i++) {
		if (module->simple) {
			strbuf_puts(out, i ? "\n" : "");
			func_print(module->funcs.data[i]->func, ev->o->script,
				   out);
		} else {
			vec_push(ev->a, &view.funcs,
				 module->funcs.data[i]->func);
		}
	}
	if (!module->simple) {
		module_print(&view, ev->o->script, out);
	}
}

void
pv_script_text(struct eval *ev, const struct pval *v, bool repr,
	       struct strbuf *out)
{
	size_t from = out->len;

	(void)repr;
	if (v->kind == PV_FUNC) {
		func_print(v->u.func->func, ev->o->script, out);
	} else if (v->kind == PV_IRMODULE) {
		module_text(ev, v->u.module, out);
	} else {
		schedule_text(ev, v, out);
	}
	/* print adds a newline at the end */
	if (out->len > from && out->data[out->len - 1] == '\n') {
		out->data[--out->len] = '\0';
	}
}

/* -- functions and modules -- */

/* A copy of *f with the given name. The function f->func is copied only if its
 * name differs. Sets `named`, unless the name is "main", which TVM gives to
 * functions without a name. */
static struct program_func *
named_func(struct eval *ev, const struct program_func *f, const char *name)
{
	struct program_func *copy = arena_copy(ev->a, f, sizeof *f);

	if (strcmp(f->func->name, name) != 0) {
		copy->func = func_clone(f->func, arena_strdup(ev->a, name));
		if (func_note(copy->func, "global_symbol")) {
			func_set_note(copy->func, "global_symbol",
				      expr_string(ev->m, copy->func->name));
		}
	}
	copy->named = strcmp(name, "main") != 0;
	return copy;
}

static void
put_func(struct eval *ev, struct pv_module *module, struct program_func *f)
{
	for (int i = 0; i < module->funcs.n; i++) {
		if (strcmp(module->funcs.data[i]->func->name, f->func->name) ==
		    0) {
			module->funcs.data[i] = f;
			return;
		}
	}
	vec_push(ev->a, &module->funcs, f);
}

/* Can a script and a source have a function with this name? */
static bool
is_function_name(const char *name)
{
	return text_is_identifier(name, "");
}

static bool
is_name_of_function(const struct pval *v)
{
	return strlen(v->u.text.data) == v->u.text.n &&
	       is_function_name(v->u.text.data);
}

static const char not_a_name[] =
	"the name of a function consists of letters, digits and _, and begins "
	"with no digit";

/* Makes a module of expressions of Relay, by the function of tvm.relay. */
static bool
relay_module(struct call *c, const char *function, struct pval *out)
{
	return library_text_apply(c->ev, c->span, IN_RELAY, function, c->args,
				  arg_given(c, 0) ? 1 : 0, out);
}

/* Implements IRModule.from_expr(function). */
bool
build_module_of(struct call *c, struct pval *out)
{
	struct pv_module *module = arena_new(c->ev->a, struct pv_module);

	if (strcmp(c->self.u.row->name, "IRModule") != 0) {
		return call_error(c, -1, "%s has no attribute from_expr",
				  c->self.u.row->name);
	}
	if (c->args[0].kind != PV_FUNC) {
		return relay_module(c, "_module_of", out);
	}
	*out = (struct pval){ .kind = PV_IRMODULE, .u.module = module };
	put_func(c->ev, module,
		 named_func(c->ev, c->args[0].u.func,
			    c->args[0].u.func->func->name));
	return true;
}

bool
build_module(struct call *c, struct pval *out)
{
	struct pv_module *module = arena_new(c->ev->a, struct pv_module);
	const struct pv_dict *d;

	*out = (struct pval){ .kind = PV_IRMODULE, .u.module = module };
	if (!arg_given(c, 0)) {
		return true;
	}
	if (c->args[0].kind != PV_DICT) {
		return value_kind_error(c, 0, "a dict of functions");
	}
	d = c->args[0].u.dict;
	if (d->values.n > 0 && d->values.data[0].kind == PV_OBJECT) {
		return relay_module(c, "_module_with", out);
	}
	for (int i = 0; i < d->keys.n; i++) {
		if (d->keys.data[i].kind == PV_STRING &&
		    !is_name_of_function(&d->keys.data[i])) {
			return call_error(c, 0, "%s", not_a_name);
		}
		if (d->keys.data[i].kind != PV_STRING ||
		    d->values.data[i].kind != PV_FUNC) {
			return call_error(c, 0,
					  "a module maps names to "
					  "functions, not %s to %s",
					  pv_kind_name(d->keys.data[i].kind),
					  pv_kind_name(d->values.data[i].kind));
		}
		put_func(c->ev, module,
			 named_func(c->ev, d->values.data[i].u.func,
				    d->keys.data[i].u.text.data));
	}
	return true;
}

bool
module_function(struct eval *ev, struct py_span at, const struct pval *of,
		const struct pval *name, struct pval *out)
{
	const struct pv_module *module = of->u.module;
	int n = module->funcs.n, i;
	const char **names = arena_array(ev->a, const char *, n + 1);

	if (module->relay.kind == PV_OBJECT) {
		return eval_subscript(ev, at, &module->relay, name, out);
	}
	for (i = 0; i < n; i++) {
		names[i] = module->funcs.data[i]->func->name;
	}
	if (n > 0 && module->of_function && name->kind == PV_STRING &&
	    strcmp(name->u.text.data, "main") == 0) {
		i = 0;
	} else if (!find_function(ev, at, name, names, n, &i)) {
		return false;
	}
	*out = (struct pval){ .kind = PV_FUNC,
			      .u.func = module->funcs.data[i] };
	return true;
}

/* Puts a function of Relay into the module. Returns false after an error. */
static bool
put_relay(struct eval *ev, struct py_span at, struct pv_module *module,
	  const struct pval *name, const struct pval *f)
{
	struct pval pair[2] = { *name, *f }, set, unused;
	bool found;

	return (module->relay.kind == PV_OBJECT ||
		library_text_apply(ev, at, IN_RELAY, "_module_with", NULL, 0,
				   &module->relay)) &&
	       object_attribute(ev, at, &module->relay, "__setitem__", &set,
				&found) &&
	       eval_apply(ev, at, &set, pair, 2, &unused);
}

bool
module_set(struct eval *ev, struct py_span at, const struct pval *of,
	   const struct pval *name, const struct pval *f)
{
	struct pv_module *module = of->u.module;

	if (f->kind == PV_OBJECT && module->funcs.n == 0) {
		return put_relay(ev, at, module, name, f);
	}
	if (name->kind != PV_STRING || f->kind != PV_FUNC ||
	    module->relay.kind == PV_OBJECT) {
		return eval_error(ev, at, "a module maps names to functions");
	}
	if (!is_name_of_function(name)) {
		return eval_error(ev, at, "%s", not_a_name);
	}
	put_func(ev, module, named_func(ev, f->u.func, name->u.text.data));
	return true;
}

/* Implements the attributes of a module that became one of Relay. */
bool
module_of_relay(struct call *c, struct pval *out)
{
	const struct pv_module *module = c->self.u.module;

	return module->relay.kind == PV_OBJECT
		       ? eval_attribute(c->ev, c->span, &module->relay,
					c->row->name, out)
		       : call_error(c, -1, "IRModule has no attribute %s",
				    c->row->name);
}

bool
module_names(struct call *c, struct pval *out)
{
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	if (c->self.u.module->relay.kind == PV_OBJECT) {
		return library_text_apply(c->ev, c->span, IN_RELAY, "_names_of",
					  &c->self.u.module->relay, 1, out);
	}
	for (int i = 0; i < c->self.u.module->funcs.n; i++) {
		vec_push(c->ev->a, out->u.list,
			 pv_string(c->ev, c->self.u.module->funcs.data[i]
						  ->func->name));
	}
	return true;
}

/* Sets an attribute of f, or, if v is NULL, removes it. "global_symbol" changes
 * the name of the function, too. Returns false after an error. */
static bool
set_attr(struct call *c, struct program_func *f, const char *key,
	 const struct pval *v)
{
	const struct expr *value = NULL;
	int depth;

	if (v && !value_expr(c->ev, c->span, v, &value, &depth)) {
		return false;
	}
	if (value && value->kind != EXPR_STRING && value->kind != EXPR_INT &&
	    value->kind != EXPR_FLOAT) {
		return eval_error(c->ev, c->span,
				  "an attribute is a text or a number");
	}
	if (value && value->kind == EXPR_STRING &&
	    strcmp(key, "global_symbol") == 0) {
		if (!is_function_name(value->u.text)) {
			return eval_error(c->ev, c->span, "%s", not_a_name);
		}
		f->named |= strcmp(f->func->name, value->u.text) != 0;
		f->func = func_clone(f->func, value->u.text);
	}
	func_set_attribute(f->func, key, value);
	return true;
}

/* func.params: sets *out to the list of the parameters as variables. The
 * variable of an array is that of its pointer. */
bool
func_params(struct call *c, struct pval *out)
{
	const struct func *f = c->self.u.func->func;

	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < f->params.n; i++) {
		vec_push(c->ev->a, out->u.list,
			 pv_expr(f->params.data[i].var->expr, 1));
	}
	return true;
}

/* The methods with_attr("global_symbol", "matmul"), with_attr({"global_symbol":
 * "matmul"}) and without_attr("global_symbol"). */
bool
func_with_attr(struct call *c, struct pval *out)
{
	struct program_func *f = arena_copy(c->ev->a, c->self.u.func,
					    sizeof *f);
	const struct pval *first = &c->args[0];
	const char *key;

	f->func = func_clone(f->func, f->func->name);
	*out = (struct pval){ .kind = PV_FUNC, .u.func = f };
	if (first->kind != PV_DICT) {
		return arg_text(c, 0, &key) &&
		       set_attr(c, f, key, c->n > 1 ? &c->args[1] : NULL);
	}
	for (int i = 0; i < first->u.dict->keys.n; i++) {
		const struct pval *name = &first->u.dict->keys.data[i];

		if (name->kind != PV_STRING) {
			return call_error(c, 0,
					  "names of attributes are texts");
		}
		if (!set_attr(c, f, name->u.text.data,
			      &first->u.dict->values.data[i])) {
			return false;
		}
	}
	return true;
}

/* -- lowering -- */

/* Sets `module` to the functions that the first argument of tvm.lower or
 * tvm.build stands for, before any phase of lowering. Returns false after an
 * error. */
static bool
functions_of(struct call *c, const char *name, struct pv_module *module)
{
	struct eval *ev = c->ev;
	const struct pval *v = &c->args[0];

	if (name && !is_function_name(name)) {
		return call_error(c, -1, "%s", not_a_name);
	}
	if (v->kind == PV_TE_SCHEDULE) {
		struct program_func *f = arena_new(ev->a, struct program_func);

		if (!arg_given(c, 1)) {
			return call_error(c, -1,
					  "a schedule is lowered with "
					  "the list of its arguments");
		}
		if (!stage_to_func(c, v->u.te_schedule, name ? name : "main",
				   f)) {
			return false;
		}
		f->named = name && strcmp(name, "main") != 0;
		vec_push(ev->a, &module->funcs, f);
		return true;
	}
	if (v->kind != PV_FUNC && v->kind != PV_IRMODULE) {
		return value_kind_error(c, 0,
					"a schedule, a PrimFunc or an "
					"IRModule");
	}
	for (int i = 0; v->kind == PV_IRMODULE && i < v->u.module->funcs.n;
	     i++) {
		vec_push(ev->a, &module->funcs,
			 arena_copy(ev->a, v->u.module->funcs.data[i],
				    sizeof(struct program_func)));
	}
	if (v->kind == PV_FUNC) {
		vec_push(ev->a, &module->funcs,
			 arena_copy(ev->a, v->u.func,
				    sizeof(struct program_func)));
	}
	for (int i = 0; i < module->funcs.n; i++) {
		struct program_func *f = module->funcs.data[i];
		bool rename = name && module->funcs.n == 1 &&
			      strcmp(name, "main") != 0;

		f->plain = f->plain ? f->plain : f->func;
		f->func = func_clone(f->func, rename ? name : f->func->name);
		f->named |= rename;
	}
	return true;
}

static bool
lower_all(struct call *c, const char *name, bool simple,
	  enum program_stage stage, const struct pv_target *target,
	  struct pval *out)
{
	struct pv_module *module = arena_new(c->ev->a, struct pv_module);

	*out = (struct pval){ .kind = PV_IRMODULE, .u.module = module };
	if (!functions_of(c, name, module)) {
		return false;
	}
	for (int i = 0; i < module->funcs.n; i++) {
		struct program_func *f = module->funcs.data[i];

		f->stage = stage;
		f->siblings = module->funcs.data;
		f->n_siblings = module->funcs.n;
		f->target = target ? target->name : NULL;
		f->target_said = target ? target->said : NULL;
		f->line = c->span.line;
		f->col = c->span.col;
		f->scheduled = f->func;
		f->func = func_clone(f->func, f->func->name);
		if (!eval_tick(c->ev, c->span, 1000) ||
		    !tir_lower(c->ev, c->span, simple, out, f)) {
			return false;
		}
		remember_func(c->ev, f);
	}
	module->simple = simple;
	return true;
}

bool
build_lower(struct call *c, struct pval *out)
{
	const char *name = NULL;
	bool simple = false;

	if ((arg_given(c, 2) && !arg_text(c, 2, &name)) ||
	    (arg_given(c, 4) && !arg_bool(c, 4, &simple))) {
		return false;
	}
	if (arg_given(c, 3)) {
		return call_error(c, 3,
				  "the argument binds is not supported; each "
				  "tensor has a buffer of its own");
	}
	return lower_all(c, name, simple, PROGRAM_LOWERED, NULL, out);
}

/* -- targets -- */

/* Appends " -key=value" for a member of the dict that describes a target. The
 * elements of a list are separated by commas. Returns false after an error. */
static bool
put_option(struct call *c, int i, const struct pval *key, const struct pval *v,
	   struct strbuf *out)
{
	struct eval *ev = c->ev;
	const struct pval *items;
	int n;

	if (key->kind != PV_STRING) {
		return value_kind_error(c, i, "names of options");
	}
	if (v->kind == PV_BOOL && !v->u.boolean) {
		return true;
	}
	strbuf_printf(out, " -%s%s", key->u.text.data,
		      v->kind == PV_BOOL ? "" : "=");
	if (v->kind == PV_BOOL) {
		return true;
	}
	if (!eval_items_or_one(ev, c->span, v,
			       v->kind != PV_LIST && v->kind != PV_TUPLE,
			       &items, &n)) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		strbuf_puts(out, k > 0 ? "," : "");
		if (!object_text(ev, c->span, &items[k], false, out)) {
			return false;
		}
	}
	return true;
}

/* Sets *out to the target string for a dict such as {"kind": "llvm", "mcpu":
 * "skylake"}. Returns false after an error. */
static bool
text_of_dict(struct call *c, int i, const struct pv_dict *d, const char **out)
{
	struct pval key = pv_string(c->ev, "kind");
	const struct pval *kind;
	struct strbuf s;
	bool ok = true;

	if (!dict_get(c->ev, c->span, d, &key, &kind)) {
		return false;
	}
	if (kind == NULL || kind->kind != PV_STRING) {
		return value_kind_error(c, i, "a dict with a kind");
	}
	strbuf_init(&s);
	strbuf_puts(&s, kind->u.text.data);
	for (int k = 0; ok && k < d->keys.n; k++) {
		const struct pval *one = &d->keys.data[k];

		if (one->kind == PV_STRING &&
		    (strcmp(one->u.text.data, "kind") == 0 ||
		     strcmp(one->u.text.data, "host") == 0)) {
			continue;
		}
		ok = put_option(c, i, one, &d->values.data[k], &s);
	}
	*out = arena_strndup(c->ev->a, s.data, s.len);
	strbuf_release(&s);
	return ok;
}

bool
read_target(struct call *c, int i, struct pv_target *out)
{
	const struct pval *v = &c->args[i];
	struct eval *ev = c->ev;

	if (v->kind == PV_TARGET) {
		*out = *v->u.target;
		return true;
	}
	if (v->kind == PV_DICT) {
		if (!text_of_dict(c, i, v->u.dict, &out->said)) {
			return false;
		}
	} else if (!arg_text(c, i, &out->said)) {
		return false;
	}
	/* --target of the command line replaces the program's target */
	out->name = ev->o->target != NULL
			    ? ev->o->target
			    : target_of_tvm(ev->m, out->said, call_place(c, i));
	return out->name != NULL;
}

/* tvm.target.NAME() is the target with that name. The arguments, a model and
 * options, are ignored. */
bool
build_target_of(struct call *c, struct pval *out)
{
	struct pval name = pv_string(c->ev, c->row->name);
	struct call named = *c;

	named.args = &name;
	named.spans = &c->span;
	named.n = 1;
	return build_target(&named, out);
}

bool
build_target(struct call *c, struct pval *out)
{
	struct pv_target *t = arena_new(c->ev->a, struct pv_target);
	struct pv_target host;

	if (!read_target(c, 0, t) ||
	    (c->n > 1 && arg_given(c, 1) && !read_target(c, 1, &host))) {
		return false;
	}
	*out = (struct pval){ .kind = PV_TARGET, .u.target = t };
	return true;
}

bool
build_same(struct call *c, struct pval *out)
{
	*out = c->self;
	return true;
}

/* TARGET.kind: a copy of the target without its options. */
bool
build_kind(struct call *c, struct pval *out)
{
	const char *said = c->self.u.target->said;
	struct pv_target *t = arena_copy(c->ev->a, c->self.u.target, sizeof *t);

	t->said = arena_strndup(c->ev->a, said, strcspn(said, " "));
	*out = (struct pval){ .kind = PV_TARGET, .u.target = t };
	return true;
}

/* TARGET.kind.name: the first word of the target's text. */
bool
build_kind_name(struct call *c, struct pval *out)
{
	const char *said = c->self.u.target->said;

	*out = pv_text_n(c->ev, said, strcspn(said, " "));
	return true;
}

/* -- tvm.build -- */

/* tvm.build(inputs, args, target, …), or in newer releases tvm.build(mod,
 * target). */
bool
build_build(struct call *c, struct pval *out)
{
	const char *name = NULL;
	const struct pv_target *outer = c->ev->with_target, *target = outer;
	struct pv_target own;
	bool made;

	if ((c->args[1].kind == PV_STRING || c->args[1].kind == PV_TARGET) &&
	    !arg_given(c, 2)) {
		return build_compile(c, out);
	}
	if (arg_given(c, 5) && !arg_text(c, 5, &name)) {
		return false;
	}
	if (arg_given(c, 2)) {
		if (!read_target(c, 2, &own)) {
			return false;
		}
		target = &own;
	}
	if (arg_given(c, 6)) {
		return call_error(c, 6,
				  "the argument binds is not supported; each "
				  "tensor has a buffer of its own");
	}
	c->ev->with_target = target;
	made = lower_all(c, name, false, PROGRAM_BUILT, target, out);
	c->ev->with_target = outer;
	if (!made) {
		return false;
	}
	out->kind = PV_BUILT;
	return true;
}

/* tvm.compile(mod, target): the name of tvm.build in newer releases. */
bool
build_compile(struct call *c, struct pval *out)
{
	enum { TARGET = 2, N = 7 };
	struct py_slot *params = arena_array(c->ev->a, struct py_slot, N);
	struct call of = *c;

	of.args = arena_array(c->ev->a, struct pval, N);
	of.spans = arena_array(c->ev->a, struct py_span, N);
	for (int i = 0; i < N; i++) {
		int from = i == TARGET;

		params[i] = c->params[from];
		of.spans[i] = c->spans[from];
		if (i == 0 || i == TARGET) {
			of.args[i] = c->args[from];
		}
	}
	of.params = params;
	of.n = N;
	return build_build(&of, out);
}

/* BUILT.get_source(): the text of the source, which the first call makes. */
bool
built_source(struct call *c, struct pval *out)
{
	struct pv_module *module = c->self.u.module;
	struct eval *ev = c->ev;

	if (!module->source) {
		struct program_result list = { .file = ev->src->name };
		const char *target = NULL;
		struct program_sources text = { 0 };

		for (int i = 0; i < module->funcs.n; i++) {
			vec_push(ev->a, &list.funcs, *module->funcs.data[i]);
			if (!target) {
				target = module->funcs.data[i]->target;
			}
		}
		program_order_calls(ev->m, &list);
		if (!program_source(ev->m, &list, ev->o,
				    target ? target : ev->o->target, &text)) {
			return false;
		}
		module->source = text.source;
	}
	*out = pv_string(ev, module->source);
	return true;
}

bool
built_imports(struct call *c, struct pval *out)
{
	*out = pv_list_of(c->ev, PV_LIST, &c->self, 1);
	return true;
}

/* Implements export_library and save: no file is written, but load_module() of the name
 * gives the value back. */
bool
build_export(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const char *path;

	if (!arg_text(c, 0, &path)) {
		return false;
	}
	if (ev->exported == NULL) {
		ev->exported = pv_dict_new(ev).u.dict;
		diag_note(&ev->m->diags, DIAG_ASSUMPTION, call_place(c, -1),
			  "%s writes no file here; tirc codegen %s, "
			  "or tirc compile MODEL.onnx, writes the source, and "
			  "the command that compiles it",
			  c->row->name, ev->src->name);
	}
	*out = (struct pval){ .kind = PV_NONE };
	return dict_set(ev, c->span, ev->exported, &c->args[0], &c->self);
}

/* Implements tvm.runtime.load_module. */
bool
build_load_module(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pval *found = NULL;
	const char *path;

	if (!arg_text(c, 0, &path) ||
	    (ev->exported != NULL &&
	     !dict_get(ev, c->span, ev->exported, &c->args[0], &found))) {
		return false;
	}
	if (found == NULL) {
		return call_error(c, 0,
				  "%s was not exported by this program; binary "
				  "modules are not read: build it here",
				  path);
	}
	*out = *found;
	return true;
}

/* Implements rpc.connect and rpc.connect_tracker: a session, or a tracker, that
 * runs here. The text of the module (texts/rpc.py) has both. */
bool
rpc_connect(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const char *local = strcmp(c->row->name, "connect") == 0
				    ? "LocalSession"
				    : "Tracker";
	struct call make = *c;

	diag_note(&ev->m->diags, DIAG_ASSUMPTION, call_place(c, -1),
		  "rpc.%s opens no connection: the session runs here, in the "
		  "interpreter; tirc codegen writes the source for the board",
		  c->row->name);
	make.row = names_in(ev, IN_RPC, local);
	return make.row->fn(&make, out) &&
	       eval_apply(ev, c->span, out, NULL, 0, out);
}
