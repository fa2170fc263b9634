/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the dialects and targets in a folder. */
#include "dialects.h"

#include <stdio.h>

#include "json_read.h"

static const char *
below(struct module *m, const char *dir, const char *name)
{
	return data_folder_is_whole(m, dir)
		       ? arena_printf(&m->arena, "%s/%s", dir, name)
		       : dir;
}

const char *const *
dialect_names_in(struct module *m, const char *dir, int *n)
{
	*n = 0;
	return dir == NULL ? NULL
			   : data_names_in(m, below(m, dir, "dialects"),
					   "/dialect.json", n);
}

const char *const *
target_names_in(struct module *m, const char *dir, int *n)
{
	*n = 0;
	return dir == NULL
		       ? NULL
		       : data_names_in(m, below(m, dir, "targets"), ".json", n);
}

/* Does the target's file name the dialect `dialect`? If the file names none,
 * the nearest file that it extends and that names a dialect counts. *own: the
 * target's own file names a dialect. */
static bool
is_of(struct module *m, const char *target, const char *dialect,
      const char *dir, bool *own)
{
	const char *named = NULL;

	*own = true;
	for (int i = 0; i < JSON_LAYERS_MAX && named == NULL && target != NULL;
	     i++) {
		cJSON *value = json_parse_file(m, dir,
					       arena_printf(&m->arena,
							    "targets/%s.json",
							    target));

		*own = i == 0;
		named = json_member(m, value, "dialect");
		target = json_member(m, value, "extends");
		cJSON_Delete(value);
	}
	return named != NULL && strcmp(named, dialect) == 0;
}

bool
target_is_of(struct module *m, const char *target, const char *dialect,
	     const char *dir)
{
	bool own;

	return is_of(m, target, dialect, dir, &own);
}

static const char *
best_of(struct module *m, const char *const *names, int n, const char *dialect,
	const char *dir)
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
		best = best_of(m, names, n, dialect, dir);
	}
	return best;
}

static bool
is_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (file != NULL) {
		fclose(file);
	}
	return file != NULL;
}

void
dialect_of_argument(struct module *m, const char *argument, const char **name,
		    const char **dir)
{
	const char *path, *slash;

	*name = argument;
	if (!is_file(arena_printf(&m->arena, "%s/dialect.json", argument))) {
		return;
	}
	path = data_real_path(m, argument);
	slash = strrchr(path, '/');
	if (slash != NULL && slash > path) {
		*name = slash + 1;
		*dir = arena_strndup(&m->arena, path, (size_t)(slash - path));
	}
}
