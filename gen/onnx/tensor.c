/* SPDX-License-Identifier: Apache-2.0 */
/* TensorProto to values. Raw data, and contiguous float_data and double_data,
 * stay in the mapped file; lists of varints are decoded; 4-bit elements get a
 * byte each. Small tensors are copied, so that tensors which tirc evaluates are
 * aligned. */
#include "importer.h"
#include "wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "values are the file's little-endian bytes");

#define SMALL_BYTES 4096

enum {
	FIELD_FLOAT = 4,
	FIELD_INT32 = 5,
	FIELD_STRING = 6,
	FIELD_INT64 = 7,
	FIELD_RAW = 9,
	FIELD_DOUBLE = 10,
	FIELD_UINT64 = 11
};

/* TensorProto.DataType, the type, and the list of its elements if raw_data is
 * absent. */
static const struct type_row {
	int number;
	enum dtype_kind kind;
	uint32_t field;
	const char *name;
} types[] = {
	{ 1, DT_F32, FIELD_FLOAT, "FLOAT" },
	{ 2, DT_U8, FIELD_INT32, "UINT8" },
	{ 3, DT_I8, FIELD_INT32, "INT8" },
	{ 4, DT_U16, FIELD_INT32, "UINT16" },
	{ 5, DT_I16, FIELD_INT32, "INT16" },
	{ 6, DT_I32, FIELD_INT32, "INT32" },
	{ 7, DT_I64, FIELD_INT64, "INT64" },
	{ 8, DT_STRING, FIELD_STRING, "STRING" },
	{ 9, DT_BOOL, FIELD_INT32, "BOOL" },
	{ 10, DT_F16, FIELD_INT32, "FLOAT16" },
	{ 11, DT_F64, FIELD_DOUBLE, "DOUBLE" },
	{ 12, DT_U32, FIELD_UINT64, "UINT32" },
	{ 13, DT_U64, FIELD_UINT64, "UINT64" },
	{ 16, DT_BF16, FIELD_INT32, "BFLOAT16" },
	{ 17, DT_F8E4M3FN, FIELD_INT32, "FLOAT8E4M3FN" },
	{ 18, DT_F8E4M3FNUZ, FIELD_INT32, "FLOAT8E4M3FNUZ" },
	{ 19, DT_F8E5M2, FIELD_INT32, "FLOAT8E5M2" },
	{ 20, DT_F8E5M2FNUZ, FIELD_INT32, "FLOAT8E5M2FNUZ" },
	{ 21, DT_U4, FIELD_INT32, "UINT4" },
	{ 22, DT_I4, FIELD_INT32, "INT4" },
};

static const struct type_row *
find_type(int number)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
		if (types[i].number == number) {
			return &types[i];
		}
	}
	return NULL;
}

bool
onnx_dtype(int number, struct dtype *out)
{
	const struct type_row *row = find_type(number);

	if (row) {
		*out = dtype_of(row->kind);
	}
	return row != NULL;
}

int
onnx_dtype_number(struct dtype t)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
		if (types[i].kind == (enum dtype_kind)t.kind) {
			return types[i].number;
		}
	}
	return 0;
}

bool
tensor_check_dims(struct module *m, struct diag_place place, int ndim,
		  const int64_t *dims, struct dtype type, int64_t *elems)
{
	int64_t bytes = dtype_bytes(type) > 0 ? dtype_bytes(type) : 1;
	bool empty = false;

	for (int i = 0; i < ndim; ++i) {
		if (dims[i] < 0) {
			return diag_error(
				&m->diags, DIAG_BAD_SHAPE, place,
				"dimension %d is %lld; sizes cannot be "
				"negative",
				i, (long long)dims[i]);
		}
		empty = empty || dims[i] == 0;
	}
	*elems = empty ? 0 : 1;
	for (int i = 0; i < ndim && !empty; ++i) {
		if (__builtin_mul_overflow(bytes, dims[i], &bytes) ||
		    bytes > ONNX_MAX_BYTES) {
			return diag_error(
				&m->diags, DIAG_TOO_LARGE, place,
				"it has more than 2^48 bytes; check its "
				"shape");
		}
		*elems *= dims[i];
	}
	return true;
}

/* The state of the decoding of a tensor. */
struct decoder {
	const struct tensor_source *source;
	struct arena *arena;
	struct diag_place place;
	const struct type_row *row;
	struct dtype type;
	int64_t elems;
	size_t bytes; /* of the decoded elements */
	const uint8_t *at;
	size_t length;
};

static struct wire_reader
fields_of(const struct decoder *d)
{
	return (struct wire_reader){ d->at, d->at + d->length };
}

static bool
is_4bit(const struct decoder *d)
{
	return dtype_bits(d->type) == 4;
}

/* The size of the elements in the file, in bytes or list entries. */
static size_t
stored_count(const struct decoder *d)
{
	return is_4bit(d) ? ((size_t)d->elems + 1) / 2 : (size_t)d->elems;
}

static bool
wrong_count(const struct decoder *d, const char *unit, size_t has, size_t wants)
{
	return diag_error(
		&d->source->module->diags, DIAG_BAD_TENSOR, d->place,
		"it holds %zu %s where its type %s and shape ask for %zu; "
		"export the model again",
		has, unit, d->row->name, wants);
}

static void
unpack_nibbles(const struct decoder *d, const uint8_t *packed, uint8_t *out)
{
	bool is_signed = dtype_is_signed(d->type);

	for (int64_t i = 0; i < d->elems; ++i) {
		uint8_t v = packed[i / 2] >> (i % 2 * 4) & 15;

		out[i] = is_signed && v >= 8 ? (uint8_t)(v | 0xf0) : v;
	}
}

/* Makes the value of bytes that are the same in memory, after a check of their
 * number. */
static const struct value *
value_of_bytes(const struct decoder *d, const uint8_t *data, bool mapped)
{
	struct value *v = arena_new(d->arena, struct value);

	v->type = d->type;
	v->elems = d->elems;
	v->bytes = d->bytes;
	if (is_4bit(d)) {
		uint8_t *out = arena_alloc(d->arena, d->bytes + 1);

		unpack_nibbles(d, data, out);
		v->data = out;
	} else if (mapped && d->bytes > SMALL_BYTES) {
		v->data = data;
		v->mapped = true;
	} else if (mapped) {
		uint8_t *out = arena_alloc(d->arena, d->bytes + 1);

		if (d->bytes > 0) {
			memcpy(out, data, d->bytes);
		}
		v->data = out;
	} else {
		v->data = data;
	}
	return v;
}

static const struct value *
decode_raw(const struct decoder *d, const uint8_t *data, size_t length)
{
	size_t wants = is_4bit(d) ? stored_count(d) : d->bytes;

	if (length != wants) {
		wrong_count(d, "bytes", length, wants);
		return NULL;
	}
	return value_of_bytes(d, data, true);
}

/* float_data, double_data: usually packed and contiguous. */
static const struct value *
decode_fixed(const struct decoder *d, enum wire_type single)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;
	const uint8_t *whole = NULL;
	size_t width = single == WIRE_I32 ? 4 : 8;
	size_t n = 0;
	int pieces = 0;

	while (wire_next(&r, &f)) {
		if (f.number == d->row->field) {
			whole = f.data;
			n += f.type == WIRE_BYTES ? f.length : width;
			++pieces;
			if (f.type != WIRE_BYTES && f.type != single) {
				n = SIZE_MAX / 2;
			}
		}
	}
	if (n != d->bytes) {
		wrong_count(d, "bytes", n, d->bytes);
		return NULL;
	}
	if (pieces == 1 && whole) {
		return value_of_bytes(d, whole, true);
	}
	uint8_t *out = arena_alloc(d->arena, d->bytes + 1);
	size_t at = 0;

	r = fields_of(d);
	while (wire_next(&r, &f)) {
		if (f.number != d->row->field) {
			continue;
		}
		size_t part = f.type == WIRE_BYTES ? f.length : width;

		memcpy(out + at,
		       f.type == WIRE_BYTES ? f.data
					    : (const uint8_t *)&f.value,
		       part);
		at += part;
	}
	return value_of_bytes(d, out, false);
}

/* Decodes every varint of the field; out NULL: only counts. */
static bool
walk_varints(const struct decoder *d, uint8_t *out, size_t width, size_t *n)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;
	uint64_t v;

	*n = 0;
	while (wire_next(&r, &f)) {
		if (f.number != d->row->field) {
			continue;
		}
		if (f.type == WIRE_VARINT) {
			if (out) {
				memcpy(out + *n * width, &f.value, width);
			}
			++*n;
			continue;
		}
		if (f.type != WIRE_BYTES) {
			return false;
		}
		struct wire_reader list = { f.data, f.data + f.length };

		while (list.at < list.end) {
			if (!wire_varint(&list, &v)) {
				return false;
			}
			if (out) {
				memcpy(out + *n * width, &v, width);
			}
			++*n;
		}
	}
	return true;
}

static const struct value *
decode_varints(const struct decoder *d)
{
	size_t width = (size_t)dtype_bytes(d->type);
	size_t wants = stored_count(d), n;

	if (!walk_varints(d, NULL, width, &n)) {
		diag_error(&d->source->module->diags, DIAG_BAD_PROTOBUF,
			   d->place,
			   "its list of numbers is cut short; "
			   "export the model again");
		return NULL;
	}
	if (n != wants) {
		wrong_count(d, "numbers", n, wants);
		return NULL;
	}
	uint8_t *out = arena_alloc(d->arena, n * width + 1);

	walk_varints(d, out, width, &n);
	return value_of_bytes(d, out, false);
}

static const struct value *
decode_inline(const struct decoder *d)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;
	const uint8_t *raw = NULL;
	size_t raw_length = 0;

	while (wire_next(&r, &f)) {
		if (f.number == FIELD_RAW && f.type == WIRE_BYTES) {
			raw = f.data;
			raw_length = f.length;
		}
	}
	if (raw && (raw_length > 0 || d->elems == 0)) {
		return decode_raw(d, raw, raw_length);
	}
	switch (d->row->field) {
	case FIELD_FLOAT:
		return decode_fixed(d, WIRE_I32);
	case FIELD_DOUBLE:
		return decode_fixed(d, WIRE_I64);
	default:
		return decode_varints(d);
	}
}

static bool
start_decoder(struct decoder *d, const Onnx__TensorProto *p)
{
	struct module *m = d->source->module;
	int number = p->has_data_type ? p->data_type : 0;

	d->row = find_type(number);
	if (!d->row || d->row->kind == DT_STRING) {
		return diag_error(
			&m->diags, DIAG_UNSUPPORTED, d->place,
			"its element type is %s (%d), which is not supported",
			d->row ? d->row->name : "no known one", number);
	}
	d->type = dtype_of(d->row->kind);
	if (p->segment.data) {
		return diag_error(
			&m->diags, DIAG_UNSUPPORTED, d->place,
			"it is stored in segments; export the model again");
	}
	if (p->n_dims > ONNX_MAX_RANK) {
		return diag_error(
			&m->diags, DIAG_TOO_LARGE, d->place,
			"it has %zu dimensions; at most %d are supported",
			p->n_dims, ONNX_MAX_RANK);
	}
	if (!tensor_check_dims(m, d->place, (int)p->n_dims, p->dims, d->type,
			       &d->elems)) {
		return false;
	}
	d->bytes = (size_t)d->elems * (size_t)dtype_bytes(d->type);
	if (!p->has_at || !p->has_length || p->at > d->source->length ||
	    p->length > d->source->length - p->at) {
		return diag_error(&m->diags, DIAG_BAD_PROTOBUF, d->place,
				  "its contents cannot be found");
	}
	d->at = d->source->base + p->at;
	d->length = (size_t)p->length;
	return true;
}

bool
tensor_read(const struct tensor_source *source, const Onnx__TensorProto *p,
	    const char *item, struct tensor_content *out)
{
	struct decoder d = {
		.source = source,
		.arena = &source->module->arena,
		.place = { .file = source->path, .item = item },
	};

	if (!start_decoder(&d, p)) {
		return false;
	}
	if (p->has_data_location && p->data_location == 1) {
		const uint8_t *data;
		size_t length;

		if (!external_find(source, p, item, &data, &length)) {
			return false;
		}
		out->value = decode_raw(&d, data, length);
	} else {
		out->value = decode_inline(&d);
	}
	out->ndim = (int)p->n_dims;
	out->shape = arena_array(d.arena, int64_t, p->n_dims + 1);
	for (size_t i = 0; i < p->n_dims; ++i) {
		out->shape[i] = p->dims[i];
	}
	return out->value != NULL;
}
