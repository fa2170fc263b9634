/* SPDX-License-Identifier: Apache-2.0 */
/* Data files, from a user's folder or embedded: reading and listing. */
#ifndef TIRC_DATA_FILES_H
#define TIRC_DATA_FILES_H

#include "module.h"

/* A file's text, in the module's arena; NULL, silently, if it cannot be
 * read. */
const char *data_read(struct module *m, const char *path);
/* The text of a data file. dir: a user's folder. With a subfolder "dialects" it
 * replaces all embedded files; otherwise it holds dialects (and targets) that
 * take precedence over the embedded ones. *file: the file's name for messages.
 * NULL, silently, if there is none. */
const char *data_file(struct module *m, const char *dir, const char *path,
		      const char **file);
bool data_folder_is_whole(struct module *m, const char *dir);

/* Names between two parts of a path, sorted: of embedded files
 * ("dialects/", "/dialect.json"), */
const char *const *data_names(struct module *m, const char *head,
			      const char *tail, int *n);
/* and of files in a folder ("DIR", "/dialect.json" or ".json"). Skips names
 * that begin with a dot. */
const char *const *data_names_in(struct module *m, const char *folder,
				 const char *tail, int *n);

/* path without links, "." and ".."; path itself where there is no such file. */
const char *data_real_path(struct module *m, const char *path);

#endif
