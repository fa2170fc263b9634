/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about data types, from the table. */
#include "dtype.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DT_OWN = DT_COUNT };

static const struct {
	const char *name, *abbrev;
	enum dtype_class cls;
	int bits;
	/* the type that elements have in memory (dtype_stored): an enum
	 * dtype_kind, or DT_OWN for the same type */
	int stored;
	struct float_form form;
	int onnx_number;
	const char *onnx_name, *numpy_name;
} rows[] = {
#define NO_FORM                                                                \
	{                                                                      \
		0, 0, 0, SPECIALS_IEEE                                         \
	}
#define FORM(exponent, fraction, bias, specials)                               \
	{                                                                      \
		exponent, fraction, bias, SPECIALS_##specials                  \
	}
#define DTYPE(id, name, abbrev, cls, bits, stored, ...)                        \
	{ name, abbrev, DTC_##cls, bits, DT_##stored, __VA_ARGS__ },
#include "dtype.def"
#undef DTYPE
};

enum dtype_class
dtype_class(struct dtype t)
{
	return rows[t.kind].cls;
}

int
dtype_bits(struct dtype t)
{
	return rows[t.kind].bits;
}

int
dtype_bytes(struct dtype t)
{
	return (rows[t.kind].bits + 7) / 8;
}

bool
dtype_is_float(struct dtype t)
{
	return dtype_class(t) == DTC_FLOAT;
}

bool
dtype_is_int(struct dtype t)
{
	return dtype_class(t) == DTC_INT || dtype_class(t) == DTC_UINT;
}

bool
dtype_is_number(struct dtype t)
{
	return dtype_is_int(t) || dtype_is_float(t) || t.kind == DT_BOOL;
}

bool
dtype_is_signed(struct dtype t)
{
	return dtype_class(t) == DTC_INT || dtype_class(t) == DTC_FLOAT;
}

bool
dtype_common(struct dtype a, struct dtype b, struct dtype *out)
{
	bool fa = dtype_is_float(a), fb = dtype_is_float(b);

	if (a.lanes != b.lanes && a.lanes != 1 && b.lanes != 1) {
		return false;
	}
	if (a.kind == b.kind) {
		*out = a;
	} else if (!(fa || dtype_is_int(a) || a.kind == DT_BOOL) ||
		   !(fb || dtype_is_int(b) || b.kind == DT_BOOL) ||
		   (fa && fb && dtype_bits(a) == dtype_bits(b))) {
		return false;
	} else if (a.kind == DT_BOOL || b.kind == DT_BOOL) {
		*out = b.kind == DT_BOOL ? a : b;
	} else if (fa != fb) {
		*out = fa ? a : b;
	} else if (dtype_bits(a) != dtype_bits(b)) {
		*out = dtype_bits(a) > dtype_bits(b) ? a : b;
	} else {
		*out = dtype_is_signed(a) ? b : a;
	}
	out->lanes = a.lanes > b.lanes ? a.lanes : b.lanes;
	return true;
}

struct dtype
dtype_stored(struct dtype t)
{
	if (rows[t.kind].stored != DT_OWN) {
		t.kind = (uint16_t)rows[t.kind].stored;
	}
	return t;
}

const char *
dtype_name(struct dtype t)
{
	return rows[t.kind].name;
}

const char *
dtype_short(struct dtype t)
{
	return rows[t.kind].abbrev;
}

int
dtype_onnx_number(struct dtype t)
{
	return rows[t.kind].onnx_number;
}

const char *
dtype_onnx_name(struct dtype t)
{
	return rows[t.kind].onnx_name;
}

const char *
dtype_numpy_name(struct dtype t)
{
	return rows[t.kind].numpy_name;
}

bool
dtype_from_onnx(int64_t number, struct dtype *out)
{
	for (int kind = 0; kind < DT_COUNT; kind++) {
		if (number != 0 && rows[kind].onnx_number == number) {
			*out = dtype_of((enum dtype_kind)kind);
			return true;
		}
	}
	return false;
}

/* The lanes at the end of a type's name: "", "x4", or "xvscalex4", the vectors of a
 * length that TVM leaves to the processor, which are the shortest ones here. */
static bool
lanes_from_name(const char *rest, uint16_t *lanes)
{
	static const char scalable[] = "xvscale";
	char *end;
	long n;

	if (*rest == '\0') {
		*lanes = 1;
		return true;
	}
	if (strncmp(rest, scalable, sizeof scalable - 1) == 0) {
		rest += sizeof scalable - 1;
	}
	if (rest[0] != 'x' || rest[1] < '1' || rest[1] > '9') {
		return false;
	}
	n = strtol(rest + 1, &end, 10);
	if (*end != '\0' || n > UINT16_MAX) {
		return false;
	}
	*lanes = (uint16_t)n;
	return true;
}

/* Names of types in older versions of TVM. */
static const struct {
	const char *name;
	enum dtype_kind kind;
} old_names[] = {
	{ "e4m3_float8", DT_F8E4M3FN },
	{ "e5m2_float8", DT_F8E5M2 },
};

static bool
type_from_name(const char *name, const char *spelt, int kind, struct dtype *out)
{
	size_t len = strlen(spelt);

	out->kind = (uint16_t)kind;
	return strncmp(name, spelt, len) == 0 &&
	       lanes_from_name(name + len, &out->lanes);
}

bool
dtype_from_name(const char *name, struct dtype *out)
{
	struct dtype t;

	for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++) {
		if (type_from_name(name, old_names[i].name,
				   (int)old_names[i].kind, &t)) {
			*out = t;
			return true;
		}
	}
	for (int kind = 0; kind < DT_COUNT; kind++) {
		if (type_from_name(name, rows[kind].name, kind, &t) ||
		    type_from_name(name, rows[kind].abbrev, kind, &t)) {
			*out = t;
			return true;
		}
	}
	return false;
}

int64_t
dtype_min_int(struct dtype t)
{
	if (dtype_class(t) != DTC_INT) {
		return 0;
	}
	return INT64_MIN >> (64 - dtype_bits(t));
}

uint64_t
dtype_max_int(struct dtype t)
{
	switch (dtype_class(t)) {
	case DTC_BOOL:
		return 1;
	case DTC_INT:
		return (uint64_t)INT64_MAX >> (64 - dtype_bits(t));
	case DTC_UINT:
	case DTC_HANDLE:
		return UINT64_MAX >> (64 - dtype_bits(t));
	default:
		return 0;
	}
}

bool
dtype_holds(struct dtype t, int64_t v)
{
	return v >= dtype_min_int(t) &&
	       (v < 0 || (uint64_t)v <= dtype_max_int(t));
}

double
dtype_highest(struct dtype t)
{
	struct float_form f = rows[t.kind].form;
	int e = (1 << f.exp_bits) - 1 - f.bias;
	int last = f.specials == SPECIALS_ONE_NAN ? 1 - f.frac_bits
						  : -f.frac_bits;

	if (!dtype_is_float(t)) {
		return (double)dtype_max_int(t);
	}
	return ldexp(2 - ldexp(1, last),
		     f.specials == SPECIALS_IEEE ? e - 1 : e);
}

double
dtype_epsilon(struct dtype t)
{
	return ldexp(1, -rows[t.kind].form.frac_bits);
}

struct float_form
dtype_float_form(struct dtype t)
{
	return rows[t.kind].form;
}

double
dtype_lowest(struct dtype t)
{
	return dtype_is_float(t) ? -dtype_highest(t) : (double)dtype_min_int(t);
}
