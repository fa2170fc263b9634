/* SPDX-License-Identifier: Apache-2.0 */
/* Writes weights as C initializers: with braces for each dimension, lines
 * filled with elements, and numbers that read back exactly. */
#define _POSIX_C_SOURCE 200809L /* ftello */

#include "array_text.h"

#include "digest.h"
#include "kernel.h"
#include "package.h"
#include "plan.h"

#define DIMS_MAX 32
#define ROW_ON_LINE 16 /* a row with more elements is broken into lines */

struct array_writer {
	const struct dialect *d;
	FILE *file;
	struct arena scratch;
	struct dtype type;
	int ndim;
	int64_t extent[DIMS_MAX], at[DIMS_MAX];
	int column;
	/* the digest of the elements of the present array */
	struct digest digest;
	const struct graph *graph;
	off_t most_bytes; /* limit of the file's size in bytes */
	bool failed;
};

static void
put(struct array_writer *w, const char *text)
{
	if (fputs(text, w->file) < 0) {
		w->failed = true;
	}
}

static void
put_indent(struct array_writer *w, int depth)
{
	for (int i = 0; i < depth; i++) {
		put(w, "\t");
	}
	w->column = depth * w->d->tab_columns;
}

static bool
row_on_line(const struct array_writer *w)
{
	return w->ndim > 1 && w->extent[w->ndim - 1] <= ROW_ON_LINE;
}

/* Writes the opening braces of all dimensions that start before the next
 * element. */
static void
open_braces(struct array_writer *w)
{
	int first = w->ndim;

	while (first > 1 && w->at[first - 1] == 0) {
		first--;
	}
	for (int dim = first; dim < w->ndim; dim++) {
		put_indent(w, dim);
		put(w, w->d->weights.open);
		if (dim == w->ndim - 1 && row_on_line(w)) {
			put(w, " ");
			w->column += 2;
		} else {
			put(w, "\n");
			w->column = 0;
		}
	}
}

/* Writes the closing braces of all dimensions that end after the last element. */
static void
close_braces(struct array_writer *w)
{
	for (int dim = w->ndim - 1; dim >= 0; dim--) {
		bool inner = dim == w->ndim - 1;

		if (++w->at[dim] < w->extent[dim]) {
			return;
		}
		w->at[dim] = 0;
		if (dim == 0) {
			if (inner) {
				put(w, "\n");
			}
			return;
		}
		if (inner && row_on_line(w)) {
			put(w, " ");
		} else {
			if (inner) {
				put(w, "\n");
			}
			put_indent(w, dim);
		}
		put(w, w->d->weights.close);
		put(w, w->d->weights.separator);
		put(w, "\n");
		w->column = 0;
	}
}

static void
put_value(struct array_writer *w, const char *text)
{
	int length = (int)strlen(text) + 1;
	bool last = w->at[w->ndim - 1] + 1 == w->extent[w->ndim - 1];
	bool on_line = row_on_line(w);

	if (w->at[w->ndim - 1] == 0) {
		open_braces(w);
		if (!on_line) {
			put_indent(w, w->ndim);
		}
	} else if (w->column + 1 + length > w->d->line_columns) {
		put(w, "\n");
		put_indent(w, w->ndim);
	} else {
		put(w, " ");
		w->column++;
	}
	put(w, text);
	if (!last || !on_line) {
		put(w, w->d->weights.separator);
	}
	w->column += length;
	close_braces(w);
}

/* Is the file within the limit? Returns false after a diagnostic. */
static bool
is_within_limit(const struct array_writer *w)
{
	const struct diag_place place = { .file = w->graph->file };

	return ftello(w->file) <= w->most_bytes ||
	       quota_output_exceeded(w->graph->module, place,
				     "the constants as text");
}

static bool
put_values(void *ctx, const void *bytes, size_t n)
{
	struct array_writer *w = ctx;
	size_t count = n / (size_t)dtype_bytes(w->type);
	struct dtype type = w->type;

	if (!is_within_limit(w)) {
		return false;
	}
	digest_add(&w->digest, bytes, n);
	/* A type that C code can store but not compute with is written as its
	 * bits. */
	if (w->d->types[type.kind].is_stored_only) {
		type = dtype_of(dtype_bytes(type) == 1 ? DT_U8 : DT_U16);
	}
	for (size_t i = 0; i < count && !w->failed; i++) {
		bool special;

		put_value(w, dialect_literal(w->d, &w->scratch, type,
					     number_load(type, bytes, i),
					     &special));
		if (w->scratch.used_bytes > 1 << 20) {
			arena_release(&w->scratch);
			arena_init(&w->scratch);
		}
	}
	return !w->failed;
}

static void
set_shape(struct array_writer *w, const struct buffer *b)
{
	int64_t extent;

	w->type = b->type;
	w->ndim = 0;
	for (int i = 0; i < b->ndim && i < DIMS_MAX; i++) {
		if (!expr_is_int(b->shape[i], &extent) || extent < 1) {
			extent = 1;
		}
		w->extent[w->ndim++] = extent;
	}
	if (w->d->functions.flat && w->ndim > 1) {
		for (int i = 1; i < w->ndim; i++) {
			w->extent[0] *= w->extent[i];
		}
		w->ndim = 1;
	}
	if (w->ndim == 0) {
		w->extent[w->ndim++] = 1;
	}
	memset(w->at, 0, sizeof w->at);
}

bool
arrays_write(struct program *p, const struct package *pkg, FILE *file,
	     int64_t most_bytes, uint64_t *digests, bool *write_failed)
{
	struct array_writer w = { .d = pkg->dialect,
				  .file = file,
				  .graph = p->graph,
				  .most_bytes = (off_t)most_bytes };
	bool ok = true;

	arena_init(&w.scratch);
	for (int i = 0; ok && i < p->weights.n; i++) {
		const struct weight *weight = p->weights.data[i];

		set_shape(&w, weight->buffer);
		put(&w, "\n");
		put(&w, pkg->definitions[i]);
		put(&w, "\n");
		digest_start(&w.digest);
		ok = weight_stream(p->graph, weight, put_values, &w) &&
		     is_within_limit(&w);
		digests[i] = digest_end(&w.digest);
		put(&w, w.d->weights.end);
		put(&w, "\n");
	}
	arena_release(&w.scratch);
	*write_failed = w.failed;
	return ok && !w.failed;
}
