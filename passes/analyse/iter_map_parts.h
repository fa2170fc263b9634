/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the iteration-map analysis share; for no one else. */
#ifndef TIRC_ITER_MAP_PARTS_H
#define TIRC_ITER_MAP_PARTS_H

#include "iter_map.h"
#include "linear.h"

/* A sum, its smallest scale 1, that is one mark. */
struct fused {
	struct iter_sum pattern;
	const struct iter_mark *mark;
};

struct detect {
	struct analyser *a;
	struct module *m;
	struct iter_mark *marks; /* of the loops */
	int n_loops;
	VEC(struct fused) fused;
	bool pad, padded;
	VEC(int64_t) pads; /* of the loops, then of fused: round up to */
	const char *why;
};

bool detect_read(struct detect *d, const struct expr *e, struct iter_sum *out);
/* The digits of each mark: do they cover it, each once? */
bool detect_check(struct detect *d, struct iter_map *map,
		  enum iter_level level);
/* Notes why: e, and what is wrong with it. Returns false. */
bool detect_fail(struct detect *d, const struct expr *e, const char *what);
/* v in e's type; surely equal; the quotient rounded up. */
const struct expr *detect_int(struct detect *d, const struct expr *e,
			      int64_t v);
bool detect_same(struct detect *d, const struct expr *x, const struct expr *y);
const struct expr *detect_ceil_div(struct detect *d, const struct expr *x,
				   const struct expr *c);
/* s += scale * other */
void detect_add(struct detect *d, struct iter_sum *s,
		const struct iter_sum *other, const struct expr *scale);
/* Makes s one part at most; e is what it was read from. */
bool detect_fuse(struct detect *d, struct iter_sum *s, const struct expr *e);
/* iter_map_predicate.c: makes the marks that it bounds. */
bool detect_predicate(struct detect *d, const struct expr *predicate);

#endif
