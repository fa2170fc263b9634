/* SPDX-License-Identifier: Apache-2.0 */
/* Words, texts and numbers of ONNX's text form. Blanks and comments (# to the
 * end of the line) may stand before, between and after them. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "onnx_text.h"

/* Each nested graph is three messages deep: graph, node, attribute. The slim
 * copy of the message allows 64 levels, which is enough for this depth. */
enum { DEPTH_MAX = 20 };

static int
byte_at(const struct onnx_text *r, size_t at)
{
	return at < r->src->length ? (unsigned char)r->src->text[at] : -1;
}

bool
text_error(struct module *m, const struct source *src, size_t from, size_t to,
	   const char *message)
{
	struct py_span span = { .line = 1 };
	size_t start = 0, end = to > from ? to : from + 1;

	for (size_t i = 0; i < from && i < src->length; i++) {
		char c = src->text[i];
		bool pair = c == '\r' && i + 1 < src->length &&
			    src->text[i + 1] == '\n';

		if (c == '\n' || (c == '\r' && !pair)) {
			span.line++;
			start = i + 1;
		}
	}
	span.col = (int)(from - start) + 1;
	span.end_line = span.line;
	span.end_col = (int)(end - start) + 1;
	return source_error(m, DIAG_BAD_MODEL, src, span, message);
}

bool
text_fail(struct onnx_text *r, size_t from, const char *fmt, ...)
{
	const char *message;
	va_list ap;

	va_start(ap, fmt);
	message = arena_vprintf(&r->m->arena, fmt, ap);
	va_end(ap);
	return text_error(r->m, r->src, from, r->at, message);
}

static bool
is_blank(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

int
text_peek(struct onnx_text *r)
{
	int c = byte_at(r, r->at);

	while (is_blank(c) || c == '#') {
		bool comment = c == '#';

		while (comment && c >= 0 && c != '\n') {
			c = byte_at(r, ++r->at);
		}
		if (!comment) {
			c = byte_at(r, ++r->at);
		}
	}
	return c;
}

bool
text_accept(struct onnx_text *r, char c)
{
	if (text_peek(r) != (unsigned char)c) {
		return false;
	}
	r->at++;
	return true;
}

bool
text_expect(struct onnx_text *r, char c, const char *what)
{
	return text_accept(r, c) ||
	       text_fail(r, r->at, "'%c' is expected here: %s", c, what);
}

struct onnx_word
text_peek_word(struct onnx_text *r)
{
	int c = text_peek(r);
	size_t end = r->at;

	if (is_letter(c) || c == '_') {
		do {
			c = byte_at(r, ++end);
		} while (is_letter(c) || is_digit(c) || c == '_');
	}
	return (struct onnx_word){ r->src->text + r->at, end - r->at };
}

bool
text_word_is(struct onnx_word w, const char *text)
{
	return strlen(text) == w.length && memcmp(text, w.text, w.length) == 0;
}

static struct onnx_word
copy_of(struct onnx_text *r, const char *text, size_t length)
{
	return (struct onnx_word){ arena_strndup(r->tmp, text, length),
				   length };
}

bool
text_word(struct onnx_text *r, const char *what, struct onnx_word *w)
{
	struct onnx_word next = text_peek_word(r);

	if (next.length == 0) {
		return text_fail(r, r->at,
				 "%s is expected here: letters, "
				 "digits and _",
				 what);
	}
	*w = copy_of(r, next.text, next.length);
	r->at += next.length;
	return true;
}

bool
text_words(struct onnx_text *r, const char *what, struct onnx_word *before,
	   struct onnx_word *last)
{
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = text_word(r, what, last);
	while (ok && text_accept(r, '.')) {
		strbuf_puts(&s, s.len > 0 ? "." : "");
		strbuf_puts(&s, last->text);
		ok = text_word(r, what, last);
	}
	*before = copy_of(r, s.data != NULL ? s.data : "", s.len);
	strbuf_release(&s);
	return ok;
}

struct onnx_word
text_joined(struct onnx_text *r, struct onnx_word before, struct onnx_word last)
{
	const char *text = arena_printf(r->tmp, "%s.%s", before.text,
					last.text);

	return (struct onnx_word){ text, strlen(text) };
}

/* Reads a text in quotes. A backslash escapes a quote or another backslash.
 * False after a diagnostic. */
static bool
read_quoted(struct onnx_text *r, struct onnx_word *w)
{
	size_t from = r->at++, n = 0;
	char *text;

	for (size_t at = r->at; byte_at(r, at) != '"'; at++) {
		at += byte_at(r, at) == '\\';
		if (byte_at(r, at) < 0) {
			return text_fail(r, from, "no \" ends this text");
		}
		n++;
	}
	text = arena_alloc(r->tmp, n + 1);
	for (size_t i = 0; i < n; i++) {
		r->at += byte_at(r, r->at) == '\\';
		text[i] = r->src->text[r->at++];
	}
	text[n] = '\0';
	r->at++;
	*w = (struct onnx_word){ text, n };
	return true;
}

bool
text_string(struct onnx_text *r, const char *what, struct onnx_word *w)
{
	return text_peek(r) == '"' ? read_quoted(r, w)
				   : text_fail(r, r->at,
					       "%s is expected here, in "
					       "quotes: \"…\"",
					       what);
}

bool
text_name(struct onnx_text *r, const char *what, struct onnx_word *w)
{
	return text_peek(r) == '"' ? read_quoted(r, w) : text_word(r, what, w);
}

bool
text_is_special(struct onnx_text *r)
{
	static const char *const names[] = { "inf", "infinity", "nan" };
	struct onnx_word w = text_peek_word(r);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool same = strlen(names[i]) == w.length;

		for (size_t k = 0; same && k < w.length; k++) {
			same = (w.text[k] | 0x20) == names[i][k];
		}
		if (same) {
			return true;
		}
	}
	return false;
}

/* Skips digits, with an optional point and an optional exponent. *is_float: a
 * point or an exponent is present. */
static size_t
number_end(const struct onnx_text *r, size_t at, bool *is_float)
{
	int c = byte_at(r, at);

	while (is_digit(c) || (c == '.' && !*is_float)) {
		*is_float |= c == '.';
		c = byte_at(r, ++at);
	}
	if (c == 'e' || c == 'E') {
		*is_float = true;
		c = byte_at(r, ++at);
		at += c == '+' || c == '-';
		while (is_digit(byte_at(r, at))) {
			at++;
		}
	}
	return at;
}

bool
text_literal(struct onnx_text *r, const char *what, struct onnx_literal *l)
{
	int c = text_peek(r);
	bool is_float = false;
	size_t end;

	l->from = r->at;
	if (c == '"') {
		l->kind = LITERAL_STRING;
		return read_quoted(r, &l->word);
	}
	r->at += c == '-';
	c = byte_at(r, r->at);
	if (is_digit(c)) {
		end = number_end(r, r->at, &is_float);
	} else if (text_is_special(r) && byte_at(r, r->at) == c) {
		end = r->at + text_peek_word(r).length;
		is_float = true;
	} else {
		return text_fail(r, l->from, "%s is expected here", what);
	}
	l->kind = is_float ? LITERAL_FLOAT : LITERAL_INT;
	l->word = copy_of(r, r->src->text + l->from, end - l->from);
	r->at = end;
	return true;
}

bool
text_as_int(struct onnx_text *r, const struct onnx_literal *l, int64_t *v)
{
	if (l->kind != LITERAL_INT) {
		return text_fail(r, l->from, "an integer is expected here");
	}
	errno = 0;
	*v = strtoll(l->word.text, NULL, 10);
	return errno == 0 ||
	       text_fail(r, l->from, "the integer is beyond 64 bits");
}

bool
text_as_uint(struct onnx_text *r, const struct onnx_literal *l, uint64_t *v)
{
	if (l->kind != LITERAL_INT || *l->word.text == '-') {
		return text_fail(r, l->from,
				 "an integer from 0 on is expected here");
	}
	errno = 0;
	*v = strtoull(l->word.text, NULL, 10);
	return errno == 0 ||
	       text_fail(r, l->from, "the integer is beyond 64 bits");
}

/* Is the whole word of the literal l a number? `end`: where the number in it
 * ends. infinite: is the number infinite, which only the word inf may be? False
 * after a diagnostic. */
static bool
is_number(struct onnx_text *r, const struct onnx_literal *l, const char *end,
	  bool infinite)
{
	bool is_word = !is_digit(
		(unsigned char)l->word.text[*l->word.text == '-']);

	if (l->kind == LITERAL_STRING) {
		return text_fail(r, l->from, "a number is expected here");
	}
	if (end != l->word.text + l->word.length) {
		return text_fail(r, l->from,
				 "the number is not complete: digits are "
				 "expected behind its e");
	}
	return is_word || !infinite ||
	       text_fail(r, l->from,
			 "the number is too large for its type; write inf for "
			 "infinity");
}

bool
text_as_float(struct onnx_text *r, const struct onnx_literal *l, float *v)
{
	char *end;

	*v = strtof(l->word.text, &end);
	return is_number(r, l, end, isinf(*v));
}

bool
text_as_double(struct onnx_text *r, const struct onnx_literal *l, double *v)
{
	char *end;

	*v = strtod(l->word.text, &end);
	return is_number(r, l, end, isinf(*v));
}

bool
text_int64(struct onnx_text *r, const char *what, int64_t *v)
{
	struct onnx_literal l;

	return text_literal(r, what, &l) && text_as_int(r, &l, v);
}

void
text_put(struct onnx_text *r, uint32_t field, struct onnx_word w)
{
	wire_put_bytes(r->out, field, w.text, w.length);
}

bool
text_close(struct onnx_text *r, size_t start)
{
	return wire_close(r->out, start) ||
	       text_fail(r, r->at, "more than 2 GB are described before here");
}

bool
text_enter(struct onnx_text *r)
{
	return ++r->depth <= DEPTH_MAX ||
	       text_fail(r, r->at,
			 "types or graphs are nested more than %d "
			 "deep here",
			 DEPTH_MAX);
}
