/* SPDX-License-Identifier: Apache-2.0 */
/* Values of buffers that an iteration of a loop leaves for the next one. */
#ifndef TIRC_CARRIED_H
#define TIRC_CARRIED_H

#include "access.h"

/* uses: the accesses of a buffer; common: the lowest common ancestor of them.
 * Returns the outermost loop below top and around common whose iterations use
 * values that earlier ones stored, so that the buffer must be allocated outside
 * of it; common if there is no such loop. */
struct stmt *carried_scope(struct func *f, struct stmt *top,
			   struct stmt *common, const struct access_list *uses);

#endif
