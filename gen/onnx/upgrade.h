/* SPDX-License-Identifier: Apache-2.0 */
/* What adapters between operator set versions use. */
#ifndef TIRC_ONNX_UPGRADE_H
#define TIRC_ONNX_UPGRADE_H

#include "importer.h"

struct upgrade {
	struct importer *imp;
	struct graph *g;
	struct node *node;
	int pos;     /* of node in g->nodes */
	int version; /* of node */
};

/* Every adapter gives false with a diagnostic where it cannot. */
typedef bool upgrade_fn(struct upgrade *u);

/* Input i becomes an integer list; i may be the next free one. */
void upgrade_input_ints(struct upgrade *u, int i, const char *what,
			const int64_t *values, int n);
/* Input i becomes a scalar of the given type. */
void upgrade_input_scalar(struct upgrade *u, int i, const char *what,
			  struct dtype type, double value);
/* A tensor named after the node's output. */
struct tensor *upgrade_tensor(struct upgrade *u, const char *what);
/* A node at pos, standing for the same node of the model. */
struct node *upgrade_insert(struct upgrade *u, int pos, const char *op_type,
			    struct tensor **in, int n_in, struct tensor *out);

/* upgrade_late.c: those that need shapes or types. */
upgrade_fn upgrade_clip, upgrade_pad, upgrade_softmax, upgrade_group_norm;

#endif
