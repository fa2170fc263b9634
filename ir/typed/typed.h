/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and functions on typed values, by TVM's rules: the types that
 * operands get, conversions, and the expression that an operator becomes.
 * TVMScript and programs, which evaluate Python's syntax in different ways,
 * compute here.
 *
 *	X[i] - 128          of uint8: int32(X[i]) - 128
 *	X[i] < 128          in TVMScript: X[i] < T.uint8(128)
 *	2 ** 10             numbers of Python: 1024, without a type
 *
 * Errors have a position in the text; the functions return false after an
 * error. */
#ifndef TIRC_TYPED_H
#define TIRC_TYPED_H

#include "expr.h"
#include "py_number.h"

/* An operand. A number of Python is weak: a literal of int64 (of uint64 if
 * int64 does not hold it), float64 or bool, whose type in the expression is not
 * decided yet. Texts are weak, too, but no operator takes them. */
struct typed {
	const struct expr *e;
	bool weak;
};

/* The rules that TVMScript and programs apply differently. */
struct typing_rules {
	/* If set, each operator becomes the node of the same name, so that a
	 * printed function reads back unchanged. If not set: // and % of floats
	 * are expressed by floor(), &, | and ^ of bools by the operators of
	 * conditions; arithmetic on bools is done in int32; and a division by
	 * the constant zero is an error. */
	bool as_written;
	/* In a comparison, a number of Python takes the type of the other
	 * operand, as in TVMScript's parser. If false, both are promoted. */
	bool compare_follows;
	const char *module;  /* prefix of functions in messages: "T." */
	const char *float64; /* how a program writes a constant of type float64,
			      * for messages */
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
/* If x is a weak operand, a number of Python, sets *out to this number; false
 * if x is not a number, or needs more than 63 bits. */
bool typed_is_number(const struct typed *x, struct py_number *out);
/* "float32x4" */
const char *typed_name(struct module *m, struct dtype t);

/* ---- conversions */

/* Sets *out to x as an expression of its own type: a number of Python that is
 * an int becomes an int32, or an int64 if an int32 does not hold it; a number
 * of Python that is a float becomes a float32. */
bool typed_settle(const struct typing *t, struct py_span at,
		  const struct typed *x, const struct expr **out);
/* Sets *out to x as a value of type `to`; false after an error if the
 * conversion could change it. A number is rounded once. */
bool typed_convert(const struct typing *t, struct py_span at,
		   const struct typed *x, struct dtype to,
		   const struct expr **out);
/* If e is a constant, checks that the type `to` holds its value. False after an
 * error, whose message ends in the remedy. */
bool typed_fits(const struct typing *t, struct py_span at, const struct expr *e,
		struct dtype to, const char *remedy);
/* Sets *a and *b to the operands x and y in one type: the common type that they
 * have after typed_settle(), lanes included. False after an error. */
bool typed_promote(const struct typing *t, struct py_span at,
		   const struct typed *x, const struct typed *y,
		   const struct expr **a, const struct expr **b);
/* Sets *a and *b to the operands x and y in one type: if one of them is a
 * number of Python and the type of the other one holds it, that type; else the
 * type that typed_promote gives. */
bool typed_follow(const struct typing *t, struct py_span at,
		  const struct typed *x, const struct typed *y,
		  const struct expr **a, const struct expr **b);

/* ---- operators */

/* Sets *out to x op y, for operators of the groups NUMBERS, POWERS, BITS, ORDER
 * and LOGIC. Two numbers of Python are computed as in Python. False after an
 * error. */
bool typed_binary(const struct typing *t, struct py_span at,
		  enum py_operator op, const struct typed *x,
		  const struct typed *y, struct typed *out);
bool typed_unary(const struct typing *t, struct py_span at, enum py_operator op,
		 const struct typed *x, struct typed *out);
/* Sets *out to x op y, for operators of the group BITS on values that have a
 * type. False after an error. */
bool typed_bits(const struct typing *t, struct py_span at, enum py_operator op,
		const struct typed *x, const struct typed *y,
		struct typed *out);
/* Sets *out to the expression of the kind `kind`, from ADD to OR, with the
 * operands x and y, whose types are converted by the rules for its operator. */
bool typed_kind(const struct typing *t, struct py_span at, enum expr_kind kind,
		const struct typed *x, const struct typed *y,
		struct typed *out);
/* Sets *out to an expression that chooses between two values, in a common type,
 * by the condition. guards: the value that is not chosen must not be
 * computed. */
bool typed_choice(const struct typing *t, struct py_span at, bool guards,
		  const struct typed *condition, const struct typed *x,
		  const struct typed *y, struct typed *out);

/* ---- functions */

bool typed_cast(const struct typing *t, struct py_span at,
		const struct typed *x, struct dtype to, struct typed *out);
/* Sets *out to T.float32(x): if x is a number, "nan", "inf" or "-inf", a
 * constant of the type `to`; if x is any other value, a cast of x to this
 * type. */
bool typed_constant(const struct typing *t, struct py_span at, struct dtype to,
		    const struct typed *x, struct typed *out);
/* Sets *out to the data type named `name`; "int" and "float" are int32 and
 * float32, as in TVM. False after an error if there is no such type. */
bool typed_dtype(const struct typing *t, struct py_span at, const char *name,
		 struct dtype *out);

/* Sets *out to a call of an intrinsic that has no row in the table of
 * typed_functions; the result has the type `type`. */
bool typed_intrin(const struct typing *t, struct py_span at, enum intrin op,
		  struct dtype type, const struct expr *const *args, int n,
		  struct typed *out);

/* An argument of a function, with its position. x.e is NULL if an optional
 * argument is absent. A type is given by its name, as a text. */
struct typed_arg {
	struct typed x;
	struct py_span at;
};

struct typed_call {
	const struct typing *t;
	struct py_span at;
	const struct typed_function *f;
	/* one argument for each parameter, then the arguments for *args */
	const struct typed_arg *args;
	int n;
};

/* A function of tir that computes a value: an operator by its name ("floordiv",
 * "Select", "all"), a cast, a limit of a type, an intrinsic whose arguments have
 * one type ("exp", "pow"). */
struct typed_function {
	const char *name;
	const char *params; /* for py_signature_declared() */
	bool (*fn)(const struct typed_call *c, struct typed *out);
	/* a value that distinguishes functions that have the same `fn` */
	int value;
};

/* The function named `name`; NULL if there is none. */
const struct typed_function *typed_function_find(const char *name);
/* The name of function i of the functions that are not intrinsics, for
 * suggestions in messages; NULL if there are at most i. */
const char *typed_function_name(int i);
/* Sets *out to the result of calling the function. Constant operands have
 * types, unlike numbers of Python, so the result has a type. False after an
 * error. */
bool typed_call(const struct typed_call *c, struct typed *out);

#endif
