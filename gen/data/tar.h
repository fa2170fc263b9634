/* SPDX-License-Identifier: Apache-2.0 */
/* Archives in POSIX's ustar format: regular files alone, in a form that depends
 * only on their names and bytes. */
#ifndef TIRC_TAR_H
#define TIRC_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The longest name of a member. */
enum { TAR_NAME_BYTES = 99 };

/* Writes a member with these bytes. False if writing failed, or if the name is
 * longer than TAR_NAME_BYTES. */
bool tar_add(FILE *to, const char *name, const void *data, size_t bytes);
/* Copies a file, to its end, as a member. */
bool tar_add_file(FILE *to, const char *name, FILE *from);
/* Writes the end of the archive. */
bool tar_end(FILE *to);

/* A member of an archive that is being read. */
struct tar_member {
	char name[TAR_NAME_BYTES + 1];
	int64_t bytes;
};

/* The result of tar_next(): a member, the end of the archive, or no archive. */
enum tar_found { TAR_MEMBER, TAR_END, TAR_BROKEN };

/* Reads the header of the next member; the file position of `from` must be at a
 * header. Skips members that are not regular files. TAR_BROKEN: the file is not
 * a ustar archive, or is cut off. */
enum tar_found tar_next(FILE *from, struct tar_member *m);
/* After tar_next(): copies the member's bytes to a file, or, if that is NULL, passes
 * over them. False if reading or writing failed. */
bool tar_copy(FILE *from, const struct tar_member *m, FILE *to);

#endif
