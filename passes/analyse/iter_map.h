/* SPDX-License-Identifier: Apache-2.0 */
/* Quasi-affine iteration maps: the joint values of index expressions over the
 * iterations of a loop nest. An index must be a sum of digits
 *
 *	(source // lower) % extent * scale
 *
 * where a source is a loop variable or a mixed-radix sum of digits (as split
 * and fuse produce). A map is surjective if every combination of values occurs,
 * bijective if each occurs exactly once. Expressions that are not such sums are
 * rejected, never approximated.
 *
 * The algorithm follows TVM's iter_affine_map, described in Feng et al.,
 * "TensorIR: An Abstraction for Automatic Tensorized Program Optimization"
 * (ASPLOS 2023), section 3.3: block bindings must be iteration maps; the
 * analysis checks them, divides them into outer and inner parts (blockize), and
 * inverts them (layouts). */
#ifndef TIRC_ITER_MAP_H
#define TIRC_ITER_MAP_H

#include "analyse.h"

struct iter_sum;

/* A value whose digits are the parts of indices. It runs over 0 .. extent - 1:
 * a loop variable minus its minimum, or a sum that takes all values of its
 * range. */
struct iter_mark {
	/* the loop variable; NULL if the mark is a sum */
	struct var *var;
	/* the minimum of the loop variable or of the sum */
	const struct expr *min;
	/* if the mark is a sum: the sum, of which min is subtracted */
	const struct iter_sum *sum;
	const struct expr *extent;
	/* the extent before it was rounded up to a multiple (padding) */
	const struct expr *unpadded;
	/* the exclusive upper bound of the value, if the predicate restricts
	 * the value; limit is then equal to extent. Else NULL */
	const struct expr *limit;
};

/* A part of an index, a digit of the mark `source` times the scale:
 * (source // lower) % extent * scale. */
struct iter_split {
	const struct iter_mark *source;
	const struct expr *lower, *extent, *scale;
};

/* An index: the sum of its parts and of base, which does not depend on the
 * loops. */
struct iter_sum {
	struct iter_split *parts; /* largest scale first */
	int n;
	const struct expr *base;
};

enum iter_level { ITER_MAP_ANY, ITER_MAP_SURJECTIVE, ITER_MAP_BIJECTIVE };

struct iter_map {
	struct iter_sum *indices;
	int n;
	/* why the analysis failed: a clause for a message, in the module's
	 * arena */
	const char *why;
};

/* Finds the map from the iterations of the loops that satisfy `predicate`
 * (NULL: from all iterations) to the n indices. Variables in the indices that
 * are not loop variables count as constants; the analyser should know their
 * ranges. False, with the reason in out->why, if the map does not have the
 * level. */
bool iter_map_detect(struct analyser *a, const struct iter_var *loops,
		     int n_loops, const struct expr *predicate,
		     const struct expr *const *indices, int n,
		     enum iter_level level, struct iter_map *out);
/* Like iter_map_detect for a bijective map, but if the digits of a loop do not
 * divide the loop's extent, the extent is rounded up: then iter_mark.extent of
 * the loop's mark exceeds iter_mark.unpadded. */
bool iter_map_detect_padded(struct analyser *a, const struct iter_var *loops,
			    int n_loops, const struct expr *const *indices,
			    int n, struct iter_map *out);

/* The sum as an expression, in a normal form that is the same for equal
 * maps. */
const struct expr *iter_sum_value(struct analyser *a, const struct iter_sum *s);
/* One more than the largest value of the sum without its base; NULL if a part
 * may be negative. */
const struct expr *iter_sum_extent(struct analyser *a,
				   const struct iter_sum *s);

/* An index divided between outer and inner loops: index == base + outer *
 * inner_extent + inner, where outer does not depend on the inner loops, inner
 * does not depend on the outer loops, and 0 <= inner < inner_extent. */
struct iter_division {
	const struct expr *outer, *inner, *base;
	const struct expr *outer_extent, *inner_extent;
};

/* Divides every index between the first n_outer loops and the inner loops.
 * Conjuncts of the predicate that use only outer loops go to *outer_predicate,
 * all other conjuncts to *inner_predicate; both are set to expressions, not to
 * NULL. The extents of the result are the numbers of values of the divided
 * indices. If index i depends only on outer or only on inner loops and is not a
 * sum of digits, its extent is domains[i]; domains may be NULL. */
bool iter_map_divide(struct analyser *a, const struct iter_var *loops,
		     int n_loops, int n_outer, const struct expr *predicate,
		     const struct expr *const *indices,
		     const struct expr *const *domains, int n,
		     struct iter_division *out,
		     const struct expr **outer_predicate,
		     const struct expr **inner_predicate, const char **why);

/* x / y if y provably divides x; else NULL. */
const struct expr *expr_quotient(struct analyser *a, const struct expr *x,
				 const struct expr *y);
/* Does the mark use the loop variable v? If the mark is a sum of parts: does
 * the mark of one of the parts use v? */
bool iter_mark_uses(const struct iter_mark *mark, const struct var *v);

#endif
