/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters between operator set versions: their context and helpers. */
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

/* An adapter returns false after a diagnostic. */
typedef bool upgrade_fn(struct upgrade *u);

/* Reports that the node cannot be converted, and why; returns false. */
bool upgrade_refuse(struct upgrade *u, const char *text);
/* The name of a new tensor: that of the node's output, and `what`. */
const char *upgrade_name(struct upgrade *u, const char *what);
/* Grows or shrinks the list of inputs; new ones are absent. */
void upgrade_set_n_inputs(struct upgrade *u, int n);
/* Sets input i to a constant list of integers; i may be the number of
 * inputs. */
void upgrade_input_ints(struct upgrade *u, int i, const char *what,
			const int64_t *values, int n);
/* Sets input i to a constant scalar of the given type. */
void upgrade_input_scalar(struct upgrade *u, int i, const char *what,
			  struct dtype type, double value);
/* A tensor named after the node's output. */
struct tensor *upgrade_tensor(struct upgrade *u, const char *what);
/* Inserts a node at pos with the origins of u's node. */
struct node *upgrade_insert(struct upgrade *u, int pos, const char *op_type,
			    struct tensor **in, int n_in, struct tensor *out);

/* upgrade_late.c: adapters that need shapes or types. */
upgrade_fn upgrade_broadcast, upgrade_clip, upgrade_group_norm, upgrade_pad,
	upgrade_prelu, upgrade_softmax, upgrade_split, upgrade_tile;

/* -- upgrade.c -- */

/* Applies adapters that need no shapes to the nodes from position `first` on:
 * renames, attributes that became inputs. */
bool upgrade_early(struct importer *imp, int first);
/* Applies adapters that need the shapes of n's inputs; they may insert nodes
 * before and after n. */
bool upgrade_late(struct importer *imp, struct node *n, int pos);

#endif
