/* SPDX-License-Identifier: Apache-2.0 */
/* Converts comments with delimiters to comments that end with their line, for
 * dialects that prefer these. The texts of dialects are written with
 * delimiters:
 *
 *   (open) conv1                     (line) conv1
 *    * work  12 MAC (close)   ->     (line) work  12 MAC
 *
 * A comment with code after it on the same line is not changed. */
#include <ctype.h>
#include <string.h>

#include "dialect.h"

struct rewriter {
	const struct comment_forms *c;
	struct strbuf *out;
	const char *begin; /* start of the whole text that is converted */
	struct anchor_pass pass;
	bool inside; /* the comment at the end of the last line continues in
		      * this line */
};

/* Copies n characters of the text to the output, and moves the anchors that are
 * in them. */
static void
copy(struct rewriter *w, const char *text, size_t n)
{
	anchors_copied(&w->pass, (size_t)(text - w->begin), n, w->out->len);
	strbuf_write(w->out, text, n);
}

static void
write_trimmed(struct rewriter *w, const char *text, size_t n)
{
	while (n > 0 && isspace((unsigned char)*text)) {
		text++;
		n--;
	}
	while (n > 0 && isspace((unsigned char)text[n - 1])) {
		n--;
	}
	strbuf_puts(w->out, w->c->line);
	if (n > 0) {
		strbuf_putc(w->out, ' ');
		copy(w, text, n);
	}
	if (n > 0 && text[n - 1] == '\\') {
		strbuf_puts(w->out,
			    /* a backslash at the end of a comment's line would
			     * make the next line part of the comment */
			    " .");
	}
	strbuf_putc(w->out, '\n');
}

static bool
is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isspace((unsigned char)text[i])) {
			return false;
		}
	}
	return true;
}

static bool
starts(const char *text, size_t n, const char *word)
{
	return strlen(word) <= n && strncmp(text, word, strlen(word)) == 0;
}

/* The position of the word in n characters of text; n if it does not occur. */
static size_t
find(const char *text, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (starts(text + i, n - i, word)) {
			return i;
		}
	}
	return n;
}

/* The position after the quote that closes the quote at text[at]; n if there is
 * none. */
static size_t
behind_quotes(const char *text, size_t at, size_t n)
{
	char quote = text[at++];

	while (at < n && text[at] != quote) {
		at += text[at] == '\\' ? 2 : 1;
	}
	return at < n ? at + 1 : n;
}

/* Converts a line whose start is inside of a comment. */
static void
rewrite_rest(struct rewriter *w, const char *text, size_t n)
{
	size_t close = find(text, n, w->c->close);
	size_t indent = 0, at, behind = close + strlen(w->c->close);

	while (indent < n && isspace((unsigned char)text[indent])) {
		indent++;
	}
	at = indent;
	if (at < close && starts(text + at, n - at, w->c->next)) {
		at += strlen(w->c->next);
		indent -= indent > 0 && text[indent - 1] == ' ';
	}
	if (close == n || !is_blank(text + at, close - at)) {
		copy(w, text, indent);
		write_trimmed(w, text + at, close - at);
	}
	w->inside = close == n;
	if (close < n && !is_blank(text + behind, n - behind)) {
		copy(w, text + behind, n - behind);
		strbuf_putc(w->out, '\n');
	}
}

static void
rewrite_line(struct rewriter *w, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t from = i + strlen(w->c->open), close, behind;

		if (text[i] == '"' || text[i] == '\'') {
			i = behind_quotes(text, i, n);
			continue;
		}
		if (!starts(text + i, n - i, w->c->open)) {
			i++;
			continue;
		}
		close = from + find(text + from, n - from, w->c->close);
		behind = close + strlen(w->c->close);
		if (close < n && !is_blank(text + behind, n - behind)) {
			i = behind;
			continue;
		}
		copy(w, text, i);
		write_trimmed(w, text + from, close - from);
		w->inside = close == n;
		return;
	}
	copy(w, text, n);
	strbuf_putc(w->out, '\n');
}

const char *
dialect_comments(const struct dialect *d, struct arena *a, const char *text,
		 struct anchors *anchors)
{
	struct strbuf s;
	struct rewriter w = {
		.c = &d->comments,
		.out = &s,
		.begin = text,
		.pass = { .anchors = anchors },
	};
	const char *result;

	if (d->comments.line == NULL) {
		return text;
	}
	strbuf_init(&s);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (w.inside) {
			rewrite_rest(&w, text, n);
		} else {
			rewrite_line(&w, text, n);
		}
		text += n + (text[n] == '\n');
	}
	result = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return result;
}
