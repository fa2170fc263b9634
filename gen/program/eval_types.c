/* SPDX-License-Identifier: Apache-2.0 */
/* The types of operands, by TVM's rules: an int of Python is an int32 (an
 * int64, if it needs the bits), a float of Python a float32; then both operands
 * are cast to their common type. So X[i] - 128 of uint8 is computed in int32.
 * Shifts, &, | and ^ are different: an int operand takes the type of the other
 * one. A cast never changes the value of a constant: it is an error if the new
 * type cannot represent it. */
#include "eval.h"

/* A constant as it would be written in a program. */
static const char *
constant_text(struct eval *ev, const struct expr *e)
{
	if (e->kind == EXPR_FLOAT) {
		return arena_printf(ev->a, "%g", e->u.fval);
	}
	return dtype_class(e->type) == DTC_UINT
		       ? arena_printf(ev->a, "%llu",
				      (unsigned long long)e->u.ival)
		       : arena_printf(ev->a, "%lld", (long long)e->u.ival);
}

static bool
is_constant(const struct expr *e)
{
	return e->kind == EXPR_INT || e->kind == EXPR_FLOAT;
}

bool
eval_constant_fits(struct eval *ev, struct py_span at, const struct expr *e,
		   struct dtype t, const char *remedy)
{
	return !is_constant(e) || expr_literal_fits(e, t) ||
	       eval_error(ev, at, "%s does not fit %s; %s",
			  constant_text(ev, e), dtype_name(t), remedy);
}

/* Casts an operand to type `to`; v is the value in the program, or NULL. A
 * float of Python is rounded only once, to the final type. */
static bool
cast_operand(struct eval *ev, struct py_span at, const struct pval *v,
	     struct dtype to, const struct expr **e)
{
	struct dtype one = to;

	one.lanes = (*e)->type.lanes;
	if (v && v->kind == PV_FLOAT && dtype_is_float(to)) {
		*e = expr_float(ev->m, dtype_of(DT_F64), v->u.fval);
	}
	if (!eval_constant_fits(ev, at, *e, one,
				"cast the other operand to a wider type")) {
		return false;
	}
	*e = expr_cast(ev->m, to, *e);
	return true;
}

static bool
match(struct eval *ev, struct py_span at, const struct pval *v,
      const struct expr **x, const struct pval *w, const struct expr **y)
{
	struct dtype a = (*x)->type, b = (*y)->type, to;

	if (dtype_equal(a, b)) {
		return true;
	}
	if (!dtype_common(a, b, &to)) {
		return eval_error(ev, at,
				  "%s and %s do not go together; "
				  "cast one of them",
				  dtype_name(a), dtype_name(b));
	}
	return cast_operand(ev, at, v, to, x) && cast_operand(ev, at, w, to, y);
}

bool
eval_match_types(struct eval *ev, struct py_span at, const struct expr **x,
		 const struct expr **y)
{
	return match(ev, at, NULL, x, NULL, y);
}

/* Two values as expressions; *depth: the larger depth. */
static bool
both_exprs(struct eval *ev, struct py_span at, const struct pval *x,
	   const struct pval *y, const struct expr **a, const struct expr **b,
	   int *depth)
{
	int deep;

	if (!value_expr(ev, at, x, a, depth) ||
	    !value_expr(ev, at, y, b, &deep)) {
		return false;
	}
	*depth = deep > *depth ? deep : *depth;
	return true;
}

bool
eval_operands(struct eval *ev, struct py_span at, const struct pval *x,
	      const struct pval *y, const struct expr **a,
	      const struct expr **b, int *depth)
{
	return both_exprs(ev, at, x, y, a, b, depth) &&
	       match(ev, at, x, a, y, b);
}

/* Does v take the type of the other operand? Ints of 32 bits do. */
static bool
follows(const struct pval *v, const struct expr *other)
{
	return v->kind == PV_INT && v->u.ival >= INT32_MIN &&
	       v->u.ival <= INT32_MAX && dtype_is_int(other->type);
}

bool
eval_bit_operands(struct eval *ev, struct py_span at, const struct pval *x,
		  const struct pval *y, const struct expr **a,
		  const struct expr **b, int *depth)
{
	if (!both_exprs(ev, at, x, y, a, b, depth)) {
		return false;
	}
	if (follows(x, *b)) {
		return cast_operand(ev, at, x, (*b)->type, a);
	}
	if (follows(y, *a)) {
		return cast_operand(ev, at, y, (*a)->type, b);
	}
	return match(ev, at, x, a, y, b);
}
