/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of provenance. */
#ifndef TIRC_PROVENANCE_CONSTANTS_H
#define TIRC_PROVENANCE_CONSTANTS_H

#include "graph.h"

/* Each tensor that t is computed from and t itself, once each, what it is
 * computed from first. */
void constant_walk(struct arena *a, const struct tensor *t,
		   void (*visit)(void *ctx, struct arena *a,
				 const struct tensor *t),
		   void *ctx);

#endif
