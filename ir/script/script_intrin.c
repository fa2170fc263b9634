/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: calls of intrinsic functions that state their type, or
 * have no result. */
#include "script_read.h"

bool
script_intrin_of(struct script_reader *r, const struct py_node *call,
		 enum intrin op, struct dtype t,
		 const struct py_node *const *args, int n,
		 struct script_value *out)
{
	const struct expr **list = arena_exprs(&r->m->arena, n + 1);
	int want = intrin_arity(op);
	struct typed x;

	if ((want >= 0 && !script_want_count(r, call, n, want)) ||
	    (want < 0 && n == 0 && op != INTRIN_LIST &&
	     !script_want_count(r, call, 0, 1))) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!script_expr(r, args[i], &list[i])) {
			return false;
		}
		if (op == INTRIN_CALL_EXTERN) {
			list[i] = script_argument(r, list[i]);
		}
	}
	if (op == INTRIN_REINTERPRET &&
	    (t.kind == DT_HANDLE || list[0]->type.kind == DT_HANDLE)) {
		return script_instruction_of(r, call, "reinterpret", t, list, n,
					     out);
	}
	if (intrin_is_address(op) && list[0]->type.kind == DT_HANDLE) {
		return script_instruction_of(r, call, "address_of", t, list, n,
					     out);
	}
	if (op == INTRIN_STORAGE_SYNC) {
		/* memory of a size that the launch gives is shared as well */
		if (list[0]->kind == EXPR_STRING &&
		    strcmp(list[0]->u.text, "shared.dyn") == 0) {
			list[0] = expr_string(r->m, "shared");
		}
		t = dtype_of(DT_VOID);
	}
	if (intrin_result(op) == RESULT_SAME) {
		t = list[0]->type;
	} else if (intrin_result(op) == RESULT_BOOL) {
		t = dtype_of(DT_BOOL);
		t.lanes = list[0]->type.lanes;
	}
	if (!typed_intrin(&r->typing, call->span, op, t, list, n, &x)) {
		return false;
	}
	*out = script_value_of(x.e, false);
	return true;
}

bool
script_intrin(struct script_reader *r, const struct py_node *call,
	      enum intrin op, struct script_value *out)
{
	struct script_typed_args args;
	int want = intrin_arity(op), first = 0;
	struct dtype t = dtype_of(intrin_is_address(op) ? DT_HANDLE : DT_VOID);

	if (!script_typed_args(r, call, &args)) {
		return false;
	}
	bool tells_type = intrin_result(op) == RESULT_OTHER;

	if (!args.type && args.n > 0 && tells_type &&
	    (want < 0 || args.n == want + 1)) {
		args.type = args.list[first++];
	}
	if (!args.type && !intrin_is_address(op) && tells_type) {
		return script_fail(r, call,
				   "T.%s without the type of its "
				   "result; say it first, as in "
				   "T.%s(\"int32\", ...)",
				   intrin_name(op), intrin_name(op));
	}
	if (args.type && !script_type(r, args.type, &t)) {
		return false;
	}
	args.n -= first;
	if (!tells_type && t.kind != DT_VOID) {
		return script_fail(r, args.type,
				   "T.%s gives nothing; leave "
				   "dtype out",
				   intrin_name(op));
	}
	return script_intrin_of(r, call, op, t, args.list + first, args.n, out);
}
