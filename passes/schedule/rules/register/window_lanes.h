/* SPDX-License-Identifier: Apache-2.0 */
/* A contiguous axis whose elements are the lanes of a window's reduction. */
#ifndef TIRC_WINDOW_LANES_H
#define TIRC_WINDOW_LANES_H

#include "access_pattern.h"

enum { WINDOW_LEAST_LANES = 4 };

/* The iter var that indexes the last dimension of the store; -1: its lanes
 * would not be contiguous, or are few. */
int window_find_lanes(struct rules *r, const struct block_access *x);

#endif
