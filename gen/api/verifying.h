/* SPDX-License-Identifier: Apache-2.0 */
/* What tirc verify needs of a context beside tirc.h. */
#ifndef TIRC_VERIFYING_H
#define TIRC_VERIFYING_H

#include "package.h"
#include "tirc.h"

/* After tirc_compile: the compiled model, and its files. */
struct program *tirc_compiled_program(struct tirc *t);
const struct package *tirc_compiled_package(const struct tirc *t);
/* After tirc_compile: a tensor of the compiled model, as tirc_output() tells of an
 * output. */
struct tirc_tensor tirc_compiled_tensor(struct tirc *t, const struct tensor *x);

/* A file that was read, with the 64 hex digits of its digest. */
struct tirc_read_file {
	const char *name; /* without folder */
	const char *sha256;
};

/* After tirc_load: sets *out to the files that were read. Returns how many; -1
 * after a message. */
int tirc_read_files(struct tirc *t, const struct tirc_read_file **out);
/* After tirc_load: the bytes of these files. */
int64_t tirc_read_bytes(const struct tirc *t);
/* Is the text, which comes from a stranger's file, the name of a target with facts
 * alone? False after a message, which names the file. */
bool tirc_is_stated_target(struct tirc *t, const char *text, const char *file);
/* Is the text, which comes from a stranger's file, the name of a backend that tirc ships,
 * in the form of --byoc and without a folder? */
bool tirc_is_stated_backend(struct tirc *t, const char *text);

#endif
