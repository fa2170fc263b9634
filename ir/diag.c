/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics are collected in an arena; whoever owns them prints them. */
#include "diag.h"

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

	if (place.file) {
		one.place.file = arena_strdup(d->arena, place.file);
	}
	if (place.item) {
		one.place.item = arena_strdup(d->arena, place.item);
	}
	one.message = arena_vprintf(d->arena, fmt, ap);
	vec_push(d->arena, &d->list, one);
	if (severity == DIAG_ERROR) {
		d->n_errors++;
	}
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

void
diag_format(const struct diag *d, struct strbuf *out)
{
	const struct diag_place *p = &d->place;

	if (p->file) {
		strbuf_printf(out, "%s:", p->file);
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
		strbuf_printf(out, "%s: ", p->item);
	}
	if (d->severity == DIAG_WARNING) {
		strbuf_puts(out, "warning: ");
	} else if (d->severity == DIAG_NOTE) {
		strbuf_puts(out, "note: ");
	}
	strbuf_puts(out, d->message);
}
