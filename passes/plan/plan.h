/* SPDX-License-Identifier: Apache-2.0 */
/* The order of kernels, the places of tensors in memory, and the bytes of
 * constants. */
#ifndef TIRC_PLAN_H
#define TIRC_PLAN_H

#include "kernel.h"

/* Feeds the bytes of w in order, in chunks of bounded size, computing recipes
 * and layout as it goes; drops mapped pages behind itself. False: diagnosed. */
bool weight_stream(struct graph *g, const struct weight *w,
		   bool (*sink)(void *ctx, const void *bytes, size_t n),
		   void *ctx);

/* Chooses the order of kernels that lowers the peak, in place of
 * g's order (topological). */
void plan_order(struct program *p);
/* Places every tensor and scratch buffer. Uses kernel args' in_place, views
 * (groups with is_view), and, for constant batch-1 concatenations done as
 * views, offsets. */
bool plan_memory(struct program *p);
const struct placement *plan_find(const struct memory_plan *p,
				  const struct tensor *t);
/* Of a scratch argument of the kernel; NULL: none is planned. */
struct placement *plan_find_scratch(const struct memory_plan *p,
				    const struct kernel *k,
				    const struct buffer *scratch);

#endif
