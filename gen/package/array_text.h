/* SPDX-License-Identifier: Apache-2.0 */
/* Writes weights as initialisers into a file. */
#ifndef TIRC_ARRAY_TEXT_H
#define TIRC_ARRAY_TEXT_H

#include <stdio.h>

#include "dialect.h"
#include "kernel.h"
#include "package.h"

/* Writes the definitions of all weights with their values, and sets digests[i]
 * to the digest of weight i. Returns false after a diagnostic if a weight
 * cannot be computed or the file becomes larger than most_bytes. If writing
 * fails, sets *write_failed and returns false without a diagnostic. */
bool arrays_write(struct program *p, const struct package *pkg, FILE *file,
		  int64_t most_bytes, uint64_t *digests, bool *write_failed);

#endif
