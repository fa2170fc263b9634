/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined lowering passes, as shared objects or as commands. */
#ifndef TIRC_ADD_PASS_H
#define TIRC_ADD_PASS_H

#include "hooks.h"

/* Reads "PHASE:./object.so" or "PHASE:command". A shared object is opened now;
 * a command is run for each function (through sh -c), with TVMScript on its
 * standard input and output. False after a diagnostic. */
bool add_pass_open(struct module *m, const char *text, struct user_pass *out);
/* Releases what add_pass_open allocated or opened. */
void add_pass_close(struct user_pass *pass);

#endif
