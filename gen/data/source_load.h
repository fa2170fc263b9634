/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a text file as a whole. */
#ifndef TIRC_SOURCE_LOAD_H
#define TIRC_SOURCE_LOAD_H

#include "python.h"

/* Reads the file into m's arena; "-" is the standard input. False after a
 * diagnostic. */
bool source_load(struct module *m, const char *path, struct source *out);

#endif
