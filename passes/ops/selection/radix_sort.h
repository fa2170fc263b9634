/* SPDX-License-Identifier: Apache-2.0 */
/* Stable sorting by the digits of keys, as statements (steps.h). A key is an
 * unsigned integer. The keys of the elements and their positions are in two
 * arrays, which take turns. */
#ifndef TIRC_RADIX_SORT_H
#define TIRC_RADIX_SORT_H

#include "steps.h"

struct radix_sort {
	struct steps *s;
	/* tensors of shape [..., 2, n] that have both arrays; `at` has the
	 * leading indices */
	const struct te_tensor *keys, *positions;
	const struct expr **at;
	int rank;     /* the rank of both tensors */
	bool largest; /* the largest value comes first */
};

struct sort_item {
	const struct expr *key, *position;
};

/* The type of the keys of values of type t. */
struct dtype sort_key_type(struct dtype t);
/* The key of the value x. Keys have the order of the values, with NaN as the
 * largest; equal values have the same key. Adds names for parts of the
 * computation. */
const struct expr *sort_key(const struct radix_sort *o,
			    struct step_names *names, const struct expr *x);
/* The largest key. */
const struct expr *sort_last_key(const struct radix_sort *o);
/* Element p of array `half`, 0 or 1. */
struct sort_item sort_item(const struct radix_sort *o, const struct expr *half,
			   const struct expr *p);
struct stmt *sort_put(const struct radix_sort *o, const struct expr *half,
		      const struct expr *p, struct sort_item item);
/* Sorts the first `size` elements of array 0. */
struct stmt *sort_steps(const struct radix_sort *o, const struct expr *size);

#endif
