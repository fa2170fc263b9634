/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and functions on typed values, by TVM's rules: the types that
 * operands take, conversions, and which expression an operator is. TVMScript
 * and programs, which evaluate Python's syntax in different ways, compute here.
 *
 *	X[i] - 128          of uint8: int32(X[i]) - 128
 *	X[i] < 128          in TVMScript: X[i] < T.uint8(128)
 *	2 ** 10             numbers of Python: 1024, without a type
 *
 * Errors are at a place of the text; the functions return false after one. */
#ifndef TIRC_TYPED_H
#define TIRC_TYPED_H

#include "expr.h"
#include "py_number.h"

/* An operand. A number of Python is weak: a literal of int64 (uint64 if it
 * needs that), float64 or bool, whose type is not decided yet. Texts are weak,
 * too, and are the operands of no operator. */
struct typed {
	const struct expr *e;
	bool weak;
};

/* The rules in which TVMScript and programs differ. */
struct typing_rules {
	/* Each operator is the node of its name, so that a printed function
	 * reads back as it was. Else // and % of floats are expressed by
	 * floor(), &, | and ^ of bools by the operators of conditions;
	 * arithmetic of bools is that of int32; and a division by the constant
	 * zero is an error. */
	bool as_written;
	/* In a comparison, a number of Python takes the type of the other
	 * operand, as in TVMScript's parser. Else both are promoted. */
	bool compare_follows;
	const char *module;  /* in which functions are named: "T." */
	const char *float64; /* how to write a constant of that type */
};

extern const struct typing_rules typing_of_scripts, typing_of_programs;

struct typing {
	struct module *m;
	const struct source *src;
	const struct typing_rules *rules;
};

/* ---- values */

struct typed typed_expr(const struct expr *e);
struct typed typed_number(struct module *m, const struct py_number *n);
/* The number of a weak operand that is one of 63 bits; false if it is not. */
bool typed_is_number(const struct typed *x, struct py_number *out);
/* "float32x4" */
const char *typed_name(struct module *m, struct dtype t);

/* ---- conversions */

/* x as an expression of its own type: an int is an int32, or an int64 if it
 * needs the bits; a float is a float32. */
bool typed_settle(const struct typing *t, struct py_span at,
		  const struct typed *x, const struct expr **out);
/* x as a value of type `to`; an error if the conversion could change it. A
 * number is rounded once. */
bool typed_convert(const struct typing *t, struct py_span at,
		   const struct typed *x, struct dtype to,
		   const struct expr **out);
/* Does `to` hold the value of e, if e is a constant? Else an error that ends in
 * the remedy. */
bool typed_fits(const struct typing *t, struct py_span at, const struct expr *e,
		struct dtype to, const char *remedy);
/* Both operands in the common type that they have after typed_settle(), lanes
 * included. */
bool typed_promote(const struct typing *t, struct py_span at,
		   const struct typed *x, const struct typed *y,
		   const struct expr **a, const struct expr **b);
/* Both operands in one type: a number of Python takes the type of the other
 * operand if that holds it; else both take the type of typed_promote. */
bool typed_follow(const struct typing *t, struct py_span at,
		  const struct typed *x, const struct typed *y,
		  const struct expr **a, const struct expr **b);

/* ---- operators */

/* x op y, of the groups NUMBERS, POWERS, BITS, ORDER and LOGIC. Two numbers of
 * Python are computed as in Python. */
bool typed_binary(const struct typing *t, struct py_span at,
		  enum py_operator op, const struct typed *x,
		  const struct typed *y, struct typed *out);
bool typed_unary(const struct typing *t, struct py_span at, enum py_operator op,
		 const struct typed *x, struct typed *out);
/* The operators of the group BITS, of typed values. */
bool typed_bits(const struct typing *t, struct py_span at, enum py_operator op,
		const struct typed *x, const struct typed *y,
		struct typed *out);
/* The expression of a kind from ADD to OR, by the rules of its operator. */
bool typed_kind(const struct typing *t, struct py_span at, enum expr_kind kind,
		const struct typed *x, const struct typed *y,
		struct typed *out);
/* One of two values of a common type, by a condition. guards: the value that
 * is not chosen is not computed. */
bool typed_choice(const struct typing *t, struct py_span at, bool guards,
		  const struct typed *condition, const struct typed *x,
		  const struct typed *y, struct typed *out);

/* ---- functions */

bool typed_cast(const struct typing *t, struct py_span at,
		const struct typed *x, struct dtype to, struct typed *out);
/* T.float32(x): a number, "nan", "inf" or "-inf" as a constant of the type; or
 * a value cast to it. */
bool typed_constant(const struct typing *t, struct py_span at, struct dtype to,
		    const struct typed *x, struct typed *out);
/* The data type of a name; "int" and "float" are int32 and float32, as in TVM.
 * An unknown name is an error. */
bool typed_dtype(const struct typing *t, struct py_span at, const char *name,
		 struct dtype *out);

/* A call of any other intrinsic, with a result of this type. */
bool typed_intrin(const struct typing *t, struct py_span at, enum intrin op,
		  struct dtype type, const struct expr *const *args, int n,
		  struct typed *out);

/* An argument; e is NULL if an optional one is absent. A type is given by its
 * name, as a text. */
struct typed_arg {
	struct typed x;
	struct py_span at;
};

struct typed_call {
	const struct typing *t;
	struct py_span at;
	const struct typed_function *f;
	const struct typed_arg *args; /* by parameter, then those of *args */
	int n;
};

/* A function of tir that computes a value: an operator by its name ("floordiv",
 * "Select", "all"), a cast, a limit of a type, an intrinsic whose arguments have
 * one type ("exp", "pow"). */
struct typed_function {
	const char *name;
	const char *params; /* for py_signature_declared() */
	bool (*fn)(const struct typed_call *c, struct typed *out);
	int value; /* in which functions with one fn differ */
};

/* NULL if there is no such function. */
const struct typed_function *typed_function_find(const char *name);
/* The names of those that are no intrinsics, for suggestions; NULL after the
 * last one. */
const char *typed_function_name(int i);
/* Calls the function. It computes with constants of TVM, not with numbers of
 * Python: the result has a type. */
bool typed_call(const struct typed_call *c, struct typed *out);

#endif
