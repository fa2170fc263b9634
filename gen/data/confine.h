/* SPDX-License-Identifier: Apache-2.0 */
/* Confines a program that was built from a stranger's model: its files, its system
 * calls, its memory. The emitted source is proven to stay within its arrays;
 * this limits a program that does not.
 *
 * On Linux: limits of resources; Landlock, which refuses files and TCP ports; a
 * filter of system calls (seccomp) on x86-64 and AArch64. On other systems
 * nothing. docs/explanation/security.md tells users. */
#ifndef TIRC_CONFINE_H
#define TIRC_CONFINE_H

#include "arena.h"

/* How a program is confined; as bits: what this machine can do. */
enum confine_part { CONFINE_FILES = 1, CONFINE_CALLS = 2 };

/* Paths are absolute, or relative to the folder in which the program runs. A
 * path that does not exist is left out. */
struct confinement {
	const char *program; /* the file that is executed */
	const char *loader;  /* its dynamic loader, or NULL */
	/* files and folders that it may read, besides those of the system */
	VEC(const char *) reads;
	VEC(const char *) writes; /* existing files that it may write */
	/* folders in which it may make, read, write and remove files */
	VEC(const char *) scratch;
	/* limit of its memory, and of each file that it writes */
	int64_t bytes;
	/* It is built with sanitizers, which map terabytes, may execute the
	 * program anew, and trace it by a process of their own. */
	bool sanitized;
	bool required; /* the program is not started unless all parts hold */
};

/* Bits of enum confine_part. */
int confine_available(void);

/* The call of execve() that is to start the program. */
struct confined_start {
	const char *path;
	char *const *argv, *const *env;
};

/* Confines this process, which has one thread and must then start the program
 * by exactly this call: each other execve() is refused. Descriptors above 2 are
 * closed by it. Allocates nothing. NULL, or the part that failed, with errno;
 * unless `required`, no part fails. */
const char *confine_enter(const struct confinement *c,
			  const struct confined_start *start);

#endif
