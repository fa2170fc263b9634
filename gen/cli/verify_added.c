/* SPDX-License-Identifier: Apache-2.0 */
/* Finds headers in a folder of emitted source that tirc did not write. The
 * compilers of the emitted build files look for a header such as <stdint.h> in
 * the folder first, also when a header of the system includes it. So a header
 * in the folder may change what the source means. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"
#include "verify_cmd.h"

/* Folders deeper than MOST_DEPTH, and entries after the first MOST_ENTRIES, are
 * not searched; the folder then counts as different from what tirc writes. */
enum { MOST_DEPTH = 8, MOST_ENTRIES = 10000 };

struct searching {
	struct arena *a;
	const struct text_map *written;
	struct added_headers *out;
	int entries;
};

static void
add(struct searching *s, const char *path)
{
	vec_push(s->a, &s->out->list, arena_strdup(s->a, path));
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* May the entry be a header, or contain one: does its name end in ".h", or is
 * it a link to a folder? */
static bool
may_be_header(const char *path, const struct stat *link)
{
	struct stat st;

	return text_ends_in(path, ".h") ||
	       (S_ISLNK(link->st_mode) && stat(path, &st) == 0 &&
		S_ISDIR(st.st_mode));
}

/* inside: the path of `folder` relative to the folder of the source, ending in
 * '/'; "" for that folder itself */
static void
search(struct searching *s, const char *folder, const char *inside, int depth)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, by_name);

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		const char *path = arena_printf(s->a, "%s/%s", folder, name);
		const char *shown = arena_printf(s->a, "%s%s", inside, name);
		struct stat st;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    s->entries == MOST_ENTRIES || lstat(path, &st) != 0) {
			/* nothing to search, or no more of it */
		} else if (++s->entries == MOST_ENTRIES ||
			   (S_ISDIR(st.st_mode) && depth == MOST_DEPTH)) {
			add(s, arena_printf(s->a, "%s and others", shown));
		} else if (S_ISDIR(st.st_mode)) {
			search(s, path, arena_printf(s->a, "%s/", shown),
			       depth + 1);
		} else if (may_be_header(path, &st) &&
			   text_map_get(s->written, shown, -1) < 0) {
			add(s, shown);
		}
	}
	for (int i = 0; i < n; i++) {
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
}

void
verify_find_added(struct arena *a, const char *folder,
		  const struct text_map *written, struct added_headers *out)
{
	struct searching s = { .a = a, .written = written, .out = out };

	search(&s, folder, "", 0);
}
