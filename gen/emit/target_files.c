/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the files of targets, and laying them over what they extend. */
#include "target_files.h"

#include <stdlib.h>

#include "emit.h"
#include "templates.h"

/* -- what a file extends -- */

static bool
is_file_name(const char *name)
{
	return name[0] != '\0' && strpbrk(name, "/\\") == NULL;
}

/* Describe that target, not what extends it. */
static const char *const own_keys[] = {
	"extends", "description", "default", "aliases",
};

cJSON *
target_files_merged(struct target_files *t, const char *name)
{
	struct module *m = t->reader.module;
	struct json extends = json_root(&t->reader, NULL);
	cJSON *merged;

	while (name != NULL) {
		int i = t->reader.n_layers;
		const char *file = name, *text = NULL;

		if (i == JSON_LAYERS_MAX) {
			json_error(extends, "targets extend each other in a "
				   "circle, or more than %d deep",
				   JSON_LAYERS_MAX);
			return NULL;
		}
		if (is_file_name(name)) {
			text = data_file(m, t->dir, arena_printf(&m->arena,
					"targets/%s.json", name), &file);
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
	for (int i = t->reader.n_layers - 2; i >= 0; i--) {
		for (size_t k = 0; k < sizeof own_keys / sizeof *own_keys;
		     k++) {
			cJSON_DeleteItemFromObjectCaseSensitive(merged,
								own_keys[k]);
		}
		json_merge(merged, t->trees[i]);
	}
	return merged;
}

void
target_files_free(struct target_files *t)
{
	for (int i = 0; i < t->reader.n_layers; i++) {
		cJSON_Delete(t->trees[i]);
	}
}

/* -- which there are -- */

/* An embedded file, as it stands; NULL if it is none. */
static cJSON *
embedded(struct module *m, const char *name)
{
	const char *file;
	const char *text = data_file(m, NULL, arena_printf(&m->arena,
			"targets/%s.json", name), &file);

	return text != NULL ? json_parse_quietly(text, NULL) : NULL;
}

/* A text of an embedded target, its own or of the next that it extends. */
static const char *
embedded_text(struct module *m, const char *name, const char *key)
{
	const char *found = NULL;

	for (int i = 0; i < JSON_LAYERS_MAX && name != NULL; i++) {
		cJSON *value = embedded(m, name);
		const cJSON *text = cJSON_GetObjectItemCaseSensitive(value,
								     key);
		const cJSON *next = cJSON_GetObjectItemCaseSensitive(value,
							"extends");

		name = NULL;
		if (cJSON_IsString(text)) {
			found = arena_strdup(&m->arena, text->valuestring);
		} else if (cJSON_IsString(next)) {
			name = arena_strdup(&m->arena, next->valuestring);
		}
		cJSON_Delete(value);
	}
	return found;
}

static int
compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Embedded paths that have prefix and suffix around one name. */
static const char *const *
names_between(struct module *m, const char *prefix, const char *suffix, int *n)
{
	int total;
	const struct template_file *files = template_files(&total);
	const char **list = arena_array(&m->arena, const char *, total + 1);
	size_t head = strlen(prefix), tail = strlen(suffix);

	*n = 0;
	for (int i = 0; i < total; i++) {
		const char *path = files[i].path;
		size_t length = strlen(path);

		if (length > head + tail &&
		    strncmp(path, prefix, head) == 0 &&
		    strcmp(path + length - tail, suffix) == 0) {
			list[(*n)++] = arena_strndup(&m->arena, path + head,
						     length - head - tail);
		}
	}
	/* Sorted as paths they are not so as names. */
	qsort(list, (size_t)*n, sizeof *list, compare_words);
	return list;
}

const char *const *
dialect_names(struct module *m, int *n)
{
	return names_between(m, "dialects/", "/dialect.json", n);
}

/* Those whose dialect is there. */
const char *const *
target_names(struct module *m, int *n)
{
	int total;
	const char *const *all = names_between(m, "targets/", ".json",
					       &total);
	const char **list = arena_array(&m->arena, const char *, total + 1);

	*n = 0;
	for (int i = 0; i < total; i++) {
		const char *dialect = embedded_text(m, all[i], "dialect");

		if (dialect != NULL &&
		    template_find(arena_printf(&m->arena,
				"dialects/%s/dialect.json",
				dialect)) != NULL) {
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

/* The embedded target that says it is the default. */
static const char *
default_target(struct module *m)
{
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		cJSON *value = embedded(m, names[i]);
		bool is_default = cJSON_IsTrue(cJSON_GetObjectItem(value,
								"default"));

		cJSON_Delete(value);
		if (is_default) {
			return names[i];
		}
	}
	return n > 0 ? names[0] : "none";
}

/* The embedded target that is also called that, or NULL. */
static const char *
target_called(struct module *m, const char *name)
{
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		cJSON *value = embedded(m, names[i]);
		const cJSON *alias;
		bool found = false;

		cJSON_ArrayForEach(alias, cJSON_GetObjectItem(value,
							      "aliases")) {
			found = found || (cJSON_IsString(alias) &&
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
target_file_name(struct module *m, const char *name, const char *dir)
{
	struct diag_place place = { .file = name };
	const char *file;
	const char *const *known;
	struct strbuf s;
	int n;

	if (name == NULL) {
		return default_target(m);
	}
	if (is_file_name(name) &&
	    data_file(m, dir, arena_printf(&m->arena, "targets/%s.json", name),
		      &file) != NULL) {
		return name;
	}
	if (target_called(m, name) != NULL) {
		return target_called(m, name);
	}
	known = target_names(m, &n);
	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, " %s", known[i]);
	}
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "there is no such target; there are:%s",
		   s.data != NULL ? s.data : " none");
	strbuf_release(&s);
	return NULL;
}
