/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of Relay's text. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "onnx_text.h"
#include "relay_read.h"

static int
byte_at(const struct relay_reader *r, size_t at)
{
	return at < r->src->length ? (unsigned char)r->src->text[at] : -1;
}

bool
relay_fail(struct relay_reader *r, const struct relay_token *at,
	   const char *fmt, ...)
{
	const char *message;
	va_list ap;

	va_start(ap, fmt);
	message = arena_vprintf(&r->m->arena, fmt, ap);
	va_end(ap);
	return text_error(r->m, r->src, at->from, at->to, message);
}

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_blank(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The index of the first byte from `at` on that is neither a blank nor in a
 * comment. */
static size_t
skip(const struct relay_reader *r, size_t at)
{
	for (;;) {
		if (is_blank(byte_at(r, at))) {
			at++;
		} else if (byte_at(r, at) == '/' && byte_at(r, at + 1) == '*') {
			at += 2;
			while (byte_at(r, at) >= 0 &&
			       !(byte_at(r, at) == '*' &&
				 byte_at(r, at + 1) == '/')) {
				at++;
			}
			at += 2;
		} else if (byte_at(r, at) == '/' && byte_at(r, at + 1) == '/') {
			while (byte_at(r, at) >= 0 && byte_at(r, at) != '\n') {
				at++;
			}
		} else {
			return at;
		}
	}
}

/* The end of a name that begins at `at`. A point belongs to it if a letter
 * follows, or, if `digits` is set, a digit. */
static size_t
name_end(const struct relay_reader *r, size_t at, bool digits)
{
	while (is_letter(byte_at(r, at)) || is_digit(byte_at(r, at)) ||
	       (byte_at(r, at) == '.' &&
		(is_letter(byte_at(r, at + 1)) ||
		 (digits && is_digit(byte_at(r, at + 1)))))) {
		at++;
	}
	return at;
}

static const char *
copy(struct relay_reader *r, size_t from, size_t to)
{
	return arena_strndup(r->tmp, r->src->text + from, to - from);
}

/* -- numbers -- */

static size_t
digits_end(const struct relay_reader *r, size_t at)
{
	while (is_digit(byte_at(r, at))) {
		at++;
	}
	return at;
}

/* Sets the type of a number by its suffix, the letter in byte at of the source
 * and the bits after it: f, f64, i64, u8. Returns the end of the suffix. */
static size_t
read_suffix(struct relay_reader *r, size_t at, struct relay_token *t)
{
	size_t end = digits_end(r, at + 1);
	const char *bits = copy(r, at + 1, end), *kind;
	struct dtype type;

	kind = byte_at(r, at) == 'f'   ? "float"
	       : byte_at(r, at) == 'i' ? "int"
	       : byte_at(r, at) == 'u' ? "uint"
				       : NULL;
	if (kind == NULL || !dtype_from_name(arena_printf(r->tmp, "%s%s", kind,
							  *bits ? bits : "32"),
					     &type)) {
		return at;
	}
	t->type = type;
	return end;
}

static bool
read_number(struct relay_reader *r, struct relay_token *t)
{
	size_t at = digits_end(r, t->from + (byte_at(r, t->from) == '-'));
	bool is_float = false;
	const char *text;
	char *end;

	if (byte_at(r, at) == '.' && !is_letter(byte_at(r, at + 1))) {
		is_float = true;
		at = digits_end(r, at + 1);
	}
	if (byte_at(r, at) == 'e' || byte_at(r, at) == 'E') {
		is_float = true;
		at++;
		at += byte_at(r, at) == '-' || byte_at(r, at) == '+';
		at = digits_end(r, at);
	}
	text = copy(r, t->from, at);
	t->type = dtype_of(is_float ? DT_F32 : DT_I32);
	t->to = read_suffix(r, at, t);
	is_float = is_float || dtype_is_float(t->type);
	t->kind = is_float ? RELAY_FLOAT : RELAY_INT;
	t->f = strtod(text, &end);
	errno = 0;
	t->i = is_float ? 0 : strtoll(text, &end, 10);
	if (*end != '\0' || errno != 0) {
		return relay_fail(r, t, "'%s' is no number of 64 bits",
				  copy(r, t->from, t->to));
	}
	return true;
}

/* inf, nan, with the suffix of a float; false if the word is another one. */
static bool
is_special(struct relay_reader *r, struct relay_token *t)
{
	size_t from = t->from + (byte_at(r, t->from) == '-');
	bool infinite = from + 3 <= r->src->length &&
			memcmp(r->src->text + from, "inf", 3) == 0;

	if (!infinite && !(from + 3 <= r->src->length &&
			   memcmp(r->src->text + from, "nan", 3) == 0)) {
		return false;
	}
	t->type = dtype_of(DT_F32);
	t->to = byte_at(r, from + 3) == 'f' ? read_suffix(r, from + 3, t)
					    : from + 3;
	if (is_letter(byte_at(r, t->to)) || is_digit(byte_at(r, t->to))) {
		return false;
	}
	t->kind = RELAY_FLOAT;
	t->f = infinite ? (double)INFINITY : (double)NAN;
	t->f = from > t->from ? -t->f : t->f;
	return true;
}

/* -- the rest -- */

static bool
read_string(struct relay_reader *r, struct relay_token *t)
{
	size_t at = t->from + 1, n = 0;
	char *text;

	while (byte_at(r, at) != '"') {
		at += byte_at(r, at) == '\\';
		if (byte_at(r, at) < ' ') {
			return relay_fail(r, t, "no \" ends this text");
		}
		at++;
	}
	text = arena_alloc(r->tmp, at - t->from);
	for (size_t i = t->from + 1; i < at; i++) {
		i += byte_at(r, i) == '\\';
		text[n++] = r->src->text[i];
	}
	text[n] = '\0';
	t->kind = RELAY_STRING;
	t->text = text;
	t->to = at + 1;
	return true;
}

/* Reads a name in quotes, %"conv1/kernel:0". TVM does not print such names:
 * programs have them. */
static bool
read_quoted_name(struct relay_reader *r, struct relay_token *t)
{
	size_t from = t->from++;
	bool ok = read_string(r, t);

	t->kind = RELAY_LOCAL;
	t->from = from;
	return ok;
}

static bool
read_mark(struct relay_reader *r, struct relay_token *t)
{
	int c = byte_at(r, t->from), second = byte_at(r, t->from + 1);
	bool two = (c == '-' && second == '>') || (c == '=' && second == '>') ||
		   (c == '#' && second == '[');

	if (c < 0 || (!two && strchr("()[]{},;:=.?<>", c) == NULL)) {
		return relay_fail(r, t, "Relay has no '%s' here",
				  copy(r, t->from, t->from + (c >= 0)));
	}
	t->kind = RELAY_MARK;
	t->to = t->from + 1 + two;
	t->text = copy(r, t->from, t->to);
	return true;
}

bool
relay_advance(struct relay_reader *r)
{
	struct relay_token *t = &r->next;
	int c;

	t->from = skip(r, t->to);
	t->to = t->from;
	t->text = "";
	c = byte_at(r, t->from);
	if (c < 0) {
		t->kind = RELAY_END;
		return true;
	}
	if (c == '%' && byte_at(r, t->from + 1) == '"') {
		return read_quoted_name(r, t);
	}
	if (c == '%' || c == '@') {
		bool number = is_digit(byte_at(r, t->from + 1));

		t->kind = c == '%' ? RELAY_LOCAL : RELAY_GLOBAL;
		t->to = number ? digits_end(r, t->from + 1)
			       : name_end(r, t->from + 1, true);
		t->text = copy(r, t->from + 1, t->to);
		return t->to > t->from + 1 ||
		       relay_fail(r, t, "a name follows %c", c);
	}
	if ((is_letter(c) || c == '-') && is_special(r, t)) {
		return true;
	}
	if (is_letter(c)) {
		t->kind = RELAY_WORD;
		t->to = name_end(r, t->from, false);
		t->text = copy(r, t->from, t->to);
		return true;
	}
	if (is_digit(c) || (c == '-' && is_digit(byte_at(r, t->from + 1)))) {
		return read_number(r, t);
	}
	return c == '"' ? read_string(r, t) : read_mark(r, t);
}

bool
relay_at(const struct relay_reader *r, const char *mark)
{
	return r->next.kind == RELAY_MARK && strcmp(r->next.text, mark) == 0;
}

bool
relay_at_word(const struct relay_reader *r, const char *word)
{
	return r->next.kind == RELAY_WORD && strcmp(r->next.text, word) == 0;
}

bool
relay_accept(struct relay_reader *r, const char *mark, bool *yes)
{
	*yes = relay_at(r, mark);
	return !*yes || relay_advance(r);
}

bool
relay_more(struct relay_reader *r, const char *end, bool *more)
{
	if (!relay_accept(r, ",", more)) {
		return false;
	}
	*more = *more && !relay_at(r, end);
	return true;
}

bool
relay_expect(struct relay_reader *r, const char *mark, const char *what)
{
	return relay_at(r, mark)
		       ? relay_advance(r)
		       : relay_fail(r, &r->next, "'%s' is expected here: %s",
				    mark, what);
}

bool
relay_int(struct relay_reader *r, const char *what, int64_t *out)
{
	if (r->next.kind != RELAY_INT) {
		return relay_fail(r, &r->next,
				  "an integer is expected here: %s", what);
	}
	*out = r->next.i;
	return relay_advance(r);
}

bool
relay_followed_by(const struct relay_reader *r, char c)
{
	size_t at = skip(r, r->next.to);

	return byte_at(r, at) == c && (c != '=' || byte_at(r, at + 1) != c);
}

bool
relay_enter(struct relay_reader *r)
{
	return r->depth++ < RELAY_DEPTH ||
	       relay_fail(r, &r->next,
			  "expressions nested more than %d deep; give parts of "
			  "them names, %%0 = …",
			  RELAY_DEPTH);
}
