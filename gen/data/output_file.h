/* SPDX-License-Identifier: Apache-2.0 */
/* Output files. They are written atomically (complete or absent), and a file
 * that tirc did not write is replaced only with --force. */
#ifndef TIRC_OUTPUT_FILE_H
#define TIRC_OUTPUT_FILE_H

#include <stdio.h>

#include "module.h"

/* Makes a folder and its missing parents. False: reported. */
bool folder_make(struct module *m, const char *path);

/* May the file be replaced? It is absent or empty, or its beginning shows that
 * tirc wrote it (the banner of sources and build files, the member "generator"
 * or "tirc_partition" of JSON, the magic word of weights). */
bool output_may_replace(const char *path);

/* Adds the error for a file that may not be replaced; returns false. */
bool output_refuse(struct module *m, const char *path);

/* An existing file that may be replaced, to be read; NULL if it is no plain
 * file. */
FILE *output_earlier(const char *path);

/* Makes "DIR/.NAME.RANDOM.PID.part" for "DIR/NAME", the temporary file during
 * writing: a new file, behind no link, under a name that nobody can foresee. The
 * name is owned by the arena. NULL: errno says why. */
FILE *output_temporary(struct arena *a, const char *path,
		       const char **temporary);

/* An output file being written. */
struct output {
	FILE *file;
	const char *path;
	const char *
		temporary; /* NULL: path is a device or a pipe, written directly */
};

/* Begins a file. False: errno says why. The path is borrowed until the file is
 * closed. */
bool output_open(struct output *o, struct arena *a, const char *path);
/* Closes it, and renames it into place if keep, or else removes it. False if
 * writing failed (errno says why); a previous file at the path is then
 * unchanged. */
bool output_close(struct output *o, bool keep);

#endif
