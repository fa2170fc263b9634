/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the iteration-map analysis. */
#ifndef TIRC_ITER_MAP_PARTS_H
#define TIRC_ITER_MAP_PARTS_H

#include "iter_map.h"
#include "linear.h"

/* A sum of parts, with smallest scale 1, for which a mark (struct iter_mark)
 * was made: where an index contains the same sum, the mark replaces it. */
struct fused {
	struct iter_sum pattern;
	struct iter_mark *mark;
};

struct detect {
	struct analyser *a;
	struct module *m;
	struct iter_mark *marks; /* by loop: its mark */
	int n_loops;
	VEC(struct fused) fused;
	bool pad, padded;
	bool overflows; /* a product of constants has left its type */
	/* for each loop, then for each entry of `fused`: the extent is rounded
	 * up to a multiple of this number */
	VEC(int64_t) pads;
	const char *why;
};

/* Reads the index e as a sum of parts into out. False with the reason in
 * d->why. */
bool detect_read(struct detect *d, const struct expr *e, struct iter_sum *out);
/* Does the map satisfy the level? ITER_MAP_SURJECTIVE: the parts of each mark
 * are independent digits, and each index takes all values of its range.
 * ITER_MAP_BIJECTIVE: also, the digits cover each mark, and each loop of
 * several iterations changes an index. False with the reason in d->why. */
bool detect_check(struct detect *d, struct iter_map *map,
		  enum iter_level level);
/* Records the reason of a failure: the expression e, and its problem. Returns
 * false. */
bool detect_fail(struct detect *d, const struct expr *e, const char *what);
/* detect_int: v as a literal of e's type. detect_same: are x and y provably
 * equal? detect_ceil_div: the quotient of x and c, rounded up. */
const struct expr *detect_int(struct detect *d, const struct expr *e,
			      int64_t v);
bool detect_same(struct detect *d, const struct expr *x, const struct expr *y);
const struct expr *detect_ceil_div(struct detect *d, const struct expr *x,
				   const struct expr *c);
/* s += scale * other */
void detect_add(struct detect *d, struct iter_sum *s,
		const struct iter_sum *other, const struct expr *scale);
/* Fuses the parts of s to at most one part; e is the expression that s stands
 * for, for messages. False with the reason in d->why. */
bool detect_fuse(struct detect *d, struct iter_sum *s, const struct expr *e);
/* iter_map_predicate.c: makes marks with a limit for the sums that the
 * predicate bounds. False with the reason in d->why. */
bool detect_predicate(struct detect *d, const struct expr *predicate);

#endif
