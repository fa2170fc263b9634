/* SPDX-License-Identifier: Apache-2.0 */
/* What tirc bisect needs of a context beside tirc.h. */
#ifndef TIRC_BISECTING_H
#define TIRC_BISECTING_H

#include "kernels.h"
#include "tirc.h"

/* Runs the passes over the graph of a loaded model, until so many of them ran; a
 * pass that repeats counts each time. Sets *names to the passes that ran, in
 * order. Returns how many; -1 after a message. tirc_interpret() then runs the
 * graph as it is. */
int tirc_graph_passes(struct tirc *t, int most, const char *const **names);
struct graph *tirc_graph(struct tirc *t);
/* After tirc_compile: builds a kernel again and passes its function to `after`,
 * after the schedule and after each pass of lowering. False after a message. */
bool tirc_lower_again(struct tirc *t, const struct kernel *k,
		      void (*after)(void *ctx, const char *pass,
				    const struct func *f),
		      void *ctx, struct kernel_again *out);

#endif
