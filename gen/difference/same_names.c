/* SPDX-License-Identifier: Apache-2.0 */
/* Are two functions equal except for the names of their variables? Names that
 * have a meaning outside of the functions, such as those of types and other
 * functions, must be equal. */
#include <ctype.h>
#include <stdlib.h>

#include "reserved.h"
#include "snapshot.h"
#include "text.h"

/* Pairs of names that stand for each other: each name is mapped to the number
 * of its pair. */
struct naming {
	struct arena *arena;
	const struct word_list *reserved;
	struct text_map old, new;
	int n_pairs;
};

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the word a name in the form that dialects use for types: f32, u8, f32x16,
 * int32_t? */
static bool
is_type(const char *word, size_t n)
{
	return (n > 2 && strcmp(word + n - 2, "_t") == 0) ||
	       (n > 1 && strchr("fiub", word[0]) != NULL &&
		strspn(word + 1, "fx0123456789") == n - 1);
}

/* Does the word have a meaning outside of the function? follower: the character
 * after the word. */
static bool
has_meaning(const struct naming *x, const char *word, char follower)
{
	size_t n = strlen(word);
	bool upper = true;

	for (size_t i = 0; i < n; i++) {
		upper &= !islower((unsigned char)word[i]);
	}
	return upper || follower == '(' || is_type(word, n) ||
	       bsearch(&word, x->reserved->list.data,
		       (size_t)x->reserved->list.n, sizeof word,
		       text_compare) != NULL;
}

/* Can the names `old` and `new` stand for each other, given the pairs that are
 * known so far? If both are new, makes them a pair. */
static bool
agree(struct naming *x, const char *old, const char *new)
{
	int first = text_map_get(&x->old, old, -1);
	int second = text_map_get(&x->new, new, -1);

	if (first >= 0 || second >= 0) {
		return first == second;
	}
	text_map_add(&x->old, old, x->n_pairs);
	text_map_add(&x->new, new, x->n_pairs++);
	return true;
}

/* Returns the next token of *at, without the blanks before it, and moves *at
 * behind it. A token is a word, or one character that is in no word; "" at the
 * end. */
static const char *
next_token(struct arena *a, const char **at)
{
	const char *begin;
	size_t n = 0;

	*at += strspn(*at, " \t\n");
	begin = *at;
	while (is_word(begin[n])) {
		n++;
	}
	n = n == 0 && *begin != '\0' ? 1 : n;
	*at += n;
	return arena_strndup(a, begin, n);
}

static bool
is_name(const char *token)
{
	return is_word(token[0]) && !isdigit((unsigned char)token[0]);
}

static const char *
joined(struct arena *a, const struct text_lines *lines)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < lines->n; i++) {
		strbuf_printf(&s, "%s\n", lines->line[i]);
	}
	text = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static bool
same_tokens(struct naming *x, const struct function_text *old,
	    const struct function_text *new)
{
	const char *from = joined(x->arena, &old->lines);
	const char *to = joined(x->arena, &new->lines);
	bool same = agree(x, old->name, new->name);

	while (same && *from != '\0') {
		const char *word = next_token(x->arena, &from);
		const char *other = next_token(x->arena, &to);

		if (!is_name(word) || !is_name(other)) {
			same = strcmp(word, other) == 0;
		} else if (strcmp(word, old->name) == 0) {
			same = strcmp(other, new->name) == 0;
		} else if (has_meaning(x, word, *from) ||
			   has_meaning(x, other, *to)) {
			same = strcmp(word, other) == 0;
		} else {
			same = agree(x, word, other);
		}
	}
	to += strspn(to, " \t\n");
	return same && *to == '\0';
}

bool
same_but_names(struct comparing *c, const struct function_text *old,
	       const struct function_text *new)
{
	static const char *const lists[] = { "words", "functions", "math",
					     "system" };
	struct arena arena;
	struct naming x = { .arena = &arena, .reserved = &c->reserved };
	bool same;

	if (c->reserved.list.n == 0) {
		for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
			reserved_add(c->m, &c->reserved, lists[i]);
		}
		reserved_sort(&c->reserved);
	}
	arena_init_within(&arena, c->a);
	text_map_init(&x.old, &arena);
	text_map_init(&x.new, &arena);
	same = same_tokens(&x, old, new);
	arena_release(&arena);
	return same;
}
