/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about a place in a text, with the line shown:
 *
 *	program.py:3:9: 'flaot32' is not a data type; did you mean float32?
 *	    B = T.flaot32(1)
 *	          ^^^^^^^
 */
#include <stdio.h>
#include <stdlib.h>

#include "python.h"
#include "text.h"

enum { EXCERPT_BYTES = 100 };

/* Finds the offset of a line's first byte and that of the byte after its
 * last. */
static bool
find_line(const struct source *src, int line, size_t *start, size_t *end)
{
	size_t at = 0;

	for (int n = 1; n < line; n++) {
		while (at < src->length && src->text[at] != '\n' &&
		       src->text[at] != '\r') {
			at++;
		}
		if (at >= src->length) {
			return false;
		}
		at += src->text[at] == '\r' && at + 1 < src->length &&
				      src->text[at + 1] == '\n'
			      ? 2
			      : 1;
	}
	*start = at;
	while (at < src->length && src->text[at] != '\n' &&
	       src->text[at] != '\r') {
		at++;
	}
	*end = at;
	return true;
}

/* The number of bytes of the UTF-8 character at text; 0 if it is not valid or
 * not visible. */
static size_t
character_bytes(const char *text, size_t left)
{
	uint32_t code;
	size_t n = text_character(text, left, &code);

	return n > 0 && !text_is_hidden(code) ? n : 0;
}

static void
put_excerpt(struct strbuf *out, const char *line, size_t length, size_t from,
	    size_t to)
{
	struct strbuf marks;
	size_t start = 0, end = length;

	if (length > EXCERPT_BYTES) {
		start = from > EXCERPT_BYTES / 2 ? from - EXCERPT_BYTES / 2 : 0;
		end = start + EXCERPT_BYTES < length ? start + EXCERPT_BYTES
						     : length;
	}
	strbuf_init(&marks);
	strbuf_puts(out, start > 0 ? "    ..." : "    ");
	strbuf_puts(&marks, start > 0 ? "       " : "    ");
	for (size_t i = start; i < end;) {
		size_t n = character_bytes(line + i, end - i);
		bool inside = i >= from && i < to;

		if (line[i] == '\t') {
			strbuf_putc(out, '\t');
			strbuf_putc(&marks, inside ? '^' : '\t');
		} else if (n == 0) {
			strbuf_putc(out, '?');
			strbuf_putc(&marks, inside ? '^' : ' ');
		} else {
			strbuf_write(out, line + i, n);
			strbuf_putc(&marks, inside ? '^' : ' ');
		}
		i += n ? n : 1;
	}
	strbuf_puts(out, end < length ? "...\n" : "\n");
	/* The error's place may be after the line's last character. */
	strbuf_puts(&marks, from >= end ? "^" : "");
	while (marks.len > 0 && marks.data[marks.len - 1] != '^') {
		marks.len--;
	}
	strbuf_write(out, marks.data, marks.len);
	strbuf_release(&marks);
}

bool
source_error(struct module *m, enum diag_id id, const struct source *src,
	     struct py_span at, const char *message)
{
	struct diag_place place = {
		.file = src->name,
		.line = at.line,
		.col = at.col,
	};
	struct strbuf excerpt;
	size_t start, end;

	strbuf_init(&excerpt);
	if (find_line(src, at.line, &start, &end)) {
		size_t length = end - start;
		size_t from = at.col > 0 ? (size_t)at.col - 1 : 0;
		size_t to = at.end_line == at.line && at.end_col > at.col
				    ? (size_t)at.end_col - 1
			    : at.end_line > at.line ? length
						    : from + 1;

		put_excerpt(&excerpt, src->text + start, length,
			    from < length ? from : length,
			    to < length ? to : length);
		place.excerpt = excerpt.data;
	}
	diag_error(&m->diags, id, place, "%s", message);
	strbuf_release(&excerpt);
	return false;
}

bool
py_error(struct module *m, const struct source *src, struct py_span at,
	 const char *fmt, ...)
{
	const char *message;
	va_list ap;

	va_start(ap, fmt);
	message = arena_vprintf(&m->arena, fmt, ap);
	va_end(ap);
	return source_error(m, DIAG_BAD_PROGRAM, src, at, message);
}
