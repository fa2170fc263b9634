/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files whose names a model or a partition contains: external data,
 * constants. The names are not trusted: a name may only lead to a regular file
 * in the folder of the model or partition, or below it; it may not lead through
 * a link, or to another folder, a pipe or a device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "importer.h"
#include "text.h"

#ifdef O_PATH
#define FOLDER_ACCESS O_PATH /* opens a folder without the right to list it */
#else
#define FOLDER_ACCESS O_RDONLY
#endif

/* One attempt to open a file for its owner, a model or a partition. */
struct request {
	struct arena *a;
	const char *owner; /* "model" or "partition", for messages */
	const char **why;
};

static int
refuse(const struct request *r, const char *problem)
{
	*r->why = problem;
	return -1;
}

static int
refuse_errno(const struct request *r)
{
	return refuse(r, arena_printf(r->a,
				      "cannot be read: %s; copy it to the "
				      "%s's folder",
				      strerror(errno), r->owner));
}

static bool
has_parent(const char *name)
{
	for (const char *part = name; part != NULL;) {
		const char *end = strchr(part, '/');
		size_t n = end != NULL ? (size_t)(end - part) : strlen(part);

		if (n == 2 && part[0] == '.' && part[1] == '.') {
			return true;
		}
		part = end != NULL ? end + 1 : NULL;
	}
	return false;
}

static bool
has_hidden(const char *name)
{
	for (size_t left = strlen(name); left > 0;) {
		uint32_t code;
		size_t n = text_character(name, left, &code);

		if (n > 0 && text_is_hidden(code)) {
			return true;
		}
		name += n > 0 ? n : 1;
		left -= n > 0 ? n : 1;
	}
	return false;
}

/* Why a file of this name may not be read; NULL if it may. */
static const char *
name_problem(const struct request *r, const char *name)
{
	if (name[0] == '\0' || name[0] == '/' || has_parent(name)) {
		return arena_printf(r->a,
				    "is outside the %s's folder; move it "
				    "there, and name it relative to the folder",
				    r->owner);
	}
	return has_hidden(name) ? "has a hidden character in its name; rename "
				  "it"
				: NULL;
}

/* Why the file is refused: it is not a regular file, or has several names. NULL
 * if it is allowed. The caller calls this before it opens the file, because
 * opening may change a device, and again after opening, because the file may
 * have been replaced in between. */
static const char *
file_problem(const struct stat *st)
{
	return S_ISLNK(st->st_mode)    ? "is a symbolic link; put the file "
					 "itself there"
	       : !S_ISREG(st->st_mode) ? "is a folder, a pipe or a device; put "
					 "a regular file there"
	       : st->st_nlink > 1      ? "has another name elsewhere (a hard "
					 "link); put a copy there"
				       : NULL;
}

/* Opens the folders in *name one inside the other, and sets *name to the last
 * part, the file's name. Returns the innermost folder, or -1 after refuse().
 * Closes `folder`. */
static int
enter(const struct request *r, int folder, const char **name)
{
	const char *slash;

	while ((slash = strchr(*name, '/')) != NULL) {
		const char *part = arena_strndup(r->a, *name,
						 (size_t)(slash - *name));
		int inner = part[0] == '\0'
				    ? dup(folder)
				    : openat(folder, part,
					     FOLDER_ACCESS | O_DIRECTORY |
						     O_NOFOLLOW | O_CLOEXEC);
		struct stat st;
		bool link = inner < 0 &&
			    fstatat(folder, part, &st, AT_SYMLINK_NOFOLLOW) ==
				    0 &&
			    S_ISLNK(st.st_mode);

		if (inner < 0) {
			refuse_errno(r);
		}
		if (link) {
			refuse(r, "is behind a symbolic link; put the folder "
				  "itself there");
		}
		close(folder);
		if (inner < 0) {
			return -1;
		}
		folder = inner;
		*name = slash + 1;
	}
	return folder;
}

/* Opens the regular file `name` in the folder; returns its descriptor, or -1
 * after refuse(). */
static int
open_plain(const struct request *r, int folder, const char *name)
{
	struct stat st;
	const char *problem;
	int fd;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		return refuse_errno(r);
	}
	problem = file_problem(&st);
	if (problem != NULL) {
		return refuse(r, problem);
	}
	fd = openat(folder, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		return refuse_errno(r);
	}
	if (fstat(fd, &st) != 0) {
		refuse_errno(r);
	} else if ((problem = file_problem(&st)) != NULL) {
		refuse(r, problem);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

int
beside_open(struct arena *a, const char *owner, const char *folder,
	    const char *name, const char **why)
{
	const struct request r = { a, owner, why };
	const char *problem = name_problem(&r, name);
	int dir, fd;

	if (problem != NULL) {
		return refuse(&r, problem);
	}
	dir = open(*folder != '\0' ? folder : "/",
		   FOLDER_ACCESS | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		return refuse_errno(&r);
	}
	dir = enter(&r, dir, &name);
	if (dir < 0) {
		return -1;
	}
	fd = open_plain(&r, dir, *name != '\0' ? name : ".");
	close(dir);
	return fd;
}
