/* SPDX-License-Identifier: Apache-2.0 */
/* The order of kernels, the memory plan, and the bytes of constants. */
#ifndef TIRC_PLAN_H
#define TIRC_PLAN_H

#include "kernel.h"

/* Passes the bytes of the weight w to sink in order, in chunks of bounded size.
 * The elements are computed while this is done, from the constants of the model
 * and the weight's layout; mapped pages of the model's file are released after
 * use. False after a diagnostic. */
bool weight_stream(struct graph *g, const struct weight *w,
		   bool (*sink)(void *ctx, const void *bytes, size_t n),
		   void *ctx);
/* Copies the bytes of w, which weight_stream() computes, to data. False after a
 * diagnostic, or if w has not exactly this number of bytes. */
bool weight_copy(struct graph *g, const struct weight *w, void *data,
		 size_t bytes);

/* Reorders the kernels if a search finds an order with a lower peak of live
 * memory than the present one; it need not be the lowest. The order stays if
 * the graph has branches or loops, or thousands of kernels. */
void plan_order(struct program *p);
/* Places every tensor and scratch buffer. Uses kernel_arg.in_place, views
 * (groups with is_view), and the offsets of concatenations without a copy
 * (tensor.part_of). */
bool plan_memory(struct program *p);
const struct placement *plan_find(const struct memory_plan *p,
				  const struct tensor *t);
/* The placement of the scratch array that is kernel k's parameter `scratch`;
 * NULL if it is not placed. */
struct placement *plan_find_scratch(const struct memory_plan *p,
				    const struct kernel *k,
				    const struct buffer *scratch);
/* After a run, are the elements of the tensor at this placement still in the
 * workspace, in row-major order without gaps? */
bool plan_is_left(const struct program *p, const struct placement *at);

/* By tensor id: a tensor for all tensors that have one place in memory because a
 * branch or a loop passes one on as the other: both results of an If and the value
 * after it; the first value of a loop's state, the value in an iteration, the next
 * one and the last one. Other tensors stand for themselves. */
int *plan_flow_roots(const struct graph *g);

#endif
