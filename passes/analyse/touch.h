/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of memory that several threads see a statement touches, and
 * whether two of them may meet in one element from different threads. */
#ifndef TIRC_TOUCH_H
#define TIRC_TOUCH_H

#include "thread_loops.h"

struct touch {
	const struct buffer *buffer;
	struct stmt *at;
	const struct expr *const *index;
	int dims; /* how many of the index are told; of others, any */
	bool writes;
	bool arrives; /* what was written before; to whoever writes, nothing */
};

struct touches {
	VEC(struct touch) list;
};

/* A kernel as the questions need it. */
struct touch_kernel {
	struct func *func;
	struct stmt *loops[TAG_COUNT];
	VEC(const struct buffer *) written; /* outside of shared memory */
	/* The two touches that are looked at are of the element that one
	 * statement updates. */
	bool same_element;
};

void touch_kernel_init(struct touch_kernel *k, struct func *f,
		       struct stmt *kernel);
/* What the statement itself touches, its children left out. */
void touch_collect(struct touch_kernel *k, struct stmt *s, struct touches *out);

enum meeting {
	MEET_NEVER,
	MEET_SHARED, /* in shared memory */
	MEET_GLOBAL  /* in memory of the device */
};

/* May two threads of a block meet, one of them writing? The first list comes
 * before the second, in the same iteration of what is around scope; if
 * scope is a loop, in an earlier iteration of it. */
enum meeting touches_meet(struct touch_kernel *k, const struct touches *a,
			  const struct touches *b, const struct stmt *scope);

#endif
