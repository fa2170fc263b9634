/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the files of a folder with those that tirc writes: by their digests
 * and line by line. Each changed line is assigned to the kernel or the constant
 * that it belongs to. The folder may come from a stranger, so that its files
 * are read with limits. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "onnx_file.h"
#include "output_file.h"
#include "package_facts.h"
#include "sha256.h"
#include "text.h"
#include "tuning.h"
#include "verify_cmd.h"

/* A file of the folder may be longer than the one that tirc writes by this many
 * bytes. */
enum { MOST_MORE = 1 << 20 };

/* The number of changes of a file for which the constant is searched, at most. */
enum { MOST_NAMED = 200 };

/* -- options -- */

static bool
is_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], word) == 0) {
			return true;
		}
	}
	return false;
}

/* Sets an option to the word that the folder's NAME.json states, unless the
 * user gave the option. Returns false after an error message if the word is not
 * one of `words`. */
static bool
take_word(const struct verifying *v, const char *key, const char *stated,
	  const char *const *words, const char **option)
{
	if (*option != NULL || stated == NULL) {
		return true;
	}
	if (!is_word(stated, words)) {
		return cli_error(
			"%s: %s is \"%s\", which tirc compile does not "
			"write; give --%s",
			v->stated.file, key, stated, key);
	}
	*option = stated;
	return true;
}

bool
verify_take_stated(struct verifying *v)
{
	static const char *const goals[] = { "speed", "balanced", "size",
					     "memory", NULL };
	static const char *const fps[] = { "strict", "default", "fast", NULL };
	static const char *const roundings[] = { "onnx", "tflite", NULL };
	static const char *const forms[] = { "none", "c",       "incbin",
					     "file", "section", NULL };
	struct tirc_options *o = &v->cli->tirc;
	const char *weights = o->weights;
	struct tirc *t = v->stating = tirc_new(o);
	bool ok = t != NULL &&
		  difference_stated(tirc_module(t), v->folder, &v->stated) &&
		  (o->target != NULL ||
		   tirc_is_stated_target(t, v->stated.target, v->stated.file));

	if (t != NULL) {
		cli_messages(t);
	}
	if (!ok) {
		return false;
	}
	o->target = o->target != NULL ? o->target : v->stated.target;
	o->name = o->name != NULL ? o->name : v->stated.name;
	if (o->n_dims == 0) {
		o->dims = v->stated.dims.data;
		o->n_dims = v->stated.dims.n;
	}
	ok = take_word(v, "optimize", v->stated.optimize, goals,
		       &o->optimize) &&
	     take_word(v, "fp", v->stated.fp, fps, &o->fp) &&
	     take_word(v, "requant", v->stated.requant, roundings,
		       &o->requant) &&
	     take_word(v, "weights", v->stated.weights, forms, &weights);
	if (weights != NULL && strcmp(weights, "none") != 0) {
		o->weights = weights;
	}
	return ok;
}

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
	int fd = beside_open(v->a, v->folder, v->folder, f->name, &f->why);

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

/* The kernel whose function contains the line of the file, or -1. */
static int
kernel_at(const struct verifying *v, const char *file, int line)
{
	const struct package *p = tirc_compiled_package(v->fresh.t);

	for (int i = 0; i < v->kernels.n; i++) {
		struct package_lines at = package_kernel_lines(p, i);

		if (at.file != NULL && strcmp(at.file, file) == 0 &&
		    line >= at.first && line <= at.last) {
			return i;
		}
	}
	return -1;
}

static bool
has_name(const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *at = strstr(line, name);

	while (at != NULL) {
		if (strchr("[ ={;", at[n]) != NULL) {
			return true;
		}
		at = strstr(at + n, name);
	}
	return false;
}

/* The constant whose definition in a file of constants contains the line, or
 * -1. */
static int
weight_at(struct verifying *v, const char *text, int line)
{
	const struct package *p = tirc_compiled_package(v->fresh.t);
	int n = tirc_compiled_program(v->fresh.t)->weights.n, found = -1;

	for (int i = 1; i <= line && *text != '\0'; i++) {
		size_t length = strcspn(text, "\n");
		const char *copy = arena_strndup(v->a, text, length);

		for (int w = 0; w < n && length > 0 && copy[0] != '\t'; w++) {
			if (has_name(copy, package_weight_symbol(p, w))) {
				found = w;
			}
		}
		text += length;
		text += *text == '\n';
	}
	return found;
}

/* The constant whose bytes in a file of weights contain this byte, or -1. */
static int
weight_of_byte(const struct verifying *v, int64_t byte)
{
	const struct program *p = tirc_compiled_program(v->fresh.t);

	for (int i = 0; i < p->weights.n; i++) {
		const struct weight *w = p->weights.data[i];

		if (byte >= w->offset_bytes &&
		    byte < w->offset_bytes + w->bytes) {
			return i;
		}
	}
	return -1;
}

static void
note_change(struct verifying *v, struct verified_file *f,
	    struct verified_change change)
{
	const struct program *p = tirc_compiled_program(v->fresh.t);

	vec_push(v->a, &f->changes, change);
	for (int i = 0; i < v->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		if (change.kernel >= 0 &&
		    k->owner == p->kernels.data[change.kernel]) {
			v->kernels.data[i].changed = true;
		}
		for (int n = 0; change.weight >= 0 && n < k->args.n; n++) {
			if (k->args.data[n].kind == ARG_WEIGHT &&
			    k->args.data[n].weight->index == change.weight) {
				v->kernels.data[i].changed = true;
			}
		}
	}
}

static void
find_lines(struct verifying *v, struct verified_file *f, const char *fresh)
{
	struct line_changes lines = { 0 };

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
			change.kernel = kernel_at(v, f->name, line);
		}
		if (change.kernel < 0 && i < MOST_NAMED &&
		    strstr(f->name, "_weights.") != NULL) {
			change.weight = weight_at(v, fresh, x->old);
		}
		note_change(v, f, change);
	}
}

static void
find_bytes(struct verifying *v, struct verified_file *f, const char *fresh,
	   size_t bytes)
{
	int last = -2;

	for (size_t i = 0; i < bytes && i < f->bytes; i++) {
		struct verified_change change = { .kernel = -1 };

		if (fresh[i] == f->data[i]) {
			continue;
		}
		change.weight = weight_of_byte(v, (int64_t)i);
		if (change.weight != last) {
			note_change(v, f, change);
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
	}
	v->same_texts &= f->same;
	return true;
}

bool
verify_files(struct verifying *v)
{
	v->same_texts = true;
	for (int i = 0; i < tirc_file_count(v->fresh.t); i++) {
		struct tirc_file file = tirc_file(v->fresh.t, i);
		struct verified_file one = { .name = file.name };

		if (!compare_file(v, &one)) {
			return false;
		}
		vec_push(v->a, &v->files, one);
	}
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
