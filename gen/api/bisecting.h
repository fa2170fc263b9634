/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on a context that tirc bisect calls in addition to those of
 * tirc.h. */
#ifndef TIRC_BISECTING_H
#define TIRC_BISECTING_H

#include "kernels.h"
#include "tirc.h"

/* Runs the passes over the graph of a loaded model, and stops after `most` runs
 * of passes; each repetition of a pass counts as a run. Sets *names to the
 * names of the passes that ran, in order, and returns their number; -1 after a
 * message. tirc_interpret() then runs the graph as these passes left it. */
int tirc_graph_passes(struct tirc *t, int most, const char *const **names);
struct graph *tirc_graph(struct tirc *t);
/* Lets tirc_interpret() evaluate each node by `run` (struct graph_run). */
void tirc_run_nodes_by(struct tirc *t,
		       bool (*run)(void *ctx, struct graph *g,
				   const struct node *n),
		       void *ctx);
/* After tirc_compile: builds a kernel again and passes its function to `after`,
 * after the schedule and after each pass of lowering. False after a message. */
bool tirc_lower_again(struct tirc *t, const struct kernel *k,
		      void (*after)(void *ctx, const char *pass,
				    const struct func *f),
		      void *ctx, struct kernel_again *out);

#endif
