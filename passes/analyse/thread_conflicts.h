/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to memory shared by threads, and conflicts between accesses of
 * different threads. */
#ifndef TIRC_THREAD_CONFLICTS_H
#define TIRC_THREAD_CONFLICTS_H

#include "thread_loops.h"

struct thread_access {
	const struct buffer *buffer;
	struct stmt *at;
	const struct expr *const *index;
	/* the number of leading dimensions whose index is known; in the
	 * dimensions after these, any index may be accessed */
	int dims;
	bool writes;
	/* an async_wait, after which the data of earlier asynchronous writes
	 * has arrived; does not conflict with writes */
	bool arrives;
};

struct thread_accesses {
	VEC(struct thread_access) list;
};

/* A kernel that is checked for conflicts, and its thread loops by tag. */
struct conflict_kernel {
	struct func *func;
	struct stmt *loops[TAG_COUNT];
	/* the buffers outside of shared memory to which the kernel writes */
	VEC(const struct buffer *) written;
	/* Set by accesses_conflict for the pair of accesses that it compares:
	 * are both made by the same statement, with the same index
	 * expressions? */
	bool same_element;
};

void conflict_kernel_init(struct conflict_kernel *k, struct func *f,
			  struct stmt *kernel);
/* Adds to *out the accesses of the statement s itself, without those of its
 * children. */
void thread_access_collect(struct conflict_kernel *k, struct stmt *s,
			   struct thread_accesses *out);

/* For a call in `at` that gets the address of an element of b: the number of
 * leading dimensions in which the call accesses only elements that have the
 * same indices as this element. The number follows from the note
 * ADDRESS_INNER_DIMS on b's ALLOC. */
int address_dims(const struct stmt *at, const struct buffer *b);

enum conflict {
	CONFLICT_NONE,
	CONFLICT_SHARED, /* in shared memory */
	CONFLICT_GLOBAL  /* in global memory */
};

/* May two accesses of different threads conflict: access the same element, and
 * at least one writes it? The accesses in `a` come before those in `b`: in the
 * same iteration of the loops around `scope` and, if `scope` is a loop, in an
 * earlier iteration of it. */
enum conflict accesses_conflict(struct conflict_kernel *k,
				const struct thread_accesses *a,
				const struct thread_accesses *b,
				const struct stmt *scope);

#endif
