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

#endif
