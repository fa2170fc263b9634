/* SPDX-License-Identifier: Apache-2.0 */
/* Golden cases: text files of sections, "## name" and the lines below it. What
 * the tests over folders of cases share: the files, functions as text, and
 * whether two functions compute the same. */
#ifndef TESTS_GOLDEN_CASE_H
#define TESTS_GOLDEN_CASE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/check.h"
#include "interp.h"
#include "script.h"

/* -- files */

static inline const char *
case_read_file(struct arena *a, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct strbuf text;
	const char *copy;
	char part[4096];
	size_t n;

	if (!file) {
		return NULL;
	}
	strbuf_init(&text);
	strbuf_puts(&text, "");
	while ((n = fread(part, 1, sizeof part, file)) > 0) {
		strbuf_write(&text, part, n);
	}
	fclose(file);
	copy = arena_strndup(a, text.data, text.len);
	strbuf_release(&text);
	return copy;
}

static inline void
case_write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	if (CHECK(file != NULL)) {
		fputs(text, file);
		fclose(file);
	}
}

/* The text between the line "## name" and the next such line; NULL: there is no
 * such section. */
static inline const char *
case_section(struct arena *a, const char *text, const char *name)
{
	const char *heading = arena_printf(a, "\n## %s\n", name);
	const char *at = strstr(text, heading), *end;

	if (!at) {
		return NULL;
	}
	at += strlen(heading);
	end = strstr(at - 1, "\n## ");
	return arena_strndup(a, at, end ? (size_t)(end + 1 - at) : strlen(at));
}

/* The first line, "# SUBJECT: title", in two. */
static inline bool
case_title(struct arena *a, const char *text, const char **subject,
	   const char **title)
{
	const char *colon = text ? strstr(text, ": ") : NULL;
	const char *end = text ? strchr(text, '\n') : NULL;

	if (!colon || !end || colon > end || strncmp(text, "# ", 2) != 0) {
		return false;
	}
	*subject = arena_strndup(a, text + 2, (size_t)(colon - text - 2));
	*title = arena_strndup(a, colon + 2, (size_t)(end - colon - 2));
	return true;
}

/* The section, unless text is NULL. */
static inline void
case_put_section(struct strbuf *out, const char *name, const char *text)
{
	if (text) {
		strbuf_printf(out, "## %s\n%s", name, text);
	}
}

static inline bool
case_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

struct case_paths {
	VEC(const char *) list;
};

static inline int
case_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The files *.txt of a folder, by name. */
static inline struct case_paths
case_paths(struct arena *a, const char *folder)
{
	DIR *dir = opendir(folder);
	struct case_paths out = { 0 };

	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);

		if (n > 4 && strcmp(e->d_name + n - 4, ".txt") == 0) {
			vec_push(a, &out.list,
				 arena_printf(a, "%s/%s", folder, e->d_name));
		}
	}
	if (dir) {
		closedir(dir);
	}
	if (out.list.n > 0) {
		qsort(out.list.data, (size_t)out.list.n, sizeof *out.list.data,
		      case_by_name);
	}
	return out;
}

/* -- functions */

static inline void
case_show_errors(const struct diags *diags)
{
	for (int i = 0; i < diags->list.n; i++) {
		struct strbuf text;

		strbuf_init(&text);
		diag_format(&diags->list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
		strbuf_release(&text);
	}
}

/* The last function of the text; NULL after a diagnostic. */
static inline struct func *
case_read_func(struct module *m, const char *path, const char *text)
{
	struct source src = { path, text, strlen(text) };
	struct func *f = NULL;

	if (script_read(m, &src) && m->funcs.n > 0) {
		f = m->funcs.data[m->funcs.n - 1];
		m->funcs.n = 0; /* the next may have its name */
	}
	return f;
}

/* TVMScript from the decorator on. */
static inline const char *
case_func_text(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = strstr(out.data, "@T.prim_func");
	text = arena_strdup(&m->arena, text ? text : out.data);
	strbuf_release(&out);
	return text;
}

/* -- running */

enum { CASE_SYMBOLIC_SIZE = 13 };

/* What symbolic sizes are: each scalar parameter's value. */
static inline struct var_map
case_sizes(struct module *m, const struct func *f)
{
	struct var_map sizes = { 0 };

	sizes.from = arena_array(&m->arena, struct var *, f->params.n + 1);
	sizes.to = arena_array(&m->arena, const struct expr *, f->params.n + 1);
	for (int i = 0; i < f->params.n; i++) {
		struct var *v = f->params.data[i].var;

		if (!f->params.data[i].buffer) {
			sizes.from[sizes.n] = v;
			sizes.to[sizes.n++] = expr_int(m, v->type,
						       CASE_SYMBOLIC_SIZE);
		}
	}
	return sizes;
}

/* The elements of a parameter's buffer; -1: a size is not known. */
static inline int64_t
case_elems(struct module *m, const struct buffer *b,
	   const struct var_map *sizes)
{
	int64_t elems = 1, extent;

	for (int d = 0; d < b->ndim; d++) {
		if (!expr_is_int(expr_substitute(m, b->shape[d], sizes),
				 &extent)) {
			return -1;
		}
		elems *= extent;
	}
	return elems;
}

/* Arguments of small integers, the same for the same signature. NULL where a
 * size is not known. */
static inline struct run_arg *
case_make_args(struct module *m, const struct func *f, int64_t *bytes)
{
	struct var_map sizes = case_sizes(m, f);
	struct run_arg *args = arena_array(&m->arena, struct run_arg,
					   f->params.n + 1);
	unsigned state = 1;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems;

		bytes[i] = 0;
		if (!b) {
			args[i].scalar = CASE_SYMBOLIC_SIZE;
			continue;
		}
		elems = case_elems(m, b, &sizes);
		if (elems < 0) {
			return NULL;
		}
		bytes[i] = elems * dtype_bytes(b->type);
		args[i].data = arena_alloc(&m->arena, (size_t)bytes[i] + 1);
		for (int64_t k = 0; k < elems; k++) {
			union number v;

			state = state * 1103515245u + 12345u;
			v.i = (int)(state >> 16) % 9;
			if (dtype_is_float(b->type)) {
				v.f = (double)(v.i - 4);
			}
			number_store(b->type, args[i].data, (size_t)k, v);
		}
	}
	return args;
}

/* Has b as many dimensions as a, all of constant extents, none of which is
 * smaller? */
static inline bool
case_is_larger(const struct buffer *a, const struct buffer *b)
{
	int64_t extent, more;
	bool larger = a->ndim == b->ndim && a->ndim > 0;

	for (int d = 0; d < a->ndim && larger; d++) {
		larger = expr_is_int(a->shape[d], &extent) &&
			 expr_is_int(b->shape[d], &more) && more >= extent;
	}
	return larger;
}

/* Copies the elements of a, of `bytes` bytes each, to their indices in the
 * larger b, for which case_is_larger(a, b). */
static inline void
case_spread(const struct buffer *a, const struct buffer *b, const char *from,
	    char *to, int64_t elems, int64_t bytes)
{
	for (int64_t i = 0; i < elems; i++) {
		int64_t rest = i, at = 0, stride = 1, extent, more;

		for (int d = a->ndim - 1; d >= 0; d--) {
			expr_is_int(a->shape[d], &extent);
			expr_is_int(b->shape[d], &more);
			at += rest % extent * stride;
			rest /= extent;
			stride *= more;
		}
		memcpy(to + at * bytes, from + i * bytes, (size_t)bytes);
	}
}

/* The argument x of `first` as one of `second`, of `size` bytes: with zeros in
 * the elements that it has more. NULL after a failed check. */
static inline char *
case_as_second(struct module *m, const struct buffer *first,
	       const struct buffer *second, const void *x, int64_t bytes,
	       int64_t size)
{
	int64_t each = dtype_bytes(second->type) * second->type.lanes;
	char *data = arena_alloc(&m->arena, (size_t)size + 1);

	memset(data, 0, (size_t)size);
	if (case_is_larger(first, second)) {
		case_spread(first, second, x, data, bytes / each, each);
	} else if (CHECK_EQ(size, bytes)) {
		memcpy(data, x, (size_t)bytes);
	} else {
		return NULL;
	}
	return data;
}

/* Both compute the same, to the bit, of the same bytes: those of the first
 * one's arguments, and zeros in the elements that the second one's have more. */
static inline void
case_same_results(struct module *m, struct func *first, struct func *second,
		  bool (*run_second)(struct func *f, const struct run_arg *args,
				     int n))
{
	int n = first->params.n;
	struct var_map sizes = case_sizes(m, second);
	int64_t *bytes = arena_array(&m->arena, int64_t, n + 1);
	int64_t *size = arena_array(&m->arena, int64_t, n + 1);
	struct run_arg *x = case_make_args(m, first, bytes);
	struct run_arg *y = arena_array(&m->arena, struct run_arg, n + 1);

	if (!CHECK(x != NULL) || !CHECK_EQ(second->params.n, n)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *b = second->params.data[i].buffer;

		y[i] = x[i];
		if (!b) {
			continue;
		}
		size[i] = case_elems(m, b, &sizes) * dtype_bytes(b->type) *
			  b->type.lanes;
		y[i].data = case_as_second(m, first->params.data[i].buffer, b,
					   x[i].data, bytes[i], size[i]);
		if (y[i].data == NULL) {
			return;
		}
	}
	if (!CHECK(interp_run(first, x, n)) ||
	    !CHECK(run_second(second, y, n))) {
		case_show_errors(&m->diags);
		return;
	}
	for (int i = 0; i < n; i++) {
		if (bytes[i] > 0) {
			const char *z =
				case_as_second(m, first->params.data[i].buffer,
					       second->params.data[i].buffer,
					       x[i].data, bytes[i], size[i]);

			CHECK(memcmp(z, y[i].data, (size_t)size[i]) == 0);
		}
	}
}

#endif
