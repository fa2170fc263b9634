/* SPDX-License-Identifier: Apache-2.0 */
/* Data types: each is a row of dtype.def, with a number of lanes for
 * vectors. */
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
	uint16_t kind;  /* an enum dtype_kind */
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
int dtype_bytes(struct dtype t); /* the bytes of one lane in memory, at least
				  * 1 */
bool dtype_is_float(struct dtype t);
bool dtype_is_int(struct dtype t); /* true for signed and unsigned integers, not
				    * for bool */
bool dtype_is_number(struct dtype t); /* an integer, a float or bool */
bool dtype_is_signed(struct dtype t);
/* Sets *out to the type to which the operands of an operator, of types a and b,
 * are cast, by TVM's rules (BinaryOpMatchTypes in src/tirx/op/op.cc): of two
 * floats or two integers, the wider one; of a signed and an unsigned integer
 * with the same bits, the unsigned one; of a float and an integer, the float;
 * of bool and another type, the other type; of a vector and a scalar, the
 * vector. False if there is no common type: a string and a number, vectors of
 * different lanes, and float16 and bfloat16, neither of which holds all values
 * of the other (TVM takes float16). */
bool dtype_common(struct dtype a, struct dtype b, struct dtype *out);
/* The type in memory: an integer of fewer than 8 bits takes a byte,
 * sign-extended if it is signed. */
struct dtype dtype_stored(struct dtype t);
const char *dtype_name(struct dtype t);  /* "float32", without lanes */
const char *dtype_short(struct dtype t); /* "f32" */
/* Reads the name of a type, "float32", "float32x4" or "f32"; false if no type
 * has this name. */
bool dtype_from_name(const char *name, struct dtype *out);
/* The number and name in ONNX (TensorProto.DataType), and the name in NumPy's
 * files; 0 or NULL if ONNX or NumPy does not have the type. */
int dtype_onnx_number(struct dtype t);
const char *dtype_onnx_name(struct dtype t);
const char *dtype_numpy_name(struct dtype t);
bool dtype_from_onnx(int64_t number, struct dtype *out);
int64_t dtype_min_int(struct dtype t); /* integers and bool */
uint64_t dtype_max_int(struct dtype t);
/* Is v a value of t, an integer or bool? */
bool dtype_holds(struct dtype t, int64_t v);
double dtype_lowest(struct dtype t);  /* most negative finite value */
double dtype_highest(struct dtype t); /* largest finite value */
double dtype_epsilon(struct dtype t); /* for floats: the distance from 1 to the
				       * next larger number */

/* The bit patterns of a float that are not finite numbers. */
enum float_specials {
	/* infinities and NaN have an exponent with all bits set */
	SPECIALS_IEEE,
	/* NaN has an exponent and a fraction with all bits set; the type has no
	 * infinities */
	SPECIALS_ONE_NAN,
	SPECIALS_ONE_ZERO, /* "uz": no -0, whose pattern is the NaN; no
			    * infinities */
	SPECIALS_FINITE    /* all patterns are finite numbers */
};

/* The format of a float: sign, exponent, fraction. For a type that is not a
 * float, exp_bits is 0. */
struct float_form {
	int exp_bits, frac_bits, bias;
	enum float_specials specials;
};

struct float_form dtype_float_form(struct dtype t);
/* Bit patterns of floats of at most 16 bits. */
uint32_t float_form_sign(struct float_form f);
uint32_t float_form_highest(struct float_form f); /* largest finite value */
/* The quiet, positive NaN. 0 if the type has no NaN: like a conversion to an
 * integer, a conversion of NaN gives 0. */
uint32_t float_form_nan(struct float_form f);
/* The bits of the result if a positive value beyond the type's largest value is
 * rounded to the type: infinity; in types without infinity, NaN; in types
 * without NaN, too, the largest value. The first two are ONNX's Cast without
 * saturation, the last ONNX's FLOAT4E2M1. */
uint32_t float_form_beyond(struct float_form f);

/* One element as a number: a float in f, a signed integer or bool in i, an
 * unsigned integer in u. The conversions of number.c round to nearest even and
 * keep NaN; a value beyond the largest value of a type becomes
 * float_form_beyond(). Conversions of floats to integers saturate; NaN gives
 * 0. */
union number {
	double f;
	int64_t i;
	uint64_t u;
};

union number number_load(struct dtype t, const void *base, size_t index);
void number_store(struct dtype t, void *base, size_t index, union number v);
/* Is each bool in the data of a file 0 or 1? If not, *bad is the index of the
 * first that is neither. True for other types. */
bool number_bools_valid(struct dtype t, const void *data, int64_t elems,
			int64_t *bad);
/* A cast as in C: floats to integers toward zero, integers wrap. */
union number number_cast(struct dtype to, struct dtype from, union number v);
/* Converts a result computed in double or 64 bits to a value of type t: a float
 * is rounded, an integer wraps. */
union number number_round(struct dtype t, union number v);

#endif
