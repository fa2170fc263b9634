/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels within a function: loop nests whose outermost loop is bound to
 * threads. After the pass `threads`, the thread loops of a kernel are a chain:
 * blockIdx.z, y, x, then threadIdx.z, y, x, as far as they are used, with only
 * allocations of shared memory in between.
 *
 * Loops of warps and of their threads have no tags of their own: a warp is the
 * threads of one index threadIdx.z and one index threadIdx.y, if the extent of
 * threadIdx.x is target_warp() (passes/options/target.h). The schedule rules
 * that bind loops to warps are tensor_core.c (make_loops: warps) and
 * row_reduction.c (threads_for, bind_stage: the threads of a row). Where a
 * reduction exchanges values within a warp is decided by cross_thread.c. */
#ifndef TIRC_THREAD_LOOPS_H
#define TIRC_THREAD_LOOPS_H

#include "access.h"
#include "iterate.h"

enum {
	TAG_BLOCK_Z,
	TAG_BLOCK_Y,
	TAG_BLOCK_X,
	TAG_THREAD_Z,
	TAG_THREAD_Y,
	TAG_THREAD_X,
	TAG_COUNT,
	TAG_VIRTUAL, /* "vthread…": a virtual thread */
	TAG_UNKNOWN
};

const char *tag_name(int tag);
int tag_of_name(const char *thread);
/* The tag of the thread loop s (its thread index); -1 if s is not bound to
 * threads. */
int tag_of(const struct stmt *s);
bool tag_is_thread(int tag); /* is the tag threadIdx.x, y or z? */

/* A note on an ALLOC, with a number n: a call that gets the address of an
 * element accesses only elements that have the same indices as this element in
 * all dimensions except the last n. */
#define ADDRESS_INNER_DIMS "address_inner_dims"

/* The outermost thread-bound loops of f, in program order. */
struct stmt_list threads_kernels(const struct func *f);
/* Questions about the scope of a buffer. */
bool buffer_is_shared(const struct buffer *b);
bool buffer_is_private(const struct buffer *b); /* private to one thread */
/* Is b a matrix fragment: a tile distributed over the registers of a warp,
 * which only tensor core instructions access? */
bool buffer_is_fragment(const struct buffer *b);
/* The call of a warp shuffle in the value that the statement stores; NULL if
 * the value contains none. */
const struct expr *stmt_shuffle(const struct stmt *s);
/* The body inside of a lowered kernel's chain of thread loops; loops[tag] is
 * the loop or NULL. */
struct stmt *threads_body(struct stmt *kernel, struct stmt **loops);
/* Has e provably the same value in all threads of a block? It must not contain
 * a load or a call of a function with an effect, or depend on the variables of
 * the threadIdx loops around `at`, directly or through LETs. */
bool expr_is_uniform(const struct expr *e, const struct stmt *at);

#endif
