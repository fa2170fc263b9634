/* SPDX-License-Identifier: Apache-2.0 */
/* Constants whose elements repeat along a dimension, as those of an expanded
 * tensor do: each distinct element is stored once, and kernels read it at
 * computed indices. See repeats.c. */
#ifndef TIRC_REPEATS_H
#define TIRC_REPEATS_H

#include "rewrite.h"

/* The number of bytes of the constant t that are stored after the pass, if t's
 * readers allow it; if t has a recipe but no value, the size of t. */
int64_t constant_bytes_once(struct graph *g, const struct tensor *t);
/* The bytes of constants that a pass may compute to look for repeated
 * elements. */
int64_t constant_look_bytes(const struct graph *g);
/* Computes the value of t if it is likely that t repeats elements, and if
 * computing it takes at most *left bytes, which are then subtracted from *left.
 * False after a diagnostic. */
bool constant_look(struct graph *g, struct tensor *t, int64_t *left);
/* Is t the result of a tirc.Repeat whose smaller input the group's kernel reads
 * in place of t? */
bool group_reads_once(const struct group *group, const struct tensor *t);

#endif
