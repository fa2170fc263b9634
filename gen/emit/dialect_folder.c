/* SPDX-License-Identifier: Apache-2.0 */
/* What a folder of dialects and targets holds. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "emit.h"
#include "json_read.h"

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Entries of a folder that end so, without that. */
static const char *const *
entries(struct module *m, const char *path, const char *suffix, int *n)
{
	VEC(const char *) names = { 0 };
	size_t tail = strlen(suffix);
	struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && length > tail &&
		    strcmp(entry->d_name + length - tail, suffix) == 0) {
			vec_push(&m->arena, &names, arena_strndup(&m->arena,
					entry->d_name, length - tail));
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	if (names.n > 0) {
		qsort(names.data, (size_t)names.n, sizeof *names.data,
		      compare_names);
	}
	*n = names.n;
	return names.data;
}

static const char *
below(struct module *m, const char *dir, const char *name)
{
	return data_folder_is_whole(m, dir)
		? arena_printf(&m->arena, "%s/%s", dir, name) : dir;
}

const char *const *
dialect_names_in(struct module *m, const char *dir, int *n)
{
	const char *const *all;
	VEC(const char *) names = { 0 };
	const char *path;
	int total;

	*n = 0;
	if (dir == NULL) {
		return NULL;
	}
	path = below(m, dir, "dialects");
	all = entries(m, path, "", &total);
	for (int i = 0; i < total; i++) {
		FILE *file = fopen(arena_printf(&m->arena,
			"%s/%s/dialect.json", path, all[i]), "rb");

		if (file != NULL) {
			fclose(file);
			vec_push(&m->arena, &names, all[i]);
		}
	}
	*n = names.n;
	return names.data;
}

const char *const *
target_names_in(struct module *m, const char *dir, int *n)
{
	*n = 0;
	return dir == NULL ? NULL : entries(m, below(m, dir, "targets"),
					    ".json", n);
}

/* *own: the target says so itself, and not what it extends. */
static bool
is_of(struct module *m, const char *target, const char *dialect,
      const char *dir, bool *own)
{
	bool found = false;

	*own = true;
	for (int i = 0; i < JSON_LAYERS_MAX && target != NULL; i++) {
		const char *file;
		const char *text = data_file(m, dir, arena_printf(&m->arena,
					"targets/%s.json", target), &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;
		const cJSON *name = cJSON_GetObjectItem(value, "dialect");
		const cJSON *next = cJSON_GetObjectItem(value, "extends");

		target = NULL;
		if (cJSON_IsString(name)) {
			found = strcmp(name->valuestring, dialect) == 0;
		} else if (cJSON_IsString(next)) {
			*own = false;
			target = arena_strdup(&m->arena, next->valuestring);
		}
		cJSON_Delete(value);
	}
	return found;
}

bool
target_is_of(struct module *m, const char *target, const char *dialect,
	     const char *dir)
{
	bool own;

	return is_of(m, target, dialect, dir, &own);
}

static const char *
best_of(struct module *m, const char *const *names, int n,
	const char *dialect, const char *dir)
{
	const char *best = NULL;

	for (int i = n - 1; i >= 0; i--) {
		bool own;

		if (is_of(m, names[i], dialect, dir, &own) &&
		    (own || best == NULL)) {
			best = names[i];
		}
	}
	return best;
}

const char *
target_of_dialect(struct module *m, const char *dialect, const char *dir)
{
	int n;
	const char *const *names = target_names_in(m, dir, &n);
	const char *best = best_of(m, names, n, dialect, dir);

	if (best == NULL) {
		names = target_names(m, &n);
		best = best_of(m, names, n, dialect, NULL);
	}
	return best;
}
