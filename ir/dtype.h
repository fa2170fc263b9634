/* SPDX-License-Identifier: Apache-2.0 */
/* Data types are data: one row of dtype.def each, lanes for vectors. */
#ifndef TIRC_IR_DTYPE_H
#define TIRC_IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype_kind {
#define DTYPE(id, name, abbrev, cls, bits) DT_##id,
#include "dtype.def"
#undef DTYPE
	DT_COUNT
};

enum dtype_class {
	DTC_VOID,
	DTC_BOOL,
	DTC_INT,
	DTC_UINT,
	DTC_FLOAT,
	DTC_HANDLE,
	DTC_STRING
};

struct dtype {
	uint16_t kind;  /* enum dtype_kind */
	uint16_t lanes; /* 1 for scalars */
};

static inline struct dtype
dtype_of(enum dtype_kind kind)
{
	return (struct dtype){ (uint16_t)kind, 1 };
}

static inline bool
dtype_equal(struct dtype a, struct dtype b)
{
	return a.kind == b.kind && a.lanes == b.lanes;
}

enum dtype_class dtype_class(struct dtype t);
int dtype_bits(struct dtype t);  /* of one lane */
int dtype_bytes(struct dtype t); /* storage of one lane: 4-bit types take 1 */
bool dtype_is_float(struct dtype t);
bool dtype_is_int(struct dtype t); /* signed or unsigned, not bool */
bool dtype_is_signed(struct dtype t);
/* The type that the operands of an operator are cast to, by TVM's rules: the
 * wider of two floats or of two integers; of a signed and an unsigned integer
 * the signed type of the wider one's bits; the float beside an integer; the
 * other type beside bool; the vector beside a scalar. False if there is no
 * common type: float16 and bfloat16, a string and a number, vectors of
 * different lanes. */
bool dtype_common(struct dtype a, struct dtype b, struct dtype *out);
/* The type in memory: 4-bit integers take a byte each, sign-extended. */
struct dtype dtype_stored(struct dtype t);
const char *dtype_name(struct dtype t);  /* "float32", without lanes */
const char *dtype_short(struct dtype t); /* "f32" */
/* "float32", "float32x4", "f32"; false if unknown. */
bool dtype_from_name(const char *name, struct dtype *out);
int64_t dtype_min_int(struct dtype t); /* integers and bool */
uint64_t dtype_max_int(struct dtype t);
double dtype_lowest(struct dtype t);  /* most negative finite value */
double dtype_highest(struct dtype t); /* largest finite value */

/* The format of a float of at most 16 bits: sign, exponent, fraction. exp_bits
 * is 0 for all other types. */
struct float_form {
	int exp_bits, frac_bits, bias;
	bool has_inf;  /* exponent all ones: infinities and NaN */
	bool one_zero; /* "uz": no -0; its pattern is the NaN */
};

struct float_form dtype_float_form(struct dtype t);
uint32_t float_form_sign(struct float_form f);
uint32_t float_form_highest(struct float_form f); /* largest finite value */
uint32_t float_form_nan(struct float_form f);     /* quiet, positive */
uint32_t float_form_beyond(struct float_form f);  /* what rounds beyond the
						   * largest, positive */

/* One element as a number: floats in f, signed ints and bool in i, unsigned in
 * u. The conversions of number.c round to nearest even and keep NaN. A value
 * beyond the largest one becomes infinity, or NaN if the type has no infinity.
 * Floats to integers saturate; NaN gives 0. */
union number {
	double f;
	int64_t i;
	uint64_t u;
};

union number number_load(struct dtype t, const void *base, size_t index);
void number_store(struct dtype t, void *base, size_t index, union number v);
/* C-like cast between types (floats toward zero to int; int wraps). */
union number number_cast(struct dtype to, struct dtype from, union number v);
/* Rounds/wraps a wide value to what t can hold (f32 sums etc.). */
union number number_round(struct dtype t, union number v);

#endif
