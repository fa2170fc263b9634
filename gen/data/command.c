/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command: splits and quotes them by the grammar of the shell
 * (POSIX.1-2017, 2.2 Quoting). */
#include <string.h>

#include "process.h"

static const char blanks[] = " \t\n";

/* Characters that have no special meaning in a shell at any position of a
 * word. */
static const char plain[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789_@%+=:,./-";

/* Appends the characters of the quoted text that starts at `at` to the word,
 * without quotes. Returns the position after the closing quote, or NULL if
 * there is no closing quote. */
static const char *
quoted_part(const char *at, struct strbuf *word)
{
	const char quote = *at++;

	for (; *at != '\0' && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1] != '\0' &&
		    strchr("\"\\$`", at[1]) != NULL) {
			at++;
		}
		strbuf_write(word, at, 1);
	}
	return *at == quote ? at + 1 : NULL;
}

/* Appends one word, without its quotes, to `word`. Returns the position after
 * it in the text `at`, or NULL if a quote is not closed. */
static const char *
one_word(const char *at, struct strbuf *word)
{
	while (at != NULL && *at != '\0' && strchr(blanks, *at) == NULL) {
		if (*at == '\'' || *at == '"') {
			at = quoted_part(at, word);
			continue;
		}
		at += *at == '\\' && at[1] != '\0';
		strbuf_write(word, at++, 1);
	}
	return at;
}

bool
command_add(struct arena *a, struct command *c, const char *text)
{
	const int before = c->words.n;
	const char *at = text + strspn(text, blanks);
	struct strbuf word;

	while (*at != '\0') {
		strbuf_init(&word);
		at = one_word(at, &word);
		if (at == NULL) {
			strbuf_release(&word);
			c->words.n = before;
			return false;
		}
		command_add_word(a, c, word.data != NULL ? word.data : "");
		strbuf_release(&word);
		at += strspn(at, blanks);
	}
	return true;
}

void
command_add_word(struct arena *a, struct command *c, const char *word)
{
	vec_push(a, &c->words, arena_strdup(a, word));
}

const char *
command_quoted(struct arena *a, const char *word)
{
	struct strbuf s;
	const char *text;

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		return word;
	}
	strbuf_init(&s);
	strbuf_puts(&s, "'");
	for (const char *at = word; *at != '\0'; at++) {
		if (*at == '\'') {
			strbuf_puts(&s, "'\\''");
		} else {
			strbuf_write(&s, at, 1);
		}
	}
	strbuf_puts(&s, "'");
	text = arena_strdup(a, s.data);
	strbuf_release(&s);
	return text;
}

const char *
command_text(struct arena *a, const struct command *c)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < c->words.n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? " " : "",
			      command_quoted(a, c->words.data[i]));
	}
	text = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}
