/* SPDX-License-Identifier: Apache-2.0 */
#include "comment_text.h"

#include <string.h>

#include "text.h"

/* The sequences of characters that a comment must not contain: the comment
 * delimiters of C and of the dialect, and trigraphs. */
enum { N_REFUSED = 7 };

/* The column in which the values of the rows in the comment at a file's head
 * begin. */
enum { FLAGS_COLUMN = 14 };

struct refused {
	const char *words[N_REFUSED];
	char ends[N_REFUSED + 1]; /* the last character of each sequence */
};

static struct refused
refused_of(const struct comment_forms *c)
{
	struct refused r = {
		.words = { "/*", "*/", "//", "??", c->open, c->close, c->line },
	};

	for (int i = 0; i < N_REFUSED; i++) {
		if (r.words[i] == NULL || r.words[i][0] == '\0') {
			/* if the dialect has no delimiter, a delimiter of C is
			 * listed twice */
			r.words[i] = r.words[0];
		}
		r.ends[i] = r.words[i][strlen(r.words[i]) - 1];
	}
	return r;
}

static bool
ends_in(const struct strbuf *s, const char *word)
{
	size_t n = strlen(word);

	return s->len >= n && memcmp(s->data + s->len - n, word, n) == 0;
}

/* Appends a character. If the character completes a refused sequence, a space
 * is put before it; a refused sequence of one character is replaced by '.'. */
static void
put(struct strbuf *s, const struct refused *r, char letter)
{
	strbuf_putc(s, letter);
	if (strchr(r->ends, letter) == NULL) {
		return;
	}
	for (int i = 0; i < N_REFUSED; i++) {
		if (!ends_in(s, r->words[i])) {
			continue;
		}
		s->len--;
		if (strlen(r->words[i]) > 1) {
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
	const struct refused refused = refused_of(&d->comments);
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
			put(&s, &refused, ' ');
		} else if (code >= 0x7f || code < ' ') {
			strbuf_printf(&s, "<U+%04X>", code);
		} else {
			put(&s, &refused, code == '\\' ? '/' : (char)code);
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

const char *
comment_origin(struct arena *a, const struct dialect *d, const char *from,
	       const char *version, const char *target)
{
	return comment_text(a, d,
			    arena_printf(a, "from %s, tirc %s, target %s", from,
					 version, target));
}

const char *
comment_flags(struct arena *a, const struct dialect *d, const char *flags)
{
	return comment_wrap(a, d, comment_text(a, d, flags), FLAGS_COLUMN);
}
