/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels within a function: nests whose outermost loop is bound to threads.
 * After the pass "threads" the loops of one kernel are a chain, blockIdx.z, y,
 * x, then threadIdx.z, y, x, those that it uses, with nothing in between but
 * the allocation of what the threads of a block share. */
#ifndef TIRC_THREAD_LOOPS_H
#define TIRC_THREAD_LOOPS_H

#include "access.h"

enum {
	TAG_BLOCK_Z,
	TAG_BLOCK_Y,
	TAG_BLOCK_X,
	TAG_THREAD_Z,
	TAG_THREAD_Y,
	TAG_THREAD_X,
	TAG_COUNT,
	TAG_VIRTUAL, /* "vthread…": not of the hardware */
	TAG_UNKNOWN
};

const char *tag_name(int tag);
int tag_of_name(const char *thread);
/* What the loop is bound to; -1 if it is no thread loop. */
int tag_of(const struct stmt *s);
bool tag_is_thread(int tag); /* threadIdx.* */

/* A note on an ALLOC: calls that are given the address of an element touch only
 * what has its index in all dimensions but the last so many. */
#define ADDRESS_INNER_DIMS "address_inner_dims"

struct stmt_vec {
	VEC(struct stmt *) list;
};

/* The outermost thread-bound loops of f, in program order. */
void threads_kernels(struct func *f, struct stmt_vec *out);
/* Scopes of buffers. */
bool buffer_is_shared(const struct buffer *b);
bool buffer_is_private(const struct buffer *b); /* of one thread */
/* Tiles that the threads of a warp hold together; each has its part. What
 * they hold is for calls that are given a tile's address. */
bool buffer_is_fragment(const struct buffer *b);
/* The value that a store gets from other threads of its warp, or NULL. */
const struct expr *stmt_shuffle(const struct stmt *s);
/* What stands inside the chain of a lowered kernel's thread loops; loops[tag]
 * is the loop or NULL. */
struct stmt *threads_body(struct stmt *kernel, struct stmt **loops);
/* Does e differ from thread to thread of a block? loops: threadIdx ones and
 * LETs around at are looked at. */
bool expr_is_uniform(const struct expr *e, const struct stmt *at);

#endif
