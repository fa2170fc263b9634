/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that each compute a few elements of a block. */
#ifndef TIRC_ELEMENT_THREADS_H
#define TIRC_ELEMENT_THREADS_H

#include "kernel_blocks.h"

/* element_threads.c: binds one thread to each iteration of the block's spatial
 * loops; *thread: the loop over the threads of a thread block. False after a
 * failure. */
bool rules_bind_element_threads(struct rules *r, int block, int *thread);
/* element_threads.c: binds a thread to each iteration of the loop; *thread: the
 * loop over the threads of a thread block. False after a failure. */
bool rules_bind_threads(struct rules *r, int loop, int *thread);
/* Describes the nests that rules have bound to threads of single elements. */
void rules_describe_threads(struct rules *r);
/* The only block that reads the block's output, if it reads only the element at
 * the values of its own axes: the sums can then stay in variables. 0: there is
 * no such block. */
int rules_sole_epilogue(struct rules *r, int block);

/* access_width.c: how many consecutive elements along axis `iter` one access of
 * a thread may load (with `stores`, also store); 1: each access takes one
 * element. */
int64_t rules_access_width(struct rules *r, int block, int iter, bool stores);
/* How many consecutive elements along all axes of an elementwise block,
 * flattened, one access of a thread may have; 1 if a load does not have the
 * indices of the store. */
int64_t rules_flat_access_width(struct rules *r, int block);

#endif
