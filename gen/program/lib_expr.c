/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on expressions: mathematical functions, conditionals, casts, calls
 * of external functions. */
#include <math.h>

#include "eval.h"
#include "program_parts.h"
#include "text.h"

static bool
deep_result(struct call *c, const struct expr *e, int depth, struct pval *out)
{
	*out = pv_expr(e, depth);
	return eval_expr_fits(c->ev, c->span, e, depth);
}

/* Elementary functions, selected by the name in the row. "tir.round" rounds
 * half away from zero, as TVM's does. On whole tensors, the operator of
 * topi. */
bool
expr_math(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	const struct expr *e, *y = NULL;
	enum intrin op;
	int depth;

	if (c->args[0].kind == PV_TENSOR) {
		return topi_operator(c->ev, c->span, name, &c->args[0],
				     c->n > 1 && arg_given(c, 1) ? &c->args[1]
								 : NULL,
				     out);
	}
	if (strcmp(name, "power") == 0) {
		name = "pow";
	}
	if (!arg_expr(c, 0, &e, &depth)) {
		return false;
	}
	if (!intrin_from_name(name, &op)) {
		return call_error(c, -1, "%s() is not known", name);
	}
	if (dtype_class(e->type) == DTC_STRING ||
	    dtype_class(e->type) == DTC_HANDLE ||
	    dtype_class(e->type) == DTC_BOOL) {
		return value_kind_error(c, 0, "a number");
	}
	if (!dtype_is_float(e->type) && op != INTRIN_ABS &&
	    op != INTRIN_POPCOUNT) {
		if (op == INTRIN_FLOOR || op == INTRIN_CEIL ||
		    op == INTRIN_ROUND || op == INTRIN_TRUNC ||
		    op == INTRIN_NEARBYINT) {
			*out = pv_expr(e, depth);
			return true;
		}
		if (intrin_arity(op) != 2) {
			if (e->kind != EXPR_INT) {
				return call_error(c, 0,
						  "%s() of %s; cast it "
						  "to a float type first",
						  name, dtype_name(e->type));
			}
			e = expr_float(c->ev->m, dtype_of(DT_F32),
				       (double)e->u.ival);
		}
	}
	if (intrin_arity(op) == 1) {
		return deep_result(c, expr_call1(c->ev->m, op, e), depth + 1,
				   out);
	}
	if (!eval_operands(c->ev, c->span, &c->args[0], &c->args[1], &e, &y,
			   &depth)) {
		return false;
	}
	if (!dtype_is_float(e->type) && op != INTRIN_POW) {
		return call_error(c, 0,
				  "%s() of %s; cast it to a float type "
				  "first",
				  name, dtype_name(e->type));
	}
	return deep_result(c, expr_call2(c->ev->m, op, e, y), depth + 1, out);
}

static bool
power(struct call *c, const struct pval *x, const struct pval *y,
      struct pval *out)
{
	const struct expr *a, *b;
	int depth;

	return eval_operands(c->ev, c->span, x, y, &a, &b, &depth) &&
	       deep_result(c, expr_call2(c->ev->m, INTRIN_POW, a, b), depth + 1,
			   out);
}

bool
expr_named_operator(struct call *c, const char *name, const struct pval *x,
		    const struct pval *y, struct pval *out)
{
	static const struct {
		const char *name;
		enum expr_kind kind;
	} kinds[] = {
		{ "min", EXPR_MIN },
		{ "max", EXPR_MAX },
		{ "floordiv", EXPR_FLOORDIV },
		{ "floormod", EXPR_FLOORMOD },
		{ "indexdiv", EXPR_FLOORDIV },
		{ "indexmod", EXPR_FLOORMOD },
		{ "div", EXPR_DIV },
		{ "truncdiv", EXPR_DIV },
		{ "truncmod", EXPR_TRUNCMOD },
		{ "Add", EXPR_ADD },
		{ "Sub", EXPR_SUB },
		{ "Mul", EXPR_MUL },
		{ "LT", EXPR_LT },
		{ "LE", EXPR_LE },
		{ "GT", EXPR_GT },
		{ "GE", EXPR_GE },
		{ "EQ", EXPR_EQ },
		{ "NE", EXPR_NE },
		{ "And", EXPR_AND },
		{ "Or", EXPR_OR },
	};
	static const struct {
		const char *name;
		enum intrin op;
	} bits[] = {
		{ "bitwise_and", INTRIN_BITAND },
		{ "bitwise_or", INTRIN_BITOR },
		{ "bitwise_xor", INTRIN_BITXOR },
		{ "shift_left", INTRIN_SHL },
		{ "shift_right", INTRIN_SHR },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(name, kinds[i].name) == 0) {
			return eval_expr_binary(c->ev, c->span, kinds[i].kind,
						x, y, out);
		}
	}
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		if (strcmp(name, bits[i].name) == 0) {
			return expr_bit_operator(c->ev, c->span, bits[i].op, x,
						 y, out);
		}
	}
	if (strcmp(name, "power") == 0) {
		return power(c, x, y, out);
	}
	return call_error(c, -1, "%s() is not known", name);
}

/* Operators as functions: tir.floordiv(a, b). */
bool
expr_operator(struct call *c, struct pval *out)
{
	return expr_named_operator(c, c->row->name, &c->args[0], &c->args[1],
				   out);
}

bool
expr_all(struct call *c, struct pval *out)
{
	const struct pv_list *list = c->args[0].u.list;
	bool all = strcmp(c->row->name, "all") == 0;
	struct pval *items = list->data;
	int n = list->n;

	if (n == 1 && (items[0].kind == PV_LIST || items[0].kind == PV_TUPLE)) {
		n = items[0].u.list->n;
		items = items[0].u.list->data;
	}
	*out = pv_expr(expr_bool(c->ev->m, all), 1);
	for (int i = 0; i < n; i++) {
		struct pval before = *out;

		if (!eval_expr_binary(c->ev, c->span, all ? EXPR_AND : EXPR_OR,
				      &before, &items[i], out)) {
			return false;
		}
	}
	return true;
}

/* if_then_else, Select, select: (condition, then, else). */
bool
expr_choice(struct call *c, struct pval *out)
{
	const struct expr *e[3];
	int depth, deep;
	struct pval sum;

	if (!arg_expr(c, 0, &e[0], &depth) ||
	    !eval_operands(c->ev, c->span, &c->args[1], &c->args[2], &e[1],
			   &e[2], &deep)) {
		return false;
	}
	depth = deep > depth ? deep : depth;
	if (dtype_class(e[0]->type) != DTC_BOOL) {
		if (!dtype_is_int(e[0]->type)) {
			return call_error(c, 0,
					  "a condition is needed, not "
					  "%s",
					  dtype_name(e[0]->type));
		}
		sum = pv_int(0);
		if (!eval_expr_binary(c->ev, c->spans[0], EXPR_NE, &c->args[0],
				      &sum, &sum)) {
			return false;
		}
		e[0] = sum.u.expr;
	}
	if (dtype_class(e[1]->type) == DTC_STRING) {
		return call_error(c, 1, "a choice of texts");
	}
	return deep_result(c,
			   strcmp(c->row->name, "if_then_else") == 0
				   ? expr_if(c->ev->m, e[0], e[1], e[2])
				   : expr_select(c->ev->m, e[0], e[1], e[2]),
			   depth + 1, out);
}

/* astype() refuses constants that the type cannot represent, as TVM does;
 * Cast() converts them. */
static bool
cast(struct call *c, const struct pval *v, struct py_span at, struct dtype t,
     bool exact, struct pval *out)
{
	struct module *m = c->ev->m;
	const struct expr *e;
	int depth;

	if (!value_expr(c->ev, at, v, &e, &depth)) {
		return false;
	}
	if (dtype_class(e->type) == DTC_STRING ||
	    dtype_class(e->type) == DTC_HANDLE ||
	    dtype_class(t) == DTC_STRING || dtype_class(t) == DTC_HANDLE ||
	    dtype_class(t) == DTC_VOID || t.lanes != e->type.lanes) {
		return eval_error(c->ev, at, "%s cannot be cast to %s",
				  dtype_name(e->type), dtype_name(t));
	}
	if (exact && !eval_constant_fits(c->ev, at, e, t,
					 "use a number that it holds, or a "
					 "wider type")) {
		return false;
	}
	return deep_result(c, dtype_equal(t, e->type) ? e : expr_cast(m, t, e),
			   depth + 1, out);
}

/* x.astype("int32"), of an expression or a whole tensor */
bool
expr_astype(struct call *c, struct pval *out)
{
	struct dtype t;

	if (!arg_dtype(c, 0, &t)) {
		return false;
	}
	if (c->self.kind == PV_TENSOR) {
		struct pval type = pv_string(c->ev, dtype_name(t));

		return topi_operator(c->ev, c->span, "cast", &c->self, &type,
				     out);
	}
	return cast(c, &c->self, c->span, t, true, out);
}

/* tir.Cast("int32", x) */
bool
expr_cast_call(struct call *c, struct pval *out)
{
	struct dtype t;

	return arg_dtype(c, 0, &t) &&
	       cast(c, &c->args[1], c->spans[1], t, false, out);
}

/* tir.IntImm("int32", 1), FloatImm */
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
expr_limit(struct call *c, struct pval *out)
{
	struct module *m = c->ev->m;
	struct dtype t;
	bool max = strcmp(c->row->name, "min_value") != 0;

	if (!arg_dtype(c, 0, &t)) {
		return false;
	}
	if (dtype_is_float(t)) {
		double v = max ? dtype_highest(t) : dtype_lowest(t);

		if (strcmp(c->row->name, "infinity") == 0) {
			v = (double)INFINITY;
		}
		*out = pv_expr(expr_float(m, t, v), 1);
	} else if (dtype_is_int(t) || dtype_class(t) == DTC_BOOL) {
		*out = pv_expr(expr_int(m, t,
					max ? (int64_t)dtype_max_int(t)
					    : dtype_min_int(t)),
			       1);
	} else {
		return call_error(c, 0, "%s has no limits", dtype_name(t));
	}
	return true;
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
	struct dtype t;
	int depth;

	if (!arg_dtype(c, 0, &t) || !arg_expr(c, 1, &e, &depth)) {
		return false;
	}
	if (dtype_bytes(t) != dtype_bytes(e->type) ||
	    dtype_class(t) == DTC_STRING ||
	    dtype_class(e->type) == DTC_STRING ||
	    dtype_class(e->type) == DTC_HANDLE ||
	    dtype_class(t) == DTC_HANDLE) {
		return call_error(c, 1, "%s and %s differ in size",
				  dtype_name(t), dtype_name(e->type));
	}
	return deep_result(c, expr_call(c->ev->m, INTRIN_REINTERPRET, t, &e, 1),
			   depth + 1, out);
}

/* call_extern(type, name, *args) */
bool
expr_call_extern(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pv_list *rest = c->args[2].u.list;
	const struct expr **args = arena_array(ev->a, const struct expr *,
					       rest->n + 1);
	const char *name;
	struct dtype t;
	int depth = 1;

	if (!arg_dtype(c, 0, &t) || !arg_text(c, 1, &name)) {
		return false;
	}
	if (!text_is_identifier(name, "")) {
		return call_error(c, 1, "\"%.40s\" is no name of a function",
				  name);
	}
	args[0] = expr_string(ev->m, name);
	for (int i = 0; i < rest->n; i++) {
		int deep;

		if (!value_expr(ev, c->spans[2], &rest->data[i], &args[i + 1],
				&deep)) {
			return false;
		}
		if (args[i + 1]->kind == EXPR_STRING) {
			return call_error(c, 2,
					  "texts are not passed to "
					  "functions outside");
		}
		depth = deep > depth ? deep : depth;
	}
	return deep_result(c,
			   expr_call(ev->m, INTRIN_CALL_EXTERN, t, args,
				     rest->n + 1),
			   depth + 1, out);
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
