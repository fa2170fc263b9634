/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of values with their positions, as steps. The order of two elements is
 * that of their values, of which NaN is the largest, and of equal values that of
 * their positions. */
#ifndef TIRC_HEAP_H
#define TIRC_HEAP_H

#include "steps.h"

struct heap {
	struct steps *s;
	const struct te_tensor *values, *positions;
	const struct expr **at; /* of both; at[axis] is replaced */
	int rank, axis;
	bool largest;    /* does the largest value come first? */
	bool first_root; /* is the root the first or the last in the order? */
};

/* An element of the heap, or a new one. */
struct heap_item {
	const struct expr *value, *position;
};

/* The element at p. */
struct heap_item heap_item(const struct heap *h, const struct expr *p);
/* Stores an element at p. */
struct stmt *heap_put(const struct heap *h, const struct expr *p,
		      struct heap_item item);
/* An element that is read, after which `before` runs (NULL: nothing), comes to
 * `root` in a heap of `size` elements whose other elements are in order. root is
 * of the size's type. */
struct stmt *heap_replace(const struct heap *h, const struct expr *root,
			  const struct expr *size, struct heap_item with,
			  struct stmt *before);

#endif
