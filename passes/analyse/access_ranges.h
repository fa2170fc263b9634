/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of the indices of all accesses of a function, together with the
 * extents of the arrays, for a reviewer's check. A range takes into account the
 * conditions around the access, both those of IFs and those within
 * expressions. */
#ifndef TIRC_ACCESS_RANGES_H
#define TIRC_ACCESS_RANGES_H

#include "access.h"

/* One index of an access. */
struct index_range {
	/* all values of the index, including every lane of a vector; an end
	 * without a constant bound is BOUND_NEG_INF or BOUND_POS_INF */
	struct bounds bounds;
	const struct expr *extent; /* the extent of the dimension */
	/* it is proven that 0 <= index < extent, for all values of the
	 * variables */
	bool is_within;
	bool is_data; /* the index uses a loaded value */
};

struct access_range {
	struct access access;
	/* the ranges of the index, by dimension of the buffer */
	const struct index_range *index;
};

struct access_ranges {
	VEC(struct access_range) list;
};

/* All accesses of f in the order of the program, as access_collect finds them.
 * The lists are in the module's arena. */
struct access_ranges access_ranges_of(const struct func *f);

#endif
