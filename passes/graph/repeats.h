/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of which kernels read each element once: see repeats.c. */
#ifndef TIRC_GRAPH_REPEATS_H
#define TIRC_GRAPH_REPEATS_H

#include "rewrite.h"

/* Do the group's kernels read the input of t's tirc.Repeat in place of t? */
bool group_reads_once(const struct group *group, const struct tensor *t);

#endif
