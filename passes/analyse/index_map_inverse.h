/* SPDX-License-Identifier: Apache-2.0 */
/* Makes index maps from the forward direction, which a user writes. */
#ifndef TIRC_INDEX_MAP_INVERSE_H
#define TIRC_INDEX_MAP_INVERSE_H

#include "index_map.h"

/* The map i0, i1, … -> exprs over an array of the given logical shape, with the
 * variables vars. The physical shape and the inverse are computed by the
 * analysis of iter_map.h. If a split does not divide, the physical array has
 * padding: to_logical is the inverse over the padded array, and in_range is
 * true for elements that are not padding; without padding, in_range is NULL.
 * False with the reason ("…; what to do", in m's arena) in *why if the map is
 * not injective or not quasi-affine. */
bool index_map_from_forward(struct module *m, struct var *const *vars,
			    int n_vars, const struct expr *const *exprs,
			    int n_exprs, const struct expr *const *shape,
			    struct index_map **out, const char **why);
/* The map in the other direction: physical becomes logical. NULL if the map has
 * padding (in_range is not NULL). */
struct index_map *index_map_inverse(struct module *m,
				    const struct index_map *map,
				    const struct expr *const *shape);

#endif
