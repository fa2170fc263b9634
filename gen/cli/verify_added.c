/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files in a folder of emitted source that tirc did not write and that
 * change what is built there:
 *
 * - headers, precompiled ones too: the compilers of the emitted build files look
 *   for a header such as <stdint.h>, or <cmath> of C++, in the folder first,
 *   also when a header of the system includes it;
 * - objects and libraries of the emitted sources, which make takes if they are
 *   newer, and files of which make's own rules remake an emitted file, such as
 *   net.mk.sh and s.net.c;
 * - files that a build system reads before or beside an emitted one, such as
 *   GNUmakefile. */
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
	/* the names of the written files without their folders, and these names
	 * up to the first '.', in small letters */
	struct text_map names;
	struct added_files *out;
	bool has_cxx; /* a written file is C++, or a dialect of it */
	int entries;
};

/* The endings of files that make's own rules read, and of what is built. */
static const char *const built_endings[] = {
	"a",   "c",  "cc",  "ch", "cpp", "d",   "dll", "el", "elc",
	"exe", "f",  "i",   "ii", "l",   "la",  "lib", "lm", "ln",
	"lo",  "m",  "mod", "o",  "obj", "out", "p",   "r",  "s",
	"sh",  "so", "sym", "w",  "web", "y",   "yl",  "ym",
};

/* Files that a build system reads before or beside another one, in small
 * letters. */
static const struct {
	const char *written, *added;
} beside[] = {
	{ "makefile", "gnumakefile" },
	{ "makefile", "makefile" },
	{ "cmakelists.txt", "cmakepresets.json" },
	{ "cmakelists.txt", "cmakeuserpresets.json" },
	{ "meson.build", "meson.options" },
	{ "meson.build", "meson_options.txt" },
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

/* The path in small letters: some systems do not tell Net.H from net.h. */
static const char *
small_letters(struct arena *a, const char *path)
{
	char *out = arena_strdup(a, path);

	for (char *p = out; *p != '\0'; p++) {
		*p += *p >= 'A' && *p <= 'Z' ? 'a' - 'A' : 0;
	}
	return out;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Is this the name of a written file, with or without its ending? */
static bool
is_named(const struct searching *s, const char *name, size_t bytes)
{
	return text_map_get_bytes(&s->names, name, bytes, -1) >= 0;
}

/* Would the program `make` use the file `name`, whose name is given without its
 * folder, as the result of building a written file, or use it to make a written
 * file anew? */
static bool
is_built(const struct searching *s, const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t stem = dot != NULL ? (size_t)(dot - name) : 0;

	if (strncmp(name, "s.", 2) == 0) {
		return is_named(s, name + 2, strlen(name + 2));
	}
	if (text_ends_in(name, ",v")) {
		return is_named(s, name, strlen(name) - 2);
	}
	for (size_t i = 0;
	     dot != NULL && i < sizeof built_endings / sizeof *built_endings;
	     i++) {
		if (strcmp(dot + 1, built_endings[i]) == 0) {
			return is_named(s, name, stem) ||
			       (strncmp(name, "lib", 3) == 0 &&
				is_named(s, name + 3, stem - 3));
		}
	}
	return false;
}

static bool
is_beside(const struct searching *s, const char *name)
{
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		if (strcmp(beside[i].added, name) == 0 &&
		    is_named(s, beside[i].written, strlen(beside[i].written))) {
			return true;
		}
	}
	return false;
}

static bool
is_one_of(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], word) == 0) {
			return true;
		}
	}
	return false;
}

/* May a header of C++'s library have this name, as <cmath> has: is it a word
 * without an ending? The usual names of texts, README for example, are no headers. */
static bool
is_cxx_header(const char *name)
{
	static const char *const texts[] = { "authors", "changelog", "copying",
					     "license", "news",      "notice",
					     "readme",  "todo" };

	return strchr(name, '.') == NULL &&
	       !is_one_of(texts, sizeof texts / sizeof *texts, name);
}

/* May the entry be a header, or contain one: is it a header by its name, a
 * precompiled one too, or a link to a folder? */
static bool
may_be_header(const struct searching *s, const char *path, const char *shown,
	      const struct stat *link)
{
	static const char *const endings[] = { "h",   "gch", "pch", "hh",
					       "hpp", "hxx", "h++", "cuh",
					       "inc", "inl", "ipp", "tcc" };
	const char *name = base_name(shown), *dot = strrchr(name, '.');
	struct stat st;

	return (dot != NULL &&
		is_one_of(endings, sizeof endings / sizeof *endings,
			  dot + 1)) ||
	       (s->has_cxx && is_cxx_header(name)) ||
	       strstr(shown, ".gch/") != NULL ||
	       (S_ISLNK(link->st_mode) && stat(path, &st) == 0 &&
		S_ISDIR(st.st_mode));
}

/* Does the file, which tirc did not write, change what is built, on a system that
 * tells small letters from others or on one that does not? shown: its path within
 * the folder of the source. */
static bool
changes_build(const struct searching *s, const char *path, const char *shown,
	      const struct stat *link)
{
	const char *name;

	shown = small_letters(s->a, shown);
	name = base_name(shown);
	return may_be_header(s, path, shown, link) || is_built(s, name) ||
	       is_beside(s, name);
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
		} else if (text_map_get(s->written, shown, -1) < 0 &&
			   changes_build(s, path, shown, &st)) {
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
		  const char *const *written, int n, struct added_files *out)
{
	struct text_map paths;
	struct searching s = { .a = a, .written = &paths, .out = out };

	text_map_init(&paths, a);
	text_map_init(&s.names, a);
	for (int i = 0; i < n; i++) {
		const char *name = base_name(small_letters(a, written[i]));

		s.has_cxx |= text_ends_in(name, ".cu") ||
			     text_ends_in(name, ".cpp") ||
			     text_ends_in(name, ".ino");
		text_map_add(&paths, written[i], i);
		text_map_add(&s.names, name, i);
		text_map_add(&s.names,
			     arena_strndup(a, name, strcspn(name, ".")), i);
	}
	search(&s, folder, "", 0);
}
