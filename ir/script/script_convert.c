/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: values and their types. Numbers of Python are weak: as
 * an operand of an arithmetic operator, TVM makes one an int32 or a float32; as
 * an operand of a comparison, a shift, &, | or ^, it gets the other operand's
 * type. */
#include <limits.h>
#include <math.h>

#include "script_read.h"
#include "text.h"

struct script_value
script_value_of(const struct expr *e, bool weak)
{
	return (struct script_value){ .kind = SCRIPT_EXPR,
				      .e = e,
				      .weak = weak };
}

bool
script_is_number(struct dtype t)
{
	return dtype_is_float(t) || dtype_is_int(t);
}

const char *
script_type_name(struct script_reader *r, struct dtype t)
{
	return t.lanes == 1 ? dtype_name(t)
			    : arena_printf(&r->m->arena, "%sx%d", dtype_name(t),
					   t.lanes);
}

/* ---- conversion */

const char *
script_describe(const struct script_value *v)
{
	switch (v->kind) {
	case SCRIPT_NONE:
		return "None";
	case SCRIPT_EXPR:
		return v->e->kind == EXPR_STRING ? "a string" : "a value";
	case SCRIPT_BUFFER:
		return "a whole buffer";
	case SCRIPT_LIST:
		return "a list";
	case SCRIPT_HANDLE:
	case SCRIPT_MEMORY:
		return "a pointer";
	case SCRIPT_THREAD:
		return "a thread axis without extent";
	case SCRIPT_NEW_VAR:
		return "a declaration";
	}
	return "a value";
}

/* Converts a pointer to an expression; any other value that is not an
 * expression is an error. */
bool
script_need_expr(struct script_reader *r, const struct py_node *node,
		 struct script_value *v)
{
	if (v->kind == SCRIPT_HANDLE) {
		v->handle->used = true;
		*v = script_value_of(v->handle->buffer
					     ? v->handle->buffer->data->expr
					     : v->handle->var->expr,
				     false);
	} else if (v->kind == SCRIPT_MEMORY) {
		if (!v->memory->buffer) {
			v->memory->buffer = buffer_new(r->m, &v->memory->spec);
		}
		*v = script_value_of(v->memory->buffer->data->expr, false);
	}
	if (v->kind != SCRIPT_EXPR) {
		return script_fail(r, node,
				   "%s where a number is needed; "
				   "%s",
				   script_describe(v),
				   v->kind == SCRIPT_BUFFER
					   ? "say which element, as in A[i]"
					   : "write an expression");
	}
	return true;
}

bool
script_settle(struct script_reader *r, const struct py_node *node,
	      const struct script_value *v, const struct expr **out)
{
	struct script_value copy = *v;

	if (!script_need_expr(r, node, &copy)) {
		return false;
	}
	*out = copy.e;
	if (copy.weak && copy.e->kind == EXPR_INT &&
	    dtype_class(copy.e->type) == DTC_INT) {
		*out = expr_index(r->m, copy.e->u.ival);
	} else if (copy.weak && copy.e->kind == EXPR_FLOAT) {
		if (!expr_literal_fits(copy.e, dtype_of(DT_F32))) {
			return script_fail(r, node,
					   "a number that float32 cannot hold; "
					   "write T.float64(...)");
		}
		*out = expr_float(r->m, dtype_of(DT_F32), copy.e->u.fval);
	}
	return true;
}

/* Converts a number of Python to type t. */
static bool
convert_weak(struct script_reader *r, const struct py_node *node,
	     const struct expr *e, struct dtype t, const struct expr **out)
{
	bool is_float = e->kind == EXPR_FLOAT;

	if (dtype_is_float(t)) {
		double v = is_float ? e->u.fval
			   : dtype_class(e->type) == DTC_UINT
				   ? (double)(uint64_t)e->u.ival
				   : (double)e->u.ival;

		if (!expr_literal_fits(e, t)) {
			return script_fail(r, node,
					   "a number that %s cannot hold; "
					   "cast the other operand to a wider "
					   "type",
					   script_type_name(r, t));
		}
		*out = expr_float(r->m, t, v);
		return true;
	}
	if (is_float) {
		return script_fail(r, node,
				   "a number with a fraction where "
				   "%s is needed; write a whole number, or "
				   "T.Cast",
				   script_type_name(r, t));
	}
	if (dtype_class(e->type) == DTC_BOOL || !expr_literal_fits(e, t)) {
		if (dtype_class(e->type) == DTC_BOOL && script_is_number(t)) {
			*out = expr_int(r->m, t, e->u.ival);
			return true;
		}
		return script_fail(r, node,
				   "a number that %s cannot hold; "
				   "use a smaller one or a wider type",
				   script_type_name(r, t));
	}
	*out = expr_int(r->m, t, e->u.ival);
	return true;
}

bool
script_convert(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, struct dtype t,
	       const struct expr **out)
{
	struct script_value copy = *v;

	if (!script_need_expr(r, node, &copy)) {
		return false;
	}
	struct dtype from = copy.e->type;

	if (dtype_equal(from, t)) {
		*out = copy.e;
		return true;
	}
	if (copy.weak && copy.e->kind != EXPR_STRING &&
	    (script_is_number(t) || t.kind == DT_BOOL)) {
		return convert_weak(r, node, copy.e, t, out);
	}
	bool whole = dtype_is_int(from) || from.kind == DT_BOOL;
	bool widens = (dtype_is_float(t) && (whole || dtype_is_float(from))) ||
		      (dtype_is_int(t) && whole);

	if ((from.lanes != t.lanes && from.lanes != 1) ||
	    (from.kind != t.kind && !widens)) {
		return script_fail(r, node,
				   "a value of type %s where %s is "
				   "needed; write T.Cast(\"%s\", ...)",
				   script_type_name(r, from),
				   script_type_name(r, t),
				   script_type_name(r, t));
	}
	if ((copy.e->kind == EXPR_INT || copy.e->kind == EXPR_FLOAT) &&
	    !expr_literal_fits(copy.e, t)) {
		return script_fail(r, node,
				   "a number that %s cannot hold; use a "
				   "smaller one or a wider type",
				   script_type_name(r, t));
	}
	*out = expr_cast(r->m, t, copy.e);
	return true;
}

bool
script_expr(struct script_reader *r, const struct py_node *node,
	    const struct expr **out)
{
	struct script_value v;

	return script_eval(r, node, &v) && script_settle(r, node, &v, out);
}

bool
script_expr_as(struct script_reader *r, const struct py_node *node,
	       struct dtype t, const struct expr **out)
{
	struct script_value v;

	return script_eval(r, node, &v) && script_convert(r, node, &v, t, out);
}

bool
script_constant(struct script_reader *r, const struct py_node *node,
		int64_t *out)
{
	struct script_value v;

	if (!script_eval(r, node, &v)) {
		return false;
	}
	if (v.kind != SCRIPT_EXPR || !expr_is_int(v.e, out)) {
		return script_fail(r, node,
				   "no constant; write a whole "
				   "number");
	}
	return true;
}

bool
script_index(struct script_reader *r, const struct py_node *node,
	     const struct expr **out)
{
	if (!script_expr(r, node, out)) {
		return false;
	}
	if (!dtype_is_int((*out)->type) || (*out)->type.lanes != 1) {
		return script_fail(r, node,
				   "a value of type %s where a whole "
				   "number is needed; use an integer",
				   script_type_name(r, (*out)->type));
	}
	return true;
}

bool
script_condition(struct script_reader *r, const struct py_node *node,
		 const struct expr **out)
{
	if (!script_expr(r, node, out)) {
		return false;
	}
	if ((*out)->type.kind != DT_BOOL || (*out)->type.lanes != 1) {
		return script_fail(r, node,
				   "a condition of type %s; compare "
				   "it with something",
				   script_type_name(r, (*out)->type));
	}
	return true;
}

/* ---- operators */

/* The type that both sides take. */
static bool
common_type(struct script_reader *r, const struct py_node *node, struct dtype a,
	    struct dtype b, struct dtype *out)
{
	if (dtype_common(a, b, out)) {
		return true;
	}
	if (a.kind == b.kind) {
		return script_fail(r, node,
				   "vectors of %d and %d lanes; make "
				   "them equally long",
				   a.lanes, b.lanes);
	}
	return script_fail(r, node,
			   "operands of the types %s and %s; cast one of them",
			   script_type_name(r, a), script_type_name(r, b));
}

/* Sets the common type that TVM's rules give to the operands of an operator;
 * here a number of Python is an int32, an int64 or a float32. */
static bool
promoted_type(struct script_reader *r, const struct py_node *node,
	      const struct script_value *a, const struct script_value *b,
	      struct dtype *t)
{
	const struct expr *x, *y;

	return script_settle(r, node, a, &x) && script_settle(r, node, b, &y) &&
	       common_type(r, node, x->type, y->type, t);
}

bool
script_promote(struct script_reader *r, const struct py_node *node,
	       const struct script_value *a, const struct script_value *b,
	       const struct expr **x, const struct expr **y)
{
	struct script_value left = *a, right = *b;
	struct dtype t;

	if (!script_need_expr(r, node, &left) ||
	    !script_need_expr(r, node, &right)) {
		return false;
	}
	if (left.weak == right.weak || left.e->kind == EXPR_STRING ||
	    right.e->kind == EXPR_STRING) {
		return script_unify(r, node, a, b, x, y);
	}
	return promoted_type(r, node, &left, &right, &t) &&
	       script_convert(r, node, &left, t, x) &&
	       script_convert(r, node, &right, t, y);
}

bool
script_unify(struct script_reader *r, const struct py_node *node,
	     const struct script_value *a, const struct script_value *b,
	     const struct expr **x, const struct expr **y)
{
	struct script_value left = *a, right = *b;
	struct dtype t;

	if (!script_need_expr(r, node, &left) ||
	    !script_need_expr(r, node, &right)) {
		return false;
	}
	if (left.weak && right.weak) {
		bool is_float = left.e->kind == EXPR_FLOAT ||
				right.e->kind == EXPR_FLOAT;

		if (!script_settle(r, node, &left, x) ||
		    !script_settle(r, node, &right, y)) {
			return false;
		}
		if (is_float) {
			t = dtype_of(DT_F32);
		} else if (!common_type(r, node, (*x)->type, (*y)->type, &t)) {
			return false;
		}
	} else if (left.weak || right.weak) {
		const struct expr *weak = left.weak ? left.e : right.e;
		struct dtype other = left.weak ? right.e->type : left.e->type;

		if (weak->kind == EXPR_STRING ||
		    (weak->kind == EXPR_FLOAT && !dtype_is_float(other)) ||
		    weak->type.kind == DT_BOOL || other.kind == DT_BOOL ||
		    (weak->kind == EXPR_INT && dtype_is_int(other) &&
		     !expr_literal_fits(weak, other))) {
			if (!script_settle(r, node, &left, x) ||
			    !script_settle(r, node, &right, y) ||
			    !common_type(r, node, (*x)->type, (*y)->type, &t)) {
				return false;
			}
			left.weak &= weak->kind == EXPR_INT;
			right.weak &= weak->kind == EXPR_INT;
		} else {
			t = other;
		}
	} else if (!common_type(r, node, left.e->type, right.e->type, &t)) {
		return false;
	}
	if (t.kind == DT_STRING || t.kind == DT_VOID) {
		return script_fail(r, node,
				   "an operator between strings; use "
				   "numbers");
	}
	return script_convert(r, node, &left, t, x) &&
	       script_convert(r, node, &right, t, y);
}
