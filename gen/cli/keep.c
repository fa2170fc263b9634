/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the folder of --keep. The compiler and the built program write files
 * with known names in this folder, and follow links. Another person who can
 * write in the folder could place links there that lead to files elsewhere, so
 * a folder with links is refused. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"

/* Is the entry `name` of `folder` a folder, or a regular file with only one
 * hard link? A symbolic link is neither. */
static bool
is_plain(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (S_ISDIR(st.st_mode) ||
		(S_ISREG(st.st_mode) && st.st_nlink == 1));
}

bool
harness_may_keep(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	struct stat st;
	bool ok = true;

	if (dir == NULL) {
		return errno == ENOENT ||
		       cli_error("--keep %s: %s", path, strerror(errno));
	}
	if (fstat(dirfd(dir), &st) == 0 && (st.st_mode & S_IWOTH) != 0) {
		ok = cli_error("--keep %s: everybody may write in this folder; "
			       "name a new one",
			       path);
	}
	while (ok && (e = readdir(dir)) != NULL) {
		ok = is_plain(dirfd(dir), e->d_name) ||
		     cli_error("--keep %s: %s in this folder is a link, or not "
			       "a regular file; name a new folder",
			       path, e->d_name);
	}
	closedir(dir);
	return ok;
}
