/* SPDX-License-Identifier: Apache-2.0 */
/* What schedules and plans need to know of a target; templates/targets/. */
#ifndef TIRC_TARGET_H
#define TIRC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tensor_intrins;

/* Names of tensor intrinsics for sums that stay in registers: what adds
 * products to them, sets them to zero, and brings them to memory. NULL: there
 * are none. */
struct tile_intrins {
	const char *dot, *zero, *store;
};

/* Those by which the threads of a warp, or so many, multiply tiles in fragments:
 * what multiplies, sets the sums to zero, loads the operands and stores the sums,
 * from and to shared memory; whether operands of float32 are rounded to tf32. load
 * is NULL where operands are multiplied in shared memory. */
struct warp_intrins {
	const char *multiply, *zero, *load[2], *store;
	int threads; /* 0: those of a warp */
	bool tf32;
	int boxes; /* > 0: operands lie as copies of boxes leave them, of
		      * arrays with steps of multiples of so many bytes */
};

struct target {
	const char *name;
	const char *dialect;
	int vector_bytes; /* of one register; 0: none */
	int vector_registers;
	bool scalar_accumulators; /* sums in one variable, never in arrays */
	bool without_fma; /* a product and its sum are two instructions */
	int block_elems;  /* channels of one block in memory; 0: no blocks */
	int byte_block_elems, brain_block_elems; /* of those of one byte, and of
				* bfloat16 */
	/* The tensor intrinsic that sums products of bytes, or ""; whether it
	 * wants unsigned data by signed weights. */
	const char *byte_dot;
	bool unsigned_bytes;
	bool signed_bytes; /* products of bytes are of signed ones */
	/* Those that do so for a tile of rows and columns. Rows and bytes of a
	 * row that one call takes at most: all rows up to half as many, even
	 * numbers beyond. */
	struct tile_intrins byte_tile, brain_tile; /* of bytes, of bfloat16 */
	int tile_rows, tile_bytes;
	struct tensor_intrins *intrins; /* where it is found, or NULL */
	const char *vectors; /* types to compute with, "float32x16 float32x8",
			       * best first; or "" */
	bool byte_vectors;   /* bytes are widened to vectors of 32-bit integers,
			       * and these scaled and made bytes */
	bool fmax_vectors;   /* the dialect has vectors for fmax */
	/* Iterations of the longest loop that the compiler writes out before it
	 * looks for vectors: 0 where vectors do not depend on its finding
	 * them. */
	int written_out;
	int64_t l1_bytes, l2_bytes;
	int prefetch_bytes; /* that one prefetch brings; 0: none is written */
	/* Threads that share loops: what a schedule reckons with, whatever there
	 * will be; 0: none. A core's operations and bytes per nanosecond, from
	 * memory and from its second cache, and what starting and ending a loop
	 * with threads costs. */
	int cores;
	int core_gflops, core_gbytes, cache_gbytes, fork_ns;
	int64_t stack_limit_bytes; /* larger local arrays go to the workspace */
	int align_bytes;           /* of the workspace and of weights */
	bool align_tensors; /* and of each tensor: no addresses in between */
	/* Widths of the compiler's int and char, bytes of its largest object; 0:
	 * as the dialect says. */
	int int_bits, char_bits;
	int64_t object_bytes;
	int max_threads;      /* of a block; 1: cores that compute in vectors;
			       * 0: not known, or no device */
	int64_t shared_bytes; /* that the threads of a block share */
	const struct warp_intrins *tensor_products; /* best first */
	int n_tensor_products;
	bool tf32;        /* those that round to tf32 may be used */
	int warp_size;    /* threads that exchange values without memory;
			       * 0: none do */
	int async_stages; /* tiles that copies which arrive later fill; 0: none
			       * such */
	int units;        /* that run blocks, at least one each; or 0 */
	bool typed_workspace; /* an array for each type, so that no element is
			       * ever of another one */
	bool loose_weights;   /* arrays of weights start where elements may */
	bool interface_apart; /* the caller's arrays are in another memory than
			       * the workspace: no function takes both */
	const char *cc;       /* the suggested compiler line */
	const char *cflags;
	const char *ldflags;         /* what linking it needs, or "" */
	const char *device_cflags;   /* for the compiler of a device, which the
				    * model calls itself; or "" */
	const char *const *reserved; /* words that no name may be, sorted */
	int n_reserved;
	bool optimize_memory;     /* --optimize memory (else speed) */
	const char *fp;           /* "default", or the mode of --fp */
	const char *fp_cflags[2]; /* of "strict" and "fast"; NULL: not there */
};

/* Bytes that a thread of a device loads or stores at once, at most; 0: it is no
 * such device, or they are not known. */
static inline int
target_wide_bytes(const struct target *t)
{
	return t->max_threads > 1 ? t->vector_bytes : 0;
}

/* Threads of a block that run together; where they exchange nothing, as many as
 * most devices have. */
static inline int
target_warp(const struct target *t)
{
	return t->warp_size > 1 ? t->warp_size : 32;
}

/* Are loops over lanes made vectors, by tirc or by the compiler? */
static inline bool
target_has_vectors(const struct target *t)
{
	return t->written_out > 0 ||
	       (t->vectors != NULL && t->vectors[0] != '\0');
}

#endif
