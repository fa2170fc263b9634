/* SPDX-License-Identifier: Apache-2.0 */
/* The standard output of another program. */
#ifndef TIRC_PROGRAM_OUTPUT_H
#define TIRC_PROGRAM_OUTPUT_H

#include "arena.h"

/* Runs argv (ends with NULL), which is looked for in PATH, without a shell and
 * without standard input, and appends its standard output to out; its messages
 * are dropped. Returns its exit status, 128 and the signal's number if a signal
 * ended it, or -1: it cannot be started. */
int program_output(const char *const *argv, struct strbuf *out);

#endif
