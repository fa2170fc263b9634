/* SPDX-License-Identifier: Apache-2.0 */
/* Host/device split: each loop nest bound to threads becomes a kernel, and the
 * function becomes host code that launches the kernels.
 *
 *	def vector_add(A, B, C, n):              def vector_add(A, B, C, n):
 *	    for bx in thread(n // 32, "blockIdx.x"):  launch("vector_add_kernel",
 *	        for tx in thread(32, "threadIdx.x"):->    n // 32, 1, 1, 32, 1, 1,
 *	            C[bx * 32 + tx] = ...                 A, B, C, n)
 *
 * A kernel keeps its thread loops, blockIdx outermost, so that the interpreter
 * runs it as an ordinary function; the emitter replaces the loops by the
 * built-in thread indices. */
#ifndef TIRC_HOST_DEVICE_H
#define TIRC_HOST_DEVICE_H

#include "func.h"

struct name_set;

/* Limits of a device; 0: the limit is not known, and is not checked. */
struct device_limits {
	/* the largest number of threads in a thread block */
	int max_threads;
	/* the largest number of bytes of shared memory for a thread block */
	int64_t shared_bytes;
};

/* One kernel launch. Grid and block extents along x, y, z are expressions over
 * the host's parameters and the variables in scope at the launch. */
struct launch {
	struct func *kernel;
	const struct expr *grid[3], *block[3];
	/* the size of the shared memory that a thread block uses */
	int64_t shared_bytes;
};

struct host_device {
	/* the function that launches the kernels; it has the parameters of the
	 * function that was split */
	struct func *host;
	struct launch *launches; /* one launch for each kernel, in program
				  * order */
	int n_launches;
};

/* Does f contain loops that are bound to thread indices? */
bool lower_has_threads(const struct func *f);
/* Is f a kernel that the host/device split made? Its "calling_conv" is 2, as in
 * TVM. */
bool lower_is_kernel(const struct func *f);

/* The byte offset of the shared array b in the kernel's block of shared memory;
 * if b is NULL, the size of that block in bytes. Each array starts at a
 * multiple of its own alignment and of 16 bytes. */
int64_t lower_shared_place(const struct func *kernel, const struct buffer *b);

/* Splits f, which lower_func has lowered; f itself is not changed. If names is
 * NULL, a kernel's name is f's name + "_kernel", from the second kernel on with
 * a number; else it is f's name, or an unused variation of it. The kernels and
 * the host function, which takes f's place, are added to the module. Global
 * arrays that several kernels access become parameters at the end of the host
 * function's signature: the caller provides the memory. False after an error: a
 * statement outside of thread loops accesses a buffer, or a kernel exceeds the
 * limits. limits may be NULL. */
bool lower_split_host_device(struct module *m, struct func *f,
			     const struct device_limits *limits,
			     struct name_set *names, struct host_device *out);

#endif
