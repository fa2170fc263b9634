/* SPDX-License-Identifier: Apache-2.0 */
/* Between kernels.c, which builds kernels, and the files that name, describe
 * and call them. */
#ifndef TIRC_KERNELS_H
#define TIRC_KERNELS_H

#include "kernel.h"

bool group_has_node(const struct group *group, const struct node *n);

/* describe.c: names and titles from the model. */
const char *kernel_stem(struct graph *g, const struct group *group);
/* Of a kernel without a name of its own, where it stands: "mul_before_conv3_3".
 * NULL: it has a name, or its neighbours have none. */
const char *kernel_neighbour(struct graph *g, const struct group *group);
/* "softmax": the operator as part of a name. */
const char *operator_word(struct arena *a, const struct node *n);
/* Does it slide a window over its input? */
bool node_has_window(const struct node *n);
const char *kernel_title(struct graph *g, const struct group *group);
const char *region_title(struct graph *g, const struct graph_region *r);
/* "conv (4 times), pool": its patterns, in order. */
const char *region_patterns(struct graph *g, const struct graph_region *r);
const char *weight_stem(struct graph *g, const struct kernel *k,
			const struct kernel_arg *arg);

/* entry.c: the function that calls the kernels in order. Parameters: the
 * graph's inputs, its outputs and the weights (buffers), the workspace (a
 * handle, if there is one), the symbolic sizes. */
struct func *entry_build(struct program *p);

#endif
