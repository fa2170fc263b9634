/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of values with their positions, as statements (steps.h). Elements are
 * ordered by their values, with NaN as the largest; equal values by their
 * positions. */
#ifndef TIRC_HEAP_H
#define TIRC_HEAP_H

#include "steps.h"

struct heap {
	struct steps *s;
	const struct te_tensor *values, *positions;
	const struct expr **at; /* the index of both tensors; at[axis] is
				 * replaced */
	int rank, axis;
	bool largest;    /* does the largest value come first? */
	bool first_root; /* is the root the first element in the order? Else the
			  * last */
};

/* An element of the heap, or a new element. */
struct heap_item {
	const struct expr *value, *position;
};

/* The element at p. */
struct heap_item heap_item(const struct heap *h, const struct expr *p);
/* Stores an element at p. */
struct stmt *heap_put(const struct heap *h, const struct expr *p,
		      struct heap_item item);
/* Puts an element into a heap of `size` elements from position `root` down; the
 * elements below must be in order. The element is read first; then `before` is
 * executed, unless it is NULL. root has the type of size. */
struct stmt *heap_replace(const struct heap *h, const struct expr *root,
			  const struct expr *size, struct heap_item with,
			  struct stmt *before);

#endif
