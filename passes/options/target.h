/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a target that schedules and plans use; templates/targets/ has the
 * files. */
#ifndef TIRC_TARGET_H
#define TIRC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target_facts.h"

struct requirement;
struct tensor_intrins;

/* An instruction that multiplies and adds: sums += a * b, by the names of tensor
 * intrinsics. Their descriptions say which types it takes, how large its
 * operands are, and who executes it; product_instr.h reads them. */
struct product_instr {
	const char *multiply; /* adds products to the sums */
	/* For sums in a tile or a fragment: the intrinsics that fill it with
	 * zeros and store it to memory. NULL: the sums are an array of the
	 * program. */
	const char *fill, *store;
	/* The intrinsics that load the operands into fragments. NULL: the
	 * instruction reads its operands from memory. */
	const char *load[2];
};

/* What executes a target's programs where its processor is not. */
struct simulator {
	const char *command;  /* before the program's name; NULL: none */
	const char *argument; /* the option before the program's arguments */
	const char *package;  /* of Debian, or NULL */
	const char *const *runtime; /* files of runtime-c/ */
	int n_runtime;
	const char *ldflags;
};

struct target {
	const char *name;
	const char *dialect;
	int vector_bytes; /* of one register; 0: no vectors */
	int vector_registers;
	bool scalar_accumulators; /* sums in one variable, never in arrays */
	bool without_fma; /* a product and its sum are two instructions */
	int block_elems;  /* channels of one block in memory; 0: no blocks */
	const struct product_instr *products; /* best first */
	int n_products;
	bool tf32; /* products may round operands of float32 to tf32 */
	/* Tensors of 8 bits inside a graph become signed or unsigned, as the
	 * first product of 8 bits needs: the zero point moves by 128. */
	bool shift_zero_points;
	struct tensor_intrins *intrins; /* where products are found, or NULL */
	struct dtype_list vectors;      /* types to compute with, best first */
	bool byte_vectors; /* bytes are widened to vectors of 32-bit integers,
			       * and these scaled and made bytes */
	bool fmax_vectors; /* the dialect has vectors for fmax */
	/* Iterations of the longest loop that the compiler writes out before it
	 * looks for vectors: 0 where vectors do not depend on its finding
	 * them. */
	int complete_unroll;
	int64_t l1_bytes, l2_bytes;
	int prefetch_bytes; /* that one prefetch brings; 0: no prefetches */
	/* For parallel loops: the number of cores that schedules assume (0: no
	 * parallel loops); per core, operations per nanosecond and bytes per
	 * nanosecond from memory and from its second cache; the cost of starting
	 * and ending a parallel loop. */
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
	int block_threads;    /* of a block where nothing else asks for a
			       * number; 0: max_threads */
	int max_blocks;       /* along the second and third axis of a grid; 0:
			       * any number */
	/* Registers of a thread from which on the next tiles of operands are
	 * copied, through registers, while these are used; 0: never. */
	int copy_ahead_registers;
	int box_bytes; /* strides of arrays that the unit for box copies reads
			* are multiples of it; 0: no such unit */
	/* Alignments of arrays in shared memory: of arrays whose address an
	 * instruction takes, and of arrays that the unit fills; 0: as in struct
	 * target_facts. */
	int shared_align_bytes, box_align_bytes;
	int warp_threads; /* threads that execute in lockstep, if warp_size is
			   * 0 */
	int warp_size;    /* threads that exchange values without memory; 0: no
			   * threads do */
	int async_stages; /* tiles that asynchronous copies fill in turn; 0: no
			   * asynchronous copies */
	int units;        /* that run blocks, at least one each; or 0 */
	bool single_exit; /* the entry function has no return but its last */
	bool typed_workspace; /* has an array for each type, so that memory
			       * never holds elements of another type */
	bool loose_weights;   /* arrays of weights have their elements'
			       * alignment */
	bool interface_apart; /* the caller's arrays are in another memory than
			       * the workspace: no function takes both */
	/* What its sources rely on; NULL: on nothing. */
	const struct requirement *relies_on;
	const char *cc;         /* the suggested compiler line */
	const char *cc_package; /* of Debian, or NULL */
	const char *cflags;
	const char *ldflags;       /* for linking, or "" */
	const char *device_cflags; /* for the compiler of a device, which the
				    * model calls itself; or "" */
	struct simulator simulator;
	const char *const *reserved; /* words that no name may be, sorted */
	int n_reserved;
	/* a kernel copies the rows that it reads, with a border, instead of a
	 * border in memory around each tensor */
	bool copied_borders;
	bool optimize_memory;     /* --optimize memory (else speed) */
	const char *fp;           /* "default", or the mode of --fp */
	const char *fp_cflags[2]; /* of "strict" and "fast"; NULL: no mode */
};

/* The largest load or store of a device's thread in bytes; 0: the target is no
 * device, or the size is not known. */
static inline int
target_wide_bytes(const struct target *t)
{
	return t->max_threads > 1 ? t->vector_bytes : 0;
}

/* Threads of a block where nothing else asks for a number. */
static inline int
target_block_threads(const struct target *t)
{
	return t->block_threads > 0 && t->block_threads < t->max_threads
		       ? t->block_threads
		       : t->max_threads;
}

/* Can a grid have so many blocks along its second or third axis? */
static inline bool
target_takes_blocks(const struct target *t, int64_t blocks)
{
	return t->max_blocks == 0 || blocks <= t->max_blocks;
}

/* Threads of a block that run together. */
static inline int
target_warp(const struct target *t)
{
	return t->warp_size > 1 ? t->warp_size : t->warp_threads;
}

/* Are loops over lanes made vectors, by tirc or by the compiler? */
static inline bool
target_has_vectors(const struct target *t)
{
	return t->complete_unroll > 0 || t->vectors.n > 0;
}

#endif
