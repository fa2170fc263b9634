/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of tir on typed values: operators by their names, intrinsics of one
 * type, casts, limits of types. */
#include <math.h>

#include "expr_build.h"
#include "typed.h"

/* ---- intrinsics */

/* Does the intrinsic op, all of whose arguments have one type, accept type
 * t? */
static bool
accepts(enum intrin op, struct dtype t)
{
	bool is_int = dtype_is_int(t), is_bool = t.kind == DT_BOOL;

	switch (op) {
	case INTRIN_BITAND:
	case INTRIN_BITOR:
	case INTRIN_BITXOR:
	case INTRIN_BITNOT:
		return is_int || is_bool;
	case INTRIN_SHL:
	case INTRIN_SHR:
	case INTRIN_POPCOUNT:
		return is_int;
	case INTRIN_MUL_HIGH:
	case INTRIN_SCALE_FIXED:
		return t.kind == DT_I32;
	case INTRIN_LIKELY:
		return is_bool;
	case INTRIN_ABS:
	case INTRIN_POW:
	case INTRIN_FLOOR:
	case INTRIN_CEIL:
	case INTRIN_ROUND:
	case INTRIN_TRUNC:
	case INTRIN_NEARBYINT:
		return is_int || dtype_is_float(t);
	default:
		return dtype_is_float(t);
	}
}

/* Is op of an integer the integer itself? */
static bool
rounds(enum intrin op)
{
	return op == INTRIN_FLOOR || op == INTRIN_CEIL || op == INTRIN_ROUND ||
	       op == INTRIN_TRUNC || op == INTRIN_NEARBYINT;
}

/* Converts all n arguments to their common type. */
static bool
one_type(const struct typing *t, struct py_span at, const struct typed *args,
	 int n, const struct expr **list)
{
	struct typed common = args[0];
	const struct expr *unused;

	for (int i = 1; i < n; i++) {
		if (!typed_promote(t, at, &common, &args[i], &list[0],
				   &unused)) {
			return false;
		}
		common = (struct typed){ list[0], common.weak && args[i].weak };
	}
	if (!typed_settle(t, at, &common, &list[0])) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		if (!typed_convert(t, at, &args[i], list[0]->type, &list[i])) {
			return false;
		}
	}
	return true;
}

static bool
call_intrin(const struct typing *t, struct py_span at, enum intrin op,
	    const struct typed *args, struct typed *out)
{
	int n = intrin_arity(op);
	const struct expr **list = arena_array(&t->m->arena,
					       const struct expr *, n + 1);
	struct typed single;

	if (!one_type(t, at, args, n, list)) {
		return false;
	}
	if (n == 1 && list[0]->kind == EXPR_INT &&
	    dtype_is_int(list[0]->type) && !accepts(op, list[0]->type) &&
	    accepts(op, dtype_of(DT_F32))) { /* of a constant: as a float */
		single = (struct typed){ list[0], true };
		if (!typed_convert(t, at, &single, dtype_of(DT_F32),
				   &list[0])) {
			return false;
		}
	}
	if (!accepts(op, list[0]->type)) {
		return py_error(t->m, t->src, at,
				"%s() does not work on %s; cast the argument "
				"first",
				intrin_name(op),
				typed_name(t->m, list[0]->type));
	}
	if (rounds(op) && dtype_is_int(list[0]->type)) {
		*out = typed_expr(list[0]);
		return true;
	}
	struct dtype result = expr_call_type(op, list[0]->type, list[0]->type);

	*out = typed_expr(expr_call(t->m, op, result, list, n));
	return true;
}

/* ---- by name */

enum form { OF_KIND, OF_BITS, OF_UNARY, OF_CHOICE };

/* Functions that are operators, with their numbers of operands: as the nodes of
 * a kind, the operators of bits, "not", and select or if (value: does it guard
 * what is not chosen?). All other functions are intrinsics. */
static const struct row {
	const char *name;
	enum form form;
	int value, arity;
} rows[] = {
	{ "min", OF_KIND, EXPR_MIN, 2 },
	{ "max", OF_KIND, EXPR_MAX, 2 },
	{ "floordiv", OF_KIND, EXPR_FLOORDIV, 2 },
	{ "floormod", OF_KIND, EXPR_FLOORMOD, 2 },
	{ "truncdiv", OF_KIND, EXPR_DIV, 2 },
	{ "truncmod", OF_KIND, EXPR_TRUNCMOD, 2 },
	{ "div", OF_KIND, EXPR_DIV, 2 },
	{ "indexdiv", OF_KIND, EXPR_FLOORDIV, 2 },
	{ "indexmod", OF_KIND, EXPR_FLOORMOD, 2 },
	{ "Add", OF_KIND, EXPR_ADD, 2 },
	{ "Sub", OF_KIND, EXPR_SUB, 2 },
	{ "Mul", OF_KIND, EXPR_MUL, 2 },
	{ "Div", OF_KIND, EXPR_DIV, 2 },
	{ "Mod", OF_KIND, EXPR_TRUNCMOD, 2 },
	{ "FloorDiv", OF_KIND, EXPR_FLOORDIV, 2 },
	{ "FloorMod", OF_KIND, EXPR_FLOORMOD, 2 },
	{ "Min", OF_KIND, EXPR_MIN, 2 },
	{ "Max", OF_KIND, EXPR_MAX, 2 },
	{ "EQ", OF_KIND, EXPR_EQ, 2 },
	{ "NE", OF_KIND, EXPR_NE, 2 },
	{ "LT", OF_KIND, EXPR_LT, 2 },
	{ "LE", OF_KIND, EXPR_LE, 2 },
	{ "GT", OF_KIND, EXPR_GT, 2 },
	{ "GE", OF_KIND, EXPR_GE, 2 },
	{ "And", OF_KIND, EXPR_AND, 2 },
	{ "Or", OF_KIND, EXPR_OR, 2 },
	{ "bitwise_and", OF_BITS, PY_OP_BITAND, 2 },
	{ "bitwise_or", OF_BITS, PY_OP_BITOR, 2 },
	{ "bitwise_xor", OF_BITS, PY_OP_BITXOR, 2 },
	{ "shift_left", OF_BITS, PY_OP_SHL, 2 },
	{ "shift_right", OF_BITS, PY_OP_SHR, 2 },
	{ "Not", OF_UNARY, PY_OP_NOT, 1 },
	{ "Select", OF_CHOICE, false, 3 },
	{ "select", OF_CHOICE, false, 3 },
	{ "if_then_else", OF_CHOICE, true, 3 },
};

static const struct row *
find_row(const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

/* The intrinsic of the name, if all its arguments have one type. */
static bool
find_intrin(const char *name, enum intrin *out)
{
	return intrin_from_name(strcmp(name, "power") == 0 ? "pow" : name,
				out) &&
	       intrin_result(*out) < RESULT_VOID;
}

int
typed_function_arity(const char *name)
{
	const struct row *row = find_row(name);
	enum intrin op;

	return row ? row->arity : find_intrin(name, &op) ? intrin_arity(op) : 0;
}

const char *
typed_function_name(int i)
{
	return (size_t)i < sizeof rows / sizeof *rows ? rows[i].name : NULL;
}

static bool
call_row(const struct typing *t, struct py_span at, const struct row *row,
	 const struct typed *args, struct typed *out)
{
	switch (row->form) {
	case OF_KIND:
		return typed_kind(t, at, (enum expr_kind)row->value, &args[0],
				  &args[1], out);
	case OF_BITS:
		return typed_bits(t, at, (enum py_operator)row->value, &args[0],
				  &args[1], out);
	case OF_UNARY:
		return typed_unary(t, at, (enum py_operator)row->value,
				   &args[0], out);
	case OF_CHOICE:
		return typed_choice(t, at, row->value, &args[0], &args[1],
				    &args[2], out);
	}
	return false;
}

bool
typed_call(const struct typing *t, struct py_span at, const char *name,
	   const struct typed *args, struct typed *out)
{
	const struct row *row = find_row(name);
	enum intrin op;
	bool ok = row ? call_row(t, at, row, args, out)
		      : find_intrin(name, &op) &&
				  call_intrin(t, at, op, args, out);

	out->weak = false;
	return ok;
}

/* ---- types */

static bool
is_numeric(struct dtype t)
{
	return dtype_is_int(t) || dtype_is_float(t) || t.kind == DT_BOOL;
}

bool
typed_cast(const struct typing *t, struct py_span at, const struct typed *x,
	   struct dtype to, struct typed *out)
{
	const struct expr *e;

	if (!typed_settle(t, at, x, &e)) {
		return false;
	}
	if (to.lanes == 1) {
		to.lanes = e->type.lanes;
	}
	if ((!(is_numeric(to) && is_numeric(e->type)) &&
	     !dtype_equal(to, e->type)) ||
	    (to.lanes != e->type.lanes && e->type.lanes != 1)) {
		return py_error(t->m, t->src, at,
				"%s cannot be cast to %s; cast numbers to "
				"types of numbers",
				typed_name(t->m, e->type),
				typed_name(t->m, to));
	}
	*out = typed_expr(expr_cast(t->m, to, e));
	return true;
}

bool
typed_limit(const struct typing *t, struct py_span at, const char *which,
	    struct dtype of, struct typed *out)
{
	bool infinite = strcmp(which, "infinity") == 0;
	bool low = strcmp(which, "min_value") == 0;

	if (dtype_is_float(of)) {
		*out = typed_expr(expr_float(t->m, of,
					     infinite ? (double)INFINITY
					     : low    ? dtype_lowest(of)
						      : dtype_highest(of)));
		return true;
	}
	if (infinite || !is_numeric(of)) {
		return py_error(t->m, t->src, at,
				"%s has no such value; use a type of numbers",
				typed_name(t->m, of));
	}
	*out = typed_expr(
		expr_int(t->m, of,
			 low ? dtype_min_int(of) : (int64_t)dtype_max_int(of)));
	return true;
}
