/* SPDX-License-Identifier: Apache-2.0 */
/* Types and tensors of ONNX's text form:
 *
 *	float x               a scalar
 *	float[] x             of any rank
 *	float[n, 3, ?] x      with sizes
 *	seq(float[2]) s       also map, optional, sparse_tensor, opaque
 *	int64[2] v = {1, 2}
 *	float[9] w = ["location": "weights.bin"]
 */
#include "onnx_text.h"

/* Field numbers of the messages. */
enum {
	TYPE_TENSOR = 1,
	TYPE_SEQUENCE = 4,
	TYPE_MAP = 5,
	TYPE_OPAQUE = 7,
	TYPE_SPARSE = 8,
	TYPE_OPTIONAL = 9,
	TENSOR_ELEM = 1,
	TENSOR_SHAPE = 2,
	SHAPE_DIM = 1,
	DIM_VALUE = 1,
	DIM_PARAM = 2,
	ELEM_TYPE = 1,
	MAP_KEY = 1,
	MAP_VALUE = 2,
	OPAQUE_DOMAIN = 1,
	OPAQUE_NAME = 2,
	INFO_NAME = 1,
	INFO_TYPE = 2,
	PROTO_DIMS = 1,
	PROTO_TYPE = 2,
	PROTO_FLOATS = 4,
	PROTO_INT32 = 5,
	PROTO_STRINGS = 6,
	PROTO_INT64 = 7,
	PROTO_NAME = 8,
	PROTO_DOUBLES = 10,
	PROTO_UINT64 = 11,
	PROTO_EXTERNAL = 13,
	PROTO_LOCATION = 14,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2
};

/* ONNX's names of element types, and their numbers. */
static const struct {
	const char *name;
	int64_t number;
} elems[] = {
	{ "float", 1 },         { "uint8", 2 },
	{ "int8", 3 },          { "uint16", 4 },
	{ "int16", 5 },         { "int32", 6 },
	{ "int64", 7 },         { "string", 8 },
	{ "bool", 9 },          { "float16", 10 },
	{ "double", 11 },       { "uint32", 12 },
	{ "uint64", 13 },       { "complex64", 14 },
	{ "complex128", 15 },   { "bfloat16", 16 },
	{ "float8e4m3fn", 17 }, { "float8e4m3fnuz", 18 },
	{ "float8e5m2", 19 },   { "float8e5m2fnuz", 20 },
	{ "uint4", 21 },        { "int4", 22 },
	{ "float4e2m1", 23 },   { "float8e8m0", 24 },
	{ "uint2", 25 },        { "int2", 26 },
	{ "float6e2m3", 27 },   { "float6e3m2", 28 },
};

enum {
	ELEM_FLOAT = 1,
	ELEM_INT64 = 7,
	ELEM_STRING = 8,
	ELEM_DOUBLE = 11,
	ELEM_UINT32 = 12,
	ELEM_UINT64 = 13,
	ELEM_COMPLEX64 = 14,
	ELEM_COMPLEX128 = 15
};

static int64_t
elem_number(struct onnx_word w)
{
	for (size_t i = 0; i < sizeof elems / sizeof *elems; i++) {
		if (text_word_is(w, elems[i].name)) {
			return elems[i].number;
		}
	}
	return 0;
}

static bool
is_composed(struct onnx_word w)
{
	return text_word_is(w, "seq") || text_word_is(w, "map") ||
	       text_word_is(w, "optional") ||
	       text_word_is(w, "sparse_tensor") || text_word_is(w, "opaque");
}

bool
text_is_type(struct onnx_text *r)
{
	struct onnx_word w = text_peek_word(r);

	return elem_number(w) != 0 || is_composed(w);
}

/* -- types */

static bool
read_dim(struct onnx_text *r)
{
	size_t start = wire_open(r->out, SHAPE_DIM);
	bool named = text_peek(r) == '"' || text_peek_word(r).length > 0;
	struct onnx_word w;
	int64_t size;

	if (text_accept(r, '?')) {
		r->type.has_names = true;
	} else if (named) {
		if (!text_name(r, "a size", &w)) {
			return false;
		}
		text_put(r, DIM_PARAM, w);
		r->type.has_names = true;
	} else {
		if (!text_int64(r, "a size, its name or ?", &size)) {
			return false;
		}
		wire_put_int(r->out, DIM_VALUE, size);
		vec_push(r->tmp, &r->type.dims, size);
	}
	return text_close(r, start);
}

/* Reads the [sizes] of a tensor. Without brackets the type is a scalar; [] is a
 * tensor of any rank. */
static bool
read_shape(struct onnx_text *r)
{
	bool brackets = text_accept(r, '[');
	size_t start;

	if (brackets && text_accept(r, ']')) {
		return true;
	}
	r->type.has_shape = true;
	start = wire_open(r->out, TENSOR_SHAPE);
	if (brackets) {
		do {
			if (!read_dim(r)) {
				return false;
			}
		} while (text_accept(r, ','));
		if (!text_expect(r, ']', "it ends the sizes of a type")) {
			return false;
		}
	}
	return text_close(r, start);
}

static bool
read_tensor_type(struct onnx_text *r, uint32_t field, int64_t elem)
{
	size_t start = wire_open(r->out, field);

	wire_put_int(r->out, TENSOR_ELEM, elem);
	r->type.elem = elem;
	return read_shape(r) && text_close(r, start);
}

static bool read_type(struct onnx_text *r);

/* Reads the type in the parentheses of another type, seq(…), and appends it as
 * `field`. False after a diagnostic. */
static bool
read_inner(struct onnx_text *r, uint32_t field)
{
	size_t start = wire_open(r->out, field);

	return read_type(r) && text_close(r, start);
}

static bool
read_map(struct onnx_text *r)
{
	struct onnx_word w;

	if (!text_word(r, "the type of the map's keys", &w)) {
		return false;
	}
	if (elem_number(w) == 0) {
		return text_fail(r, r->at - w.length,
				 "the keys of a map have a type such as int64 "
				 "or string");
	}
	wire_put_int(r->out, MAP_KEY, elem_number(w));
	return text_expect(r, ',', "map(KEYS, VALUES)") &&
	       read_inner(r, MAP_VALUE);
}

static bool
read_sparse(struct onnx_text *r)
{
	struct onnx_word w;

	if (!text_word(r, "the type of the tensor's elements", &w)) {
		return false;
	}
	if (elem_number(w) == 0) {
		return text_fail(r, r->at - w.length,
				 "a sparse tensor has elements of a type such "
				 "as float");
	}
	wire_put_int(r->out, TENSOR_ELEM, elem_number(w));
	return read_shape(r);
}

/* Reads (), (name) or (domain, name); the domain may contain points. False
 * after a diagnostic. */
static bool
read_opaque(struct onnx_text *r)
{
	struct onnx_word w, before;

	if (text_peek(r) == ')') {
		return true;
	}
	if (!text_words(r, "the name of an opaque type", &before, &w)) {
		return false;
	}
	if (before.length > 0) {
		w = text_joined(r, before, w);
	}
	if (text_accept(r, ',')) {
		text_put(r, OPAQUE_DOMAIN, w);
		if (!text_word(r, "the name of an opaque type", &w)) {
			return false;
		}
	}
	text_put(r, OPAQUE_NAME, w);
	return true;
}

static bool
read_composed(struct onnx_text *r, struct onnx_word w)
{
	bool is_map = text_word_is(w, "map"), ok;
	bool is_sparse = text_word_is(w, "sparse_tensor");
	bool is_opaque = text_word_is(w, "opaque");
	size_t start = wire_open(r->out, is_map      ? TYPE_MAP
					 : is_sparse ? TYPE_SPARSE
					 : is_opaque ? TYPE_OPAQUE
					 : text_word_is(w, "seq")
						 ? TYPE_SEQUENCE
						 : TYPE_OPTIONAL);

	if (!text_expect(r, '(', "seq(float[2])")) {
		return false;
	}
	ok = is_map      ? read_map(r)
	     : is_sparse ? read_sparse(r)
	     : is_opaque ? read_opaque(r)
			 : read_inner(r, ELEM_TYPE);
	return ok && text_expect(r, ')', "it ends a type") &&
	       text_close(r, start);
}

static bool
read_type(struct onnx_text *r)
{
	struct onnx_word w;
	int64_t elem;

	if (!text_enter(r) || !text_word(r, "a type such as float[2, 3]", &w)) {
		return false;
	}
	elem = elem_number(w);
	if (elem == 0 && !is_composed(w)) {
		return text_fail(r, r->at - w.length,
				 "no type has this name; float, int64, bool, "
				 "seq(float) are types");
	}
	if (!(elem != 0 ? read_tensor_type(r, TYPE_TENSOR, elem)
			: read_composed(r, w))) {
		return false;
	}
	r->type.is_tensor = elem != 0;
	r->depth--;
	return true;
}

bool
text_type(struct onnx_text *r)
{
	struct strbuf *out = r->out;
	bool ok;

	r->type.bytes.len = 0;
	r->type.has_shape = false;
	r->type.has_names = false;
	r->type.dims.n = 0;
	r->out = &r->type.bytes;
	ok = read_type(r);
	r->out = out;
	return ok;
}

bool
text_value_info(struct onnx_text *r, uint32_t field, struct onnx_word *w)
{
	bool typed = text_is_type(r);
	size_t start;

	r->type.bytes.len = 0;
	if ((typed && !text_type(r)) || !text_name(r, "a name", w)) {
		return false;
	}
	if (!typed) {
		r->type.is_tensor = false;
	}
	if (field == 0) {
		return true;
	}
	start = wire_open(r->out, field);
	text_put(r, INFO_NAME, *w);
	if (typed) {
		wire_put_bytes(r->out, INFO_TYPE, r->type.bytes.data,
			       r->type.bytes.len);
	}
	return text_close(r, start);
}

/* -- tensors */

static uint32_t
list_of(int64_t elem)
{
	switch (elem) {
	case ELEM_FLOAT:
	case ELEM_COMPLEX64:
		return PROTO_FLOATS;
	case ELEM_DOUBLE:
	case ELEM_COMPLEX128:
		return PROTO_DOUBLES;
	case ELEM_INT64:
		return PROTO_INT64;
	case ELEM_UINT32:
	case ELEM_UINT64:
		return PROTO_UINT64;
	case ELEM_STRING:
		return PROTO_STRINGS;
	default:
		return PROTO_INT32;
	}
}

static bool
out_of_range(struct onnx_text *r, const struct onnx_literal *l)
{
	return text_fail(r, l->from,
			 "the integer is outside of the range of its type");
}

/* Sets *min and *max to the range of the integers that the list int32_data
 * stores for elements of type `elem`: for floats, their bits; for elements of
 * fewer than 8 bits, a whole byte. */
static void
int32_range(int64_t elem, int64_t *min, int64_t *max)
{
	struct dtype t;
	int bits;

	*min = INT32_MIN;
	*max = INT32_MAX;
	if (!dtype_from_onnx(elem, &t)) {
		return; /* the importer refuses the type */
	}
	bits = dtype_bits(t) < 8 ? 8 : dtype_bits(t);
	if (dtype_class(t) == DTC_BOOL ||
	    (dtype_is_int(t) && dtype_bits(t) == bits)) {
		*min = dtype_min_int(t);
		*max = (int64_t)dtype_max_int(t);
	} else {
		*min = -((int64_t)1 << (bits - 1));
		*max = ((int64_t)1 << bits) - 1;
	}
}

static bool
put_int32(struct onnx_text *r, int64_t elem, const struct onnx_literal *l)
{
	int64_t v, min, max;

	if (!text_as_int(r, l, &v)) {
		return false;
	}
	int32_range(elem, &min, &max);
	if (v < min || v > max) {
		return out_of_range(r, l);
	}
	wire_put_varint(r->out, (uint64_t)v);
	return true;
}

/* Appends the value of literal l, of element type `elem`, to a packed list.
 * False after a diagnostic. */
static bool
put_number(struct onnx_text *r, uint32_t list, int64_t elem,
	   const struct onnx_literal *l)
{
	uint64_t u;
	int64_t i;
	double d;
	float f;

	switch (list) {
	case PROTO_FLOATS:
		if (!text_as_float(r, l, &f)) {
			return false;
		}
		strbuf_write(r->out, (const char *)&f, sizeof f);
		return true;
	case PROTO_DOUBLES:
		if (!text_as_double(r, l, &d)) {
			return false;
		}
		strbuf_write(r->out, (const char *)&d, sizeof d);
		return true;
	case PROTO_UINT64:
		if (!text_as_uint(r, l, &u)) {
			return false;
		}
		if (elem == ELEM_UINT32 && u > UINT32_MAX) {
			return out_of_range(r, l);
		}
		wire_put_varint(r->out, u);
		return true;
	case PROTO_INT64:
		if (!text_as_int(r, l, &i)) {
			return false;
		}
		wire_put_varint(r->out, (uint64_t)i);
		return true;
	default:
		return put_int32(r, elem, l);
	}
}

/* Reads the elements after {, and the }. False after a diagnostic. */
static bool
read_elements(struct onnx_text *r, int64_t elem)
{
	uint32_t list = list_of(elem);
	bool strings = list == PROTO_STRINGS;
	struct onnx_literal l;
	size_t start;

	if (text_accept(r, '}')) {
		return true;
	}
	start = strings ? 0 : wire_open(r->out, list);
	do {
		if (!text_literal(r, "an element", &l)) {
			return false;
		}
		if (strings && l.kind != LITERAL_STRING) {
			return text_fail(r, l.from,
					 "an element in quotes is expected "
					 "here");
		}
		if (strings) {
			text_put(r, list, l.word);
		} else if (!put_number(r, list, elem, &l)) {
			return false;
		}
	} while (text_accept(r, ','));
	return (strings || text_close(r, start)) &&
	       text_expect(r, '}', "it ends the elements of a tensor");
}

bool
text_entries(struct onnx_text *r, uint32_t field)
{
	struct onnx_word key, value;

	do {
		size_t start = wire_open(r->out, field);

		if (!text_string(r, "a key", &key) ||
		    !text_expect(r, ':', "\"key\": \"value\"") ||
		    !text_string(r, "a value", &value)) {
			return false;
		}
		text_put(r, ENTRY_KEY, key);
		text_put(r, ENTRY_VALUE, value);
		if (!text_close(r, start)) {
			return false;
		}
	} while (text_accept(r, ','));
	return true;
}

bool
text_tensor(struct onnx_text *r, uint32_t field, struct onnx_word name)
{
	size_t start = wire_open(r->out, field);

	if (!r->type.is_tensor || !r->type.has_shape || r->type.has_names) {
		return text_fail(
			r, r->at,
			"the elements of '%s' are given, and its type "
			"does not tell how many: write float[2, 3] for "
			"a tensor, float for a single number",
			name.text);
	}
	wire_put_int(r->out, PROTO_TYPE, r->type.elem);
	for (int i = 0; i < r->type.dims.n; i++) {
		wire_put_int(r->out, PROTO_DIMS, r->type.dims.data[i]);
	}
	text_put(r, PROTO_NAME, name);
	if (text_accept(r, '{')) {
		if (!read_elements(r, r->type.elem)) {
			return false;
		}
	} else if (text_accept(r, '[')) {
		wire_put_int(r->out, PROTO_LOCATION, 1);
		if (!text_entries(r, PROTO_EXTERNAL) ||
		    !text_expect(r, ']', "it ends the place of the elements")) {
			return false;
		}
	} else {
		return text_fail(r, r->at,
				 "the elements of '%s' are expected here: {1, "
				 "2}, or [\"location\": \"FILE\"]",
				 name.text);
	}
	return text_close(r, start);
}
