/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: calls of intrinsic functions, whose arguments and
 * results are in the table of intrinsics. */
#include "script_read.h"
#include "text.h"

static bool
check_other(struct script_reader *r, const struct py_node *call, enum intrin op,
	    struct dtype t, const struct expr *const *args, int n)
{
	switch (op) {
	case INTRIN_ADDRESS_OF:
	case INTRIN_READ_ADDRESS_OF:
		return args[0]->kind == EXPR_LOAD ||
		       script_fail(r, call,
				   "the address of something that is "
				   "no element; write T.%s(A[i])",
				   intrin_name(op));
	case INTRIN_REINTERPRET:
		return (dtype_class(t) >= DTC_BOOL &&
			dtype_class(t) <= DTC_FLOAT &&
			dtype_class(args[0]->type) >= DTC_BOOL &&
			dtype_class(args[0]->type) <= DTC_FLOAT &&
			dtype_bytes(t) == dtype_bytes(args[0]->type) &&
			t.lanes == args[0]->type.lanes) ||
		       script_fail(r, call,
				   "reinterpreted as a type of "
				   "another size; use one of equal bytes");
	case INTRIN_TO_INT:
		return (dtype_is_int(t) && dtype_is_float(args[0]->type) &&
			t.lanes == args[0]->type.lanes) ||
		       script_fail(r, call,
				   "float_to_int makes integers of "
				   "floats; use T.Cast");
	case INTRIN_NIBBLE:
		return (dtype_is_int(t) && dtype_is_int(args[0]->type) &&
			!dtype_is_signed(args[0]->type) &&
			dtype_is_int(args[1]->type) &&
			t.lanes == args[0]->type.lanes &&
			t.lanes == args[1]->type.lanes) ||
		       script_fail(r, call,
				   "nibble takes four bits of an "
				   "unsigned integer, at an index; cast the "
				   "arguments first");
	case INTRIN_SCALE_NEAREST:
		return (t.kind == DT_I32 && args[0]->type.kind == DT_I32 &&
			args[1]->type.kind == DT_F64 &&
			t.lanes == args[0]->type.lanes &&
			t.lanes == args[1]->type.lanes) ||
		       script_fail(r, call,
				   "scale_nearest makes an int32 of "
				   "an int32 and a float64; cast the "
				   "arguments first");
	case INTRIN_CALL_FUNC:
	case INTRIN_CALL_EXTERN:
	case INTRIN_LAUNCH:
		return (args[0]->kind == EXPR_STRING &&
			text_is_identifier(args[0]->u.text, "")) ||
		       script_fail(r, call,
				   "T.%s without a function's name; "
				   "its first argument is a string of letters, "
				   "digits and '_'",
				   intrin_name(op));
	case INTRIN_STORAGE_SYNC:
		return args[0]->kind == EXPR_STRING ||
		       script_fail(r, call,
				   "T.%s without a name; its first "
				   "argument is a string",
				   intrin_name(op));
	case INTRIN_SHUFFLE_XOR:
		return (dtype_equal(t, args[0]->type) && t.lanes == 1 &&
			dtype_is_int(args[1]->type)) ||
		       script_fail(r, call,
				   "warp_shuffle_xor gives what "
				   "another thread has, of the same type; give "
				   "a value and the bits in which the threads' "
				   "numbers differ");
	case INTRIN_PREFETCH:
		return (args[0]->kind == EXPR_CALL &&
			intrin_is_address(args[0]->u.intrin)) ||
		       script_fail(r, call,
				   "a prefetch of something that is "
				   "no address; write "
				   "T.prefetch(T.read_address_of(A[i]))");
	case INTRIN_ASYNC_WAIT:
		return (call->n_kids > 1 && args[0]->kind == EXPR_INT) ||
		       script_fail(r, call,
				   "T.async_wait without a number of "
				   "groups; write T.async_wait(1, "
				   "T.address_of(A[0]))");
	case INTRIN_COPY_BOX:
		return copy_box_rank(args, n) > 0 ||
		       script_fail(r, call,
				   "T.copy_box of something else; "
				   "write T.copy_box(T.address_of(A[0]), "
				   "T.read_address_of(B[0]), size, stride, "
				   "first, extent), for several dimensions all "
				   "sizes, then all strides and so on");
	case INTRIN_PTR_ADD:
		return (args[0]->type.kind == DT_HANDLE &&
			dtype_is_int(args[1]->type)) ||
		       script_fail(r, call,
				   "an offset of something that is "
				   "no pointer; give a pointer and a number");
	default:
		return true;
	}
}

bool
script_intrin(struct script_reader *r, const struct py_node *call,
	      enum intrin op, struct script_value *out)
{
	struct script_typed_args args;
	const struct expr **list;
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
	if ((want >= 0 && !script_want_count(r, call, args.n, want)) ||
	    (want < 0 && args.n == 0 && op != INTRIN_LIST &&
	     !script_want_count(r, call, 0, 1))) {
		return false;
	}
	list = arena_array(&r->m->arena, const struct expr *, args.n + 1);
	for (int i = 0; i < args.n; i++) {
		if (!script_expr(r, args.list[first + i], &list[i])) {
			return false;
		}
	}
	if (!tells_type && t.kind != DT_VOID) {
		return script_fail(r, args.type,
				   "T.%s gives nothing; leave "
				   "dtype out",
				   intrin_name(op));
	}
	if (!check_other(r, call, op, t, list, args.n)) {
		return false;
	}
	*out = script_value_of(expr_call(r->m, op, t, list, args.n), false);
	return true;
}
