/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of Python on its numbers, with the results of CPython; integers
 * are limited to 64 bits. */
#include "py_number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bounds.h"

static const struct {
	const char *text;
	enum py_operator_group group;
} operators[] = {
#define OPERATOR(id, text, group, kind, intrin) { text, PY_OPS_##group },
#include "py_operator.def"
#undef OPERATOR
};

bool
py_operator_find(const char *text, enum py_operator *out)
{
	for (int i = 0; i < PY_OP_COUNT; i++) {
		if (strcmp(operators[i].text, text) == 0) {
			*out = (enum py_operator)i;
			return true;
		}
	}
	return false;
}

const char *
py_operator_text(enum py_operator op)
{
	return operators[op].text;
}

enum py_operator_group
py_operator_group(enum py_operator op)
{
	return operators[op].group;
}

/* ---- values */

struct py_number
py_bool(bool v)
{
	return (struct py_number){ .kind = PY_NUMBER_BOOL, .i = v };
}

struct py_number
py_int(int64_t v)
{
	return (struct py_number){ .kind = PY_NUMBER_INT, .i = v };
}

struct py_number
py_float(double v)
{
	return (struct py_number){ .kind = PY_NUMBER_FLOAT, .f = v };
}

double
py_number_double(const struct py_number *x)
{
	return x->kind == PY_NUMBER_FLOAT ? x->f : (double)x->i;
}

bool
py_number_truth(const struct py_number *x)
{
	return x->kind == PY_NUMBER_FLOAT ? x->f != 0 : x->i != 0;
}

static const char too_large[] =
	"an integer of more than 64 bits; use smaller numbers";
static const char by_zero[] = "a division by zero; divide by another number";

bool
py_number_read(const struct py_node *node, struct py_number *out,
	       const char **error)
{
	bool negative = node->kind == PY_UNARY && strcmp(node->op, "-") == 0;
	const struct py_node *n = negative ? node->kids[0] : node;

	*error = NULL;
	switch (n->kind) {
	case PY_TRUE:
	case PY_FALSE:
		*out = py_bool(n->kind == PY_TRUE);
		return !negative;
	case PY_FLOAT:
		*out = py_float(negative ? -n->fval : n->fval);
		return true;
	case PY_INT:
		/* 2^63 is out of range, but -2^63 is not. */
		if (n->is_unsigned && !(negative && n->ival == INT64_MIN)) {
			*error = too_large;
		}
		*out = py_int(negative ? (int64_t)(0 - (uint64_t)n->ival)
				       : n->ival);
		return true;
	default:
		return false;
	}
}

/* ---- operators */

static const char *
int_power(int64_t a, int64_t b, struct py_number *out)
{
	int64_t v = 1;

	if (b < 0) {
		*out = py_float(a == 0 ? 0 : pow((double)a, (double)b));
		return a == 0 ? by_zero : NULL;
	}
	if (a == 0 || a == 1 || a == -1) {
		*out = py_int(b == 0 || (a == -1 && b % 2 == 0) ? 1 : a);
		return NULL;
	}
	for (int64_t i = 0; i < b; i++) {
		if (__builtin_mul_overflow(v, a, &v)) {
			return too_large;
		}
	}
	*out = py_int(v);
	return NULL;
}

static const char *
int_shift(bool left, int64_t a, int64_t b, int64_t *v)
{
	if (b < 0) {
		return "a shift by a negative number of bits; shift the other "
		       "way";
	}
	if (!left) {
		b = b > 63 ? 63 : b;
		*v = a < 0 ? ~(~a >> b) : a >> b;
		return NULL;
	}
	if (a != 0 &&
	    (b > 62 || __builtin_mul_overflow(a, INT64_C(1) << b, v))) {
		return too_large;
	}
	return NULL;
}

static const char *
int_binary(enum py_operator op, int64_t a, int64_t b, struct py_number *out)
{
	bool overflow = false;
	const char *error = NULL;
	int64_t v = 0;

	if ((op == PY_OP_DIV || op == PY_OP_FLOORDIV || op == PY_OP_MOD) &&
	    b == 0) {
		return by_zero;
	}
	switch (op) {
	case PY_OP_ADD:
		overflow = __builtin_add_overflow(a, b, &v);
		break;
	case PY_OP_SUB:
		overflow = __builtin_sub_overflow(a, b, &v);
		break;
	case PY_OP_MUL:
		overflow = __builtin_mul_overflow(a, b, &v);
		break;
	case PY_OP_DIV:
		*out = py_float((double)a / (double)b);
		return NULL;
	case PY_OP_FLOORDIV:
		overflow = a == INT64_MIN && b == -1;
		v = overflow ? 0 : floor_div(a, b);
		break;
	case PY_OP_MOD:
		v = b == -1 ? 0 : floor_mod(a, b);
		break;
	case PY_OP_POW:
		return int_power(a, b, out);
	case PY_OP_SHL:
	case PY_OP_SHR:
		error = int_shift(op == PY_OP_SHL, a, b, &v);
		break;
	case PY_OP_BITAND:
		v = a & b;
		break;
	case PY_OP_BITOR:
		v = a | b;
		break;
	case PY_OP_BITXOR:
		v = a ^ b;
		break;
	default:
		assert(!"an operator of numbers");
	}
	*out = py_int(v);
	return overflow ? too_large : error;
}

void
py_float_divmod(double a, double b, double *quotient, double *remainder)
{
	double rest = fmod(a, b), times = (a - rest) / b;

	if (rest != 0 && (rest < 0) != (b < 0)) {
		rest += b;
		times -= 1;
	}
	*remainder = rest != 0 ? rest : copysign(0, b);
	*quotient = times != 0 ? floor(times) + (times - floor(times) > 0.5)
			       : copysign(0, a / b);
}

static const char *
float_binary(enum py_operator op, double a, double b, struct py_number *out)
{
	double quotient, remainder;

	if ((op == PY_OP_DIV || op == PY_OP_FLOORDIV || op == PY_OP_MOD) &&
	    b == 0) {
		return by_zero;
	}
	switch (op) {
	case PY_OP_ADD:
		*out = py_float(a + b);
		return NULL;
	case PY_OP_SUB:
		*out = py_float(a - b);
		return NULL;
	case PY_OP_MUL:
		*out = py_float(a * b);
		return NULL;
	case PY_OP_DIV:
		*out = py_float(a / b);
		return NULL;
	case PY_OP_FLOORDIV:
	case PY_OP_MOD:
		py_float_divmod(a, b, &quotient, &remainder);
		*out = py_float(op == PY_OP_MOD ? remainder : quotient);
		return NULL;
	case PY_OP_POW:
		if (a == 0 && b < 0) {
			return by_zero;
		}
		if (a < 0 && isfinite(b) && b != floor(b)) {
			return "a root of a negative number; give one from 0";
		}
		*out = py_float(pow(a, b));
		return NULL;
	default:
		return "an operator of integers, and one of them is a float; "
		       "make it an int";
	}
}

const char *
py_number_binary(enum py_operator op, const struct py_number *x,
		 const struct py_number *y, struct py_number *out)
{
	if (py_operator_group(op) == PY_OPS_ORDER) {
		*out = py_bool(py_order_holds(op, py_number_order(x, y)));
		return NULL;
	}
	if (x->kind == PY_NUMBER_FLOAT || y->kind == PY_NUMBER_FLOAT) {
		return float_binary(op, py_number_double(x),
				    py_number_double(y), out);
	}
	const char *error = int_binary(op, x->i, y->i, out);

	if (x->kind == PY_NUMBER_BOOL && y->kind == PY_NUMBER_BOOL &&
	    (op == PY_OP_BITAND || op == PY_OP_BITOR || op == PY_OP_BITXOR)) {
		out->kind = PY_NUMBER_BOOL;
	}
	return error;
}

const char *
py_number_unary(enum py_operator op, const struct py_number *x,
		struct py_number *out)
{
	bool is_float = x->kind == PY_NUMBER_FLOAT;
	struct py_number zero = py_int(0), v = *x;

	switch (op) {
	case PY_OP_NOT:
		*out = py_bool(!py_number_truth(&v));
		return NULL;
	case PY_OP_INVERT:
		*out = py_int(~v.i);
		return is_float ? "the bits of a float; make it an int" : NULL;
	case PY_OP_SUB:
		*out = py_float(-v.f);
		return is_float ? NULL : py_number_binary(op, &zero, &v, out);
	default:
		*out = is_float ? v : py_int(v.i);
		return NULL;
	}
}

/* ---- comparison */

/* Compares an int with a float, exactly: -1, 0, 1; 2 if b is a NaN. */
static int
order_int_float(int64_t a, double b)
{
	if (isnan(b)) {
		return 2;
	}
	if (b >= 0x1p63 || b < -0x1p63) {
		return b > 0 ? -1 : 1;
	}
	int64_t whole = (int64_t)b;
	double rest = b - (double)whole;

	if (a != whole) {
		return a < whole ? -1 : 1;
	}
	return rest > 0 ? -1 : rest < 0;
}

int
py_number_order(const struct py_number *x, const struct py_number *y)
{
	bool xf = x->kind == PY_NUMBER_FLOAT, yf = y->kind == PY_NUMBER_FLOAT;

	if (xf && yf) {
		return x->f < y->f    ? -1
		       : x->f > y->f  ? 1
		       : x->f != y->f ? 2
				      : 0;
	}
	if (yf) {
		return order_int_float(x->i, y->f);
	}
	if (xf) {
		int order = order_int_float(y->i, x->f);

		return order == 2 ? 2 : -order;
	}
	return x->i < y->i ? -1 : x->i > y->i;
}

bool
py_order_holds(enum py_operator op, int order)
{
	switch (op) {
	case PY_OP_EQ:
		return order == 0;
	case PY_OP_NE:
		return order != 0;
	case PY_OP_LT:
		return order == -1;
	case PY_OP_LE:
		return order == -1 || order == 0;
	case PY_OP_GT:
		return order == 1;
	default:
		assert(op == PY_OP_GE);
		return order == 1 || order == 0;
	}
}

/* ---- text */

/* The shortest decimal that reads back as v, with a point or an exponent. */
static void
put_float(double v, struct strbuf *out)
{
	bool small = fabs(v) < 1e16 && (v == 0 || fabs(v) >= 1e-4);
	char text[40];

	if (isnan(v) || isinf(v)) {
		strbuf_puts(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	for (int digits = small; digits <= 22; digits++) {
		snprintf(text, sizeof text, small ? "%.*f" : "%.*e", digits, v);
		if (strtod(text, NULL) == v) {
			break;
		}
	}
	strbuf_puts(out, text);
}

void
py_number_put(const struct py_number *x, struct strbuf *out)
{
	switch (x->kind) {
	case PY_NUMBER_BOOL:
		strbuf_puts(out, x->i ? "True" : "False");
		return;
	case PY_NUMBER_INT:
		strbuf_printf(out, "%" PRId64, x->i);
		return;
	case PY_NUMBER_FLOAT:
		put_float(x->f, out);
		return;
	}
}

void
py_text_repr(const char *text, size_t n, struct strbuf *out)
{
	bool has_single = n > 0 && memchr(text, '\'', n) != NULL;
	bool has_double = n > 0 && memchr(text, '"', n) != NULL;
	char quote = has_single && !has_double ? '"' : '\'';

	strbuf_putc(out, quote);
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '\\' || c == quote) {
			strbuf_putc(out, '\\');
			strbuf_putc(out, c);
		} else if (c == '\n') {
			strbuf_puts(out, "\\n");
		} else if (c == '\t') {
			strbuf_puts(out, "\\t");
		} else if ((unsigned char)c < 32) {
			strbuf_printf(out, "\\x%02x", (unsigned char)c);
		} else {
			strbuf_putc(out, c);
		}
	}
	strbuf_putc(out, quote);
}
