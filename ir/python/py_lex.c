/* SPDX-License-Identifier: Apache-2.0 */
/* Python's tokens: indentation, line joining, comments, names, numbers,
 * operators, and the raw text of strings (py_string.c resolves the escapes). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "py_read.h"

static int
peek(const struct py_lexer *lex, size_t ahead)
{
	size_t at = lex->at + ahead;

	return at < lex->end ? (unsigned char)lex->src->text[at] : -1;
}

static struct py_span
span_of(const struct py_lexer *lex, size_t from, size_t to)
{
	int col = from >= lex->line_start ? (int)(from - lex->line_start) + 1
					  : 1;
	int end = to >= lex->line_start ? (int)(to - lex->line_start) + 1 : 1;

	return (struct py_span){ lex->line, col, lex->line, end };
}

static bool
py_lex_error(struct py_lexer *lex, size_t from, size_t to, const char *text)
{
	return py_error(lex->module, lex->src, span_of(lex, from, to), "%s",
			text);
}

static struct py_token *
add(struct py_lexer *lex, enum py_token_kind kind, size_t from)
{
	struct py_token t = {
		.kind = kind,
		.span = span_of(lex, from, lex->at),
		.text = lex->src->text + from,
		.length = lex->at - from,
	};

	t.line = t.span.line;
	t.col = t.span.col;
	vec_push(&lex->module->arena, &lex->tokens, t);
	return &lex->tokens.data[lex->tokens.n - 1];
}

/* Skips the end of a line, if the lexer is at one. Returns whether it was. */
static bool
skip_line_end(struct py_lexer *lex)
{
	int c = peek(lex, 0);

	if (c != '\n' && c != '\r') {
		return false;
	}
	lex->at += c == '\r' && peek(lex, 1) == '\n' ? 2 : 1;
	lex->line++;
	lex->line_start = lex->at;
	return true;
}

/* ---- numbers */

static bool
is_word(int c)
{
	return c >= 0 && c < 128 && (isalnum(c) || c == '_');
}

static int
digit_value(int c)
{
	return isdigit(c) ? c - '0' : isalpha(c) ? tolower(c) - 'a' + 10 : 99;
}

static bool
lex_int(struct py_lexer *lex, size_t from, int base, size_t skip)
{
	const char *text = lex->src->text;
	uint64_t value = 0;
	bool any = false, too_large = false;

	for (size_t i = from + skip; i < lex->at; i++) {
		int c = (unsigned char)text[i];
		int digit = digit_value(c);

		if (c == '_' && i + 1 < lex->at && text[i + 1] != '_') {
			continue;
		}
		if (digit >= base) {
			return py_lex_error(lex, from, lex->at,
					    "no number; "
					    "put a space or an operator "
					    "between number and name");
		}
		too_large |= __builtin_mul_overflow(value, (uint64_t)base,
						    &value);
		too_large |= __builtin_add_overflow(value, (uint64_t)digit,
						    &value);
		any = true;
	}
	if (!any) {
		return py_lex_error(lex, from, lex->at,
				    "a number without "
				    "digits; add them");
	}
	if (too_large) {
		return py_lex_error(lex, from, lex->at,
				    "a number of more than "
				    "64 bits; use a smaller one");
	}
	if (base == 10 && value != 0 && text[from] == '0') {
		return py_lex_error(lex, from, lex->at,
				    "a number with leading "
				    "zeros; drop them, or write 0o for octal");
	}
	struct py_token *t = add(lex, PY_T_INT, from);

	t->ival = (int64_t)value;
	t->is_unsigned = value > (uint64_t)INT64_MAX;
	return true;
}

static bool
lex_float(struct py_lexer *lex, size_t from)
{
	struct strbuf digits;
	char *end;

	strbuf_init(&digits);
	for (size_t i = from; i < lex->at; i++) {
		if (lex->src->text[i] != '_') {
			strbuf_putc(&digits, lex->src->text[i]);
		}
	}
	double value = strtod(digits.data, &end);
	bool good = *end == '\0';

	strbuf_release(&digits);
	if (!good) {
		return py_lex_error(lex, from, lex->at,
				    "no number; put a "
				    "space or an operator between number and "
				    "name");
	}
	add(lex, PY_T_FLOAT, from)->fval = value;
	return true;
}

static bool
lex_number(struct py_lexer *lex)
{
	size_t from = lex->at;
	int second = peek(lex, 1);
	bool is_float = false;

	if (peek(lex, 0) == '0' && second > 0 && strchr("xXoObB", second)) {
		int base = tolower(second) == 'x'   ? 16
			   : tolower(second) == 'o' ? 8
						    : 2;

		lex->at += 2;
		while (is_word(peek(lex, 0))) {
			lex->at++;
		}
		return lex_int(lex, from, base, 2);
	}
	for (;; lex->at++) {
		int c = peek(lex, 0);

		if (c == '.') {
			is_float = true;
		} else if ((c == 'e' || c == 'E') &&
			   (isdigit(peek(lex, 1)) ||
			    ((peek(lex, 1) == '+' || peek(lex, 1) == '-') &&
			     isdigit(peek(lex, 2))))) {
			is_float = true;
			/* skips the 'e' of an exponent; the loop then skips the
			 * sign or the first digit */
			lex->at++;
		} else if (!is_word(c)) {
			break;
		}
	}
	if (tolower((unsigned char)lex->src->text[lex->at - 1]) == 'j') {
		return py_lex_error(lex, from, lex->at,
				    "complex numbers are "
				    "not part of tensor programs; use two "
				    "real ones");
	}
	return is_float ? lex_float(lex, from) : lex_int(lex, from, 10, 0);
}

/* ---- strings */

/* Is the lexer at a string, perhaps with a prefix of one or two letters? If so,
 * sets *prefix to the number of these letters. */
static bool
starts_string(const struct py_lexer *lex, size_t *prefix)
{
	for (*prefix = 0; *prefix < 3; ++*prefix) {
		int c = peek(lex, *prefix);

		if (c == '"' || c == '\'') {
			return true;
		}
		if (c < 0 || !strchr("rRbBfFuU", c) || c == 0) {
			return false;
		}
	}
	return false;
}

static bool
lex_string(struct py_lexer *lex, size_t prefix)
{
	size_t from = lex->at;
	struct py_span span = span_of(lex, from, from + prefix + 1);
	struct py_token t = { .kind = PY_T_STRING };

	for (size_t i = 0; i < prefix; i++) {
		int c = tolower(peek(lex, i));

		t.raw |= c == 'r';
		t.format |= c == 'f';
	}
	lex->at += prefix;

	int quote = peek(lex, 0);
	bool triple = peek(lex, 1) == quote && peek(lex, 2) == quote;

	lex->at += triple ? 3 : 1;
	t.text = lex->src->text + lex->at;
	t.line = lex->line;
	t.col = (int)(lex->at - lex->line_start) + 1;
	for (;;) {
		int c = peek(lex, 0);

		if (c < 0 || (!triple && (c == '\n' || c == '\r'))) {
			span.end_col = triple ? span.end_col + 2 : span.end_col;
			return py_error(lex->module, lex->src, span,
					"a string without an end; close it "
					"with %s",
					triple ? (quote == '"' ? "\"\"\""
							       : "'''")
					: quote == '"' ? "\""
						       : "'");
		}
		if (c == quote && (!triple || (peek(lex, 1) == quote &&
					       peek(lex, 2) == quote))) {
			break;
		}
		if (c == '\\' && peek(lex, 1) >= 0) {
			lex->at++;
		}
		if (!skip_line_end(lex)) {
			lex->at++;
		}
	}
	t.length = (size_t)(lex->src->text + lex->at - t.text);
	lex->at += triple ? 3 : 1;
	t.span = span;
	t.span.end_line = lex->line;
	t.span.end_col = (int)(lex->at - lex->line_start) + 1;
	vec_push(&lex->module->arena, &lex->tokens, t);
	return true;
}

/* ---- names and operators */

static const char *const keywords[] = { PY_KEYWORDS };

/* The keyword, or NULL. */
static const char *
find_keyword(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
		if (strlen(keywords[i]) == length &&
		    memcmp(keywords[i], text, length) == 0) {
			return keywords[i];
		}
	}
	return NULL;
}

bool
py_is_keyword(const char *text, size_t length)
{
	return find_keyword(text, length) != NULL;
}

static void
lex_word(struct py_lexer *lex)
{
	size_t from = lex->at;

	while (is_word(peek(lex, 0))) {
		lex->at++;
	}
	struct py_token *t = add(lex, PY_T_NAME, from);
	const char *keyword = find_keyword(t->text, t->length);

	if (keyword != NULL) {
		t->kind = PY_T_KEYWORD;
		t->op = keyword;
	}
}

static bool
lex_operator(struct py_lexer *lex)
{
	static const char *const operators[] = {
		/* the longest first */
		"**=", "//=", ">>=", "<<=", "...", "->", ":=", "==", "!=", "<=",
		">=",  "<<",  ">>",  "**",  "//",  "+=", "-=", "*=", "/=", "%=",
		"&=",  "|=",  "^=",  "@=",  "+",   "-",  "*",  "/",  "%",  "@",
		"&",   "|",   "^",   "~",   "<",   ">",  "(",  ")",  "[",  "]",
		"{",   "}",   ",",   ":",   ".",   ";",  "=",
	};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const char *op = operators[i];
		size_t n = strlen(op);

		if (lex->end - lex->at < n ||
		    memcmp(lex->src->text + lex->at, op, n) != 0) {
			continue;
		}
		size_t from = lex->at;

		lex->at += n;
		add(lex, PY_T_OP, from)->op = op;
		if (n == 1 && strchr("([{", *op)) {
			lex->brackets++;
		} else if (n == 1 && strchr(")]}", *op) && lex->brackets > 0) {
			lex->brackets--;
		}
		return true;
	}
	int c = peek(lex, 0);

	if (c >= 128) {
		return py_lex_error(lex, lex->at, lex->at + 1,
				    "a letter "
				    "outside of ASCII in the program itself; "
				    "names are made of a-z, A-Z, 0-9 and _");
	}
	return py_lex_error(lex, lex->at, lex->at + 1,
			    "a character that "
			    "Python does not know; remove it");
}

/* ---- lines */

static void
skip_blanks(struct py_lexer *lex)
{
	int c = peek(lex, 0);

	while (c == ' ' || c == '\t' || c == '\f') {
		lex->at++;
		c = peek(lex, 0);
	}
	if (c == '#') {
		while (c >= 0 && c != '\n' && c != '\r') {
			lex->at++;
			c = peek(lex, 0);
		}
	}
}

/* Adds the tokens of one logical line, or of an expression in brackets. False
 * after an error. */
static bool
lex_line(struct py_lexer *lex)
{
	size_t prefix;

	for (;;) {
		skip_blanks(lex);
		int c = peek(lex, 0);

		if (c < 0) {
			return true;
		}
		if (c == '\n' || c == '\r') {
			if (lex->brackets == 0) {
				return true;
			}
			skip_line_end(lex);
		} else if (c == '\\') {
			size_t from = lex->at++;

			if (!skip_line_end(lex)) {
				return py_lex_error(lex, from, from + 1,
						    "a \\ that no line end "
						    "follows; remove it or "
						    "what stands behind it");
			}
		} else if (isdigit(c) || (c == '.' && isdigit(peek(lex, 1)))) {
			if (!lex_number(lex)) {
				return false;
			}
		} else if (starts_string(lex, &prefix)) {
			if (!lex_string(lex, prefix)) {
				return false;
			}
		} else if (is_word(c)) {
			lex_word(lex);
		} else if (!lex_operator(lex)) {
			return false;
		}
	}
}

struct indent {
	int tabs8, tabs1; /* the width of the indentation with tab stops every 8
			   * columns, and with tabs of 1 column */
};

static struct indent
measure(struct py_lexer *lex)
{
	struct indent in = { 0, 0 };

	for (;; lex->at++) {
		switch (peek(lex, 0)) {
		case ' ':
			in.tabs8++;
			in.tabs1++;
			break;
		case '\t':
			in.tabs8 = (in.tabs8 / 8 + 1) * 8;
			in.tabs1++;
			break;
		case '\f':
			in = (struct indent){ 0, 0 };
			break;
		default:
			return in;
		}
	}
}

/* Adds the tokens that open or close suites before a line whose indentation is
 * `in`. False after an error. */
static bool
lex_indent(struct py_lexer *lex, struct indent *stack, int *depth,
	   struct indent in)
{
	const struct indent *top = &stack[*depth];

	if ((in.tabs8 > top->tabs8) != (in.tabs1 > top->tabs1) ||
	    (in.tabs8 < top->tabs8) != (in.tabs1 < top->tabs1)) {
		return py_lex_error(lex, lex->line_start, lex->at,
				    "tabs and "
				    "spaces mixed; indent with spaces alone");
	}
	if (in.tabs8 > top->tabs8) {
		if (*depth == PY_MAX_NESTING) {
			return py_lex_error(lex, lex->line_start, lex->at,
					    "suites nested too deep; move "
					    "some into functions");
		}
		stack[++*depth] = in;
		add(lex, PY_T_INDENT, lex->line_start);
		return true;
	}
	while (in.tabs8 < stack[*depth].tabs8) {
		--*depth;
		add(lex, PY_T_DEDENT, lex->at);
	}
	if (in.tabs8 != stack[*depth].tabs8 ||
	    in.tabs1 != stack[*depth].tabs1) {
		return py_lex_error(lex, lex->line_start, lex->at,
				    "an "
				    "indentation that no line above has; "
				    "align it with the suite it belongs to");
	}
	return true;
}

bool
py_lex(struct py_lexer *lex)
{
	struct indent stack[PY_MAX_NESTING + 1] = { { 0, 0 } };
	int depth = 0;

	if (lex->end >= 3 && memcmp(lex->src->text, "\xef\xbb\xbf", 3) == 0) {
		lex->at = lex->line_start = 3;
	}
	while (lex->at < lex->end) {
		struct indent in = measure(lex);
		size_t start = lex->at;

		skip_blanks(lex);
		if (skip_line_end(lex) || lex->at >= lex->end) {
			continue;
		}
		lex->at = start;
		if (!lex_indent(lex, stack, &depth, in) || !lex_line(lex)) {
			return false;
		}
		add(lex, PY_T_NEWLINE, lex->at);
		skip_line_end(lex);
	}
	for (; depth > 0; depth--) {
		add(lex, PY_T_DEDENT, lex->at);
	}
	add(lex, PY_T_END, lex->at);
	return true;
}

bool
py_lex_inside(struct py_lexer *lex)
{
	lex->brackets = 1;
	do {
		if (!lex_line(lex)) {
			return false;
		}
		/* Too many closing brackets: the parser reports it. */
		lex->brackets = 1;
	} while (lex->at < lex->end);
	add(lex, PY_T_END, lex->at);
	return true;
}
