/* SPDX-License-Identifier: Apache-2.0 */
/* A dialect's files: weights, templates, names, and the words that no name may
 * be. */
#include "dialect_load.h"
#include "reserved.h"

static const char *const form_words[] = {
	[WEIGHTS_C] = "c",
	[WEIGHTS_INCBIN] = "incbin",
	[WEIGHTS_FILE] = "file",
	[WEIGHTS_SECTION] = "section",
};

static const char *const template_keys[TEMPLATE_COUNT] = {
	"header",          "source",       "weights",       "incbin",
	"makefile",        "cmake",        "harness",       "unit",
	"unit_header",     "task",         "program",       "selftest",
	"selftest_header", "selftest_all", "selftest_main", "selftest_readme",
	"weights_header",  "compliance",   "graph_header",  "graph_harness",
};

static const char *const file_keys[FILE_COUNT] = {
	"header",          "source",         "weights",
	"incbin",          "blob",           "makefile",
	"cmake",           "metadata",       "unit",
	"program",         "weights_header", "compliance",
	"compliance_data", "graph",          "graph_header",
	"graph_source",    "graph_params",
};

/* A text file of the dialect, or of the next that it extends. */
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
weights_word(struct json j, const char *word)
{
	for (int i = WEIGHTS_C; word != NULL && i <= WEIGHTS_SECTION; i++) {
		if (strcmp(word, form_words[i]) == 0) {
			return (enum weights_form)i;
		}
	}
	json_error(j, "c, incbin, file or section is wanted here");
	return WEIGHTS_C;
}

void
dialect_read_weights(struct loader *l, struct json j)
{
	struct dialect *d = l->d;
	struct json forms = json_get(j, "forms");

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "forms in_source_bytes large declare define end "
			   "open close separator section copied header");
	d->weights.copied = json_bool(json_get(j, "copied"));
	for (int i = 0; i < json_length(forms); i++) {
		struct json row = json_at(forms, i);

		d->weights.forms[weights_word(row, json_text(row, true))] =
			true;
	}
	if (d->char_bits > 8 && (d->weights.forms[WEIGHTS_FILE] ||
				 d->weights.forms[WEIGHTS_INCBIN])) {
		json_error(forms,
			   "a file of bytes is of no use where a char "
			   "has %d bits; leave c and section",
			   d->char_bits);
	}
	d->weights.in_source_bytes = json_int(json_get(j, "in_source_bytes"), 0,
					      INT64_C(1) << 40, 0);
	d->weights.large = weights_word(json_get(j, "large"),
					json_text(json_get(j, "large"), true));
	d->weights.declare = json_text(json_get(j, "declare"), true);
	d->weights.define = json_text(json_get(j, "define"), true);
	d->weights.aligned = d->weights.copied ||
			     (d->weights.define != NULL &&
			      strstr(d->weights.define, "{{align}}") != NULL);
	d->weights.end = json_text(json_get(j, "end"), true);
	d->weights.open = json_text(json_get(j, "open"), true);
	d->weights.close = json_text(json_get(j, "close"), true);
	d->weights.separator = json_text(json_get(j, "separator"), true);
	d->weights.header = json_bool(json_get(j, "header"));
	d->weights.section = dialect_read_names(json_get(j, "section"));
}

void
dialect_read_templates(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, dialect_joined(l, template_keys, TEMPLATE_COUNT));
	for (int i = 0; i < TEMPLATE_COUNT; i++) {
		struct json row = json_get(j, template_keys[i]);
		const char *name = json_text(row, true);
		struct dialect_template *t = &l->d->templates[i];

		if (name != NULL) {
			t->text = dialect_chain_file(l, name, &t->file);
			if (t->text == NULL) {
				json_error(row, "there is no file %s", name);
			}
		}
	}
}

void
dialect_read_files(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, dialect_joined(l, file_keys, FILE_COUNT));
	for (int i = 0; i < FILE_COUNT; i++) {
		l->d->files[i] = json_text(json_get(j, file_keys[i]), true);
	}
}

static void
read_guidelines(struct loader *l, struct json list)
{
	static const char *const known[] = {
		"compliant",
		"deviation",
		"disapplied",
		"not applicable",
	};

	for (int i = 0; i < json_length(list); i++) {
		struct json row = json_at(list, i);
		struct guideline g = { 0 };
		bool found = false;

		json_check_keys(row, "id category status how");
		g.id = json_text(json_get(row, "id"), true);
		g.category = json_text(json_get(row, "category"), true);
		g.status = json_text(json_get(row, "status"), true);
		g.how = json_text(json_get(row, "how"), true);
		for (int s = 0; s < 4 && g.status != NULL; s++) {
			found |= strcmp(g.status, known[s]) == 0;
		}
		if (!found && g.status != NULL) {
			json_error(json_get(row, "status"),
				   "compliant, "
				   "deviation, disapplied or not applicable "
				   "is wanted here");
		}
		vec_push(&l->m->arena, &l->d->compliance.guidelines, g);
	}
}

void
dialect_read_compliance(struct loader *l, struct json j)
{
	struct compliance *c = &l->d->compliance;
	struct json list = json_get(j, "deviations");

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "standard claims deviations guidelines "
			   "implementation_defined");
	read_guidelines(l, json_get(j, "guidelines"));
	c->implementation_defined = dialect_read_names(
		json_get(j, "implementation_defined"));
	c->standard = json_text(json_get(j, "standard"), true);
	c->claims = dialect_read_names(json_get(j, "claims"));
	for (int i = 0; i < json_length(list); i++) {
		struct json row = json_at(list, i);
		struct deviation d = { 0 };

		json_check_keys(row, "id rule category mark reason");
		d.id = json_text(json_get(row, "id"), true);
		d.rule = json_text(json_get(row, "rule"), true);
		d.category = json_text(json_get(row, "category"), true);
		d.mark = json_text(json_get(row, "mark"), true);
		d.reason = json_text(json_get(row, "reason"), true);
		if (d.mark != NULL && d.mark[0] == '\0') {
			json_error(json_get(row, "mark"),
				   "a text that lines "
				   "have is wanted here");
		}
		vec_push(&l->m->arena, &c->deviations, d);
	}
}

void
dialect_read_reserved(struct loader *l, struct json j)
{
	struct names own = dialect_read_names(j);
	struct word_list words = { 0 }, members = { 0 };

	reserved_add(l->m, &members, "words");
	for (int i = 0; i < own.n; i++) {
		vec_push(&l->m->arena, &members.list, own.data[i]);
	}
	reserved_add(l->m, &words, "functions");
	for (int i = 0; i < members.list.n; i++) {
		vec_push(&l->m->arena, &words.list, members.list.data[i]);
	}
	reserved_sort(&words);
	reserved_sort(&members);
	l->d->reserved = (struct names){ words.list.data, words.list.n };
	l->d->reserved_members = (struct names){ members.list.data,
						 members.list.n };
}
