/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TVMScript functions in a program: a def with @T.prim_func, a class with
 * @I.ir_module or @tvm.script.ir_module. */
#include "script.h"

#include "eval.h"
#include "iterate.h"

struct lookup {
	struct eval *ev;
	struct scope *scope;
	/* the class whose functions are read, or NULL */
	const struct py_node *module;
	/* the elements of the list that is being converted, so far */
	int64_t n_items;
};

/* The expression that stands for the value v; NULL if v has no expression. */
static const struct expr *
expr_of(struct lookup *l, const struct pval *v)
{
	switch (v->kind) {
	case PV_BOOL:
		return expr_bool(l->ev->m, v->u.boolean);
	case PV_INT:
		return expr_index(l->ev->m, v->u.ival);
	case PV_FLOAT:
		return expr_float(l->ev->m, dtype_of(DT_F32), v->u.fval);
	case PV_STRING:
		return expr_string(l->ev->m, v->u.text.data);
	case PV_EXPR:
		return v->u.expr;
	default:
		return NULL;
	}
}

/* The expression for a name that the program defines outside of a TVMScript
 * function: after N = 128 it is the constant 128. NULL if the name has no such
 * value. */
static const struct expr *
outer_name(void *ctx, const char *name)
{
	struct lookup *l = ctx;
	const struct pval *v = eval_scope_find(l->ev, l->scope, name);

	return v ? expr_of(l, v) : NULL;
}

/* Sets *out to the value, which is `depth` lists deep in others. False after an
 * error. */
static bool
put_script(struct lookup *l, struct py_span at, const struct pval *v, int depth,
	   struct script_outer *out)
{
	struct script_outer *items;

	*out = (struct script_outer){ .e = expr_of(l, v),
				      .weak = v->kind != PV_EXPR };
	if (out->e) {
		return true;
	}
	if (v->kind != PV_LIST && v->kind != PV_TUPLE) {
		return eval_error(l->ev, at,
				  "something else than numbers and lists of "
				  "them; a tensor function takes those");
	}
	if (depth == SCRIPT_MAX_LISTS) {
		return eval_error(l->ev, at, "lists in lists more than %d deep",
				  SCRIPT_MAX_LISTS);
	}
	l->n_items += v->u.list->n;
	if (l->n_items > SCRIPT_MAX_ITEMS) {
		return eval_error(l->ev, at,
				  "a list of more than %d elements, with "
				  "those of lists in it",
				  SCRIPT_MAX_ITEMS);
	}
	if (!eval_tick(l->ev, at, v->u.list->n)) {
		return false;
	}
	items = arena_array(l->ev->a, struct script_outer, v->u.list->n + 1);
	out->items = items;
	out->n_items = v->u.list->n;
	for (int i = 0; i < v->u.list->n; i++) {
		if (!put_script(l, at, &v->u.list->data[i], depth + 1,
				&items[i])) {
			return false;
		}
	}
	return true;
}

static bool
to_script(struct lookup *l, struct py_span at, const struct pval *v,
	  struct script_outer *out)
{
	l->n_items = 0;
	return put_script(l, at, v, 0, out);
}

static struct pval
from_script(struct lookup *l, const struct script_outer *o)
{
	struct pval v = { .kind = PV_EXPR, .u.expr = o->e };
	const struct expr *e = o->e;

	if (!e) {
		struct pv_list *list = arena_new(l->ev->a, struct pv_list);

		for (int i = 0; i < o->n_items; i++) {
			vec_push(l->ev->a, list, from_script(l, &o->items[i]));
		}
		return (struct pval){ .kind = PV_TUPLE, .u.list = list };
	}
	if (e->kind == EXPR_STRING) {
		v.kind = PV_STRING;
		v.u.text.data = e->u.text;
		v.u.text.n = strlen(e->u.text);
	} else if (o->weak && e->kind == EXPR_INT && e->type.kind == DT_BOOL) {
		v.kind = PV_BOOL;
		v.u.boolean = e->u.ival != 0;
	} else if (o->weak && e->kind == EXPR_INT) {
		v.kind = PV_INT;
		v.u.ival = e->u.ival;
	} else if (o->weak && e->kind == EXPR_FLOAT) {
		v.kind = PV_FLOAT;
		v.u.fval = e->u.fval;
	}
	return v;
}

static bool
outer_list(void *ctx, const struct py_node *node, bool *is_one,
	   struct script_outer *out)
{
	struct lookup *l = ctx;
	const struct pval *v = eval_scope_find(l->ev, l->scope, node->text);

	*is_one = v && (v->kind == PV_LIST || v->kind == PV_TUPLE);
	return !*is_one || to_script(l, node->span, v, out);
}

/* Calls a function of the program from a TVMScript function, with expressions
 * as arguments. *is_one: is `name` the name of such a function? */
static bool
outer_call(void *ctx, const struct py_node *node, const char *name,
	   const struct script_outer *args, int n, bool *is_one,
	   struct script_outer *out)
{
	struct lookup *l = ctx;
	const struct pval *f = eval_scope_find(l->ev, l->scope, name);
	struct pval *values = arena_array(l->ev->a, struct pval, n + 1);
	struct pval result;

	*is_one = f && f->kind == PV_CLOSURE;
	if (!*is_one) {
		return true;
	}
	for (int i = 0; i < n; i++) {
		values[i] = from_script(l, &args[i]);
	}
	return eval_apply(l->ev, node->span, f, values, n, &result) &&
	       to_script(l, node->span, &result, out);
}

/* Has the definition e a decorator whose last part is `name`, such as
 * @T.prim_func? */
static bool
is_decorated(const struct py_node *e, const char *name)
{
	for (int i = 0; i < e->n_decorators; i++) {
		const struct py_node *d = e->decorators[i];

		if (d->kind == PY_CALL) {
			d = d->kids[0];
		}
		if ((d->kind == PY_NAME || d->kind == PY_ATTRIBUTE) &&
		    strcmp(d->text, name) == 0) {
			return true;
		}
	}
	return false;
}

/* The definition of the macro (@T.macro, @T.inline) with this name, or NULL. */
static const struct py_node *
outer_macro(void *ctx, const char *name)
{
	struct lookup *l = ctx;
	const struct pval *v = eval_scope_find(l->ev, l->scope, name);

	return v && v->kind == PV_CLOSURE && v->u.closure->src == l->ev->src &&
			       v->u.closure->def->kind == PY_DEF &&
			       (is_decorated(v->u.closure->def, "macro") ||
				is_decorated(v->u.closure->def, "inline"))
		       ? v->u.closure->def
		       : NULL;
}

/* The name of the function that a call in TVMScript names: by Module.twice or
 * cls.twice in the class Module, or by a name that is bound to a PrimFunc. NULL
 * for other callees. */
static const char *
outer_function(void *ctx, const struct py_node *callee)
{
	struct lookup *l = ctx;
	const struct pval *v;

	if (callee->kind == PY_NAME) {
		v = eval_scope_find(l->ev, l->scope, callee->text);
		return v && v->kind == PV_FUNC ? v->u.func->func->name : NULL;
	}
	if (!l->module || callee->kind != PY_ATTRIBUTE ||
	    callee->kids[0]->kind != PY_NAME ||
	    (strcmp(callee->kids[0]->text, l->module->text) != 0 &&
	     strcmp(callee->kids[0]->text, "cls") != 0)) {
		return NULL;
	}
	for (int i = 0; i < l->module->kids[0]->n_kids; i++) {
		const struct py_node *def = l->module->kids[0]->kids[i];

		if (def->kind == PY_DEF &&
		    strcmp(def->text, callee->text) == 0) {
			return def->text;
		}
	}
	return NULL;
}

/* The type that the function of this name, of the class or of the program, says that it
 * returns. */
static struct dtype
outer_result(void *ctx, const char *name)
{
	struct lookup *l = ctx;
	const struct pval *v = eval_scope_find(l->ev, l->scope, name);
	struct dtype t = dtype_of(DT_VOID);

	if (v && v->kind == PV_FUNC) {
		return v->u.func->func->ret;
	}
	for (int i = 0; l->module && i < l->module->kids[0]->n_kids; i++) {
		const struct py_node *def = l->module->kids[0]->kids[i];
		const struct py_node *type = def->kind == PY_DEF &&
							     strcmp(def->text,
								    name) == 0
						     ? def->kids[1]
						     : NULL;

		if (type && type->kind == PY_STRING) {
			dtype_from_name(type->text, &t);
		} else if (type && type->kind == PY_ATTRIBUTE) {
			dtype_from_name(type->text, &t);
		}
	}
	return t;
}

static bool
is_param(const struct func *f, const struct var *v)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].var == v) {
			return true;
		}
	}
	return false;
}

/* Makes the sizes that the body declares by n = T.int32() parameters of the
 * function, after its other parameters. TVM finds such sizes in its arrays at
 * run time; an array in C does not know its sizes. */
static void
add_sizes(struct func *f)
{
	int n = f->params.n;

	for (int i = 0; i < n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		for (int d = 0; b && d < b->ndim; d++) {
			struct expr_iter it = expr_each_of(b->shape[d],
							   EXPR_VAR);
			const struct expr *e;

			while ((e = expr_next(&it))) {
				if (!is_param(f, e->u.var)) {
					func_add_param(f, e->u.var, NULL);
					f->params.data[f->params.n - 1]
						.implied = true;
				}
			}
		}
	}
}

static struct program_func *
read_func(struct eval *ev, struct scope *s, const struct py_node *def,
	  const struct py_node *module)
{
	struct lookup l = { .ev = ev, .scope = s, .module = module };
	struct script_scope scope = { outer_name,
				      outer_macro,
				      outer_function,
				      outer_result,
				      outer_list,
				      outer_call,
				      &l };
	struct program_func *f = arena_new(ev->a, struct program_func);
	int errors = ev->m->diags.list.n;

	f->stage = PROGRAM_WRITTEN;
	f->func = script_read_func(ev->m, ev->src, def, &scope);
	f->plain = f->func;
	f->named = true;
	f->line = def->span.line;
	f->col = def->span.col;
	if (!f->func) {
		eval_locate(ev, def->span, errors);
		return NULL;
	}
	add_sizes(f->func);
	return f;
}

bool
eval_script(struct eval *ev, struct scope *s, const struct py_node *e,
	    bool *is_script)
{
	struct pval v = { .kind = PV_FUNC };
	struct pv_module *module;

	*is_script = is_decorated(e, e->kind == PY_DEF ? "prim_func"
						       : "ir_module");
	if (!*is_script) {
		return true;
	}
	if (e->kind == PY_DEF) {
		v.u.func = read_func(ev, s, e, NULL);
		if (!v.u.func) {
			return false;
		}
		eval_scope_set(ev, s, e->text, &v);
		return true;
	}
	module = arena_new(ev->a, struct pv_module);
	for (int i = 0; i < e->kids[0]->n_kids; i++) {
		const struct py_node *def = e->kids[0]->kids[i];
		struct program_func *f;

		if (def->kind != PY_DEF) {
			continue;
		}
		f = read_func(ev, s, def, e);
		if (!f) {
			return false;
		}
		vec_push(ev->a, &module->funcs, f);
	}
	v = (struct pval){ .kind = PV_IRMODULE, .u.module = module };
	eval_scope_set(ev, s, e->text, &v);
	return true;
}
