/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a text file as a whole. */
#ifndef TIRC_SOURCE_LOAD_H
#define TIRC_SOURCE_LOAD_H

#include "python.h"

/* "-" is the standard input. The text goes into m's arena. False after a
 * diagnostic. */
bool source_load(struct module *m, const char *path, struct source *out);

#endif
