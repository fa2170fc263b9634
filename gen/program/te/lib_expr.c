/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on expressions: mathematical functions, conditionals, casts, and
 * calls of external functions. */
#include "te_parts.h"

/* Converts v to an argument of a function of ir/typed. A type, such as `float`,
 * is converted to its name. Returns false after an error. */
static bool
typed_argument(struct eval *ev, const struct pval *v, struct typed_arg *out,
	       int *depth)
{
	const char *type = value_type_name(v);

	*depth = 0;
	if (v->kind == PV_MISSING || !type) {
		return v->kind == PV_MISSING ||
		       value_typed(ev, out->at, v, &out->x, depth);
	}
	out->x = typed_expr(expr_string(ev->m, type));
	return true;
}

bool
expr_function(struct call *c, const char *name, const struct pval *args, int n,
	      struct pval *out)
{
	struct typed_arg *list = arena_array(c->ev->a, struct typed_arg, n + 1);
	struct typed_call call = {
		.t = &c->ev->typing,
		.at = c->span,
		.f = typed_function_find(name),
		.args = list,
		.n = n,
	};
	int depth = 1, deep;
	struct typed x;

	if (!call.f) {
		return call_error(c, -1, "%s() is not known", name);
	}
	for (int i = 0; i < n; i++) {
		bool absent = args == c->args && c->params[i].optional &&
			      args[i].kind == PV_NONE;

		list[i].at = i < c->n ? c->spans[i] : c->span;
		if (absent) {
			continue;
		}
		if (!typed_argument(c->ev, &args[i], &list[i], &deep)) {
			return false;
		}
		depth = deep > depth ? deep : depth;
	}
	return typed_call(&call, &x) &&
	       eval_typed_result(c->ev, c->span, &x, depth, out);
}

/* Elementary functions; the name in the row of te.def says which. For a tensor,
 * the result is that of topi's operator, which applies the function to all
 * elements. "tir.round" rounds half away from zero, as TVM's does. */
bool
expr_math(struct call *c, struct pval *out)
{
	const char *name = c->row->name;

	if (c->args[0].kind == PV_TENSOR) {
		return topi_operator(c->ev, c->span, name, &c->args[0],
				     c->n > 1 && arg_given(c, 1) ? &c->args[1]
								 : NULL,
				     out);
	}
	return expr_function(c, name, c->args, c->n, out);
}

/* Implements operators in the form of functions, such as tir.floordiv(a, b). */
bool
expr_operator(struct call *c, struct pval *out)
{
	return expr_function(c, c->row->name, c->args, c->n, out);
}

/* x.equal(y): the condition x == y. */
bool
expr_equal(struct call *c, struct pval *out)
{
	return eval_expr_binary(c->ev, c->span, EXPR_EQ, &c->self, &c->args[0],
				out);
}

bool
expr_all(struct call *c, struct pval *out)
{
	const struct pv_list *list = c->args[0].u.list;
	struct pval *items = list->data;
	int n = list->n;

	if (n == 1 && (items[0].kind == PV_LIST || items[0].kind == PV_TUPLE)) {
		n = items[0].u.list->n;
		items = items[0].u.list->data;
	}
	return expr_function(c, c->row->name, items, n, out);
}

/* x.astype("int32") for an expression or a tensor. As in TVM, a constant that
 * the type cannot represent is an error; Cast() would convert such a
 * constant. */
bool
expr_astype(struct call *c, struct pval *out)
{
	const struct typing *typing = &c->ev->typing;
	struct typed x, y;
	struct dtype t;
	int depth;

	if (!arg_dtype(c, 0, &t)) {
		return false;
	}
	if (c->self.kind == PV_TENSOR) {
		struct pval type = pv_string(c->ev, dtype_name(t));

		return topi_operator(c->ev, c->span, "cast", &c->self, &type,
				     out);
	}
	return value_typed(c->ev, c->span, &c->self, &x, &depth) &&
	       typed_fits(typing, c->span, x.e, t,
			  "use a number that it holds, or a wider type") &&
	       typed_cast(typing, c->span, &x, t, &y) &&
	       eval_typed_result(c->ev, c->span, &y, depth, out);
}

/* T.float32(0) and the like: a constant of a type. */
bool
expr_typed(struct call *c, struct pval *out)
{
	struct typed x, y;
	struct dtype t;
	int depth;

	return dtype_from_name(c->row->name, &t) &&
	       value_typed(c->ev, c->spans[0], &c->args[0], &x, &depth) &&
	       typed_constant(&c->ev->typing, c->spans[0], t, &x, &y) &&
	       eval_typed_result(c->ev, c->span, &y, depth, out);
}

/* Implements tir.IntImm("int32", 1) and tir.FloatImm("float32", 1.0). */
bool
expr_immediate(struct call *c, struct pval *out)
{
	struct call swapped = *c;
	struct pval args[2] = { c->args[1], c->args[0] };
	struct py_span spans[2] = { c->spans[1], c->spans[0] };

	swapped.args = args;
	swapped.spans = spans;
	return te_make_const(&swapped, out);
}

bool
expr_likely(struct call *c, struct pval *out)
{
	*out = c->args[0];
	return true;
}

bool
expr_reinterpret(struct call *c, struct pval *out)
{
	const struct expr *e;
	struct typed x;
	struct dtype t;
	int depth;

	return arg_dtype(c, 0, &t) && arg_expr(c, 1, &e, &depth) &&
	       typed_intrin(&c->ev->typing, c->spans[1], INTRIN_REINTERPRET, t,
			    &e, 1, &x) &&
	       eval_typed_result(c->ev, c->span, &x, depth, out);
}

/* A call of an external function whose result has type t. The function's name
 * is argument number `name` of c; the function's arguments are the list in the
 * argument after it. Returns false after an error. */
static bool
external_call(struct call *c, struct dtype t, int name, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pv_list *rest = c->args[name + 1].u.list;
	const struct expr **args = arena_exprs(ev->a, rest->n + 1);
	int depth = 1, deep;
	struct typed x;

	if (!arg_expr(c, name, &args[0], &deep)) {
		return false;
	}
	for (int i = 0; i < rest->n; i++) {
		if (!value_expr(ev, c->spans[name + 1], &rest->data[i],
				&args[i + 1], &deep)) {
			return false;
		}
		if (args[i + 1]->kind == EXPR_STRING) {
			return call_error(c, name + 1,
					  "a text cannot be an argument of an "
					  "external function");
		}
		depth = deep > depth ? deep : depth;
	}
	return typed_intrin(&ev->typing, c->spans[name], INTRIN_CALL_EXTERN, t,
			    args, rest->n + 1, &x) &&
	       eval_typed_result(ev, c->span, &x, depth, out);
}

/* Implements call_extern(type, name, *args): a call of an external function.
 * Returns false after an error. */
bool
expr_call_extern(struct call *c, struct pval *out)
{
	struct dtype t;

	return arg_dtype(c, 0, &t) && external_call(c, t, 1, out);
}

/* hardware_intrin(name, *args): the way in which papers on TVM write an
 * instruction. */
bool
expr_hardware_intrin(struct call *c, struct pval *out)
{
	return external_call(c, dtype_of(DT_I32), 0, out);
}

/* -- attributes -- */

bool
expr_dtype(struct call *c, struct pval *out)
{
	const struct expr *e;
	int depth;

	if (c->self.kind == PV_TENSOR) {
		*out = pv_string(c->ev,
				 dtype_name(c->self.u.tensor->buffer->type));
		return true;
	}
	if (c->self.kind == PV_BUFFER) {
		*out = pv_string(c->ev, dtype_name(c->self.u.buffer->type));
		return true;
	}
	if (!value_expr(c->ev, c->span, &c->self, &e, &depth)) {
		return false;
	}
	*out = pv_string(c->ev, dtype_name(e->type));
	return true;
}

bool
expr_value(struct call *c, struct pval *out)
{
	const struct expr *e = c->self.u.expr;

	if (e->kind == EXPR_INT) {
		*out = pv_int(e->u.ival);
	} else if (e->kind == EXPR_FLOAT) {
		*out = pv_float(e->u.fval);
	} else {
		return call_error(c, -1,
				  "the value is known only when the "
				  "function runs");
	}
	return true;
}

bool
expr_name(struct call *c, struct pval *out)
{
	if (c->self.kind == PV_EXPR && c->self.u.expr->kind != EXPR_VAR) {
		return call_error(c, -1, "only variables have a name");
	}
	*out = pv_string(c->ev, c->self.kind == PV_EXPR
					? c->self.u.expr->u.var->name
					: c->self.u.axis->iv.var->name);
	return true;
}
