/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters of operators from one opset version to another: context and
 * helpers. */
#ifndef TIRC_UPGRADE_H
#define TIRC_UPGRADE_H

#include "importer.h"

/* A node that is converted from the opset version of the model. */
struct upgrade {
	struct importer *imp;
	struct graph *g;
	struct node *node;
	int pos;     /* index of node in g->nodes */
	int version; /* the opset version of the node in the model */
};

/* An adapter: changes u->node to an operator of the canonical version, or a
 * later step; false after a diagnostic. */
typedef bool upgrade_fn(struct upgrade *u);

/* Reports that the node cannot be converted, with the reason; returns false. */
bool upgrade_refuse(struct upgrade *u, const char *text);
/* The name of a new tensor: the name of the node's output, "_" and `what`. */
const char *upgrade_name(struct upgrade *u, const char *what);
/* Sets the number of the node's inputs to n; inputs that are added are
 * absent. */
void upgrade_set_n_inputs(struct upgrade *u, int n);
/* Makes input i a constant list of n integers, whose name ends in `what`; i may
 * be the number of inputs, to append an input. */
void upgrade_input_ints(struct upgrade *u, int i, const char *what,
			const int64_t *values, int n);
/* Makes input i of the node a constant scalar of the given type. */
void upgrade_input_scalar(struct upgrade *u, int i, const char *what,
			  struct dtype type, double value);
/* A new tensor; its name is that of the node's output and `what`. */
struct tensor *upgrade_tensor(struct upgrade *u, const char *what);
/* Inserts a node at index pos, with the origins of u->node. */
struct node *upgrade_insert(struct upgrade *u, int pos, const char *op_type,
			    struct tensor **in, int n_in, struct tensor *out);

/* upgrade_late.c: adapters that need shapes or types. */
upgrade_fn upgrade_broadcast, upgrade_clip, upgrade_group_norm, upgrade_pad,
	upgrade_prelu, upgrade_quantize, upgrade_softmax, upgrade_split,
	upgrade_tile;

/* -- upgrade.c -- */

/* Applies the adapters that need no shapes (renamed operators, attributes that
 * became inputs) to the nodes from index `first` on. */
bool upgrade_early(struct importer *imp, int first);
/* Applies the adapters that need the shapes of n's inputs. They may insert
 * nodes before and after n. */
bool upgrade_late(struct importer *imp, struct node *n, int pos);
/* Is this an operator of older versions that adapters replace by other
 * operators? tirc itself may no longer have this operator. */
bool is_upgraded_operator(const char *domain, const char *op_type);

#endif
