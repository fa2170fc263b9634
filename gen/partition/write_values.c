/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tensors with their sizes and constants. A constant with a recipe is
 * computed here, chunk by chunk, directly into the file. */
#include <string.h>

#include "identifiers.h"
#include "importer.h"
#include "kernel.h"
#include "passes.h"
#include "plan.h"
#include "provenance.h"
#include "sha256.h"
#include "size_text.h"
#include "writing.h"

/* the elements of constants with more elements than this are in the constants'
 * file */
#define INLINE_ELEMS 16
#define ALIGN_BYTES 64 /* alignment of each constant in the constants' file */

static bool
write_size(struct writing *w, const struct expr *e)
{
	struct strbuf text;
	int64_t v;
	bool same;

	if (expr_is_int(e, &v) && expr_index(w->m, v) == e) {
		json_put_int(w->out, v);
		return true;
	}
	strbuf_init(&text);
	size_print(w->g, w->symbols, e, &text);
	same = size_read(w->g, w->symbols, text.data, "a size") == e;
	json_put_text(w->out, text.data);
	if (!same) {
		diag_error(&w->m->diags, DIAG_UNSUPPORTED,
			   (struct diag_place){ .file = w->g->file },
			   "the size %s cannot be written as text; fix its "
			   "dimensions with --dim",
			   text.data);
	}
	strbuf_release(&text);
	return same;
}

/* -- constants -- */

struct sink {
	struct writing *w;
	struct sha256 digest;
};

static bool
put_bytes(void *ctx, const void *bytes, size_t n)
{
	struct sink *s = ctx;

	sha256_update(&s->digest, bytes, n);
	s->w->failed |= s->w->file != NULL &&
			fwrite(bytes, 1, n, s->w->file) != n;
	s->w->at_bytes += (int64_t)n;
	return !s->w->failed;
}

static void
align_file(struct writing *w)
{
	static const char zeros[ALIGN_BYTES] = { 0 };
	size_t gap = (size_t)(-w->at_bytes & (ALIGN_BYTES - 1));

	w->failed |= w->file != NULL && fwrite(zeros, 1, gap, w->file) != gap;
	w->at_bytes += (int64_t)gap;
}

static bool
write_in_file(struct writing *w, struct tensor *t)
{
	struct sink s = { .w = w };
	const struct weight weight = { .tensor = t };
	int64_t from, elems;

	align_file(w);
	from = w->at_bytes;
	if (!tensor_const_elems(t, &elems) ||
	    !quota_check_output(w->m, (struct diag_place){ .file = w->g->file },
				"the partition's constants",
				from + elems * dtype_bytes(t->type))) {
		return false;
	}
	sha256_init(&s.digest);
	if (!weight_stream(w->g, &weight, put_bytes, &s)) {
		return false;
	}
	write_key(w, "offset");
	json_put_int(w->out, from);
	write_key(w, "bytes");
	json_put_int(w->out, w->at_bytes - from);
	write_key(w, "digest");
	json_put_text(w->out, sha256_text(&s.digest, &w->m->arena));
	return true;
}

/* Do the numbers in JSON determine the bits of all elements? Not of a NaN,
 * which has many encodings. */
static bool
numbers_tell_all(const struct value *v)
{
	for (int64_t i = 0; i < v->elems; i++) {
		size_t unit = (size_t)dtype_bytes(v->type);
		unsigned char back[16] = { 0 };

		number_store(v->type, back, 0,
			     number_load(v->type, v->data, (size_t)i));
		if (memcmp(back, (const char *)v->data + (size_t)i * unit,
			   unit) != 0) {
			return false;
		}
	}
	return true;
}

static void
write_numbers(struct writing *w, const struct value *v)
{
	write_key(w, "values");
	strbuf_putc(w->out, '[');
	for (int64_t i = 0; i < v->elems; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		json_put_number(w->out, v->type,
				number_load(v->type, v->data, (size_t)i));
	}
	strbuf_putc(w->out, ']');
}

static bool
write_constant(struct writing *w, struct tensor *t)
{
	const struct value *v = t->value;

	if (v && !v->data) {
		write_key(w, "splat");
		json_put_number(w->out, v->type, v->fill);
		return true;
	}
	if (v && v->elems <= INLINE_ELEMS && numbers_tell_all(v)) {
		write_numbers(w, v);
		return true;
	}
	return write_in_file(w, t);
}

bool
write_value(struct writing *w, const struct value *v)
{
	struct tensor t = {
		.name = "", .type = v->type, .typed = true, .value = v
	};

	return write_constant(w, &t);
}

/* -- tensors -- */

static bool
write_sizes(struct writing *w, const struct expr *const *list, int n)
{
	strbuf_putc(w->out, '[');
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_size(w, list[i])) {
			return false;
		}
	}
	strbuf_putc(w->out, ']');
	return true;
}

/* Writes the formula with which a constant was computed, for comments. */
static bool
write_maker(struct writing *w, const struct tensor *t)
{
	struct arena *a = &w->m->arena;
	struct constant_sources sources = provenance_sources(a, t);
	struct origin_list origins = provenance_of_constant(a, t);
	bool ok;

	if (t->made_by == NULL) {
		return true;
	}
	write_key(w, "recipe");
	ok = write_text(w, provenance_recipe(a, t));
	write_key(w, "sources");
	strbuf_putc(w->out, '[');
	for (int i = 0; ok && i < sources.names.n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		ok = write_text(w, sources.names.data[i]);
	}
	strbuf_putc(w->out, ']');
	write_key(w, "origins");
	strbuf_putc(w->out, '[');
	for (int i = 0; i < origins.list.n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		write_origin_of(w, origins.list.data[i]);
	}
	strbuf_putc(w->out, ']');
	return ok;
}

static void
write_assumed(struct writing *w, const struct tensor *t)
{
	bool first = true;

	if (t->assumed_dims == 0) {
		return;
	}
	write_key(w, "assumed");
	for (int d = 0; d < t->ndim; d++) {
		if ((t->assumed_dims >> d & 1) != 0) {
			strbuf_puts(w->out, first ? "[" : ", ");
			json_put_int(w->out, d);
			first = false;
		}
	}
	strbuf_putc(w->out, ']');
}

bool
write_tensor(struct writing *w, struct tensor *t)
{
	const char *from = constant_name(t);
	bool ok;

	if (!write_text(w, t->name)) {
		return false;
	}
	strbuf_puts(w->out, ": {\"type\": ");
	json_put_text(w->out, dtype_name(t->type));
	write_key(w, "shape");
	ok = write_sizes(w, t->shape, t->ndim);
	write_assumed(w, t);
	if (t->model_name == NULL || strcmp(t->model_name, t->name) != 0) {
		write_key(w, "model_name");
		ok = ok && write_text(w, t->model_name);
	}
	if (ok && tensor_is_constant(t)) {
		if (strcmp(from, t->name) != 0) {
			write_key(w, "from");
			ok = write_text(w, from);
		}
		ok = ok && write_maker(w, t) && write_constant(w, t);
	} else if (ok && !t->producer && !t->is_input && t->elems) {
		write_key(w, "known");
		ok = write_sizes(w, t->elems, t->n_elems);
	}
	strbuf_putc(w->out, '}');
	return ok;
}
