/* SPDX-License-Identifier: Apache-2.0 */
#include "comment_text.h"

#include <string.h>

#include "text.h"

static bool
ends_in(const struct strbuf *s, const char *word)
{
	size_t n = word != NULL ? strlen(word) : 0;

	return n > 0 && s->len >= n &&
	       memcmp(s->data + s->len - n, word, n) == 0;
}

/* Appends a character; breaks up the delimiters of comments, of C as of the
 * dialect, and trigraphs. */
static void
put(struct strbuf *s, const struct comment_forms *c, char letter)
{
	const char *const words[] = { "/*",    "*/",     "//",   "??",
				      c->open, c->close, c->line };

	strbuf_putc(s, letter);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!ends_in(s, words[i])) {
			continue;
		}
		s->len--;
		if (strlen(words[i]) > 1) {
			strbuf_putc(s, ' ');
			strbuf_putc(s, letter);
		} else {
			strbuf_putc(s, '.');
		}
		return;
	}
}

const char *
comment_text(struct arena *a, const struct dialect *d, const char *text)
{
	size_t n = strlen(text);
	const char *result;
	struct strbuf s;

	strbuf_init(&s);
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t bytes = text_character(text + i, n - i, &code);

		if (bytes == 0) {
			strbuf_printf(&s, "<%02X>", (unsigned char)text[i]);
		} else if (code == '\n' || code == '\t') {
			put(&s, &d->comments, ' ');
		} else if (code >= 0x7f || code < ' ') {
			strbuf_printf(&s, "<U+%04X>", code);
		} else {
			put(&s, &d->comments, code == '\\' ? '/' : (char)code);
		}
		i += bytes > 0 ? bytes : 1;
	}
	result = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return result;
}

const char *
comment_wrap(struct arena *a, const struct dialect *d, const char *text,
	     int column)
{
	struct strbuf s;
	const char *result;
	int at = column;
	const char *p = text;

	strbuf_init(&s);
	while (*p != '\0') {
		int n = (int)strcspn(p, " ");

		if (p > text && at + 1 + n > d->line_columns) {
			strbuf_putc(&s, '\n');
			strbuf_puts(&s, d->comment_line);
			at = (int)strlen(d->comment_line);
		} else if (p > text) {
			strbuf_putc(&s, ' ');
			at++;
		}
		strbuf_write(&s, p, (size_t)n);
		at += n;
		p += n;
		while (*p == ' ') {
			p++;
		}
	}
	result = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return result;
}
