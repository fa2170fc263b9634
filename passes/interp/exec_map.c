/* SPDX-License-Identifier: Apache-2.0 */
/* Select, cast, intrinsics and folds on columns; binary operators are in
 * exec_column.c. Like that file, this one is built with -O3. */
#include "exec.h"

#include <math.h>

/* ---- select, cast, broadcast */

#define SELECT_LOOP(T)                                                         \
	do {                                                                   \
		T *restrict d = dst;                                           \
		const T *x = a;                                                \
		const T *y = b;                                                \
		if (c_uniform) {                                               \
			memcpy(d, c[0] ? x : y, sizeof(T) * (size_t)n);        \
		} else {                                                       \
			for (int i = 0; i < n; i++) {                          \
				d[i] = c[i] ? x[i] : y[i];                     \
			}                                                      \
		}                                                              \
	} while (0)

void
column_select(enum column column, void *dst, const unsigned char *c,
	      bool c_uniform, const void *a, const void *b, int n)
{
	switch (column) {
	case COLUMN_F32:
		SELECT_LOOP(float);
		break;
	case COLUMN_F64:
		SELECT_LOOP(double);
		break;
	case COLUMN_INT:
		SELECT_LOOP(int64_t);
		break;
	case COLUMN_BOOL:
		SELECT_LOOP(unsigned char);
		break;
	}
}

#define CAST_LOOP(D, T, expression)                                            \
	do {                                                                   \
		D *restrict d = dst;                                           \
		const T *x = a;                                                \
		for (int i = 0; i < n; i++) {                                  \
			T u = x[i];                                            \
			d[i] = (D)(expression);                                \
		}                                                              \
	} while (0)

static bool
fast_cast(struct dtype to, struct dtype from, void *dst, const void *a, int n)
{
	enum column c = exec_column(from);

	if (dtype_class(to) == DTC_BOOL) {
		if (c == COLUMN_F32) {
			CAST_LOOP(unsigned char, float, u != 0);
		} else if (c == COLUMN_F64) {
			CAST_LOOP(unsigned char, double, u != 0);
		} else if (c == COLUMN_INT) {
			CAST_LOOP(unsigned char, int64_t, u != 0);
		} else {
			memcpy(dst, a, (size_t)n);
		}
		return true;
	}
	switch (to.kind) {
	case DT_F32:
		if (c == COLUMN_F32) {
			/* narrower float types are stored as f32 */
			memcpy(dst, a, sizeof(float) * (size_t)n);
		} else if (c == COLUMN_F64) {
			CAST_LOOP(float, double, u);
		} else if (c == COLUMN_BOOL) {
			CAST_LOOP(float, unsigned char, u);
		} else if (from.kind != DT_U64) {
			CAST_LOOP(float, int64_t, u);
		} else {
			CAST_LOOP(float, uint64_t, u);
		}
		return true;
	case DT_F64:
		if (c == COLUMN_F32) {
			CAST_LOOP(double, float, u);
		} else if (c == COLUMN_F64) {
			memcpy(dst, a, sizeof(double) * (size_t)n);
		} else if (c == COLUMN_BOOL) {
			CAST_LOOP(double, unsigned char, u);
		} else if (from.kind != DT_U64) {
			CAST_LOOP(double, int64_t, u);
		} else {
			CAST_LOOP(double, uint64_t, u);
		}
		return true;
	default:
		break;
	}
	if (exec_column(to) != COLUMN_INT) {
		return false;
	}
	if (c == COLUMN_BOOL) {
		CAST_LOOP(int64_t, unsigned char, u);
		return true;
	}
	if (c == COLUMN_INT) {
		memcpy(dst, a, sizeof(int64_t) * (size_t)n);
		column_wrap(to, dst, n);
		return true;
	}
	return false;
}

void
column_cast(struct dtype to, struct dtype from, void *dst, const void *a, int n)
{
	if (fast_cast(to, from, dst, a, n)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		column_set(to, dst, i,
			   number_cast(to, from, column_get(from, a, i)));
	}
}

#define FILL_LOOP(T)                                                           \
	do {                                                                   \
		T *restrict d = dst;                                           \
		T value = *(const T *)a;                                       \
		for (int i = 0; i < n; i++) {                                  \
			d[i] = value;                                          \
		}                                                              \
	} while (0)

void
column_broadcast(enum column column, void *dst, const void *a, int n)
{
	switch (column) {
	case COLUMN_F32:
		FILL_LOOP(float);
		break;
	case COLUMN_F64:
		FILL_LOOP(double);
		break;
	case COLUMN_INT:
		FILL_LOOP(int64_t);
		break;
	case COLUMN_BOOL:
		memset(dst, *(const unsigned char *)a, (size_t)n);
		break;
	}
}

/* ---- intrinsics */

#define MAP_LOOP(T, expression)                                                \
	do {                                                                   \
		T *restrict d = dst;                                           \
		const T *x = a;                                                \
		for (int i = 0; i < n; i++) {                                  \
			T u = x[i];                                            \
			d[i] = expression;                                     \
		}                                                              \
		return true;                                                   \
	} while (0)

static bool
fast_call(const struct exec_op *op, void *dst, const void *a, int n)
{
	bool is_f32 = op->from.kind == DT_F32;

	if (!is_f32 && op->from.kind != DT_F64) {
		return false;
	}
	switch ((enum intrin)op->index) {
	case INTRIN_SQRT:
		if (is_f32) {
			MAP_LOOP(float, sqrtf(u));
		}
		MAP_LOOP(double, sqrt(u));
	case INTRIN_ABS:
		if (is_f32) {
			MAP_LOOP(float, fabsf(u));
		}
		MAP_LOOP(double, fabs(u));
	case INTRIN_RSQRT:
		if (is_f32) {
			MAP_LOOP(float, (float)(1 / sqrt((double)u)));
		}
		MAP_LOOP(double, 1 / sqrt(u));
	case INTRIN_FLOOR:
		if (is_f32) {
			MAP_LOOP(float, floorf(u));
		}
		MAP_LOOP(double, floor(u));
	case INTRIN_EXP:
		if (is_f32) {
			MAP_LOOP(float, (float)exp((double)u));
		}
		MAP_LOOP(double, exp(u));
	case INTRIN_TANH:
		if (is_f32) {
			MAP_LOOP(float, (float)tanh((double)u));
		}
		MAP_LOOP(double, tanh(u));
	case INTRIN_ERF:
		if (is_f32) {
			MAP_LOOP(float, (float)erf((double)u));
		}
		MAP_LOOP(double, erf(u));
	default:
		return false;
	}
}

bool
column_call(const struct exec_op *op, void *dst, const void *a, const void *b,
	    const void *c, const unsigned char *mask, int n)
{
	bool fine = true;

	if (fast_call(op, dst, a, n)) {
		return true;
	}
	for (int i = 0; i < n; i++) {
		enum scalar_fault fault = SCALAR_FINE;
		union number args[3];

		args[0] = column_get(op->from, a, i);
		if (b) {
			args[1] = column_get(op->from, b, i);
		}
		if (c) {
			args[2] = column_get(op->from, c, i);
		}
		column_set(op->type, dst, i,
			   scalar_call((enum intrin)op->index, op->type,
				       op->from, args, &fault));
		fine &= !fault || (mask && !mask[i]);
	}
	return fine;
}

/* ---- folds over the lanes */

#define FOLD_LOOP(T, expression)                                               \
	do {                                                                   \
		const T *x = a;                                                \
		T u = *(T *)cell;                                              \
		for (int i = 0; i < n; i++) {                                  \
			T v = x[i];                                            \
			u = expression;                                        \
		}                                                              \
		*(T *)cell = u;                                                \
		return true;                                                   \
	} while (0)

static bool
fold_f32(const struct exec_op *op, void *cell, const void *a, int n)
{
	const float nan = (float)NAN;

	switch ((enum expr_kind)op->kind) {
	case EXPR_ADD:
		FOLD_LOOP(float, u + v);
	case EXPR_MUL:
		FOLD_LOOP(float, u *v);
	case EXPR_MIN:
		FOLD_LOOP(float, u < v ? u : v <= u ? v : nan);
	case EXPR_MAX:
		FOLD_LOOP(float, u > v ? u : v >= u ? v : nan);
	default:
		return false;
	}
}

bool
column_fold(const struct exec_op *op, void *cell, const void *a,
	    const unsigned char *mask, int n)
{
	bool fine = true;

	if (op->type.kind == DT_F32 && !mask && fold_f32(op, cell, a, n)) {
		return true;
	}
	union number sum = number_load(op->type, cell, 0);

	for (int i = 0; i < n; i++) {
		enum scalar_fault fault = SCALAR_FINE;

		if (!mask || mask[i]) {
			sum = scalar_binary((enum expr_kind)op->kind, op->type,
					    sum, column_get(op->type, a, i),
					    &fault);
			fine &= !fault;
		}
	}
	number_store(op->type, cell, 0, sum);
	return fine;
}
