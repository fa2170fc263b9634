/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined lowering passes, as shared objects or as commands. */
#ifndef TIRC_ADD_PASS_H
#define TIRC_ADD_PASS_H

#include "hooks.h"

/* Reads "PHASE:./object.so" or "PHASE:command". A shared object is opened now;
 * a command is run for each function (through sh -c), with TVMScript on its
 * standard input and output. False after a diagnostic. */
bool add_pass_open(struct module *m, const char *text, struct user_pass *out);
struct source;
/* Reads the functions of a text that a pass is to add. They are apart from the
 * functions of the module, which may have one of the same name. Returns the
 * first function; *made: the number of functions, -1 after a diagnostic. */
struct func *add_pass_read(struct module *m, const struct source *src,
			   int *made);
/* Releases what add_pass_open allocated or opened. */
void add_pass_close(struct user_pass *pass);

#endif
