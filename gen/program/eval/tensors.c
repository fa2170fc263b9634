/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the program's tensors, by the ids of their buffers. */
#include "eval.h"

void
te_remember(struct eval *ev, struct te_tensor *t, int depth)
{
	int id = t->buffer->id;

	while (ev->tensors.n <= id) {
		vec_push(ev->a, &ev->tensors, NULL);
		vec_push(ev->a, &ev->depths, 0);
	}
	ev->tensors.data[id] = t;
	ev->depths.data[id] = depth;
	ev->n_tensors++;
}

struct te_tensor *
te_tensor_of(struct eval *ev, const struct buffer *b)
{
	return b->id < ev->tensors.n ? ev->tensors.data[b->id] : NULL;
}

int
te_depth(struct eval *ev, const struct te_tensor *t)
{
	return t->buffer->id < ev->depths.n ? ev->depths.data[t->buffer->id]
					    : 1;
}
