/* SPDX-License-Identifier: Apache-2.0 */
/* Views: the tensor in whose memory a view's bytes are, and the number of views
 * that are outputs of the graph. */
#include "fuse.h"

const struct tensor *
fuse_storage_of(const struct tensor *t)
{
	while (t->producer && t->producer->op->fuse == FUSE_VIEW &&
	       t->producer->inputs[0]) {
		t = t->producer->inputs[0];
	}
	return t;
}

int
fuse_outputs_behind(const struct tensor *t)
{
	int n = t->is_output;

	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		if (user->op->fuse == FUSE_VIEW && t->uses.data[i].input == 0) {
			n += fuse_outputs_behind(user->outputs[0]);
		}
	}
	return n;
}
