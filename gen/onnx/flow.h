/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and loops that stay in the graph: flow.c and branches.c. */
#ifndef TIRC_ONNX_FLOW_H
#define TIRC_ONNX_FLOW_H

#include "importer.h"

struct flow {
	int id, other; /* of the branches, or of the loop */
	struct loop_form form;
	struct tensor **carried;  /* of a loop: its states in the body */
	struct tensor *condition; /* in the body */
};

/* A new number of a branch or loop. */
int flow_new(struct importer *imp);
/* A new node of control flow in a body. */
struct node *flow_node(struct importer *imp, const struct deferred *d,
		       const char *op_type, int body, struct tensor *const *in,
		       int n_in, struct tensor *const *out, int n_out);
/* t in memory of its own in a body. */
struct tensor *flow_copy(struct importer *imp, const struct deferred *d,
			 int body, struct tensor *t);
/* Makes the list the node's inputs, and the captured tensors after it. */
void flow_set_inputs(struct importer *imp, struct deferred *d,
		     const tensor_list *list);

#endif
