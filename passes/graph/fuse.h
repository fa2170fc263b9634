/* SPDX-License-Identifier: Apache-2.0 */
/* Between fuse.c and its parts. */
#ifndef TIRC_GRAPH_FUSE_H
#define TIRC_GRAPH_FUSE_H

#include "rewrite.h"

/* Whose memory t's bytes are, through views. */
const struct tensor *fuse_storage_of(const struct tensor *t);
/* Outputs of the graph among t and the views of it. */
int fuse_outputs_behind(const struct tensor *t);

/* May the inputs be written right into the result? */
bool fuse_concat_is_free(const struct node *n);
/* Then say so: tensor.part_of. */
void fuse_concat_place(struct node *n);

#endif
