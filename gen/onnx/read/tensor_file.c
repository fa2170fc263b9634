/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised TensorProtos, as ONNX's test data has them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "importer.h"
#include "output_file.h"
#include "wire.h"

static bool
damaged(struct module *m, const char *path)
{
	return diag_error(&m->diags, DIAG_BAD_PROTOBUF,
			  (struct diag_place){ .file = path },
			  "not a serialised ONNX tensor, or a damaged one; "
			  "get the file again");
}

/* Are the elements of v in a mapped file: the file of the tensor, or the one
 * with its external data? These files are closed soon. */
static bool
is_in_file(const struct tensor_source *source, const Onnx__TensorProto *p,
	   const struct value *v)
{
	const uint8_t *at = v->data;

	return at != NULL &&
	       (p->data_location == 1 ||
		(at >= source->base && at < source->base + source->length));
}

static bool
read_mapped(const struct tensor_source *source, struct arena *scratch,
	    struct array *out)
{
	struct module *m = source->module;
	ProtobufCAllocator allocator = import_allocator(scratch);
	Onnx__TensorProto *p = NULL;
	struct tensor_content c;
	struct strbuf slim;
	const char *why;
	size_t bad;

	strbuf_init(&slim);
	if (wire_slim(source->base, source->length, WIRE_TENSOR, &slim, &bad,
		      &why)) {
		p = onnx__tensor_proto__unpack(&allocator, slim.len,
					       (const uint8_t *)slim.data);
	}
	strbuf_release(&slim);
	if (!p || !p->has_data_type) {
		return damaged(m, source->path);
	}
	if (!tensor_read(source, p, NULL, &c)) {
		return false;
	}
	out->name = arena_strdup(&m->arena, p->name ? p->name : "");
	if (!quota_check_memory(
		    m,
		    (struct diag_place){
			    .file = source->path,
			    .item = arena_printf(&m->arena, "tensor %s",
						 import_quote(&m->arena,
							      out->name)) },
		    is_in_file(source, p, c.value) ? (int64_t)c.value->bytes
						   : 0)) {
		return false;
	}
	out->type = c.value->type;
	out->is_string = c.is_string;
	out->ndim = c.ndim;
	out->shape = c.shape;
	out->elems = c.value->elems;
	out->data = is_in_file(source, p, c.value)
			    ? arena_copy(&m->arena, c.value->data,
					 c.value->bytes)
			    : (void *)(uintptr_t)c.value->data;
	return true;
}

/* Reads the tensor of a mapped file to *out; if map is NULL, reports `why` and
 * returns false. */
static bool
read_file(struct module *m, struct onnx_file *f, const struct onnx_map *map,
	  const char *path, const char *why, struct array *out)
{
	bool ok = false;

	*out = (struct array){ 0 };
	if (map) {
		const char *slash = strrchr(path, '/');
		struct tensor_source source = {
			.module = m,
			.file = f,
			.base = map->base,
			.length = map->length,
			.mapped = map->kind == BYTES_MAPPED,
			.path = path,
			.folder = slash ? arena_strndup(&m->arena, path,
							(size_t)(slash - path +
								 1))
					: ".",
		};
		struct arena scratch;

		arena_init(&scratch);
		ok = read_mapped(&source, &scratch, out);
		arena_release(&scratch);
	} else {
		diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			   (struct diag_place){ .file = path }, "%s", why);
	}
	onnx_file_close(f);
	return ok;
}

bool
onnx_read_tensor(struct module *m, const char *path, struct array *out)
{
	struct onnx_file *f = onnx_file_new();
	const char *why = "out of memory";
	const struct onnx_map *map = f ? onnx_file_map(f, path, &m->arena, &why)
				       : NULL;

	return read_file(m, f, map, path,
			 arena_printf(&m->arena, "cannot be read: %s", why),
			 out);
}

bool
onnx_read_tensor_beside(struct module *m, const char *folder, const char *name,
			struct array *out)
{
	struct onnx_file *f = onnx_file_new();
	const char *why = "cannot be read: out of memory";
	const struct onnx_map *map = f ? onnx_file_map_beside(f, "data set",
							      folder, name,
							      &m->arena, &why)
				       : NULL;

	return read_file(m, f, map,
			 arena_printf(&m->arena, "%s/%s", folder, name), why,
			 out);
}

/* Packs elements of fewer than 8 bits into bytes, the first element of a byte
 * in the low bits. Returns the bytes, and sets *bytes to their number. */
static const uint8_t *
stored_bytes(struct arena *a, const struct array *array, size_t *bytes)
{
	const uint8_t *data = array->data;
	int bits = dtype_bits(array->type), n = 8 / bits;
	uint8_t *packed;

	*bytes = (size_t)array->elems * (size_t)dtype_bytes(array->type);
	if (bits >= 8) {
		return data;
	}
	*bytes = (size_t)((array->elems + n - 1) / n);
	packed = arena_alloc(a, *bytes + 1);
	for (int64_t i = 0; i < array->elems; i++) {
		packed[i / n] |= (uint8_t)((data[i] & ((1 << bits) - 1))
					   << i % n * bits);
	}
	return packed;
}

static bool
write_fields(FILE *f, struct arena *a, const struct array *array)
{
	Onnx__TensorProto p = ONNX__TENSOR_PROTO__INIT;
	uint8_t prefix[16] = { 9 << 3 | WIRE_BYTES };
	size_t bytes, n = 1;
	const uint8_t *data = stored_bytes(a, array, &bytes);

	p.n_dims = (size_t)array->ndim;
	p.dims = array->shape;
	p.has_data_type = 1;
	p.data_type = dtype_onnx_number(array->type);
	p.name = (char *)(uintptr_t)array->name;
	uint8_t *head = arena_alloc(a, onnx__tensor_proto__get_packed_size(&p) +
					       1);
	size_t head_bytes = onnx__tensor_proto__pack(&p, head);

	for (size_t v = bytes;; v >>= 7) {
		prefix[n++] = (uint8_t)(v >= 0x80 ? v | 0x80 : v);
		if (v < 0x80) {
			break;
		}
	}
	return fwrite(head, 1, head_bytes, f) == head_bytes &&
	       fwrite(prefix, 1, n, f) == n &&
	       (bytes == 0 || fwrite(data, 1, bytes, f) == bytes);
}

bool
onnx_write_tensor(struct module *m, const char *path, const struct array *array)
{
	struct arena scratch;
	struct output o;
	bool ok = output_open(&o, &m->arena, path);

	if (ok) {
		arena_init(&scratch);
		ok = write_fields(o.file, &scratch, array);
		arena_release(&scratch);
		ok = output_close(&o, ok) && ok;
	}
	return ok || diag_error(&m->diags, DIAG_FILE_UNWRITABLE,
				(struct diag_place){ .file = path },
				"cannot be written: %s", strerror(errno));
}
