/* SPDX-License-Identifier: Apache-2.0 */
/* Data files in a user's folder or embedded in tirc: reading and listing. */
#ifndef TIRC_DATA_FILES_H
#define TIRC_DATA_FILES_H

#include "module.h"

/* The text of a file, in the module's arena; NULL, without a diagnostic, if it
 * cannot be read. */
const char *data_read(struct module *m, const char *path);
/* The text of a data file. dir: a user's folder, or NULL. If dir has a
 * subfolder "dialects", dir replaces all embedded files; otherwise the dialects
 * and targets in it take precedence over the embedded ones. *file: the name of
 * the file for messages. NULL, without a diagnostic, if there is no such
 * file. */
const char *data_file(struct module *m, const char *dir, const char *path,
		      const char **file);
/* Does dir replace all embedded files, because it has a subfolder
 * "dialects"? */
bool data_folder_is_whole(struct module *m, const char *dir);

/* The sorted names of embedded data: from each path that begins with `head` and
 * ends in `tail`, the text between the two. *n: the number of names.
 * data_names(m, "dialects/", "/dialect.json", &n) gives the names of
 * dialects. */
const char *const *data_names(struct module *m, const char *head,
			      const char *tail, int *n);
/* The sorted names of the files in a folder: each name between "FOLDER/" and
 * `tail` ("/dialect.json" or ".json"). Names that begin with a dot are
 * skipped. */
const char *const *data_names_in(struct module *m, const char *folder,
				 const char *tail, int *n);

/* The absolute path of the file without links, "." and ".."; `path` itself if
 * there is no such file. */
const char *data_real_path(struct module *m, const char *path);

#endif
