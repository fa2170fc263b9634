/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on typed values. */
#include "expr_build.h"
#include "typed.h"

/* The expression kind and the intrinsic that each operator becomes on typed
 * values, from columns of py_operator.def. */
static const struct {
	enum expr_kind kind;
	enum intrin intrin;
} operators[] = {
#define OPERATOR(id, text, group, kind, intrin)                                \
	{ EXPR_##kind, INTRIN_##intrin },
#include "py_operator.def"
#undef OPERATOR
};

static bool
is_bool(const struct expr *e)
{
	return e->type.kind == DT_BOOL;
}

static bool
is_number(const struct expr *e)
{
	return dtype_is_int(e->type) || dtype_is_float(e->type);
}

/* ---- expressions of a kind */

/* Checks that the operator `kind` accepts operands of the type of a; false
 * after an error at `at`. */
static bool
check_kind(const struct typing *t, struct py_span at, enum expr_kind kind,
	   const struct expr *a)
{
	bool logical = kind == EXPR_AND || kind == EXPR_OR;
	bool equality = kind == EXPR_EQ || kind == EXPR_NE;
	bool selects = kind == EXPR_MIN || kind == EXPR_MAX;

	if (logical) {
		return is_bool(a) ||
		       py_error(t->m, t->src, at,
				"a condition is needed, not %s; compare it "
				"with something",
				typed_name(t->m, a->type));
	}
	if (is_number(a) || (is_bool(a) && (equality || selects)) ||
	    (equality && a->type.kind == DT_HANDLE && t->rules->as_written)) {
		return true;
	}
	return py_error(t->m, t->src, at, "there is no arithmetic on %s; %s",
			typed_name(t->m, a->type),
			is_bool(a) ? "cast it to an integer" : "use numbers");
}

/* A quotient or remainder of floats, expressed by floor(). */
static const struct expr *
floor_form(struct module *m, enum expr_kind kind, const struct expr *a,
	   const struct expr *b)
{
	const struct expr *floor = expr_call1(m, INTRIN_FLOOR,
					      expr_div(m, a, b));

	return kind == EXPR_FLOORDIV ? floor
				     : expr_sub(m, a, expr_mul(m, floor, b));
}

static bool
is_division(enum expr_kind kind)
{
	return kind == EXPR_DIV || kind == EXPR_TRUNCMOD ||
	       kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
}

bool
typed_kind(const struct typing *t, struct py_span at, enum expr_kind kind,
	   const struct typed *x, const struct typed *y, struct typed *out)
{
	bool as_written = t->rules->as_written;
	bool follows = kind >= EXPR_EQ && t->rules->compare_follows;
	const struct expr *a, *b;

	if (!(follows ? typed_follow : typed_promote)(t, at, x, y, &a, &b)) {
		return false;
	}
	if (!as_written && is_bool(a) &&
	    (kind < EXPR_EQ || (kind > EXPR_NE && kind < EXPR_AND))) {
		a = expr_cast(t->m, dtype_of(DT_I32), a);
		b = expr_cast(t->m, dtype_of(DT_I32), b);
	}
	if (!check_kind(t, at, kind, a)) {
		return false;
	}
	if (!as_written && is_division(kind) && expr_is_value(b, 0)) {
		return py_error(t->m, t->src, at,
				"a division by zero; divide by another "
				"number");
	}
	out->weak = x->weak && y->weak;
	if (dtype_is_float(a->type) && kind == EXPR_TRUNCMOD) {
		out->e = expr_call2(t->m, INTRIN_FMOD, a, b);
	} else if (dtype_is_float(a->type) && !as_written &&
		   (kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD)) {
		out->e = floor_form(t->m, kind, a, b);
	} else {
		out->e = expr_binary(t->m, kind, a, b);
	}
	return true;
}

/* ---- operators of Python */

static bool
numbers(const struct typing *t, struct py_span at, enum py_operator op,
	const struct typed *x, const struct typed *y, struct typed *out)
{
	if (!typed_kind(t, at, operators[op].kind, x, y, out)) {
		return false;
	}
	return op != PY_OP_DIV || dtype_is_float(out->e->type) ||
	       py_error(t->m, t->src, at,
			"'/' between integers could round either way; write "
			"// or %struncdiv",
			t->rules->module);
}

/* Does x fit in 32 bits, if it is a number of Python? Else reports an error;
 * TVM would drop the upper bits. */
static bool
is_short(const struct typing *t, struct py_span at, const struct typed *x)
{
	return !x->weak || x->e->kind != EXPR_INT ||
	       typed_fits(t, at, x->e, dtype_of(DT_I32),
			  "give it a type: TVM cuts numbers beside this "
			  "operator to 32 bits");
}

bool
typed_bits(const struct typing *t, struct py_span at, enum py_operator op,
	   const struct typed *x, const struct typed *y, struct typed *out)
{
	bool shifts = operators[op].kind == EXPR_KIND_COUNT;
	const struct expr *a, *b;

	if (!is_short(t, at, x) || !is_short(t, at, y) ||
	    !typed_follow(t, at, x, y, &a, &b)) {
		return false;
	}
	if (is_bool(a) && !shifts && !t->rules->as_written) {
		return typed_kind(t, at, operators[op].kind, x, y, out);
	}
	if (!dtype_is_int(a->type) && !(is_bool(a) && t->rules->as_written)) {
		return py_error(t->m, t->src, at,
				"'%s' between values of type %s; use integers",
				py_operator_text(op),
				typed_name(t->m, a->type));
	}
	*out = typed_expr(expr_call2(t->m, operators[op].intrin, a, b));
	return true;
}

static bool
power(const struct typing *t, struct py_span at, const struct typed *x,
      const struct typed *y, struct typed *out)
{
	const struct expr *a, *b;

	if (!t->rules->as_written) {
		return py_error(t->m, t->src, at,
				"** is not defined for expressions; use "
				"%spower",
				t->rules->module);
	}
	if (!typed_promote(t, at, x, y, &a, &b)) {
		return false;
	}
	if (!dtype_is_float(a->type)) {
		return py_error(t->m, t->src, at,
				"'**' between values of type %s; cast to a "
				"float type first",
				typed_name(t->m, a->type));
	}
	*out = typed_expr(expr_call2(t->m, INTRIN_POW, a, b));
	return true;
}

bool
typed_binary(const struct typing *t, struct py_span at, enum py_operator op,
	     const struct typed *x, const struct typed *y, struct typed *out)
{
	enum py_operator_group group = py_operator_group(op);
	struct py_number a, b, n;

	if (group <= PY_OPS_ORDER && typed_is_number(x, &a) &&
	    typed_is_number(y, &b)) {
		const char *error = py_number_binary(op, &a, &b, &n);

		*out = typed_number(t->m, &n);
		return !error || py_error(t->m, t->src, at, "%s", error);
	}
	switch (group) {
	case PY_OPS_NUMBERS:
		return numbers(t, at, op, x, y, out);
	case PY_OPS_POWERS:
		return power(t, at, x, y, out);
	case PY_OPS_BITS:
		return typed_bits(t, at, op, x, y, out);
	case PY_OPS_ORDER:
	case PY_OPS_LOGIC:
		return typed_kind(t, at, operators[op].kind, x, y, out);
	default:
		return py_error(t->m, t->src, at,
				"'%s' is not defined for expressions; compare "
				"with == or <",
				py_operator_text(op));
	}
}

bool
typed_unary(const struct typing *t, struct py_span at, enum py_operator op,
	    const struct typed *x, struct typed *out)
{
	const struct expr *e = x->e;
	bool inverts = op == PY_OP_INVERT, negates = op == PY_OP_NOT;
	struct py_number n;

	if (!negates && typed_is_number(x, &n)) {
		const char *error = py_number_unary(op, &n, &n);

		*out = typed_number(t->m, &n);
		return !error || py_error(t->m, t->src, at, "%s", error);
	}
	if (negates   ? !is_bool(e)
	    : inverts ? !is_bool(e) && !dtype_is_int(e->type)
		      : !is_number(e)) {
		return py_error(t->m, t->src, at,
				"'%s' of a value of type %s; %s",
				py_operator_text(op), typed_name(t->m, e->type),
				negates ? "compare it with something first"
					: "use a number");
	}
	out->weak = x->weak && negates;
	out->e = op == PY_OP_ADD   ? e
		 : op == PY_OP_SUB ? expr_neg(t->m, e)
		 : is_bool(e)      ? expr_not(t->m, e)
				   : expr_call1(t->m, INTRIN_BITNOT, e);
	return true;
}

/* ---- choices */

/* Sets *out to a condition as a bool; in programs of TE, an integer that is not
 * zero is true. False after an error. */
static bool
condition_of(const struct typing *t, struct py_span at, const struct typed *x,
	     const struct expr **out)
{
	struct py_number zero = py_int(0);
	struct typed other = typed_number(t->m, &zero), truth;

	if (!typed_settle(t, at, x, out)) {
		return false;
	}
	if (is_bool(*out)) {
		return true;
	}
	if (t->rules->as_written || !dtype_is_int((*out)->type)) {
		return py_error(t->m, t->src, at,
				"a condition is needed, not %s; compare it "
				"with something",
				typed_name(t->m, (*out)->type));
	}
	if (!typed_kind(t, at, EXPR_NE, x, &other, &truth)) {
		return false;
	}
	*out = truth.e;
	return true;
}

bool
typed_choice(const struct typing *t, struct py_span at, bool guards,
	     const struct typed *condition, const struct typed *x,
	     const struct typed *y, struct typed *out)
{
	const struct expr *c, *a, *b;
	int lanes;

	if (!condition_of(t, at, condition, &c) ||
	    !typed_promote(t, at, x, y, &a, &b)) {
		return false;
	}
	lanes = c->type.lanes;
	if (lanes != 1 &&
	    (guards || (a->type.lanes != 1 && a->type.lanes != lanes))) {
		return py_error(t->m, t->src, at,
				"a condition of %d lanes; give one of a "
				"single value%s",
				lanes,
				guards ? "" : ", or of the lanes chosen");
	}
	if (!is_number(a) && !is_bool(a) &&
	    !(a->type.kind == DT_HANDLE && t->rules->as_written)) {
		return py_error(t->m, t->src, at,
				"a choice of values of type %s; use numbers",
				typed_name(t->m, a->type));
	}
	/* A choice between equal constants stays a choice: the type in which it
	 * is stored need not hold the constant. */
	if (a->kind == EXPR_INT || a->kind == EXPR_FLOAT) {
		*out = typed_expr(expr_choice(t->m,
					      guards ? EXPR_IF : EXPR_SELECT, c,
					      a, b));
		return true;
	}
	*out = typed_expr(guards ? expr_if(t->m, c, a, b)
				 : expr_select(t->m, c, a, b));
	return true;
}
