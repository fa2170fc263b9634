/* SPDX-License-Identifier: Apache-2.0 */
/* Values of buffers that an iteration of a loop leaves for later iterations. */
#ifndef TIRC_CARRIED_H
#define TIRC_CARRIED_H

#include "access.h"

/* The outermost loop below top and around common whose iterations use values of
 * a buffer that earlier iterations stored, so that the buffer must be allocated
 * outside of the loop; `common` if there is no such loop. uses: the buffer's
 * accesses; common: their lowest common ancestor. */
struct stmt *carried_scope(struct func *f, struct stmt *top,
			   struct stmt *common, const struct access_list *uses);
/* The outermost loop below top, not of threads, and around common, or common itself,
 * whose iterations load elements of a buffer that they do not surely store before, so
 * that the buffer must be allocated outside of it; `common` if there is no such loop.
 * Buffers whose address is taken are left out. */
struct stmt *uncovered_scope(struct func *f, struct stmt *top,
			     struct stmt *common,
			     const struct access_list *uses);

#endif
