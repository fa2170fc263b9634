/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the backend that the text of a --byoc means: an embedded one, or one in
 * a folder of the user. */
#define _XOPEN_SOURCE 700
#include <stdlib.h>

#include "loading.h"
#include "text.h"

/* -- the folders of backends -- */

struct found {
	const char *name, *folder; /* folder NULL: embedded */
};

struct found_list {
	VEC(struct found) list;
};

static void
add_found(struct module *m, struct found_list *out, const char *name,
	  const char *folder)
{
	struct found one = { name, folder };

	if (text_is_identifier(name, "-")) {
		vec_push(&m->arena, &out->list, one);
	}
}

/* Adds the folders in `dir` that contain a backend.json. */
static void
find_below(struct module *m, const char *dir, struct found_list *out)
{
	int n;
	const char *const *names = data_names_in(m, dir, "/backend.json", &n);

	for (int i = 0; i < n; i++) {
		add_found(m, out, names[i],
			  arena_printf(&m->arena, "%s/%s", dir, names[i]));
	}
}

/* Adds the backends in dir to the list: dir may contain the folders of
 * backends, or contain a folder "byoc" with the folders of backends, or be the
 * folder of a backend itself. */
static void
find_in(struct module *m, const char *dir, struct found_list *out)
{
	char *real = realpath(dir, NULL);

	find_below(m, dir, out);
	find_below(m, arena_printf(&m->arena, "%s/byoc", dir), out);
	if (real != NULL &&
	    data_read(m, arena_printf(&m->arena, "%s/backend.json", real)) !=
		    NULL) {
		add_found(m, out,
			  arena_strdup(&m->arena, strrchr(real, '/') + 1),
			  arena_strdup(&m->arena, real));
	}
	free(real);
}

/* A list of all backends: those in dir, then the embedded ones. */
static struct found_list
find_all(struct module *m, const char *dir)
{
	struct found_list all = { 0 };
	const char *const *names;
	int n;

	if (dir != NULL) {
		find_in(m, dir, &all);
	}
	names = data_names(m, "byoc/", "/backend.json", &n);
	for (int i = 0; i < n; i++) {
		add_found(m, &all, names[i], NULL);
	}
	return all;
}

/* The names in `all`, sorted, without duplicates; sets *n to their number. */
static const char *const *
names_of(struct module *m, const struct found_list *all, int *n)
{
	int total = all->list.n;
	const char **names = arena_array(&m->arena, const char *, total + 1);

	for (int i = 0; i < total; i++) {
		names[i] = all->list.data[i].name;
	}
	qsort(names, (size_t)total, sizeof *names, text_compare);
	*n = 0;
	for (int i = 0; i < total; i++) {
		if (*n == 0 || strcmp(names[*n - 1], names[i]) != 0) {
			names[(*n)++] = names[i];
		}
	}
	return names;
}

const char *const *
backend_names(struct module *m, const char *dir, int *n)
{
	struct found_list all = find_all(m, dir);

	return names_of(m, &all, n);
}

bool
backend_is_embedded(struct module *m, const char *name)
{
	struct found_list all = find_all(m, NULL);

	for (int i = 0; i < all.list.n; i++) {
		if (strcmp(all.list.data[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Splits NAME, NAME=DIR, NAME:OPTIONS or NAME=DIR:OPTIONS: sets name and
 * options of *out, and returns DIR, or NULL. */
static const char *
split_name(struct arena *a, const char *text, struct found_backend *out)
{
	size_t all = strcspn(text, ":"), n = strcspn(text, "=:");

	*out = (struct found_backend){
		.name = arena_strndup(a, text, n),
		.options = text[all] == ':' ? text + all + 1 : NULL,
	};
	return n < all ? arena_strndup(a, text + n + 1, all - n - 1) : NULL;
}

static bool
no_such(struct module *m, const char *name, const struct found_list *all)
{
	int n;
	const char *const *names = names_of(m, all, &n);
	const char *known = "", *near = text_nearest(name, names, n);

	for (int i = 0; i < n; i++) {
		known = arena_printf(&m->arena, "%s%s%s", known,
				     i > 0 ? ", " : "", names[i]);
	}
	diag_error(&m->diags, DIAG_BAD_OPTION,
		   (struct diag_place){ .file = "--byoc" },
		   "there is no backend '%s'; %s%s%sthe backends are: %s", name,
		   near != NULL ? "did you mean '" : "",
		   near != NULL ? near : "", near != NULL ? "'? " : "",
		   *known != '\0' ? known : "none");
	return false;
}

bool
backend_find(struct module *m, const char *text, const char *dir,
	     struct found_backend *out)
{
	const char *own_dir = split_name(&m->arena, text, out);
	const struct found *found = NULL;
	struct found_list all = { 0 };

	if (own_dir != NULL) {
		find_in(m, own_dir, &all);
	} else {
		all = find_all(m, dir);
	}

	for (int i = 0; i < all.list.n; i++) {
		const struct found *one = &all.list.data[i];

		if (strcmp(one->name, out->name) != 0) {
			continue;
		}
		if (found != NULL && found->folder != NULL &&
		    one->folder == NULL) {
			return diag_error(
				&m->diags, DIAG_BAD_OPTION,
				(struct diag_place){ .file = "--byoc" },
				"there are two backends '%s', the one of tirc "
				"and %s; give --byoc %s=%s for the second, or "
				"leave --byoc-path out",
				out->name, found->folder, out->name,
				found->folder);
		}
		found = found != NULL ? found : one;
	}
	if (found == NULL) {
		return no_such(m, out->name, &all);
	}
	out->folder = found->folder;
	return true;
}
