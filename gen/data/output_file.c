/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE

#include "output_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much of an existing file is searched for a sign that tirc wrote the file:
 * the name tirc in the first line of a banner, or in the first START_BYTES
 * bytes of JSON. */
enum { START_BYTES = 512 };

/* NAME_BYTES: a temporary name contains at most this many bytes of the file's
 * name. ATTEMPTS: this many random names are tried, because a file may already
 * have a name that is tried. */
enum { NAME_BYTES = 200, ATTEMPTS = 100 };

bool
folder_make(struct module *m, const char *name)
{
	char *path = arena_strdup(&m->arena, name);

	for (char *p = path + 1;; p++) {
		char end = *p;

		if (end != '/' && end != '\0') {
			continue;
		}
		*p = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST) {
			return diag_error(&m->diags, DIAG_FILE_UNWRITABLE,
					  (struct diag_place){ .file = path },
					  "cannot make this folder: %s",
					  strerror(errno));
		}
		*p = end;
		if (end == '\0') {
			return true;
		}
	}
}

/* Does the text contain the word and a version: "tirc 0.1.0"? */
static bool
names_version(const char *text)
{
	for (const char *at = strstr(text, "tirc "); at != NULL;
	     at = strstr(at + 1, "tirc ")) {
		if (isdigit((unsigned char)at[5])) {
			return true;
		}
	}
	return false;
}

static bool
starts_as_ours(char *start)
{
	if (start[0] == '{') {
		return strstr(start, "\"tirc_partition\"") != NULL ||
		       strstr(start, "\"tirc graph ") != NULL ||
		       names_version(start);
	}
	start[strcspn(start, "\n")] = '\0';
	return strncmp(start, "tirc weights ", 13) == 0 ||
	       strstr(start, "written by tirc") != NULL || names_version(start);
}

FILE *
output_earlier(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	FILE *f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
			  ? fdopen(fd, "rb")
			  : NULL;

	if (fd >= 0 && f == NULL) {
		close(fd);
	}
	return f;
}

bool
output_may_replace(const char *path)
{
	char start[START_BYTES + 1];
	struct stat st;
	FILE *f;
	size_t n;

	if (stat(path, &st) != 0) {
		return errno == ENOENT;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		return !S_ISDIR(st.st_mode);
	}
	f = output_earlier(path);
	if (f == NULL) {
		return false;
	}
	n = fread(start, 1, START_BYTES, f);
	fclose(f);
	start[n] = '\0';
	return starts_as_ours(start);
}

bool
output_refuse(struct module *m, const char *path)
{
	return diag_error(&m->diags, DIAG_FOREIGN_FILE,
			  (struct diag_place){ .file = path },
			  "this file exists and tirc did not write it; move "
			  "it, choose another folder or --name, or replace it "
			  "with --force");
}

/* The temporary name "DIR/.NAME.RANDOM.PID.part" for "DIR/NAME". */
static char *
temporary_name(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	unsigned long long random;

	if (getentropy(&random, sizeof random) != 0) {
		return NULL;
	}
	return arena_printf(a, "%.*s.%.*s.%016llx.%ld.part", (int)(name - path),
			    path, NAME_BYTES, name, random, (long)getpid());
}

FILE *
output_temporary(struct arena *a, const char *path, const char **temporary)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		char *name = temporary_name(a, path);
		int fd = name != NULL ? open(name,
					     O_WRONLY | O_CREAT | O_EXCL |
						     O_NOFOLLOW | O_CLOEXEC,
					     0666)
				      : -1;
		FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

		*temporary = name;
		if (f != NULL) {
			return f;
		}
		if (fd >= 0) {
			close(fd);
			unlink(name);
			return NULL;
		}
		if (name == NULL || errno != EEXIST) {
			return NULL;
		}
	}
	return NULL;
}

/* Does the path name an open file (/dev/stdout), which may be a file of any
 * kind? A rename to the path would replace the name itself, for all
 * programs. */
static bool
is_open_file(const char *path)
{
	return strcmp(path, "/dev/stdout") == 0 ||
	       strcmp(path, "/dev/stderr") == 0 ||
	       strncmp(path, "/dev/fd/", 8) == 0;
}

/* Opens a device, a pipe or an open file for writing: these are written without
 * a temporary file. NULL if it cannot be opened (see errno), or if the path is
 * that of a regular file. */
static FILE *
open_directly(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0) {
		return NULL;
	}
	if (fstat(fd, &st) == 0) {
		errno = EEXIST; /* set if a regular file has taken the path
				 * since it was looked at */
		f = S_ISREG(st.st_mode) && !is_open_file(path)
			    ? NULL
			    : fdopen(fd, "ab");
	}
	if (f == NULL) {
		int error = errno;

		close(fd);
		errno = error;
	}
	return f;
}

bool
output_open(struct output *o, struct arena *a, const char *path)
{
	struct stat st;

	*o = (struct output){ .path = path };
	if (is_open_file(path) ||
	    (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		o->file = open_directly(path);
	} else {
		o->file = output_temporary(a, path, &o->temporary);
	}
	return o->file != NULL;
}

bool
output_close(struct output *o, bool keep)
{
	bool ok = ferror(o->file) == 0;
	int error;

	ok = fflush(o->file) == 0 && ok;
	error = errno;
	ok = fclose(o->file) == 0 && ok;
	if (o->temporary == NULL) {
		return ok;
	}
	if (ok && keep && rename(o->temporary, o->path) == 0) {
		return true;
	}
	if (ok) {
		error = errno;
	}
	unlink(o->temporary);
	errno = error;
	return ok && !keep;
}
