/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's format, version 1.0: "\x93NUMPY", two version bytes, the length of a
 * Python dict literal (u16), the dict, the data. Versions 2 and 3 have a u32
 * length. A .npz file is a zip archive of .npy files. Types that NumPy lacks
 * are stored as untyped bytes, as by the package ml_dtypes. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "arrays.h"
#include "output_file.h"
#include "text.h"
#include "text_map.h"

/* The most sizes of an array, and the longest header, in bytes, that are accepted:
 * more than an array of plain numbers needs. */
enum { SIZES_MOST = 32, HEADER_MOST = 1 << 12 };

/* Reports a problem with a file; item: the member of an archive, or NULL. */
static bool
bad_file(struct module *m, const char *path, const char *item,
	 const char *problem)
{
	return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			  (struct diag_place){ .file = path, .item = item },
			  "%s", problem);
}

/* -- types -- */

/* For each type that NumPy lacks: the names (descr) of untyped bytes under
 * which ml_dtypes stores the type. A name gives only a width. If a width has
 * several names, the first one is written. */
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

/* `key` is "'name':". Returns the text after it in the dict of the header; NULL
 * if the dict has no such key. */
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

/* Sets the shape of *out, and the number of its elements, from the text of a
 * tuple. False after a diagnostic, also if the product of the sizes
 * overflows. */
static bool
parse_shape(struct module *m, const char *text, struct array *out)
{
	int64_t dims[SIZES_MOST];
	int n = 0;

	if (text == NULL || *text++ != '(') {
		return false;
	}
	out->elems = 1;
	while (*text != ')') {
		char *end;
		long long v = strtoll(text, &end, 10);

		if (end == text || v < 0 || n == SIZES_MOST ||
		    (v > 0 && out->elems > INT64_MAX / 16 / v)) {
			return false;
		}
		dims[n++] = v;
		out->elems *= v;
		text = end;
		while (*text == ',' || *text == ' ' || *text == 'L') {
			text++;
		}
		if (*text == '\0') {
			return false;
		}
	}
	out->ndim = n;
	out->shape = arena_copy(&m->arena, dims, sizeof *dims * (size_t)n);
	return true;
}

/* Sets the type of *out from the text after "'descr':" in the header; false if
 * it is not supported. */
static bool
parse_type(const char *descr, struct array *out)
{
	if (strlen(descr) < 4) {
		return false;
	}
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);
		const char *name = dtype_numpy_name(t);

		if (name != NULL && strncmp(descr + 1, name, 3) == 0) {
			out->type = t;
			return true;
		}
	}
	for (size_t i = 0; i < N_NPY_BITS; i++) {
		if (strncmp(descr + 1, npy_bits[i].descr, 3) == 0) {
			out->type = dtype_of(npy_bits[i].kind);
			out->is_bits = true;
			return true;
		}
	}
	return false;
}

/* An array in NumPy's format that is read: a file, or a member of an
 * archive. */
struct source {
	struct module *m;
	const char *path, *item;
	FILE *file; /* NULL for a member */
	zip_file_t *member;
	/* the bytes that are not yet read, by the size of the file or archive
	 * member */
	uint64_t left;
};

static bool
wrong(const struct source *s, const char *problem)
{
	return bad_file(s->m, s->path, s->item, problem);
}

/* Reads the next n bytes to `to`; false if fewer than n are left. */
static bool
take(struct source *s, void *to, size_t n)
{
	size_t done = 0;

	if (n > s->left) {
		return false;
	}
	while (done < n) {
		zip_int64_t got;

		if (s->file != NULL) {
			got = (zip_int64_t)fread((char *)to + done, 1, n - done,
						 s->file);
		} else {
			got = zip_fread(s->member, (char *)to + done, n - done);
		}
		if (got <= 0) {
			return false;
		}
		done += (size_t)got;
	}
	s->left -= n;
	return true;
}

/* Reads the header, up to the data. */
static bool
read_header(struct source *s, struct array *out)
{
	unsigned char start[12];
	const char *descr, *order;
	char header[HEADER_MOST + 1];
	size_t length;

	if (!take(s, start, 10) || memcmp(start, "\x93NUMPY", 6) != 0) {
		return wrong(s, "not a .npy file; write it with numpy.save");
	}
	length = (size_t)start[8] | (size_t)start[9] << 8;
	if (start[6] != 1) {
		if (!take(s, start + 10, 2)) {
			return wrong(s, "the header is truncated");
		}
		length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
	}
	if (length > HEADER_MOST) {
		return wrong(s, arena_printf(&s->m->arena,
					     "the header has %zu bytes, more "
					     "than that of any array which "
					     "tirc reads; write the array "
					     "again with numpy.save",
					     length));
	}
	header[length] = '\0';
	if (!take(s, header, length)) {
		return wrong(s, "the header is truncated");
	}
	descr = header_value(header, "'descr'");
	order = header_value(header, "'fortran_order'");
	if (descr == NULL || order == NULL || strncmp(order, "False", 5) != 0) {
		return wrong(s, "not an array in C order; convert it with "
				"numpy.ascontiguousarray");
	}
	if (!parse_type(descr, out)) {
		return wrong(s, "tirc does not read this element type");
	}
	if (!parse_shape(s->m, header_value(header, "'shape'"), out)) {
		return wrong(s, "the shape cannot be read");
	}
	return true;
}

/* Are exactly as many bytes left in the file as the type and shape of the array
 * need? Called before the array's data is read. False after a diagnostic. */
static bool
check_size(const struct source *s, const struct array *a)
{
	uint64_t bytes = (uint64_t)a->elems * (uint64_t)dtype_bytes(a->type);

	if (bytes > s->left) {
		return wrong(s, "the data is truncated");
	}
	if (bytes < s->left) {
		return wrong(
			s,
			arena_printf(
				&s->m->arena,
				"%llu bytes follow the data that the header describes; "
				"write the array again with numpy.save",
				(unsigned long long)(s->left - bytes)));
	}
	return true;
}

static bool
read_data(struct source *s, struct array *a)
{
	size_t bytes = (size_t)a->elems * (size_t)dtype_bytes(a->type);
	struct diag_place place = { .file = s->path, .item = s->item };
	int64_t bad;

	if (!quota_check_memory(s->m, place, (int64_t)bytes)) {
		return false;
	}
	a->data = arena_alloc(&s->m->arena, bytes);
	if (!take(s, a->data, bytes)) {
		return wrong(s, "the data is truncated");
	}
	if (!number_bools_valid(a->type, a->data, a->elems, &bad)) {
		return wrong(s,
			     arena_printf(&s->m->arena,
					  "element %lld of its bools is the "
					  "byte %d, neither 0 nor 1; write the "
					  "array again with numpy.save",
					  (long long)bad,
					  ((unsigned char *)a->data)[bad]));
	}
	return true;
}

static bool
read_npy(struct module *m, const char *path, struct array *out)
{
	struct source s = { .m = m, .path = path };
	long end;
	bool ok;

	s.file = fopen(path, "rb");
	if (s.file == NULL) {
		return wrong(&s, "cannot be opened; does it exist?");
	}
	if (fseek(s.file, 0, SEEK_END) != 0 || (end = ftell(s.file)) < 0 ||
	    end == LONG_MAX) {
		fclose(s.file);
		return wrong(&s, "cannot be read");
	}
	rewind(s.file);
	s.left = (uint64_t)end;
	ok = read_header(&s, out) && check_size(&s, out) && read_data(&s, out);
	fclose(s.file);
	return ok;
}

/* The name of an archive's member without the suffix ".npy". */
static const char *
member_name(struct module *m, const char *name)
{
	const char *dot = strstr(name, ".npy");

	return arena_strndup(&m->arena, name,
			     dot != NULL ? (size_t)(dot - name) : strlen(name));
}

static bool
read_member(struct module *m, const char *path, zip_t *zip, zip_uint64_t i,
	    const struct array_filter *filter, int n, struct array *out)
{
	struct source s = { .m = m, .path = path };
	zip_stat_t st;
	bool ok;

	if (zip_stat_index(zip, i, 0, &st) != 0 ||
	    (st.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) !=
		    (ZIP_STAT_NAME | ZIP_STAT_SIZE)) {
		return bad_file(m, path, NULL, "a member cannot be read");
	}
	out->name = member_name(m, st.name);
	s.item = arena_printf(&m->arena, "member '%s'", out->name);
	s.left = st.size;
	s.member = zip_fopen_index(zip, i, 0);
	if (s.member == NULL) {
		return wrong(&s, "it cannot be read");
	}
	ok = read_header(&s, out) && check_size(&s, out);
	if (ok) {
		enum array_use use = filter->accepts(filter->ctx, out, n);

		ok = use == ARRAY_LEFT_OUT ||
		     (use == ARRAY_TAKEN && read_data(&s, out));
	}
	zip_fclose(s.member);
	return ok;
}

/* Has each of the n members of the archive another name? Members of one name
 * may share their bytes in the file, so that a small file unpacks to much. False
 * after a diagnostic. */
static bool
names_differ(struct module *m, const char *path, zip_t *zip, int n)
{
	struct text_map names;

	text_map_init(&names, &m->arena);
	for (int i = 0; i < n; i++) {
		const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);

		name = arena_strdup(&m->arena, name != NULL ? name : "");
		if (!text_map_add(&names, name, i)) {
			return bad_file(m, path, name,
					"two members have this name; keep one "
					"of them");
		}
	}
	return true;
}

static bool
read_npz(struct module *m, const char *path, const struct array_filter *filter,
	 struct array **list, int *n)
{
	zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
	zip_int64_t count;
	bool ok;

	if (zip == NULL) {
		return bad_file(m, path, NULL,
				"not a .npz archive, or it does not exist");
	}
	count = zip_get_num_entries(zip, 0);
	if (count > INT16_MAX) {
		zip_discard(zip);
		return bad_file(m, path, NULL, "it has too many members");
	}
	*n = (int)count;
	ok = names_differ(m, path, zip, *n);
	*list = arena_array(&m->arena, struct array, *n + 1);
	for (int i = 0; ok && i < *n; i++) {
		ok = read_member(m, path, zip, (zip_uint64_t)i, filter, *n,
				 &(*list)[i]);
	}
	zip_discard(zip);
	return ok;
}

bool
arrays_read(struct module *m, const char *path,
	    const struct array_filter *filter, struct array **list, int *n)
{
	if (text_ends_in(path, ".npz")) {
		return filter != NULL
			       ? read_npz(m, path, filter, list, n)
			       : bad_file(m, path, NULL,
					  "an archive of arrays; give a .npy "
					  "or .pb file, which has one array");
	}
	*n = 1;
	*list = arena_new(&m->arena, struct array);
	return text_ends_in(path, ".pb") ? onnx_read_tensor(m, path, *list)
					 : read_npy(m, path, *list);
}

bool
arrays_read_set(struct module *m, const char *folder, const char *file,
		struct array *out)
{
	struct arena *a = &m->arena;
	size_t n = strlen(folder);
	const char *slash, *base;

	while (n > 1 && folder[n - 1] == '/') {
		n--;
	}
	folder = arena_strndup(a, folder, n);
	slash = strrchr(folder, '/');
	base = slash != NULL ? slash + 1 : folder;
	if (*base == '\0' || strcmp(base, ".") == 0 ||
	    strcmp(base, "..") == 0) {
		return onnx_read_tensor_beside(m, folder, file, out);
	}
	return onnx_read_tensor_beside(m,
				       slash != NULL
					       ? arena_strndup(a, folder,
							       (size_t)(slash -
									folder))
					       : ".",
				       arena_printf(a, "%s/%s", base, file),
				       out);
}

/* -- writing -- */

/* Makes the bytes of a .npy file of the array, in the arena; NULL after a
 * diagnostic. */
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
