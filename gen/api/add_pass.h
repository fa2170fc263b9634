/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined lowering passes: shared objects and programs. */
#ifndef TIRC_ADD_PASS_H
#define TIRC_ADD_PASS_H

#include "hooks.h"

/* Reads "PHASE:./object.so" or "PHASE:command". The object is opened at once,
 * the command is run for each function (through sh -c), with TVMScript on its
 * standard input and output. False after a diagnostic. */
bool add_pass_open(struct module *m, const char *text, struct user_pass *out);
/* Releases the resources of add_pass_open. */
void add_pass_close(struct user_pass *pass);

#endif
