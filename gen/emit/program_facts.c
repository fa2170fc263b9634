/* SPDX-License-Identifier: Apache-2.0 */
#include "program_facts.h"

#include "comment_text.h"
#include "size_words.h"

void
program_add_fact(struct tdata *data, const char *label, const char *text)
{
	struct tdata *fact = tdata_item(data, "facts");

	tdata_text(fact, "label", label);
	tdata_text(fact, "text", text);
}

/* Does the function, or one of the kernels that it launches, write the
 * array? */
static bool
is_written(const struct program_part *part, const struct buffer *b)
{
	bool written = func_writes(part->func, b);

	for (int i = 0; part->split != NULL && i < part->split->n_launches;
	     i++) {
		written |= func_writes(part->split->launches[i].kernel, b);
	}
	return written;
}

static bool
is_read(const struct program_part *part, const struct buffer *b)
{
	bool read = func_reads(part->func, b);

	for (int i = 0; part->split != NULL && i < part->split->n_launches;
	     i++) {
		read |= func_reads(part->split->launches[i].kernel, b);
	}
	return read;
}

const char *
program_bytes(struct module *m, const struct buffer *b)
{
	int64_t bytes = dtype_bytes(b->type), n;
	const char *text;
	struct strbuf s;

	strbuf_init(&s);
	for (int d = 0; d < b->ndim; d++) {
		const bool plain = b->shape[d]->kind == EXPR_VAR;

		if (expr_is_int(b->shape[d], &n)) {
			bytes = quota_times(bytes, n);
			continue;
		}
		strbuf_puts(&s, plain ? "" : "(");
		size_words(b->shape[d], &s);
		strbuf_puts(&s, plain ? " * " : ") * ");
	}
	strbuf_printf(&s, "%lld", (long long)bytes);
	text = arena_strdup(&m->arena, s.data);
	strbuf_release(&s);
	return text;
}

/* Appends the type and the shape of an array: "f32 [m][n]". */
static void
put_type(struct strbuf *s, const struct buffer *b)
{
	strbuf_puts(s, dtype_short(b->type));
	for (int d = 0; d < b->ndim; d++) {
		strbuf_puts(s, d == 0 ? " [" : "[");
		size_words(b->shape[d], s);
		strbuf_putc(s, ']');
	}
}

/* The description of parameter i, an array: "f32 [m][n], written". */
static const char *
array_text(struct unit *u, const struct program_part *part, int i)
{
	const struct buffer *b = part->func->params.data[i].buffer;
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	put_type(&s, b);
	if (i >= part->n_params) {
		strbuf_printf(&s,
			      ", scratch, %s bytes, contents irrelevant, one "
			      "per %s",
			      program_bytes(u->m, b),
			      part->split != NULL ? "stream" : "thread");
	} else {
		strbuf_puts(&s, !is_written(part, b) ? ""
				: is_read(part, b)   ? ", read and written"
						     : ", written");
	}
	text = comment_text(u->a, u->d, s.data);
	strbuf_release(&s);
	return text;
}

/* The width of the labels in columns: that of the longest name of an array
 * parameter, at least 8. */
static int
label_width(const struct func *f)
{
	int width = 8;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int n = b != NULL ? (int)strlen(b->name) : 0;

		width = n > width ? n : width;
	}
	return width;
}

/* Adds a row whose label is padded to label_width(). */
static void
add_row(struct unit *u, const struct func *f, const char *label,
	const char *text, struct tdata *data)
{
	int width = label_width(f);

	program_add_fact(data, arena_printf(u->a, "%-*s", width, label),
			 comment_wrap(u->a, u->d, text, width + 7));
}

void
program_add_arrays(struct unit *u, const struct program_part *part,
		   struct tdata *data)
{
	const struct func *f = part->func;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			add_row(u, f, comment_text(u->a, u->d, b->name),
				array_text(u, part, i), data);
		}
	}
}

void
program_add_schedule(struct unit *u, const struct program_part *part,
		     struct tdata *data)
{
	if (part->schedule != NULL && part->schedule[0] != '\0') {
		add_row(u, part->func, "schedule",
			comment_text(u->a, u->d, part->schedule), data);
	}
}

bool
program_has_overlap(const struct program_part *part)
{
	const struct func *f = part->func;
	bool written = false;
	int n = 0;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			n++;
			written |= is_written(part, b);
		}
	}
	return n > 1 && written && func_note(f, "aliased") == NULL;
}
