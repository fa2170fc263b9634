/* SPDX-License-Identifier: Apache-2.0 */
/* Loop-carried values of buffers. */
#ifndef TIRC_CARRIED_H
#define TIRC_CARRIED_H

#include "access.h"

/* The outermost loop below top and around common that carries values of the
 * buffer from one iteration to the next; common if there is none. */
struct stmt *carried_scope(struct func *f, struct stmt *top,
			   struct stmt *common, const struct access_list *uses);

#endif
