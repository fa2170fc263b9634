/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: resolves escapes, joins adjacent strings, and takes f-strings apart
 * into text and the expressions between their braces. */
#include "py_read.h"
#include "text.h"

/* A position in a string token, with its line and column. */
struct place {
	const struct py_token *token;
	size_t at; /* in token->text */
	int line;
	size_t line_start; /* offset of the line's start; column = at -
			    * line_start + first_col */
	int first_col;
};

static struct py_span
span_at(const struct place *s, size_t from, size_t to)
{
	int col = (int)(from - s->line_start) + s->first_col;

	return (struct py_span){ s->line, col, s->line,
				 col + (int)(to - from) };
}

static void
put_utf8(struct strbuf *out, uint32_t c)
{
	if (c < 0x80) {
		strbuf_putc(out, (char)c);
	} else if (c < 0x800) {
		strbuf_putc(out, (char)(0xc0 | c >> 6));
		strbuf_putc(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		strbuf_putc(out, (char)(0xe0 | c >> 12));
		strbuf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		strbuf_putc(out, (char)(0x80 | (c & 63)));
	} else {
		strbuf_putc(out, (char)(0xf0 | c >> 18));
		strbuf_putc(out, (char)(0x80 | (c >> 12 & 63)));
		strbuf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		strbuf_putc(out, (char)(0x80 | (c & 63)));
	}
}

/* Reads the digits of \xhh, \uhhhh or \Uhhhhhhhh; s->at is after the letter.
 * False after an error. */
static bool
hex_escape(struct py_parser *p, struct place *s, int digits, struct strbuf *out)
{
	const struct py_token *t = s->token;
	uint32_t value = 0;
	size_t from = s->at - 2;

	for (int i = 0; i < digits; i++, s->at++) {
		int d = s->at < t->length ? text_hex_digit(t->text[s->at]) : -1;

		if (d < 0) {
			py_fail(p, span_at(s, from, s->at),
				"an escape that "
				"lacks digits; give %d of them",
				digits);
			return false;
		}
		value = value << 4 | (uint32_t)d;
	}
	if (value > 0x10ffff) {
		py_fail(p, span_at(s, from, s->at),
			"an escape beyond "
			"Unicode; use at most \\U0010ffff");
		return false;
	}
	put_utf8(out, value);
	return true;
}

static bool
escape(struct py_parser *p, struct place *s, struct strbuf *out)
{
	static const char letters[] = "abfnrtv\\'\"";
	static const char meanings[] = "\a\b\f\n\r\t\v\\'\"";
	const struct py_token *t = s->token;
	char c = t->text[s->at + 1];
	const char *known = c ? strchr(letters, c) : NULL;

	s->at += 2;
	if (known) {
		strbuf_putc(out, meanings[known - letters]);
		return true;
	}
	switch (c) {
	case '\r':
		if (s->at < t->length && t->text[s->at] == '\n') {
			s->at++;
		}
		/* fallthrough */
	case '\n':
		s->line++;
		s->line_start = s->at;
		s->first_col = 1;
		return true;
	case 'x':
		return hex_escape(p, s, 2, out);
	case 'u':
		return hex_escape(p, s, 4, out);
	case 'U':
		return hex_escape(p, s, 8, out);
	case 'N':
		py_refuse(p, span_at(s, s->at - 2, s->at),
			  "an escape by a character's name");
		return false;
	default:
		break;
	}
	if (c >= '0' && c <= '7') {
		uint32_t value = (uint32_t)(c - '0');

		for (int i = 0; i < 2 && s->at < t->length &&
				t->text[s->at] >= '0' && t->text[s->at] <= '7';
		     i++) {
			value = value * 8 + (uint32_t)(t->text[s->at++] - '0');
		}
		put_utf8(out, value);
		return true;
	}
	/* like Python, keeps an unknown escape as it is */
	strbuf_putc(out, '\\');
	strbuf_putc(out, c);
	return true;
}

/* Copies one byte of the string to `out`; a line end of two bytes becomes a
 * newline. */
static void
plain(struct place *s, struct strbuf *out)
{
	const struct py_token *t = s->token;
	char c = t->text[s->at++];

	if (c == '\r') {
		if (s->at < t->length && t->text[s->at] == '\n') {
			s->at++;
		}
		c = '\n';
	}
	strbuf_putc(out, c);
	if (c == '\n') {
		s->line++;
		s->line_start = s->at;
		s->first_col = 1;
	}
}

static void
push_text(struct py_parser *p, const char *text, size_t n,
	  struct py_nodes *parts)
{
	struct py_node *node = py_node_new(p, PY_STRING, p->at);

	node->text = arena_strndup(&p->module->arena, text, n);
	node->length = n;
	node->height = 1;
	py_push(p, parts, node);
}

static void
flush(struct py_parser *p, struct strbuf *text, struct py_nodes *parts)
{
	if (text->len > 0) {
		push_text(p, text->data, text->len, parts);
	}
	strbuf_release(text);
	strbuf_init(text);
}

/* The offset at which the value that begins at `start` ends: the offset of the
 * "}", ":" or "!" that follows. */
static size_t
value_end(const struct py_token *t, size_t start)
{
	size_t end = start;
	int depth = 0;
	char quote = 0;

	for (; end < t->length; end++) {
		char c = t->text[end];

		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
			depth--;
		} else if (c == '}' ||
			   (depth == 0 &&
			    (c == ':' || (c == '!' && end + 1 < t->length &&
					  t->text[end + 1] != '=')))) {
			break;
		}
	}
	return end;
}

/* The offset of the end of the value's text; if `shown`, without the "=" of
 * {x=} and blanks around it. */
static size_t
last_of(const struct py_token *t, size_t end, bool shown)
{
	while (shown && t->text[end - 1] == ' ') {
		end--;
	}
	return end - shown;
}

/* Does the value have the form {x=}, which shows the value's text, too? */
static bool
shows_itself(const struct py_token *t, size_t start, size_t end)
{
	size_t last = end;

	while (last > start && t->text[last - 1] == ' ') {
		last--;
	}
	return last > start + 1 && t->text[last - 1] == '=' &&
	       strchr("=<>!", t->text[last - 2]) == NULL;
}

static bool braces(struct py_parser *p, struct place *s,
		   struct py_nodes *parts);

/* Reads what follows a value, "!r" and ":format", and the closing brace, and adds
 * the PY_FORMAT to the parts. s->at is behind the value. */
static bool
format_of(struct py_parser *p, struct place *s, const struct py_node *value,
	  bool shown, struct py_nodes *parts)
{
	const struct py_token *t = s->token;
	struct py_node *node = py_node_new(p, PY_FORMAT, p->at);
	struct py_nodes kids = { NULL, 0, 0 }, spec = { NULL, 0, 0 };
	struct strbuf text;
	bool good = true;
	const struct py_node *format = NULL;

	if (s->at < t->length && t->text[s->at] == '!') {
		char c = s->at + 1 < t->length ? t->text[s->at + 1] : 0;

		if (c == 0 || strchr("rsa", c) == NULL) {
			py_fail(p, span_at(s, s->at, s->at + 1),
				"a conversion that is none of !r, !s and !a; "
				"write one of these");
			return false;
		}
		node->text = arena_printf(&p->module->arena, "%c", c);
		s->at += 2;
	}
	strbuf_init(&text);
	if (s->at < t->length && t->text[s->at] == ':') {
		s->at++;
		while (good && s->at < t->length && t->text[s->at] != '}') {
			if (t->text[s->at] == '{') {
				s->at++;
				flush(p, &text, &spec);
				good = braces(p, s, &spec);
			} else {
				plain(s, &text);
			}
		}
		flush(p, &text, &spec);
		format = py_finish(p, py_node_new(p, PY_FSTRING, p->at), &spec,
				   p->at);
		good = good && format;
	}
	strbuf_release(&text);
	if (good && (s->at >= t->length || t->text[s->at] != '}')) {
		py_fail(p, span_at(s, s->at, s->at),
			"a brace without its partner; close it, or write {{ "
			"for the character itself");
		good = false;
	}
	s->at++;
	node->text = !node->text && shown && !format ? "r" : node->text;
	py_push(p, &kids, value);
	py_push(p, &kids, format);
	if (good && (node->text || format)) {
		value = py_finish(p, node, &kids, p->at);
	}
	value = good ? value : NULL;
	if (value) {
		py_push(p, parts, value);
	}
	return value != NULL;
}

/* Reads the expression between braces; s->at is after the opening one. False
 * after an error. */
static bool
braces(struct py_parser *p, struct place *s, struct py_nodes *parts)
{
	const struct py_token *t = s->token;
	size_t start = s->at, end = value_end(t, start);
	bool shown = shows_itself(t, start, end);

	if (end == t->length) {
		py_fail(p, span_at(s, start - 1, end),
			"a brace without its partner; close it, or write {{ "
			"for the character itself");
		return false;
	}
	struct py_lexer lex = {
		.module = p->module,
		.src = p->src,
		.at = (size_t)(t->text - p->src->text) + start,
		.end = (size_t)(t->text - p->src->text) +
		       last_of(t, end, shown),
		.line = s->line,
	};
	size_t col = start - s->line_start + (size_t)s->first_col;

	lex.line_start = lex.at + 1 - col;
	if (!py_lex_inside(&lex)) {
		p->failed = true;
		return false;
	}
	struct py_parser inner = *p;

	inner.tokens = lex.tokens;
	inner.at = 0;
	if (!py_enter(&inner)) {
		p->failed = true;
		return false;
	}
	const struct py_node *value = py_expression_list(&inner);

	if (value && py_here(&inner)->kind != PY_T_END) {
		py_fail(&inner, py_here(&inner)->span,
			"%s behind the value "
			"of an f-string; leave it out",
			py_describe(&inner, py_here(&inner)));
		value = NULL;
	}
	p->failed = inner.failed;
	if (!value) {
		return false;
	}
	if (s->line != lex.line) {
		s->line = lex.line;
		s->line_start = lex.line_start -
				(size_t)(t->text - p->src->text);
		s->first_col = 1;
	}
	s->at = end;
	if (shown) {
		push_text(p, t->text + start, end - start, parts);
	}
	return format_of(p, s, value, shown, parts);
}

/* Reads one token, a string. Appends its text to `text`; of an f-string,
 * appends the parts, texts and expressions, to `parts`. False after an
 * error. */
static bool
read_string(struct py_parser *p, const struct py_token *t, struct strbuf *text,
	    struct py_nodes *parts)
{
	struct place s = { t, 0, t->line, 0, t->col };

	while (s.at < t->length) {
		char c = t->text[s.at];
		char next = s.at + 1 < t->length ? t->text[s.at + 1] : 0;

		if (t->format && (c == '{' || c == '}')) {
			if (next == c) {
				strbuf_putc(text, c);
				s.at += 2;
				continue;
			}
			s.at++;
			if (c == '}') {
				py_fail(p, span_at(&s, s.at - 1, s.at),
					"a brace without its partner; write "
					"}} for the character itself");
				return false;
			}
			flush(p, text, parts);
			if (!braces(p, &s, parts)) {
				return false;
			}
		} else if (c == '\\' && !t->raw && s.at + 1 < t->length) {
			if (!escape(p, &s, text)) {
				return false;
			}
		} else {
			plain(&s, text);
		}
	}
	return true;
}

const struct py_node *
py_strings(struct py_parser *p)
{
	int first = p->at;
	bool format = false, good = true;
	struct strbuf text;
	struct py_nodes parts = { NULL, 0, 0 };

	strbuf_init(&text);
	while (good && py_here(p)->kind == PY_T_STRING) {
		format |= py_here(p)->format;
		good = read_string(p, py_here(p), &text, &parts);
		p->at++;
	}
	struct py_node *node = py_node_new(p, format ? PY_FSTRING : PY_STRING,
					   first);

	if (format) {
		flush(p, &text, &parts);
	} else {
		node->text = arena_strndup(&p->module->arena,
					   text.data ? text.data : "",
					   text.len);
		node->length = text.len;
	}
	strbuf_release(&text);
	return good ? py_finish(p, node, &parts, first) : NULL;
}
