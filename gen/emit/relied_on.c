/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions without which a source is slow: the instructions of its
 * target and of the intrinsic texts in it. The source contains preprocessor
 * lines that stop a compiler which does not use these instructions. */
#include "text.h"
#include "unit.h"

/* Do the two lists of words have a word in common? */
static bool
share_word(struct arena *a, const char *list, const char *other)
{
	const char *word, *at, *word_there;

	while ((word = text_next_word(a, &list)) != NULL) {
		at = other;
		while ((word_there = text_next_word(a, &at)) != NULL) {
			if (strcmp(word, word_there) == 0) {
				return true;
			}
		}
	}
	return false;
}

/* Does r require one of the macros in `macro`? An entry of r->macros, and
 * `macro` too, is a text with one or more alternatives separated by spaces. */
static bool
has_macro(struct arena *a, const struct requirement *r, const char *macro)
{
	for (int i = 0; r != NULL && i < r->macros.n; i++) {
		if (share_word(a, r->macros.data[i], macro)) {
			return true;
		}
	}
	return false;
}

/* Does r require a macro that `other` does not require? */
static bool
asks_more(struct arena *a, const struct requirement *r,
	  const struct requirement *other)
{
	for (int i = 0; i < r->macros.n; i++) {
		if (!has_macro(a, other, r->macros.data[i])) {
			return true;
		}
	}
	return false;
}

const struct requirement *
unit_relied_on(const struct unit *u, int i)
{
	const struct requirement *of_target = u->d->requirement;

	if (of_target != NULL && i-- == 0) {
		return of_target;
	}
	for (int k = 0; k < u->externals.n; k++) {
		const struct intrinsic_text *t = u->externals.data[k].text;

		if (t != NULL && t->relies_on.macros.n > 0 &&
		    asks_more(u->a, &t->relies_on, of_target) && i-- == 0) {
			return &t->relies_on;
		}
	}
	return NULL;
}

/* `macro` is a macro and its alternatives, separated by spaces. Prints the
 * lines that stop a compiler that defines none of them. False after a
 * diagnostic. */
static bool
print_macro(struct unit *u, const struct requirement *r, const char *macro,
	    struct strbuf *out)
{
	struct tdata *data = tdata_new(u->a);
	const char *word;

	tdata_list(data, "macros");
	while ((word = text_next_word(u->a, &macro)) != NULL) {
		tdata_text(tdata_item(data, "macros"), "macro", word);
	}
	tdata_text(data, "flags", r->flags);
	tdata_text(data, "otherwise", r->otherwise);
	for (int i = 0; i < u->d->relies_on.refuse.n; i++) {
		if (!template_render(&u->m->diags, u->d->file,
				     "/relies_on/refuse",
				     u->d->relies_on.refuse.data[i], data,
				     out)) {
			return false;
		}
		strbuf_putc(out, '\n');
	}
	return true;
}

/* Did one of the requirements before index `at` require the macro already? */
static bool
is_asked(const struct unit *u, int at, const char *macro)
{
	for (int i = 0; i < at; i++) {
		if (has_macro(u->a, unit_relied_on(u, i), macro)) {
			return true;
		}
	}
	return false;
}

bool
unit_print_relied_on(struct unit *u, struct strbuf *out)
{
	const struct names before = u->d->relies_on.before;
	const struct requirement *r;
	bool any = false;

	if (u->d->relies_on.refuse.n == 0) {
		return true;
	}

	for (int i = 0; (r = unit_relied_on(u, i)) != NULL; i++) {
		for (int k = 0; k < r->macros.n; k++) {
			const char *macro = r->macros.data[k];

			if (is_asked(u, i, macro)) {
				continue;
			}
			for (int l = 0; l < before.n && !any; l++) {
				strbuf_printf(out, "%s\n", before.data[l]);
			}
			if (!print_macro(u, r, macro, out)) {
				return false;
			}
			any = true;
		}
	}
	if (any) {
		strbuf_putc(out, '\n');
	}
	return true;
}
