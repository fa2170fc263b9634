/* SPDX-License-Identifier: Apache-2.0 */
/* Files that tirc writes for its users: they are whole or not there, and no
 * file that tirc did not write is replaced without --force. */
#ifndef TIRC_OUTPUT_FILE_H
#define TIRC_OUTPUT_FILE_H

#include <stdio.h>

#include "module.h"

/* Makes a folder and those above it where they are missing. False: reported. */
bool folder_make(struct module *m, const char *path);

/* Whether a file may be replaced: none is there, it is empty, or its beginning
 * says that tirc wrote it (the banner of sources and build files, the member
 * "generator" or "tirc_partition" of JSON, the magic word of weights). */
bool output_may_replace(const char *path);

/* Adds the error for a file that may not be replaced; returns false. */
bool output_refuse(struct module *m, const char *path);

/* "DIR/.NAME.PID.part" for "DIR/NAME": where a file is written until it is
 * whole. Owned by the arena. */
char *output_temporary(struct arena *a, const char *path);

/* One file that is being written. */
struct output {
	FILE *file;
	const char *path;
	char *temporary; /* NULL: path is a device or a pipe, written directly */
};

/* Begins a file. False: errno says why. The path is borrowed until the file is
 * closed. */
bool output_open(struct output *o, struct arena *a, const char *path);
/* Ends it: puts it in place if keep, else removes it. False if it could not be
 * written (errno says why); the file that was at the path is unchanged then. */
bool output_close(struct output *o, bool keep);

#endif
