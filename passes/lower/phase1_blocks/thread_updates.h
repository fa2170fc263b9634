/* SPDX-License-Identifier: Apache-2.0 */
/* A check that the pass `threads` makes. */
#ifndef TIRC_THREAD_UPDATES_H
#define TIRC_THREAD_UPDATES_H

#include "func.h"

/* False after an error: two threads of a block certainly add to the same
 * element of a shared or global buffer. kernel: the outermost of the kernel's
 * thread loops, which must be a chain. */
bool threads_update_apart(struct func *f, struct stmt *kernel);

#endif
