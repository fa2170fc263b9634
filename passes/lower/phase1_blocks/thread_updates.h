/* SPDX-License-Identifier: Apache-2.0 */
/* A check of the pass threads. */
#ifndef TIRC_THREAD_UPDATES_H
#define TIRC_THREAD_UPDATES_H

#include "func.h"

/* Does no element of a shared or global buffer certainly get sums of two threads
 * of a block? If one does, that is reported. kernel: the outermost of its thread
 * loops, which are a chain. */
bool threads_update_apart(struct func *f, struct stmt *kernel);

#endif
