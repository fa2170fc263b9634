/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about a target that schedules and plans use, read from the files of
 * templates/targets/. */
#ifndef TIRC_TARGET_H
#define TIRC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target_facts.h"

struct requirement;
struct tensor_intrins;

/* An instruction that multiplies and adds, sums += a * b, given by the names of
 * its tensor intrinsics. The descriptions of these tell which types the
 * instruction takes, how large its operands are, and which threads execute it;
 * product_instr.h reads them. */
struct product_instr {
	const char *multiply; /* the intrinsic that adds products to the sums */
	/* If the sums are in a tile or a fragment: the intrinsics that fill the
	 * tile or fragment with zeros, and that store it to memory. NULL if the
	 * sums are an array of the program. */
	const char *fill, *store;
	/* The intrinsics that load the operands into fragments. NULL if the
	 * instruction reads its operands from memory. */
	const char *load[2];
};

/* The simulator that executes a target's programs on a machine without the
 * target's processor. */
struct simulator {
	/* the command that is put before the program's name; NULL if there is
	 * no simulator */
	const char *command;
	const char *argument; /* the option before the program's arguments */
	/* the Debian package with the simulator, or NULL */
	const char *package;
	const char *const *runtime; /* the files of runtime-c/ that programs
				     * need */
	int n_runtime;
	const char *ldflags;
	/* the file of examples/firmware/ that describes the toolchain; "":
	 * there is none */
	const char *toolchain;
};

struct target {
	const char *name;
	const char *dialect;
	/* the size of one vector register in bytes; 0: the target has no
	 * vectors */
	int vector_bytes;
	int vector_registers; /* their number */
	/* a sum is kept in one scalar variable, never in an array */
	bool scalar_accumulators;
	bool without_fma; /* the target has no fused multiply-add */
	/* the number of channels in a channel block of a tensor; 0: channels
	 * are not in blocks */
	int block_elems;
	const struct product_instr *products; /* best first */
	int n_products;
	/* Compilers make instructions for dot products of loops that sum
	 * products of numbers next to each other: signed bytes are multiplied
	 * by unsigned bytes (dot_loops 8) or by 16-bit numbers (16). 0:
	 * compilers make no such instructions */
	int dot_loops;
	bool tf32; /* products may round float32 operands to tf32 */
	/* The zero points of 8-bit tensors inside a graph are moved by 128, so
	 * that their type is signed or unsigned, as the first 8-bit product
	 * instruction requires. */
	bool shift_zero_points;
	/* the target's tensor intrinsics, including those of its product
	 * instructions; or NULL */
	struct tensor_intrins *intrins;
	/* the vector types in which loops compute, the preferred first */
	struct dtype_list vectors;
	/* vectors of bytes can be widened to vectors of 32-bit integers, and
	 * such vectors can be scaled and narrowed to bytes */
	bool byte_vectors;
	bool fmax_vectors; /* the dialect has fmax for vectors */
	/* the dialect converts vectors of 16-bit floats to float32 */
	bool half_vectors;
	/* Before it vectorizes, the compiler completely unrolls loops of at
	 * most this many iterations; 0 if the emitted code has explicit
	 * vectors. */
	int complete_unroll;
	/* Sizes of the data caches, by which schedule rules size tiles.
	 * gen/dialect/target.def lists the code that reads them. */
	int64_t l1_bytes, l2_bytes;
	/* the number of bytes that one prefetch loads; 0: no prefetches are
	 * emitted */
	int prefetch_bytes;
	/* For parallel loops: the number of cores that schedules assume (0: no
	 * parallel loops); operations per nanosecond of a core; bytes per
	 * nanosecond that a core gets from memory, and from the second-level
	 * cache; the time to start and end a parallel loop. */
	int cores;
	int core_gflops, core_gbytes, cache_gbytes, fork_ns;
	/* local arrays that are larger are put in the workspace */
	int64_t stack_limit_bytes;
	int align_bytes; /* the alignment of the workspace and of weights */
	/* each tensor in the workspace has the alignment align_bytes, too */
	bool align_tensors;
	/* The widths of the compiler's int and char in bits, and the size of
	 * its largest object in bytes; 0: as the dialect says. */
	int int_bits, char_bits;
	int64_t object_bytes;
	/* the largest number of threads in a thread block; 1 for cores that
	 * compute with vectors; 0 if it is not known, or if the target is not a
	 * device */
	int max_threads;
	/* the size of the shared memory of a thread block */
	int64_t shared_bytes;
	/* the number of threads of a thread block if no rule chooses one; 0:
	 * max_threads */
	int block_threads;
	/* the largest number of thread blocks along the second and the third
	 * axis of a grid; 0: no limit */
	int max_blocks;
	/* If a thread has at least this many registers, the next tiles of
	 * operands are copied through registers while the current tiles are
	 * used; 0: tiles are never copied ahead. */
	int copy_ahead_registers;
	/* strides of arrays that the TMA (the unit that copies boxes of
	 * tensors) reads must be multiples of this number of bytes; 0: the
	 * target has no TMA */
	int box_bytes;
	/* Alignments of arrays in shared memory: of arrays whose address an
	 * instruction takes, and of arrays that the TMA fills; 0: what struct
	 * target_facts says for 0. */
	int shared_align_bytes, box_align_bytes;
	/* the number of threads that execute in lockstep; ignored if warp_size
	 * is above 1 */
	int warp_threads;
	/* the number of threads that can exchange values without memory; 0 if
	 * threads cannot */
	int warp_size;
	/* the number of shared-memory tiles that asynchronous copies fill in
	 * turn; 0: the target has no asynchronous copies */
	int async_stages;
	/* the number of multiprocessors, each of which runs at least one thread
	 * block; 0 if the number is not known */
	int units;
	bool single_exit; /* the entry function must return only at its end */
	/* the workspace has an array for each element type, so that no memory
	 * is used with two types */
	bool typed_workspace;
	bool loose_weights; /* arrays of weights have only the alignment of
			     * their elements */
	/* the caller's arrays are in a different memory than the workspace: a
	 * parameter of a function then always points to the same one of the two
	 * memories */
	bool interface_apart;
	/* What the emitted sources assume about the target; NULL if they assume
	 * nothing. */
	const struct requirement *relies_on;
	const char *cc; /* the suggested command line of the compiler */
	/* the Debian package with the compiler, or NULL */
	const char *cc_package;
	const char *cflags;
	const char *ldflags;       /* options for linking, or "" */
	const char *device_cflags; /* options for the device compiler that the
				    * model calls at run time, or "" */
	struct simulator simulator;
	const char *const *reserved; /* words that must not be used as names,
				      * sorted */
	int n_reserved;
	/* tensors have no borders in memory: instead, a kernel that reads
	 * beyond an edge first copies the rows that it reads, together with a
	 * border */
	bool copied_borders;
	const char *goal; /* the word of --optimize; NULL: "speed" */
	/* true with --optimize memory */
	bool optimize_memory;
	/* the source marks short helpers so that the C compiler inlines every
	 * call of a helper */
	bool inlines_helpers;
	/* the compiler's options for the goals "speed" (these are a part of
	 * cflags), "balanced" and "size"; NULL for a goal for which the target
	 * has no options */
	const char *goal_cflags[3];
	const char *fp; /* the mode of --fp, or "default" */
	/* the compiler's options for the modes "strict" and "fast"; NULL if the
	 * target does not have the mode */
	const char *fp_cflags[2];
};

/* The size of the largest load or store of a device's thread; 0 if the target
 * is not a device, or the size is not known. */
static inline int
target_wide_bytes(const struct target *t)
{
	return t->max_threads > 1 ? t->vector_bytes : 0;
}

/* The number of threads of a thread block if no rule chooses one. */
static inline int
target_block_threads(const struct target *t)
{
	return t->block_threads > 0 && t->block_threads < t->max_threads
		       ? t->block_threads
		       : t->max_threads;
}

/* Can a grid have `blocks` thread blocks along its second or third axis? */
static inline bool
target_takes_blocks(const struct target *t, int64_t blocks)
{
	return t->max_blocks == 0 || blocks <= t->max_blocks;
}

/* The number of threads that execute together: a warp. */
static inline int
target_warp(const struct target *t)
{
	return t->warp_size > 1 ? t->warp_size : t->warp_threads;
}

/* Are loops over lanes vectorized, by tirc or by the compiler? */
static inline bool
target_has_vectors(const struct target *t)
{
	return t->complete_unroll > 0 || t->vectors.n > 0;
}

#endif
