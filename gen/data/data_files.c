/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and lists data files; see the header. */
#define _DEFAULT_SOURCE
#include "data_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "templates.h"
#include "text.h"

/* -- one file -- */

const char *
data_read(struct module *m, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct strbuf s;
	const char *text = NULL;
	char block[4096];
	size_t n;

	if (file == NULL) {
		return NULL;
	}
	strbuf_init(&s);
	while ((n = fread(block, 1, sizeof block, file)) > 0) {
		strbuf_write(&s, block, n);
	}
	if (!ferror(file)) {
		text = arena_strndup(&m->arena, s.len > 0 ? s.data : "", s.len);
	}
	strbuf_release(&s);
	fclose(file);
	return text;
}

bool
data_folder_is_whole(struct module *m, const char *dir)
{
	struct stat st;

	return stat(arena_printf(&m->arena, "%s/dialects", dir), &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

const char *
data_file(struct module *m, const char *dir, const char *path,
	  const char **file)
{
	const struct template_file *embedded;

	if (dir != NULL) {
		bool whole = data_folder_is_whole(m, dir);
		const char *below = strchr(path, '/');
		const char *name = whole || below == NULL ? path : below + 1;
		const char *text;

		*file = arena_printf(&m->arena, "%s/%s", dir, name);
		text = data_read(m, *file);
		if (text != NULL || whole) {
			return text;
		}
	}
	*file = arena_strdup(&m->arena, path);
	embedded = template_find(path);
	return embedded != NULL ? (const char *)embedded->bytes : NULL;
}

/* -- listing -- */

struct name_list {
	VEC(const char *) list;
};

/* Sorts the names, since neither embedded paths nor the entries of a folder are
 * sorted, and returns them; *n: their number. */
static const char *const *
sorted(struct name_list *names, int *n)
{
	*n = names->list.n;
	if (*n > 0) {
		qsort(names->list.data, (size_t)*n, sizeof *names->list.data,
		      text_compare);
	}
	return names->list.data;
}

/* The part of `text` between the prefix `head` and the suffix `tail`; NULL if
 * it does not have both. */
static const char *
between(struct module *m, const char *text, const char *head, const char *tail)
{
	size_t length = strlen(text), first = strlen(head), last = strlen(tail);

	return length > first + last && strncmp(text, head, first) == 0 &&
			       strcmp(text + length - last, tail) == 0
		       ? arena_strndup(&m->arena, text + first,
				       length - first - last)
		       : NULL;
}

const char *const *
data_names(struct module *m, const char *head, const char *tail, int *n)
{
	struct name_list names = { 0 };
	int total;
	const struct template_file *files = template_files(&total);

	for (int i = 0; i < total; i++) {
		const char *name = between(m, files[i].path, head, tail);

		if (name != NULL) {
			vec_push(&m->arena, &names.list, name);
		}
	}
	return sorted(&names, n);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

const char *const *
data_names_in(struct module *m, const char *folder, const char *tail, int *n)
{
	struct name_list names = { 0 };
	struct dirent *entry;
	DIR *d = opendir(folder);

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *name = entry->d_name;

		name = name[0] == '.'   ? NULL
		       : tail[0] == '/' ? arena_strdup(&m->arena, name)
					: between(m, name, "", tail);
		if (name != NULL && is_file(arena_printf(&m->arena, "%s/%s%s",
							 folder, name, tail))) {
			vec_push(&m->arena, &names.list, name);
		}
	}
	if (d != NULL) {
		closedir(d);
	}
	return sorted(&names, n);
}

const char *
data_real_path(struct module *m, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = real != NULL ? arena_strdup(&m->arena, real) : path;

	free(real);
	return copy;
}
