/* SPDX-License-Identifier: Apache-2.0 */
/* Finds accesses of a program that are surely outside of their arrays. */
#ifndef TIRC_INDEX_CHECKS_H
#define TIRC_INDEX_CHECKS_H

#include "func.h"

/* Returns false after an error if an access of the lowered function is outside
 * of its buffer in every run. file: the program's path for messages, or NULL. */
bool program_check_indices(struct func *f, const char *file);

#endif
