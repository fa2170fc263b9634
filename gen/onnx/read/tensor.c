/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a TensorProto to a value. Raw data, and contiguous float_data and
 * double_data, stay in the mapped file; lists of varints are decoded; elements
 * of fewer than 8 bits get a byte each. Small tensors are copied, so that
 * tensors that tirc evaluates are aligned in memory. Strings become bytes: all
 * have the length of the longest one plus 1, filled up with zeros. */
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

/* The field of TensorProto that has the elements of type t if raw_data is
 * absent. */
static uint32_t
list_of(struct dtype t)
{
	switch (t.kind) {
	case DT_F32:
		return FIELD_FLOAT;
	case DT_F64:
		return FIELD_DOUBLE;
	case DT_I64:
		return FIELD_INT64;
	case DT_U32:
	case DT_U64:
		return FIELD_UINT64;
	default:
		return FIELD_INT32;
	}
}

bool
tensor_check_dims(struct module *m, struct diag_place place, int ndim,
		  const int64_t *dims, struct dtype type, int64_t *elems)
{
	int64_t bytes = dtype_bytes(type) > 0 ? dtype_bytes(type) : 1;
	bool empty = false;

	for (int i = 0; i < ndim; i++) {
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
	for (int i = 0; i < ndim && !empty; i++) {
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

/* A tensor that is being decoded. */
struct decoder {
	const struct tensor_source *source;
	struct arena *arena;
	struct diag_place place;
	struct dtype type;
	uint32_t list;
	int64_t elems;
	size_t bytes; /* the size of the elements in memory, after decoding */
	const uint8_t *at;
	size_t length;
};

static struct wire_reader
fields_of(const struct decoder *d)
{
	return (struct wire_reader){ d->at, d->at + d->length };
}

/* The number of elements in a byte of the file: several if an element has fewer
 * than 8 bits, the first in the low bits; else 1. */
static int
in_a_byte(const struct decoder *d)
{
	return dtype_bits(d->type) < 8 ? 8 / dtype_bits(d->type) : 1;
}

/* The number of bytes (or, if the elements are in a list, of its entries) that
 * store the elements in the file. */
static size_t
stored_count(const struct decoder *d)
{
	size_t n = (size_t)in_a_byte(d);

	return ((size_t)d->elems + n - 1) / n;
}

static bool
wrong_count(const struct decoder *d, const char *unit, size_t has, size_t wants)
{
	return diag_error(
		&d->source->module->diags, DIAG_BAD_TENSOR, d->place,
		"it holds %zu %s where its type %s and shape ask for %zu; "
		"export the model again",
		has, unit, dtype_onnx_name(d->type), wants);
}

static void
unpack(const struct decoder *d, const uint8_t *packed, uint8_t *out)
{
	int n = in_a_byte(d), bits = dtype_bits(d->type);

	for (int64_t i = 0; i < d->elems; i++) {
		uint8_t v = (uint8_t)(packed[i / n] >> i % n * bits);

		number_store(dtype_stored(d->type), out, (size_t)i,
			     number_load(d->type, &v, 0));
	}
}

/* Makes the value of a tensor whose bytes have the same form in the file as in
 * memory; the caller has checked the number of bytes. in_place: `data` is in
 * the file or message, where a large tensor stays; drops: `data` is in a mapped
 * file, whose pages may be dropped. */
static const struct value *
value_of_bytes(const struct decoder *d, const uint8_t *data, bool in_place,
	       bool drops)
{
	struct value *v = arena_new(d->arena, struct value);

	v->type = d->type;
	v->elems = d->elems;
	v->bytes = d->bytes;
	if (in_a_byte(d) > 1) {
		uint8_t *out = arena_alloc(d->arena, d->bytes + 1);

		unpack(d, data, out);
		v->data = out;
	} else if (in_place && d->bytes > SMALL_BYTES) {
		v->data = data;
		v->mapped = drops;
	} else if (in_place) {
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
decode_raw(const struct decoder *d, const uint8_t *data, size_t length,
	   bool drops)
{
	size_t wants = in_a_byte(d) > 1 ? stored_count(d) : d->bytes;

	if (length != wants) {
		wrong_count(d, "bytes", length, wants);
		return NULL;
	}
	return value_of_bytes(d, data, true, drops);
}

/* Decodes float_data or double_data, usually packed and contiguous. */
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
		if (f.number == d->list) {
			whole = f.data;
			n += f.type == WIRE_BYTES ? f.length : width;
			pieces++;
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
		return value_of_bytes(d, whole, true, d->source->mapped);
	}
	uint8_t *out = arena_alloc(d->arena, d->bytes + 1);
	size_t at = 0;

	r = fields_of(d);
	while (wire_next(&r, &f)) {
		if (f.number != d->list) {
			continue;
		}
		size_t part = f.type == WIRE_BYTES ? f.length : width;

		memcpy(out + at,
		       f.type == WIRE_BYTES ? f.data
					    : (const uint8_t *)&f.value,
		       part);
		at += part;
	}
	return value_of_bytes(d, out, false, false);
}

/* Decodes every varint of the field d->list to `out`, as elements of `width`
 * bytes; *n: the number of varints. If out is NULL, only counts them. False if
 * the bytes are malformed. */
static bool
walk_varints(const struct decoder *d, uint8_t *out, size_t width, size_t *n)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;
	uint64_t v;

	*n = 0;
	while (wire_next(&r, &f)) {
		if (f.number != d->list) {
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
			   "its list of numbers is truncated; export the "
			   "model again");
		return NULL;
	}
	if (n != wants) {
		wrong_count(d, "numbers", n, wants);
		return NULL;
	}
	uint8_t *out = arena_alloc(d->arena, n * width + 1);

	walk_varints(d, out, width, &n);
	return value_of_bytes(d, out, false, false);
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
		return decode_raw(d, raw, raw_length, d->source->mapped);
	}
	switch (d->list) {
	case FIELD_FLOAT:
		return decode_fixed(d, WIRE_I32);
	case FIELD_DOUBLE:
		return decode_fixed(d, WIRE_I64);
	default:
		return decode_varints(d);
	}
}

/* Sets *longest to the length of the longest string and *n to the number of
 * strings. False if the bytes are malformed. */
static bool
measure_strings(const struct decoder *d, size_t *longest, size_t *n)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;

	*longest = *n = 0;
	while (wire_next(&r, &f)) {
		if (f.number != FIELD_STRING || f.type != WIRE_BYTES) {
			continue;
		}
		if (f.length > 0 && memchr(f.data, 0, f.length)) {
			return diag_error(&d->source->module->diags,
					  DIAG_UNSUPPORTED, d->place,
					  "a string of it contains a zero "
					  "byte, which is not supported");
		}
		*longest = f.length > *longest ? f.length : *longest;
		++*n;
	}
	return *n == (size_t)d->elems ||
	       wrong_count(d, "strings", *n, (size_t)d->elems);
}

/* Sets *out to all strings as a tensor of bytes; out->shape is the shape of the
 * strings. */
static bool
decode_strings(struct decoder *d, struct tensor_content *out)
{
	struct wire_reader r = fields_of(d);
	struct wire_field f;
	size_t longest, n;
	uint8_t *data;

	if (!measure_strings(d, &longest, &n)) {
		return false;
	}
	out->is_string = true;
	out->shape[out->ndim++] = (int64_t)longest + 1;
	d->type = dtype_of(DT_U8);
	if (!tensor_check_dims(d->source->module, d->place, out->ndim,
			       out->shape, d->type, &d->elems)) {
		return false;
	}
	d->bytes = (size_t)d->elems;
	if (!quota_check_output(d->source->module, d->place,
				"the strings, each with the bytes of the "
				"longest,",
				d->elems)) {
		return false;
	}
	data = arena_alloc(d->arena, d->bytes + 1);
	out->value = value_of_bytes(d, data, false, false);
	while (wire_next(&r, &f)) {
		if (f.number == FIELD_STRING && f.type == WIRE_BYTES) {
			memcpy(data, f.data, f.length);
			data += longest + 1;
		}
	}
	return true;
}

static bool
start_decoder(struct decoder *d, const Onnx__TensorProto *p)
{
	struct module *m = d->source->module;
	int number = p->has_data_type ? p->data_type : 0;
	bool known = dtype_from_onnx(number, &d->type);

	if (!known) {
		return diag_error(&m->diags, DIAG_UNSUPPORTED, d->place,
				  "its element type (%d) is unknown and not "
				  "supported",
				  number);
	}
	d->list = list_of(d->type);
	if (p->segment.data) {
		return diag_error(
			&m->diags, DIAG_UNSUPPORTED, d->place,
			"it is stored in segments; export the model again");
	}
	if (p->n_dims + (d->type.kind == DT_STRING) > ONNX_MAX_RANK) {
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

static bool
check_bools(const struct decoder *d, const struct value *v)
{
	int64_t bad;

	return number_bools_valid(v->type, v->data, v->elems, &bad) ||
	       diag_error(&d->source->module->diags, DIAG_BAD_TENSOR, d->place,
			  "element %lld of its bools is the byte %d, neither 0 "
			  "nor 1; export the model again",
			  (long long)bad, ((const uint8_t *)v->data)[bad]);
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
	*out = (struct tensor_content){ .ndim = (int)p->n_dims };
	out->shape = arena_array(d.arena, int64_t, p->n_dims + 2);
	for (size_t i = 0; i < p->n_dims; i++) {
		out->shape[i] = p->dims[i];
	}
	if (d.type.kind == DT_STRING) {
		return decode_strings(&d, out);
	}
	if (p->has_data_location && p->data_location == 1) {
		const uint8_t *data;
		size_t length;
		bool mapped;

		if (!external_find(source, p, item, &data, &length, &mapped)) {
			return false;
		}
		out->value = decode_raw(&d, data, length, mapped);
	} else {
		out->value = decode_inline(&d);
	}
	return out->value != NULL && check_bools(&d, out->value);
}
