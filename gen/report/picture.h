/* SPDX-License-Identifier: Apache-2.0 */
/* Private to report/: pictures as SVG, and table rows with the same data, for
 * reports without pictures. */
#ifndef TIRC_PICTURE_H
#define TIRC_PICTURE_H

#include "rows.h"

/* The colour of kernel i, "#rrggbb": neighbours in the order of execution differ
 * clearly. */
const char *kernel_colour(struct arena *a, int i);
/* picture_graph.c: adds "edges", each node with the nodes that it reads, and
 * for HTML "graph_picture", drawn by Graphviz' dot. If dot is not installed or
 * the graph is too large for a picture, adds "no_picture", the reason,
 * instead. */
void add_graph_picture(struct reporting *r);
/* picture_memory.c: adds "memory_picture", a picture of the workspace over the
 * time of a run; adds nothing if the model has no workspace. */
void add_memory_picture(struct reporting *r);

#endif
