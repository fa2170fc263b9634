/* SPDX-License-Identifier: Apache-2.0 */
/* Data types are data: one row of dtype.def each, lanes for vectors. */
#ifndef TIRC_DTYPE_H
#define TIRC_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype_kind {
#define DTYPE(id, ...) DT_##id,
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
int dtype_bytes(struct dtype t); /* of one lane in memory: at least 1 */
bool dtype_is_float(struct dtype t);
bool dtype_is_int(struct dtype t); /* signed or unsigned, not bool */
bool dtype_is_signed(struct dtype t);
/* The type that the operands of an operator are cast to, by TVM's rules
 * (BinaryOpMatchTypes in src/tirx/op/op.cc): the wider of two floats or of two
 * integers; of a signed and an unsigned integer of the same bits the unsigned
 * one; the float beside an integer; the other type beside bool; the vector
 * beside a scalar. False if there is no common type: a string and a number,
 * vectors of different lanes, and float16 and bfloat16, of which neither holds
 * the other's values (TVM takes float16). */
bool dtype_common(struct dtype a, struct dtype b, struct dtype *out);
/* The type in memory: integers of fewer than 8 bits take a byte each,
 * sign-extended. */
struct dtype dtype_stored(struct dtype t);
const char *dtype_name(struct dtype t);  /* "float32", without lanes */
const char *dtype_short(struct dtype t); /* "f32" */
/* "float32", "float32x4", "f32"; false if unknown. */
bool dtype_from_name(const char *name, struct dtype *out);
/* ONNX's number (TensorProto.DataType; 0: none) and name, NumPy's name in files;
 * NULL: it has none. */
int dtype_onnx_number(struct dtype t);
const char *dtype_onnx_name(struct dtype t);
const char *dtype_numpy_name(struct dtype t);
bool dtype_from_onnx(int64_t number, struct dtype *out);
int64_t dtype_min_int(struct dtype t); /* integers and bool */
uint64_t dtype_max_int(struct dtype t);
double dtype_lowest(struct dtype t);  /* most negative finite value */
double dtype_highest(struct dtype t); /* largest finite value */
double dtype_epsilon(struct dtype t); /* of floats: from 1 to the next one */

/* The bit patterns of a float that are not finite numbers. */
enum float_specials {
	SPECIALS_IEEE,     /* exponent all ones: infinities and NaN */
	SPECIALS_ONE_NAN,  /* all ones is NaN */
	SPECIALS_ONE_ZERO, /* "uz": no -0; its pattern is the NaN */
	SPECIALS_FINITE    /* none */
};

/* The format of a float: sign, exponent, fraction. exp_bits is 0 for all other
 * types. */
struct float_form {
	int exp_bits, frac_bits, bias;
	enum float_specials specials;
};

struct float_form dtype_float_form(struct dtype t);
/* Patterns of floats of at most 16 bits. */
uint32_t float_form_sign(struct float_form f);
uint32_t float_form_highest(struct float_form f); /* largest finite value */
/* The quiet, positive NaN; 0 if the type has no NaN, as in conversions of NaN to
 * integers. */
uint32_t float_form_nan(struct float_form f);
/* The result of rounding a positive value beyond the largest one: infinity; NaN
 * in types without infinity; the largest value in types with neither. The first
 * two are ONNX's Cast without saturation, the last ONNX's FLOAT4E2M1. */
uint32_t float_form_beyond(struct float_form f);

/* One element as a number: floats in f, signed ints and bool in i, unsigned in
 * u. The conversions of number.c round to nearest even and keep NaN. A value
 * beyond the largest one becomes float_form_beyond. Floats to integers
 * saturate; NaN gives 0. */
union number {
	double f;
	int64_t i;
	uint64_t u;
};

union number number_load(struct dtype t, const void *base, size_t index);
void number_store(struct dtype t, void *base, size_t index, union number v);
/* Is each element of a file's bools 0 or 1? Of another type, each is. *bad: the
 * first that is neither. */
bool number_bools_valid(struct dtype t, const void *data, int64_t elems,
			int64_t *bad);
/* C-like cast between types (floats toward zero to int; int wraps). */
union number number_cast(struct dtype to, struct dtype from, union number v);
/* Rounds/wraps a wide value to what t can hold (f32 sums etc.). */
union number number_round(struct dtype t, union number v);

#endif
