/* SPDX-License-Identifier: Apache-2.0 */
/* The semantics of every operator and intrinsic for one element, shared by the
 * interpreter and the executor. Floats are computed in double and rounded to
 * the type, which for + - * / and sqrt of f32 and narrower types gives exactly
 * the result that IEEE 754 defines; integers wrap. */
#ifndef TIRC_SCALAR_H
#define TIRC_SCALAR_H

#include "expr.h"

enum scalar_fault { SCALAR_FINE, SCALAR_DIVISION, SCALAR_UNDEFINED };

/* A binary operator, ADD … MAX, or a comparison, which gives a bool, of two
 * values of type t; t's lanes are ignored. *fault is set after a fault, never
 * cleared. */
union number scalar_binary(enum expr_kind kind, struct dtype t, union number a,
			   union number b, enum scalar_fault *fault);
/* The value of a pure intrinsic whose arguments have type t; `to` is the type
 * of the result. Sets *fault if the arguments have no result. */
union number scalar_call(enum intrin op, struct dtype to, struct dtype t,
			 const union number *args, enum scalar_fault *fault);

#endif
