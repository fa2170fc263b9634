/* SPDX-License-Identifier: Apache-2.0 */
/* Which loops carry the values of a buffer from one iteration to the next. */
#ifndef TIRC_CARRIED_H
#define TIRC_CARRIED_H

#include "access.h"

/* common, or the outermost loop around it (below top) that carries the
 * values of the buffer from one iteration to the next. */
struct stmt *carried_scope(struct func *f, struct stmt *top,
			   struct stmt *common, const struct access_list *uses);

#endif
