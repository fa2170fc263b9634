/* SPDX-License-Identifier: Apache-2.0 */
/* Target strings of TVM, "llvm -mcpu=haswell -mattr=+avx2": the file
 * tvm/targets.json lists TVM's kinds of targets, and the target of tirc that
 * each option chooses. */
#include "dialects.h"
#include "json_read.h"
#include "target_files.h"
#include "text.h"

/* The most options of one target string. */
enum { MAX_OPTIONS = 64 };

struct option {
	/* the option's key and its value; the value may be "" */
	const char *key, *value;
	const char *word; /* as it is written */
	bool used;        /* the option has chosen the target */
};

struct reading {
	struct module *m;
	/* the place of the text in its file, for messages */
	struct diag_place place;
	const cJSON *table; /* of tvm/targets.json */
	const char *kind;
	struct option options[MAX_OPTIONS];
	int n;
};

static const char *
member(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, key));
}

/* Is the word in `list`, words such as "a b c"? A star at the end of a word in
 * the list stands for any characters. */
static bool
matches(const char *list, const char *word, size_t length)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " ");
		bool prefix = list[n - 1] == '*';

		if (prefix ? length >= n - 1 && strncmp(list, word, n - 1) == 0
			   : length == n && strncmp(list, word, n) == 0) {
			return true;
		}
		list += n + (list[n] == ' ');
	}
	return false;
}

/* `value` consists of parts that commas separate. Does `list` have one of the
 * parts? */
static bool
matches_part(const char *list, const char *value)
{
	for (;;) {
		size_t n = strcspn(value, ",");

		if (matches(list, value, n)) {
			return true;
		}
		if (value[n] == '\0') {
			return false;
		}
		value += n + 1;
	}
}

/* -- the words of a text -- */

/* Does the table have an option of this name, for any kind of target? */
static bool
is_tvm_option(const struct reading *r, const char *key)
{
	const cJSON *row;

	if (member(cJSON_GetObjectItem(r->table, "ignored"), key) != NULL) {
		return true;
	}
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(r->table, "choices"))
	{
		if (strcmp(member(row, "option"), key) == 0) {
			return true;
		}
	}
	return false;
}

/* The option's name in today's releases, if the table has `key` among those of
 * earlier ones; else `key`. */
static const char *
todays_name(const struct reading *r, const char *key)
{
	const char *now = member(cJSON_GetObjectItem(r->table, "earlier"), key);

	return now != NULL ? now : key;
}

static bool
add_option(struct reading *r, const char *word, const char **rest)
{
	struct arena *a = &r->m->arena;
	const char *name = word + strspn(word, "-");
	size_t n = strcspn(name, "=");
	struct option *o = &r->options[r->n];
	const char *ahead = *rest, *next;

	if (name == word || n == 0) {
		return diag_error(&r->m->diags, DIAG_BAD_OPTION, r->place,
				  "'%s' is not of the form -KEY=VALUE", word);
	}
	if (r->n == MAX_OPTIONS) {
		return diag_error(&r->m->diags, DIAG_BAD_OPTION, r->place,
				  "the target has more than %d options",
				  MAX_OPTIONS);
	}
	*o = (struct option){ .key = todays_name(r, arena_strndup(a, name, n)),
			      .value = name[n] == '=' ? name + n + 1 : "",
			      .word = word };
	/* "-mcpu haswell" is "-mcpu=haswell" */
	next = name[n] == '\0' ? text_next_word(a, &ahead) : NULL;
	if (next != NULL && next[0] != '-' && is_tvm_option(r, o->key)) {
		o->value = next;
		*rest = ahead;
	}
	r->n++;
	return true;
}

/* -- the choice -- */

/* Reports that the value of an option is unknown. Returns NULL. */
static const char *
unknown_value(struct reading *r, const struct option *o, const cJSON *values)
{
	struct arena *a = &r->m->arena;
	VEC(const char *) known = { 0 };
	const cJSON *row;
	const char *near;

	cJSON_ArrayForEach(row, values)
	{
		const char *at = row->valuestring, *word;

		while ((word = text_next_word(a, &at)) != NULL) {
			vec_push(a, &known, word);
		}
	}
	near = text_nearest(o->value, known.data, known.n);
	if (near != NULL) {
		diag_error(&r->m->diags, DIAG_BAD_OPTION, r->place,
			   "there is no -%s=%s; did you mean %s?", o->key,
			   o->value, near);
	} else {
		diag_error(&r->m->diags, DIAG_BAD_OPTION, r->place,
			   "there is no -%s=%s here; name one of tirc's "
			   "targets, which tirc targets lists",
			   o->key, o->value);
	}
	return NULL;
}

/* The target that option o selects by this row of the table; NULL if it selects
 * no target, or after an error (*failed). */
static const char *
chosen_by(struct reading *r, const cJSON *row, const struct option *o,
	  bool *failed)
{
	const cJSON *values = cJSON_GetObjectItem(row, "values"), *one;

	cJSON_ArrayForEach(one, values)
	{
		if (matches_part(one->valuestring, o->value)) {
			return arena_strdup(&r->m->arena, one->string);
		}
	}
	if (cJSON_IsTrue(cJSON_GetObjectItem(row, "refuses"))) {
		*failed = true;
		unknown_value(r, o, values);
	}
	return NULL;
}

/* The target of the first row of the table that matches an option of the text;
 * if no row matches, the target for the text's kind. NULL after an error. */
static const char *
choose(struct reading *r)
{
	const cJSON *row;
	const char *target = NULL;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(r->table, "choices"))
	{
		if (!matches(member(row, "kinds"), r->kind, strlen(r->kind))) {
			continue;
		}
		for (int i = 0; i < r->n; i++) {
			struct option *o = &r->options[i];
			bool failed = false;
			const char *found;

			if (strcmp(o->key, member(row, "option")) != 0) {
				continue;
			}
			found = chosen_by(r, row, o, &failed);
			if (failed) {
				return NULL;
			}
			o->used |= found != NULL;
			target = target != NULL ? target : found;
		}
	}
	if (target != NULL) {
		return target;
	}
	return arena_strdup(&r->m->arena,
			    member(cJSON_GetObjectItem(r->table, "kinds"),
				   r->kind));
}

/* The names of all options in the table. */
static const char *const *
option_names(const struct reading *r, int *n)
{
	VEC(const char *) names = { 0 };
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(r->table, "ignored"))
	{
		vec_push(&r->m->arena, &names, row->string);
	}
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(r->table, "choices"))
	{
		vec_push(&r->m->arena, &names, member(row, "option"));
	}
	*n = names.n;
	return names.data;
}

/* The text for tirc of the words that were read. NULL after an error. */
static const char *
translated(struct reading *r)
{
	const cJSON *ignored = cJSON_GetObjectItem(r->table, "ignored");
	const char *text = choose(r);

	for (int i = 0; text != NULL && i < r->n; i++) {
		const struct option *o = &r->options[i];
		const char *why = member(ignored, o->key);

		if (o->used) {
			continue;
		}
		if (why != NULL) {
			diag_note(&r->m->diags, DIAG_ASSUMPTION, r->place,
				  "%s is not read: %s", o->word, why);
		} else if (is_tvm_option(r, o->key)) {
			diag_note(&r->m->diags, DIAG_ASSUMPTION, r->place,
				  "%s is not read: it chooses no target of "
				  "kind %s",
				  o->word, r->kind);
		} else {
			int n;
			const char *const *names = option_names(r, &n);

			text = target_is_key(r->m, r->place, o->key, names, n)
				       ? arena_printf(&r->m->arena, "%s %s",
						      text, o->word)
				       : NULL;
		}
	}
	return text;
}

static const char *
read_text(struct reading *r, const char *text)
{
	struct arena *a = &r->m->arena;
	const char *at = text, *word;
	const char *tag;

	r->kind = text_next_word(a, &at);
	if (r->kind == NULL) {
		return text;
	}
	tag = member(cJSON_GetObjectItem(r->table, "tags"), r->kind);
	if (tag != NULL) {
		return arena_printf(a, "%s%s", tag, at);
	}
	if (member(cJSON_GetObjectItem(r->table, "kinds"), r->kind) == NULL) {
		return text;
	}
	while ((word = text_next_word(a, &at)) != NULL) {
		if (!add_option(r, word, &at)) {
			return NULL;
		}
	}
	return translated(r);
}

const char *
target_of_tvm(struct module *m, const char *text, struct diag_place place)
{
	cJSON *table = json_parse_file(m, NULL, "tvm/targets.json");
	struct reading r = { .m = m, .place = place, .table = table };
	const char *out = read_text(&r, text);

	cJSON_Delete(table);
	return out;
}
