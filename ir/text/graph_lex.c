/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer of the text form of graphs: names, punctuation, integers, lines. A
 * comment starts at # and ends with its line. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "graph_lex.h"
#include "text.h"

bool
graph_fail(struct graph_reader *r, size_t from, const char *fmt, ...)
{
	struct py_span span = { r->line, 0, r->line, 0 };
	va_list ap;
	const char *text;

	if (r->failed) {
		return false;
	}
	from = from < r->line_start ? r->line_start : from;
	while (from < r->at && r->src->text[from] == ' ') {
		from++;
	}
	span.col = (int)(from - r->line_start) + 1;
	span.end_col = (int)((r->at > from ? r->at : from + 1) -
			     r->line_start) +
		       1;
	va_start(ap, fmt);
	text = arena_vprintf(&r->module->arena, fmt, ap);
	va_end(ap);
	r->failed = true;
	return py_error(r->module, r->src, span, "%s", text);
}

static int
next_byte(const struct graph_reader *r)
{
	return r->at < r->src->length ? (unsigned char)r->src->text[r->at] : -1;
}

bool
graph_line_ends(struct graph_reader *r)
{
	while (next_byte(r) == ' ' || next_byte(r) == '\t') {
		r->at++;
	}
	if (next_byte(r) == '#') {
		while (next_byte(r) >= 0 && next_byte(r) != '\n' &&
		       next_byte(r) != '\r') {
			r->at++;
		}
	}
	return next_byte(r) < 0 || next_byte(r) == '\n' || next_byte(r) == '\r';
}

bool
graph_next_line(struct graph_reader *r)
{
	while (graph_line_ends(r) && next_byte(r) >= 0) {
		if (next_byte(r) == '\r' && r->at + 1 < r->src->length &&
		    r->src->text[r->at + 1] == '\n') {
			r->at++;
		}
		r->at++;
		r->line++;
		r->line_start = r->at;
	}
	return next_byte(r) >= 0;
}

bool
graph_accept(struct graph_reader *r, const char *text)
{
	size_t n = strlen(text);

	if (graph_line_ends(r) || r->src->length - r->at < n ||
	    memcmp(r->src->text + r->at, text, n) != 0) {
		return false;
	}
	r->at += n;
	return true;
}

bool
graph_expect(struct graph_reader *r, const char *text, const char *why)
{
	return graph_accept(r, text) ||
	       graph_fail(r, r->at, "'%s' is expected here: %s", text, why);
}

/* The end of the word that begins at r->at and consists of plain characters
 * (GRAPH_PLAIN). A ':' at the end does not belong to the word. */
static size_t
word_end(const struct graph_reader *r)
{
	size_t end = r->at;

	while (end < r->src->length && r->src->text[end] != '\0' &&
	       strchr(GRAPH_PLAIN, r->src->text[end])) {
		end++;
	}
	while (end > r->at && r->src->text[end - 1] == ':') {
		end--;
	}
	return end;
}

const char *
graph_peek(struct graph_reader *r)
{
	if (graph_line_ends(r)) {
		return "";
	}
	return arena_strndup(&r->module->arena, r->src->text + r->at,
			     word_end(r) - r->at);
}

/* Reads an escape sequence after its backslash and returns its byte; -1 if the
 * sequence is unknown. */
static int
escaped(struct graph_reader *r)
{
	const char *s = r->src->text + r->at;
	size_t left = r->src->length - r->at;

	if (left > 0 && (*s == '"' || *s == '\\')) {
		r->at++;
		return (unsigned char)*s;
	}
	if (left > 2 && *s == 'x' && text_hex_digit(s[1]) >= 0 &&
	    text_hex_digit(s[2]) >= 0) {
		r->at += 3;
		return text_hex_digit(s[1]) * 16 + text_hex_digit(s[2]);
	}
	return -1;
}

static bool
read_quoted(struct graph_reader *r, const char **text, size_t *length)
{
	size_t start = r->at++;
	struct strbuf out;
	bool done = false;

	strbuf_init(&out);
	strbuf_puts(&out, "");
	while (!done && !r->failed) {
		int c = next_byte(r);

		if (c < 0 || c == '\n' || c == '\r') {
			graph_fail(r, start,
				   "the quoted text does not end; write \" "
				   "behind it in the same line");
			break;
		}
		r->at++;
		done = c == '"';
		c = c == '\\' ? escaped(r) : c;
		if (c < 0) {
			graph_fail(r, r->at - 1,
				   "write \\\\, \\\" or \\x and two of the "
				   "digits 0 to 9 and a to f");
		} else if (!done) {
			strbuf_putc(&out, (char)c);
		}
	}
	*length = out.len;
	*text = arena_strndup(&r->module->arena, out.data, out.len);
	strbuf_release(&out);
	return !r->failed;
}

bool
graph_read_string(struct graph_reader *r, const char **text, size_t *length)
{
	size_t end;

	if (graph_line_ends(r)) {
		return graph_fail(r, r->at,
				  "a string is expected here, but the line "
				  "ends");
	}
	if (next_byte(r) == '"') {
		return read_quoted(r, text, length);
	}
	end = word_end(r);
	if (end == r->at) {
		r->at++;
		return graph_fail(r, r->at - 1,
				  "a word is expected here; write it in "
				  "quotes if it has other characters than "
				  "letters, digits and _ . / : -");
	}
	*length = end - r->at;
	*text = arena_strndup(&r->module->arena, r->src->text + r->at, *length);
	r->at = end;
	return true;
}

bool
graph_read_name(struct graph_reader *r, const char *what, const char **name)
{
	size_t from, length;

	if (graph_line_ends(r)) {
		return graph_fail(r, r->at,
				  "%s is expected here, but the "
				  "line ends",
				  what);
	}
	from = r->at;
	if (!graph_read_string(r, name, &length)) {
		return false;
	}
	if (length == 0 || strlen(*name) != length) {
		return graph_fail(r, from, "%s needs a name without zero bytes",
				  what);
	}
	return true;
}

bool
graph_read_int(struct graph_reader *r, int64_t *v)
{
	const char *word = graph_peek(r);
	size_t from = r->at;
	char *end;

	errno = 0;
	*v = strtoll(word, &end, 10);
	r->at += strlen(word);
	return (*word != '\0' && *end == '\0' && errno == 0) ||
	       graph_fail(r, from, "an integer of 64 bits is expected here");
}
