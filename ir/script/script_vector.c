/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: vectors of a buffer's elements.
 *
 * 	x = A.vload([i], "float32x4")        x = A[T.Ramp(i, 1, 4)]
 * 	B.vstore([i], x)                     B[T.Ramp(i, 1, 4)] = x */
#include "script_read.h"

/* The lanes of the last index of the elements. */
static int
lanes_of(const struct expr *const *index, int n)
{
	int lanes = 1;

	for (int i = 0; i < n; i++) {
		lanes = index[i]->type.lanes > lanes ? index[i]->type.lanes
						     : lanes;
	}
	return lanes;
}

/* Reads the indices of A.vload and A.vstore, of `lanes` elements from the one that
 * they name, or 0: of as many as the indices have lanes. */
static bool
elements(struct script_reader *r, const struct py_node *call,
	 const struct py_node *indices, int lanes, struct script_value *v,
	 const struct buffer **b, const struct expr ***index)
{
	struct py_node subscript = *call;
	const struct py_node *kids[2] = { call->kids[0]->kids[0], indices };
	int last, own;

	subscript.kind = PY_SUBSCRIPT;
	subscript.kids = kids;
	subscript.n_kids = 2;
	if (indices->kind == PY_LIST) {
		struct py_node *tuple = arena_new(&r->m->arena, struct py_node);

		*tuple = *indices;
		tuple->kind = PY_TUPLE;
		kids[1] = tuple;
	}
	if (!script_eval(r, kids[0], v) ||
	    !script_indices(r, &subscript, v, b, index)) {
		return false;
	}
	last = (v->view ? v->view->ndim : (*b)->ndim) - 1;
	own = v->view && v->view->flat ? v->view->type.lanes : (*b)->type.lanes;
	lanes = lanes % own == 0 ? lanes / own : lanes;
	if (lanes > UINT16_MAX / own) {
		return script_fail(r, call,
				   "an element of more than %d lanes; make it "
				   "shorter",
				   UINT16_MAX);
	}
	if (lanes > 1 && last >= 0 && lanes_of(*index, last + 1) == 1) {
		(*index)[last] = expr_ramp(r->m, (*index)[last],
					   expr_int(r->m, (*index)[last]->type,
						    1),
					   lanes);
	}
	return script_whole_index(r, call, v, index);
}

/* The condition of all lanes, from the mask predicate=T.Broadcast(c, 4). */
static bool
mask_of(struct script_reader *r, const struct py_node *node,
	const struct expr **out)
{
	const struct expr *e;

	*out = NULL;
	if (!node || node->kind == PY_NONE) {
		return true;
	}
	if (!script_expr(r, node, &e)) {
		return false;
	}
	if (e->kind == EXPR_BROADCAST) {
		e = e->args[0];
	}
	if (!dtype_is_int(e->type) && e->type.kind != DT_BOOL) {
		return script_fail(r, node,
				   "a mask of type %s; write a condition, as "
				   "in T.Broadcast(i < n, 4)",
				   typed_name(r->m, e->type));
	}
	if (e->type.lanes != 1) {
		return script_fail(r, node,
				   "a mask that differs between lanes; write a "
				   "loop over the lanes, with an if");
	}
	if (e->type.kind != DT_BOOL) {
		e = expr_not(r->m,
			     expr_eq(r->m, e, expr_int(r->m, e->type, 0)));
	}
	*out = e;
	return true;
}

bool
script_vload(struct script_reader *r, const struct py_node *call,
	     struct script_value *out)
{
	const struct py_node *found[3];
	struct script_value v;
	const struct buffer *b;
	const struct expr **index, *mask, *e;
	struct dtype t = dtype_of(DT_VOID);

	if (!script_args(r, call, "begin, dtype?, predicate?", found) ||
	    (found[1] && found[1]->kind != PY_NONE &&
	     !script_type(r, found[1], &t)) ||
	    !elements(r, call, found[0], t.lanes, &v, &b, &index) ||
	    !mask_of(r, found[2], &mask)) {
		return false;
	}
	e = script_view_loaded(r, &v, expr_load(r->m, b, index, b->ndim));
	if (t.kind != DT_VOID && !dtype_equal(t, e->type)) {
		return script_fail(r, found[1],
				   "a vector of type %s of elements that are "
				   "%s; give both one type",
				   typed_name(r->m, t),
				   typed_name(r->m, e->type));
	}
	if (mask) {
		struct dtype one = e->type;
		const struct expr *zero;

		one.lanes = 1;
		zero = expr_const(r->m, one, 0);
		e = expr_if(r->m, mask, e,
			    e->type.lanes > 1
				    ? expr_broadcast(r->m, zero, e->type.lanes)
				    : zero);
	}
	*out = script_value_of(e, false);
	return true;
}

bool
script_ptr_to(struct script_reader *r, const struct py_node *call,
	      struct script_value *out)
{
	const struct py_node *found[1];
	struct script_value v;
	const struct buffer *b;
	const struct expr **index, *element;

	if (!script_args(r, call, "indices", found) ||
	    !elements(r, call, found[0], 1, &v, &b, &index)) {
		return false;
	}
	element = expr_load(r->m, b, index, b->ndim);
	*out = script_value_of(expr_call(r->m, INTRIN_ADDRESS_OF,
					 dtype_of(DT_HANDLE), &element, 1),
			       false);
	return true;
}

bool
script_is_vstore(const struct script_reader *r, const struct py_node *call)
{
	return call->kids[0]->kind == PY_ATTRIBUTE &&
	       strcmp(call->kids[0]->text, "vstore") == 0 &&
	       !script_path(r, call->kids[0]);
}

bool
script_vstore(struct script_reader *r, const struct py_node *call,
	      struct script_suite *suite)
{
	const struct py_node *found[3];
	struct script_value v, value;
	const struct buffer *b;
	const struct expr **index, *mask, *e;
	struct stmt *s;

	if (!script_args(r, call, "begin, value, predicate?", found) ||
	    !script_eval(r, found[1], &value) ||
	    !script_settle(r, found[1], &value, &e) ||
	    !elements(r, call, found[0], e->type.lanes, &v, &b, &index) ||
	    !mask_of(r, found[2], &mask)) {
		return false;
	}
	struct dtype t = v.view && v.view->flat ? v.view->type : b->type;

	t.lanes = (uint16_t)(b->type.lanes * lanes_of(index, b->ndim));
	if (!script_convert(r, found[1], &value, t, &e)) {
		return false;
	}
	s = stmt_store(r->f, b, script_view_stored(r, &v, e), index, b->ndim);
	if (mask) {
		s->pos = (struct src_pos){ call->span.line, call->span.col };
		s = stmt_if(r->f, mask, s, NULL);
	}
	script_push(r, suite, call, s);
	return true;
}
