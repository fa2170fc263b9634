/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how the kernel and the loader start an executable file. */
#ifndef TIRC_PROGRAM_FILE_H
#define TIRC_PROGRAM_FILE_H

#include "arena.h"

struct program_file {
	/* the dynamic loader; NULL if the program has none */
	const char *loader;
	/* Absolute folders in which the file and LD_LIBRARY_PATH tell the loader
	 * to find libraries. */
	VEC(const char *) folders;
	VEC(const char *)
	libraries; /* the names of the libraries that the program needs */
};

/* Reads the headers of the program file at `path`. False if the file is no ELF
 * program for the processor and the word size of tirc itself: then the kernel
 * may start another program for it (the interpreter of a script, an emulator).
 * The texts are owned by the arena. */
bool program_file_read(struct arena *a, const char *path,
		       struct program_file *out);

#endif
