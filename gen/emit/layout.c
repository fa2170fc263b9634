/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks long lines at the marks that the walker put into them:
 *
 *	acc[i] += x[ic][h + kh][wo * 7 + wi + kw][ici]
 *	        * w[ic][kh][kw][ici][co];
 */
#include "layout.h"

struct printer {
	const struct layout *l;
	int indent; /* columns */
	int column;
	int columns;
};

static bool
is_mark(char c)
{
	return c >= MARK_OPEN && c <= MARK_SPACE;
}

static bool
is_break(char c)
{
	return c == MARK_OPERATOR || c == MARK_SPACE;
}

static int
width(const char *p, const char *end)
{
	int n = 0;

	for (; p < end; p++) {
		n += *p != MARK_OPEN && *p != MARK_CLOSE &&
		     ((unsigned char)*p & 0xc0) != 0x80;
	}
	return n;
}

int
layout_width(const char *text)
{
	return width(text, text + strlen(text));
}

const char *
layout_flat(struct arena *a, const char *text)
{
	char *out = arena_strdup(a, text);
	char *to = out;

	for (const char *p = text; *p != '\0'; p++) {
		if (is_break(*p)) {
			*to++ = ' ';
		} else if (!is_mark(*p)) {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

static void
put_char(struct printer *s, char c)
{
	strbuf_putc(s->l->out, c);
	s->column += ((unsigned char)c & 0xc0) != 0x80;
}

static void
new_line(struct printer *s, int column)
{
	int tabs = s->l->align_with_tabs ? column / s->l->tab
					 : s->indent / s->l->tab;

	if (column < s->indent) {
		column = s->indent;
	}
	strbuf_putc(s->l->out, '\n');
	for (int i = 0; i < tabs; i++) {
		strbuf_putc(s->l->out, '\t');
	}
	for (int i = tabs * s->l->tab; i < column; i++) {
		strbuf_putc(s->l->out, ' ');
	}
	s->column = column;
}

/* The close that matches the open at p - 1. */
static const char *
group_end(const char *p)
{
	for (int depth = 1; ; p++) {
		depth += *p == MARK_OPEN;
		depth -= *p == MARK_CLOSE;
		if (depth == 0) {
			return p;
		}
	}
}

/* The next break of this group, or its end. */
static const char *
next_break(const char *p, const char *end)
{
	while (p < end && !is_break(*p)) {
		p = *p == MARK_OPEN ? group_end(p + 1) + 1 : p + 1;
	}
	return p;
}

static void put_group(struct printer *s, const char *p, const char *end,
		      int tail);

/* A part without breaks of its own; tail columns follow that must not be
 * broken from it. */
static void
put_part(struct printer *s, const char *p, const char *end, int tail)
{
	while (p < end) {
		if (*p == MARK_OPEN) {
			const char *close = group_end(p + 1);

			put_group(s, p + 1, close, width(close, end) + tail);
			p = close + 1;
		} else {
			put_char(s, *p++);
		}
	}
}

static void
put_group(struct printer *s, const char *p, const char *end, int tail)
{
	int start = s->column;
	bool fits = start + width(p, end) + tail <= s->columns;
	const char *stop = next_break(p, end);

	put_part(s, p, stop, stop == end ? tail : 0);
	while (stop < end) {
		char mark = *stop;
		int rest;

		p = stop + 1;
		stop = next_break(p, end);
		rest = width(p, stop) + (stop == end ? tail : 0);
		if (fits || s->column + 1 + rest <= s->columns) {
			put_char(s, ' ');
		} else {
			int column = start;

			if (mark == MARK_OPERATOR) {
				column -= (int)strcspn(p, " ") + 1;
			}
			new_line(s, column);
		}
		put_part(s, p, stop, stop == end ? tail : 0);
	}
}

void
layout_line(const struct layout *l, int indent, const char *text)
{
	struct printer s = { .l = l, .indent = indent * l->tab };

	for (int i = 0; i < indent; i++) {
		strbuf_putc(l->out, '\t');
	}
	s.column = s.indent;
	s.columns = l->columns;
	if (s.indent + l->text_columns > s.columns) {
		s.columns = s.indent + l->text_columns;
	}
	put_group(&s, text, text + strlen(text), 0);
	strbuf_putc(l->out, '\n');
}

static bool
has_mark(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_mark(p[i])) {
			return true;
		}
	}
	return false;
}

void
layout_text(const struct layout *l, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		size_t tabs = strspn(text, "\t");

		if (has_mark(text, n)) {
			struct arena line;

			arena_init(&line);
			layout_line(l, (int)tabs, arena_strndup(&line,
					text + tabs, n - tabs));
			arena_release(&line);
		} else {
			strbuf_write(l->out, text, n);
			if (text[n] == '\n') {
				strbuf_putc(l->out, '\n');
			}
		}
		text += n + (text[n] == '\n');
	}
}
