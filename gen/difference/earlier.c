/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that earlier compilations of a model wrote to a folder: those
 * that a NAME.json there lists, and those that are named after the model and begin
 * like files of tirc, since NAME.json may have been written again since. The
 * folder may be anybody's: only files that lie in it are named. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "onnx_file.h"
#include "output_file.h"
#include "snapshot.h"
#include "text.h"

/* At most so many entries of the folder, and files in lists, are looked at. */
enum { MOST_ENTRIES = 10000 };

struct searching {
	struct arena *a;
	const char *folder;
	const struct model_files *model;
	VEC(const char *) names; /* the names that the model has or had */
	VEC(const char *) lists; /* the files that lists of the model name */
	/* the files directly in the folder that begin like files of tirc and
	 * are no JSON, which other verbs write, too */
	VEC(const char *) marked;
	struct text_map others; /* the files of other models in the folder */
	struct text_map found;  /* the files that are in the result */
	int n_entries;          /* entries that were looked at so far */
	int n_listed;           /* files that were in any list so far */
};

/* -- lists -- */

/* Is the metadata that of the model that is to be written: does it have the name
 * or the digest of this model? */
static bool
is_same_model(const struct searching *s, const cJSON *json)
{
	return strcmp(member_text(json, "model"), s->model->name) == 0 ||
	       (s->model->digest != NULL &&
		strcmp(member_text(json, "digest"), s->model->digest) == 0);
}

/* Does the list, of a NAME.json, have the path of this NAME.json? If not, it is
 * the list of another folder. */
static bool
lists_itself(const cJSON *files, const char *path)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, files)
	{
		if (cJSON_IsString(x) && strcmp(x->valuestring, path) == 0) {
			return true;
		}
	}
	return false;
}

static void
read_list(struct searching *s, const cJSON *files, bool same)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, files)
	{
		const char *file;

		if (!cJSON_IsString(x) || s->n_listed++ >= MOST_ENTRIES) {
			continue;
		}
		file = arena_strdup(s->a, x->valuestring);
		if (same) {
			vec_push(s->a, &s->lists, file);
		} else {
			text_map_add(&s->others, file, 1);
		}
	}
}

/* Reads the NAME.json at this path in the folder. */
static void
read_metadata(struct searching *s, const char *path)
{
	cJSON *json = snapshot_metadata(s->a, s->folder, path);
	const cJSON *files = member_list(json, "files");
	bool same = is_same_model(s, json);

	if (lists_itself(files, path)) {
		read_list(s, files, same);
		if (same) {
			vec_push(s->a, &s->names,
				 arena_strdup(s->a,
					      member_text(json, "model")));
		}
	}
	cJSON_Delete(json);
}

/* -- the folder -- */

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void search(struct searching *s, const char *inside);

/* Looks at an entry of the folder, or of a folder directly in it. inside: as in
 * search(). */
static void
look_at(struct searching *s, const char *inside, const char *name)
{
	const char *path = arena_printf(s->a, "%s%s", inside, name);
	const char *whole = arena_printf(s->a, "%s/%s", s->folder, path);
	const bool is_inside = inside[0] != '\0';
	struct stat st;

	if (name[0] == '.' || s->n_entries++ >= MOST_ENTRIES ||
	    lstat(whole, &st) != 0) {
		return;
	}
	if (S_ISDIR(st.st_mode) && !is_inside) {
		search(s, arena_printf(s->a, "%s/", path));
	}
	/* an empty file may be replaced, but says nothing of itself */
	if (!S_ISREG(st.st_mode) || st.st_size == 0 ||
	    !output_may_replace(whole)) {
		return;
	}
	if (text_ends_in(name, ".json")) {
		read_metadata(s, path);
	} else if (!is_inside) {
		vec_push(s->a, &s->marked, path);
	}
}

/* inside: the path of a folder relative to s->folder, ending in '/'; "" for that
 * folder itself */
static void
search(struct searching *s, const char *inside)
{
	struct dirent **entries;
	int n = scandir(arena_printf(s->a, "%s/%s", s->folder, inside),
			&entries, NULL, by_name);

	for (int i = 0; i < n; i++) {
		look_at(s, inside, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
}

/* -- the result -- */

/* Is the file named after the model, as "net.c" and "net_weights.bin" are, and no
 * report? */
static bool
is_own(const struct searching *s, const char *file)
{
	bool own = false;

	for (int i = 0; i < s->names.n; i++) {
		size_t n = strlen(s->names.data[i]);

		own |= strncmp(file, s->names.data[i], n) == 0 &&
		       (file[n] == '.' || file[n] == '_');
	}
	return own && !text_ends_in(file, ".html") &&
	       !text_ends_in(file, ".md");
}

static bool
is_there(const struct searching *s, const char *path)
{
	const char *why;
	int fd = beside_open(s->a, s->folder, s->folder, path, &why);

	if (fd >= 0) {
		close(fd);
	}
	return fd >= 0;
}

static void
add(struct searching *s, const char *path, struct earlier_files *out)
{
	if (text_map_get(&s->others, path, -1) < 0 && is_there(s, path) &&
	    text_map_add(&s->found, path, 1)) {
		vec_push(s->a, &out->list, path);
	}
}

void
difference_earlier(struct module *m, const char *folder,
		   const struct model_files *model, struct earlier_files *out)
{
	struct searching s = { .a = &m->arena,
			       .folder = folder,
			       .model = model };

	*out = (struct earlier_files){ .list = { .n = 0 } };
	text_map_init(&s.others, s.a);
	text_map_init(&s.found, s.a);
	vec_push(s.a, &s.names, model->name);
	search(&s, "");
	for (int i = 0; i < s.lists.n; i++) {
		add(&s, s.lists.data[i], out);
	}
	for (int i = 0; i < s.marked.n; i++) {
		if (is_own(&s, s.marked.data[i])) {
			add(&s, s.marked.data[i], out);
		}
	}
}
