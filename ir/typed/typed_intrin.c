/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics whose arguments have different types, or that have no result. */
#include "text.h"
#include "typed.h"

/* Checks that the intrinsic op accepts the arguments and can have a result of
 * type t; false after an error at `at`. */
static bool
check(const struct typing *c, struct py_span at, enum intrin op, struct dtype t,
      const struct expr *const *args, int n)
{
	switch (op) {
	case INTRIN_ADDRESS_OF:
	case INTRIN_READ_ADDRESS_OF:
		return args[0]->kind == EXPR_LOAD ||
		       py_error(c->m, c->src, at,
				"the address of something that is "
				"no element; write %s%s(A[i])",
				c->rules->module, intrin_name(op));
	case INTRIN_REINTERPRET:
		return (dtype_class(t) >= DTC_BOOL &&
			dtype_class(t) <= DTC_FLOAT &&
			dtype_class(args[0]->type) >= DTC_BOOL &&
			dtype_class(args[0]->type) <= DTC_FLOAT &&
			dtype_bytes(t) * t.lanes ==
				dtype_bytes(args[0]->type) *
					args[0]->type.lanes) ||
		       py_error(c->m, c->src, at,
				"reinterpreted as a type of "
				"another size; use one of equal bytes");
	case INTRIN_TO_INT:
		return (dtype_is_int(t) && dtype_is_float(args[0]->type) &&
			t.lanes == args[0]->type.lanes) ||
		       py_error(c->m, c->src, at,
				"float_to_int makes integers of "
				"floats; use T.Cast");
	case INTRIN_NIBBLE:
		return (dtype_is_int(t) && dtype_is_int(args[0]->type) &&
			!dtype_is_signed(args[0]->type) &&
			dtype_is_int(args[1]->type) &&
			t.lanes == args[0]->type.lanes &&
			t.lanes == args[1]->type.lanes) ||
		       py_error(c->m, c->src, at,
				"nibble takes four bits of an "
				"unsigned integer, at an index; cast the "
				"arguments first");
	case INTRIN_SCALE_NEAREST:
		return (t.kind == DT_I32 && args[0]->type.kind == DT_I32 &&
			args[1]->type.kind == DT_F64 &&
			t.lanes == args[0]->type.lanes &&
			t.lanes == args[1]->type.lanes) ||
		       py_error(c->m, c->src, at,
				"scale_nearest makes an int32 of "
				"an int32 and a float64; cast the "
				"arguments first");
	case INTRIN_CALL_FUNC:
	case INTRIN_CALL_EXTERN:
	case INTRIN_LAUNCH:
		return (args[0]->kind == EXPR_STRING &&
			text_is_identifier(args[0]->u.text, "")) ||
		       py_error(c->m, c->src, at,
				"%s%s without a function's name; "
				"its first argument is a string of letters, "
				"digits and '_'",
				c->rules->module, intrin_name(op));
	case INTRIN_CALL_INTRIN:
		return (args[0]->kind == EXPR_STRING &&
			text_is_identifier(args[0]->u.text, ".:")) ||
		       py_error(c->m, c->src, at,
				"%scall_intrin without an instruction's name; "
				"its first argument behind the type is a "
				"string, such as \"tir.ptx_mma\"",
				c->rules->module);
	case INTRIN_STORAGE_SYNC:
		return args[0]->kind == EXPR_STRING ||
		       py_error(c->m, c->src, at,
				"%s%s without a name; its first "
				"argument is a string",
				c->rules->module, intrin_name(op));
	case INTRIN_SHUFFLE_XOR:
		return (dtype_equal(t, args[0]->type) && t.lanes == 1 &&
			dtype_is_int(args[1]->type)) ||
		       py_error(c->m, c->src, at,
				"warp_shuffle_xor gives what "
				"another thread has, of the same type; give "
				"a value and the bits in which the threads' "
				"numbers differ");
	case INTRIN_PREFETCH:
		return (args[0]->kind == EXPR_CALL &&
			intrin_is_address(args[0]->u.intrin)) ||
		       py_error(c->m, c->src, at,
				"a prefetch of something that is "
				"no address; write "
				"T.prefetch(T.read_address_of(A[i]))");
	case INTRIN_ASYNC_WAIT:
		return (n > 0 && args[0]->kind == EXPR_INT) ||
		       py_error(c->m, c->src, at,
				"T.async_wait without a number of "
				"groups; write T.async_wait(1, "
				"T.address_of(A[0]))");
	case INTRIN_COPY_BOX:
		return copy_box_rank(args, n) > 0 ||
		       py_error(c->m, c->src, at,
				"T.copy_box of something else; "
				"write T.copy_box(T.address_of(A[0]), "
				"T.read_address_of(B[0]), size, stride, "
				"first, extent), for several dimensions all "
				"sizes, then all strides and so on");
	case INTRIN_PTR_ADD:
		return (args[0]->type.kind == DT_HANDLE &&
			dtype_is_int(args[1]->type)) ||
		       py_error(c->m, c->src, at,
				"an offset of something that is "
				"no pointer; give a pointer and a number");
	default:
		return true;
	}
}

bool
typed_intrin(const struct typing *t, struct py_span at, enum intrin op,
	     struct dtype type, const struct expr *const *args, int n,
	     struct typed *out)
{
	if (!check(t, at, op, type, args, n)) {
		return false;
	}
	*out = typed_expr(expr_call(t->m, op, type, args, n));
	return true;
}
