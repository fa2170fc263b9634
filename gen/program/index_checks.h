/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of a program that are certainly outside of their arrays. */
#ifndef TIRC_INDEX_CHECKS_H
#define TIRC_INDEX_CHECKS_H

#include "func.h"

/* Is no access of the lowered function outside of its buffer whenever the function
 * runs? False after an error; file is the program's, or NULL. */
bool program_check_indices(struct func *f, const char *file);

#endif
