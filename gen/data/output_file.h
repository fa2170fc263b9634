/* SPDX-License-Identifier: Apache-2.0 */
/* Output files. They are written atomically (complete or not at all); a file
 * that tirc did not write is replaced only with --force. */
#ifndef TIRC_OUTPUT_FILE_H
#define TIRC_OUTPUT_FILE_H

#include <stdio.h>

#include "module.h"

/* Makes a folder and its missing parents. False after a diagnostic. */
bool folder_make(struct module *m, const char *path);

/* May the file be replaced? It may if it does not exist, is empty, or begins
 * like the files that tirc writes (the banner of sources and build files, the
 * member "generator" or "tirc_partition" of JSON, the magic word of
 * weights). */
bool output_may_replace(const char *path);

/* Reports an error about a file that may not be replaced; returns false. */
bool output_refuse(struct module *m, const char *path);

/* Opens the file that is at the path before tirc writes there, for reading;
 * NULL if there is no file, or no regular file. */
FILE *output_earlier(const char *path);

/* Makes the temporary file for "DIR/NAME": a new file
 * "DIR/.NAME.RANDOM.PID.part", which is not a link and whose name nobody can
 * predict. The name is in the arena. NULL: see errno. */
FILE *output_temporary(struct arena *a, const char *path,
		       const char **temporary);

/* An output file that is being written. */
struct output {
	FILE *file;
	const char *path;
	const char *
		/* path of the temporary file; NULL for a device or a pipe,
		 * which is written directly */
		temporary;
};

/* Begins a file. Keeps the pointer `path` until output_close(). False: see
 * errno. */
bool output_open(struct output *o, struct arena *a, const char *path);
/* Ends the output: moves the temporary file to its path if `keep` is set, else
 * removes it. False if writing failed (see errno); a file that was at the path
 * before is then unchanged. */
bool output_close(struct output *o, bool keep);

#endif
