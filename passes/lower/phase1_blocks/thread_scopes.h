/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and kernels of the pass `threads`. */
#ifndef TIRC_THREAD_SCOPES_H
#define TIRC_THREAD_SCOPES_H

#include "iterate.h"

/* Gives each buffer that threads use its memory: private to a thread, shared by the
 * threads of a block, or global. False after a diagnostic, if blocks of threads would
 * have to exchange data in shared memory. */
bool threads_choose_scopes(struct func *f);
/* What becomes a kernel: each outermost thread loop; but all of the statements that use
 * one shared or local buffer, which does not outlive a kernel, are one. */
struct stmt_list threads_roots(struct func *f);

#endif
