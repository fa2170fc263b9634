/* SPDX-License-Identifier: Apache-2.0 */
/* Binary operators on columns: plain loops that compilers vectorize (this file
 * is built with -O3). Common types have their own loops; other types are
 * computed element by element with scalar.h, which defines the operators. */
#include "exec.h"

#include <math.h>

union number
column_get(struct dtype t, const void *column, int lane)
{
	union number n = { .u = 0 };

	switch (exec_column(t)) {
	case COLUMN_F32:
		n.f = (double)((const float *)column)[lane];
		break;
	case COLUMN_F64:
		n.f = ((const double *)column)[lane];
		break;
	case COLUMN_INT:
		n.i = ((const int64_t *)column)[lane];
		break;
	case COLUMN_BOOL:
		n.i = ((const unsigned char *)column)[lane];
		break;
	}
	return n;
}

void
column_set(struct dtype t, void *column, int lane, union number n)
{
	switch (exec_column(t)) {
	case COLUMN_F32:
		((float *)column)[lane] = (float)n.f;
		break;
	case COLUMN_F64:
		((double *)column)[lane] = n.f;
		break;
	case COLUMN_INT:
		((int64_t *)column)[lane] = n.i;
		break;
	case COLUMN_BOOL:
		((unsigned char *)column)[lane] = n.i != 0;
		break;
	}
}

/* ---- binary operators */

/* One loop for each combination of column and uniform operands. */
#define LOOPS(D, T, expression)                                                \
	do {                                                                   \
		D *restrict d = dst;                                           \
		const T *x = a;                                                \
		const T *y = b;                                                \
		if (op->a_uniform) {                                           \
			T u = x[0];                                            \
			for (int i = 0; i < n; i++) {                          \
				T v = y[i];                                    \
				d[i] = (D)(expression);                        \
			}                                                      \
		} else if (op->b_uniform) {                                    \
			T v = y[0];                                            \
			for (int i = 0; i < n; i++) {                          \
				T u = x[i];                                    \
				d[i] = (D)(expression);                        \
			}                                                      \
		} else {                                                       \
			for (int i = 0; i < n; i++) {                          \
				T u = x[i];                                    \
				T v = y[i];                                    \
				d[i] = (D)(expression);                        \
			}                                                      \
		}                                                              \
	} while (0)

#define COMPARISONS(T)                                                         \
	case EXPR_EQ:                                                          \
		LOOPS(unsigned char, T, u == v);                               \
		return true;                                                   \
	case EXPR_NE:                                                          \
		LOOPS(unsigned char, T, u != v);                               \
		return true;                                                   \
	case EXPR_LT:                                                          \
		LOOPS(unsigned char, T, u < v);                                \
		return true;                                                   \
	case EXPR_LE:                                                          \
		LOOPS(unsigned char, T, u <= v);                               \
		return true;                                                   \
	case EXPR_GT:                                                          \
		LOOPS(unsigned char, T, u > v);                                \
		return true;                                                   \
	case EXPR_GE:                                                          \
		LOOPS(unsigned char, T, u >= v);                               \
		return true;

#define FLOAT_ARITHMETIC(T, nan)                                               \
	case EXPR_ADD:                                                         \
		LOOPS(T, T, u + v);                                            \
		return true;                                                   \
	case EXPR_SUB:                                                         \
		LOOPS(T, T, u - v);                                            \
		return true;                                                   \
	case EXPR_MUL:                                                         \
		LOOPS(T, T, u *v);                                             \
		return true;                                                   \
	case EXPR_DIV:                                                         \
		LOOPS(T, T, u / v);                                            \
		return true;                                                   \
	case EXPR_MIN:                                                         \
		LOOPS(T, T, u < v ? u : v <= u ? v : nan);                     \
		return true;                                                   \
	case EXPR_MAX:                                                         \
		LOOPS(T, T, u > v ? u : v >= u ? v : nan);                     \
		return true;

/* Computes a binary operator on columns of f32; false if this file has no loop
 * for the operator. Destination and operands may be the same memory. */
static bool
fast_f32(const struct exec_op *op, void *dst, const void *a, const void *b,
	 int n)
{
	const float nan = (float)NAN;

	switch ((enum expr_kind)op->kind) {
		FLOAT_ARITHMETIC(float, nan)
		COMPARISONS(float)
	default:
		return false;
	}
}

static bool
fast_f64(const struct exec_op *op, void *dst, const void *a, const void *b,
	 int n)
{
	const double nan = (double)NAN;

	switch ((enum expr_kind)op->kind) {
		FLOAT_ARITHMETIC(double, nan)
		COMPARISONS(double)
	default:
		return false;
	}
}

static bool
fast_bool(const struct exec_op *op, void *dst, const void *a, const void *b,
	  int n)
{
	switch ((enum expr_kind)op->kind) {
	case EXPR_AND:
		LOOPS(unsigned char, unsigned char, u &v);
		return true;
	case EXPR_OR:
		LOOPS(unsigned char, unsigned char, u | v);
		return true;
		COMPARISONS(unsigned char)
	default:
		return false;
	}
}

void
column_wrap(struct dtype t, int64_t *d, int n)
{
	switch (t.kind) {
	case DT_I32:
		for (int i = 0; i < n; i++) {
			d[i] = (int32_t)d[i];
		}
		break;
	case DT_I64:
	case DT_U64:
		break;
	default:
		for (int i = 0; i < n; i++) {
			union number v = { .i = d[i] };

			d[i] = number_round(t, v).i;
		}
		break;
	}
}

/* Floor division (or, by `kind`, the remainder) by a positive number that is
 * the same in all lanes. Powers of two and 32-bit operands avoid the slow
 * 64-bit division. */
static void
divide_by(enum expr_kind kind, int64_t *restrict d, const int64_t *a,
	  int64_t divisor, int n)
{
	bool quotient = kind == EXPR_FLOORDIV;

	if ((divisor & (divisor - 1)) == 0) {
		int shift = __builtin_ctzll((unsigned long long)divisor);

		for (int i = 0; i < n; i++) {
			d[i] = quotient ? a[i] >> shift : a[i] & (divisor - 1);
		}
		return;
	}
	for (int i = 0; i < n; i++) {
		int64_t q, rest;

		if ((uint64_t)a[i] <= UINT32_MAX && divisor <= INT32_MAX) {
			q = (uint32_t)a[i] / (uint32_t)divisor;
			rest = a[i] - q * divisor;
		} else {
			q = a[i] / divisor;
			rest = a[i] % divisor;
			q -= rest < 0;
			rest += rest < 0 ? divisor : 0;
		}
		d[i] = quotient ? q : rest;
	}
}

static bool
fast_int(const struct exec_op *op, void *dst, const void *a, const void *b,
	 int n)
{
	bool is_u64 = op->from.kind == DT_U64;

	switch ((enum expr_kind)op->kind) {
	case EXPR_ADD:
		LOOPS(int64_t, uint64_t, u + v);
		column_wrap(op->type, dst, n);
		return true;
	case EXPR_SUB:
		LOOPS(int64_t, uint64_t, u - v);
		column_wrap(op->type, dst, n);
		return true;
	case EXPR_MUL:
		LOOPS(int64_t, uint64_t, u * v);
		column_wrap(op->type, dst, n);
		return true;
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (is_u64 || !op->b_uniform || op->a_uniform ||
		    *(const int64_t *)b <= 0) {
			return false;
		}
		divide_by((enum expr_kind)op->kind, dst, a, *(const int64_t *)b,
			  n);
		return true;
	default:
		break;
	}
	if (is_u64) {
		switch ((enum expr_kind)op->kind) {
		case EXPR_MIN:
			LOOPS(int64_t, uint64_t, u < v ? u : v);
			return true;
		case EXPR_MAX:
			LOOPS(int64_t, uint64_t, u > v ? u : v);
			return true;
			COMPARISONS(uint64_t)
		default:
			return false;
		}
	}
	switch ((enum expr_kind)op->kind) {
	case EXPR_MIN:
		LOOPS(int64_t, int64_t, u < v ? u : v);
		return true;
	case EXPR_MAX:
		LOOPS(int64_t, int64_t, u > v ? u : v);
		return true;
		COMPARISONS(int64_t)
	default:
		return false;
	}
}

static bool
slow_binary(const struct exec_op *op, void *dst, const void *a, const void *b,
	    const unsigned char *mask, int n)
{
	bool fine = true;

	for (int i = 0; i < n; i++) {
		enum scalar_fault fault = SCALAR_FINE;
		union number x = column_get(op->from, a, op->a_uniform ? 0 : i);
		union number y = column_get(op->from, b, op->b_uniform ? 0 : i);

		column_set(op->type, dst, i,
			   scalar_binary((enum expr_kind)op->kind, op->from, x,
					 y, &fault));
		fine &= !fault || (mask && !mask[i]);
	}
	return fine;
}

/* column_overflow() for operands of f32. */
static void
overflow_f32(const struct exec_op *op, const float *a, const float *b,
	     const unsigned char *mask, int n, struct run_overflow *out)
{
	const bool multiplies = op->kind == EXPR_MUL;

	for (int i = 0; i < n; i++) {
		const float x = a[op->a_uniform ? 0 : i];
		const float y = b[op->b_uniform ? 0 : i];
		const bool finite = isfinite(x) && isfinite(y);

		if (mask != NULL && !mask[i]) {
			continue;
		}
		out->product |= multiplies && finite && !isfinite(x * y);
		out->sum |= !multiplies && !finite;
	}
}

void
column_overflow(const struct exec_op *op, const void *a, const void *b,
		const unsigned char *mask, int n, struct run_overflow *out)
{
	const enum expr_kind kind = (enum expr_kind)op->kind;
	const bool adds = kind == EXPR_ADD || kind == EXPR_SUB;
	enum scalar_fault fault = SCALAR_FINE;

	if ((!adds && kind != EXPR_MUL) || (adds ? out->sum : out->product) ||
	    op->column == COLUMN_INT || op->column == COLUMN_BOOL) {
		return;
	}
	if (op->from.kind == DT_F32) {
		overflow_f32(op, a, b, mask, n, out);
		return;
	}
	for (int i = 0; i < n; i++) {
		union number x = column_get(op->from, a, op->a_uniform ? 0 : i);
		union number y = column_get(op->from, b, op->b_uniform ? 0 : i);
		bool finite = isfinite(x.f) && isfinite(y.f);

		if (mask != NULL && !mask[i]) {
			continue;
		}
		if (adds) {
			out->sum |= !finite;
		} else if (finite) {
			out->product |= !isfinite(
				scalar_binary(kind, op->from, x, y, &fault).f);
		}
	}
}

bool
column_binary(const struct exec_op *op, void *dst, const void *a, const void *b,
	      const unsigned char *mask, int n)
{
	bool done = false;

	switch (op->column) {
	case COLUMN_F32:
		/* The results of narrower float types are computed as f32 and
		 * rounded to the type afterwards. */
		done = (op->from.kind == DT_F32 ||
			(op->kind >= EXPR_EQ && op->kind <= EXPR_GE)) &&
		       fast_f32(op, dst, a, b, n);
		break;
	case COLUMN_F64:
		done = fast_f64(op, dst, a, b, n);
		break;
	case COLUMN_INT:
		done = fast_int(op, dst, a, b, n);
		break;
	case COLUMN_BOOL:
		done = fast_bool(op, dst, a, b, n);
		break;
	}
	return done || slow_binary(op, dst, a, b, mask, n);
}
