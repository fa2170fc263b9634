/* SPDX-License-Identifier: Apache-2.0 */
/* Writes weights as initialisers into a file. */
#ifndef TIRC_ARRAYS_H
#define TIRC_ARRAYS_H

#include <stdio.h>

#include "dialect.h"
#include "kernel.h"
#include "package.h"

/* Writes the definition and the values of every array of the program. False if
 * a weight cannot be computed or the file gets more than most_bytes (both
 * diagnosed), or if writing failed (*write_failed). */
bool arrays_write(struct program *p, const struct package *pkg, FILE *file,
		  int64_t most_bytes, uint64_t *digests, bool *write_failed);

#endif
