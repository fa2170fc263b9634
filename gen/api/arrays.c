/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's format, version 1.0: "\x93NUMPY", two version bytes, the length of a
 * Python dict literal (u16), the dict, the data. Versions 2 and 3 have a u32
 * length. .npz is a zip archive of them. Types that NumPy lacks are stored as
 * untyped bytes, as by the package ml_dtypes. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "arrays.h"
#include "output_file.h"
#include "text.h"

static bool
bad_file(struct module *m, const char *path, const char *problem)
{
	return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			  (struct diag_place){ .file = path }, "%s", problem);
}

/* -- types -- */

/* ml_dtypes' names of types; the first name of a width is written. */
static const struct {
	const char *descr;
	enum dtype_kind kind;
} npy_bits[] = {
	{ "<V1", DT_U8 },
	{ "<f1", DT_U8 },
	{ "|V1", DT_U8 },
	{ "<V2", DT_U16 },
};

#define N_NPY_BITS (sizeof npy_bits / sizeof *npy_bits)

bool
array_is(const struct array *a, struct dtype t)
{
	return a->is_bits ? dtype_numpy_name(t) == NULL && dtype_is_float(t) &&
				    dtype_bytes(t) == dtype_bytes(a->type)
			  : dtype_equal(a->type, t);
}

/* -- reading -- */

/* The text after "'key':" in the header's dict. */
static const char *
header_value(const char *header, const char *key)
{
	const char *at = strstr(header, key);

	if (at == NULL) {
		return NULL;
	}
	at += strlen(key);
	while (*at == '\'' || *at == ':' || *at == ' ') {
		at++;
		if (at[-1] == ':') {
			while (*at == ' ') {
				at++;
			}
			return at;
		}
	}
	return NULL;
}

static bool
parse_shape(struct module *m, const char *text, struct array *out)
{
	VEC(int64_t) dims = { 0 };

	if (text == NULL || *text++ != '(') {
		return false;
	}
	out->elems = 1;
	while (*text != ')') {
		char *end;
		long long v = strtoll(text, &end, 10);

		if (end == text || v < 0 ||
		    (v > 0 && out->elems > INT64_MAX / 16 / v)) {
			return false;
		}
		vec_push(&m->arena, &dims, (int64_t)v);
		out->elems *= v;
		text = end;
		while (*text == ',' || *text == ' ' || *text == 'L') {
			text++;
		}
		if (*text == '\0') {
			return false;
		}
	}
	out->ndim = dims.n;
	out->shape = dims.data;
	return true;
}

static bool
parse_npy(struct module *m, const char *path, const unsigned char *data,
	  size_t size, struct array *out)
{
	size_t header_at, header_len, bytes;
	const char *header, *descr, *order;
	bool known = false;

	if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0) {
		return bad_file(m, path,
				"not a .npy file; write it with "
				"numpy.save");
	}
	header_at = data[6] == 1 ? 10 : 12;
	header_len = (size_t)data[8] | (size_t)data[9] << 8;
	if (data[6] != 1) {
		header_len |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
	}
	if (header_len > size - header_at) {
		return bad_file(m, path, "the header is truncated");
	}
	header = arena_strndup(&m->arena, (const char *)data + header_at,
			       header_len);
	descr = header_value(header, "'descr'");
	order = header_value(header, "'fortran_order'");
	if (descr == NULL || order == NULL || strncmp(order, "False", 5) != 0) {
		return bad_file(m, path,
				"not an array in C order; convert it with "
				"numpy.ascontiguousarray");
	}
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);
		const char *name = dtype_numpy_name(t);

		if (name != NULL && strncmp(descr + 1, name, 3) == 0) {
			out->type = t;
			known = true;
		}
	}
	for (size_t i = 0; i < N_NPY_BITS && !known; i++) {
		if (strncmp(descr + 1, npy_bits[i].descr, 3) == 0) {
			out->type = dtype_of(npy_bits[i].kind);
			out->is_bits = true;
			known = true;
		}
	}
	if (!known) {
		return bad_file(m, path,
				"tirc does not read this element type");
	}
	if (!parse_shape(m, header_value(header, "'shape'"), out)) {
		return bad_file(m, path, "the shape cannot be read");
	}
	bytes = (size_t)out->elems * (size_t)dtype_bytes(out->type);
	if (bytes > size - header_at - header_len) {
		return bad_file(m, path, "the data is truncated");
	}
	if (bytes < size - header_at - header_len) {
		return bad_file(
			m, path,
			arena_printf(
				&m->arena,
				"%zu bytes follow the data that the header describes; "
				"write the array again with numpy.save",
				size - header_at - header_len - bytes));
	}
	out->data = arena_copy(&m->arena, data + header_at + header_len, bytes);
	return true;
}

static bool
read_whole(struct module *m, const char *path, unsigned char **data,
	   size_t *size)
{
	FILE *f = fopen(path, "rb");
	long end;

	if (f == NULL) {
		return bad_file(m, path, "cannot be opened; does it exist?");
	}
	if (fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 ||
	    end == LONG_MAX) {
		fclose(f);
		return bad_file(m, path, "cannot be read");
	}
	rewind(f);
	*size = (size_t)end;
	*data = arena_alloc(&m->arena, *size + 1);
	if (fread(*data, 1, *size, f) != *size) {
		fclose(f);
		return bad_file(m, path, "cannot be read");
	}
	fclose(f);
	return true;
}

static bool
read_npz(struct module *m, const char *path, struct array **list, int *n)
{
	zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
	zip_int64_t count;
	bool ok = true;

	if (zip == NULL) {
		return bad_file(m, path,
				"not a .npz archive, or it does not "
				"exist");
	}
	count = zip_get_num_entries(zip, 0);
	*list = arena_array(&m->arena, struct array, count + 1);
	*n = 0;
	for (zip_int64_t i = 0; ok && i < count; i++) {
		zip_stat_t st;
		zip_file_t *member = NULL;
		unsigned char *data;
		struct array *a = &(*list)[*n];

		ok = zip_stat_index(zip, (zip_uint64_t)i, 0, &st) == 0 &&
		     st.size < ((zip_uint64_t)1 << 40) &&
		     (member = zip_fopen_index(zip, (zip_uint64_t)i, 0)) !=
			     NULL;
		if (!ok) {
			bad_file(m, path, "a member cannot be read");
			break;
		}
		data = arena_alloc(&m->arena, st.size + 1);
		ok = zip_fread(member, data, st.size) == (zip_int64_t)st.size &&
		     parse_npy(m, path, data, st.size, a);
		zip_fclose(member);
		if (ok) {
			const char *dot = strstr(st.name, ".npy");

			a->name = arena_strndup(&m->arena, st.name,
						dot != NULL ? (size_t)(dot -
								       st.name)
							    : strlen(st.name));
			(*n)++;
		}
	}
	zip_discard(zip);
	return ok;
}

bool
arrays_read(struct module *m, const char *path, struct array **list, int *n)
{
	unsigned char *data = NULL;
	size_t size = 0;

	if (text_ends_in(path, ".npz")) {
		return read_npz(m, path, list, n);
	}
	*n = 1;
	*list = arena_new(&m->arena, struct array);
	if (text_ends_in(path, ".pb")) {
		return onnx_read_tensor(m, path, *list);
	}
	return read_whole(m, path, &data, &size) &&
	       parse_npy(m, path, data, size, *list);
}

/* -- writing -- */

/* The bytes of a .npy file, in the arena; NULL: reported. */
static char *
npy_bytes(struct module *m, const struct array *a, size_t *size)
{
	struct strbuf s;
	size_t bytes = (size_t)a->elems * (size_t)dtype_bytes(a->type);
	size_t head;
	char *file;
	const char *descr = dtype_numpy_name(a->type);

	for (size_t i = 0; i < N_NPY_BITS && descr == NULL; i++) {
		if (dtype_bytes(dtype_of(npy_bits[i].kind)) ==
		    dtype_bytes(a->type)) {
			descr = npy_bits[i].descr;
		}
	}
	if (descr == NULL) {
		diag_error(&m->diags, DIAG_UNSUPPORTED,
			   (struct diag_place){ .item = a->name },
			   "NumPy has no type for %s", dtype_name(a->type));
		return NULL;
	}
	strbuf_init(&s);
	strbuf_printf(&s,
		      "{'descr': '%s', 'fortran_order': False, "
		      "'shape': (",
		      descr);
	for (int d = 0; d < a->ndim; d++) {
		strbuf_printf(&s, "%lld,", (long long)a->shape[d]);
	}
	strbuf_puts(&s, "), }");
	while ((10 + s.len + 1) % 64 != 0) {
		strbuf_putc(&s, ' ');
	}
	strbuf_putc(&s, '\n');
	head = 10 + s.len;
	file = arena_alloc(&m->arena, head + bytes);
	memcpy(file, "\x93NUMPY\x01\x00", 8);
	file[8] = (char)(s.len & 0xff);
	file[9] = (char)(s.len >> 8);
	memcpy(file + 10, s.data, s.len);
	memcpy(file + head, a->data, bytes);
	strbuf_release(&s);
	*size = head + bytes;
	return file;
}

static bool
add_npy(struct module *m, zip_t *zip, const struct array *a)
{
	size_t size;
	char *file = npy_bytes(m, a, &size);
	zip_source_t *source;
	zip_int64_t index;

	if (file == NULL) {
		return false;
	}
	source = zip_source_buffer(zip, file, size, 0);
	index = zip_file_add(zip, arena_printf(&m->arena, "%s.npy", a->name),
			     source, ZIP_FL_ENC_UTF_8);
	return index >= 0 &&
	       zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE,
					0) == 0 &&
	       zip_file_set_mtime(zip, (zip_uint64_t)index, 315532800, 0) == 0;
}

static bool
write_npy(struct module *m, const char *path, const struct array *a)
{
	struct output o;
	size_t size;
	char *file = npy_bytes(m, a, &size);
	bool ok;

	if (file == NULL) {
		return false;
	}
	if (output_open(&o, &m->arena, path)) {
		ok = fwrite(file, 1, size, o.file) == size;
		if (output_close(&o, ok) && ok) {
			return true;
		}
	}
	return diag_error(&m->diags, DIAG_FILE_UNWRITABLE,
			  (struct diag_place){ .file = path },
			  "cannot be written: %s", strerror(errno));
}

static bool
write_npz(struct module *m, const char *path, const struct array *list, int n)
{
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	bool ok = zip != NULL;

	for (int i = 0; ok && i < n; i++) {
		ok = add_npy(m, zip, &list[i]);
	}
	if (zip != NULL && ok) {
		ok = zip_close(zip) == 0;
	} else if (zip != NULL) {
		zip_discard(zip);
	}
	return ok || diag_error(&m->diags, DIAG_FILE_UNWRITABLE,
				(struct diag_place){ .file = path },
				"cannot be written");
}

bool
arrays_can_save(const char *path, int n)
{
	return text_ends_in(path, ".npz") ||
	       (text_ends_in(path, ".npy") && n == 1);
}

bool
arrays_save(struct module *m, const char *path, const struct array *list, int n)
{
	return text_ends_in(path, ".npy") ? write_npy(m, path, &list[0])
					  : write_npz(m, path, list, n);
}
