/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of a dialect: weights, templates, names, and the reserved
 * words. */
#include "dialect_keys.h"
#include "dialect_load.h"
#include "reserved.h"

static const char *const form_words[] = {
	[WEIGHTS_C] = "c",
	[WEIGHTS_INCBIN] = "incbin",
	[WEIGHTS_FILE] = "file",
	[WEIGHTS_SECTION] = "section",
};

static const char *const template_keys[] = {
#define TEMPLATE(id, key, doc) key,
#include "dialect.def"
};

/* The text of the file `name` of the dialect; if the dialect does not have the
 * file, that of the nearest dialect that it extends and that has the file.
 * *file: the file's path. NULL if no dialect has it. */
const char *
dialect_chain_file(struct loader *l, const char *name, const char **file)
{
	for (int i = 0; i < l->n; i++) {
		const char *text = data_file(l->m, l->dir,
					     arena_printf(&l->m->arena,
							  "dialects/%s/%s",
							  l->chain[i], name),
					     file);

		if (text != NULL) {
			return text;
		}
	}
	return NULL;
}

static enum weights_form
weights_word(struct json j)
{
	const char *word = json_text(j, false);

	for (int i = WEIGHTS_C; word != NULL && i <= WEIGHTS_SECTION; i++) {
		if (strcmp(word, form_words[i]) == 0) {
			return (enum weights_form)i;
		}
	}
	return WEIGHTS_C;
}

void
dialect_read_weights(void *ctx, struct json j)
{
	struct dialect *d = ((struct loader *)ctx)->d;
	struct json forms = json_get(j, "forms");

	for (int i = 0; i < json_length(forms); i++) {
		d->weights.forms[weights_word(json_at(forms, i))] = true;
	}
	if (d->char_bits > 8 && (d->weights.forms[WEIGHTS_FILE] ||
				 d->weights.forms[WEIGHTS_INCBIN])) {
		json_error(forms,
			   "a file of bytes is of no use where a char "
			   "has %d bits; leave c and section",
			   d->char_bits);
	}
	d->weights.large = weights_word(json_get(j, "large"));
	d->weights.aligned = d->weights.copied ||
			     (d->weights.define != NULL &&
			      strstr(d->weights.define, "{{align}}") != NULL);
}

void
dialect_find_templates(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < TEMPLATE_COUNT; i++) {
		struct dialect_template *t = &l->d->templates[i];

		if (t->name != NULL) {
			t->text = dialect_chain_file(l, t->name, &t->file);
			if (t->text == NULL) {
				json_error(json_get(j, template_keys[i]),
					   "there is no file %s", t->name);
			}
		}
	}
}

void
dialect_read_guidelines(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < json_length(j); i++) {
		struct guideline g;

		json_keys_read(&dialect_keys, json_at(j, i),
			       "/compliance/guidelines/*", &g, l);
		vec_push(&l->m->arena, &l->d->compliance.guidelines, g);
	}
}

void
dialect_read_deviations(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < json_length(j); i++) {
		struct deviation d;

		json_keys_read(&dialect_keys, json_at(j, i),
			       "/compliance/deviations/*", &d, l);
		if (d.mark != NULL && d.mark[0] == '\0') {
			json_error(json_get(json_at(j, i), "mark"),
				   "a text that lines have is wanted here");
		}
		vec_push(&l->m->arena, &l->d->compliance.deviations, d);
	}
}

/* The words of the file templates/reserved/NAME.txt and those given, sorted. */
static struct names
words_with(struct module *m, const char *name, struct names given)
{
	struct word_list words = { 0 };

	reserved_add(m, &words, name);
	for (int i = 0; i < given.n; i++) {
		vec_push(&m->arena, &words.list, given.data[i]);
	}
	reserved_sort(&words);
	return (struct names){ words.list.data, words.list.n };
}

void
dialect_read_reserved(void *ctx, struct json j)
{
	struct loader *l = ctx;
	struct dialect *d = l->d;

	d->reserved_members = words_with(l->m, "words", json_names(j));
	d->reserved = words_with(l->m, "functions", d->reserved_members);
	d->reserved_public = words_with(l->m, "system", d->reserved);
}
