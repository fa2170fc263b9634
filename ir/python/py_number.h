/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of Python (bool, int, float) and its operators on them. Integers have
 * 64 bits: a result that needs more is an error. Functions return an error as a
 * text for a message at the operator's place, or NULL without an error. */
#ifndef TIRC_PY_NUMBER_H
#define TIRC_PY_NUMBER_H

#include "python.h"

enum py_operator {
#define OPERATOR(id, text, group, kind, intrin) PY_OP_##id,
#include "py_operator.def"
#undef OPERATOR
	PY_OP_COUNT
};

enum py_operator_group {
	PY_OPS_NUMBERS,
	PY_OPS_POWERS,
	PY_OPS_BITS,
	PY_OPS_ORDER,
	PY_OPS_LOGIC,
	PY_OPS_MEMBERSHIP,
	PY_OPS_ONE
};

/* Sets *out to the operator whose text is a node's op or ops[i]; false if the
 * table has no operator with this text. */
bool py_operator_find(const char *text, enum py_operator *out);
const char *py_operator_text(enum py_operator op);
enum py_operator_group py_operator_group(enum py_operator op);

enum py_number_kind { PY_NUMBER_BOOL, PY_NUMBER_INT, PY_NUMBER_FLOAT };

struct py_number {
	enum py_number_kind kind;
	int64_t i; /* the value of a bool or an int */
	double f;  /* of a float */
};

struct py_number py_bool(bool v);
struct py_number py_int(int64_t v);
struct py_number py_float(double v);
/* The value as a float. */
double py_number_double(const struct py_number *x);
bool py_number_truth(const struct py_number *x);

/* Is the node a literal: True, False, a number, or a negative one? If so, sets
 * *out to it. *error is set to NULL, or to a text which says that the literal
 * is an integer beyond int64; in that case *out does not hold its value. */
bool py_number_read(const struct py_node *node, struct py_number *out,
		    const char **error);

/* Sets *out to x op y, for an operator of the groups NUMBERS, POWERS, BITS and
 * ORDER. NULL, or the error. */
const char *py_number_binary(enum py_operator op, const struct py_number *x,
			     const struct py_number *y, struct py_number *out);
/* Sets *out to +x, -x, ~x or not x. NULL, or the error. */
const char *py_number_unary(enum py_operator op, const struct py_number *x,
			    struct py_number *out);
/* a // b and a % b, which has the sign of b; if b is 0, both are NaN. */
void py_float_divmod(double a, double b, double *quotient, double *remainder);
/* Compares x with y: -1 if x is less, 0 if they are equal, 1 if x is greater; 2
 * if one of them is a NaN. */
int py_number_order(const struct py_number *x, const struct py_number *y);
/* Is the comparison op (an operator of the group ORDER) true for two operands
 * whose order is `order`? The order is a result of py_number_order, or -1, 0, 1
 * or 2 in the same sense. */
bool py_order_holds(enum py_operator op, int order);

/* Appends the number as Python's print() writes it: True, 12, 0.1, 1e+20,
 * inf. */
void py_number_put(const struct py_number *x, struct strbuf *out);
/* Appends n bytes of text as a literal, in the quotes that repr takes. */
void py_text_repr(const char *text, size_t n, struct strbuf *out);

#endif
