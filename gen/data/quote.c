/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of templates: a function for the rules of each language. It
 * refuses a text with control characters for which the language has no
 * escape. */
#include "quote.h"

#include <string.h>

#include "json_put.h"
#include "process.h"
#include "text.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool
is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool
has_control(const char *text)
{
	while (*text != '\0' && !is_control(*text)) {
		text++;
	}
	return *text != '\0';
}

static bool
put_name(const char *text, struct strbuf *out)
{
	strbuf_puts(out, text);
	return text[strspn(text, LETTERS DIGITS "_.+-")] == '\0';
}

static bool
put_line(const char *text, struct strbuf *out)
{
	strbuf_puts(out, text);
	return !has_control(text);
}

/* Appends `text` as a comment's text. A backslash at its end is followed by
 * ".", because in some languages it would continue the line. */
static bool
put_comment(const char *text, struct strbuf *out)
{
	size_t n = strlen(text);

	strbuf_puts(out, text);
	if (n > 0 && text[n - 1] == '\\') {
		strbuf_putc(out, '.');
	}
	return !has_control(text);
}

/* Appends the text as make reads it: $ starts a variable; # starts a comment
 * unless an odd number of backslashes precedes it, and make removes half of
 * these backslashes; a backslash at the end would continue the line. */
static bool
put_make(const char *text, struct strbuf *out)
{
	int backslashes = 0;

	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '#') {
			for (int i = 0; i <= backslashes; i++) {
				strbuf_putc(out, '\\');
			}
		} else if (*at == '$') {
			strbuf_putc(out, '$');
		}
		strbuf_putc(out, *at);
		backslashes = *at == '\\' ? backslashes + 1 : 0;
	}
	return backslashes == 0 && !has_control(text);
}

/* Appends the name of a file in a rule, as make and ninja read it. make and
 * ninja have no common escape for a backslash, for the characters of wildcards,
 * for = (an assignment), for a ~ at the start (a home folder) and for ; (a
 * command): false if the name has such a character. */
static bool
put_depfile(const char *text, struct strbuf *out)
{
	for (const char *at = text; *at != '\0'; at++) {
		if (strchr(" #:", *at) != NULL) {
			strbuf_putc(out, '\\');
		} else if (*at == '$') {
			strbuf_putc(out, '$');
		}
		strbuf_putc(out, *at);
	}
	return text[0] != '~' && text[strcspn(text, ";=\\*?[]")] == '\0' &&
	       !has_control(text);
}

static bool
put_shell(const char *text, struct strbuf *out)
{
	struct arena a;

	arena_init(&a);
	strbuf_puts(out, command_quoted(&a, text));
	arena_release(&a);
	return true;
}

/* Appends the text with a backslash before each of the given characters, and \n
 * for a newline. False if it has another control character. */
static bool
put_escaped(const char *text, const char *characters, struct strbuf *out)
{
	bool ok = true;

	for (; *text != '\0'; text++) {
		if (*text == '\n') {
			strbuf_puts(out, "\\n");
			continue;
		}
		if (strchr(characters, *text) != NULL) {
			strbuf_putc(out, '\\');
		}
		strbuf_putc(out, *text);
		ok = ok && !is_control(*text);
	}
	return ok;
}

/* Appends the text as an argument of CMake, quoted if it is not plain; ; is
 * escaped, since it ends an element of a list. False if the text has a control
 * character other than a newline. */
static bool
put_cmake(const char *text, struct strbuf *out)
{
	bool ok;

	if (text[0] != '\0' &&
	    text[strspn(text, LETTERS DIGITS "_./+=:,@%-")] == '\0') {
		strbuf_puts(out, text);
		return true;
	}
	strbuf_putc(out, '"');
	ok = put_escaped(text, "\\\"$;", out);
	strbuf_putc(out, '"');
	return ok;
}

static bool
put_meson(const char *text, struct strbuf *out)
{
	return put_escaped(text, "\\'", out);
}

/* Appends the text with the escapes of a C string; ? is escaped, because ?? may
 * start a trigraph. False if it has a control character other than a
 * newline. */
static bool
put_c(const char *text, struct strbuf *out)
{
	return put_escaped(text, "\\\"?", out);
}

static bool
put_json(const char *text, struct strbuf *out)
{
	json_put_escaped(out, text);
	return true;
}

/* Appends the text with an entity, "&amp;", in place of each character that is
 * special in markup. */
static void
put_entities(const char *text, struct strbuf *out)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;",
						"&quot;", "&apos;" };

	for (; *text != '\0'; text++) {
		const char *at = strchr(special, *text);

		if (at != NULL) {
			strbuf_puts(out, entities[at - special]);
		} else {
			strbuf_putc(out, *text);
		}
	}
}

static bool
put_xml(const char *text, struct strbuf *out)
{
	put_entities(text, out);
	return !has_control(text);
}

static bool
put_visible(const char *text, struct strbuf *out)
{
	text_put_visible(out, text, strlen(text), "\t");
	return true;
}

static bool
put_html(const char *text, struct strbuf *out)
{
	struct strbuf visible;

	strbuf_init(&visible);
	put_visible(text, &visible);
	if (visible.data != NULL) {
		put_entities(visible.data, out);
	}
	strbuf_release(&visible);
	return true;
}

/* Does Markdown read text[i] as markup? What begins a line matters only there,
 * and _ within a word does not. */
static bool
is_markup(const char *text, size_t i)
{
	char c = text[i];

	if (i == 0 && strchr("#+-=", c) != NULL) {
		return c == '#' || c == '=' || text[1] == ' ';
	}
	if (c == '_') {
		return i == 0 || strchr(LETTERS DIGITS, text[i - 1]) == NULL ||
		       text[i + 1] == '\0' ||
		       strchr(LETTERS DIGITS, text[i + 1]) == NULL;
	}
	if (c == '.' || c == ')') {
		return i > 0 && strspn(text, DIGITS) == i && text[i + 1] == ' ';
	}
	return strchr("\\`*[]<>|~", c) != NULL ||
	       (c == ':' && text[i + 1] == '/');
}

static bool
put_markdown(const char *text, struct strbuf *out)
{
	struct strbuf visible;
	const char *all;

	strbuf_init(&visible);
	put_visible(text, &visible);
	all = visible.data != NULL ? visible.data : "";
	for (size_t i = 0; all[i] != '\0'; i++) {
		if (all[i] == '&') {
			strbuf_puts(out, "&amp;");
			continue;
		}
		if (is_markup(all, i)) {
			strbuf_putc(out, '\\');
		}
		strbuf_putc(out, all[i]);
	}
	strbuf_release(&visible);
	return true;
}

static const struct quote quotes[] = {
#define QUOTE(filter, function, form) { filter, function },
#include "quote.def"
};

enum { N_QUOTES = sizeof quotes / sizeof *quotes };

const struct quote *
quote_find(const char *name, size_t length)
{
	for (int i = 0; i < N_QUOTES; i++) {
		if (strlen(quotes[i].filter) == length &&
		    strncmp(quotes[i].filter, name, length) == 0) {
			return &quotes[i];
		}
	}
	return NULL;
}
