/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of C's mathematical library that a source calls. Users of
 * firmware must know them, because they link or provide these functions. */
#include <ctype.h>
#include <stdlib.h>

#include "packer.h"
#include "reserved.h"
#include "text.h"

static bool
is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is `name` a function of the list, or its form for float, such as "expf" for
 * "exp"? */
static bool
is_math(const struct word_list *words, const char *name, size_t length)
{
	char copy[32];
	const char *key = copy;

	if (length >= sizeof copy) {
		return false;
	}
	memcpy(copy, name, length);
	copy[length] = '\0';
	for (int pass = 0; pass < 2; pass++) {
		if (bsearch(&key, words->list.data, (size_t)words->list.n,
			    sizeof key, text_compare) != NULL) {
			return true;
		}
		if (length < 2 || copy[length - 1] != 'f') {
			return false;
		}
		copy[length - 1] = '\0';
	}
	return false;
}

/* The end of the comment or string literal that begins at `at`, because these
 * contain no calls; `at` itself if neither begins there. */
static const char *
skip_passive(const struct comment_forms *c, const char *at)
{
	size_t open = strlen(c->open);
	const char *end;

	if (strncmp(at, c->open, open) == 0) {
		end = strstr(at + open, c->close);
		return end != NULL ? end + strlen(c->close) : at + strlen(at);
	}
	if (c->line != NULL && strncmp(at, c->line, strlen(c->line)) == 0) {
		return at + strcspn(at, "\n");
	}
	if (*at == '"') {
		for (end = at + 1; *end != '\0' && *end != '"'; end++) {
			end += *end == '\\' && end[1] != '\0';
		}
		return *end == '"' ? end + 1 : end;
	}
	return at;
}

const char *
math_functions(struct packer *k, const char *source)
{
	struct word_list words = { 0 };
	struct word_list used = { 0 };
	struct strbuf s;
	const char *text;

	reserved_add(k->m, &words, "math");
	reserved_sort(&words);
	for (const char *at = source; *at != '\0';) {
		const char *next = skip_passive(&k->d->comments, at);
		size_t n = 0;

		while (next == at && is_letter(at[n])) {
			n++;
		}
		if (n > 0 && at[n] == '(' && is_math(&words, at, n)) {
			vec_push(k->a, &used.list, arena_strndup(k->a, at, n));
		}
		at = next > at ? next : at + (n > 0 ? n : 1);
	}
	reserved_sort(&used);
	strbuf_init(&s);
	for (int i = 0; i < used.list.n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? " " : "", used.list.data[i]);
	}
	text = arena_strdup(k->a, s.data != NULL ? s.data : "none");
	strbuf_release(&s);
	return text;
}
