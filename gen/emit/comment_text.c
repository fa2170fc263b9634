/* SPDX-License-Identifier: Apache-2.0 */
#include "comment_text.h"

#include <string.h>

const char *
comment_text(struct arena *a, const char *text)
{
	size_t length = strlen(text);
	char *out = arena_alloc(a, length * 2 + 1);
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		char last = n > 0 ? out[n - 1] : '\0';

		if (c < ' ' || c == 127) {
			c = ' ';
		} else if (c > 127) {
			c = '?';
		} else if (c == '\\') {
			c = '/';
		}
		/* Breaks up comment delimiters and trigraphs. */
		if ((c == '/' && (last == '*' || last == '/')) ||
		    (c == '*' && last == '/') || (c == '?' && last == '?')) {
			out[n++] = ' ';
		}
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return out;
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
