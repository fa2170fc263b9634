/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks long lines at the marks that the walker has inserted:
 *
 *	acc[i] += x[ic][h + kh][wo * 7 + wi + kw][ici]
 *	        * w[ic][kh][kw][ici][co];
 *
 * If a line is still too long, it is broken after the assignment operator or
 * after the opening parenthesis of a call:
 *
 *	columns[i0 * 256 + tx + ty * 16] =
 *	        h >= 1 && h < 33 ? x[c][h - 1][w] : 0.0f;
 *	dot_16x4(
 *	        &x[ic_o][oh + kh][ow_o * 8 + ow_i + kw][ic_i * 4],
 *	        &w[ic_o][kh][kw][ic_i][0], &acc[ow_i]);
 */
#include "line_breaks.h"

#include <ctype.h>

enum style {
	ALIGNED,
	BEHIND_ASSIGNMENT,
	BEHIND_PARENTHESIS,
	BEHIND_BOTH,
	ANYWHERE,
	STYLES
};

struct printer {
	const struct layout *l;
	struct strbuf *out;
	enum style style;
	bool hung; /* the operands of the call start on a new line */
	bool assigns;
	/* the next part of the text is left of the assignment operator */
	bool before;
	int indent; /* in columns */
	int column;
	int columns;
	/* the number of lines printed so far, and the sum of the columns by
	 * which they exceed the limit */
	int lines, overflow;
	bool too_long; /* a line exceeds the hard limit, most_columns */
};

static bool
is_mark(char c)
{
	return (c >= MARK_OPEN && c <= MARK_ASSIGN) || c == MARK_INDEX;
}

static bool
is_break(char c, enum style style)
{
	return c == MARK_OPERATOR || c == MARK_SPACE ||
	       (c == MARK_INDEX && style == ANYWHERE);
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
		if (is_break(*p, ANYWHERE) || *p == MARK_ASSIGN) {
			*to++ = ' ';
		} else if (!is_mark(*p)) {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

const char *
layout_index(struct arena *a, const char *text)
{
	char *out = arena_strdup(a, text);

	for (char *p = out; *p != '\0'; p++) {
		if (is_break(*p, ANYWHERE) || *p == MARK_ASSIGN) {
			*p = MARK_INDEX;
		}
	}
	return out;
}

static void
put_char(struct printer *s, char c)
{
	strbuf_putc(s->out, c == MARK_INDEX ? ' ' : c);
	s->column += ((unsigned char)c & 0xc0) != 0x80;
}

static void
end_line(struct printer *s)
{
	s->lines++;
	s->overflow += s->column > s->columns ? s->column - s->columns : 0;
	s->too_long |= s->column > s->l->most_columns;
	strbuf_putc(s->out, '\n');
}

static void
new_line(struct printer *s, int column)
{
	int tabs = s->l->step < s->l->tab  ? 0
		   : s->l->align_with_tabs ? column / s->l->tab
					   : s->indent / s->l->tab;

	if (column < s->indent) {
		column = s->indent;
	}
	end_line(s);
	for (int i = 0; i < tabs; i++) {
		strbuf_putc(s->out, '\t');
	}
	for (int i = tabs * s->l->tab; i < column; i++) {
		strbuf_putc(s->out, ' ');
	}
	s->column = column;
}

/* Starts a new line, indented by `levels` more levels than the statement. */
static void
new_line_inside(struct printer *s, int levels)
{
	new_line(s, s->indent + levels * s->l->step);
}

/* The position of the closing mark of the group whose opening mark is at p -
 * 1. */
static const char *
group_end(const char *p)
{
	for (int depth = 1;; p++) {
		depth += *p == MARK_OPEN;
		depth -= *p == MARK_CLOSE;
		if (depth == 0) {
			return p;
		}
	}
}

/* The position of the next mark at which the group that contains p may be
 * broken, or `end`, the end of the group. */
static const char *
next_break(const struct printer *s, const char *p, const char *end)
{
	while (p < end && !is_break(*p, s->style)) {
		p = *p == MARK_OPEN ? group_end(p + 1) + 1 : p + 1;
	}
	return p;
}

static void put_group(struct printer *s, const char *p, const char *end,
		      int tail);

/* Does the text end with the name of a function and an opening parenthesis? */
static bool
opens_call(const char *begin, const char *end)
{
	return end - begin > 1 && end[-1] == '(' &&
	       (isalnum((unsigned char)end[-2]) || end[-2] == '_');
}

/* Prints the text from p to `end`, which is not broken outside of the groups in
 * it. tail: the number of columns that follow it on its last line. */
static void
put_part(struct printer *s, const char *p, const char *end, int tail)
{
	const char *begin = p;

	while (p < end) {
		if (*p == MARK_OPEN) {
			const char *close = group_end(p + 1);

			if (s->style >= BEHIND_PARENTHESIS && !s->hung &&
			    opens_call(begin, p) && !s->before) {
				s->hung = true;
				new_line_inside(s, s->assigns ? 2 : 1);
			}
			put_group(s, p + 1, close, width(close, end) + tail);
			p = close + 1;
		} else if (*p == MARK_ASSIGN) {
			s->before = false;
			if (s->style == BEHIND_ASSIGNMENT ||
			    s->style >= BEHIND_BOTH) {
				new_line_inside(s, 1);
			} else {
				put_char(s, ' ');
			}
			p++;
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
	const char *stop = next_break(s, p, end);

	put_part(s, p, stop, stop == end ? tail : 0);
	while (stop < end) {
		char mark = *stop;
		int rest;

		p = stop + 1;
		stop = next_break(s, p, end);
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

/* Is the style applicable: does the text have a mark at which this style breaks
 * a line? */
static bool
has_place(const char *text, enum style style)
{
	size_t n = strlen(text);

	switch (style) {
	case BEHIND_ASSIGNMENT:
		return strchr(text, MARK_ASSIGN) != NULL;
	case BEHIND_PARENTHESIS: /* a style for a statement that is a call */
		return strchr(text, MARK_ASSIGN) == NULL &&
		       strstr(text, "(" TEXT_OPEN) != NULL &&
		       text[n - 1] == ';';
	case BEHIND_BOTH: /* a style for a call whose result is assigned */
		return strchr(text, MARK_ASSIGN) != NULL &&
		       strstr(strchr(text, MARK_ASSIGN), "(" TEXT_OPEN) != NULL;
	default:
		return true;
	}
}

static void
put_line(const struct layout *l, struct printer *s, const char *text)
{
	bool spaces = l->step < l->tab;

	for (int i = 0; i < s->indent / (spaces ? 1 : l->tab); i++) {
		strbuf_putc(s->out, spaces ? ' ' : '\t');
	}
	s->column = s->indent;
	put_group(s, text, text + strlen(text), 0);
	end_line(s);
}

/* Chooses the style with the least overflow, and among these the one with the
 * fewest lines; the first style is preferred even if it needs one line more.
 * The last two styles are only tried if a line exceeds the hard limit. */
static enum style
best_style(const struct layout *l, const struct printer *blank,
	   const char *text)
{
	enum style best = ALIGNED;
	int overflow = 0, lines = 0;
	bool too_long = false;

	for (int i = 0;
	     i < STYLES && (i < BEHIND_BOTH || (too_long && l->step < l->tab));
	     i++) {
		struct printer s = *blank;
		struct strbuf scratch;

		if (!has_place(text, (enum style)i)) {
			continue;
		}
		strbuf_init(&scratch);
		s.out = &scratch;
		s.style = (enum style)i;
		put_line(l, &s, text);
		strbuf_release(&scratch);
		if (i == ALIGNED || s.overflow < overflow ||
		    (i == BEHIND_ASSIGNMENT && s.overflow == overflow &&
		     s.lines + 1 < lines)) {
			best = (enum style)i;
			overflow = s.overflow;
			lines = s.lines;
			too_long = s.too_long;
		}
	}
	return best;
}

void
layout_line(const struct layout *l, int indent, const char *text)
{
	struct printer s = { .l = l,
			     .out = l->out,
			     .indent = indent * l->step };

	s.assigns = s.before = strchr(text, MARK_ASSIGN) != NULL;
	s.columns = l->columns;
	if (s.indent + l->text_columns > s.columns) {
		s.columns = s.indent + l->text_columns < l->most_columns
				    ? s.indent + l->text_columns
				    : l->most_columns;
	}
	if (s.indent + layout_width(text) > s.columns) {
		s.style = best_style(l, &s, text);
	}
	put_line(l, &s, text);
}

bool
layout_is_wide(const struct layout *l, const char *text)
{
	int column = 0;

	for (; *text != '\0'; text++) {
		column = *text == '\n'   ? 0
			 : *text == '\t' ? (column / l->tab + 1) * l->tab
					 : column + (((unsigned char)*text &
						      0xc0) != 0x80);
		if (column > l->most_columns) {
			return true;
		}
	}
	return false;
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

bool
layout_has_marks(const char *text)
{
	return has_mark(text, strlen(text));
}

void
layout_text(const struct layout *l, const char *text, struct anchors *anchors)
{
	struct anchor_pass pass = { .anchors = anchors };
	const char *begin = text;

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		size_t tabs = strspn(text, "\t");

		size_t whole = n + (text[n] == '\n');
		size_t from = (size_t)(text - begin);

		if (has_mark(text, n)) {
			struct arena line;

			anchors_printed(&pass, from, whole, l->out->len);
			arena_init(&line);
			layout_line(l, (int)tabs,
				    arena_strndup(&line, text + tabs,
						  n - tabs));
			arena_release(&line);
		} else {
			anchors_copied(&pass, from, whole, l->out->len);
			strbuf_write(l->out, text, whole);
		}
		text += whole;
	}
}
