/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of targets, and merges them with the files that they
 * extend. */
#include "target_files.h"

#include "dialects.h"
#include "json_put.h"
#include "target_keys.h"
#include "text.h"

/* -- what a file extends -- */

static bool
is_file_name(const char *name)
{
	return name[0] != '\0' && strpbrk(name, "/\\") == NULL;
}

/* Removes the keys that describe only this target, and which a target that
 * extends it must not inherit. */
static void
drop_own_keys(cJSON *target)
{
	for (int i = 0; i < target_keys.n; i++) {
		const struct key *row = &target_keys.rows[i];

		if (row->own) {
			cJSON_DeleteItemFromObjectCaseSensitive(target,
								row->pointer +
									1);
		}
	}
}

cJSON *
target_files_merged(struct target_files *t, const char *name)
{
	struct module *m = t->reader.module;
	struct json extends = json_root(&t->reader, NULL);
	int first = t->given != NULL ? 1 : 0;
	cJSON *merged;

	t->reader.n_layers = first;
	while (name != NULL) {
		int i = t->reader.n_layers;
		const char *file = name, *text = NULL;

		if (i == JSON_LAYERS_MAX) {
			json_error(extends,
				   "targets extend each other in a "
				   "circle, or more than %d deep",
				   JSON_LAYERS_MAX);
			return NULL;
		}
		if (is_file_name(name)) {
			text = data_file(m, t->dir,
					 arena_printf(&m->arena,
						      "targets/%s.json", name),
					 &file);
		}
		if (text == NULL) {
			json_error(extends, "there is no such target (%s)",
				   file);
			return NULL;
		}
		t->trees[i] = json_parse(m, file, text);
		if (t->trees[i] == NULL) {
			return NULL;
		}
		t->reader.layers[i].file = file;
		t->reader.layers[i].value = t->trees[i];
		t->reader.n_layers++;
		extends = json_get(json_root(&t->reader, t->trees[i]),
				   "extends");
		name = json_text(extends, false);
	}
	merged = cJSON_Duplicate(t->trees[t->reader.n_layers - 1], true);
	for (int i = t->reader.n_layers - 2; i >= first; i--) {
		drop_own_keys(merged);
		json_merge(merged, t->trees[i]);
	}
	if (t->given != NULL) {
		json_merge(merged, t->given);
	}
	return merged;
}

void
target_files_free(struct target_files *t)
{
	cJSON_Delete(t->given);
	for (int i = 0; i < t->reader.n_layers; i++) {
		cJSON_Delete(t->trees[i]);
	}
}

/* -- the embedded targets -- */

/* The JSON of an embedded target, or NULL; the caller deletes it. */
static cJSON *
embedded(struct module *m, const char *name)
{
	return json_parse_file(m, NULL,
			       arena_printf(&m->arena, "targets/%s.json",
					    name));
}

/* The text of a key in an embedded target, or in the nearest target that it
 * extends; NULL if no target has the key. */
static const char *
embedded_text(struct module *m, const char *name, const char *key)
{
	const char *found = NULL;

	for (int i = 0; i < JSON_LAYERS_MAX && name != NULL; i++) {
		cJSON *value = embedded(m, name);

		found = json_member(m, value, key);
		name = found == NULL ? json_member(m, value, "extends") : NULL;
		cJSON_Delete(value);
	}
	return found;
}

/* The name of the dialect that an embedded dialect extends, or NULL. */
static const char *
dialect_parent(struct module *m, const char *name)
{
	cJSON *value = json_parse_file(m, NULL,
				       arena_printf(&m->arena,
						    "dialects/%s/dialect.json",
						    name));
	const char *parent = json_member(m, value, "extends");

	cJSON_Delete(value);
	return parent;
}

/* The index of `name` in `names`, or -1. */
static int
place_of(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return i;
		}
	}
	return -1;
}

const char *const *
dialect_names(struct module *m, int *n)
{
	int total;
	const char *const *all = data_names(m, "dialects/", "/dialect.json",
					    &total);
	const char **parents = arena_array(&m->arena, const char *, total + 1);
	const char **list = arena_array(&m->arena, const char *, total + 1);

	for (int i = 0; i < total; i++) {
		parents[i] = dialect_parent(m, all[i]);
	}
	*n = 0;
	for (int i = 0; i < total; i++) {
		int at = i;

		for (int depth = 0;
		     depth < JSON_LAYERS_MAX && at >= 0 && parents[at] != NULL;
		     depth++) {
			at = place_of(parents[at], all, total);
		}
		if (at >= 0) {
			list[(*n)++] = all[i];
		}
	}
	return list;
}

/* Is the dialect of the embedded target one of the n dialects? */
static bool
is_target_of(struct module *m, const char *target, const char *const *dialects,
	     int n)
{
	const char *dialect = embedded_text(m, target, "dialect");

	return dialect != NULL && place_of(dialect, dialects, n) >= 0;
}

/* The sorted names of the embedded targets whose dialect is also embedded; *n:
 * their number. */
const char *const *
target_names(struct module *m, int *n)
{
	int total, n_dialects;
	const char *const *all = data_names(m, "targets/", ".json", &total);
	const char *const *dialects = dialect_names(m, &n_dialects);
	const char **list = arena_array(&m->arena, const char *, total + 1);

	*n = 0;
	for (int i = 0; i < total; i++) {
		if (is_target_of(m, all[i], dialects, n_dialects)) {
			list[(*n)++] = all[i];
		}
	}
	return list;
}

const char *
target_description(struct module *m, const char *name)
{
	const char *text = embedded_text(m, name, "description");

	return text != NULL ? text : "";
}

/* The name of the first embedded target whose dialect is embedded and whose
 * file itself (not a file that it extends) has the key; NULL if there is no
 * such target. */
static const char *
target_with(struct module *m, const char *key)
{
	int n, n_dialects;
	const char *const *names = data_names(m, "targets/", ".json", &n);
	const char *const *dialects = dialect_names(m, &n_dialects);

	for (int i = 0; i < n; i++) {
		cJSON *value = embedded(m, names[i]);
		const cJSON *own = cJSON_GetObjectItem(value, key);
		bool has = own != NULL && !cJSON_IsFalse(own);

		cJSON_Delete(value);
		if (has && is_target_of(m, names[i], dialects, n_dialects)) {
			return names[i];
		}
	}
	return NULL;
}

const char *
target_default(struct module *m)
{
	const char *name = target_with(m, "default");

	return name != NULL ? name : "none";
}

const char *
target_of_machine(struct module *m)
{
	return target_with(m, "resolves");
}

/* The name of the embedded target with this alias, or NULL. */
static const char *
target_called(struct module *m, const char *name)
{
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		cJSON *value = embedded(m, names[i]);
		const cJSON *alias;
		bool found = false;

		cJSON_ArrayForEach(alias, cJSON_GetObjectItem(value, "aliases"))
		{
			found = found ||
				(cJSON_IsString(alias) &&
				 strcmp(alias->valuestring, name) == 0);
		}
		cJSON_Delete(value);
		if (found) {
			return names[i];
		}
	}
	return NULL;
}

const char *
target_file_find(struct module *m, const char *name, const char *dir)
{
	const char *file;

	if (is_file_name(name) &&
	    data_file(m, dir, arena_printf(&m->arena, "targets/%s.json", name),
		      &file) != NULL) {
		return name;
	}
	return target_called(m, name);
}

/* The name of the file for a target's name, alias, or NULL (the default
 * target). NULL after a diagnostic. */
static const char *
target_file_name(struct module *m, const char *name, const char *dir)
{
	struct diag_place place = { .file = name };
	const char *found = name != NULL ? target_file_find(m, name, dir)
					 : target_default(m);
	const char *const *known, *near;
	struct strbuf s;
	int n;

	if (found != NULL) {
		return found;
	}
	known = dir != NULL && data_folder_is_whole(m, dir)
			? target_names_in(m, dir, &n)
			: target_names(m, &n);
	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, " %s", known[i]);
	}
	near = name != NULL ? text_nearest(name, known, n) : NULL;
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "there is no such target; %s%s%sthere are:%s",
		   near != NULL ? "did you mean '" : "",
		   near != NULL ? near : "", near != NULL ? "'? " : "",
		   s.data != NULL ? s.data : " none");
	strbuf_release(&s);
	return NULL;
}

/* -- the user's text -- */

/* The names of the members of a JSON object, for messages. */
static const char *
member_names(struct module *m, const cJSON *object)
{
	const char *text = "";
	const cJSON *item;

	cJSON_ArrayForEach(item, object)
	{
		text = arena_printf(&m->arena, "%s %s", text, item->string);
	}
	return text;
}

/* The name of the target that the user's -KEY=VALUE selects, if KEY is an
 * attribute of the target (then *found is true). NULL if KEY is not an
 * attribute, or after a diagnostic. */
static const char *
by_attribute(struct target_files *t, const char *text, const char *name,
	     const char *key, const char *value, bool *found)
{
	struct target_files own = { .reader = { .module = t->reader.module },
				    .dir = t->dir };
	cJSON *merged = target_files_merged(&own, name);
	const cJSON *choices = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(merged, "attributes"), key);
	const cJSON *choice = cJSON_GetObjectItemCaseSensitive(choices, value);
	struct module *m = t->reader.module;
	const char *other = NULL;

	*found = choices != NULL || merged == NULL;
	if (cJSON_IsString(choice)) {
		other = target_file_name(m,
					 arena_strdup(&m->arena,
						      choice->valuestring),
					 t->dir);
	} else if (choices != NULL) {
		diag_error(&m->diags, DIAG_BAD_OPTION,
			   (struct diag_place){ .file = text },
			   "there is no -%s=%s; there are:%s", key, value,
			   member_names(m, choices));
	}
	cJSON_Delete(merged);
	target_files_free(&own);
	return other;
}

/* Sets a key to the user's value; a value that is not JSON is taken as a
 * text. */
static void
give(struct target_files *t, const char *key, const char *value)
{
	const char *end;
	cJSON *given = json_parse_quietly(value, &end);

	if (given == NULL || *end != '\0') {
		cJSON_Delete(given);
		given = cJSON_CreateString(value);
	}
	if (t->given == NULL) {
		t->given = cJSON_CreateObject();
	}
	cJSON_DeleteItemFromObjectCaseSensitive(t->given, key);
	cJSON_AddItemToObject(t->given, key, given);
}

/* A text "NAME -KEY=VALUE ..." for a target with the given facts. */
static const char *
with_facts(struct module *m, const char *name, const cJSON *given)
{
	const char *text = arena_strdup(&m->arena, name);
	const cJSON *item;

	cJSON_ArrayForEach(item, given)
	{
		struct strbuf value;

		strbuf_init(&value);
		if (cJSON_IsString(item)) {
			strbuf_puts(&value, item->valuestring);
		} else {
			json_put(&value, item, false);
		}
		text = arena_printf(&m->arena, "%s -%s=%s", text, item->string,
				    value.data != NULL ? value.data : "");
		strbuf_release(&value);
	}
	return text;
}

/* The KEY of a word "-KEY=VALUE", with *value after the "="; NULL if the word
 * has another form. */
static const char *
fact_key(struct module *m, const char *word, const char **value)
{
	size_t n = strcspn(word, "=");

	*value = word + n + 1;
	return word[0] == '-' && n > 1 && word[n] == '='
		       ? arena_strndup(&m->arena, word + 1, n - 1)
		       : NULL;
}

/* May the user's text set the key? A text that a file states may only set
 * facts. False after a diagnostic. */
static bool
may_give(const struct target_files *t, const char *text, const char *key)
{
	bool in_file = t->file != NULL;

	return !t->facts_only || json_keys_is_fact(&target_keys, key) ||
	       diag_error(&t->reader.module->diags,
			  in_file ? DIAG_BAD_PARTITION : DIAG_BAD_PROGRAM,
			  (struct diag_place){ .file = in_file ? t->file : text,
					       .item = in_file ? "/target"
							       : NULL },
			  "'%s' sets %s: a %s may only change numbers, flags "
			  "and vectors of its target; give that with --target",
			  text, key, in_file ? "file" : "program");
}

bool
target_is_key(struct module *m, struct diag_place place, const char *key,
	      const char *const *others, int n)
{
	struct arena *a = &m->arena;
	const char *at = json_keys_known(&target_keys, a, ""), *word, *near;
	VEC(const char *) names = { 0 };

	while ((word = text_next_word(a, &at)) != NULL) {
		if (strcmp(word, key) == 0) {
			return true;
		}
		vec_push(a, &names, word);
	}
	for (int i = 0; i < n; i++) {
		vec_push(a, &names, others[i]);
	}
	near = text_nearest(key, names.data, names.n);
	return diag_error(&m->diags, DIAG_BAD_OPTION, place,
			  "targets have no key %s%s%s%s", key,
			  near != NULL ? "; did you mean -" : "",
			  near != NULL ? near : "",
			  near != NULL ? "?"
				       : "; docs/reference/targets.md "
					 "lists them");
}

const char *
target_text_for_file(struct module *m, const char *text, const char **left_out)
{
	const char *at = text, *word = text_next_word(&m->arena, &at);
	const char *kept = word, *value;

	*left_out = "";
	while (word != NULL &&
	       (word = text_next_word(&m->arena, &at)) != NULL) {
		const char *key = fact_key(m, word, &value);

		if (key != NULL && json_keys_is_fact(&target_keys, key)) {
			kept = arena_printf(&m->arena, "%s %s", kept, word);
		} else {
			*left_out = arena_printf(&m->arena, "%s %s", *left_out,
						 word);
		}
	}
	return kept;
}

const char *
target_files_choose(struct target_files *t, const char *text, const char **said)
{
	struct module *m = t->reader.module;
	struct diag_place place = { .file = t->file != NULL ? t->file : text,
				    .item = t->file != NULL ? "/target"
							    : NULL };
	const char *at, *word = NULL, *name;

	if (text != NULL) {
		text = target_of_tvm(m, text, place);
		if (text == NULL) {
			return NULL;
		}
	}
	at = text;
	name = target_file_name(m,
				at != NULL ? text_next_word(&m->arena, &at)
					   : NULL,
				t->dir);
	while (name != NULL && at != NULL &&
	       (word = text_next_word(&m->arena, &at)) != NULL) {
		const char *value, *key = fact_key(m, word, &value);
		const char *other;
		bool found;

		if (key == NULL) {
			diag_error(&m->diags, DIAG_BAD_OPTION, place,
				   "'%s' is not of the form -KEY=VALUE", word);
			return NULL;
		}
		other = by_attribute(t, text, name, key, value, &found);
		if (found) {
			name = other;
			continue;
		}
		if (!target_is_key(m, place, key, NULL, 0) ||
		    !may_give(t, text, key)) {
			return NULL;
		}
		give(t, key, value);
	}
	if (name == NULL) {
		return NULL;
	}
	if (t->given != NULL) {
		t->reader.layers[0].file = arena_strdup(&m->arena, text);
		t->reader.layers[0].value = t->given;
	}
	*said = with_facts(m, name, t->given);
	return name;
}
