/* SPDX-License-Identifier: Apache-2.0 */
/* Quasi-affine iteration maps: which values index expressions take, all
 * together, while loops run. An index is understood if it is a sum of digits
 *
 *	(source // lower) % extent * scale
 *
 * where a source is a loop variable or a sum of digits that fit together like
 * those of a number in mixed radix (what split and fuse make). A map is
 * surjective if every combination of values occurs, bijective if each occurs
 * once. What cannot be understood is refused, never guessed.
 *
 * The idea is that of TVM's iter_affine_map, described in Feng et al.,
 * "TensorIR: An Abstraction for Automatic Tensorized Program Optimization"
 * (ASPLOS 2023), section 3.3: bindings of blocks are such maps, and so legal
 * ones can be told from others, divided into outer and inner parts
 * (blockize), and inverted (layouts). */
#ifndef TIRC_ITER_MAP_H
#define TIRC_ITER_MAP_H

#include "analyse.h"

struct iter_sum;

/* Something that runs from 0 to extent: a loop variable less its first value,
 * or a sum, all of whose values it takes. */
struct iter_mark {
	struct var *var;            /* NULL: a sum */
	const struct expr *min;     /* of var, or what the sum starts at */
	const struct iter_sum *sum; /* its parts; this mark is their sum less
				     * min */
	const struct expr *extent;
	const struct expr *unpadded; /* extent before it was rounded up */
	const struct expr *limit;    /* NULL, or the predicate's bound on it */
};

/* (source // lower) % extent * scale */
struct iter_split {
	const struct iter_mark *source;
	const struct expr *lower, *extent, *scale;
};

/* The parts, added, and base, which no loop changes. */
struct iter_sum {
	struct iter_split *parts; /* largest scale first */
	int n;
	const struct expr *base;
};

enum iter_level { ITER_MAP_ANY, ITER_MAP_SURJECTIVE, ITER_MAP_BIJECTIVE };

struct iter_map {
	struct iter_sum *indices;
	int n;
	const char *why; /* it failed: a clause, in the module's arena */
};

/* The map of the loops to the indices where predicate (NULL: always) holds.
 * What the indices use beside the loops is fixed. The analyser should know the
 * ranges of variables outside of the loops. False: see why. */
bool iter_map_detect(struct analyser *a, const struct iter_var *loops,
		     int n_loops, const struct expr *predicate,
		     const struct expr *const *indices, int n,
		     enum iter_level level, struct iter_map *out);
/* The same, but a loop whose digits do not divide it is taken to run on until
 * they do: its mark's extent exceeds unpadded. Bijective. */
bool iter_map_detect_padded(struct analyser *a, const struct iter_var *loops,
			    int n_loops, const struct expr *const *indices,
			    int n, struct iter_map *out);

/* As expressions: normal forms, equal for equal maps. */
const struct expr *iter_sum_value(struct analyser *a, const struct iter_sum *s);
/* One more than the largest value of the sum, its base aside; NULL if parts
 * are negative. */
const struct expr *iter_sum_extent(struct analyser *a,
				   const struct iter_sum *s);

/* index == base + outer * inner_extent + inner, where outer is free of the
 * inner loops, inner of the outer ones, 0 <= inner < inner_extent. */
struct iter_division {
	const struct expr *outer, *inner, *base;
	const struct expr *outer_extent, *inner_extent;
};

/* Divides every index between the first n_outer loops and the others. What of
 * the predicate concerns outer loops alone goes to *outer_predicate, the rest
 * to *inner_predicate (never NULL). Extents are those of the indices' values;
 * domains (NULL, or one extent per index) replace them for an index that
 * belongs to one side only and is not a sum of digits. */
bool iter_map_divide(struct analyser *a, const struct iter_var *loops,
		     int n_loops, int n_outer, const struct expr *predicate,
		     const struct expr *const *indices,
		     const struct expr *const *domains, int n,
		     struct iter_division *out,
		     const struct expr **outer_predicate,
		     const struct expr **inner_predicate, const char **why);

/* x / y if y divides x for certain, else NULL. */
const struct expr *expr_quotient(struct analyser *a, const struct expr *x,
				 const struct expr *y);
/* The marks below the parts of s, and below theirs. */
bool iter_mark_uses(const struct iter_mark *mark, const struct var *v);

#endif
