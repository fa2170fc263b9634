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
	bool largest; /* the largest value comes first in the order */
	/* the root of the heap is the first element in the order; if false, the
	 * last */
	bool first_root;
	bool no_nan;        /* no element is NaN */
	struct dtype index; /* the type of indices of both tensors */
};

/* An element of the heap, or a new one: its value and its position. */
struct heap_item {
	const struct expr *value, *position;
};

/* The element at place p of the heap. */
struct heap_item heap_item(const struct heap *h, const struct expr *p);
/* Stores an item at place p of the heap. */
struct stmt *heap_put(const struct heap *h, const struct expr *p,
		      struct heap_item item);
/* Puts an element into a heap of `size` elements from position `root` down; the
 * elements below must be in order. The element is read first; then `before` is
 * executed, unless it is NULL. */
struct stmt *heap_replace(const struct heap *h, const struct expr *root,
			  const struct expr *size, struct heap_item with,
			  struct stmt *before);

#endif
