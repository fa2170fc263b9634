/* SPDX-License-Identifier: Apache-2.0 */
/* Weights as initialisers, streamed into a file. */
#ifndef TIRC_ARRAYS_H
#define TIRC_ARRAYS_H

#include <stdio.h>

#include "dialect.h"
#include "kernel.h"
#include "package.h"

/* Writes every array of the program: its definition and its values. False: a
 * weight could not be computed (diagnosed), or *write_failed. */
bool arrays_write(struct program *p, const struct package *pkg, FILE *file,
		  uint64_t *digests, bool *write_failed);

#endif
