/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of expressions: arity, types and lanes of every node, variables
 * and buffers in scope. */
#include "text.h"
#include "verify.h"

static bool
same_type(const struct expr *a, const struct expr *b)
{
	return dtype_equal(a->type, b->type);
}

static bool
is_bool(const struct expr *e)
{
	return e->type.kind == DT_BOOL;
}

void
verify_buffer(struct verifier *v, const struct buffer *b)
{
	if (*pointer_map_value(&v->marks, b) == 0) {
		verify_fail(v,
			    arena_printf(&v->arena,
					 "buffer '%s' is used outside its "
					 "scope",
					 b->name),
			    NULL);
	}
}

static void
want_integer(struct verifier *v, const struct expr *e)
{
	if (!dtype_is_int(e->type)) {
		verify_fail(v, "an index is not an integer", e);
	}
}

void
verify_index(struct verifier *v, const struct expr *e)
{
	if (!e) {
		verify_fail(v, "an index or extent is missing", NULL);
		return;
	}
	verify_expr(v, e);
	want_integer(v, e);
	if (e->type.lanes != 1) {
		verify_fail(v, "a vector is used as a scalar", e);
	}
}

void
verify_condition(struct verifier *v, const struct expr *e)
{
	verify_expr(v, e);
	if (!is_bool(e) || e->type.lanes != 1) {
		verify_fail(v, "a condition is not a bool", e);
	}
}

void
verify_element(struct verifier *v, const struct buffer *b,
	       const struct expr *const *index, const struct expr *value)
{
	int lanes = 1;

	for (int d = 0; d < b->ndim; d++) {
		verify_expr(v, index[d]);
		want_integer(v, index[d]);
		if (index[d]->type.lanes > 1) {
			if (lanes > 1 && lanes != index[d]->type.lanes) {
				verify_fail(v,
					    "indices have different "
					    "numbers of lanes",
					    index[d]);
			}
			lanes = index[d]->type.lanes;
		}
	}
	if (value->type.kind != b->type.kind ||
	    value->type.lanes != b->type.lanes * lanes) {
		verify_fail(v,
			    arena_printf(&v->arena,
					 "an element of '%s' gets a value of "
					 "a different type",
					 b->name),
			    value);
	}
}

static void
verify_literal(struct verifier *v, const struct expr *e)
{
	enum dtype_class class = dtype_class(e->type);
	bool fits;

	if (e->type.lanes != 1) {
		verify_fail(v, "a literal has several lanes", e);
	}
	if (e->kind == EXPR_FLOAT) {
		fits = class == DTC_FLOAT;
	} else if (class == DTC_UINT) {
		fits = (uint64_t)e->u.ival <= dtype_max_int(e->type);
	} else if (class == DTC_BOOL) {
		fits = e->u.ival == 0 || e->u.ival == 1;
	} else {
		fits = class == DTC_INT &&
		       e->u.ival >= dtype_min_int(e->type) &&
		       e->u.ival <= (int64_t)dtype_max_int(e->type);
	}
	if (!fits) {
		verify_fail(v, "a literal's type cannot represent its value",
			    e);
	}
}

static void
verify_binary(struct verifier *v, const struct expr *e)
{
	const struct expr *a = e->args[0];
	bool compares = e->kind >= EXPR_EQ && e->kind <= EXPR_GE;
	bool logical = e->kind == EXPR_AND || e->kind == EXPR_OR;
	bool numeric = dtype_is_float(a->type) || dtype_is_int(a->type);

	if (!same_type(a, e->args[1])) {
		verify_fail(v, "operands have different types", e);
	} else if (compares) {
		if (!is_bool(e) || e->type.lanes != a->type.lanes) {
			verify_fail(v, "a comparison's type is not bool", e);
		}
	} else if (!same_type(e, a)) {
		verify_fail(v,
			    "a result and its operands have different "
			    "types",
			    e);
	} else if (logical ? !is_bool(e) : !numeric) {
		bool selects = e->kind == EXPR_MIN || e->kind == EXPR_MAX;

		if (!(selects && is_bool(e))) {
			verify_fail(v,
				    "an operator is applied to a type "
				    "without it",
				    e);
		}
	}
}

static void
verify_choice(struct verifier *v, const struct expr *e)
{
	const struct expr *c = e->args[0];

	if (!is_bool(c) ||
	    (c->type.lanes != 1 && c->type.lanes != e->type.lanes)) {
		verify_fail(v, "a select's condition is not a bool", e);
	}
	if (!same_type(e, e->args[1]) || !same_type(e, e->args[2])) {
		verify_fail(v, "a select's operands have different types", e);
	}
}

static void
verify_call(struct verifier *v, const struct expr *e)
{
	if ((unsigned)e->u.intrin >= INTRIN_COUNT) {
		verify_fail(v, "an unknown intrinsic", NULL);
		return;
	}
	int arity = intrin_arity(e->u.intrin);

	if (arity >= 0 ? e->n_args != arity : e->n_args < 1) {
		verify_fail(v, "a call has the wrong number of arguments", e);
		return;
	}
	switch (intrin_result(e->u.intrin)) {
	case RESULT_SAME:
		for (int i = 0; i < e->n_args; i++) {
			if (!same_type(e, e->args[i])) {
				verify_fail(v, "a call's arguments mix types",
					    e);
				break;
			}
		}
		break;
	case RESULT_BOOL:
		if (!is_bool(e) || e->type.lanes != e->args[0]->type.lanes) {
			verify_fail(v, "a test that is not a bool", e);
		}
		break;
	case RESULT_VOID:
		if (e->type.kind != DT_VOID) {
			verify_fail(v, "a value of what has none", e);
		}
		break;
	default:
		break;
	}
	if (e->u.intrin == INTRIN_PREFETCH &&
	    (e->args[0]->kind != EXPR_CALL ||
	     !intrin_is_address(e->args[0]->u.intrin))) {
		verify_fail(v, "a prefetch of a value that is not an address",
			    e);
	}
	if (e->u.intrin == INTRIN_ASYNC_WAIT &&
	    (e->n_args == 0 || e->args[0]->kind != EXPR_INT)) {
		verify_fail(v, "a wait without a number of groups", e);
	}
	for (int i = 1; e->u.intrin == INTRIN_ASYNC_WAIT && i < e->n_args;
	     i++) {
		if (e->args[i]->kind != EXPR_CALL ||
		    !intrin_is_address(e->args[i]->u.intrin)) {
			verify_fail(v,
				    "a wait for a value that is not an address",
				    e);
		}
	}
	if (intrin_is_address(e->u.intrin) && e->args[0]->kind != EXPR_LOAD) {
		verify_fail(v, "the address of a value that is not an element",
			    e);
	}
	if ((e->u.intrin == INTRIN_CALL_FUNC ||
	     e->u.intrin == INTRIN_CALL_EXTERN ||
	     e->u.intrin == INTRIN_STORAGE_SYNC ||
	     e->u.intrin == INTRIN_LAUNCH) &&
	    (e->n_args == 0 || e->args[0]->kind != EXPR_STRING)) {
		verify_fail(v, "a call without a name", e);
	} else if ((e->u.intrin == INTRIN_CALL_FUNC ||
		    e->u.intrin == INTRIN_CALL_EXTERN ||
		    e->u.intrin == INTRIN_LAUNCH) &&
		   !text_is_identifier(e->args[0]->u.text, "")) {
		verify_fail(v, "a call without a function's name", e);
	}
	if (e->u.intrin == INTRIN_CALL_INTRIN &&
	    (e->n_args == 0 || e->args[0]->kind != EXPR_STRING ||
	     !text_is_identifier(e->args[0]->u.text, ".:"))) {
		verify_fail(v, "an instruction without a name", e);
	}
	if (e->u.intrin == INTRIN_SHUFFLE_XOR &&
	    (!same_type(e, e->args[0]) || e->type.lanes != 1 ||
	     !dtype_is_int(e->args[1]->type))) {
		verify_fail(v, "another thread's value of another type", e);
	}
	if (e->u.intrin == INTRIN_COPY_BOX &&
	    copy_box_rank(e->args, e->n_args) == 0) {
		verify_fail(v, "a copy whose arguments are not a box", e);
	}
	if (e->u.intrin == INTRIN_LAUNCH && e->n_args < 7) {
		verify_fail(v, "a launch without extents", e);
	}
	if (e->u.intrin == INTRIN_NIBBLE &&
	    (!dtype_is_int(e->type) || !dtype_is_int(e->args[0]->type) ||
	     dtype_is_signed(e->args[0]->type) ||
	     !dtype_is_int(e->args[1]->type) ||
	     e->type.lanes != e->args[0]->type.lanes ||
	     e->type.lanes != e->args[1]->type.lanes)) {
		verify_fail(
			v,
			"four bits of a value that is not an unsigned integer",
			e);
	}
	if (e->u.intrin == INTRIN_TO_INT &&
	    (!dtype_is_int(e->type) || !dtype_is_float(e->args[0]->type))) {
		verify_fail(v, "float_to_int of other types", e);
	}
}

static void
verify_vector(struct verifier *v, const struct expr *e)
{
	const struct expr *a = e->args[0];

	if (a->type.lanes != 1 || e->type.lanes < 2 ||
	    a->type.kind != e->type.kind ||
	    (e->kind == EXPR_RAMP &&
	     (!dtype_is_int(e->type) || !same_type(a, e->args[1])))) {
		verify_fail(v,
			    "a vector that is not made of its element's "
			    "type",
			    e);
	}
}

static void
verify_node(struct verifier *v, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_INT:
	case EXPR_FLOAT:
		verify_literal(v, e);
		break;
	case EXPR_STRING:
		break;
	case EXPR_VAR:
		if (*pointer_map_value(&v->marks, e->u.var) == 0) {
			verify_fail(v, "a variable used outside of its scope",
				    e);
		}
		if (!dtype_equal(e->type, e->u.var->type)) {
			verify_fail(v,
				    "a variable of another type than its "
				    "node",
				    e);
		}
		break;
	case EXPR_NOT:
		if (!is_bool(e) || !same_type(e, e->args[0])) {
			verify_fail(
				v, "the negation of a value that is not a bool",
				e);
		}
		break;
	case EXPR_SELECT:
	case EXPR_IF:
		verify_choice(v, e);
		break;
	case EXPR_CAST:
		if (e->type.lanes != e->args[0]->type.lanes) {
			verify_fail(v, "a cast that changes the lanes", e);
		}
		if (!dtype_equal(e->type, e->args[0]->type) &&
		    (!dtype_is_number(e->type) ||
		     !dtype_is_number(e->args[0]->type))) {
			verify_fail(v, "a cast of a value that is no number",
				    e);
		}
		break;
	case EXPR_LOAD:
		verify_buffer(v, e->u.buffer);
		if (e->n_args != e->u.buffer->ndim) {
			verify_fail(v,
				    "a load with the wrong number of "
				    "indices",
				    e);
			break;
		}
		verify_element(v, e->u.buffer, e->args, e);
		verify_access(v, e->u.buffer, e == v->origin ? NULL : e->args,
			      false);
		break;
	case EXPR_CALL:
		verify_call(v, e);
		break;
	case EXPR_RAMP:
	case EXPR_BROADCAST:
		verify_vector(v, e);
		break;
	case EXPR_REDUCE:
		verify_fail(v, "a reduction in a function's body", e);
		break;
	default:
		verify_binary(v, e);
		break;
	}
}

void
verify_expr(struct verifier *v, const struct expr *e)
{
	if ((unsigned)e->kind >= EXPR_KIND_COUNT) {
		verify_fail(v, "an unknown kind of expression", NULL);
		return;
	}
	int *mark = pointer_map_value(&v->marks, e);

	if (*mark == v->epoch) {
		return;
	}
	*mark = v->epoch;

	int arity = expr_kind_arity(e->kind);

	if (arity >= 0 && e->n_args != arity) {
		verify_fail(v, "a node with a wrong number of arguments", NULL);
		return;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (!e->args[i]) {
			verify_fail(v, "a node lacks an argument", NULL);
			return;
		}
	}
	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_COPY_BOX &&
	    copy_box_rank(e->args, e->n_args) > 0) {
		v->origin = e->args[1]->args[0];
	}
	for (int i = 0; i < e->n_args; i++) {
		verify_expr(v, e->args[i]);
	}
	verify_node(v, e);
}
