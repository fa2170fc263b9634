/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of which kernels read each element once: see repeats.c. */
#ifndef TIRC_REPEATS_H
#define TIRC_REPEATS_H

#include "rewrite.h"

/* The bytes of the constant t that the pass leaves if its readers allow it; all,
 * if it has a recipe and no value. */
int64_t constant_bytes_once(struct graph *g, const struct tensor *t);
/* Computes the value of t if it is likely that elements are repeated. False:
 * diagnosed. */
bool constant_look(struct graph *g, struct tensor *t);
/* Do the group's kernels read the input of t's tirc.Repeat in place of t? */
bool group_reads_once(const struct group *group, const struct tensor *t);

#endif
