/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of provenance. */
#ifndef TIRC_PROVENANCE_CONSTANTS_H
#define TIRC_PROVENANCE_CONSTANTS_H

#include "graph.h"

/* Visits t and each tensor that t is computed from, each once, sources before
 * results. */
void constant_walk(struct arena *a, const struct tensor *t,
		   void (*visit)(void *ctx, struct arena *a,
				 const struct tensor *t),
		   void *ctx);

#endif
