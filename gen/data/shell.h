/* SPDX-License-Identifier: Apache-2.0 */
/* Running a user's command. */
#ifndef TIRC_SHELL_H
#define TIRC_SHELL_H

#include "arena.h"

/* Runs the command by sh -c in the folder (NULL: the current one) with the text
 * as standard input, and appends its standard output to out. Its standard error
 * is inherited. status: of waitpid. False: it cannot be run. */
bool shell_run(const char *folder, const char *command, const char *text,
	       size_t length, struct strbuf *out, int *status);
/* In a forked child before exec: restores the default signal handling. */
void shell_child(void);

#endif
