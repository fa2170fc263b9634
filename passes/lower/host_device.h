/* SPDX-License-Identifier: Apache-2.0 */
/* Host/device split: a lowered function with nests bound to threads becomes
 * one kernel per nest and a host function that launches them.
 *
 *	def vector_add(A, B, C, n):              def vector_add(A, B, C, n):
 *	    for bx in thread(n // 32, "blockIdx.x"):  launch("vector_add_kernel",
 *	        for tx in thread(32, "threadIdx.x"):->    n // 32, 1, 1, 32, 1, 1,
 *	            C[bx * 32 + tx] = ...                 A, B, C, n)
 *
 * A kernel keeps its thread loops, blockIdx outermost: it is an ordinary
 * function to the interpreter; the emitter spells the loops as indices. */
#ifndef TIRC_HOST_DEVICE_H
#define TIRC_HOST_DEVICE_H

#include "func.h"

struct name_set;

/* What a device allows; 0: not known, not checked. */
struct device_limits {
	int max_threads;      /* of a block */
	int64_t shared_bytes; /* of a block */
};

/* Extents along x, y, z; expressions of the host's parameters and of what is
 * bound around the launch. */
struct launch {
	struct func *kernel;
	const struct expr *grid[3], *block[3];
	int64_t shared_bytes; /* of the kernel's shared arrays */
};

struct host_device {
	struct func *host;       /* same parameters as the function split */
	struct launch *launches; /* one per kernel, in program order */
	int n_launches;
};

/* Has f loops that are bound to threads? */
bool lower_has_threads(const struct func *f);
/* Is f a kernel, made by the split? Its "calling_conv" is 2, as in TVM. */
bool lower_is_kernel(const struct func *f);

/* The place of a shared array of a kernel in memory that has all of them, in
 * bytes; with NULL, how many there are. Each starts where it wants to, but at
 * a multiple of 16. */
int64_t lower_shared_place(const struct func *kernel, const struct buffer *b);

/* Splits f, lowered by lower_func and left as it was. Kernels are called
 * f's name + "_kernel" (+ a number where there are several), or, with names
 * (NULL: none), f's own name and others like it that are free; they and the
 * host function, which takes f's place, are added to the module. Buffers that
 * live from one kernel to the next become parameters of the host function,
 * behind the others: the caller provides the memory. Reports what stands
 * outside of threads but touches buffers, or goes beyond limits (may be NULL),
 * and returns false. */
bool lower_split_host_device(struct module *m, struct func *f,
			     const struct device_limits *limits,
			     struct name_set *names, struct host_device *out);

#endif
