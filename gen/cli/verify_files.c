/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the files of a folder with those that tirc writes: by their digests
 * and line by line. Each changed line is assigned to the kernel or the constant
 * that it belongs to. The folder may come from a stranger, so that its files
 * are read with limits. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "onnx_file.h"
#include "output_file.h"
#include "package_facts.h"
#include "pointer_map.h"
#include "sha256.h"
#include "text.h"
#include "text_map.h"
#include "tuning.h"
#include "verify_cmd.h"

/* A file in the folder may have this many bytes more than the file that tirc
 * writes. */
enum { MOST_MORE = 1 << 20 };

/* -- reading -- */

const char *
verify_read(int fd, int64_t most, struct strbuf *out)
{
	char part[1 << 16];
	ssize_t n;

	strbuf_puts(out, "");
	while ((n = read(fd, part, sizeof part)) > 0 &&
	       (int64_t)out->len <= most) {
		strbuf_write(out, part, (size_t)n);
	}
	return n < 0                      ? "it cannot be read"
	       : (int64_t)out->len > most ? "it is much longer"
					  : NULL;
}

/* The content of the file `name` that tirc writes; NULL after an error
 * message. */
static const char *
fresh_bytes(struct verifying *v, const char *name, size_t *bytes)
{
	const char *path = harness_path(&v->fresh, name), *copy = NULL;
	FILE *f = output_earlier(path);
	struct strbuf text;

	strbuf_init(&text);
	if (f != NULL && verify_read(fileno(f), INT64_MAX, &text) == NULL) {
		copy = arena_strndup(v->a, text.data, text.len);
		*bytes = text.len;
	}
	if (f != NULL) {
		fclose(f);
	}
	strbuf_release(&text);
	if (copy == NULL) {
		cli_error("%s cannot be read", path);
	}
	return copy;
}

static void
read_given(struct verifying *v, struct verified_file *f, size_t fresh_size)
{
	struct module *m = tirc_module(v->fresh.t);
	struct strbuf text;
	struct sha256 s;
	int fd = beside_open(v->a, "source", v->folder, f->name, &f->why);

	if (fd < 0) {
		return;
	}
	strbuf_init(&text);
	f->why = quota_check_memory(m, (struct diag_place){ .file = f->name },
				    (int64_t)fresh_size + MOST_MORE)
			 ? verify_read(fd, (int64_t)fresh_size + MOST_MORE,
				       &text)
			 : "it is too large for --max-memory";
	close(fd);
	if (f->why == NULL) {
		f->data = arena_strndup(v->a, text.data, text.len);
		f->bytes = text.len;
		sha256_init(&s);
		sha256_update(&s, f->data, f->bytes);
		f->sha256 = sha256_whole(&s, v->a);
	}
	strbuf_release(&text);
}

/* -- what differs -- */

/* For each line of a file, by its number from 1 on: the kernel to whose
 * function the line belongs, and the constant to whose definition; -1 if it
 * belongs to none. */
struct line_owners {
	int n; /* lines */
	int *kernel, *weight;
};

static void
mark_kernels(const struct verifying *v, const char *file,
	     struct line_owners *out)
{
	const struct package *p = tirc_compiled_package(v->fresh.t);

	for (int i = 0; i < v->kernels.n; i++) {
		struct package_lines at = package_kernel_lines(p, i);

		if (at.file == NULL || strcmp(at.file, file) != 0 ||
		    at.first < 1) {
			continue;
		}
		/* If kernels share one function, its lines belong to the first
		 * of these kernels. */
		for (int line = at.first;
		     line <= at.last && line <= out->n && out->kernel[line] < 0;
		     line++) {
			out->kernel[line] = i;
		}
	}
}

/* The constant that a line of a file of constants defines, or -1. Lines of
 * values start with a tab. */
static int
defined_weight(const struct text_map *symbols, const char *line, size_t length)
{
	int found = -1;

	for (size_t i = 0; line[0] != '\t' && i < length;) {
		size_t n = i;

		while (n < length &&
		       (isalnum((unsigned char)line[n]) || line[n] == '_')) {
			n++;
		}
		if (n > i && n < length && strchr("[ ={;", line[n]) != NULL) {
			found = text_map_get_bytes(symbols, line + i, n - i,
						   found);
		}
		i = n > i ? n : i + 1;
	}
	return found;
}

static void
mark_weights(const struct verifying *v, const char *text,
	     struct line_owners *out)
{
	const struct package *p = tirc_compiled_package(v->fresh.t);
	int n = tirc_compiled_program(v->fresh.t)->weights.n, last = -1;
	struct text_map symbols;

	text_map_init(&symbols, v->a);
	for (int w = 0; w < n; w++) {
		text_map_add(&symbols, package_weight_symbol(p, w), w);
	}
	for (int line = 1; line <= out->n; line++) {
		size_t length = strcspn(text, "\n");
		int own = defined_weight(&symbols, text, length);

		last = own >= 0 ? own : last;
		out->weight[line] = last;
		text += length;
		text += *text == '\n';
	}
}

static struct line_owners
owners_of(const struct verifying *v, const char *file, const char *text)
{
	struct line_owners out = { .n = 1 };

	for (const char *at = text; *at != '\0'; at++) {
		out.n += *at == '\n';
	}
	out.kernel = arena_array(v->a, int, out.n + 1);
	out.weight = arena_array(v->a, int, out.n + 1);
	for (int i = 0; i <= out.n; i++) {
		out.kernel[i] = out.weight[i] = -1;
	}
	mark_kernels(v, file, &out);
	if (strstr(file, "_weights.") != NULL) {
		mark_weights(v, text, &out);
	}
	return out;
}

static int
owner_of(const struct line_owners *o, const int *owners, int line)
{
	return line >= 1 && line <= o->n ? owners[line] : -1;
}

static int
by_offset(const void *a, const void *b)
{
	const struct weight *x = *(const struct weight *const *)a;
	const struct weight *y = *(const struct weight *const *)b;

	return (x->offset_bytes > y->offset_bytes) -
	       (x->offset_bytes < y->offset_bytes);
}

/* The constants in the order of their bytes in the file of weights. */
static const struct weight **
ordered_weights(const struct verifying *v)
{
	const struct program *p = tirc_compiled_program(v->fresh.t);
	const struct weight **list = arena_array(v->a, const struct weight *,
						 p->weights.n + 1);

	for (int i = 0; i < p->weights.n; i++) {
		list[i] = p->weights.data[i];
	}
	qsort(list, (size_t)p->weights.n, sizeof *list, by_offset);
	return list;
}

/* The index of the constant whose bytes in the file of weights contain this
 * byte, or -1. *next moves along the n constants of `list`, which are ordered,
 * from call to call; `byte` must not decrease. */
static int
weight_of_byte(const struct weight *const *list, int n, int *next, int64_t byte)
{
	while (*next < n &&
	       list[*next]->offset_bytes + list[*next]->bytes <= byte) {
		++*next;
	}
	return *next < n && list[*next]->offset_bytes <= byte
		       ? list[*next]->index
		       : -1;
}

/* Marks the kernels whose function or one of whose constants is changed. */
static void
mark_changed(struct verifying *v, const struct verified_file *f)
{
	const struct program *p = tirc_compiled_program(v->fresh.t);
	bool *weights = arena_array(v->a, bool, p->weights.n + 1);
	struct pointer_map owners;

	pointer_map_init(&owners, v->a);
	for (int i = 0; i < f->changes.n; i++) {
		const struct verified_change *x = &f->changes.data[i];

		if (x->kernel >= 0) {
			pointer_map_put(&owners, p->kernels.data[x->kernel], 1);
		}
		if (x->weight >= 0) {
			weights[x->weight] = true;
		}
	}
	for (int i = 0; i < v->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];
		bool changed = pointer_map_get(&owners, k->owner, 0) == 1;

		for (int n = 0; n < k->args.n; n++) {
			changed |= k->args.data[n].kind == ARG_WEIGHT &&
				   weights[k->args.data[n].weight->index];
		}
		v->kernels.data[i].changed |= changed;
	}
}

static void
find_lines(struct verifying *v, struct verified_file *f, const char *fresh)
{
	struct line_changes lines = { 0 };
	struct line_owners owners = owners_of(v, f->name, fresh);

	difference_of_lines(tirc_module(v->fresh.t), fresh, f->data, &lines);
	for (int i = 0; i < lines.list.n; i++) {
		const struct line_change *x = &lines.list.data[i];
		struct verified_change change = { .lines = *x,
						  .kernel = -1,
						  .weight = -1 };
		/* An inserted line belongs to the kernel of the line before
		 * it. */
		int last = x->n_old > 0 ? x->old + x->n_old - 1 : x->old - 1;

		for (int line = x->n_old > 0 ? x->old : x->old - 1;
		     change.kernel < 0 && line <= last; line++) {
			change.kernel = owner_of(&owners, owners.kernel, line);
		}
		if (change.kernel < 0) {
			change.weight = owner_of(&owners, owners.weight,
						 x->old);
		}
		vec_push(v->a, &f->changes, change);
	}
}

static void
find_bytes(struct verifying *v, struct verified_file *f, const char *fresh,
	   size_t bytes)
{
	const struct weight **list = ordered_weights(v);
	const int n = tirc_compiled_program(v->fresh.t)->weights.n;
	int last = -2, next = 0;

	for (size_t i = 0; i < bytes && i < f->bytes; i++) {
		struct verified_change change = { .kernel = -1 };

		if (fresh[i] == f->data[i]) {
			continue;
		}
		change.weight = weight_of_byte(list, n, &next, (int64_t)i);
		if (change.weight != last) {
			vec_push(v->a, &f->changes, change);
			last = change.weight;
		}
	}
}

static bool
compare_file(struct verifying *v, struct verified_file *f)
{
	size_t bytes = 0;
	const char *fresh = fresh_bytes(v, f->name, &bytes);

	if (fresh == NULL) {
		return false;
	}
	read_given(v, f, bytes);
	f->is_text = memchr(fresh, '\0', bytes) == NULL;
	f->same = f->data != NULL && f->bytes == bytes &&
		  memcmp(f->data, fresh, bytes) == 0;
	if (f->data != NULL && !f->same) {
		if (f->is_text && memchr(f->data, '\0', f->bytes) == NULL) {
			find_lines(v, f, fresh);
		} else {
			find_bytes(v, f, fresh, bytes);
		}
		mark_changed(v, f);
	}
	v->same_texts &= f->same;
	return true;
}

bool
verify_files(struct verifying *v)
{
	VEC(const char *) written = { 0 };

	v->same_texts = true;
	for (int i = 0; i < tirc_file_count(v->fresh.t); i++) {
		struct tirc_file file = tirc_file(v->fresh.t, i);
		struct verified_file one = { .name = file.name };

		if (!compare_file(v, &one)) {
			return false;
		}
		vec_push(v->a, &v->files, one);
		vec_push(v->a, &written, file.name);
	}
	verify_find_added(v->a, v->folder, written.data, written.n, &v->added);
	v->same_texts &= v->added.list.n == 0;
	return true;
}

bool
verify_write_given(struct verifying *v, struct harness *h)
{
	for (int i = 0; i < v->files.n; i++) {
		const struct verified_file *f = &v->files.data[i];

		if (f->data != NULL &&
		    !harness_write(h, f->name, f->data, f->bytes)) {
			return false;
		}
	}
	return true;
}
