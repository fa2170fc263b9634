/* SPDX-License-Identifier: Apache-2.0 */
/* Confines a program that was built from a stranger's model: its files, its
 * system calls, its memory. The emitted source is proven to stay within its
 * arrays; the confinement limits the damage if a program does not.
 *
 * On Linux: limits of resources; Landlock, which refuses files and TCP ports; a
 * filter of system calls (seccomp) on x86-64 and AArch64. On other systems
 * nothing is confined. docs/explanation/security.md tells users about it. */
#ifndef TIRC_CONFINE_H
#define TIRC_CONFINE_H

#include "arena.h"

/* How a program is confined; as bits: what this machine can do. */
enum confine_part { CONFINE_FILES = 1, CONFINE_CALLS = 2 };

/* Paths are absolute, or relative to the folder in which the program runs. A
 * path that does not exist is left out. */
struct confinement {
	const char *program; /* the file that is executed */
	const char *loader;  /* the dynamic loader of the program, or NULL */
	/* files and folders that the program may read, in addition to those of
	 * the system */
	VEC(const char *) reads;
	/* existing files to which the program may write */
	VEC(const char *) writes;
	/* folders in which the program may make, read, write and remove
	 * files */
	VEC(const char *) scratch;
	/* limit of the program's memory, and of each file that it writes */
	int64_t bytes;
	/* The program is built with sanitizers, which map terabytes, may
	 * execute the program a second time, and trace it from a process of
	 * their own. */
	bool sanitized;
	/* the program is not started unless all parts of the confinement can be
	 * applied */
	bool required;
};

/* Bits of enum confine_part. */
int confine_available(void);

/* The call of execve() that is to start the program. */
struct confined_start {
	const char *path;
	char *const *argv, *const *env;
};

/* Confines this process. The process must have only one thread, and must then
 * start the program by exactly this call of execve(): any other one is refused,
 * and descriptors above 2 are closed by it. Allocates nothing. Returns NULL, or
 * the part that failed, with errno; a part that fails is ignored unless
 * c->required is set. */
const char *confine_enter(const struct confinement *c,
			  const struct confined_start *start);

#endif
