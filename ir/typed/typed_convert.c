/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between the types of operands. A conversion never changes the
 * value of a constant: a constant that the new type cannot represent is an
 * error. */
#include "typed.h"

const struct typing_rules typing_of_scripts = {
	.as_written = true,
	.compare_follows = true,
	.module = "T.",
	.float64 = "T.float64(...)",
};

const struct typing_rules typing_of_programs = {
	.module = "tvm.tir.",
	.float64 = "tvm.tir.const(..., \"float64\")",
};

/* ---- values */

struct typed
typed_expr(const struct expr *e)
{
	return (struct typed){ .e = e };
}

struct typed
typed_number(struct module *m, const struct py_number *n)
{
	struct typed x = { .weak = true };

	switch (n->kind) {
	case PY_NUMBER_BOOL:
		x.e = expr_bool(m, n->i);
		break;
	case PY_NUMBER_INT:
		x.e = expr_int(m, dtype_of(DT_I64), n->i);
		break;
	case PY_NUMBER_FLOAT:
		x.e = expr_float(m, dtype_of(DT_F64), n->f);
		break;
	}
	return x;
}

bool
typed_is_number(const struct typed *x, struct py_number *out)
{
	if (x->weak && x->e->kind == EXPR_FLOAT) {
		*out = py_float(x->e->u.fval);
		return true;
	}
	if (!x->weak || x->e->kind != EXPR_INT ||
	    dtype_class(x->e->type) == DTC_UINT) {
		return false;
	}
	*out = dtype_class(x->e->type) == DTC_BOOL ? py_bool(x->e->u.ival != 0)
						   : py_int(x->e->u.ival);
	return true;
}

const char *
typed_name(struct module *m, struct dtype t)
{
	return t.lanes == 1 ? dtype_name(t)
			    : arena_printf(&m->arena, "%sx%d", dtype_name(t),
					   t.lanes);
}

/* ---- constants */

/* The text of a constant as a program would write it, for messages. */
static const char *
constant_text(struct module *m, const struct expr *e)
{
	if (e->kind == EXPR_FLOAT) {
		return arena_printf(&m->arena, "%g", e->u.fval);
	}
	return dtype_class(e->type) == DTC_UINT
		       ? arena_printf(&m->arena, "%llu",
				      (unsigned long long)e->u.ival)
		       : arena_printf(&m->arena, "%lld", (long long)e->u.ival);
}

bool
typed_fits(const struct typing *t, struct py_span at, const struct expr *e,
	   struct dtype to, const char *remedy)
{
	return (e->kind != EXPR_INT && e->kind != EXPR_FLOAT) ||
	       expr_literal_fits(e, to) ||
	       py_error(t->m, t->src, at, "%s does not fit %s; %s",
			constant_text(t->m, e), dtype_name(to), remedy);
}

bool
typed_settle(const struct typing *t, struct py_span at, const struct typed *x,
	     const struct expr **out)
{
	struct dtype single = dtype_of(DT_F32);

	*out = x->e;
	if (!x->weak) {
		return true;
	}
	if (x->e->kind == EXPR_INT && dtype_class(x->e->type) == DTC_INT) {
		*out = expr_index(t->m, x->e->u.ival);
	} else if (x->e->kind == EXPR_FLOAT) {
		if (!typed_fits(t, at, x->e, single,
				arena_printf(&t->m->arena, "write %s",
					     t->rules->float64))) {
			return false;
		}
		*out = expr_float(t->m, single, x->e->u.fval);
	}
	return true;
}

/* Sets *out to e, a number of Python, as a value of type `to`; false after an
 * error if the type does not hold the number. */
static bool
convert_weak(const struct typing *t, struct py_span at, const struct expr *e,
	     struct dtype to, const struct expr **out)
{
	const char *remedy = "use a smaller number, or a wider type";

	if (e->kind == EXPR_FLOAT && !dtype_is_float(to)) {
		return py_error(t->m, t->src, at,
				"a number with a fraction where %s is needed; "
				"write a whole number, or %sCast",
				typed_name(t->m, to), t->rules->module);
	}
	if (!typed_fits(t, at, e, to, remedy)) {
		return false;
	}
	if (dtype_class(e->type) == DTC_BOOL && to.kind != DT_BOOL) {
		e = expr_int(t->m, dtype_of(DT_I64), e->u.ival);
	}
	*out = expr_cast(t->m, to, e);
	return true;
}

bool
typed_convert(const struct typing *t, struct py_span at, const struct typed *x,
	      struct dtype to, const struct expr **out)
{
	struct dtype from = x->e->type;

	if (dtype_equal(from, to)) {
		*out = x->e;
		return true;
	}
	if (x->weak && x->e->kind != EXPR_STRING && dtype_is_number(to)) {
		return convert_weak(t, at, x->e, to, out);
	}
	bool whole = dtype_is_int(from) || from.kind == DT_BOOL;
	bool widens = (dtype_is_float(to) && (whole || dtype_is_float(from))) ||
		      (dtype_is_int(to) && whole);

	if ((from.lanes != to.lanes && from.lanes != 1) ||
	    (from.kind != to.kind && !widens)) {
		return py_error(t->m, t->src, at,
				"a value of type %s where %s is needed; write "
				"%sCast(\"%s\", ...)",
				typed_name(t->m, from), typed_name(t->m, to),
				t->rules->module, typed_name(t->m, to));
	}
	if (!typed_fits(t, at, x->e, to,
			"use a smaller number, or a wider type")) {
		return false;
	}
	*out = expr_cast(t->m, to, x->e);
	return true;
}

/* ---- two operands */

/* Sets *out to the type to which operands of types a and b are both converted;
 * false after an error if there is no such type. */
static bool
common_type(const struct typing *t, struct py_span at, struct dtype a,
	    struct dtype b, struct dtype *out)
{
	if (dtype_common(a, b, out)) {
		return true;
	}
	if (a.kind == b.kind) {
		return py_error(t->m, t->src, at,
				"vectors of %d and %d lanes; make them "
				"equally long",
				a.lanes, b.lanes);
	}
	return py_error(t->m, t->src, at,
			"%s and %s do not go together; cast one of them",
			typed_name(t->m, a), typed_name(t->m, b));
}

/* Sets *out to the operand x in the common type. False after an error if x is a
 * constant that the common type, which the other operand decided, does not
 * hold. */
static bool
convert_operand(const struct typing *t, struct py_span at,
		const struct typed *x, struct dtype to, const struct expr **out)
{
	return typed_fits(t, at, x->e, to,
			  "cast the other operand to a wider type") &&
	       typed_convert(t, at, x, to, out);
}

bool
typed_promote(const struct typing *t, struct py_span at, const struct typed *x,
	      const struct typed *y, const struct expr **a,
	      const struct expr **b)
{
	struct dtype to;

	return typed_settle(t, at, x, a) && typed_settle(t, at, y, b) &&
	       common_type(t, at, (*a)->type, (*b)->type, &to) &&
	       convert_operand(t, at, x, to, a) &&
	       convert_operand(t, at, y, to, b);
}

/* Does a number of Python, e, take the type of the other operand, `other`? */
static bool
takes(const struct expr *e, struct dtype other)
{
	if (e->kind == EXPR_FLOAT) {
		return dtype_is_float(other);
	}
	return e->kind == EXPR_INT && e->type.kind != DT_BOOL &&
	       (dtype_is_float(other) ||
		(dtype_is_int(other) && expr_literal_fits(e, other)));
}

bool
typed_follow(const struct typing *t, struct py_span at, const struct typed *x,
	     const struct typed *y, const struct expr **a,
	     const struct expr **b)
{
	struct dtype to;

	if (x->weak == y->weak ||
	    !takes(x->weak ? x->e : y->e, x->weak ? y->e->type : x->e->type)) {
		return typed_promote(t, at, x, y, a, b);
	}
	to = x->weak ? y->e->type : x->e->type;
	return convert_operand(t, at, x, to, a) &&
	       convert_operand(t, at, y, to, b);
}
