/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the user's, over text. */
#ifndef TIRC_SHELL_H
#define TIRC_SHELL_H

#include "arena.h"

/* Runs the command through sh -c, in the folder (NULL: this one), with the
 * text on its standard input; what it writes there is appended to out. Its
 * messages go where ours go. status: of waitpid. False: it cannot be run. */
bool shell_run(const char *folder, const char *command, const char *text,
	       size_t length, struct strbuf *out, int *status);
/* In a forked child, before it becomes another program: signals are as a shell
 * has them, whatever this process does with them. */
void shell_child(void);

#endif
