/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of tir that compute a value: one table, with TVM's parameters,
 * for TVMScript and programs. */
#include <math.h>

#include "expr_build.h"
#include "py_call.h"
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

/* Does op round a float to an integer? Then it leaves a value that is already
 * an integer unchanged. */
static bool
rounds(enum intrin op)
{
	return op == INTRIN_FLOOR || op == INTRIN_CEIL || op == INTRIN_ROUND ||
	       op == INTRIN_TRUNC || op == INTRIN_NEARBYINT;
}

/* Converts the n arguments to their common type. False after an error. */
static bool
one_type(const struct typed_call *c, int n, const struct expr **list)
{
	struct typed common = c->args[0].x;
	const struct expr *unused;

	for (int i = 1; i < n; i++) {
		const struct typed *x = &c->args[i].x;

		if (!typed_promote(c->t, c->at, &common, x, &list[0],
				   &unused)) {
			return false;
		}
		common = (struct typed){ list[0], common.weak && x->weak };
	}
	if (!typed_settle(c->t, c->at, &common, &list[0])) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		if (!typed_convert(c->t, c->args[i].at, &c->args[i].x,
				   list[0]->type, &list[i])) {
			return false;
		}
	}
	return true;
}

static bool
of_intrin(const struct typed_call *c, struct typed *out)
{
	const struct typing *t = c->t;
	enum intrin op = (enum intrin)c->f->value;
	int n = intrin_arity(op);
	const struct expr **list = arena_exprs(&t->m->arena, n + 1);
	struct typed single;

	if (!one_type(c, n, list)) {
		return false;
	}
	if (n == 1 && list[0]->kind == EXPR_INT &&
	    dtype_is_int(list[0]->type) && !accepts(op, list[0]->type) &&
	    accepts(op, dtype_of(DT_F32))) { /* a constant integer may be
					      * converted to a float */
		single = (struct typed){ list[0], true };
		if (!typed_convert(t, c->at, &single, dtype_of(DT_F32),
				   &list[0])) {
			return false;
		}
	}
	if (!accepts(op, list[0]->type)) {
		return py_error(t->m, t->src, c->at,
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

/* ---- types */

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
	if ((!(dtype_is_number(to) && dtype_is_number(e->type)) &&
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
typed_dtype(const struct typing *t, struct py_span at, const char *name,
	    struct dtype *out)
{
	const char *names[DT_COUNT];

	if (strcmp(name, "int") == 0 || strcmp(name, "float") == 0) {
		*out = dtype_of(name[0] == 'i' ? DT_I32 : DT_F32);
		return true;
	}
	if (dtype_from_name(name, out)) {
		return true;
	}
	for (int i = 0; i < DT_COUNT; i++) {
		names[i] = dtype_name(dtype_of((enum dtype_kind)i));
	}
	return py_error(t->m, t->src, at, "'%s' is not a data type%s", name,
			py_did_you_mean(&t->m->arena, name, names, DT_COUNT,
					"use one such as float32 or int8x16"));
}

/* The type that argument i names. */
static bool
type_of(const struct typed_call *c, int i, struct dtype *out)
{
	const struct expr *e = c->args[i].x.e;

	return e->kind == EXPR_STRING
		       ? typed_dtype(c->t, c->args[i].at, e->u.text, out)
		       : py_error(c->t->m, c->t->src, c->args[i].at,
				  "no type; write one, such as \"float32\"");
}

bool
typed_constant(const struct typing *t, struct py_span at, struct dtype to,
	       const struct typed *x, struct typed *out)
{
	double special;

	if (!dtype_is_number(to)) {
		return py_error(t->m, t->src, at,
				"no value can be made a %s; give a number a "
				"numeric type",
				typed_name(t->m, to));
	}
	if (!x->weak) {
		return typed_cast(t, at, x, to, out);
	}
	if (x->e->kind != EXPR_STRING) {
		*out = typed_expr(NULL);
		return typed_convert(t, at, x, to, &out->e);
	}
	special = strcmp(x->e->u.text, "nan") == 0    ? (double)NAN
		  : strcmp(x->e->u.text, "inf") == 0  ? (double)INFINITY
		  : strcmp(x->e->u.text, "-inf") == 0 ? -(double)INFINITY
						      : 0;
	if (!dtype_is_float(to) || special == 0) {
		return py_error(t->m, t->src, at,
				"a string that is not a number; \"nan\", "
				"\"inf\" and \"-inf\" are the only ones that "
				"stand for numbers");
	}
	*out = typed_expr(expr_float(t->m, to, special));
	return true;
}

/* A cast. typed_function.value: the index of the argument that names the
 * type. */
static bool
of_cast(const struct typed_call *c, struct typed *out)
{
	int type = c->f->value;
	struct dtype to;

	return type_of(c, type, &to) &&
	       typed_cast(c->t, c->at, &c->args[!type].x, to, out);
}

enum limit { LIMIT_LOW, LIMIT_HIGH, LIMIT_INFINITY };

static bool
of_limit(const struct typed_call *c, struct typed *out)
{
	struct module *m = c->t->m;
	struct dtype t;
	bool low = c->f->value == LIMIT_LOW;

	if (!type_of(c, 0, &t)) {
		return false;
	}
	if (dtype_is_float(t)) {
		*out = typed_expr(expr_float(m, t,
					     c->f->value == LIMIT_INFINITY
						     ? (double)INFINITY
					     : low ? dtype_lowest(t)
						   : dtype_highest(t)));
		return true;
	}
	if (c->f->value == LIMIT_INFINITY || !dtype_is_number(t)) {
		return py_error(m, c->t->src, c->args[0].at,
				"%s has no such value; use a type of numbers",
				typed_name(m, t));
	}
	*out = typed_expr(
		expr_int(m, t,
			 low ? dtype_min_int(t) : (int64_t)dtype_max_int(t)));
	return true;
}

/* ---- operators as functions */

static bool
of_kind(const struct typed_call *c, struct typed *out)
{
	return typed_kind(c->t, c->at, (enum expr_kind)c->f->value,
			  &c->args[0].x, &c->args[1].x, out);
}

static bool
of_bits(const struct typed_call *c, struct typed *out)
{
	return typed_bits(c->t, c->at, (enum py_operator)c->f->value,
			  &c->args[0].x, &c->args[1].x, out);
}

static bool
of_not(const struct typed_call *c, struct typed *out)
{
	return typed_unary(c->t, c->at, PY_OP_NOT, &c->args[0].x, out);
}

/* Chooses one of two values by a condition. typed_function.value of the
 * function: 1 if the value that is not chosen must not be computed, else 0. */
static bool
of_choice(const struct typed_call *c, struct typed *out)
{
	return typed_choice(c->t, c->at, c->f->value, &c->args[0].x,
			    &c->args[1].x, &c->args[2].x, out);
}

static bool
of_fold(const struct typed_call *c, struct typed *out)
{
	enum expr_kind kind = (enum expr_kind)c->f->value;

	if (c->n == 0) {
		return py_error(c->t->m, c->t->src, c->at,
				"no arguments; give conditions");
	}
	*out = typed_expr(expr_bool(c->t->m, kind == EXPR_AND));
	for (int i = 0; i < c->n; i++) {
		struct typed before = *out;

		if (!typed_kind(c->t, c->at, kind, &before, &c->args[i].x,
				out)) {
			return false;
		}
	}
	return true;
}

/* (a + b - 1) // b */
static bool
of_ceildiv(const struct typed_call *c, struct typed *out)
{
	const struct typed *b = &c->args[1].x;
	struct py_number number = py_int(1);
	struct typed one = typed_number(c->t->m, &number), sum, up;
	struct typed a = typed_expr(NULL);

	return typed_settle(c->t, c->args[0].at, &c->args[0].x, &a.e) &&
	       typed_binary(c->t, c->at, PY_OP_ADD, &a, b, &sum) &&
	       typed_binary(c->t, c->at, PY_OP_SUB, &sum, &one, &up) &&
	       typed_binary(c->t, c->at, PY_OP_FLOORDIV, &up, b, out);
}

/* The number of leading zero bits, an int32: the bits of the type, less the
 * bits from the highest 1 on. For 0, the bits of the type. */
static bool
of_clz(const struct typed_call *c, struct typed *out)
{
	struct module *m = c->t->m;
	const struct expr *x, *ones;
	struct dtype t;
	int bits;

	if (!typed_settle(c->t, c->args[0].at, &c->args[0].x, &x)) {
		return false;
	}
	if (!dtype_is_int(x->type) || x->type.lanes != 1) {
		return py_error(m, c->t->src, c->at,
				"clz() does not work on %s; cast the argument "
				"first",
				typed_name(m, x->type));
	}
	bits = dtype_bits(x->type);
	t = dtype_of(bits > 32 ? DT_U64 : DT_U32);
	x = expr_cast(m, t, x);
	if (bits < 32) {
		/* a negative number: without the bits of the sign extension */
		const struct expr *both[2] = {
			x, expr_int(m, t, (INT64_C(1) << bits) - 1)
		};

		x = expr_call(m, INTRIN_BITAND, t, both, 2);
	}
	for (int step = 1; step < bits; step *= 2) {
		const struct expr *shifted[2] = { x, expr_int(m, t, step) };
		const struct expr *both[2] = { x, expr_call(m, INTRIN_SHR, t,
							    shifted, 2) };

		x = expr_call(m, INTRIN_BITOR, t, both, 2);
	}
	ones = expr_cast(m, dtype_of(DT_I32),
			 expr_call(m, INTRIN_POPCOUNT, t, &x, 1));
	*out = typed_expr(expr_sub(m, expr_i32(m, bits), ones));
	return true;
}

/* How many times longer than the shortest ones the processor's vectors are: 1. What
 * is computed with vectors of this length is right on each processor. */
static bool
of_vscale(const struct typed_call *c, struct typed *out)
{
	*out = typed_expr(expr_i32(c->t->m, 1));
	return true;
}

/* The product of an integer of 32 bits and a multiplier with q fraction bits,
 * times 2^(left - right), rounded half up: (x * 2^left * y + 2^(q + right - 1))
 * >> (q + right), in 64 bits. typed_function.value: is each shift a single
 * argument, for all channels? */
static bool
of_fixed_point(const struct typed_call *c, struct typed *out)
{
	struct module *m = c->t->m;
	struct dtype wide = dtype_of(DT_I64);
	const struct expr *arg[7], *zero = expr_int(m, wide, 0), *half[2];
	const struct expr *left, *right, *one = expr_int(m, wide, 1), *x[2];
	int n = c->f->value ? 5 : 4;
	int64_t bits;

	for (int i = 0; i < n; i++) {
		if (!typed_settle(c->t, c->args[i].at, &c->args[i].x,
				  &arg[i])) {
			return false;
		}
		if (!dtype_is_int(arg[i]->type) || arg[i]->type.lanes != 1) {
			return py_error(m, c->t->src, c->args[i].at,
					"%s() does not work on %s; cast the "
					"argument first",
					c->f->name,
					typed_name(m, arg[i]->type));
		}
		arg[i] = expr_cast(m, wide, arg[i]);
	}
	left = n == 5 ? arg[2] : expr_max(m, arg[3], zero);
	right = n == 5 ? arg[3] : expr_max(m, expr_sub(m, zero, arg[3]), zero);
	right = expr_add(m, arg[n == 5 ? 4 : 2], right);
	x[0] = arg[0];
	x[1] = left;
	if (!expr_is_value(left, 0)) {
		x[0] = expr_call(m, INTRIN_SHL, wide, x, 2);
	}
	x[0] = expr_mul(m, x[0], arg[1]);
	half[0] = one;
	half[1] = expr_sub(m, right, one);
	x[0] = expr_add(m, x[0],
			expr_is_int(half[1], &bits) && bits >= 0 && bits < 62
				? expr_int(m, wide, INT64_C(1) << bits)
				: expr_call(m, INTRIN_SHL, wide, half, 2));
	x[1] = right;
	*out = typed_expr(expr_cast(m, dtype_of(DT_I32),
				    expr_call(m, INTRIN_SHR, wide, x, 2)));
	return true;
}

/* ---- the table */

#define BINARY(name, kind)                                                     \
	{                                                                      \
		name, "a, b, span?", of_kind, EXPR_##kind                      \
	}
#define BITS(name, op)                                                         \
	{                                                                      \
		name, "a, b, span?", of_bits, PY_OP_##op                       \
	}

static const struct typed_function functions[] = {
	BINARY("min", MIN),
	BINARY("max", MAX),
	BINARY("floordiv", FLOORDIV),
	BINARY("floormod", FLOORMOD),
	BINARY("truncdiv", DIV),
	BINARY("truncmod", TRUNCMOD),
	BINARY("div", DIV),
	BINARY("indexdiv", FLOORDIV),
	BINARY("indexmod", FLOORMOD),
	BINARY("Add", ADD),
	BINARY("Sub", SUB),
	BINARY("Mul", MUL),
	BINARY("Div", DIV),
	BINARY("Mod", TRUNCMOD),
	BINARY("FloorDiv", FLOORDIV),
	BINARY("FloorMod", FLOORMOD),
	BINARY("Min", MIN),
	BINARY("Max", MAX),
	BINARY("EQ", EQ),
	BINARY("NE", NE),
	BINARY("LT", LT),
	BINARY("LE", LE),
	BINARY("GT", GT),
	BINARY("GE", GE),
	BINARY("And", AND),
	BINARY("Or", OR),
	BITS("bitwise_and", BITAND),
	BITS("bitwise_or", BITOR),
	BITS("bitwise_xor", BITXOR),
	BITS("shift_left", SHL),
	BITS("shift_right", SHR),
	{ "Not", "a, span?", of_not, 0 },
	{ "Select", "condition, true_value, false_value, span?", of_choice,
	  false },
	{ "select", "cond, t, f, span?", of_choice, false },
	{ "if_then_else", "cond, t, f, span?", of_choice, true },
	{ "all", "*args", of_fold, EXPR_AND },
	{ "any", "*args", of_fold, EXPR_OR },
	{ "clz", "x, span?", of_clz, 0 },
	{ "q_multiply_shift", "x, y, q, s, span?", of_fixed_point, false },
	{ "q_multiply_shift_per_axis",
	  "x, y, ls, rs, q, is_lshift_required, is_rshift_required, span?",
	  of_fixed_point, true },
	{ "ceildiv", "lhs, rhs, span?", of_ceildiv, 0 },
	{ "vscale", "", of_vscale, 0 },
	{ "Cast", "dtype, value, span?", of_cast, 0 },
	{ "cast", "value, dtype, span?", of_cast, 1 },
	{ "min_value", "dtype, span?", of_limit, LIMIT_LOW },
	{ "max_value", "dtype, span?", of_limit, LIMIT_HIGH },
	{ "infinity", "dtype, span?", of_limit, LIMIT_INFINITY },
	{ "power", "x, y, span?", of_intrin, INTRIN_POW },
};

/* A row for every intrinsic. Only rows of intrinsics whose arguments have one
 * type are used. */
#define PARAMS(n) ((n) == 1 ? "x" : (n) == 2 ? "x, y" : "x, y, z")

static const struct typed_function intrins[] = {
#define INTRIN(id, name, n, effect, result)                                    \
	{ name, PARAMS(n), of_intrin, INTRIN_##id },
#include "intrin.def"
#undef INTRIN
};

const struct typed_function *
typed_function_find(const char *name)
{
	enum intrin op;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (strcmp(functions[i].name, name) == 0) {
			return &functions[i];
		}
	}
	return intrin_from_name(name, &op) && intrin_result(op) < RESULT_VOID
		       ? &intrins[op]
		       : NULL;
}

const char *
typed_function_name(int i)
{
	return (size_t)i < sizeof functions / sizeof *functions
		       ? functions[i].name
		       : NULL;
}

bool
typed_call(const struct typed_call *c, struct typed *out)
{
	if (!c->f->fn(c, out)) {
		return false;
	}
	out->weak = false;
	return true;
}
