/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics are collected in an arena; their owner prints them. */
#include "diag.h"

#include "text.h"

void
diags_init(struct diags *d, struct arena *arena)
{
	memset(d, 0, sizeof *d);
	d->arena = arena;
}

static void
diag_add(struct diags *d, enum diag_severity severity, enum diag_id id,
	 struct diag_place place, const char *fmt, va_list ap)
{
	struct diag one = { .id = id, .severity = severity, .place = place };
	struct strbuf message;

	if (place.file) {
		one.place.file = text_cut(d->arena, place.file, DIAG_FILE_BYTES,
					  DIAG_FILE_BYTES);
	}
	if (place.item) {
		one.place.item = text_cut(d->arena, place.item, DIAG_WORD_BYTES,
					  DIAG_WORD_BYTES);
	}
	if (place.excerpt) {
		one.place.excerpt = arena_strdup(d->arena, place.excerpt);
	}
	strbuf_init(&message);
	strbuf_vprintf(&message, fmt, ap);
	one.message = text_cut(d->arena,
			       message.data != NULL ? message.data : "",
			       DIAG_WORD_BYTES, DIAG_MESSAGE_BYTES);
	strbuf_release(&message);
	vec_push(d->arena, &d->list, one);
	if (severity == DIAG_ERROR) {
		d->n_errors++;
	}
}

void
diags_drop_errors(struct diags *d, int first, enum diag_id kept)
{
	int n = first;

	for (int i = first; i < d->list.n; i++) {
		const struct diag *one = &d->list.data[i];

		if (one->severity == DIAG_ERROR && one->id != kept) {
			d->n_errors--;
		} else {
			d->list.data[n++] = *one;
		}
	}
	d->list.n = n;
}

bool
diag_error(struct diags *d, enum diag_id id, struct diag_place place,
	   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_add(d, DIAG_ERROR, id, place, fmt, ap);
	va_end(ap);
	return false;
}

void
diag_warning(struct diags *d, enum diag_id id, struct diag_place place,
	     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_add(d, DIAG_WARNING, id, place, fmt, ap);
	va_end(ap);
}

void
diag_note(struct diags *d, enum diag_id id, struct diag_place place,
	  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_add(d, DIAG_NOTE, id, place, fmt, ap);
	va_end(ap);
}

const char *
diag_id_name(enum diag_id id)
{
	static const char *const names[] = {
#define DIAG(id, name, text) name,
#include "diag.def"
#undef DIAG
	};

	return names[id];
}

/* Appends a text on one line; hidden characters are made visible. */
static void
put_line(struct strbuf *out, const char *text)
{
	text_put_visible(out, text, strlen(text), "");
}

void
diag_format(const struct diag *d, struct strbuf *out)
{
	const struct diag_place *p = &d->place;

	if (p->file) {
		put_line(out, p->file);
		strbuf_putc(out, ':');
		if (p->line > 0) {
			strbuf_printf(out, "%d:", p->line);
			if (p->col > 0) {
				strbuf_printf(out, "%d:", p->col);
			}
		}
		strbuf_putc(out, ' ');
	} else if (p->line > 0) {
		strbuf_printf(out, "line %d: ", p->line);
	}
	if (p->item) {
		put_line(out, p->item);
		strbuf_puts(out, ": ");
	}
	put_line(out, d->message);
}
