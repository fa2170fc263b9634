/* SPDX-License-Identifier: Apache-2.0 */
/* Operators element by element. Floats are computed in double and rounded to the
 * type of the result, integers in 64 bits and wrapped to it; the functions of
 * float32, such as exp, are rounded from double, and may differ from NumPy's in the
 * last bit. */
#include "array.h"

#include <math.h>

#include "quota.h"
#include "scalar.h"

/* The work of an element, in elements that are copied. */
enum { BINARY_COST = 2, FUNCTION_COST = 4 };

static const struct {
	const char *name;
	enum { BINARY, SAME, FLOAT, TEST } kind;
	enum expr_kind expr;
	enum intrin intrin;
} ops[] = {
#define BINARY(id, name, kind, intrin)                                         \
	{ name, BINARY, EXPR_##kind, INTRIN_##intrin },
#define UNARY(id, name, kind, value)                                           \
	{ name, kind, EXPR_KIND_COUNT, INTRIN_COUNT },
#include "array_ops.def"
#undef BINARY
#undef UNARY
};

enum array_op
array_op_find(const char *name)
{
	for (int i = 0; i < ARRAY_OP_COUNT; i++) {
		if (strcmp(ops[i].name, name) == 0) {
			return (enum array_op)i;
		}
	}
	return ARRAY_OP_COUNT;
}

/* The first operators are those of Python, in its order. */
#define SAME(id) ((int)ARRAY_##id == PY_OP_##id)
_Static_assert(SAME(ADD) && SAME(SUB) && SAME(MUL) && SAME(DIV) &&
		       SAME(FLOORDIV) && SAME(MOD) && SAME(POW) &&
		       SAME(BITAND) && SAME(BITOR) && SAME(BITXOR) &&
		       SAME(SHL) && SAME(SHR) && SAME(EQ) && SAME(NE) &&
		       SAME(LT) && SAME(LE) && SAME(GT) && SAME(GE),
	       "array_op_of");
#undef SAME

enum array_op
array_op_of(enum py_operator op)
{
	return op <= PY_OP_GE ? (enum array_op)op : ARRAY_OP_COUNT;
}

/* -- binary operators */

static bool
is_comparison(enum array_op op)
{
	return op >= ARRAY_EQ && op <= ARRAY_GE;
}

static bool
is_logical(enum array_op op)
{
	return op >= ARRAY_LOGICAL_AND && op <= ARRAY_LOGICAL_XOR;
}

static bool
is_bitwise(enum array_op op)
{
	return op >= ARRAY_BITAND && op <= ARRAY_SHR;
}

/* Sets *in to the type in which the operator computes, and *out to the type of
 * its result. False after an error. */
static bool
types_of(struct array_work *w, enum array_op op, const struct array *x,
	 const struct array *y, struct dtype *in, struct dtype *out)
{
	bool is_bool;

	*in = array_common(x, y);
	is_bool = dtype_class(*in) == DTC_BOOL;
	if (op == ARRAY_DIV && !dtype_is_float(*in)) {
		*in = dtype_of(DT_F64);
	} else if (op == ARRAY_ARCTAN2 || op == ARRAY_HYPOT) {
		*in = array_float_type(*in);
	} else if (is_bool && (op == ARRAY_FLOORDIV || op == ARRAY_MOD ||
			       op == ARRAY_POW || op == ARRAY_SHL ||
			       op == ARRAY_SHR || op == ARRAY_FMOD)) {
		*in = dtype_of(DT_I8);
	}
	*out = is_comparison(op) || is_logical(op) ? dtype_of(DT_BOOL) : *in;
	if (is_bool && op == ARRAY_SUB) {
		array_fail(w, "a difference of bools; use ^ or logical_xor");
		return false;
	}
	if (is_bitwise(op) && dtype_is_float(*in)) {
		array_fail(w, "%s of %s; take integers or bools", ops[op].name,
			   dtype_name(*in));
		return false;
	}
	return true;
}

/* Can type t represent x, if x is an int of Python? False after an error. Other
 * arrays and types are not checked. */
static bool
check_weak(struct array_work *w, const struct array *x, struct dtype t)
{
	int64_t v;

	if (x->weak != ARRAY_WEAK_INT || !dtype_is_int(t)) {
		return true;
	}
	v = array_get(x, 0).i;
	if (dtype_is_signed(t)
		    ? v >= dtype_min_int(t) &&
			      (v < 0 || (uint64_t)v <= dtype_max_int(t))
		    : v >= 0 && (uint64_t)v <= dtype_max_int(t)) {
		return true;
	}
	array_fail(w, "%s does not hold %lld; cast the array first",
		   dtype_name(t), (long long)v);
	return false;
}

/* The floats that NumPy defines in another way than the interpreter. */
static bool
is_numpys(enum array_op op)
{
	return op == ARRAY_FLOORDIV || op == ARRAY_MOD || op == ARRAY_MIN ||
	       op == ARRAY_MAX || op == ARRAY_HYPOT;
}

static double
numpys_float(enum array_op op, double a, double b)
{
	double quotient, remainder;

	switch (op) {
	case ARRAY_FLOORDIV:
		py_float_divmod(a, b, &quotient, &remainder);
		return b == 0 ? a / b : quotient;
	case ARRAY_MOD:
		py_float_divmod(a, b, &quotient, &remainder);
		return remainder;
	case ARRAY_MIN:
		return isnan(a) || a <= b ? a : b;
	case ARRAY_MAX:
		return isnan(a) || a >= b ? a : b;
	default:
		return hypot(a, b);
	}
}

int
array_order(struct dtype t, union number a, union number b)
{
	if (dtype_is_float(t)) {
		return isnan(a.f) || isnan(b.f) ? 2 : (a.f > b.f) - (a.f < b.f);
	}
	return dtype_class(t) == DTC_UINT ? (a.u > b.u) - (a.u < b.u)
					  : (a.i > b.i) - (a.i < b.i);
}

/* One element, of two values of type t. An integer divided by 0 is 0. */
static union number
apply(enum array_op op, struct dtype t, union number a, union number b)
{
	enum scalar_fault unused = SCALAR_FINE;
	union number v, both[2] = { a, b };

	if (is_logical(op)) {
		bool p = number_double(t, a) != 0, q = number_double(t, b) != 0;

		v.i = op == ARRAY_LOGICAL_AND  ? p && q
		      : op == ARRAY_LOGICAL_OR ? p || q
					       : p != q;
	} else if (dtype_is_float(t) && is_numpys(op)) {
		v.f = numpys_float(op, a.f, b.f);
		v = number_round(t, v);
	} else if (dtype_class(t) == DTC_BOOL && !is_comparison(op)) {
		v.i = op == ARRAY_ADD || op == ARRAY_MAX || op == ARRAY_BITOR
			      ? a.i | b.i
		      : op == ARRAY_BITXOR ? a.i ^ b.i
					   : a.i & b.i;
	} else if (ops[op].intrin != INTRIN_COUNT) {
		v = scalar_call(ops[op].intrin, t, t, both, &unused);
	} else {
		v = scalar_binary(ops[op].expr, t, a, b, &unused);
	}
	return v;
}

bool
array_common_shape(struct array_work *w, const struct array *x,
		   const struct array *y, int64_t *shape, int *ndim)
{
	*ndim = x->ndim > y->ndim ? x->ndim : y->ndim;
	for (int d = 1; d <= *ndim; d++) {
		int64_t a = d <= x->ndim ? x->shape[x->ndim - d] : 1;
		int64_t b = d <= y->ndim ? y->shape[y->ndim - d] : 1;

		shape[*ndim - d] = a == 1 ? b : a;
	}
	return array_broadcast(w, x, *ndim, shape) != NULL &&
	       array_broadcast(w, y, *ndim, shape) != NULL;
}

struct array *
array_binary(struct array_work *w, enum array_op op, const struct array *x,
	     const struct array *y)
{
	int64_t shape[ARRAY_MAX_RANK], n;
	struct dtype in, type;
	struct array *out;
	int ndim;

	if (!types_of(w, op, x, y, &in, &type) || !check_weak(w, x, in) ||
	    !check_weak(w, y, in) ||
	    !array_common_shape(w, x, y, shape, &ndim)) {
		return NULL;
	}
	out = array_new(w, type, ndim, shape);
	if (!out) {
		return NULL;
	}
	out->scalar = ndim == 0;
	n = array_elems(out);
	x = array_broadcast(w, x, ndim, shape);
	y = array_broadcast(w, y, ndim, shape);
	if (!array_count(w, quota_times(n, BINARY_COST))) {
		return NULL;
	}
	for (int64_t i = 0; i < n; i++) {
		union number a = number_cast(in, x->type, array_get(x, i));
		union number b = number_cast(in, y->type, array_get(y, i));

		if (op == ARRAY_POW && dtype_is_signed(in) &&
		    !dtype_is_float(in) && b.i < 0) {
			return array_fail(w,
					  "integers to negative integer powers "
					  "are not allowed; take floats");
		}
		number_store(type, out->data, (size_t)i, apply(op, in, a, b));
	}
	return out;
}

struct array *
array_where(struct array_work *w, const struct array *condition,
	    const struct array *x, const struct array *y)
{
	struct dtype type = array_common(x, y);
	int64_t shape[ARRAY_MAX_RANK], n;
	struct array *both, *out;
	int ndim;

	if (!array_common_shape(w, x, y, shape, &ndim)) {
		return NULL;
	}
	both = array_broadcast(w, x, ndim, shape);
	if (!array_common_shape(w, both, condition, shape, &ndim)) {
		return NULL;
	}
	out = array_new(w, type, ndim, shape);
	if (!out || !array_count(w, array_elems(out))) {
		return NULL;
	}
	n = array_elems(out);
	condition = array_broadcast(w, condition, ndim, shape);
	x = array_broadcast(w, x, ndim, shape);
	y = array_broadcast(w, y, ndim, shape);
	for (int64_t i = 0; i < n; i++) {
		const struct array *from = array_float(condition, i) != 0 ? x
									  : y;

		number_store(type, out->data, (size_t)i,
			     number_cast(type, from->type, array_get(from, i)));
	}
	return out;
}

/* -- unary operators */

static double
float_unary(enum array_op op, double v)
{
	switch (op) {
#define BINARY(id, name, ...)
#define UNARY(id, name, kind, value)                                           \
	case ARRAY_##id:                                                       \
		return value;
#include "array_ops.def"
#undef BINARY
#undef UNARY
	default:
		return v;
	}
}

static union number
int_unary(enum array_op op, struct dtype t, union number a)
{
	bool negative = dtype_class(t) != DTC_UINT && a.i < 0;
	union number v = a;

	switch (op) {
	case ARRAY_NEGATIVE:
		v.u = 0 - a.u;
		break;
	case ARRAY_ABS:
		v.u = negative ? 0 - a.u : a.u;
		break;
	case ARRAY_SIGN:
		v.i = negative ? -1 : a.u != 0;
		break;
	case ARRAY_SQUARE:
		v.u = a.u * a.u;
		break;
	case ARRAY_RECIPROCAL:
		v.i = a.i == 1 || (negative && a.i == -1) ? a.i : 0;
		break;
	case ARRAY_INVERT:
		v.u = ~a.u;
		break;
	default:
		break;
	}
	return number_round(t, v);
}

struct array *
array_unary(struct array_work *w, enum array_op op, const struct array *x)
{
	struct dtype in = ops[op].kind == FLOAT ? array_float_type(x->type)
						: x->type;
	struct dtype type = ops[op].kind == TEST ? dtype_of(DT_BOOL) : in;
	bool is_bool = dtype_class(in) == DTC_BOOL;
	int64_t n = array_elems(x);
	struct array *out;

	if ((op == ARRAY_INVERT && dtype_is_float(in)) ||
	    (is_bool && (op == ARRAY_NEGATIVE || op == ARRAY_POSITIVE ||
			 op == ARRAY_SIGN))) {
		return array_fail(w, "%s of %s; cast the array first",
				  ops[op].name, dtype_name(in));
	}
	out = array_new(w, type, x->ndim, x->shape);
	if (!out || !array_count(w, quota_times(n, FUNCTION_COST))) {
		return NULL;
	}
	out->scalar = x->ndim == 0;
	for (int64_t i = 0; i < n; i++) {
		union number a = number_cast(in, x->type, array_get(x, i)), v;

		if (ops[op].kind == TEST) {
			v.i = float_unary(op, number_double(in, a)) != 0;
		} else if (dtype_is_float(in)) {
			v.f = float_unary(op, a.f);
			v = number_round(type, v);
		} else if (is_bool) {
			v.i = op == ARRAY_INVERT ? !a.i : a.i;
		} else {
			v = int_unary(op, in, a);
		}
		number_store(type, out->data, (size_t)i, v);
	}
	return out;
}
