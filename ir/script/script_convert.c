/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: the values of names and expressions, and their
 * conversion to expressions of the IR. */
#include "script_read.h"

struct script_value
script_value_of(const struct expr *e, bool weak)
{
	return (struct script_value){ .kind = SCRIPT_EXPR,
				      .e = e,
				      .weak = weak };
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
	case SCRIPT_FUNCTION:
		return "a function";
	}
	return "a value";
}

/* Converts a pointer to an expression; any other value that is not an
 * expression is an error. False after an error. */
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
script_operand(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, struct typed *out)
{
	struct script_value copy = *v;

	if (!script_need_expr(r, node, &copy)) {
		return false;
	}
	*out = (struct typed){ copy.e, copy.weak };
	return true;
}

bool
script_settle(struct script_reader *r, const struct py_node *node,
	      const struct script_value *v, const struct expr **out)
{
	struct typed x;

	return script_operand(r, node, v, &x) &&
	       typed_settle(&r->typing, node->span, &x, out);
}

bool
script_convert(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, struct dtype t,
	       const struct expr **out)
{
	struct typed x;

	return script_operand(r, node, v, &x) &&
	       typed_convert(&r->typing, node->span, &x, t, out);
}

bool
script_unify(struct script_reader *r, const struct py_node *node,
	     const struct script_value *a, const struct script_value *b,
	     const struct expr **x, const struct expr **y)
{
	struct typed left, right;

	return script_operand(r, node, a, &left) &&
	       script_operand(r, node, b, &right) &&
	       typed_follow(&r->typing, node->span, &left, &right, x, y);
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
script_cast(struct script_reader *r, const struct py_node *node,
	    const struct expr *e, struct dtype t, const struct expr **out)
{
	const struct typed x = typed_expr(e);
	struct typed y;

	if (!typed_cast(&r->typing, node->span, &x, t, &y)) {
		return false;
	}
	*out = y.e;
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
				   typed_name(r->m, (*out)->type));
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
	if (dtype_is_int((*out)->type) && (*out)->type.lanes == 1) {
		const struct expr *zero = expr_int(r->m, (*out)->type, 0);

		*out = expr_not(r->m, expr_eq(r->m, *out, zero));
	}
	if ((*out)->type.kind != DT_BOOL || (*out)->type.lanes != 1) {
		return script_fail(r, node,
				   "a condition of type %s; compare "
				   "it with something",
				   typed_name(r->m, (*out)->type));
	}
	return true;
}
