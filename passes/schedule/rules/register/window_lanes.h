/* SPDX-License-Identifier: Apache-2.0 */
/* A contiguous axis whose elements are the lanes of a window's reduction. */
#ifndef TIRC_WINDOW_LANES_H
#define TIRC_WINDOW_LANES_H

#include "access_pattern.h"

enum { WINDOW_LEAST_LANES = 4 };

/* The index of the iter var that is the last index of the store, as the axis of
 * lanes; -1: the lanes along it are not contiguous, or are too few. */
int window_find_lanes(struct rules *r, const struct block_access *x);
/* The number of results that fill a vector, but at least WINDOW_LEAST_LANES. */
int64_t window_vector(const struct rules *r, const struct block_access *x);
/* The number of lanes for an axis: its whole extent if that is at most two
 * vectors; else one or two vectors, if their lanes divide the extent; else a
 * divisor of the extent from three quarters of a vector to two vectors; else
 * one vector, so that a remainder is left. */
int64_t window_lanes(int64_t extent, int64_t vector);
/* Splits the loop of the lane axis: split[1] becomes the loop over the lanes,
 * split[0] the one around it, or 0 if the lanes are the whole axis. False after
 * a failure. */
bool window_split(struct rules *r, const struct block_access *x, int lane,
		  int loop, int64_t lanes, int *split);
/* Makes the loop that drives the lane axis, which is inside of the loop `at`,
 * innermost, and sets *lane_loop to it. False after a failure. */
bool window_lane_innermost(struct rules *r, int reduction, int lane, int at,
			   int *lane_loop);

#endif
